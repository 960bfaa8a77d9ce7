"""Layer files that anyone may have made: read back exactly, or refused with one sentence."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

import lemmax.theory.certificates.schemas as schemas
from lemmax.cli import main
from lemmax.constructions import compile_database
from lemmax.constructions.compiler import files, load_layer, recall, save
from lemmax.numerics import certify_layer
from lemmax.theory import AttentionLayer, Database
from lemmax.theory.certificates.writing import number, sha256, to_json, write_certificate
from lemmax.theory.errors import LemmaxError

DATABASE = Database.from_triples(
    [("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y"), ("b", "g", "z"), ("c", "g", "x")]
)


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("layer") / "layer.json"
    save(compile_database(DATABASE, "99/100"), path)
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def signed(document: dict[str, Any]) -> dict[str, Any]:
    """With the digest of its contents, whatever they are."""
    bare = {name: value for name, value in document.items() if name != "note"}
    return bare | {"note": f"sha256 {sha256(bare)}"}


def refused(path: Path, text: str | bytes) -> str:
    """The sentence with which a file is refused."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(LemmaxError) as caught:
        load_layer(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    assert str(path) in sentence
    return sentence


def test_a_saved_layer_is_read_back(tmp_path: Path) -> None:
    compiled = compile_database(DATABASE, "99/100")
    save(compiled, tmp_path / "layer.json")
    assert load_layer(tmp_path / "layer.json") == compiled.layer


def test_long_numbers_are_read_back(tmp_path: Path) -> None:
    """They are written in hexadecimal."""
    layer = AttentionLayer(("a", "b"), [[1], [fmpq(1, 2**20_000)]], [[1, -(2**20_000)]])
    certificate = certify_layer({"W_E": [[1.0], [0.5]], "W_U": [[1.0, -1.0]]}, [(0, 0, 0)])
    document = certificate.certificate() | {"layer": layer.certificate_fields()}
    (tmp_path / "long.json").write_text(to_json(signed(document)), encoding="utf-8")
    assert load_layer(tmp_path / "long.json") == layer


@given(st.fractions() | st.integers(-(2**70), 2**70), st.integers(-3000, 3000))
def test_numbers_are_read_as_they_are_written(value: Any, exponent: int) -> None:
    exact = fmpq(value.numerator, value.denominator) * fmpq(2) ** exponent
    assert files._number(number(exact), "W_E") == exact


SPELT = """
0 -0 12 -12 012 1/2 -1/2 1/02 1/0 0/1 1/-2 +1 1.5 1e9 1_0 inf nan x 0x0 0x1f -0x1fp-3 0x1Fp3 0x01
0x1p 0x1p+3 0x1p03 0x1p3 0x1p0 0x1p-0 0x1p1234567 0x1p12345678 0X1 0x -0x1 0x1p3/2 1/0x2
"""


@pytest.mark.parametrize(
    "text", [*SPELT.split(), "", " 1", "1 ", "1\n", "٣", "1" * 4000, "1" * 4001]
)
def test_the_grammar_is_that_of_the_schema(text: str) -> None:
    folder = Path(next(iter(schemas.__path__)))
    schema = json.loads((folder / "memorization.schema.json").read_text(encoding="utf-8"))
    pattern = schema["$defs"]["number"]["pattern"]
    assert bool(files._NUMBER.fullmatch(text)) == bool(re.fullmatch(pattern, text))


NUMBERS = [
    "1e999999999",
    "1E5",
    "0.5",
    "1_000",
    " 1",
    "1\n",
    "+1",
    "-0",
    "01",
    "2/4",
    "1/0",
    "3/1",
    "٣",
    "inf",
    "nan",
    "",
    "1" * 5000,
    "0x1p9999999",
    "0x1p99999999999",
    "0X1",
    "0xg",
    "0x" + "f" * 400_001,
    "-0x",
    1,
    True,
    None,
    [],
    ["1"],
    {},
]


@pytest.mark.parametrize("value", NUMBERS, ids=[repr(x)[:20] for x in NUMBERS])
def test_numbers_have_a_strict_grammar(
    value: object, document: dict[str, Any], tmp_path: Path
) -> None:
    """With a digest that fits: the number itself is refused, and at once."""
    changed = copy.deepcopy(document)
    changed["layer"]["W_U"][0][0] = value
    start = time.process_time()
    refused(tmp_path / "layer.json", json.dumps(signed(changed)))
    changed.pop("note")
    refused(tmp_path / "layer.json", json.dumps(changed))
    assert time.process_time() - start < 2


def test_exponents_cannot_fill_the_memory(document: dict[str, Any], tmp_path: Path) -> None:
    changed = copy.deepcopy(document)
    changed["layer"]["W_U"][0] = ["0x1p-1000000"] * 1000
    text = json.dumps(signed(changed))
    assert "exponents are too large" in refused(tmp_path / "layer.json", text)


def test_common_denominators_cannot_fill_the_memory(
    document: dict[str, Any], tmp_path: Path
) -> None:
    """2,000 denominators of 2,000 digits with little in common: 4 MB that would become 3 GB."""
    changed = copy.deepcopy(document)
    long = [f"1/{10**2000 + n}" for n in range(1, 4001, 2)]
    changed["layer"]["W_U"][0] = long
    start = time.process_time()
    sentence = refused(tmp_path / "layer.json", json.dumps(signed(changed)))
    assert "W_U is too large over a common denominator" in sentence
    assert time.process_time() - start < 10


STRANGE: list[Any] = [None, True, 0, -1, 2**40, "", "x", "1/2", [], [[]], [["1"]], {}, {"a": []}]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document, of each list the first two entries."""
    yield path
    if isinstance(value, (dict, list)):
        for name, item in value.items() if isinstance(value, dict) else enumerate(value[:2]):
            yield from places(item, (*path, name))


def sentence_about(path: Path) -> str:
    """Why a file is refused; nothing where its layer is read."""
    try:
        load_layer(path)
    except LemmaxError as error:
        return str(error)
    return ""


def test_every_malformed_layer_is_one_sentence(document: dict[str, Any], tmp_path: Path) -> None:
    """Each part replaced by strange values or left out: read as it stands, or refused."""
    path = tmp_path / "layer.json"
    count = 0
    bare = {name: value for name, value in document.items() if name != "note"}
    for place in list(places(bare))[1:]:
        for strange in [*STRANGE, "left out", "twice"]:
            changed = copy.deepcopy(bare)
            owner: Any = changed
            for name in place[:-1]:
                owner = owner[name]
            if strange == "left out":
                del owner[place[-1]]
            elif strange == "twice" and isinstance(owner, list):
                owner.append(owner[place[-1]])
            else:
                owner[place[-1]] = strange
            for text in (to_json(signed(changed)), to_json(changed)):
                path.write_text(text, encoding="utf-8")
                sentence = sentence_about(path)
                count += bool(sentence)
                assert "\n" not in sentence
                assert not sentence or str(path) in sentence
    assert count > 500


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b"\xff\xfe{}",
        b'{"kind": "memorization"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"format": NaN}',
        b'{"kind": "memorization", "kind": "memorization"}',
        b"1" * 10_000,
    ],
    ids=range(10),
)
def test_what_is_no_layer_is_one_sentence(text: bytes, tmp_path: Path) -> None:
    assert "not a layer file" in refused(tmp_path / "layer.json", text)


def test_half_a_character_is_no_token(document: dict[str, Any], tmp_path: Path) -> None:
    text = json.dumps(document).replace('"a"', '"\\ud800"')
    refused(tmp_path / "layer.json", text)
    refused(tmp_path / "layer.json", text.replace("sha256 ", "no digest "))


def test_pipes_devices_and_folders_are_refused(tmp_path: Path) -> None:
    """In a process of its own, which would hang otherwise."""
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "device.json").symlink_to("/dev/zero")
    (tmp_path / "folder.json").mkdir()
    code = (
        "import sys; from lemmax.cli import main; sys.exit(main(['recall', sys.argv[1], 'a', 'f']))"
    )
    for name in ("pipe.json", "device.json", "folder.json"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / name)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr.endswith("it is not a regular file.\n")
        assert done.stderr.count("\n") == 1


def test_files_that_are_too_large_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "layer.json"
    with path.open("wb") as file:
        file.truncate(10**12)  # a hole: nothing is on the disk
    with pytest.raises(LemmaxError, match="has 1000000000000 bytes, more than 64000000"):
        load_layer(path)


def test_a_certificate_of_a_trained_layer_is_a_layer_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has no digest: the checker has to accept it."""
    compiled = compile_database(DATABASE)
    certified = certify_layer(compiled.to_numpy(), DATABASE, tokens=compiled.layer.tokens)
    path = tmp_path / "trained.json"
    write_certificate(path, certified.certificate())
    layer = load_layer(path)
    assert all(recall(layer, k, q).answer == v for k, q, v in DATABASE)
    with pytest.raises(SystemExit, match="0"):
        main(["recall", str(path), "b", "g"])
    assert capsys.readouterr().out.startswith("z\nprobability in ")
    certificate = certified.certificate()
    k, q, v = certificate["facts"][0]
    certificate["facts"][0] = [k, q, (v + 1) % len(layer.tokens)]
    assert "was edited, or never held" in refused(path, to_json(certificate))
