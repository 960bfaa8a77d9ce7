"""From a decomposition mod a prime to one over Q.

Terms that add up to a tensor mod p prove nothing over Q: the table of the cyclic group of order 3
restricted to two columns has rank 3 mod 7 and rank 4 over Q. A decomposition is returned from here
only after its terms were added up over Q.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

import numpy as np
from flint import fmpq, fmpz_mat, nmod_mat
from numpy.typing import NDArray

from lemmax.theory.numbers.rank import pivot_columns
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.decompositions import Decomposition, rational_terms
from lemmax.theory.tensors.search.clock import late
from lemmax.theory.tensors.search.derivatives import derivatives
from lemmax.theory.tensors.search.third_factors import third_factor

Factors = Sequence[NDArray[np.int64]]
"""Three matrices with one row per term."""

ENTRIES = 1_000_000  # of the Jacobian of a Hensel lift; larger ones are not tried
ATTEMPTS = 18  # of a lift, fewer for a large Jacobian
HEIGHT = 2**16  # of numerators and denominators that rational reconstruction looks for
CHOICES = 3  # of free coordinates in one mode
MODULUS = 2**64  # to be exceeded by the power of p

SMALL = {
    3: ((0, 1), (1, 1), (-1, 1)),
    5: ((0, 1), (1, 1), (2, 1), (-2, 1), (-1, 1)),
    7: ((0, 1), (1, 1), (2, 1), (-1, 2), (1, 2), (-2, 1), (-1, 1)),
}
"""Small rational numbers for the residues 0, ..., p - 1."""


def lift(
    array: Array,
    factors: Factors,
    p: int,
    *,
    deadline: float | None = None,
    seed: int = 0,
) -> Decomposition | None:
    """A decomposition over Q that is congruent mod p to the given one, or None if none is found.

    First two factors of every term are taken for small rational numbers and the third is solved
    for over Q. Then Hensel's lemma: the residues that a maximal invertible minor of the Jacobian
    leaves free stay what they are, the others are lifted to p^k, and all are reconstructed. The
    free ones are chosen anew at every attempt.

    >>> T = np.zeros((2, 2, 2), dtype=int)  # the sum in Z/2: rank 2 over Q, with halves
    >>> T[0, 0, 0] = T[0, 1, 1] = T[1, 0, 1] = T[1, 1, 0] = 1
    >>> signs = np.array([[1, 1], [1, 2]])
    >>> lifted = lift(T, (signs, signs, 2 * signs % 3), 3)
    >>> lifted.terms[1]
    ((1, -1), (1, -1), (1/2, -1/2))
    """
    factors = [np.asarray(f, dtype=np.int64) % p for f in factors]
    random = np.random.default_rng([seed, p])
    makers = (by_solving(array, factors, p), by_hensel(array, factors, p, random))
    entries = jacobian_entries(array, len(factors[0]))
    attempts = min(ATTEMPTS, 1 + ENTRIES // (2 * entries)) if entries <= ENTRIES else 0
    for maker, tries in zip(makers, (3, attempts), strict=True):
        for lifted in islice(maker, tries):
            if lifted is not None and lifted.adds_up_to(array):
                return lifted
            if late(deadline):
                return None
    return None


def jacobian_entries(array: Array, length: int) -> int:
    """The size of the Jacobian matrix of so many terms."""
    return int(array.size) * length * sum(array.shape)


def by_solving(array: Array, factors: Factors, p: int) -> Iterator[Decomposition | None]:
    """Take two factors of every term for small numbers, and solve for the third over Q."""
    small = [[_small_vector(row, p) for row in f] for f in factors]
    for mode in (2, 1, 0):
        others = [small[m] for m in range(3) if m != mode]
        third = third_factor(np.moveaxis(array, mode, 2), *others)
        if third is None:
            yield None
            continue
        factors_over_q = list(others)
        factors_over_q.insert(mode, third)
        yield rational_terms(array.shape, zip(*factors_over_q, strict=True))


def _small_vector(row: NDArray[np.int64], p: int) -> list[fmpq]:
    """The multiple of a vector mod p with the smallest numbers, without denominators."""

    def lifted(factor: int) -> list[int]:
        numbers = [SMALL[p][int(x) * factor % p] for x in row]
        common = max(q for _, q in numbers)
        return [n * common // q for n, q in numbers]

    least = min((lifted(c) for c in range(1, p)), key=lambda v: (sum(map(abs, v)), -sum(v)))
    return [fmpq(x) for x in least]


def by_hensel(
    array: Array, factors: Factors, p: int, random: np.random.Generator
) -> Iterator[Decomposition | None]:
    """Lift all residues to a power of p, with another choice of the free ones at every attempt.

    The free coordinates are sought in one mode, the last one of an order, and among the zeros of
    all modes or not. What was reconstructed in a term keeps its place in the order.
    """
    length = len(factors[0])
    start = _leads_one(factors, p)
    jacobian = _jacobian(start) % p
    nonzero = np.concatenate([f.ravel() for f in start]) != 0
    mode = np.repeat(np.arange(3), [f.size for f in start])
    term = np.concatenate([np.repeat(np.arange(length), n) for n in array.shape])
    for last, sparse in product((0, 1, 2), (True, False)):
        draws = random.random(len(mode))
        for _ in range(CHOICES):
            order = np.lexsort((draws, ~nonzero, (last + 2 - mode) % 3))
            if sparse:
                order = order[nonzero[order]]
            point = _hensel(array, start, p, jacobian, order)
            if point is None:
                yield None
                break
            wrong = np.array([x is None for x in point])
            if not wrong.any():
                yield rational_terms(array.shape, zip(*_rows(point, array.shape), strict=True))
                break
            yield None
            again = np.isin(term, term[wrong & (mode != (last + 2) % 3)])
            draws[again] = random.random(again.sum())


def _leads_one(factors: Factors, p: int) -> Factors:
    """The same terms mod p; the first nonzero entries of the first two factors are 1."""
    made, weights = [], np.ones(len(factors[0]), dtype=np.int64)
    for f in factors[:2]:
        leads = f[np.arange(len(f)), (f != 0).argmax(axis=1)]
        inverses = np.array([pow(int(x), -1, p) for x in leads])
        made.append(f * inverses[:, None] % p)
        weights = weights * leads % p
    return [*made, factors[2] * weights[:, None] % p]


def _jacobian(factors: Factors) -> NDArray[np.int64]:
    """The derivative of the sum of the terms: one row per entry, one column per coordinate."""
    u, v, w = (f.T for f in factors)
    blocks = (part.transpose(0, 2, 1) for part in derivatives(u, v, w))
    return np.hstack([block.reshape(len(block), -1) for block in blocks])


def _hensel(
    array: Array, start: Factors, p: int, jacobian: NDArray[np.int64], order: NDArray[np.int64]
) -> list[fmpq | None] | None:
    """Lift the first coordinates of an order that have independent columns; fix all others.

    All coordinates are returned, with None for those that are no small fraction; or None if the
    equations have no solution mod a power of p.
    """
    echelon, rank = nmod_mat(fmpz_mat(jacobian[:, order].tolist()), p).rref()
    free = order[pivot_columns(echelon, rank)]
    thin = jacobian[:, free]
    echelon, rank = nmod_mat(fmpz_mat(thin.T.tolist()), p).rref()
    rows = pivot_columns(echelon, rank)
    inverse = np.array(
        [[int(x) for x in row] for row in nmod_mat(fmpz_mat(thin[rows].tolist()), p).inv().tolist()]
    )
    power = p
    while power < MODULUS:
        power *= p
    point = [
        SMALL[p][x][0] * pow(SMALL[p][x][1], -1, power) % power
        for f in start
        for x in f.ravel().tolist()
    ]
    wanted = array.reshape(array.shape[0], -1)
    modulus = 1
    while modulus * p < power:
        modulus *= p
        error = wanted.astype(object) - _sum(point, array.shape, len(start[0]))
        digits = (error.ravel() // modulus % p).astype(np.int64)
        if not digits.any():
            continue
        step = inverse @ digits[rows] % p
        if ((thin @ step - digits) % p).any():
            return None
        for index, digit in zip(free.tolist(), step.tolist(), strict=True):
            point[index] = (point[index] + modulus * digit) % power
    return [rational_reconstruction(x, modulus) for x in point]


def _rows(flat: Sequence[Any], shape: tuple[int, ...]) -> list[list[list[Any]]]:
    """Cut a list of all coordinates into three lists of vectors."""
    length = len(flat) // sum(shape)
    cut, begin = [], 0
    for n in shape:
        cut.append([list(flat[begin + r * n : begin + (r + 1) * n]) for r in range(length)])
        begin += length * n
    return cut


def _sum(point: Sequence[int], shape: tuple[int, ...], length: int) -> Array:
    """The sum of the terms, as the flattening of the first mode."""
    u, v, w = _rows(point, shape)
    pairs = fmpz_mat([[y * z for y in v[r] for z in w[r]] for r in range(length)])
    return np.array((fmpz_mat(u).transpose() * pairs).tolist(), dtype=object)


def rational_reconstruction(residue: int, modulus: int, height: int = HEIGHT) -> fmpq | None:
    """The fraction n/d ≡ residue with |n|, d at most the height, or None; unique if 2·height² < m.

    >>> rational_reconstruction(pow(3, -1, 7**40) * 2 % 7**40, 7**40)
    2/3
    >>> rational_reconstruction(3**30, 7**40) is None
    True
    """
    old, new = modulus, residue % modulus
    before, now = 0, 1
    while new > height:
        quotient = old // new
        old, new = new, old - quotient * new
        before, now = now, before - quotient * now
    if abs(now) > height:
        return None
    return fmpq(new, now)
