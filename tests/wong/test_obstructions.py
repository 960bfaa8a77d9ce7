"""Tables that no layer of some shape memorizes, whatever its weights."""

from collections.abc import Callable
from typing import Any

import pytest
import sympy
import z3

from lemmax import checker
from lemmax.constructions.wong.counterexamples import (
    exclusive_or,
    exclusive_or_layer,
    query_key_dimension_matters,
    two_subsets,
    two_subsets_layer,
)
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.theory import Database, memorizes
from lemmax.theory.wong.layer_ranks import LayerShape

Certify = Callable[..., checker.Verdict]


def reals(names: str) -> list[Any]:
    return [z3.Real(name) for name in names.split()]


def gap(e_q: Any, x_k: Any, x_q: Any, alpha: Any) -> Any:
    """Logit of v₁ minus logit of v₂ after (k, q): the e and x are those differences of circuits."""
    return e_q + alpha * x_k + (1 - alpha) * x_q


@pytest.mark.claim(
    "lemmax/equality-table-needs-two-heads", grade="symbolic", statement="0fe57141641490c7"
)
def test_equality_table_is_impossible_for_one_head(symbolic: Symbolic) -> None:
    """All layers at once: with one head only six numbers matter, and all of them are free."""
    symbolic.decide("lemmax/equality-table-needs-two-heads")


def test_equality_table_is_possible_for_two_heads() -> None:
    """The same encoding is satisfiable with two heads, so it is not vacuous."""
    e_1, e_2, x_1, x_2, y_1, y_2 = reals("e_1 e_2 x_1 x_2 y_1 y_2")
    a, b, c, d = reals("alpha_21 alpha_12 beta_21 beta_12")
    solver = z3.Solver()
    for share in (a, b, c, d):
        solver.add(share > 0, share < 1)
    solver.add(e_1 + x_1 + y_1 > 0, e_2 + x_2 + y_2 > 0)
    solver.add(e_1 + a * x_2 + (1 - a) * x_1 + c * y_2 + (1 - c) * y_1 < 0)
    solver.add(e_2 + b * x_1 + (1 - b) * x_2 + d * y_1 + (1 - d) * y_2 < 0)
    # Even attention in the second head is enough to look for.
    solver.add(c == z3.Q(1, 2), d == z3.Q(1, 2), a == z3.Q(1, 4), b == z3.Q(3, 4))
    assert solver.check() == z3.sat


@pytest.mark.claim(
    "lemmax/uniform-attention-no-xor", grade="symbolic", statement="8f1eaa881f6646f0"
)
def test_exclusive_or_is_impossible_with_even_attention(symbolic: Symbolic) -> None:
    """Summed over heads, even attention gives f(k) + g(q); all four numbers are free."""
    symbolic.decide("lemmax/uniform-attention-no-xor")


def test_even_attention_splits_into_key_and_query() -> None:
    """One head's contribution at α = 1/2, for k ≠ q and for k = q alike."""
    e, x_k, x_q = sympy.symbols("e x_k x_q")
    assert sympy.expand(gap(e, x_k, x_q, sympy.Rational(1, 2)) - (x_k / 2 + (e + x_q / 2))) == 0
    assert sympy.expand(gap(e, x_q, x_q, sympy.Rational(1, 2)) - (e + x_q)) == 0


def test_two_subsets_sign_is_that_of_an_exponential_sum() -> None:
    """(1 + z)·s = x_k + A_q + B_q e^{-u w_k} with z = e^{-u (w_k - w_q)}."""
    e, x_k, x_q, u, w_k, w_q = sympy.symbols("e x_k x_q u w_k w_q", real=True)
    z = sympy.exp(-u * (w_k - w_q))
    s = gap(e, x_k, x_q, 1 / (1 + z))
    A, B = e, (e + x_q) * sympy.exp(u * w_q)
    assert sympy.simplify((1 + z) * s - (x_k + A + B * sympy.exp(-u * w_k))) == 0


def test_derivative_of_three_exponential_terms_has_two() -> None:
    """g' is e^{-uw} times a constant plus one exponential."""
    w, a, b, c, u, v = sympy.symbols("w a b c u v", real=True)
    g = a + b * sympy.exp(-u * w) - c * sympy.exp(-v * w)
    rest = -u * b + v * c * sympy.exp((u - v) * w)
    assert sympy.simplify(sympy.diff(g, w) - sympy.exp(-u * w) * rest) == 0


@pytest.mark.claim(
    "wong/qk-insignificant", grade="certified", direction="against", statement="8eb7ebf6504bc92e"
)
def test_two_subsets_are_memorized_with_query_key_dimension_two(certify: Certify) -> None:
    layer, db = two_subsets_layer(), two_subsets()
    assert (layer.d_model, len(layer.heads), layer.d_vo, layer.d_qk) == (4, 1, 1, 2)
    certify(query_key_dimension_matters(), ship_as="wong/qk-insignificant")
    # over the full vocabulary, too
    certify(memorizes(layer, db).certificate(), ship_as="wong/two-subsets")
    assert len(db) == 24


def test_equation_10_holds_for_the_tables_that_cannot_be_memorized() -> None:
    equality = Database.from_triples([(1, 1, 1), (2, 2, 1), (1, 2, 2), (2, 1, 2)])
    assert len(equality.tokens) == 2
    assert equality.slice_rank_bound == LayerShape(2, 2, 2, heads=1).estimate == 4
    assert two_subsets().slice_rank_bound == LayerShape(4, 4, 1, heads=1).estimate == 8
    three = Database.from_triples([("k", f"q{i}", f"v{i}") for i in range(3)])
    assert three.slice_rank_bound == LayerShape(1, 1, 1, heads=2).estimate == 3


def test_exclusive_or_with_every_dimension_one(certify: Certify) -> None:
    """Condition (10) reads 4 ≤ 2, and yet four non-embedding parameters are enough."""
    layer, db = exclusive_or_layer(), exclusive_or()
    assert (layer.d_model, len(layer.heads), layer.d_vo, layer.d_qk) == (1, 1, 1, 1)
    assert layer.parameters == 4
    assert db.slice_rank_bound == 4 > LayerShape(1, 1, 1, 1).estimate
    certify(memorizes(layer, db).certificate(), ship_as="wong/exclusive-or-all-dimensions-one")
