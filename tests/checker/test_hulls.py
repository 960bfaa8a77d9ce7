"""Columns of W_U in a plane: a vertex that beats its neighbours beats every column."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.checker.limits import LIMITS
from lemmax.checker.planes import hull, plane
from lemmax.constructions import compile_database
from lemmax.constructions.capacity import random_table
from lemmax.theory import AttentionLayer, memorizes
from lemmax.theory.wong import memorization

small = st.integers(-4, 4)


@given(st.sets(st.tuples(small, small), min_size=1, max_size=12), small, small)
def test_the_strictly_largest_is_a_vertex_above_its_neighbours(
    points: set[tuple[int, int]], a: int, b: int
) -> None:
    listed = sorted(points)[::2] + sorted(points)[1::2]
    corners = hull(listed, "")
    form = [a * x + b * y for x, y in listed]
    for v, value in enumerate(form):
        strict = all(value > other for t, other in enumerate(form) if t != v)
        by_hull = v in corners and all(value > form[t] for t in corners[v])
        assert by_hull == strict


@given(st.lists(st.tuples(small, small), min_size=1, max_size=9), st.tuples(*[small] * 8))
def test_planes_are_seen_in_two_coordinates(
    points: list[tuple[int, int]], maps: tuple[int, ...]
) -> None:
    a, b, o = maps[:4], maps[4:], (1, -2, 3, 0)
    lifted = [tuple(z + x * p + y * q for z, p, q in zip(o, a, b, strict=True)) for x, y in points]
    seen = plane(lifted, "")
    assert seen is not None
    assert len({(u[seen[0]], u[seen[1]]) for u in lifted}) == len(set(lifted))


@given(st.data())
def test_memorization_agrees_with_all_comparisons(data: st.DataObject) -> None:
    """Layers without heads, whose logits are exact: columns in a plane, some of them equal."""
    d, size = data.draw(st.integers(1, 3)), data.draw(st.integers(2, 6))
    row = st.lists(small, min_size=d, max_size=d)
    f, g = data.draw(row), data.draw(row)
    columns = data.draw(st.lists(st.tuples(small, small), min_size=size, max_size=size))
    W_E = data.draw(st.lists(row, min_size=size, max_size=size))
    W_U = [[x * a + y * b for x, y in columns] for a, b in zip(f, g, strict=True)]
    layer = AttentionLayer(tuple(range(size)), W_E, W_U)
    values = data.draw(st.lists(st.integers(0, size - 1), min_size=size, max_size=size))
    facts = [(0, q, v) for q, v in enumerate(values)]
    missed = []
    for k, q, v in facts:
        logits = [sum(x * row[t] for x, row in zip(W_E[q], W_U, strict=True)) for t in range(size)]
        if not all(logits[v] > other for t, other in enumerate(logits) if t != v):
            missed.append((k, q, v))
    assert memorizes(layer, facts).missed == tuple(missed)


def test_beyond_int64_the_rivals_are_asked_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many values have weights beyond 64 bits: then balls decide, against two tokens per fact."""
    asked: list[int] = []
    exactly = memorization._decide_exactly

    def counted(*arguments: Any) -> bool:
        asked.append(len(arguments[-1]))
        return exactly(*arguments)

    monkeypatch.setattr(memorization, "_int64_bits", lambda balls, lengths: 0)
    monkeypatch.setattr(memorization, "_decide_exactly", counted)
    db = random_table(20, 2, 15)
    compiled = compile_database(db)
    assert len(asked) == 40
    assert max(asked) == 2
    (k, q, v), (_, _, other) = (
        db.triples[0],
        next(f for f in db.triples if f[2] != db.triples[0][2]),
    )
    assert memorizes(compiled.layer, [(k, q, other)]).missed == ((k, q, other),)
    assert not memorizes(compiled.layer, [(k, q, v)]).missed


def test_three_dimensions_are_no_plane() -> None:
    assert plane([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "") is None
    assert plane([(0, 0, 5), (1, 0, 5), (0, 1, 5), (3, 4, 5)], "") is not None


def certificate() -> dict[str, Any]:
    return compile_database(random_table(30, 3, 20)).certificate()


def test_a_false_fact_is_noticed_by_its_neighbours() -> None:
    data = certificate()
    assert checker.check(data).holds
    for i in (0, 17, 89):
        k, q, v = data["facts"][i]
        values = sorted({fact[2] for fact in data["facts"]})
        for other in (values[values.index(v) - 1], values[(values.index(v) + 1) % len(values)], k):
            facts = [*data["facts"]]
            facts[i] = [k, q, other]
            assert not checker.check({**data, "facts": facts}).holds


@pytest.mark.parametrize("place", [0, 7, 19])
def test_a_column_above_the_others_is_noticed(place: int) -> None:
    """One more token, whose logit is larger at one fact only."""
    data = certificate()
    layer = data["layer"]
    value = data["facts"][place][2]
    W_U = [
        [*row, str(2 * Fraction(row[value])) if Fraction(row[value]) else "1"]
        for row in layer["W_U"]
    ]
    wide = {
        **layer,
        "tokens": [*layer["tokens"], "another"],
        "W_E": [*layer["W_E"], ["0"] * len(layer["W_E"][0])],
        "W_U": W_U,
    }
    assert not checker.check({**data, "layer": wide}).holds


def test_facts_are_decided_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts × tokens × d_model would be twenty million products, more than is allowed here."""
    data = compile_database(random_table(1500, 2, 1000)).certificate()
    assert len(data["facts"]) * len(data["layer"]["tokens"]) * 2 > 15_000_000
    monkeypatch.setitem(LIMITS, "work", 4_000_000)
    assert checker.check(data).holds
