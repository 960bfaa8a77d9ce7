"""Databases compiled into attention layers: every fact known, at the promised sizes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from flint import arb, ctx
from hypothesis import given, settings

from lemmax import checker
from lemmax.constructions import compile_database
from lemmax.constructions.compiler import Method, applicable, dimensions, lower_bounds, save
from lemmax.constructions.compiler.compiling import BUILDERS
from lemmax.pytest_plugin.properties import Sample
from lemmax.strategies import databases
from lemmax.theory import AttentionLayer, Database, memorizes
from lemmax.theory.errors import LemmaxError
from lemmax.theory.wong.memorization import HiddenStates

Certify = Callable[..., checker.Verdict]

FIGURE_1 = Database.from_triples(
    [
        ("Astrid", "born_in", "Singapore"),
        ("Bernard", "born_in", "Singapore"),
        ("Colin", "born_in", "Malaysia"),
        ("Astrid", "lives_in", "Malaysia"),
        ("Bernard", "lives_in", "Singapore"),
        ("Colin", "lives_in", "Malaysia"),
        ("Malaysia", "currency", "Ringgit"),
        ("Singapore", "currency", "Dollar"),
    ]
)
EQUALITY = Database.from_triples([(1, 1, 1), (2, 2, 1), (1, 2, 2), (2, 1, 2)])


def build(db: Database, method: Method) -> AttentionLayer:
    layer = BUILDERS[method](db)
    sizes = dimensions(db, method)
    assert layer.d_model == sizes.d_model <= max(2, len(db.tokens)) or method == "two-heads"
    assert (len(layer.heads), layer.d_vo, layer.d_qk) == (sizes.heads, sizes.d_vo, sizes.d_qk)
    assert layer.parameters == sizes.parameters
    return layer


def assert_parabola(layer: AttentionLayer, db: Database) -> None:
    """The logits are s·v - v²/2 with s within 1/8 of the number of the right value."""
    number = {v: n for n, v in enumerate(db.values, 1)}
    for k, q, v in db:
        logits = layer.logits((k, q), 256)
        with ctx.workprec(256):
            row = {t: logits[1, i] for i, t in enumerate(layer.tokens)}
            s = row[db.values[0]] + arb("0.5")
            assert abs(s - number[v]) < arb("0.125")
            for t in layer.tokens:
                if t in number:
                    expected = s * number[t] - arb(number[t] ** 2) / 2
                else:
                    expected = arb(-len(db.values) - 2)
                difference = row[t] - expected
                assert difference.contains(0)
                assert difference.rad() < arb("1e-40")


def test_parabola_is_largest_at_its_number() -> None:
    """With |s - n| ≤ 1/8, s·v - v²/2 beats every other integer v by 3/8, and -(N+2) by more."""
    import z3

    s: Any = z3.Real("s")
    n: Any = z3.Int("n")
    j: Any = z3.Int("j")
    solver = z3.Solver()
    eighth = z3.RealVal("1/8")
    # gap to v = n + j is j²/2 - j(s - n)
    real: Any = z3.ToReal
    delta = s - real(n)
    gap = real(j) * real(j) / 2 - real(j) * delta
    solver.add(delta <= eighth, delta >= -eighth, z3.Or(j >= 1, j <= -1), gap < z3.RealVal("3/8"))
    assert solver.check() == z3.unsat
    solver = z3.Solver()
    top = s * real(n) - real(n) * real(n) / 2
    solver.add(delta <= eighth, delta >= -eighth, n >= 1, top < z3.RealVal("3/8"))
    assert solver.check() == z3.unsat


def memorized(layer: AttentionLayer, db: Database) -> bool:
    return memorizes(layer, db).holds


# A layer that knows other facts: the first fact of the table has another object.
FORGETS = (
    BUILDERS["two-heads"](EQUALITY),
    Database.from_triples([(1, 1, 2), (2, 2, 1), (1, 2, 2), (2, 1, 2)]),
)
DISJOINT = "random databases with at most 5 keys, 4 queries, 4 values"


@pytest.mark.claim(
    "lemmax/compiler-by-predicates", grade="property", scope=DISJOINT, statement="2ac5541ff2c8263d"
)
@settings(max_examples=60)
@given(databases())
def test_compiler_by_predicates_memorizes(sample: Sample, db: Database) -> None:
    layer = build(db, "by-predicates")
    sample(memorized, layer, db, control=FORGETS)
    assert_parabola(layer, db)


@pytest.mark.claim(
    "lemmax/compiler-by-keys", grade="property", scope=DISJOINT, statement="bb38f19d17012a28"
)
@settings(max_examples=60)
@given(databases())
def test_compiler_by_keys_memorizes(sample: Sample, db: Database) -> None:
    layer = build(db, "by-keys")
    sample(memorized, layer, db, control=FORGETS)
    assert_parabola(layer, db)


@pytest.mark.claim(
    "lemmax/compiler-two-heads",
    grade="property",
    scope="random databases on at most 5 tokens",
    statement="b76913fbb4007d3c",
)
@settings(max_examples=60)
@given(databases(max_keys=5, max_queries=5, max_values=5, disjoint=False))
def test_compiler_two_heads_memorizes(sample: Sample, db: Database) -> None:
    for method in ("two-heads", "two-heads-one-hot"):
        layer = build(db, method)
        sample(memorized, layer, db, control=FORGETS)
        assert_parabola(layer, db)
    assert layer.W_E == layer.W_E.T  # the last one has the identity as embedding
    assert layer.d_model == len(db.tokens)


@pytest.mark.claim(
    "lemmax/compiler-two-heads",
    grade="universal",
    scope="all 80 partial tables on two tokens",
    statement="b76913fbb4007d3c",
)
def test_compiler_two_heads_on_every_two_token_table(exhaust: Callable[..., int]) -> None:
    tables = []
    for cells in product((None, 0, 1), repeat=4):
        facts = [
            (k, q, v)
            for (k, q), v in zip(product((0, 1), repeat=2), cells, strict=True)
            if v is not None
        ]
        if facts:
            tables.append(Database.from_triples(facts))
    known = [(build(db, "two-heads-one-hot"), db) for db in tables]
    assert exhaust(known, memorized, control=FORGETS) == 80


def test_compiler_two_heads_equality_table(certify: Certify) -> None:
    compiled = compile_database(EQUALITY, "99/100")
    assert compiled.dims.heads == 2
    certify(compiled.certificate(), ship_as="lemmax/compiler-two-heads")


def test_compiler_by_predicates_figure_1(certify: Certify) -> None:
    compiled = compile_database(FIGURE_1)
    assert (compiled.dims.d_model, compiled.dims.d_qk, compiled.method) == (3, 2, "by-predicates")
    certify(compiled.certificate(), ship_as="lemmax/compiler-by-predicates")


def test_compiler_by_keys_many_predicates(certify: Certify) -> None:
    db = Database.from_triples([(k, f"q{i}", f"v{(i * k) % 5}") for i in range(9) for k in (1, 2)])
    compiled = compile_database(db)
    assert (compiled.dims.d_model, compiled.dims.d_qk, compiled.method) == (3, 1, "by-keys")
    certify(compiled.certificate(), ship_as="lemmax/compiler-by-keys")


def test_two_predicates_cyclic_table(certify: Certify) -> None:
    n = 12
    db = Database.from_triples(
        [(f"k{i}", q, f"v{(i + step) % n}") for i in range(n) for step, q in enumerate("fg")]
    )
    compiled = compile_database(db, "99/100")
    sizes = compiled.dims
    assert (sizes.d_model, sizes.heads, sizes.d_vo, sizes.d_qk) == (2, 1, 1, 1)
    certify(compiled.certificate(), ship_as="lemmax/two-predicates")


@pytest.mark.claim(
    "lemmax/two-predicates",
    grade="property",
    scope="at most 8 keys, 2 queries, 6 values",
    statement="beee366bd2d24fbc",
)
@settings(max_examples=40)
@given(databases(max_keys=8, max_queries=2, max_values=6))
def test_two_predicates_fit_in_dimension_two(sample: Sample, db: Database) -> None:
    if len(db.queries) == 2:
        sizes = dimensions(db, "by-predicates")
        assert (sizes.d_model, sizes.heads, sizes.d_vo, sizes.d_qk) == (2, 1, 1, 1)
    sample(memorized, build(db, "by-predicates"), db, control=FORGETS)


@settings(max_examples=40)
@given(databases(disjoint=False))
def test_a_threshold_is_reached(db: Database) -> None:
    compiled = compile_database(db, "999/1000")
    assert memorizes(compiled.layer, db, "999/1000").holds
    for k, q, v in db:
        answer = compiled.recall(k, q)
        assert answer.answer == v
        assert answer.probability > arb("0.999")


@given(databases(disjoint=False))
def test_the_fewest_parameters_are_taken(db: Database) -> None:
    compiled = compile_database(db)
    sizes = [dimensions(db, method) for method in applicable(db)]
    assert compiled.dims.parameters == min(s.parameters for s in sizes)


def test_values_may_be_keys_and_queries() -> None:
    db = Database.from_triples([("a", "f", "a"), ("b", "f", "f"), ("a", "g", "b"), ("b", "g", "g")])
    assert compile_database(db).dims.heads == 1


def test_lower_bounds_name_the_equality_table() -> None:
    assert any("heads >= 2" in bound for bound in lower_bounds(EQUALITY))
    assert not lower_bounds(Database.from_triples([("a", "f", 1), ("b", "f", 2)]))


@pytest.mark.parametrize("tau", ["0", "1", "-1/2", "3/2"])
def test_a_threshold_outside_the_unit_interval_is_refused(tau: str) -> None:
    with pytest.raises(LemmaxError, match="strictly between 0 and 1"):
        compile_database(FIGURE_1, tau)


@pytest.mark.parametrize("tau", [None, "1/2", "99/100"])
def test_each_layer_is_decided_once(
    tau: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiling, certifying and saving decide memorization once per layer that is tried."""
    decided: list[AttentionLayer] = []
    prepare = HiddenStates.__init__

    def counted(self: HiddenStates, layer: AttentionLayer) -> None:
        decided.append(layer)
        prepare(self, layer)

    monkeypatch.setattr(HiddenStates, "__init__", counted)
    compiled = compile_database(FIGURE_1, tau)
    tried = list(decided)
    assert tried[-1] == compiled.layer
    assert len(tried) == len({str(layer.W_U) for layer in tried}) <= (1 if tau is None else 3)
    save(compiled, tmp_path / "layer.json")
    assert checker.check(compiled.certificate()).holds
    assert decided == tried
