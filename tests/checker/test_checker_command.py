"""The checker as a referee meets it: one file, copied out, run by a bare Python."""

from __future__ import annotations

import ast
import copy
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from lemmax import checker
from lemmax.checker import NotACertificate, Verdict, check_file, main
from lemmax.checker.bounds import RULES
from lemmax.checker.coded.codebooks import FAMILIES
from lemmax.checker.language.claims import Listed, listed
from lemmax.checker.models.functions import ACTIVATIONS
from lemmax.checker.models.network import NORMS, STEPS
from lemmax.checker.reading import Matrix
from lemmax.checker.words import VOCABULARY

Certificate = dict[str, Any]
FOLDER = Path(checker.__file__).parent
SOURCES = sorted(FOLDER.rglob("*.py"))


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """The checker copied into an empty folder."""
    copied = tmp_path / "checker"
    return Path(shutil.copytree(FOLDER, copied, ignore=shutil.ignore_patterns("__pycache__")))


def run(
    script: Path, *arguments: str | Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", script.name, *map(str, arguments)],
        cwd=script.parent,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def imported(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """How many dots, and which name, every import has."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.level, node.module or ""


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_it_imports_only_the_standard_library(source: Path) -> None:
    """Or itself: no import leaves the folder, and no module bears a name of the library."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for dots, name in imported(tree):
        if dots:
            assert dots <= len(source.relative_to(FOLDER).parts)
        else:
            assert name.split(".")[0] in sys.stdlib_module_names
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"__import__", "eval", "exec", "compile", "float"}
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
    assert source.stem not in sys.stdlib_module_names


def test_it_stays_readable() -> None:
    """No module is long; there is little code per kind of certificate, rule, family and word."""
    total = {"words": 0, "language": 0, "coded": 0, "models": 0, "others": 0}
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        assert text.count("\n") <= 300, source
        ignored = {
            tokenize.COMMENT,
            tokenize.NL,
            tokenize.NEWLINE,
            tokenize.INDENT,
            tokenize.DEDENT,
        }
        code = {
            line
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type not in ignored
            for line in range(token.start[0], token.end[0] + 1)
        }
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
                node
            ):
                code -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
            if isinstance(node, (ast.Import, ast.ImportFrom)):  # every module repeats them
                code -= set(range(node.lineno, (node.end_lineno or 0) + 1))
        part = "coded" if source.stem == "float_memorization" else source.parent.name
        total[part if part in total else "others"] += len(code)
    words = sum(map(len, VOCABULARY.values()))
    assert total["words"] <= 5 * words
    assert total["language"] <= 5 * words
    assert total["coded"] <= 145 * len(FAMILIES)
    operations = len([*ACTIVATIONS, *NORMS, *STEPS])
    assert total["models"] <= 45 * operations
    assert total["others"] <= 104 * len([*checker.KINDS, *RULES][1:])


def test_a_referee_checks_every_kind(alone: Path, valid: dict[str, list[Certificate]]) -> None:
    files = [
        write(alone.parent / f"{kind}-{i}.json", certificate)
        for kind, certificates in valid.items()
        for i, certificate in enumerate(certificates)
    ]
    assert {path.name.rpartition("-")[0] for path in files} >= {"matrix-rank", "memorization"}
    result = run(alone, *files)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count(": holds") == len(files)
    assert "rank(argmax(M)) = 3 > 2" in result.stdout
    assert not result.stderr


def test_status_and_words(alone: Path, valid: dict[str, list[Certificate]]) -> None:
    good = write(alone.parent / "good.json", valid["matrix-rank"][0])
    false = write(alone.parent / "false.json", valid["matrix-rank"][0] | {"rank": 1})
    bad = write(alone.parent / "bad.json", valid["matrix-rank"][0] | {"rank": 1.0})
    result = run(alone, good, false)
    assert result.returncode == 1
    assert "does not hold" in result.stdout
    assert "FAILED" in result.stdout
    result = run(alone, bad, false, good)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "not a certificate" in result.stderr
    assert run(alone).returncode == 2
    assert run(alone, "--unknown").returncode == 2
    assert json.loads(run(alone, "--limits").stdout) == checker.LIMITS


def test_machine_readable_verdicts(alone: Path, valid: dict[str, list[Certificate]]) -> None:
    good = write(alone.parent / "good.json", valid["refutation"][0])
    false = write(alone.parent / "false.json", valid["refutation"][0] | {"claim": "wong/other"})
    result = run(alone, "--json", good, false, "missing.json")
    assert result.returncode == 2
    assert not result.stderr
    report = json.loads(result.stdout)
    assert [entry["status"] for entry in report] == ["holds", "does-not-hold", "not-a-certificate"]
    assert report[0]["kind"] == "refutation"
    assert report[0]["steps"][-1].endswith("rank(argmax(M)) = 3 > 2")
    assert report[2]["error"]


def test_any_terminal_will_do(alone: Path, valid: dict[str, list[Certificate]]) -> None:
    certificate = json.loads(json.dumps(valid["memorization"][0]))
    certificate["layer"]["tokens"][0] = "\ud800\x1b[31m\n名"
    certificate["facts"][0][2] = 1
    path = write(alone.parent / "名.json", certificate)
    result = run(alone, path, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "\x1b" not in result.stdout


GOOD = (
    '{"format":"lemmax-certificate","version":1,"kind":"matrix-rank","matrix":[["1"]],"rank":1,'
    '"lower":{"prime":"7","rows":[0],"columns":[0]},"upper":{"method":"size"}}'
)
TEXTS: dict[str, bytes] = {
    "empty": b"",
    "space": b" \n",
    "word": b"certificate",
    "null": b"null",
    "list": b"[]",
    "number": b"7",
    "string": b'"x"',
    "comment": GOOD.encode() + b" // fine",
    "two values": (GOOD + GOOD).encode(),
    "byte order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "utf-16": GOOD.encode("utf-16"),
    "invalid utf-8": GOOD.replace("lemmax", "l\xe9mmax").encode("latin-1"),
    "nul": GOOD.encode() + b"\x00",
    "binary": bytes(range(256)),
    "deep list": b"[" * 100_000,
    "deep closed list": b"[" * 100_000 + b"]" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "deep inside": GOOD.replace('[["1"]]', "[" * 100_000 + "]" * 100_000).encode(),
    "moderately deep": GOOD.replace('[["1"]]', "[" * 50 + '"1"' + "]" * 50).encode(),
    "repeated key": GOOD.replace('"rank":1', '"rank":2,"rank":1').encode(),
    "repeated inner key": GOOD.replace('"prime":"7"', '"prime":"5","prime":"7"').encode(),
    "nan": GOOD.replace('"rank":1', '"rank":NaN').encode(),
    "infinity": GOOD.replace('"rank":1', '"rank":-Infinity').encode(),
    "float": GOOD.replace('"rank":1', '"rank":1.0').encode(),
    "exponent": GOOD.replace('"rank":1', '"rank":1e0').encode(),
    "float version": GOOD.replace('"version":1', '"version":1.0').encode(),
    "true version": GOOD.replace('"version":1', '"version":true').encode(),
    "version 2": GOOD.replace('"version":1', '"version":2').encode(),
    "true": GOOD.replace('"rank":1', '"rank":true').encode(),
    "minus zero": GOOD.replace("[0]", "[-1]").encode(),
    "long integer": GOOD.replace('"rank":1', f'"rank":1{"0" * 1_000_000}').encode(),
    "large integer": GOOD.replace('"rank":1', f'"rank":{2**53}').encode(),
    "long decimal": GOOD.replace('[["1"]]', f'[["{"7" * 1_000_000}"]]').encode(),
    "long hex": GOOD.replace('[["1"]]', f'[["0x{"7" * 1_000_000}"]]').encode(),
    "long prime": GOOD.replace('"7"', f'"-0x{"f" * 9_000}"').encode(),
    "long note": GOOD.replace('"rank":1', f'"rank":1,"note":"{"n" * 2001}"').encode(),
    "note": GOOD.replace('"rank":1', '"rank":1,"note":7').encode(),
    "unknown kind": GOOD.replace("matrix-rank", "matrix-ranks").encode(),
    "unknown format": GOOD.replace("lemmax-c", "Lemmax-c").encode(),
    "control character": GOOD.replace("lemmax-c", "lemmax\n-c").encode(),
}


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_are_no_certificates(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(TEXTS[name])
    with pytest.raises(NotACertificate) as caught:
        check_file(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert main([str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_truncated_files_are_no_certificates(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(GOOD)
    assert check_file(path).holds
    for end in range(len(GOOD)):
        path.write_text(GOOD[:end])
        with pytest.raises(NotACertificate):
            check_file(path)


def test_changed_bytes_never_end_in_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "changed.json"
    for place in range(len(GOOD)):
        for byte in (b'"', b"9", b"]", b"\xff"):
            path.write_bytes(GOOD[:place].encode() + byte + GOOD[place + 1 :].encode())
            try:
                verdict = check_file(path)
            except NotACertificate:
                continue
            assert isinstance(verdict, Verdict)
            if verdict.holds:  # the matrix may become another 1 x 1 matrix, the prime another prime
                assert json.loads(path.read_text())["rank"] == 1


def replaced(value: Any, rng: random.Random, wrong: Any) -> Any:
    """A copy of a JSON value with one part, anywhere in it, replaced."""
    if not isinstance(value, (dict, list)) or not value or rng.random() < 0.15:
        return wrong
    copied = copy.copy(value)
    key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
    copied[key] = replaced(value[key], rng, wrong)
    return copied


def test_no_input_ends_in_another_exception(valid: dict[str, list[Certificate]]) -> None:
    """Long numbers, zeros and parts of other certificates in every place."""
    rng = random.Random(3)
    flat = [certificate for certificates in valid.values() for certificate in certificates]
    numbers = ["-0x" + "f" * 5000, "9" * 4000, "0x1p20000", "-0x1p-20000", "0", "1/3", "-7", "2"]
    for _ in range(1000):
        donor = rng.choice(flat)
        wrong = rng.choice([*numbers, 0, 1, 2**52, [], {}, [[]], rng.choice(list(donor.values()))])
        damaged = replaced(rng.choice(flat), rng, wrong)
        try:
            said = checker.check(damaged).steps
        except NotACertificate as error:
            said = (str(error),)
        assert all(len(line) < 1000 for line in said)


def test_paths_that_are_no_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(GOOD)
    secret.chmod(0)
    paths = [tmp_path, tmp_path / "missing", tmp_path / ("x" * 500), "nul\x00byte", "/dev/null", ""]
    if os.geteuid() != 0:
        paths.append(secret)
    for path in paths:
        assert main([str(path)]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_huge_files_are_not_read_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as stream:
        stream.truncate(5 * 10**9)  # sparse: takes no room on the disk
    with pytest.raises(NotACertificate, match="larger"):
        check_file(path)


def test_the_note_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "note.json"
    path.write_text(GOOD.replace('"rank":1', '"rank":1,"note":"a remark"'))
    assert check_file(path).holds


HELP = """\
usage: checker [--json] [--expect CLAIM] [--claims FILE] [--limits]
               [--vocabulary] [--help]
               [CERTIFICATE ...]

Check lemmax certificates.

positional arguments:
  CERTIFICATE

options:
  --json          print the verdicts as JSON
  --expect CLAIM  demand certificates about it
  --claims FILE   a TOML file of claims, or a folder: certificates must carry
                  their claim's statement
  --limits        print the largest sizes, and check nothing
  --vocabulary    print the words of the language of statements, and check
                  nothing
  --help          print this text, and check nothing

"""


def test_what_only_informs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    for option in ("-h", "--help"):
        assert main([option]) == 0
        # The usage is folded in other places by other versions of Python.
        told = capsys.readouterr().out
        assert " ".join(told.split()) == " ".join(HELP.split())
    assert main(["--limits"]) == 0
    assert capsys.readouterr().out == json.dumps(checker.LIMITS, indent=2) + "\n"
    assert main(["--vocabulary"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == sum(map(len, VOCABULARY.values()))
    assert "rank(matrix)                                the rank over Q" in lines


TRUE = {
    "format": "lemmax-certificate",
    "version": 2,
    "kind": "witness",
    "claim": "example/even",
    "statement": "given x: integer; conclude even(x)",
    "instance": {"x": "2"},
}


def test_the_end_of_options_is_refused_in_a_sentence_where_it_is_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("good.json"), TRUE)
    assert main(["--", "good.json"]) == 0
    write(Path("--"), TRUE)
    assert main(["good.json"]) == 0
    assert main(["./--", "good.json"]) == 0
    with pytest.raises(SystemExit, match="2"):
        main(["--", "good.json"])
    assert capsys.readouterr().err.endswith("error: -- is also a file here; write ./--\n")


def test_what_is_printed_of_certificates(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("true.json"), TRUE)
    write(Path("false.json"), TRUE | {"instance": {"x": "3"}})
    write(Path("none.json"), TRUE | {"version": 1})
    claim = "claim example/even: given x: integer; conclude even(x)"
    assert main(["true.json"]) == 0
    assert capsys.readouterr().out == (
        f"true.json: witness: holds\n  {claim}\n  the conclusion holds: even(x) is true\n"
        "  statement as given by the certificate\n"
    )
    assert main(["true.json", "false.json"]) == 1
    assert capsys.readouterr().out.endswith(
        f"false.json: witness: does not hold\n  {claim}\n"
        "  FAILED the conclusion fails: even(x) is false\n"
    )
    assert main(["none.json", "false.json"]) == 2
    assert capsys.readouterr().err == "none.json: not a certificate: version must be 2.\n"
    assert main(["--json", "--expect", "example/odd", "true.json", "none.json"]) == 2
    steps = [claim, "the conclusion holds: even(x) is true"]
    steps.append("it is about the claim example/even, and 'example/odd' is expected")
    entry = {"file": "true.json", "status": "does-not-hold", "kind": "witness", "steps": steps}
    given = {"statement": "as given by the certificate"}
    other = {"file": "none.json", "status": "not-a-certificate", "error": "version must be 2."}
    printed = capsys.readouterr().out
    assert printed == json.dumps([entry | given, other], indent=2) + "\n"
    assert main(["--expect", "example/even", "--", "true.json"]) == 0


def test_a_verdict_in_a_notebook() -> None:
    verdict = Verdict("witness", True, ("a < b", "b"), "example/even", "")
    assert verdict._repr_html_() == (
        "<p>witness example/even: holds</p><ol><li>a &lt; b</li><li>b</li></ol>"
    )
    assert "<p>witness : does not hold</p>" in Verdict("witness", False, ("a",))._repr_html_()


def test_the_table_of_statements_is_read_as_it_stands() -> None:
    text = "# a word\none/first\ngiven M: matrix, x: rational; assume rows(M) == 1\n"
    text += "  and x > 0; conclude rank(M) <= x\n\ntwo/second\ngiven x: rational; conclude x > 0"
    found = listed(text)
    assert list(found) == ["one/first", "two/second"]
    first = Listed({"M": Matrix, "x": Fraction}, ("rows(M) == 1", "x > 0"), "rank(M) <= x")
    assert found["one/first"] == first
    assert found["two/second"] == Listed({"x": Fraction}, (), "x > 0")
