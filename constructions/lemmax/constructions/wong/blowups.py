r"""Small rank, large argmax: the matrices of Wong's Propositions 3.6 and 3.7, in integers.

For \(2 \le r \le n\) let \(m = n-r+2\) and \(M = (2ij-j^2)_{1\le i,j\le m} \oplus I_{r-2}\). The
first block is \(i^2-(i-j)^2\): two rank-one terms, and row i is largest at j = i by at least 1.
So rank M = r and argmax M is the identity, with entries of at most n². No point needs to be near
another and no magnitude is extreme.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.matrices import Matrix, rational
from lemmax.theory.numbers.rank import certified_rank
from lemmax.theory.numbers.softmax_rank import SoftmaxRank, softmax_rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class GramBlowup(Typeset):
    """An n × n matrix of rank r whose row-wise argmax (for r ≥ 2) is the identity.

    >>> gram_blowup(2, 2).matrix
    Matrix([['1', '0'], ['3', '4']])
    """

    n: int
    r: int
    matrix: Matrix

    def softmax_rank(self, scale: Any = 1) -> SoftmaxRank:
        """The rank of softmax(scale · M); it is n for every positive scale."""
        return softmax_rank(rational(scale) * self.matrix)

    def certificate(self) -> Certificate:
        """A ``matrix-rank`` certificate for rank M = r."""
        return certified_rank(self.matrix).certificate()

    @property
    def claim(self) -> str:
        """The claim that this witnesses."""
        return "wong/proposition-3.6" if self.r > 1 else "wong/proposition-3.7"

    def formula(self) -> str:
        """The matrix."""
        return self.matrix.formula()

    def to_sympy(self) -> Any:
        """The matrix for sympy."""
        return self.matrix.to_sympy()

    def to_numpy(self) -> NDArray[np.float64]:
        """The matrix as floats; exact up to n = 4096 even in float32."""
        return self.matrix.to_numpy()


def gram_blowup(n: int, r: int, points: Literal["integers", "sphere"] = "integers") -> GramBlowup:
    r"""A matrix of rank r with argmax the identity (r ≥ 2) and softmax of rank n (r ≥ 1).

    Parameters
    ----------
    n, r
        The size and the rank, \(1 \le r \le n\).
    points
        ``"integers"``: \(2ij-j^2\) (indices from 1) beside an identity. ``"sphere"``: the Gram
        matrix of n distinct rational points of the unit sphere that span \(\mathbb{R}^r\), the
        spanning being what the printed proof of Proposition 3.6 forgets to ask.

    Notes
    -----
    For r = 1 the integer matrix is \((ij)\), the Gram matrix of n distinct points of the line:
    its softmax is a row-scaled Vandermonde matrix, so already rank one gives softmax rank n.
    Cost: n² integers of at most \(n^2\) in size, or n² rationals.

    Examples
    --------
    >>> from lemmax.theory import argmax, certified_rank
    >>> M = gram_blowup(6, 2).matrix
    >>> certified_rank(M).rank, certified_rank(argmax(M)).rank
    (2, 6)
    >>> gram_blowup(5, 1).softmax_rank().rank
    5
    """
    if not 1 <= r <= n:
        raise LemmaxError(f"The rank must lie between 1 and n = {n}, not {r}.")
    if points == "sphere":
        if r < 2:
            raise LemmaxError(
                "The sphere in dimension one has only two points: r must be 2 or more."
            )
        vectors = Matrix(rational_sphere_points(n, r))
        return GramBlowup(n, r, vectors @ vectors.T)
    if points != "integers":
        raise LemmaxError(f"The points are 'integers' or 'sphere', not {points!r}.")
    if r == 1:
        return GramBlowup(n, r, Matrix([[i * j for j in range(1, n + 1)] for i in range(1, n + 1)]))
    m = n - r + 2
    block = [[2 * i * j - j * j if j <= m else 0 for j in range(1, n + 1)] for i in range(1, m + 1)]
    rest = [[int(i == j) for j in range(n)] for i in range(m, n)]
    return GramBlowup(n, r, Matrix(block + rest))


def rational_sphere_points(n: int, r: int) -> list[list[Fraction]]:
    """n distinct rational points of the unit sphere that span R^r: a circle, then unit vectors.

    >>> rational_sphere_points(3, 2)[1]
    [Fraction(0, 1), Fraction(1, 1)]
    """
    circle = n - r + 2
    points = []
    for t in range(circle):
        denominator = 1 + t * t
        x, y = Fraction(1 - t * t, denominator), Fraction(2 * t, denominator)
        points.append([x, y] + [Fraction(0)] * (r - 2))
    for axis in range(2, r):
        points.append([Fraction(int(j == axis)) for j in range(r)])
    return points
