r"""The integer parabola of Dana's Proposition 3 with λ, g, j and N free.

The logits are \(\lambda(2gj-j^2)\): the target g exceeds j by \(\lambda(g-j)^2\), and the
divergence is at most \(\log(1+(N-1)e^{-\lambda})\), which tends to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lemmax.constructions.dana.encoders import EncoderConstruction, sequence_encoder
from lemmax.theory.dana.encoders import Table
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.matrices import MatrixLike


@dataclass(frozen=True)
class ParabolaFamily(Typeset):
    """W_j = (j, j²) and E(t) = λ(2g, -1), with the target g and the scale λ free.

    >>> family = parabola_family()
    >>> family.logit, family.margin
    (lambda*(2*g*j - j**2), lambda*(g - j)**2)
    >>> family.limit
    0
    """

    scale: Any
    g: Any
    j: Any
    N: Any

    @property
    def logit(self) -> Any:
        """The logit of token j where the target is g."""
        return self.scale * (2 * self.g * self.j - self.j**2)

    @property
    def margin(self) -> Any:
        """The logit of g minus that of j."""
        from sympy import factor

        return factor(self.logit.subs(self.j, self.g) - self.logit)

    @property
    def bound(self) -> Any:
        """What the divergence is at most, for N tokens."""
        from sympy import exp, log

        return log(1 + (self.N - 1) * exp(-self.scale))

    @property
    def limit(self) -> Any:
        """The bound for λ → ∞."""
        from sympy import limit, oo

        return limit(self.bound, self.scale, oo)

    def divergence(self, tokens: int, target: int) -> Any:
        """The divergence of one sequence for a number of tokens (numbered from 0), λ free."""
        from sympy import exp, log

        return log(
            sum(exp(-self.margin.subs({self.g: target, self.j: other})) for other in range(tokens))
        )

    def to_sympy(self) -> Any:
        """The logit of token j."""
        return self.logit

    def at(self, table: Table | MatrixLike, scale: Any) -> EncoderConstruction:
        """The exact encoder of a table at a positive rational scale."""
        return sequence_encoder(table, "parabola", scale=scale)

    @property
    def claim(self) -> str:
        """The claim that this is about."""
        return "dana/proposition-3"

    def formula(self) -> str:
        """The logits, their margin, and the bound with its limit."""
        from sympy import latex

        return (
            rf"f_j = {latex(self.logit)}, \quad f_g - f_j = {latex(self.margin)}, \quad "
            rf"d_{{KL}} \le {latex(self.bound)} \to {latex(self.limit)}"
        )


def parabola_family() -> ParabolaFamily:
    """The encoder of Proposition 3 with every number free.

    Cost: nothing until a limit is asked for.

    Examples
    --------
    >>> family = parabola_family()
    >>> family.divergence(2, 0)
    log(1 + exp(-lambda))
    """
    from sympy import Symbol, symbols

    scale, N = Symbol("lambda", positive=True), Symbol("N", integer=True, positive=True)
    g, j = symbols("g j", integer=True)
    return ParabolaFamily(scale, g, j, N)
