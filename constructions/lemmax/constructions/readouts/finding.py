"""A guess, by a solver in floating point: which demands hold the nearest point, how heavily.

Nothing here decides: the weights that come out are a start for exact arithmetic. cvxpy is imported
when a guess is needed.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

from lemmax.constructions.readouts.demands import Demands
from lemmax.constructions.readouts.narrow import CLOSE, widest_guess
from lemmax.theory.errors import LemmaxError, Undecided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

SMALL = 4 * 10**8
"""Products of entries up to which all demands are given to the solver at once."""
_FIRST, _PER_ROUND = 6, 8  # rivals of each fact in the first working set, and new ones later
_STEPS = (100, 250, *[2_500] * 10)  # of the solver, for each working set
_NOISE = 1e-7


def guess(demands: Demands, start: Floats | None = None) -> tuple[Floats, Floats, Floats | None]:
    """Weights λ (T × V) >= 0 of sum one, for which Σ λ_tv A_tv is about nearest to zero, and W.

    Where the hull seems to contain zero, also a vertex of {λ : Σ λ A = 0}. ``start`` are weights
    that hold all facts, where some are known: narrow margins are found from there.
    """
    import numpy as np

    Z, labels = demands.floats, np.array(demands.labels)
    own = np.eye(demands.V, dtype=bool)[labels]
    (T, D), V = Z.shape, demands.V
    if T * V * (2 * D) ** 2 + min(V * D, T * V) ** 3 <= SMALL:
        found = _nearest(Z, labels, ~own)
        W = _total(found, own, Z)
        allowed = found > _NOISE * found.max()
    else:
        found, W, allowed = _by_working_sets(Z, labels, own)
    if start is not None and _loose(Z, own, found, W):
        better = widest_guess(Z, labels, own, start)
        found, W = (found, W) if better is None else better
    if np.linalg.norm(_total(found, own, Z)) < 1e-5 or not W.any():
        return found, W, _vertex(Z, labels, allowed)
    return found, W, None


def _loose(Z: Floats, own: NDArray[np.bool_], found: Floats, W: Floats) -> bool:
    """Whether the margin of W is clearly less than what the multipliers allow."""
    import numpy as np

    scores = Z @ W.T
    gap = np.where(own, np.inf, scores[own][:, None] - scores).min()
    allowed = np.linalg.norm(_total(found, own, Z))
    return bool(gap <= CLOSE * allowed * np.linalg.norm(W))


def _total(found: Floats, own: NDArray[np.bool_], Z: Floats) -> Floats:
    import numpy as np

    signs = np.where(own, found.sum(axis=1, keepdims=True), -found)
    total: Floats = signs.T @ Z
    return total


def _matrix(Z: Floats, labels: Any, t: Any, v: Any) -> Any:
    """One column per demand (t, v): z_t in the rows of its label, minus z_t in those of v."""
    import numpy as np
    from scipy import sparse

    D, count = Z.shape[1], len(t)
    inside = np.arange(D)
    rows = np.concatenate([labels[t][:, None] * D + inside, v[:, None] * D + inside], axis=1)
    columns = np.repeat(np.arange(count), 2 * D)
    values = np.concatenate([Z[t], -Z[t]], axis=1)
    height = D * (1 + int(max(labels.max(), v.max())))
    return sparse.csc_matrix((values.ravel(), (rows.ravel(), columns)), shape=(height, count))


def solved(problem: Any, solver: str, **options: Any) -> str:
    """The status after solving; Undecided, in one sentence, where the solver fails."""
    import cvxpy

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate guess is still a guess
            problem.solve(solver=getattr(cvxpy, solver), **options)
    except (cvxpy.SolverError, ValueError, ArithmeticError) as error:
        raise Undecided(f"The solver {solver} gave up on the readout: {error}") from None
    return str(problem.status)


def _nearest(Z: Floats, labels: Any, allowed: NDArray[np.bool_]) -> Floats:
    """The nearest point to zero, as a quadratic program over the weights."""
    import numpy as np

    cvxpy = cvxpy_or_sentence()
    t, v = np.nonzero(allowed)
    points, unit = _matrix(Z, labels, t, v), 1.0
    weight = cvxpy.Variable(len(t), nonneg=True)
    for _ in range(3):  # solvers stop at absolute tolerances: a short point is measured again
        length = cvxpy.sum_squares((points / unit) @ weight)
        problem = cvxpy.Problem(cvxpy.Minimize(length), [cvxpy.sum(weight) == 1])
        status = solved(problem, "CLARABEL")
        if weight.value is None or not np.isfinite(weight.value).all():
            raise Undecided(f"The solver CLARABEL ended with the status {status!r} and no weights.")
        short = float(np.linalg.norm(points @ weight.value))
        if not 1e-6 < short < unit / 4:
            break
        unit = short
    return _scattered(allowed.shape, t, v, weight.value)


def _vertex(Z: Floats, labels: Any, allowed: NDArray[np.bool_]) -> Floats | None:
    """A vertex of {λ >= 0 : Σ λ A = 0, Σ λ = 1}, as a linear program; None where there is none."""
    import numpy as np

    cvxpy = cvxpy_or_sentence()
    t, v = np.nonzero(allowed)
    weight = cvxpy.Variable(len(t), nonneg=True)
    cost = np.random.default_rng(0).uniform(1, 2, len(t))  # generic: the optimum is a vertex
    balance = [_matrix(Z, labels, t, v) @ weight == 0, cvxpy.sum(weight) == 1]
    try:
        solved(cvxpy.Problem(cvxpy.Minimize(cost @ weight), balance), "HIGHS")
    except Undecided:
        return None
    if weight.value is None:
        return None
    return _scattered(allowed.shape, t, v, weight.value)


def _by_working_sets(
    Z: Floats, labels: Any, own: NDArray[np.bool_]
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """The same for many demands: W of least norm with gaps >= 1 over a set that grows; the set.

    W is zero where there is none for the set.
    """
    import numpy as np

    W = _ridge(Z, own)
    work = np.zeros(own.shape, dtype=bool)
    found, status = np.zeros(own.shape), ""
    for turn, steps in enumerate(_STEPS):
        scores = Z @ W.T
        gaps = np.where(own, np.inf, scores[own][:, None] - scores)
        if status == "optimal" and np.where(work, np.inf, gaps).min() > 1 - 1e-5:
            break
        worst = np.argsort(gaps, axis=1)[:, : _PER_ROUND if turn else _FIRST]
        lacking = np.zeros_like(work)
        np.put_along_axis(lacking, worst, True, axis=1)
        work &= (found > 0) | (gaps < 1.5)  # the others do not come into play
        work |= lacking & ~own & ((gaps < 1.05) if turn else True)
        better, found, status = _narrowed(Z, labels, own, work, steps)
        if better is None and (status == "infeasible" or steps == _STEPS[-1]):
            return found, 0 * W, found > 1e-4 * found.max()  # where the ray that shows it lives
        W = W if better is None else better
    return found, W, work


def _ridge(Z: Floats, own: NDArray[np.bool_]) -> Floats:
    import numpy as np

    square = Z.T @ Z
    ridge = 1e-3 * np.trace(square) / len(square) * np.eye(len(square))
    solution: Floats = np.linalg.solve(square + ridge, Z.T @ (own - own.mean(axis=0))).T
    return solution


def _narrowed(
    Z: Floats, labels: Any, own: NDArray[np.bool_], work: NDArray[np.bool_], steps: int
) -> tuple[Floats | None, Floats, str]:
    """W of least norm with the gaps of the working set at least one, and the multipliers.

    With one more number s_t per fact the demands are ⟨W_v, z_t⟩ <= s_t and ⟨W_y, z_t⟩ >= s_t + 1,
    which halves the matrix. Where there is no such W, the multipliers are a ray that shows it.
    """
    import numpy as np
    from scipy import sparse

    cvxpy = cvxpy_or_sentence()
    (T, D), V = Z.shape, own.shape[1]
    t, v = np.nonzero(work)

    def rows(t: Any, v: Any) -> Any:
        count = len(t)
        places = np.concatenate([v[:, None] * D + np.arange(D), V * D + t[:, None]], axis=1)
        values = np.concatenate([Z[t], -np.ones((count, 1))], axis=1)
        at = np.repeat(np.arange(count), D + 1)
        return sparse.csr_matrix((values.ravel(), (at, places.ravel())), shape=(count, V * D + T))

    matrix = sparse.vstack([rows(t, v), -rows(np.arange(T), labels)]).tocsc()
    bound = np.concatenate([np.zeros(len(t)), -np.ones(T)])
    x = cvxpy.Variable(V * D + T)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(x[: V * D])), [matrix @ x <= bound])
    status = solved(problem, "SCS", eps=1e-4, max_iters=steps)
    duals = problem.constraints[0].dual_value
    if duals is None or not np.isfinite(duals).all() or duals[: len(t)].max() <= 0:
        raise Undecided(f"The solver SCS ended with the status {status!r} and no weights.")
    found = _scattered(own.shape, t, v, duals[: len(t)])
    if x.value is None:
        return None, found, status
    return x.value[: V * D].reshape(V, D), found, status


def _scattered(shape: tuple[int, int], t: Any, v: Any, values: Any) -> Floats:
    import numpy as np

    found = np.zeros(shape)
    found[t, v] = np.maximum(values, 0)
    found /= found.sum()
    return found


def cvxpy_or_sentence() -> Any:
    """cvxpy, or one sentence where it is missing."""
    try:
        import cvxpy
    except ImportError:
        raise LemmaxError(
            "Readouts need cvxpy, which is not installed: pip install 'lemmax[convex]'."
        ) from None
    return cvxpy
