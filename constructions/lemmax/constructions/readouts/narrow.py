"""Guesses for narrow margins: features so alike that a solver of first order misses facts.

The widest W is looked for on a set of demands that grows, first by interior points, which are quick
and here inexact, then by least squares with nonnegative weights, whose orthogonal factorisation
keeps the digits. Nothing here decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from lemmax.theory.errors import Undecided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Truths: TypeAlias = NDArray[np.bool_]

LARGEST = 8 * 10**6
"""Entries of the matrix up to which least squares are tried: some ten seconds."""
_FIRST, _LATER = 6, 3  # rivals of each fact, and facts of each rival, that join the set
_ROUNDS, _REFINED = 24, 8
CLOSE = 0.999
"""The share of the wanted gap at which weights are taken to be the widest."""
_STEPS = (200, 50, 25)  # a solver that makes no progress at the end tells nothing: it stops before
_TOLERANCES = {"tol_feas": 1e-10, "tol_gap_abs": 1e-14, "tol_gap_rel": 1e-9}


def widest_guess(
    Z: Floats, labels: Any, own: Truths, start: Floats
) -> tuple[Floats, Floats] | None:
    """Weights λ (T × V) of sum one and W (V × D), about the widest, from weights W to begin at.

    Labels that no fact has are all alike, so that the widest W, which is unique, has one row for
    them. None where the matrix of the demands would be too large, or nothing was found.
    """
    import numpy as np

    if not start.any() or Z.shape[1] * own.shape[1] * own.shape[0] > LARGEST:
        return None
    used: Truths = np.asarray(own.any(axis=0))
    idle = int((~used).sum())
    copies = np.concatenate([np.ones(used.sum()), np.full(min(idle, 1), idle)])
    kept = np.concatenate([np.nonzero(used)[0], np.nonzero(~used)[0][:1]])
    place = np.zeros(len(used), dtype=int)
    place[kept] = np.arange(len(kept))
    found = _search(Z, place[labels], own[:, kept], copies, start[kept])
    if found is None:
        return None
    weights, W = np.zeros(own.shape), np.zeros(start.shape)
    weights[:, kept], W[kept] = found
    if idle > 1:  # the one that stood for all
        weights[:, ~used] = weights[:, kept[-1:]] / idle
        W[~used] = W[kept[-1]]
    return weights / weights.sum(), W


def _search(
    Z: Floats, labels: Any, own: Truths, copies: Floats, W: Floats
) -> tuple[Floats, Floats] | None:
    import numpy as np

    lengths = np.sqrt(copies)[:, None]
    work = _worst(_gaps(Z, own, W), _FIRST) & ~own
    found: Floats | None = None
    for solver, rounds, kept, enough in (
        (_interior, _ROUNDS, 3.0, 0.9),
        (_least_squares, _REFINED, 1.5, CLOSE),
    ):
        for _ in range(rounds):
            unit = 10 / float(np.linalg.norm(lengths * W))
            t, v = np.nonzero(work)
            solved = solver(_rows(Z, labels, lengths, t, v), unit)
            if solved is None:
                return None
            x, multipliers = solved
            W = x.reshape(own.shape[1], -1) / lengths / unit
            found = np.zeros(own.shape)
            found[t, v] = multipliers
            gaps = _gaps(Z, own, W)
            if np.where(work, np.inf, gaps).min() > enough:
                break
            work &= (found > 1e-6 * found.max()) | (gaps < kept)
            work |= _worst(gaps, _LATER) & (gaps < 1) & ~own
    return None if found is None else (found, W)


def _gaps(Z: Floats, own: Truths, W: Floats) -> Floats:
    import numpy as np

    scores = Z @ W.T
    gaps: Floats = np.where(own, np.inf, scores[own][:, None] - scores)
    return gaps


def _worst(gaps: Floats, few: int) -> Truths:
    """The few least gaps of each fact, and of each rival."""
    import numpy as np

    chosen = np.zeros(gaps.shape, dtype=bool)
    for axis in (0, 1):
        count = min(few, gaps.shape[axis])
        order = np.argpartition(gaps, count - 1, axis=axis)
        np.put_along_axis(chosen, order[:count] if axis == 0 else order[:, :count], True, axis=axis)
    return chosen


def _rows(Z: Floats, labels: Any, lengths: Floats, t: Any, v: Any) -> Any:
    """One row per demand, for the rows of W times the roots of how many labels they stand for."""
    import numpy as np
    from scipy import sparse

    D, at = Z.shape[1], np.arange(Z.shape[1])
    places = np.concatenate([labels[t][:, None] * D + at, v[:, None] * D + at], axis=1)
    values = np.concatenate([Z[t] / lengths[labels[t]], -Z[t] / lengths[v]], axis=1)
    rows = np.repeat(np.arange(len(t)), 2 * D)
    return sparse.csr_matrix(
        (values.ravel(), (rows, places.ravel())), shape=(len(t), D * len(lengths))
    )


def _interior(A: Any, unit: float) -> tuple[Floats, Floats] | None:
    """The shortest x with A x >= unit, and its multipliers."""
    import numpy as np

    from lemmax.constructions.readouts.finding import cvxpy_or_sentence, solved

    cvxpy = cvxpy_or_sentence()
    x: Any = cvxpy.Variable(A.shape[1])
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(x) / 2), [A @ x >= unit])
    for steps in _STEPS:
        try:
            solved(problem, "CLARABEL", max_iter=steps, **_TOLERANCES)
        except Undecided:
            continue
        multipliers: Any = problem.constraints[0].dual_value
        if x.value is not None and multipliers is not None and np.isfinite(x.value).all():
            return x.value, np.maximum(multipliers, 0)
    return None


def _least_squares(A: Any, unit: float) -> tuple[Floats, Floats] | None:
    """The same by least squares: u >= 0 with (Aᵀ, unit)ᵀ u next to (0, 1), and x = Aᵀu / rest.

    References
    ----------
    Charles L. Lawson and Richard J. Hanson 1974, Solving Least Squares Problems, chapter 23.
    """
    import numpy as np
    from scipy.optimize import nnls

    count, width = A.shape
    if count * width > LARGEST:
        return None
    matrix = np.empty((width + 1, count))
    matrix[:-1], matrix[-1] = A.toarray().T, unit
    target = np.zeros(width + 1)
    target[-1] = 1
    try:
        u, _ = nnls(matrix, target, maxiter=20 * count)
    except RuntimeError:  # too many steps
        return None
    rest = 1 - unit * u.sum()
    if rest < 1e-12 or not u.any():  # zero is in the hull, or next to it
        return None
    return matrix[:-1] @ u / rest, u
