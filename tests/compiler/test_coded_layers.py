"""Layers by codes: what the checker accepts, and what it must refuse."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lemmax import checker
from lemmax.cli import app
from lemmax.constructions import compile_database
from lemmax.constructions.capacity import random_table
from lemmax.constructions.compiler import CompiledByCodes, load_layer, save
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.by_codes import CodedLayer, by_codes, fact_numbers
from lemmax.constructions.compiler.coded.codes import Code, families
from lemmax.constructions.compiler.coded.deciding import known
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory import AttentionLayer, Database, memorizes
from lemmax.theory.errors import LemmaxError
from lemmax.theory.formats import FORMATS

FORMS = [
    ("bfloat16", None),
    ("bfloat16", "float32"),
    ("float16", None),
    ("float16", "float32"),
    ("float32", None),
]
TABLES = [(30, 3, 10), (600, 3, 1500), (150, 16, 2200), (900, 1, 560), (40, 2, 2)]


@pytest.mark.parametrize(("dtype", "logits"), FORMS)
@pytest.mark.parametrize("sizes", [*TABLES, (2500, 2, 5000)])
def test_the_checker_accepts_what_is_compiled(
    dtype: str, logits: str | None, sizes: tuple[int, int, int], tmp_path: Path
) -> None:
    compiled = compile_database(random_table(*sizes, gaps=3), dtype=dtype, logits=logits)
    save(compiled, tmp_path / "layer.json")
    verdict = checker.check_file(tmp_path / "layer.json")
    assert verdict.holds, verdict.steps
    assert verdict.steps[-1].startswith(f"{len(compiled.facts)} facts")


@pytest.mark.claim(
    "lemmax/compiler-by-codes",
    grade="property",
    scope="four random tables, one per family of codes and more, all logits compared",
    statement="0258e625f5036a5d",
)
def test_over_the_reals_the_general_decision_agrees(sample: Sample) -> None:
    """Facts × tokens with balls, for every family, and the certificate that it writes."""

    def memorized(layer: AttentionLayer, database: Database) -> bool:
        return memorizes(layer, database).holds

    for dtype, logits, sizes in [
        ("bfloat16", None, (12, 3, 9)),
        ("bfloat16", None, (30, 3, 60)),
        ("bfloat16", "float32", (2, 3, 6)),
        ("float32", None, (20, 2, 30)),
    ]:
        compiled = compile_database(random_table(*sizes), dtype=dtype, logits=logits)
        first, *others = compiled.database.triples
        wrong = next(v for v in compiled.database.values if v != first[2])
        moved = Database.from_triples([(first[0], first[1], wrong), *others])
        control = compiled.layer, moved
        sample(memorized, compiled.layer, compiled.database, control=control)
        assert checker.check(compiled.certificate()).holds
        key, query, value = compiled.database.triples[3]
        assert compiled.recall(key, query).answer == compiled.answer(key, query) == value


def test_octaves_over_the_reals() -> None:
    db = random_table(4, 3, 12)
    arithmetic = Arithmetic.named("bfloat16", logits="float32")
    octaves = next(c for c in families(1, 12, arithmetic) if c.family == "octaves")
    few = replace(octaves, mantissas=(254, 255))  # 12 codes in three octaves
    coded = by_codes(db, few, arithmetic)
    assert memorizes(coded.layer, db).holds
    assert known(coded, fact_numbers(db)).all()


def test_a_probability_needs_integers_and_is_reached() -> None:
    db = random_table(10, 3, 20)
    compiled = compile_database(db, "99/100", dtype="bfloat16", logits="float32")
    assert compiled.coded.code.family == "integers"
    assert memorizes(compiled.layer, db, "99/100").holds
    verdict = checker.check(compiled.float_certificate())
    assert verdict.holds
    assert any("probability >= 99/100" in step for step in verdict.steps)
    false = compiled.float_certificate() | {"tau": "999999999/1000000000"}
    assert "too small" in checker.check(false).steps[-1]


# -- what must be refused ------------------------------------------------------------------------


def verdict_of(compiled: CompiledByCodes, **changes: Any) -> checker.Verdict:
    """The verdict on a compiled layer whose coded layer was changed."""
    certificate = replace(compiled, coded=replace(compiled.coded, **changes)).float_certificate()
    return checker.check(certificate)


def built(code: Code, arithmetic: Arithmetic, db: Database) -> checker.Verdict:
    """The verdict on a layer that is built with a code of one's own."""
    coded = by_codes(db, code, arithmetic)
    return checker.check(CompiledByCodes(db, coded, fact_numbers(db), None).float_certificate())


WIDE = Arithmetic.named("bfloat16", logits="float32")


def test_codes_that_floats_confuse_are_refused(confused: Any) -> None:
    verdict = built(confused.code, confused.arithmetic, confused.database)
    assert not verdict.holds
    assert confused.sentence in verdict.steps[-1]


@pytest.mark.parametrize(
    "code",
    [
        Code("one-rounding", 1, 4000, 1, 1, (16, 31), (-4, 4)),  # squares of 10 bits
        Code("integers", 1, 400, 1, 1, (-200, 199)),  # one intercept
        Code("octaves", 1, 10**5, 2, 1, (128, 255), (-76, -74)),  # subnormal intercepts
    ],
)
def test_intercepts_that_the_format_does_not_hold_are_not_written(code: Code) -> None:
    db = random_table(100, 3, 250)
    with pytest.raises(LemmaxError, match="bfloat16 does not hold"):
        built(code, WIDE, db)


def test_a_gain_that_leaves_attention_is_refused() -> None:
    compiled = compile_database(random_table(20, 3, 30), dtype="bfloat16")
    verdict = verdict_of(compiled, W_Q=compiled.coded.W_Q / 2)
    assert not verdict.holds
    assert "exp(-64)" in verdict.steps[-1]


def _add(name: str, where: tuple[Any, ...], amount: float) -> Callable[[CodedLayer], Any]:
    def change(coded: CodedLayer) -> dict[str, Any]:
        array = getattr(coded, name).copy()
        array[where] += amount
        return {name: array}

    return change


@pytest.mark.parametrize(
    "change",
    [
        _add("W_E", (0, 0), 1),  # a key's code
        _add("W_E", (0, -1), 1),  # a key's marker
        _add("W_E", (20, 0), 1),  # a predicate
        _add("W_U", (0, -1), 2),  # a value's column
        _add("W_U", (1, -1), 1),  # the same column where it was zero
        _add("W_U", (0, 0), 1),  # a column of a key
        _add("W_K", (0, 0, 0), 1),
        _add("W_V", (1, 0, 0), 1),
        _add("W_O", (1, 0, 1), 1),
        _add("W_Q", (2, 0, 0), 128),
    ],
)
def test_every_damaged_weight_is_noticed(change: Callable[[CodedLayer], dict[str, Any]]) -> None:
    compiled = compile_database(random_table(20, 3, 12), dtype="bfloat16")
    assert checker.check(compiled.float_certificate()).holds
    assert not verdict_of(compiled, **change(compiled.coded)).holds


def test_a_second_intercept_needs_a_coordinate_that_every_predicate_has() -> None:
    """With m = 1 and one marker predicate 1 has no hot coordinate: nothing may stand there."""
    compiled = compile_database(random_table(20, 3, 12), dtype="bfloat16")
    coded = compiled.coded
    W_U = coded.W_U.copy()
    values = np.unique(compiled.facts[:, 2])
    W_U[coded.layout.markers[0], values] -= 1
    for hot in coded.layout.hot[1:]:
        W_U[hot, values] += 1
    assert not verdict_of(compiled, W_U=W_U).holds


def test_two_values_with_one_code_are_refused() -> None:
    compiled = compile_database(random_table(20, 3, 12), dtype="bfloat16")
    W_U = compiled.coded.W_U.copy()
    W_U[:, -1] = W_U[:, -2]
    assert "same code" in verdict_of(compiled, W_U=W_U).steps[-1]


def test_formats_that_were_not_proved_are_refused() -> None:
    compiled = compile_database(random_table(300, 3, 500), dtype="bfloat16", logits="float32")
    certificate = compiled.float_certificate()
    assert checker.check(certificate).holds
    octaves = compile_database(random_table(1000, 3, 2500), dtype="bfloat16", logits="float32")
    assert octaves.coded.code.family == "octaves"
    wide = octaves.float_certificate()
    wide["arithmetic"] = {**wide["arithmetic"], "logits": "bfloat16"}
    assert "stored as they are" in checker.check(wide).steps[-1]
    wide["arithmetic"] = {**wide["arithmetic"], "accumulate": "float16"}
    with pytest.raises(checker.NotACertificate, match="must hold the weights"):
        checker.check(wide)


# -- files and bad input -------------------------------------------------------------------------


def test_arrays_beside_a_certificate_carry_a_digest(tmp_path: Path) -> None:
    compiled = compile_database(random_table(20, 3, 12), dtype="bfloat16")
    path = tmp_path / "layer.json"
    save(compiled, path)
    certificate = json.loads(path.read_text(encoding="utf-8"))
    with pytest.raises(checker.NotACertificate, match="itself a file"):
        checker.check(certificate)
    arrays = tmp_path / "layer.safetensors"
    whole = arrays.read_bytes()
    for damaged in (whole[:-1], whole[:-1] + b"x", b""):
        arrays.write_bytes(damaged)
        with pytest.raises(checker.NotACertificate, match=r"digest|empty"):
            checker.check_file(path)
    arrays.unlink()
    with pytest.raises(checker.NotACertificate, match="cannot be read"):
        checker.check_file(path)
    path.write_text(
        json.dumps({**certificate, "arrays": {**certificate["arrays"], "file": "../x"}})
    )
    with pytest.raises(checker.NotACertificate, match="beside the certificate"):
        checker.check_file(path)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_saved_layers_are_read_back_exactly(dtype: str, tmp_path: Path) -> None:
    compiled = compile_database(random_table(20, 3, 12), dtype=dtype)
    save(compiled, tmp_path / "layer.json")
    layer = load_layer(tmp_path / "layer.json")
    assert layer.W_E == compiled.layer.W_E
    assert layer.W_U == compiled.layer.W_U
    assert layer.heads == compiled.layer.heads
    arrays = tmp_path / "layer.safetensors"
    arrays.write_bytes(arrays.read_bytes()[:-1] + b"?")
    with pytest.raises(LemmaxError, match="does not match its digest"):
        load_layer(tmp_path / "layer.json")


def test_damaged_headers_are_one_sentence() -> None:
    certificate = compile_database(random_table(5, 2, 4), dtype="bfloat16").float_certificate()
    data = base64.b64decode(certificate["arrays"]["base64"])
    size = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + size]
    for damaged in (
        b"",
        data[:30],
        data[:8] + b"[" * size + data[8 + size :],
        data[:8] + header.replace(b"BF16", b"F16 ") + data[8 + size :],
        data[:8] + header.replace(b'"W_E"', b'"W_A"') + data[8 + size :],
        data[:-4],
    ):
        text = base64.b64encode(damaged).decode()
        with pytest.raises(checker.NotACertificate):
            checker.check({**certificate, "arrays": {"base64": text}})


def test_bad_input_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    db = random_table(5, 2, 4)
    with pytest.raises(LemmaxError, match="float7 is not a format"):
        compile_database(db, dtype="float7")
    both = Database.from_triples([("a", "f", "x"), ("f", "g", "y")])
    with pytest.raises(LemmaxError, match="'f' is both"):
        by_codes(both, Code("integers", 1, 2, mantissas=(-1, 0)), WIDE)
    with pytest.raises(LemmaxError, match="In float64 exp"):
        compile_database(db, dtype="bfloat16", accumulate="float64")
    with pytest.raises(LemmaxError, match="In float64 exp"):
        compile_database(db, dtype="float64")
    with pytest.raises(LemmaxError, match="go with a dtype"):
        compile_database(db, logits="float32")  # type: ignore[call-overload]
    compiled = compile_database(db, dtype="bfloat16")
    with pytest.raises(LemmaxError, match="unknown to this layer"):
        compiled.answer("nobody", "q0")
    with pytest.raises(LemmaxError, match="not a predicate"):
        compiled.answer("k0", "v0")
    monkeypatch.setattr("lemmax.theory.files.available_memory", lambda: 1000)
    with pytest.raises(LemmaxError, match=r"10 facts over 11 tokens need about .* are free"):
        compile_database(db, dtype="bfloat16")
    path = tmp_path / "facts.nt"
    path.write_text("<http://x/a> <http://x/b> <http://x/c> .\n" * 100)
    with pytest.raises(LemmaxError, match=r"facts\.nt need about .* are free"):
        Database.read(path)


def test_formats_are_those_of_the_checker() -> None:
    from lemmax.checker.coded.floats import FORMATS as CHECKED

    for name, form in CHECKED.items():
        ours = FORMATS[name]
        assert (ours.significand, ours.least, ours.greatest) == form[1:]


def test_formats_go_with_a_dtype_on_the_command_line(tmp_path: Path) -> None:
    facts = tmp_path / "facts.csv"
    facts.write_text("subject,predicate,object\na,f,x\n", encoding="utf-8")
    layer = str(tmp_path / "layer.json")
    run = CliRunner().invoke(app, ["compile", str(facts), "-o", layer, "--logits", "float32"])
    assert isinstance(run.exception, LemmaxError)
    assert "go with --dtype" in str(run.exception)
