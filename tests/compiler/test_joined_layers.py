"""Predicates that are subjects too, by codes: in floats, over the reals, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lemmax import checker
from lemmax.checker.coded.floats import FORMATS
from lemmax.checker.coded.joined import apart
from lemmax.constructions import compile_database
from lemmax.constructions.capacity import capacities
from lemmax.constructions.compiler import CompiledByCodes
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.by_codes import by_codes, fact_numbers
from lemmax.constructions.compiler.coded.codes import Code
from lemmax.constructions.compiler.coded.joined import numbers
from lemmax.theory import Database, memorizes
from lemmax.theory.errors import LemmaxError


def joined_table(keys: int, queries: int, values: int, gaps: int = 0) -> Database:
    """Random facts about subjects of which the predicates are some, (q, q) included."""
    generator = random.Random(keys)
    subjects = [f"q{i}" for i in range(queries)] + [f"k{i}" for i in range(keys - queries)]
    facts = [
        (k, f"q{j}", f"v{generator.randrange(values)}") for k in subjects for j in range(queries)
    ]
    generator.shuffle(facts)
    return Database.from_triples(facts[gaps:])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (5, 3, 4), (60, 7, 300), (40, 16, 50)])
def test_the_checker_accepts_what_is_compiled(dtype: str, sizes: tuple[int, int, int]) -> None:
    db = joined_table(*sizes)
    if dtype == "float16" and sizes[1] == 16:
        sizes = (40, 11, 50)  # more predicates have scores that float16 does not hold
        db = joined_table(*sizes)
    compiled = compile_database(db, dtype=dtype)
    assert compiled.coded.code.family == "joined"
    verdict = checker.check(compiled.float_certificate())
    assert verdict.holds, verdict.steps
    assert any(f"{sizes[1]} of them subjects" in step for step in verdict.steps)
    for key, query, value in db.triples[:10]:
        assert compiled.answer(key, query) == value


def test_over_the_reals_the_general_decision_agrees() -> None:
    for tau in (None, "9/10"):
        db = joined_table(8, 4, 20, gaps=5)
        compiled = compile_database(db, tau, dtype="bfloat16", logits="float32")
        assert memorizes(compiled.layer, db, tau).holds
        assert checker.check(compiled.float_certificate()).holds
        assert checker.check(compiled.certificate()).holds


def damaged(compiled: CompiledByCodes, **changes: Any) -> checker.Verdict:
    coded = replace(compiled.coded, **changes)
    return checker.check(replace(compiled, coded=coded).float_certificate())


def _add(name: str, where: tuple[Any, ...], amount: float) -> Callable[[Any], dict[str, Any]]:
    def change(coded: Any) -> dict[str, Any]:
        array = getattr(coded, name).copy()
        array[where] += amount
        return {name: array}

    return change


def test_every_damaged_weight_is_noticed() -> None:
    db = joined_table(12, 3, 10)
    compiled = compile_database(db, dtype="bfloat16")
    coded = compiled.coded
    m, q = coded.code.coordinates, coded.queries[1]
    key = next(int(k) for k in compiled.facts[:, 0] if int(k) not in coded.queries)
    hot, out = 3 * m, coded.layout.outputs[0]
    for change in [
        _add("W_E", (key, 0), 1),  # a code
        _add("W_E", (key, hot), 1),  # a subject that looks like a predicate
        _add("W_E", (q, hot), 1),  # two hot coordinates
        _add("W_E", (q, out), 1),  # what is taken back
        _add("W_E", (q, -1), 1),  # the marker
        _add("W_U", (out, int(compiled.facts[0, 2])), 2),
        _add("W_U", (hot, int(compiled.facts[0, 2])), 1),
        _add("W_K", (0, 0, hot), 1),
        _add("W_K", (1, 1, hot), 1),
        _add("W_Q", (2, hot, 0), 256),
        _add("W_V", (1, 0, 0), 1),
        _add("W_O", (1, 0, 0), 1),
    ]:
        assert not damaged(compiled, **change(coded)).holds
    assert not damaged(compiled, W_Q=coded.W_Q / 2).holds


def test_scores_that_formats_confuse_are_noticed() -> None:
    """17² has nine bits: rounded, it may be as near to another score as exp notices."""
    bfloat16, float32 = FORMATS["bfloat16"], FORMATS["float32"]
    assert apart(numbers(40), 128, bfloat16, float32) >= 104
    assert apart([17, 18], 128, bfloat16, float32) < 104
    assert apart([1, 2], 64, bfloat16, float32) < 104
    assert apart([200, -200], 128, bfloat16, float32) == 0


def test_bad_input_is_one_sentence() -> None:
    many = Database.from_triples([(f"q{i}", f"q{i + 1}", "x") for i in range(120)])
    with pytest.raises(LemmaxError, match="names of their own"):
        compile_database(many, dtype="bfloat16")
    wide = joined_table(40, 30, 400)
    with pytest.raises(LemmaxError, match="beyond 65504"):
        compile_database(wide, dtype="float16")
    rows = [row for row in capacities(joined_table(9, 3, 8)) if row.construction == "by-codes"]
    assert {row.family for row in rows} == {"joined"}
    assert all(row.dims.d_qk == 2 for row in rows)


def test_outputs_beyond_the_format_are_refused() -> None:
    """Integers up to 30, and nine of them added up: bfloat16 does not hold 261 and more."""
    db = joined_table(30, 5, 60)
    arithmetic = Arithmetic.named("bfloat16", logits="float32")
    coded = by_codes(db, Code("joined", 1, 60, 2, 1, (-30, 29)), arithmetic)
    verdict = checker.check(CompiledByCodes(db, coded, fact_numbers(db), None).float_certificate())
    assert not verdict.holds
    assert "outputs reach 270" in verdict.steps[-1]
