r"""The best sequence encoder for a given left factor W: a convex problem, closed from both sides.

For every \(q \ge 0\) with \(\sum q = 1\) and \(W^\top q = W^\top \pi_t\), and for every E,
\(KL(\pi_t\,\|\,\mathrm{softmax}(W E_t)) \ge \mathrm{Ent}(q) - \mathrm{Ent}(\pi_t)\), and the
largest entropy is the infimum: a program over the exponential cone. cvxpy finds q; q is projected
exactly onto the constraints, and both entropies are enclosed in balls.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flint import arb, ctx, fmpq, fmpq_mat

from lemmax.constructions.dana.encoders import dyadic, kl_certificate
from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.encoders import SequenceEncoder, Table, entropy
from lemmax.theory.errors import LemmaxError, ShapeError, Undecided
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.balls import rational_above, rational_below
from lemmax.theory.numbers.linear import independent
from lemmax.theory.numbers.matrices import Matrix, MatrixLike
from lemmax.theory.sympified import symbolic_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BITS = 64
_SUPPORT = 1e-7


@dataclass(frozen=True)
class FixedFactorInterval(Typeset):
    """lower ≤ inf over E of d_KL(π, f_{W,E}) ≤ upper, both proved in balls.

    ``encoder`` attains the upper end; ``dual`` has the distribution q of each sequence.

    >>> best_codes([["1/2", "1/2"]], [[1], [1]]).formula()
    '0.000000000 \\\\le \\\\inf_E d_{KL}(\\\\pi, f_{W,E}) \\\\le 0.000000001'
    """

    table: Table
    encoder: SequenceEncoder
    dual: Matrix
    lower: fmpq
    upper: fmpq

    @property
    def gap(self) -> fmpq:
        """How far the two ends are apart."""
        return self.upper - self.lower

    def certificate(self) -> Certificate:
        """A ``kl-interval`` certificate whose lower end is about this W alone, by its dual.

        >>> from lemmax import checker
        >>> made = best_codes([["1/2", "1/2", 0]], [[0], [1], [2]]).certificate()
        >>> checker.check(made).holds
        True
        """
        made = kl_certificate(self.table, self.encoder, self.upper, ())
        dual = certificates.matrix(self.dual)
        made["lower"] = {"value": certificates.number(self.lower), "dual": dual}
        return made

    def formula(self) -> str:
        """The interval as inequalities, outwards to nine decimals."""
        low = int((self.lower * 10**9).floor()) / 10**9
        high = int((self.upper * 10**9).ceil()) / 10**9
        return rf"{low:.9f} \le \inf_E d_{{KL}}(\pi, f_{{W,E}}) \le {high:.9f}"

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """W and E as floats."""
        return self.encoder.to_numpy()

    def to_sympy(self) -> dict[str, Any]:
        """W, E, the dual distributions and both ends of the interval, for sympy."""
        ends = {"lower": symbolic_number(self.lower), "upper": symbolic_number(self.upper)}
        return {**self.encoder.to_sympy(), "dual": self.dual.to_sympy(), **ends}


def best_codes(pi: Table | MatrixLike, W: MatrixLike) -> FixedFactorInterval:
    """A proved interval for the least divergence of encoders whose left factor is W (N × d).

    Parameters
    ----------
    pi
        A table, or its rows (the prior is then uniform).
    W
        One row per token.

    Raises
    ------
    LemmaxError
        W has another number of rows than there are tokens; cvxpy is not installed.
    Undecided
        The solver gave up.

    Notes
    -----
    Cost: one program over T · N exponential cones, one inverse of order d + 1 over Q for each
    support that occurs, and 2 T N logarithms. Errors of the solver enter both ends squared.

    Examples
    --------
    >>> interval = best_codes([["4/5", "1/10", "1/10"], ["1/10", "4/5", "1/10"]], [[0], [1], [3]])
    >>> interval.lower > fmpq(3, 100), interval.upper - interval.lower < fmpq(1, 10**6)
    (True, True)
    """
    table = pi if isinstance(pi, Table) else Table(pi)
    left = W if isinstance(W, Matrix) else Matrix(W)
    if left.shape[0] != table.N:
        raise ShapeError(f"W has {left.shape[0]} rows for {table.N} tokens.")
    Q = _largest_entropies(table, left)
    columns = [*left.T.flint.tolist(), [fmpq(1)] * table.N]
    dual = [_projected(row, q, columns) for row, q in zip(table.lists, Q.tolist(), strict=True)]
    encoder = SequenceEncoder(left, _codes(left, Q))
    with ctx.workprec(128):
        gain = sum(
            (
                arb(p) * (entropy(q, 128) - entropy(row, 128))
                for p, q, row in zip(table.prior, dual, table.lists, strict=True)
            ),
            arb(0),
        )
        upper = rational_above(encoder.divergence(table), _BITS)
    return FixedFactorInterval(
        table, encoder, Matrix(dual), max(rational_below(gain, _BITS), fmpq(0)), upper
    )


def _largest_entropies(table: Table, W: Matrix) -> NDArray[np.float64]:
    """The distributions of largest entropy with the moments of π, in floats."""
    import numpy as np

    try:
        import cvxpy
    except ImportError:
        raise LemmaxError(
            "The best codes need cvxpy, which is not installed: pip install 'lemmax[convex]'."
        ) from None
    program: Any = cvxpy
    _, rows = table.to_numpy()
    moments = np.column_stack([W.to_numpy(), np.ones(table.N)])
    moments /= np.maximum(np.abs(moments).max(axis=0), 1e-300)
    Q = program.Variable(rows.shape)
    problem = program.Problem(
        program.Maximize(program.sum(program.entr(Q))), [Q @ moments == rows @ moments]
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate guess is still a guess
            problem.solve(solver=program.CLARABEL)
    except program.SolverError as error:
        raise Undecided(f"The solver CLARABEL gave up on the codes: {error}") from None
    if Q.value is None or not np.isfinite(Q.value).all():
        raise Undecided(f"The solver CLARABEL ended with the status {problem.status!r}.")
    found: NDArray[np.float64] = np.maximum(Q.value, 0)
    return found


def _projected(row: list[fmpq], q: list[float], columns: list[list[fmpq]]) -> list[fmpq]:
    """The point near q with exactly the moments of π, moved towards π until no entry is negative.

    Tokens that neither π nor q uses stay unused.
    """
    place = [j for j, (p, x) in enumerate(zip(row, q, strict=True)) if p > 0 or x > _SUPPORT]
    few = [[column[j] for j in place] for column in columns]
    B = fmpq_mat([few[i] for i in independent(few)])
    step = fmpq_mat([[dyadic(q[j]) - row[j]] for j in place])
    step = step - B.transpose() * (B * B.transpose()).solve(B * step)
    moves = step.entries()
    share = min((row[j] / -x for j, x in zip(place, moves, strict=True) if x < 0), default=fmpq(1))
    point = list(row)
    for j, x in zip(place, moves, strict=True):
        point[j] += min(share, fmpq(1)) * x
    return point


def _codes(W: Matrix, Q: NDArray[np.float64]) -> Matrix:
    """E with W E_t + constant nearest to log q_t, weighted by q_t."""
    import numpy as np

    left = np.column_stack([W.to_numpy(), np.ones(W.shape[0])])
    rows = []
    for q in np.maximum(Q, 1e-14):
        root = np.sqrt(q)[:, None]
        solution = np.linalg.lstsq(root * left, root[:, 0] * np.log(q), rcond=None)[0]
        rows.append([dyadic(x) for x in solution[:-1].tolist()])
    return Matrix(rows)
