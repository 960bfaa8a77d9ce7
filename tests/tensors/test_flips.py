"""Walks on the flip graph: shorter decompositions over Q, and nothing that is not exact."""

from __future__ import annotations

import importlib
import sys
import time

import numpy as np
import pytest
from flint import fmpq, fmpq_mat, fmpq_poly

from lemmax.theory.tensors import search
from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.decompositions import Decomposition, Family, rational_terms
from lemmax.theory.tensors.examples import matrix_product, of_table
from lemmax.theory.tensors.search import flips
from lemmax.theory.tensors.search.flips import shorten
from lemmax.theory.tensors.search.lifting import lift, rational_reconstruction


def polynomial_product(n: int, degree: int) -> Array:
    """The product of polynomials with n coefficients modulo x^degree."""
    T = np.zeros((n, n, degree), dtype=int)
    for i, j in np.ndindex(n, n):
        if i + j < degree:
            T[i, j, i + j] = 1
    return T


def random_table(keys: int, queries: int, values: int, seed: int) -> Array:
    return of_table(np.random.default_rng(seed).integers(0, values, (keys, queries)))


def shortest_slices(T: Array) -> Decomposition:
    return min((slice_sum(T, mode) for mode in range(3)), key=len)


KLEIN = of_table([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
CYCLE_3 = of_table([[0, 1], [1, 2], [2, 0]])
CYCLE_4 = of_table([[0, 1], [1, 2], [2, 3], [3, 0]])
N = np.arange(7)


@pytest.mark.parametrize(
    ("T", "rank"),
    [
        pytest.param(matrix_product(2), 7, id="2x2 matrix product"),
        pytest.param(of_table(np.maximum.outer(N, N)), 7, id="maximum"),
        pytest.param(of_table(np.minimum.outer(N, N)), 7, id="minimum"),
        pytest.param(polynomial_product(3, 3), 5, id="polynomials mod x^3"),
        # not by a walk over Z: over F2 the ranks are 8, 6 and 6
        pytest.param(KLEIN, 4, id="Z2 x Z2"),
        pytest.param(polynomial_product(3, 5), 5, id="3x3 polynomial product"),
        pytest.param(CYCLE_4, 5, id="4-cycle"),
    ],
)
def test_known_ranks_are_reached(T: Array, rank: int) -> None:
    start = shortest_slices(T)
    assert len(start) > rank
    shorter = shorten(T, start, target=rank)
    assert len(shorter) == rank
    assert shorter.adds_up_to(T)


@pytest.mark.parametrize("seed", [0, 1])
def test_dense_tables_of_the_usual_size(seed: int) -> None:
    """Start 21 to 24; the rank of a generic tensor of this shape is 18."""
    T = random_table(12, 4, 8, seed)
    start = shortest_slices(T)
    shorter = shorten(T, start, target=18)
    assert len(start) >= 21
    assert len(shorter) == 18
    assert shorter.adds_up_to(T)


def test_a_decomposition_mod_7_that_has_no_lift_is_refused() -> None:
    """x³ - 1 splits mod 7, so the 3-cycle has rank 3 there; over Q it has rank 4."""
    roots = [1, 2, 4]
    keys = np.array([[pow(w, -k, 7) for k in range(3)] for w in roots])
    queries = np.array([[1, pow(w, -1, 7)] for w in roots])
    values = np.array([[pow(3, -1, 7) * pow(w, v, 7) % 7 for v in range(3)] for w in roots])
    total = np.einsum("ri,rj,rk->ijk", keys, queries, values)
    assert ((total - CYCLE_3) % 7 == 0).all()
    assert lift(CYCLE_3, (keys, queries, values), 7) is None
    shorter = shorten(CYCLE_3, shortest_slices(CYCLE_3), target=3, steps=300_000)
    assert len(shorter) == 4
    assert shorter.adds_up_to(CYCLE_3)


def test_what_does_not_add_up_mod_p_is_not_lifted() -> None:
    ones = np.ones((2, 2), dtype=np.int64)
    assert lift(of_table([[0, 1], [1, 0]]), (ones, ones, ones), 5) is None


def test_a_lift_with_points_that_are_no_small_numbers() -> None:
    """Toom's points 0, ±1, ±2 mod 5: 4 stands for 2², and -5/4 vanishes."""
    T = polynomial_product(3, 5)
    points = np.array([0, 1, 4, 2, 3])
    values = np.array([[pow(int(t), k, 5) for k in range(3)] for t in points])
    vandermonde = [[fmpq(t) ** k for k in range(5)] for t in (0, 1, -1, 2, -2)]
    inverse = fmpq_mat(vandermonde).inv().transpose().tolist()
    third = np.array([[int(x.p) * pow(int(x.q), -1, 5) % 5 for x in row] for row in inverse])
    lifted = lift(T, (values, values, third), 5)
    assert lifted is not None
    assert len(lifted) == 5
    assert lifted.adds_up_to(T)


def test_never_longer_than_the_start_and_always_exact() -> None:
    for seed in range(6):
        T = random_table(4 + seed, 3, 4, seed)
        for mode in range(3):
            start = slice_sum(T, mode)
            shorter = shorten(T, start, target=0, steps=20_000, seed=seed)
            assert len(shorter) <= len(start)
            assert shorter.adds_up_to(T)


def test_entries_other_than_0_and_1() -> None:
    T = np.random.default_rng(3).integers(-40, 41, (3, 3, 4))
    start = shortest_slices(T)
    shorter = shorten(T, start, target=0, steps=5_000)
    assert len(shorter) <= len(start)
    assert shorter.adds_up_to(T)


def test_entries_that_no_walk_over_the_integers_can_hold() -> None:
    T = np.array([[[10**9, 0], [0, 10**9]], [[0, 10**9], [10**9, 0]]])
    start = shortest_slices(T)
    shorter = shorten(T, start, target=2, steps=20_000)
    assert len(shorter) == 2 < len(start)
    assert shorter.adds_up_to(T)


def test_starts_that_a_ring_does_not_have() -> None:
    """Halves are no integers, thirds no residues mod 3, roots neither: the walks start anew."""
    T = of_table([[0, 1], [1, 0]])
    half, thirds = fmpq(1, 2), fmpq(1, 3)
    signs = rational_terms(T.shape, [[[1, s], [1, s], [half, s * half]] for s in (1, -1)])
    split = rational_terms(
        T.shape,
        [
            [term[0], term[1], [c * x for x in term[2]]]
            for term in signs.terms
            for c in (thirds, 1 - thirds)
        ],
    )
    assert split.adds_up_to(T)
    assert len(split) == 4
    assert len(shorten(T, split, target=2, steps=20_000)) == 2
    one, x = fmpq_poly([1]), fmpq_poly([0, 1])
    quarter = fmpq_poly([fmpq(1, 4)])
    vector = (one, x)
    family = Family(fmpq_poly([-1, 0, 1]), (vector, vector, (2 * quarter, 2 * quarter * x)))
    algebraic = Decomposition(T.shape, signs.terms[:0], (family,))
    assert algebraic.adds_up_to(T)
    longer = (
        algebraic
        + Decomposition(T.shape, signs.terms)
        + rational_terms(T.shape, [[[-1, -s], [1, s], [half, s * half]] for s in (1, -1)])
    )
    assert longer.adds_up_to(T)
    assert len(shorten(T, longer, target=2, steps=20_000)) == 2


def test_a_start_at_the_target_or_a_past_deadline_is_returned() -> None:
    start = shortest_slices(KLEIN)
    assert shorten(KLEIN, start, target=len(start)) is start
    assert shorten(KLEIN, start, target=4, deadline=time.monotonic() - 1) is start
    assert shorten(KLEIN, start, target=4, steps=0) is start


def test_the_same_arguments_give_the_same_terms() -> None:
    T = random_table(6, 3, 4, 0)
    start = shortest_slices(T)
    first, second = (shorten(T, start, target=0, steps=50_000, seed=5) for _ in range(2))
    assert first == second


def test_without_numba_the_result_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    T = of_table([[0, 1, 2], [1, 1, 0], [2, 0, 3], [3, 2, 1]])
    start = shortest_slices(T)

    def run() -> Decomposition:
        return shorten(T, start, target=0, steps=3_000)

    with_numba = run()
    name = "lemmax.theory.tensors.search.flip_walk"
    loops = importlib.import_module("lemmax.theory.numbers.loops")
    monkeypatch.setattr(loops, "COMPILED", False)
    monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(search, "flip_walk", None)  # the import below sets it, the end restores it
    plain = importlib.import_module(name)
    monkeypatch.setattr(flips, "flip_walk", plain)
    assert not plain.COMPILED
    assert len(with_numba) < len(start)
    assert run() == with_numba


def test_rational_reconstruction() -> None:
    modulus = 5**50
    for n, d in [(0, 1), (1, 1), (-3, 4), (1000, 999), (7, 12)]:
        assert rational_reconstruction(n * pow(d, -1, modulus) % modulus, modulus) == fmpq(n, d)
    root = 2  # of -1 mod 5, lifted by Newton's iteration: not rational
    for _ in range(6):
        root = (root - (root * root + 1) * pow(2 * root, -1, modulus)) % modulus
    assert (root * root + 1) % modulus == 0
    assert rational_reconstruction(root, modulus) is None
