r"""The point of a convex hull that is nearest to zero, by Wolfe's algorithm in integers.

Let x be the nearest point to zero of \(\operatorname{conv}\{A_{tv}\}\). If x = 0 the weights that
make it are Gordan's certificate: no readout holds all facts. If x ≠ 0, W = x satisfies
\(\langle x, A_{tv}\rangle \ge \|x\|^2\) for every demand, and no readout has a wider margin than
\(\|x\|\) in the Frobenius norm, because \(\min \langle W, A_{tv}\rangle \le \langle W, x\rangle\).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq, fmpz, fmpz_mat, nmod_mat

from lemmax.constructions.readouts.demands import Demand, Demands, squared
from lemmax.theory.numbers.linear import integers
from lemmax.theory.numbers.primes import MERSENNE_61 as PRIME
from lemmax.theory.numbers.rank import pivot_columns

WORK = 10**8
"""About ten seconds."""


def nearest(
    demands: Demands, start: Mapping[Demand, fmpq], work: int = WORK
) -> tuple[dict[Demand, fmpz], fmpz_mat] | None:
    """Integer weights λ > 0 on affinely independent demands, and Σ λ A, nearest to 0 over Σ λ.

    ``start`` has positive weights on some demands. Each step solves a linear system over Q, as
    large as the set of demands, and looks at all demands once; None where all steps together
    would cost more than ``work`` products of entries.

    References
    ----------
    Philip Wolfe 1976, Finding the nearest point in a polytope.

    >>> square = Demands(fmpz_mat([[1, 1], [1, -1], [-1, 1], [-1, -1]]), (0, 1, 1, 0), 2)
    >>> weights, point = nearest(square, {(0, 1): fmpq(1)})
    >>> sorted(weights), squared(point)
    ([(0, 1), (3, 1)], 0)
    """
    corral = _independent(demands, start)
    every = demands.T * demands.V * demands.Z.ncols()
    while (work := work - len(corral) ** 3 - every * (1 + len(corral) // 8)) > 0:
        corral = _minor(demands, corral)
        names = list(corral)
        weights = dict(zip(names, integers([corral[d] for d in names]), strict=True))
        point, total = demands.total(weights), sum(weights.values(), fmpz(0))
        length = squared(point)
        new, least = demands.least(point)
        if length == 0 or least * total >= length:
            return weights, point
        corral[new] = fmpq(0)
    return None


def cancelling(demands: Demands, names: Sequence[Demand]) -> dict[Demand, fmpz] | None:
    """Positive integers λ with Σ λ A = 0 over these demands, if unique up to scale.

    One linear system over Z, by p-adic lifting: for many demands much cheaper than the nearest
    point, whose inner products have twice as many bits.

    >>> square = Demands(fmpz_mat([[1, 1], [1, -1], [-1, 1], [-1, -1]]), (0, 1, 1, 0), 2)
    >>> cancelling(square, [(0, 1), (3, 1)])
    {(0, 1): 1, (3, 1): 1}
    """
    points = [demands.point(d) for d in names]
    echelon, rank = nmod_mat([[int(x) % PRIME for x in p] for p in points[1:]], PRIME).rref()
    if rank != len(names) - 1:  # the others are independent, or the weights are not unique
        return None
    places = pivot_columns(echelon, rank)
    square = fmpz_mat([[p[j] for p in points[1:]] for j in places])
    solution = square.solve(fmpz_mat([[-points[0][j]] for j in places])).entries()
    if any(x <= 0 for x in solution):
        return None
    weights = dict(zip(names, integers([fmpq(1), *solution]), strict=True))
    return None if squared(demands.total(weights)) else weights


def _minor(demands: Demands, corral: dict[Demand, fmpq]) -> dict[Demand, fmpq]:
    """The nearest point of the affine hull, or of the first face on the way to it, and again."""
    while True:
        names = list(corral)
        target = _affine(demands, names)
        if all(a > 0 for a in target):
            return dict(zip(names, target, strict=True))
        old = [corral[d] for d in names]
        step = min(x / (x - a) for x, a in zip(old, target, strict=True) if a <= 0 and x != a)
        moved = [(1 - step) * x + step * a for x, a in zip(old, target, strict=True)]
        corral = {d: x for d, x in zip(names, moved, strict=True) if x > 0}


def _affine(demands: Demands, names: list[Demand]) -> list[fmpq]:
    """The weights, of sum one, of the point of the affine hull that is nearest to zero."""
    gram = demands.gram(names)
    size = len(names)
    border: list[list[fmpz | int]] = [[*row, 1] for row in gram]
    bordered = fmpz_mat([*border, [1] * size + [0]])
    right = fmpz_mat([[0]] * size + [[1]])
    solution = bordered.solve(right).tolist()
    return [row[0] for row in solution[:size]]


def _independent(demands: Demands, start: Mapping[Demand, fmpq]) -> dict[Demand, fmpq]:
    """A maximal affinely independent set of the demands, heavy ones first, rescaled to sum one.

    Independence mod p implies independence over Q.
    """
    names = sorted(start, key=lambda d: -start[d])
    columns = [[*(int(x) % PRIME for x in demands.point(d)), 1] for d in names]
    echelon, rank = nmod_mat(columns, PRIME).transpose().rref()
    kept = [names[j] for j in pivot_columns(echelon, rank)]
    total = sum((start[d] for d in kept), fmpq(0))
    return {d: start[d] / total for d in kept}
