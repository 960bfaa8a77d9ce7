"""Coq's kernel accepts what is written, and rejects it once a number of the proof is wrong."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lemmax.cli import main
from lemmax.constructions import proved, shipped
from lemmax.theory import kruskal_rank
from lemmax.theory.certificates.writing import write_certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger import coq_cache
from lemmax.theory.ledger.coq import find_coqc, formal_folder, theorem_statements
from lemmax.theory.proving import running, theorem, translations

# A flaw in the arguments of a check: what is replaced, once, and by what.
CONTROLS: dict[str, dict[str, tuple[str, str]]] = {
    "rank": {
        "a wrong modulus": (r"(?<=d M )\d+%bZ", "4%bZ"),
        "a duplicated row": (r"\[:: 0; 1\]%N", "[:: 0; 0]%N"),
        "a wrong rank": (r"(?<=^2%N 2%N )2%N", "1%N"),
        "a wrong inverse": (r"(?<=\(\[:: \[:: )\d+", "5"),
    },
    "database_rank": {
        "a wrong rank": (r"(?<=^5%N 3%N 4%N )5%N", "4%N"),
        "a flipped fact": (r" facts ", " ((0, 0, 1)%N :: behead facts) "),
        "a fact out of range": (r" facts ", " ((0, 0, 9)%N :: behead facts) "),
        "a pair asked about twice": (r" facts ", " (rcons facts (0, 0, 1)%N) "),
    },
    "argmax": {
        "a flipped fact": (r" facts$", " ((0, 2, 3)%N :: behead facts)"),
        "a fact out of range": (r" facts$", " ((0, 9, 3)%N :: facts)"),
        "a flipped weight": (r"\(Weights (.*) O\)", r"(Weights \1 [:: [:: [:: 0]]]%bZ)"),
    },
    "kruskal": {
        "a wrong rank": (r"3%N 2%N d M", "3%N 1%N d M"),
        "a sum of rows that is not zero": (r"-1; -1; 1; 0\]", "-1; -1; 2; 0]"),
        "no sum of rows": (r"-1; -1; 1; 0\]", "0; 0; 0; 0]"),
        "a set of rows that is missing": (r"\(\[:: 0; 1\]%N, .*?\]%bZ\); ", ""),
    },
}
CERTIFICATE: dict[str, Any] = {
    "format": "lemmax-certificate",
    "version": 1,
    "kind": "matrix-rank",
    "matrix": [["2", "1"], ["1", "1/3"]],
    "rank": 2,
    "lower": {"prime": "7", "rows": [0, 1], "columns": [0, 1]},
    "upper": {"method": "size"},
}


@pytest.fixture
def coqc() -> str:
    found = find_coqc()
    if found is None:
        pytest.skip("Coq is not installed")
    return found


@pytest.mark.slow
def test_the_kernel_accepts_proofs_and_their_checks_reject_flawed_ones(coqc: str) -> None:
    """All in one file: each flawed argument makes the check compute to false."""
    text = translations.file_of(
        {
            "a": CERTIFICATE,
            "b": dict(shipped.load("wong/example-2.2-rank")),
            "c": dict(shipped.load("wong/exclusive-or-all-dimensions-one")),
            "d": dict(kruskal_rank([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]).certificate()),
        }
    )
    for (check, flaws), module in zip(CONTROLS.items(), "abcd", strict=True):
        call = re.search(rf"@{check}_sound (?:F|R exp ok) (.*?)(?: _)?\)\.\n", text, re.DOTALL)
        assert call is not None
        arguments = " ".join(call[1].split())
        goals = ""
        for name, (pattern, wrong) in flaws.items():
            flawed, count = re.subn(pattern, wrong, arguments, count=1)
            assert count == 1, name
            goals += f"Goal {check}_check {flawed} = false.\nProof. by vm_compute. Qed.\n"
        goals = goals.replace("database_rank_check", "database_check")
        text = text.replace(f"End {module}.", f"{goals}End {module}.")
    run = running.prove(text, 4)
    assert run.proved, run.message


# Statements in words: a flaw, what is replaced in the proof, once, and by what.
FLAWS = [
    ("wong/rank-of-product", "a wrong rank", "exists 4%N, 2%N, 3%N", "exists 4%N, 2%N, 2%N"),
    (
        "wong/rank-of-product",
        "a wrong term",
        "([:: 1; 1; 1], [:: 1; 0],",
        "([:: 1; 1; 0], [:: 1; 0],",
    ),
    ("wong/rank-of-product", "a wrong modulus", "Flattening 101%bZ", "Flattening 1%bZ"),
    ("wong/proposition-3.1", "an entry that agrees", "0%N 1%N 0%N);", "0%N 0%N 0%N);"),
    ("dana/corollary-1", "targets exchanged", "0%N 0%N 1%N 1%N a", "0%N 1%N 0%N 1%N a"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "flaw", "old", "new"), FLAWS, ids=[f[1] for f in FLAWS])
def test_the_kernel_rejects_flawed_proofs_of_statements(
    coqc: str, name: str, flaw: str, old: str, new: str
) -> None:
    """The statement and the data are as they were; one number of the proof is not."""
    text = translations.file_of({name: dict(shipped.load(name))})
    start = text.index("\nProof.\n")
    proof = " ".join(text[start:].split())
    assert old in proof
    run = running.prove(f"{text[:start]}\n{proof.replace(old, new, 1)}\n", 1)
    assert not run.proved, flaw


def test_what_is_recorded_is_what_is_written_today() -> None:
    """A record whose certificate, translation or formal sources changed is stale."""
    assert proved.stale() == []
    names = [name for name in shipped.names() if proved.proved(name)]
    assert 4 * len(names) >= 3 * len(shipped.names())
    for name in shipped.names():
        said = proved.records()[name]
        assert said["proved"] != bool(said.get("reason")), name


def test_a_record_of_something_else_is_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "wong/argmax-rank-one"
    known = proved.records()
    for field in ("certificate", "sha256"):
        other = known | {name: known[name] | {field: "0" * 64}}
        monkeypatch.setattr(proved, "records", lambda other=other: other)
        assert proved.stale() == [name]
    monkeypatch.setattr(proved, "records", lambda: known | {"gone": {"proved": True}})
    assert proved.stale() == ["gone"]


@pytest.mark.slow
def test_all_that_is_recorded_is_proved_by_the_kernel(coqc: str) -> None:
    """What this machine has proved before is known by its digest; the rest is proved now."""
    proved.prove()
    assert proved.prove() == 0


def test_a_module_is_proved_once_and_a_false_one_is_named(
    coqc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache is by digest: a changed module is proved anew, the others are not."""
    asked: list[int] = []

    def prove(text: str, theorems: int, timeout: float = 0) -> running.Run:
        asked.append(theorems)
        return running.Run("false" not in text, 0.0, "no", "")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "lemmax" / "prove").mkdir(parents=True)
    monkeypatch.setattr(running, "prove", prove)
    assert running.prove_modules({"a": "one", "b": "two"}) == 2
    assert running.prove_modules({"a": "one", "b": "two"}) == 0
    assert running.prove_modules({"a": "one", "b": "changed"}) == 1
    assert asked == [2, 1]
    with pytest.raises(LemmaxError, match="the proof of b"):
        running.prove_modules({"a": "one", "b": "false"})


def test_sources_are_compiled_once_for_the_evidence_and_for_certificates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two at once, and after the evidence: no source is given to Coq a second time."""
    log, coqc = tmp_path / "log", tmp_path / "coqc"
    coqc.write_text(f'#!/bin/sh\nfor f; do :; done\necho "$f" >> {log}\n: > "${{f%.v}}.vo"\n')
    coqc.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    sources = running.required_sources()
    first = list(sources)[:8]
    coq_cache.check_formal(wanted=first, coqc=str(coqc))
    with ThreadPoolExecutor(2) as pool:
        folders = set(pool.map(lambda _: running.compiled_sources(str(coqc), sources, 9), "ab"))
    assert {file.stem for file in folders.pop().iterdir()} == set(sources)
    assert folders == set()
    asked = Counter(line for line in log.read_text().split() if line.endswith(".v"))
    # Theorems are asked about twice, together and one by one, for this Coq says nothing of them.
    assert asked == {f"{n}.v": 1 + bool(theorem_statements(text)) for n, text in sources.items()}


AXIOMS = (
    "propositional_extensionality",
    "functional_extensionality_dep",
    "constructive_indefinite_description",
)


@pytest.mark.slow
def test_the_real_exponential_has_both_properties(coqc: str, tmp_path: Path) -> None:
    """Where mathcomp-analysis is; its axioms are those that the trust page names, and no other."""
    library = Path(subprocess.check_output([coqc, "-where"], text=True).strip())
    if not (library / "user-contrib" / "mathcomp" / "analysis").is_dir():
        pytest.skip("mathcomp-analysis is not installed: libcoq-mathcomp-analysis on Debian")
    folder = running.compiled_sources(coqc, running.required_sources(), 600)
    source = formal_folder() / "analysis" / "real_exponential.v"
    shutil.copy(source, tmp_path)
    command = [coqc, "-q", "-w", "none", "-Q", str(folder), "lemmax", "real_exponential.v"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert set(re.findall(r"^(\w+)\s*$|^(\w+) :", run.stdout, re.MULTILINE)) == {
        ("", AXIOMS[0]),
        (AXIOMS[1], ""),
        (AXIOMS[2], ""),
    }


def test_the_trust_page_names_the_axioms() -> None:
    page = (Path(__file__).parents[2] / "docs" / "trust.md").read_text(encoding="utf-8")
    assert all(f"`{axiom}`" in page for axiom in AXIOMS)


def test_missing_coq_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    write_certificate(tmp_path / "a.json", CERTIFICATE)
    with pytest.raises(SystemExit) as end:
        main(["prove", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.v"), "--run"])
    assert end.value.code == 2
    assert "libcoq-mathcomp-algebra" in capsys.readouterr().err
    assert not (tmp_path / "a.v").exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rank": 1}, "does not hold"),
        ({"rank": "2"}, "is not a certificate"),
        ({"kind": "nonsense"}, "is not a certificate"),
    ],
)
def test_bad_certificates_are_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], sentence: str
) -> None:
    write_certificate(tmp_path / "a.json", CERTIFICATE | change)
    with pytest.raises(SystemExit) as end:
        main(["prove", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.v")])
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "a.v").exists()


def test_the_file_is_written_where_asked(tmp_path: Path) -> None:
    write_certificate(tmp_path / "a.json", CERTIFICATE)
    with pytest.raises(SystemExit) as end:
        main(["prove", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.v")])
    assert end.value.code == 0
    text = (tmp_path / "a.v").read_text(encoding="utf-8")
    assert r"\rank (qmx F 2 2 d M) = 2%N" in text
    assert theorem.parse(text)[0].data["M"] == [[6, 3], [3, 1]]
