"""Constructions with fewer parameters than the compiler's own: claims and their evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax.constructions.compiler.by_predicates import by_predicates
from lemmax.constructions.compiler.parabola import numbers
from lemmax.constructions.compiler.smallest.cyclic import cyclic, labels
from lemmax.constructions.compiler.smallest.few_keys import few_keys
from lemmax.constructions.compiler.smallest.merging import merged
from lemmax.constructions.compiler.smallest.paired import pair, paired
from lemmax.strategies import databases
from lemmax.theory.facts.database import Database
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.memorization import HiddenStates, memorizes

Sample = Callable[..., None]
SMALL = "random databases with at most 5 keys, 4 queries, 4 values"


def memorized(layer: AttentionLayer, db: Database) -> bool:
    return memorizes(layer, db).holds


def group(n: int) -> Database:
    return Database.from_triples(
        (f"k{i}", f"q{j}", f"v{(i + j) % n}") for i in range(n) for j in range(n)
    )


TWO = Database.from_triples([("a", "f", 1), ("a", "g", 2), ("b", "f", 2)])
FORGETS = (
    by_predicates(TWO),
    Database.from_triples([("a", "f", 2), ("a", "g", 2), ("b", "f", 1)]),
)


def sizes(layer: AttentionLayer) -> tuple[int, int, int, int]:
    return layer.d_model, len(layer.heads), layer.d_vo, layer.d_qk


@pytest.mark.claim(
    "lemmax/compiler-few-keys", grade="property", scope=SMALL, statement="ae19444a9287acc3"
)
@settings(max_examples=50, deadline=None)
@given(databases().filter(lambda db: len(db.keys) > 1))
def test_compiler_few_keys_memorizes(sample: Sample, db: Database) -> None:
    layer, d = few_keys(db), len(db.keys)
    assert sizes(layer) == (d, 1, 1, d - 1)
    sample(memorized, layer, db, control=FORGETS)
    states, number = HiddenStates(layer), numbers(db)
    for k, q, v in db:
        h = states(layer.index[k], layer.index[q], 128)
        assert abs((h[0] - h[-1]) / h[-1] - number[v]) <= arb(fmpq(1, 8))


@pytest.mark.claim(
    "lemmax/compiler-merged", grade="property", scope=SMALL, statement="17b2174bd96d78b4"
)
@settings(max_examples=50, deadline=None)
@given(databases().filter(lambda db: len(db.values) > 1))
def test_compiler_merged_memorizes(sample: Sample, db: Database) -> None:
    for part, build in (("predicates", by_predicates), ("subjects", few_keys)):
        few = merged(db, part)  # type: ignore[arg-type]
        tokens = few.database.queries if part == "predicates" else few.database.keys
        d = max(2, len(tokens))
        layer = few.expanded(build(few.database), db)
        assert sizes(layer) == (d, 1, 1, d - 1)
        sample(memorized, layer, db, control=FORGETS)


def pairs() -> st.SearchStrategy[Database]:
    """Three predicates over one order of the keys; two are intervals, one has values of its own."""
    cell = st.tuples(st.booleans(), st.booleans(), st.integers(0, 3), st.integers(0, 7))

    def facts(cells: list[tuple[bool, bool, int, int]]) -> Database:
        first = second = 0
        some = [("k0", "other", "v0")]
        for i, (next_first, next_second, other, there) in enumerate(cells):
            first, second = first + next_first, second + next_second
            row = (("first", f"v{first}"), ("second", f"own{second}"), ("other", f"v{other}"))
            some += [(f"k{i}", q, v) for bit, (q, v) in enumerate(row) if not there >> bit & 1]
        return Database.from_triples({(k, q): (k, q, v) for k, q, v in some}.values())

    return st.lists(cell, min_size=2, max_size=7).map(facts)


@pytest.mark.claim(
    "lemmax/compiler-paired",
    grade="property",
    scope="random databases with at most 7 keys and 3 queries of which two share an order",
    statement="7c139a1d3dba6a18",
)
@settings(max_examples=80, deadline=None)
@given(pairs().filter(lambda db: len(db.queries) == 3))
def test_compiler_paired_memorizes(sample: Sample, db: Database) -> None:
    found = pair(db)
    assert found is not None
    layer = paired(db, found)
    assert sizes(layer) == (2, 1, 1, 1)
    sample(memorized, layer, db, control=FORGETS)


@pytest.mark.claim(
    "lemmax/compiler-cyclic",
    grade="property",
    scope="cyclic groups of order 2 to 60",
    statement="65916f59ccccb572",
)
@settings(max_examples=15, deadline=None)
@given(st.integers(2, 60).map(group))
def test_compiler_cyclic_memorizes(sample: Sample, db: Database) -> None:
    found = labels(db)
    assert found is not None
    layer = cyclic(db, found)
    assert sizes(layer) == (2, 2, 1, 1)
    assert layer.parameters == 16
    sample(memorized, layer, db, control=FORGETS)


def test_cyclic_state_is_the_sum_with_its_carry() -> None:
    from sympy import Rational, expand, symbols

    i, j, n, alpha = symbols("i j n alpha")
    own = n - Rational(1, 2) - j
    h = own - (i + own) / 2 + n / 4 * (2 * alpha - 1)
    assert expand(-2 * h + (n + 1) / 2 - (i + j - n * alpha + 1)) == 0
    wrong = own - (i + own) / 2 + n / 4 * alpha
    assert expand(-2 * wrong + (n + 1) / 2 - (i + j - n * alpha + 1)) != 0


@settings(max_examples=60, deadline=None)
@given(*[st.floats(-3, 3)] * 6)
def test_a_small_head_puts_keys_above_curves(
    a: float, b_q: float, w_q: float, b_k: float, w_k: float, theta: float
) -> None:
    z = np.exp(-a * (b_k - b_q))
    t = w_q + (w_k - w_q) / (1 + z)
    curve = theta + (theta - w_q) * z
    # (t - θ)(1 + z) and w_k minus the curve are the same number
    assert (t - theta) * (1 + z) == pytest.approx(w_k - curve, rel=1e-6, abs=1e-6 * (1 + z))


def test_a_pair_is_refused_where_values_are_shared() -> None:
    facts: list[tuple[Any, ...]] = [("a", "f", 1), ("b", "f", 2), ("a", "g", 2), ("b", "g", 1)]
    assert pair(Database.from_triples(facts)) is None
    assert pair(Database.from_triples([*facts, ("a", "h", 3)])) is not None


def test_one_head_puts_products_between_squares() -> None:
    """Random layers of one head with d_vo = 1 on shared tokens: what step 4 of the proof says."""
    random, seen = np.random.default_rng(0), 0
    for _ in range(1500):
        E, a, b = (random.standard_normal(shape) for shape in ((5, 3), (3, 2), (3, 2)))
        w, out = random.standard_normal((2, 3))
        scores = (E @ a) @ (E @ b).T
        alpha = 1 / (1 + np.exp(np.diag(scores)[:, None] - scores))  # of the query (row) to the key
        values = E @ w
        t = values[:, None] + alpha * (values - values[:, None])
        U = random.standard_normal((3, 6))
        slope = out @ U
        told = ((E[:, None] + 4 * t[..., None] * out) @ U).argmax(-1)
        for i, j in zip(*np.triu_indices(5, 1), strict=True):
            c, m, d = told[i, i], told[i, j], told[j, j]
            if m == told[j, i] and m not in (c, d):
                seen += 1
                assert (slope[c] - slope[m]) * (slope[m] - slope[d]) > 0
    assert seen > 20
