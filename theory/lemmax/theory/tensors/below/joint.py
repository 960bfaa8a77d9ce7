"""Substitution in two modes at once.

Let φ: A × B → C be the bilinear map of a tensor, U ⊆ A and V ⊆ B. If no U' ⊆ U and V' ⊆ V, not both
zero, have φ(U', B) and φ(A, V') in the span of φ(U', V'), then

    R(φ) ≥ dim U + dim V + R(A/U × B/V → C/(φ(U, B) + φ(A, V))).

One mode after the other would lose what φ(A, v) ⊆ φ(U, B) has; both at once do not. The largest
such pair U', V' is found by shrinking: keep what φ maps into the span of the products, again and
again. With U = A it is a flattening that gains dim V besides.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import permutations

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

from lemmax.theory.numbers import modular
from lemmax.theory.numbers.linear import integers, left_null_space, null_space
from lemmax.theory.tensors.arrays import Array, flattening, rank_modulo
from lemmax.theory.tensors.below.chains import WRITTEN_PRIME, ChainStep, LowerBound
from lemmax.theory.tensors.below.flattenings import best_flattening
from lemmax.theory.tensors.small_vectors import small_vectors

_VECTORS = 24  # of the second space that are tried
_DROPPED = (0, 1)  # slices that the first space leaves out, in each try
_LARGEST = 2**20
_ENTRIES = 4_000  # of the largest tensors that are looked at


def joint_bound(
    array: Array, lower: int, upper: int, expired: Callable[[], bool] = lambda: False
) -> LowerBound | None:
    """A bound above ``lower`` in two modes at once and then by a flattening, or None.

    The first space is spanned by slices of a mode, nearly all; the second is filled with short
    vectors, in a random order, as long as the condition holds. It stops at ``upper``.

    Cost: some hundred small eliminations mod a prime for each of twelve tries.

    >>> dual = np.array([[[1, 0], [0, 1]], [[0, 1], [0, 0]]])  # a + bx modulo x²
    >>> joint_bound(dual, 2, 3).value
    3
    """
    if array.dtype == object or array.size > _ENTRIES or min(array.shape) < 2:
        return None
    if np.abs(array).max() > _LARGEST:
        return None
    generator, best = random.Random(0), None
    for order in permutations(range(3)):
        X = modular.residues(np.ascontiguousarray(array.transpose(order)))
        for dropped in _DROPPED:
            if lower >= upper or expired():
                return best
            U, V = _spaces(X, dropped, generator)
            if len(V) and len(U) + len(V) + _rest(X, U, V) > lower:
                bound = _certified(array, order, U, V)
                if bound is not None and bound.value > lower:
                    lower, best = bound.value, bound
    return best


def _spaces(X: Array, dropped: int, generator: random.Random) -> tuple[Array, Array]:
    """Spaces for which the condition holds mod the prime, the second as large as the turns give."""
    a, b, _ = X.shape
    U = np.eye(a, dtype=np.int64)
    if dropped:
        U = np.delete(U, generator.sample(range(a), dropped), axis=0)
    V = np.zeros((0, b), dtype=np.int64)
    units = list(np.eye(b, dtype=np.int64))
    others = [np.array(v, dtype=np.int64) for v in small_vectors(b, _VECTORS)]
    generator.shuffle(units)
    generator.shuffle(others)
    for vector in (*units, *others):
        larger = np.vstack([V, vector])
        if modular.rank(larger) == len(larger) and _vanishes(X, U, larger):
            V = larger
    return U, V


def _vanishes(X: Array, U: Array, V: Array) -> bool:
    """Whether shrinking leaves nothing, mod the prime."""
    c = X.shape[2]
    while len(U) or len(V):
        over_u, over_v = _over(X, U, 0), _over(X, V, 1)
        W = modular.multiply(modular.residues(V), over_u.transpose(1, 0, 2).reshape(X.shape[1], -1))
        H = (
            modular.null_space(modular.residues(W.reshape(-1, c)))
            if W.size
            else np.eye(c, dtype=int)
        )
        smaller = _killed(U, over_u, H), _killed(V, over_v, H)
        if (len(smaller[0]), len(smaller[1])) == (len(U), len(V)):
            return False
        U, V = smaller
    return True


def _over(X: Array, rows: Array, mode: int) -> Array:
    """φ(u, ·) for the rows u, or φ(·, v)."""
    T = np.moveaxis(X, mode, 0)
    product = modular.multiply(modular.residues(rows), np.ascontiguousarray(T.reshape(len(T), -1)))
    return product.reshape(len(rows), *T.shape[1:])


def _killed(basis: Array, images: Array, functionals: Array) -> Array:
    """A basis of what the functionals kill."""
    if not len(basis) or not len(functionals):
        return basis
    width = images.shape[2]
    forms = np.ascontiguousarray(modular.residues(functionals).T)
    values = modular.multiply(np.ascontiguousarray(images.reshape(-1, width)), forms)
    alpha = modular.null_space(np.ascontiguousarray(values.reshape(len(basis), -1).T))
    return modular.multiply(alpha, modular.residues(basis)) if len(alpha) else basis[:0]


def _rest(X: Array, U: Array, V: Array) -> int:
    """The largest flattening rank of what remains, mod the prime."""
    a, b, c = X.shape
    rows = np.vstack([_over(X, U, 0).reshape(-1, c), _over(X, V, 1).reshape(-1, c)])
    H = modular.null_space(modular.residues(rows))
    if not len(H):
        return 0
    S = modular.multiply(np.ascontiguousarray(X.reshape(-1, c)), np.ascontiguousarray(H.T))
    S = S.reshape(a, b, len(H))
    return max(modular.rank(flattening(S, mode)) for mode in range(3))


def _certified(array: Array, order: tuple[int, ...], U: Array, V: Array) -> LowerBound | None:
    """The bound with an exact proof of the condition; None if it holds mod the prime only."""
    X = array.transpose(order)
    spaces = [fmpq_mat(fmpz_mat(rows.tolist())) for rows in (U, V)]
    levels = []
    for functionals, first, second in _levels(X, *spaces):
        if first is None:
            return None
        levels.append({"functionals": functionals, "first": first, "second": second})
    over = [_exact_over(X, rows, mode) for mode, rows in enumerate(spaces)]
    left = null_space(fmpq_mat([row for part in over for image in part for row in image]))
    last = [[int(x) for x in row] for row in left] or [[0] * X.shape[2]]
    maps: list[list[list[str]]] = [[], [], []]
    maps[order[2]] = _text(last)
    step: ChainStep = {
        "lemma": "joint",
        "mode": order[0],
        "columns": order[1],
        "first": _text(U.tolist()),
        "second": _text(V.tolist()),
        "levels": levels,
        "maps": maps,
        "prime": WRITTEN_PRIME,
    }
    rest = np.moveaxis(np.tensordot(np.array(last, dtype=object), X, (1, 2)), 0, 2)
    back = np.argsort(order)
    remainder = rest.transpose(back)
    if any(rank_modulo(np.array(rows)) < len(rows) for rows in (U, V)):
        return None
    return best_flattening(remainder).after(step, len(U) + len(V))


Level = tuple[list[list[str]], list[list[str]] | None, list[list[str]]]


def _levels(X: Array, U: fmpq_mat, V: fmpq_mat) -> Iterator[Level]:
    """The functionals and the coordinates of the smaller spaces, until nothing is left."""
    while U.nrows() or V.nrows():
        over_u, over_v = _exact_over(X, U, 0), _exact_over(X, V, 1)
        products = [
            [
                sum((v[j] * part[j][k] for j in range(len(v)) if v[j]), fmpq(0))
                for k in range(X.shape[2])
            ]
            for part in over_u
            for v in V.tolist()
        ]
        if products:
            forms = null_space(fmpq_mat(products))
        else:
            forms = [[fmpq(int(i == j)) for j in range(X.shape[2])] for i in range(X.shape[2])]
        first, second = _kernel(over_u, forms), _kernel(over_v, forms)
        if (len(first), len(second)) == (U.nrows(), V.nrows()):
            yield [], None, []
            return
        yield _text(forms), _text(first), _text(second)
        U = fmpq_mat(first) * U if first else fmpq_mat(0, U.ncols())
        V = fmpq_mat(second) * V if second else fmpq_mat(0, V.ncols())


def _exact_over(X: Array, rows: fmpq_mat, mode: int) -> list[list[list[fmpq]]]:
    T = np.moveaxis(X, mode, 0)
    if not rows.nrows():
        return []
    _, height, width = T.shape
    product = (rows * fmpq_mat(fmpz_mat(T.reshape(len(T), -1).tolist()))).tolist()
    return [[row[i * width : (i + 1) * width] for i in range(height)] for row in product]


def _kernel(images: list[list[list[fmpq]]], forms: list[list[fmpq]]) -> list[list[fmpq]]:
    """Integer coordinates of what all the forms kill."""
    if not images:
        return []
    if not forms:
        return [[fmpq(int(i == j)) for j in range(len(images))] for i in range(len(images))]
    columns = fmpq_mat(forms).transpose()
    values = [[x for row in (fmpq_mat(part) * columns).tolist() for x in row] for part in images]
    return [[fmpq(x) for x in integers(row)] for row in left_null_space(fmpq_mat(values))]


def _text(rows: list[list[int]] | list[list[fmpq]]) -> list[list[str]]:
    return [[str(x) for x in row] for row in rows]
