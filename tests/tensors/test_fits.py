"""Numerical fits that end in exact decompositions, and fits that must not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.fits import fit
from lemmax.theory.tensors.least_squares import Problem, descend
from lemmax.theory.tensors.ranks import tensor_rank
from lemmax.theory.tensors.rounding import gauged


def table(f: Callable[[int, int], int], rows: int, columns: int) -> Array:
    """The table of a function as a tensor."""
    values = sorted({f(i, j) for i in range(rows) for j in range(columns)})
    return np.array(
        [[[int(f(i, j) == v) for v in values] for j in range(columns)] for i in range(rows)]
    )


def database(rows: list[str]) -> Array:
    values = sorted(set("".join(rows)) - {"."})
    return np.array([[[int(x == v) for v in values] for x in row] for row in rows])


def matrix_product(n: int) -> Array:
    found = np.zeros((n * n, n * n, n * n), dtype=int)
    for i, j, k in np.ndindex(n, n, n):
        found[i * n + j, j * n + k, i * n + k] = 1
    return found


EXACT = {
    "Z2 × Z2": (table(lambda i, j: i ^ j, 4, 4), 4),
    "Z3": (table(lambda i, j: (i + j) % 3, 3, 3), 4),
    "Z4": (table(lambda i, j: (i + j) % 4, 4, 4), 5),
    "maximum": (table(max, 3, 3), 3),
    "polynomials of degree two": (table(lambda i, j: i + j, 3, 3), 5),
    "polynomials modulo x³": (table(lambda i, j: min(i + j, 3), 3, 3)[:, :, :3], 5),
    "3-cycle": (database(["01", "12", "20"]), 4),
    "2 × 2 matrices": (matrix_product(2), 7),
}


@pytest.mark.parametrize("name", EXACT)
def test_the_rank_is_met_exactly(name: str) -> None:
    array, rank = EXACT[name]
    found = fit(array, rank)
    assert found is not None
    assert len(found) <= rank
    assert found.adds_up_to(array)
    assert not found.families


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
    array = database(rows)
    result = tensor_rank(array, "Q")
    assert result.lower == rank
    found = fit(array, rank, start=result.decomposition)
    assert found is not None
    assert result.with_decomposition(found).rank == rank


def test_a_border_is_not_taken_for_a_decomposition() -> None:
    """W = e₀e₀e₁ + e₀e₁e₀ + e₁e₀e₀ has rank 3, and tensors of rank 2 come as close as one likes."""
    w = database(["01", ".0"])
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


def test_too_few_terms_are_not_searched() -> None:
    array, _ = EXACT["Z4"]
    assert fit(array, 3) is None


def test_gram_and_gradient_are_those_of_the_jacobian() -> None:
    rng = np.random.default_rng(3)
    problem = Problem(rng.normal(size=(2, 3, 4)), 3)
    point = rng.normal(size=problem.size)
    step = 1e-6 * np.eye(problem.size)
    jacobian = np.array(
        [(problem.residual(point + e) - problem.residual(point - e)).ravel() / 2e-6 for e in step]
    )
    residual = problem.residual(point)
    assert np.allclose(problem.gram(point), jacobian @ jacobian.T, atol=1e-6)
    assert np.allclose(problem.gradient(point, residual), jacobian @ residual.ravel(), atol=1e-6)


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
