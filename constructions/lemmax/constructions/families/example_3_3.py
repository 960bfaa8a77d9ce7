"""Wong's Example 3.3 with the scale of its unembedding free, and its limit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lemmax.constructions.families.limits import softmax_limit, softmax_row
from lemmax.constructions.wong.examples import Example33, example_3_3
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.matrices import decimal, rational
from lemmax.theory.sympified import symbolic_array, symbolic_number
from lemmax.theory.wong.layer import AttentionLayer


@dataclass(frozen=True)
class ScaledExample33(Typeset):
    """Example 3.3 with W_U times a positive number c.

    The circuits are those of the example, W_VO times c; attention does not see c.

    >>> family = example_3_3_family()
    >>> family.logits("β")
    Matrix([
    [  0,   c],
    [  0, 3*c],
    [2*c,   c]])
    >>> family.limit("β")
    Matrix([
    [0, 1],
    [0, 1],
    [1, 0]])
    """

    example: Example33
    c: Any

    @cached_property
    def W_QK(self) -> Any:
        """The query-key circuit."""
        return self.example.W_QK.to_sympy()

    @cached_property
    def W_VO(self) -> Any:
        """The value-output circuit, times c."""
        return self.c * self.example.W_VO.to_sympy()

    def logits(self, query: str) -> Any:
        """The slice of A¹V¹ at a query: one row per key, columns m and s."""
        from sympy import Matrix

        queries = self.example.database.queries
        if query not in queries:
            raise LemmaxError(f"{query!r} is none of the queries {', '.join(map(str, queries))}.")
        q = queries.index(query)
        return Matrix([[self.c * symbolic_number(x) for x in line[q]] for line in self.example.AV])

    def probabilities(self, query: str) -> Any:
        """softmax of the rows of that slice, over the two values."""
        from sympy import Matrix

        return Matrix([softmax_row(row) for row in self.logits(query).tolist()])

    def limit(self, query: str) -> Any:
        """The probabilities for c → ∞: the slice of the database."""
        from sympy import Matrix

        rows = (self.logits(query) / self.c).tolist()
        return Matrix([softmax_limit(row, [0] * len(row)) for row in rows])

    @cached_property
    def least_gap(self) -> Any:
        """The least distance of the right logit from the other one: all facts together."""
        from sympy import Min

        slices = (self.logits(str(q)) / self.c for q in self.example.database.queries)
        return Min(*(abs(row[0] - row[1]) for rows in slices for row in rows.tolist()))

    def scale_for(self, tau: Any) -> Any:
        """The least c at which every fact has a probability of at least τ among the values.

        >>> example_3_3_family().scale_for("99/100")
        log(99)
        """
        from sympy import log

        wanted = symbolic_number(decimal(tau))
        if not 0 < wanted < 1:
            raise LemmaxError(f"The threshold must lie strictly between 0 and 1, not {wanted}.")
        return log(wanted / (1 - wanted)) / self.least_gap

    def to_sympy(self) -> Any:
        """The tensor c·A¹V¹, indexed by keys, queries and values."""
        return self.c * symbolic_array(self.example.AV)

    def at(self, c: Any) -> AttentionLayer:
        """The exact layer at a positive rational scale."""
        scale = rational(c)
        if scale <= 0:
            raise LemmaxError(f"The scale must be positive, not {scale}.")
        return self.example.layer.scaled(scale)

    @property
    def claim(self) -> str:
        """The claim that this is about."""
        return "lemmax/example-3.3-scaled"

    def formula(self) -> str:
        """Both circuits, and the slices with their limits."""
        from sympy import latex

        lines = [rf"W_{{QK}}^1 = {latex(self.W_QK)}, \quad W_{{VO}}^1 = {latex(self.W_VO)} \\"]
        for q, name in (("β", r"\beta"), ("λ", r"\lambda")):
            soft = rf"\operatorname{{softmax}} {latex(self.logits(q))}"
            lines.append(rf"{soft} \to {latex(self.limit(q))} \quad ({name}) \\")
        return "\\begin{gathered}\n" + "\n".join(lines) + "\n\\end{gathered}"


def example_3_3_family() -> ScaledExample33:
    """Example 3.3 with a free positive scale c.

    Cost: nothing until a slice or its limit is asked for.

    Examples
    --------
    >>> family = example_3_3_family()
    >>> family.probabilities("β")[0, 1]
    1/(1 + exp(-c))
    >>> family.at(2).last_logits(("b", "β")).rationals()[-1]  # the value s
    6
    """
    from sympy import Symbol

    return ScaledExample33(example_3_3(), Symbol("c", positive=True))
