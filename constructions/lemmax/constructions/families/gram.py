r"""The integer matrices of Wong's Proposition 3.6 with n, r, i and j free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lemmax.constructions.wong.blowups import GramBlowup, gram_blowup
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset


@dataclass(frozen=True)
class GramFamily(Typeset):
    r"""\((2ij-j^2)_{1\le i,j\le n-r+2}\oplus I_{r-2}\); the symbols are integers of sympy.

    >>> family = gram_family()
    >>> family.entry, family.margin
    (2*i*j - j**2, (i - j)**2)
    >>> family.minor(2)
    2*j1*j2*(i1 - i2)*(j1 - j2)
    >>> family.minor(3)
    0
    >>> family.at(6, 2).r
    2
    """

    n: Any
    r: Any
    i: Any
    j: Any

    @property
    def entry(self) -> Any:
        """The entry in row i and column j of the first block, both counted from 1."""
        return 2 * self.i * self.j - self.j**2

    @property
    def margin(self) -> Any:
        """By how much the entry on the diagonal exceeds the entry in column j."""
        from sympy import factor

        return factor(self.entry.subs(self.j, self.i) - self.entry)

    def minor(self, order: int) -> Any:
        """The minor on rows i1, i2, … and columns j1, j2, … of the block, factored."""
        from sympy import Matrix, factor, symbols

        if order < 1:
            raise LemmaxError(f"The order of a minor is at least 1, not {order}.")
        rows = symbols(f"i1:{order + 1}", integer=True)
        columns = symbols(f"j1:{order + 1}", integer=True)
        block = Matrix(
            order, order, lambda a, b: self.entry.subs({self.i: rows[a], self.j: columns[b]})
        )
        return factor(block.det(method="berkowitz"))

    def to_sympy(self) -> Any:
        """The n × n matrix itself: substitute numbers for n and r, then ``as_explicit()``."""
        from sympy import BlockDiagMatrix, FunctionMatrix, Identity, Lambda

        size = self.n - self.r + 2
        shifted = self.entry.subs({self.i: self.i + 1, self.j: self.j + 1}, simultaneous=True)
        block = FunctionMatrix(size, size, Lambda((self.i, self.j), shifted))
        return BlockDiagMatrix(block, Identity(self.r - 2))

    def at(self, n: int, r: int) -> GramBlowup:
        """The exact construction, for 2 ≤ r ≤ n."""
        if r < 2:
            raise LemmaxError(f"The family is for r ≥ 2, not {r}.")
        return gram_blowup(n, r)

    @property
    def claim(self) -> str:
        """The claim that this is about."""
        return "lemmax/gram-integers"

    def formula(self) -> str:
        """The matrix, and the margin of each row."""
        from sympy import latex

        n, r, i, j, entry, margin = map(
            latex, (self.n, self.r, self.i, self.j, self.entry, self.margin)
        )
        return (
            rf"M = \left({entry}\right)_{{1 \le {i}, {j} \le {n} - {r} + 2}} \oplus I_{{{r} - 2}}, "
            rf"\qquad M_{{{i}{i}}} - M_{{{i}{j}}} = {margin}"
        )


def gram_family() -> GramFamily:
    """The family of :func:`~lemmax.constructions.wong.blowups.gram_blowup` with free sizes.

    Cost: nothing until a minor is asked for, which costs a determinant of polynomials.

    Examples
    --------
    >>> family = gram_family()
    >>> explicit = family.to_sympy().subs({family.n: 4, family.r: 3}).as_explicit()
    >>> explicit == family.at(4, 3).to_sympy()
    True
    """
    from sympy import symbols

    return GramFamily(*symbols("n r", integer=True, positive=True), *symbols("i j", integer=True))
