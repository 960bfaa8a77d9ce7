"""Layers by codes whose residual stream has no coordinate of its own for markers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from lemmax import checker
from lemmax.constructions import compile_database
from lemmax.constructions.capacity import capacities, random_table
from lemmax.constructions.capacity.bits import Sizes
from lemmax.constructions.compiler import CompiledByCodes
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.by_codes import by_codes, fact_numbers
from lemmax.constructions.compiler.coded.codes import cheapest_code
from lemmax.numerics.twins.coded import TorchCodedLayer
from lemmax.theory import Database, memorizes
from lemmax.theory.errors import LemmaxError


def damaged(layer: CompiledByCodes, **arrays: Any) -> checker.Verdict:
    return checker.check(replace(layer, coded=replace(layer.coded, **arrays)).float_certificate())


@pytest.fixture(scope="module")
def layer() -> CompiledByCodes:
    """65,536 codes are too many for one number, so two are taken; a few of them are used."""
    db = random_table(300, 3, 900)
    arithmetic = Arithmetic.named("bfloat16", logits="float32", residual="float32")
    code = cheapest_code(1 << 16, 3, arithmetic)
    assert (code.family, code.width(3), code.scale) == ("unmarked", 6, 1024)
    facts = fact_numbers(db)
    return CompiledByCodes(db, by_codes(db, code, arithmetic, 1, facts), facts, None)


def test_the_checker_accepts_and_the_general_decision_agrees(layer: CompiledByCodes) -> None:
    verdict = checker.check(layer.float_certificate())
    assert verdict.holds, verdict.steps
    assert memorizes(layer.layer, layer.database).holds
    assert all(layer.answer(k, q) == v for k, q, v in layer.database.triples)


def test_sixteen_bits_in_two_numbers_and_nothing_else() -> None:
    """The row |Q| = 3, |V| = 2^16, n = 100 |V| of the table of capacities."""
    sizes = Sizes.full(3, 1 << 16, 100 << 16)
    rows = {row.family: row for row in capacities(sizes) if row.dtype == "bfloat16"}
    assert rows["unmarked"].dims.d_model == 6 < rows["lattice"].dims.d_model
    shown = (rows["unmarked"].per_key_weight, rows["unmarked"].per_used)
    assert [round(x, 2) for x in (*shown, rows["unmarked"].per_parameter)] == [8.0, 7.77, 3.88]


@pytest.mark.parametrize(("queries", "dtype"), [(3, "float32"), (5, "float32"), (4, "bfloat16")])
def test_sizes_and_probabilities(queries: int, dtype: str) -> None:
    db = random_table(30, queries, 400)
    made = compile_database(db, "9/10", dtype=dtype, logits="float32", residual="float32")
    assert made.coded.code.family in ("unmarked", "integers")
    assert checker.check(made.float_certificate()).holds
    assert memorizes(made.layer, db, "9/10").holds


def test_every_damaged_weight_is_noticed(layer: CompiledByCodes) -> None:
    """Every entry of a predicate, of the heads and of a value's column, and one of a key."""
    coded = layer.coded
    key, query, value = (int(t) for t in layer.facts[0])
    outside = next(t for t in range(len(coded.tokens)) if t not in set(layer.facts[:, 2]))
    places = [("W_E", (query, j)) for j in range(6)] + [("W_E", (key, 0))]
    places += [("W_U", (j, t)) for j in range(6) for t in (value, outside)]
    places += [
        (name, at)
        for name in ("W_Q", "W_K", "W_V", "W_O")
        for at in np.ndindex(getattr(coded, name).shape)
        if at[0] == 1
    ]
    for name, at in places:
        array = getattr(coded, name).copy()
        array[at] = 2.0 if array[at] == 0 else array[at] / 2
        if name == "W_E" and at == (key, 0) and array[at] == coded.W_E[at]:
            continue
        assert not damaged(layer, **{name: array}).holds, (name, at)


def test_what_formats_and_scales_do_not_carry_is_refused(layer: CompiledByCodes) -> None:
    narrow = replace(layer.coded.arithmetic, residual=layer.coded.arithmetic.weights)
    verdict = damaged(layer, arithmetic=narrow)
    assert not verdict.holds
    assert "beyond 8 bits" in verdict.steps[-1]
    W_E, W_U = layer.coded.W_E.copy(), layer.coded.W_U.copy()
    W_E[list(layer.coded.queries)] /= 16  # S = 64, and keys score as much
    W_U[[j for j in range(6) if j not in layer.coded.layout.outputs]] *= 16
    assert "half of what predicates" in damaged(layer, W_E=W_E, W_U=W_U).steps[-1]


def test_torch_recalls_with_a_wide_stream_and_misses_without(layer: CompiledByCodes) -> None:
    facts = torch.from_numpy(layer.facts)
    for fused in (False, True):
        twin = TorchCodedLayer.from_coded(layer.coded, fused=fused)
        assert twin.misses(facts) == 0
        twin.stream = torch.bfloat16
        assert twin.misses(facts) > 0


def test_bad_input_is_one_sentence() -> None:
    db = Database.from_triples([("a", "f", "x")])
    with pytest.raises(LemmaxError, match="does not hold float16"):
        compile_database(db, dtype="float16", residual="bfloat16")
