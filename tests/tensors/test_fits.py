"""Numerical fits that end in exact decompositions, and fits that must not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.examples import matrix_product, of_table
from lemmax.theory.tensors.ranks import tensor_rank
from lemmax.theory.tensors.reductions import concise
from lemmax.theory.tensors.search.fitting import fit, quotients, shorter
from lemmax.theory.tensors.search.least_squares import (
    TOLERANCE,
    Problem,
    Sparsity,
    converged,
    descend,
    sparsified,
    starts,
)
from lemmax.theory.tensors.search.real_fits import real_fit
from lemmax.theory.tensors.search.rounding import Rounding, gauged
from lemmax.theory.tensors.search.third_factors import third_factor


def table(f: Callable[[int, int], int], rows: int, columns: int) -> Array:
    """The table of a function as a tensor."""
    return of_table([[f(i, j) for j in range(columns)] for i in range(rows)])


EXACT = {
    "Z2 × Z2": (table(lambda i, j: i ^ j, 4, 4), 4),
    "Z3": (table(lambda i, j: (i + j) % 3, 3, 3), 4),
    "Z4": (table(lambda i, j: (i + j) % 4, 4, 4), 5),
    "maximum": (table(max, 3, 3), 3),
    "polynomials of degree two": (table(lambda i, j: i + j, 3, 3), 5),
    "polynomials modulo x³": (table(lambda i, j: min(i + j, 3), 3, 3)[:, :, :3], 5),
    "3-cycle": (of_table(["01", "12", "20"]), 4),
    "2 × 2 matrices": (matrix_product(2), 7),
}


@pytest.mark.parametrize("name", EXACT)
def test_the_rank_is_met_exactly(name: str) -> None:
    array, rank = EXACT[name]
    exact = fit(array, rank)
    assert exact is not None
    assert len(exact) <= rank
    assert exact.adds_up_to(array)
    assert not exact.families


OPEN = [
    (["303", "203", "140", "344", "131", "403"], 7),
    (["013", "110", "320", "200", "020"], 6),
    (["344", "324", "021", "142"], 6),
    (["021", "004", "010", "2.."], 5),
    (["103", "203", "420"], 5),
    (["130", "402", "221", "020", "430", "223"], 7),
]


@pytest.mark.parametrize(("rows", "rank"), OPEN)
def test_tables_that_the_constructions_leave_open_are_closed(rows: list[str], rank: int) -> None:
    array = of_table(rows)
    result = tensor_rank(array, "Q")
    assert result.lower == rank
    exact = fit(array, rank, start=result.decomposition)
    assert exact is not None
    assert result.with_decomposition(exact).rank == rank


def test_a_border_is_not_taken_for_a_decomposition() -> None:
    """W = e₀e₀e₁ + e₀e₁e₀ + e₁e₀e₀ has rank 3, and tensors of rank 2 come as close as one likes."""
    w = of_table(["01", ".0"])
    problem = Problem(w.astype(float), 2)
    point = np.random.default_rng(0).normal(size=problem.size)
    free = np.ones(problem.size, dtype=bool)
    assert descend(problem, point, free, 2000)[1] < 1e-4
    assert fit(w, 2) is None
    assert fit(w, 3) is not None


def test_a_fit_is_the_same_every_time_and_starts_from_what_is_known() -> None:
    array, rank = EXACT["Z4"]
    known = tensor_rank(array, "Q").decomposition
    first, second = (fit(array, rank, start=known, seed=7) for _ in range(2))
    assert first is not None
    assert second is not None
    assert first.terms == second.terms


def test_a_deadline_ends_the_search() -> None:
    array, rank = EXACT["2 × 2 matrices"]
    assert fit(array, rank, deadline=-1.0) is None


@pytest.mark.parametrize("power", [30, 160, 300, 400])
def test_entries_beyond_floats_are_not_fitted(power: int) -> None:
    array = EXACT["Z3"][0].astype(object)
    array[0, 0, 0] = 10**power
    assert fit(array, 5) is None
    assert real_fit(array, 5) is None
    assert tensor_rank(array, "R", seconds=0.5).lower >= 3


def test_too_few_terms_are_not_searched() -> None:
    array, _ = EXACT["Z4"]
    assert fit(array, 3) is None


@pytest.mark.parametrize("count", [0, 1, 4])
def test_gram_and_gradient_are_those_of_the_jacobian(count: int) -> None:
    """Also where the slices need to agree only up to some matrices."""
    rng = np.random.default_rng(3)
    ignored = np.linalg.qr(rng.normal(size=(6, count)))[0].T.reshape(-1, 2, 3)
    problem = Problem(rng.normal(size=(2, 3, 4)), 3, ignored if count else None)
    assert np.allclose(np.einsum("wij,ijk->wk", ignored, problem.residual(np.ones(27))), 0)
    point = rng.normal(size=problem.size)
    step = 1e-6 * np.eye(problem.size)
    jacobian = np.array(
        [(problem.residual(point + e) - problem.residual(point - e)).ravel() / 2e-6 for e in step]
    )
    residual = problem.residual(point)
    assert np.allclose(problem.gram(point), jacobian @ jacobian.T, atol=1e-6)
    assert np.allclose(problem.gradient(point, residual), jacobian @ residual.ravel(), atol=1e-6)


TABLES = [
    ["abc", "acb", "bca", "dbc", "eac"],
    ["ab.", "ba.", "cab", "dbb", ".ca"],
    ["abcd", "badc", "aacd", "bbdc"],
]


@pytest.mark.parametrize("rows", TABLES)
def test_matrices_of_rank_one_are_in_the_span_and_complete_each_other(rows: list[str]) -> None:
    array = concise(of_table(rows)).array
    for quotient in quotients(array):
        a, b, c = quotient.array.shape
        slices = quotient.array.reshape(a * b, c)
        for one in quotient.ones:
            matrix = [[fmpq(int(x))] for x in (slices @ np.array(one.multiples)).tolist()]
            assert matrix == [[x] for x in one.entries()]
            assert fmpq_mat([one.entries()]).rank() == 1
        basis = [*(one.entries() for one in quotient.ones)]
        basis += [[fmpq(int(x)) for x in slices[:, k].tolist()] for k in quotient.rest]
        assert fmpq_mat(basis).rank() == len(basis) == c


@pytest.mark.parametrize("rows", TABLES)
def test_a_fit_keeps_the_matrices_of_rank_one_as_terms(rows: list[str]) -> None:
    array = concise(of_table(rows)).array
    known = min((slice_sum(array, mode) for mode in range(3)), key=len)
    among = quotients(array)
    exact = shorter(among, max(array.shape), known)
    assert exact is not None
    assert exact.adds_up_to(array)
    assert tensor_rank(array, "Q").lower <= len(exact) < len(known)
    shared = [
        all(
            any(
                fmpq_mat([[x * y for x in u for y in v], one.entries()]).rank() == 1
                for u, v, _ in exact.permuted(quotient.order).terms
            )
            for one in quotient.ones
        )
        for quotient in among
    ]
    assert any(shared)


def test_a_term_that_is_zero_is_scaled_to_itself() -> None:
    """Terms that a fit does not need may vanish altogether."""
    array, _ = EXACT["Z3"]
    problem = Problem(array.astype(float), 2)
    point = np.arange(1.0, problem.size + 1)
    problem.factors(point)[0][:, 1] = 0.0
    scaled, ones = gauged(problem, point)
    assert np.isfinite(scaled).all()
    assert np.allclose(scaled[ones], 1.0)
    assert np.allclose(problem.residual(scaled), problem.residual(point))


def fitted(array: Array, terms: int) -> tuple[Problem, np.ndarray]:
    """A problem and the first point that solves it, numerically."""
    problem = Problem(array.astype(float), terms)
    points = (converged(problem, point, None) for point, _ in starts(problem, None, 9, 0))
    return problem, next(point for point in points if point is not None)


def zeros(point: np.ndarray) -> int:
    return int(np.count_nonzero(np.abs(point) < 1e-3))


@pytest.mark.parametrize("fading", [1.0, 0.7])
def test_a_fit_becomes_sparse_and_stays_a_fit(fading: float) -> None:
    array, rank = EXACT["2 × 2 matrices"]
    problem, point = fitted(array, rank + 1)
    sparse = sparsified(problem, point, Sparsity(1e-2, 1e-2, 1e-3, 20, fading), None)
    assert sparse is not None
    assert np.linalg.norm(problem.residual(sparse)) < TOLERANCE * np.linalg.norm(problem.target)
    assert zeros(sparse) >= zeros(point) + 20


def test_values_are_those_of_an_exact_fit() -> None:
    """The values that a rounding returns admit a third factor, exactly."""
    array, rank = EXACT["2 × 2 matrices"]
    problem, point = fitted(array, rank)
    values = Rounding(problem, np.random.default_rng(0), 50)(point)
    assert values is not None
    assert sorted(values) == list(range(8 * rank))
    rows = [fmpq(values[n].numerator, values[n].denominator) for n in range(8 * rank)]
    columns = [rows[r::rank] for r in range(rank)]
    assert third_factor(array, [x[:4] for x in columns], [x[4:] for x in columns]) is not None


def test_irrational_terms_are_not_rounded() -> None:
    """The eigenvalues 0 and ±√2 of this pencil determine the three terms, up to scale."""
    path = np.array([[[1, 0], [0, 1], [0, 0]], [[0, 1], [1, 0], [0, 1]], [[0, 0], [0, 1], [1, 0]]])
    problem, point = fitted(path, 3)
    assert Rounding(problem, np.random.default_rng(0), 20)(point) is None
