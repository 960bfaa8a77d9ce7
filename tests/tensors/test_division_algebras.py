"""Division algebras that do not commute take one term more than the other parts of an algebra."""

from __future__ import annotations

import random

import numpy as np
import pytest
from flint import fmpz_mat

from lemmax.checker import check
from lemmax.checker.bounds.algebras import signature
from lemmax.theory import tensor_rank
from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.algebras.groups import OTHERS, quaternions, truncated
from lemmax.theory.tensors.algebras.structure import structure
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.below.algebras import algebra_bound
from lemmax.theory.tensors.below.flattenings import flattening_bound
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.ranks import TensorRank


def bounded(T: Array, field: Field) -> int:
    """The bound of the parts, which the checker accepts, and not one more."""
    found = structure(T)
    assert found is not None
    bound = algebra_bound(found, field)
    assert bound is not None
    certificate = dict(TensorRank(T, field, flattening_bound(T, 0), slice_sum(T, 2)).certificate())
    assert certificate["upper"] > bound.value
    certificate["proof"] = list(bound.steps)
    assert check({**certificate, "lower": bound.value}).holds
    assert not check({**certificate, "lower": bound.value + 1}).holds
    return bound.value


@pytest.mark.parametrize(
    ("a", "b"), [(-1, -1), (-1, -3), (-2, -5), (1, 1), (1, -1), (2, 5), (3, -1), (-1, 2), (-7, 7)]
)
def test_quaternions_take_one_term_more_where_no_product_vanishes(a: int, b: int) -> None:
    """Over R that is so if both squares are negative; other ones are 2 × 2 matrices there."""
    T, skew = quaternions(a, b), a < 0 and b < 0
    assert bounded(T, "R") == bounded(T, "Q") == 7 + skew
    assert bounded(T, "C") == 7


@pytest.mark.parametrize(
    ("name", "rational", "real"),
    [("Q8", 12, 12), ("Z4 ⋊ Z4", 25, 25), ("Q8 × Z2", 24, 24), ("Dic3", None, 20)],
)
def test_groups_with_quaternions_are_exact(name: str, rational: int | None, real: int) -> None:
    for field, rank in (("Q", rational), ("R", real)):
        result = tensor_rank(OTHERS[name], field)  # type: ignore[arg-type]
        assert result.rank == rank
        assert check(result.certificate()).holds
    assert tensor_rank(quaternions(), "R").rank == 8


def test_parts_with_quaternions_at_all_roots_of_their_centre_are_one_part_over_q() -> None:
    """Q16: four signs, 2 × 2 matrices, and quaternions over Q(√2), at two real roots."""
    assert bounded(OTHERS["Q16"], "Q") == 2 * 16 - 6 + 1
    assert bounded(OTHERS["Q16"], "R") == 2 * 16 - 7 + 2
    assert bounded(OTHERS["D8"], "Q") == 2 * 16 - 6


PARTS = {  # with the ranks that the parts have over R
    "matrices": (quaternions(1, 1), 7),
    "more matrices": (quaternions(1, -1), 7),
    "quaternions": (quaternions(), 8),
    "others": (quaternions(-1, -3), 8),
    "two real numbers": (np.array([[[1, 0], [0, 1]], [[0, 1], [2, 0]]]), 2),
    "complex": (np.array([[[1, 0], [0, 1]], [[0, 1], [-1, 0]]]), 3),
    "nilpotent": (truncated(2), 3),
}


def together(parts: list[Array], rng: random.Random) -> Array:
    """A product of algebras in another basis."""
    n, start = sum(map(len, parts)), 0
    T = np.zeros((n, n, n), dtype=int)
    for part in parts:
        end = start + len(part)
        T[start:end, start:end, start:end] = part
        start = end
    for _ in range(4):
        i, j = rng.sample(range(n), 2)
        sign = rng.choice([1, -1])
        T[i] += sign * T[j]
        T[:, i] += sign * T[:, j]
        T[:, :, j] -= sign * T[:, :, i]
    return T


def test_division_algebras_are_counted_in_products() -> None:
    rng = random.Random(8)
    counts: list[int] = []
    while len(counts) < 12:
        names = [rng.choice([*PARTS]) for _ in range(rng.randint(2, 3))]
        if names.count("nilpotent") == len(names):
            continue
        T = together([PARTS[name][0] for name in names], rng)
        assert bounded(T, "R") == sum(PARTS[name][1] for name in names)
        counts.append(sum(name in ("quaternions", "others") for name in names))
    assert set(counts) >= {0, 1, 2}


def test_a_diagonal_plus_one_term_has_no_double_root_outside_the_field() -> None:
    """The last step of the proof: x² + bx + c, irreducible over Q, has a kernel of dimension 2."""
    rng, seen = random.Random(1), 0
    for _ in range(300):
        n = rng.randint(2, 5)
        u, v, d = ([rng.randint(-3, 3) for _ in range(n)] for _ in range(3))
        M = fmpz_mat([[u[i] * v[j] + (d[i] if i == j else 0) for j in range(n)] for i in range(n)])
        one = fmpz_mat([[int(i == j) for j in range(n)] for i in range(n)])
        for g, _ in M.charpoly().factor()[1]:
            if g.degree() == 2:
                value = M * M + M * int(g[1]) + one * int(g[0])
                assert n - value.rank() == 2
                seen += 1
    assert seen > 50
    left = fmpz_mat(quaternions()[1].tolist())  # by i: x² + 1 has a kernel of dimension 4
    assert left * left == fmpz_mat((-np.eye(4, dtype=int)).tolist())


def test_signatures_that_the_checker_finds_are_those_of_eigenvalues() -> None:
    rng = random.Random(5)
    for _ in range(60):
        n = rng.randint(1, 6)
        M = np.array([[rng.randint(-2, 2) for _ in range(n)] for _ in range(n)])
        S = M + M.T if rng.random() < 0.7 else M @ np.diag([rng.randint(-1, 1) for _ in M]) @ M.T
        if rng.random() < 0.4:
            np.fill_diagonal(S, 0)
        roots = np.linalg.eigvalsh(S)
        wanted = int((roots > 1e-9).sum()) - int((roots < -1e-9).sum())
        assert signature(S.tolist()) == wanted
