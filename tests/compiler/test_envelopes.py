"""Envelopes: lines in bfloat16 that float32 tells apart, with numbers that predicates share."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from lemmax import checker
from lemmax.constructions import compile_database
from lemmax.constructions.capacity import random_table
from lemmax.constructions.compiler import CompiledByCodes
from lemmax.constructions.compiler.coded import envelopes
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.by_codes import by_codes, fact_numbers
from lemmax.constructions.compiler.coded.codes import Code, families
from lemmax.constructions.compiler.coded.deciding import known
from lemmax.constructions.compiler.coded.envelopes import Ladder, ladder, split
from lemmax.constructions.compiler.coded.files import safetensors, tensors
from lemmax.theory import Database, memorizes

WIDE = Arithmetic.named("bfloat16", logits="float32")


def envelope(shared: int) -> Code:
    """The code of a ladder."""
    codes = (code for m in (1, 2) for code in families(m, 2, WIDE) if code.family == "envelope")
    return next(code for code in codes if code.shared == shared)


def built(db: Database, shared: int) -> CompiledByCodes:
    """The layer that holds a database in lines, whether or not another is smaller."""
    facts = fact_numbers(db)
    return CompiledByCodes(db, by_codes(db, envelope(shared), WIDE, 1, facts), facts, None)


def test_capacities() -> None:
    assert [ladder(shared).capacity for shared in (0, 2, 3)] == [58_166, 94_116, 77_190]
    assert compile_database(random_table(100, 9, 40), dtype="bfloat16").dims.d_model == 10


@pytest.mark.parametrize("shared", [0, 2, 3])
@pytest.mark.parametrize("sizes", [(20, 4, 30), (1, 1, 1), (60, 7, 300), (300, 5, 1500)])
def test_the_checker_accepts_what_is_built(shared: int, sizes: tuple[int, int, int]) -> None:
    compiled = built(random_table(*sizes, gaps=2 if sizes[0] > 1 else 0), shared)
    assert known(compiled.coded, compiled.facts).all()
    verdict = checker.check(compiled.float_certificate())
    assert verdict.holds, verdict.steps
    for key, query, value in compiled.database.triples[:20]:
        assert compiled.answer(key, query) == value


@pytest.mark.parametrize("shared", [0, 2, 3])
def test_over_the_reals_the_general_decision_agrees(shared: int) -> None:
    db = random_table(12, 4, 40, gaps=3)
    compiled = built(db, shared)
    assert memorizes(compiled.layer, db).holds
    assert checker.check(compiled.certificate()).holds


def test_all_lines_of_the_ladder_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """58,166 values, one fact each: the whole of a claim about bfloat16, decided exactly."""
    monkeypatch.setitem(checker.limits.LIMITS, "hex digits", 10**7)  # the arrays stand inside
    code = envelope(0)
    compiled = built(random_table(code.capacity // 2, 2, code.capacity), 0)
    assert len(np.unique(compiled.facts[:, 2])) == code.capacity
    monkeypatch.setattr("lemmax.constructions.compiler.coded.files.LARGEST_INSIDE", 10**7)
    verdict = checker.check(compiled.float_certificate())
    assert verdict.holds, verdict.steps
    assert "458 groups" in verdict.steps[-2]


@pytest.mark.parametrize("shared", [2, 3])
def test_every_value_is_answered_whatever_is_shared(shared: int) -> None:
    """All values with all shared numbers; float64 holds what neighbours are compared by."""
    rungs = ladder(shared)
    sign, octave, step = rungs.values(rungs.capacity)
    up = sign > 0  # the other side is its mirror image
    octave, step = octave[up], step[up]
    order = np.lexsort((step, octave))
    octave, step = octave[order], step[order]
    p, q, r = rungs.lines(octave, step)
    dp, dq, dr = (np.diff(part) for part in (p, q, r))
    assert (dp > 0).all()
    for number in range(1 << shared):
        for i in range(shared):
            y = number / 2**i
            mine = (step & 1) == (number >> i & 1)
            x = rungs.codes(np.ones_like(step), octave, step, np.full_like(step, number >> i))
            assert (x[mine] >= np.ldexp(128.0, octave[mine] + rungs.lowest)).all()
            assert (dp * x[1:] + dq * y - dr > 0)[mine[1:]].all()
            assert (dp * x[:-1] + dq * y - dr < 0)[mine[:-1]].all()


@pytest.mark.parametrize("shared", [0, 2, 3])
def test_the_ends_of_all_octaves_are_accepted(shared: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four values at either end of every octave, of both signs, with all shared numbers."""
    low, high = ladder(shared).steps
    octaves = ladder(shared).octaves

    def some(self: Ladder, size: int) -> Any:
        steps = [*range(low, low + 4), *range(high - 3, high + 1)]
        grid = [(s, k, n) for k in range(octaves) for s in (1, -1) for n in steps]
        return np.array(grid[:size], dtype=np.int64).T

    monkeypatch.setattr(Ladder, "values", some)
    compiled = built(random_table(octaves * 8, 3, octaves * 16), shared)
    verdict = checker.check(compiled.float_certificate())
    assert verdict.holds, verdict.steps
    assert f"{2 * octaves} groups" in verdict.steps[-2]


def sums(terms: list[Any]) -> list[Any]:
    """float32 sums of the terms in every order, and in pairs."""
    totals = []
    for order in permutations(range(len(terms))):
        total = terms[order[0]]
        for i in order[1:]:
            total = total + terms[i]
        totals.append(total)
    if len(terms) == 4:
        for i in (1, 2, 3):
            a, b = (j for j in (1, 2, 3) if j != i)
            totals.append((terms[0] + terms[i]) + (terms[a] + terms[b]))
    return totals


def test_float32_tells_lines_apart_in_every_order() -> None:
    """Some values of every kind against all 58,166, as numpy adds float32 numbers."""
    rungs = ladder(0)
    sign, octave, step = rungs.values(rungs.capacity)
    columns = rungs.columns(sign, octave, step, 2).astype(np.float32)
    codes = rungs.codes(sign, octave, step, np.zeros_like(step)).astype(np.float32)
    order = np.argsort(codes)
    random = np.random.default_rng(0)
    ends = order[[0, 1, 126, 127, len(order) // 2, -1]]
    for w in [*ends, *random.choice(len(codes), 12, replace=False)]:
        terms = [columns[0] * codes[w], columns[1] * codes[w], columns[2], columns[3]]
        for total in sums(terms):
            rivals = np.delete(total, w)
            assert total[w] > rivals.max()
            assert total[w] > 0


@pytest.mark.parametrize(
    ("shared", "doubling", "sentence"),
    [
        (0, 256, "closer than sums are exact|not compared exactly|not finite"),
        (4, 2, "closer than sums are exact"),
        (3, 8, "closer than sums are exact|not compared exactly"),
    ],
)
def test_steeper_ladders_are_refused(
    shared: int, doubling: int, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums of 24 bits do not hold them: the limits of the ladders are not chosen for comfort."""
    import re

    monkeypatch.setitem(envelopes.DOUBLING, shared, doubling)
    envelopes.ladder.cache_clear()
    try:
        compiled = built(random_table(700, 4, 2600), shared)
    finally:
        monkeypatch.undo()
        envelopes.ladder.cache_clear()
    verdict = checker.check(compiled.float_certificate())
    assert not verdict.holds
    assert re.search(sentence, verdict.steps[-1])


def damaged(compiled: CompiledByCodes, **changes: Any) -> checker.Verdict:
    coded = replace(compiled.coded, **changes)
    return checker.check(replace(compiled, coded=coded).float_certificate())


def test_damaged_lines_are_refused() -> None:
    compiled = built(random_table(40, 4, 100), 3)
    coded = compiled.coded
    assert checker.check(compiled.float_certificate()).holds
    value = int(compiled.facts[5, 2])
    for row in (*coded.layout.outputs, *coded.layout.markers):
        W_U = coded.W_U.copy()
        W_U[row, value] = 2 * W_U[row, value] or 2.0
        assert not damaged(compiled, W_U=W_U).holds
    key, query, _ = compiled.facts[7]
    head = coded.queries.index(int(query))
    number = np.float32(coded.W_E[key, head])
    beside = (number.view(np.uint32) + np.uint32(1 << 16)).view(np.float32)
    for other in (0, -number, 2 * number, beside):
        W_E = coded.W_E.copy()
        W_E[key, head] = other
        assert not damaged(compiled, W_E=W_E).holds
    W_E = coded.W_E.copy()
    W_E[key, 4 + head // 3] += 2 ** (head % 3)  # the bit of this predicate, or one above it
    assert not damaged(compiled, W_E=W_E).holds
    W_U = coded.W_U.copy()
    W_U[coded.layout.outputs[0], coded.queries[0]] = 1  # a token that is no value
    assert not damaged(compiled, W_U=W_U).holds
    W_E = coded.W_E.copy()
    W_E[coded.queries[1], coded.layout.outputs[1]] = 1
    assert not damaged(compiled, W_E=W_E).holds
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        array = getattr(coded, name).copy()
        array[(1, *[0] * (array.ndim - 1))] += 1
        assert not damaged(compiled, **{name: array}).holds


def test_attention_must_be_sharp_for_all_exponents(monkeypatch: pytest.MonkeyPatch) -> None:
    """g = 128 leaves 2^-184 of another number of the key, which may be 2^228 times this one."""
    ends = Ladder.values

    def first_and_last(self: Ladder, size: int) -> Any:
        sign, octave, step = ends(self, size)
        return sign, np.where(octave == octave[0], 0, self.octaves - 1), step

    monkeypatch.setattr(Ladder, "values", first_and_last)
    compiled = built(random_table(200, 2, 400), 0)
    verdict = checker.check(compiled.float_certificate())
    assert verdict.holds, verdict.steps
    dull = damaged(compiled, W_Q=compiled.coded.W_Q / 8)
    assert "is answered by" in dull.steps[-1]
    assert not damaged(compiled, W_Q=compiled.coded.W_Q / 16).holds


def test_lines_need_wide_logits_and_no_tau() -> None:
    certificate = built(random_table(20, 3, 60), 0).float_certificate()
    narrow = {**certificate, "arithmetic": {**certificate["arithmetic"], "logits": "bfloat16"}}
    assert "stored as they are accumulated" in checker.check(narrow).steps[-1]
    with pytest.raises(checker.NotACertificate, match="integer codes"):
        checker.check({**certificate, "tau": "1/2"})
    for change in ({"shared": 2}, {"shared": 9}, {"factor": 2}, {"intercepts": 3}):
        with pytest.raises(checker.NotACertificate):
            checker.check({**certificate, "code": {**certificate["code"], **change}})


def test_weights_are_what_bfloat16_holds() -> None:
    for shared in (0, 2, 3):
        compiled = built(random_table(30, 5, 100), shared)
        assert safetensors(tensors(compiled))  # raises where a weight is not held
    parts = split(np.array([12_345, -7]), 2)
    assert (parts[0] + parts[1]).tolist() == [12_345, -7]
    with pytest.raises(AssertionError):
        split(np.array([2**20 + 2**10 + 1]), 2)
    assert Ladder(2, 3, -133, 10).capacity == 2 * 10 * 249
