"""A linear form on the span of the slices whose square is a combination of minors.

Let L be the span of m independent slices X_1, ..., X_m of a mode. The 2 × 2 minors of Σ z_i X_i are
quadratic forms in z. If ℓ(z)² is a combination of them, ℓ ≠ 0, then ℓ vanishes on every matrix of
rank one in L; so these do not span L, and R(T) ≥ m + 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import fmpq_mat, fmpz_mat

from lemmax.theory.numbers import modular
from lemmax.theory.numbers.modular import Residues
from lemmax.theory.numbers.primes import MERSENNE_31
from lemmax.theory.tensors.arrays import Array, flattening, rank_modulo
from lemmax.theory.tensors.below.chains import WRITTEN_PRIME, LowerBound
from lemmax.theory.tensors.below.quadrics import minors
from lemmax.theory.tensors.rank_ones import coordinates
from lemmax.theory.tensors.small_vectors import small_multiple

_ENTRIES = 300  # of the densest tensors that are looked at
_LARGEST = 2**20
_WORK = 150_000_000  # about as many multiplications per elimination


def square_bound(array: Array) -> LowerBound | None:
    """R ≥ r + 1 for the largest flattening rank r, by the square of some form, or None.

    Cost: an elimination mod a prime of a matrix with m(m+1)/2 columns and a row for each minor;
    tensors for which that takes more than about a second are left alone.

    >>> import numpy as np
    >>> W = np.zeros((2, 2, 2), dtype=int)
    >>> W[0, 0, 1] = W[0, 1, 0] = W[1, 0, 0] = 1  # a limit of tensors of rank 2
    >>> square_bound(W).value
    3
    """
    most = max(array.shape)
    if (
        array.dtype == object
        or np.abs(array).max() > _LARGEST
        or np.count_nonzero(array) > _ENTRIES
    ):
        return None
    for mode in range(3):
        if array.shape[mode] == most and min(array.shape) > 1:
            bound = _in_mode(array, mode)
            if bound is not None:
                return bound
    return None


def _in_mode(array: Array, mode: int) -> LowerBound | None:
    m = array.shape[mode]
    independent = min(rank_modulo(flattening(array, mode)), modular.rank(flattening(array, mode)))
    forms = list(_forms(array, mode)) if independent == m else []
    if not forms:
        return None
    table = minors(array, mode)
    places = sorted(table)
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    if len(places) * len(pairs) * min(len(places), len(pairs)) > _WORK or not places:
        return None
    rows = np.array([[table[place].get(pair, 0) for pair in pairs] for place in places])
    echelon = modular.residues(rows)
    pivots = modular.reduce(echelon)
    for form in forms:
        square = _square(form, pairs)
        residue = modular.residues(np.array(square))
        multiple = modular.multiply(residue[None, pivots], echelon[: len(pivots)])[0]
        if not ((residue - multiple) % MERSENNE_31).any():
            weighted = _combination(rows, square)
            if weighted is not None:
                step = {
                    "lemma": "square",
                    "mode": mode,
                    "form": [str(x) for x in form],
                    "minors": [list(places[i]) for i, _ in weighted],
                    "weights": [weight for _, weight in weighted],
                    "prime": WRITTEN_PRIME,
                }
                return LowerBound.by(step, m + 1)
    return None


def _square(form: list[int], pairs: list[tuple[int, int]]) -> list[int]:
    return [form[i] * form[j] * (2 if i < j else 1) for i, j in pairs]


def _forms(array: Array, mode: int) -> Iterator[list[int]]:
    """Forms with small coefficients that vanish on the matrices of rank one that are found."""
    W = coordinates(array, mode)
    m = array.shape[mode]
    entries = flattening(array, mode).T
    sums = [np.moveaxis(array, mode, 0).sum(axis=axis).reshape(m, -1).T for axis in (1, 2)]
    known = modular.null_space(W) if len(W) else np.eye(m, dtype=np.int64)
    given = modular.residues(np.vstack([*sums, entries]))
    vanishing = given[~modular.multiply(given, W.T.copy()).any(axis=1)] if len(W) else given
    seen = set[tuple[int, ...]]()
    for residues in (*known, *vanishing):
        form = small_multiple(residues) if residues.any() else None
        if form is not None and tuple(form) not in seen:
            seen.add(tuple(form))
            yield form


def _combination(rows: Residues, square: list[int]) -> list[tuple[int, str]] | None:
    """Weights w with Σ w_i rows_i = square over Q, those that are not zero."""
    chosen = modular.reduce(modular.residues(rows.T)).tolist()
    table = rows[chosen]
    columns = modular.reduce(modular.residues(table)).tolist()
    system = fmpq_mat(fmpz_mat(table[:, columns].T.tolist()))
    goal = fmpq_mat(fmpz_mat([[square[j]] for j in columns]))
    weights = system.solve(goal)
    whole = weights.transpose() * fmpq_mat(fmpz_mat(table.tolist()))
    if [int(x.p) if x.q == 1 else None for x in whole.tolist()[0]] != square:
        return None  # the prime was unlucky
    return [
        (i, f"{w.p}/{w.q}" if w.q != 1 else str(w.p))
        for i, (w,) in zip(chosen, weights.tolist(), strict=True)
        if w
    ]
