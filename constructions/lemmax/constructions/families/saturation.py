r"""Mahdavi's saturated head with its scale free: \(M_h=v\,(c\,w+u)^\top\), and the limit in c.

With rational data every weight of an earlier head is a rational function of \(z=e^{1/p}\), and of
the last head one of z and \(t=e^{c/q}\). So Z(c), its rows times their denominators, is a matrix
over Z[t, z], and its rank is known for all but finitely many real c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import fmpz_mpoly, fmpz_mpoly_ctx

from lemmax.constructions.families.limits import softmax_limit, softmax_row
from lemmax.constructions.mahdavi.saturation import SaturationHeads
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset
from lemmax.theory.mahdavi.heads import ContextHead
from lemmax.theory.mahdavi.layer import MultiHead
from lemmax.theory.numbers.families.elimination import Rows, eliminate
from lemmax.theory.numbers.families.ranks import Exceptional, with_exceptions
from lemmax.theory.numbers.matrices import Matrix, rational

Powers = list[tuple[int, int]]


@dataclass(frozen=True)
class FeatureFamily(Typeset):
    """The features of the examples of one stage, with the scale c of its head free.

    ``free`` has the head v uᵀ last and ``frozen`` the head v wᵀ; the head at c is their
    combination. The first ``old`` examples are those of earlier heads.

    >>> from lemmax.constructions import saturation_heads
    >>> E = [[1, 0, 0], [0, 1, 0]]
    >>> built = saturation_heads(E, [[1, x, x * x] for x in (1, 2, 3)], H=2)
    >>> family = saturation_family(built, 2)
    >>> family.limit(0), family.limit_rank, family.rank
    (Matrix([[1, 0]]), 3, 3)
    >>> family.rest(0)
    exp(-4*c)
    """

    free: MultiHead
    frozen: MultiHead
    old: int
    c: Any

    @cached_property
    def _exponents(self) -> tuple[list[list[Powers]], int, int]:
        """(a, b) per head, example and token, for the weight t^a z^b; q and p."""
        fixed, p = self.free.exponents
        slopes, q = self.frozen.exponents
        heads: list[list[Powers]] = [[[(0, b) for b in row] for row in head] for head in fixed]
        heads[-1] = [
            list(zip(a, b, strict=True)) for a, b in zip(slopes[-1], fixed[-1], strict=True)
        ]
        return heads, q, p

    def attention(self, t: int) -> Any:
        """The weights that the head with the free scale gives to the tokens of example t."""
        from sympy import Matrix, Rational

        heads, q, p = self._exponents
        self._known(t)
        pairs = heads[-1][t]
        return Matrix([softmax_row([self.c * Rational(a, q) + Rational(b, p) for a, b in pairs])])

    def limit(self, t: int) -> Any:
        """The attention for c → ∞: one-hot on old examples, unchanged on new ones."""
        from sympy import Matrix, Rational

        heads, _, p = self._exponents
        self._known(t)
        slopes, constants = zip(*heads[-1][t], strict=True)
        return Matrix([softmax_limit(slopes, [Rational(b, p) for b in constants])])

    def rest(self, t: int) -> Any:
        """R(c), the weight of the other tokens over that of the limit's token: old examples only.

        The attention on that token is 1/(1 + R(c)), which is at least 1 - R(c).
        """
        from sympy import Add, Rational, exp

        heads, q, p = self._exponents
        self._known(t)
        pairs = heads[-1][t]
        top = max(a for a, _ in pairs)
        if [a for a, _ in pairs].count(top) > 1:
            raise LemmaxError(f"Example {t} is not saturated: its head does not see c, or ties.")
        b0 = next(b for a, b in pairs if a == top)
        others = [(a - top, b - b0) for a, b in pairs if a != top]
        return Add(*(exp(self.c * Rational(a, q) + Rational(b, p)) for a, b in others))

    def _known(self, t: int) -> None:
        if not 0 <= t < self.free.T:
            raise LemmaxError(f"There is no example {t}: the stage has {self.free.T}.")

    @cached_property
    def rows(self) -> Rows:
        """Z(c) over Z[t, z]: each row times a positive number and its denominators."""
        heads, _, _ = self._exponents
        ring = fmpz_mpoly_ctx.get(["t", "z"])
        tokens, _ = self.free.integer_contexts
        rows = []
        for t, context in enumerate(self.free.context_of):
            weights = [_monomials(head[t], ring) for head in heads]
            totals = [sum(row, ring.constant(0)) for row in weights]
            row = []
            for h, own in enumerate(weights):
                others = math.prod(totals[:h] + totals[h + 1 :], start=ring.constant(1))
                for column in zip(*tokens[context].tolist(), strict=True):
                    mean = sum((int(x) * w for x, w in zip(column, own, strict=True)), own[0] * 0)
                    row.append(mean * others)
            rows.append(row)
        return rows

    @cached_property
    def _ranks(self) -> tuple[int, tuple[Exceptional, ...]]:
        _, q, p = self._exponents
        return with_exceptions(self.rows, q, p)

    @property
    def rank(self) -> int:
        """rank Z(c) for all real c but the exceptions."""
        return self._ranks[0]

    @property
    def exceptions(self) -> tuple[Exceptional, ...]:
        """The real values of c at which the rank is smaller; ascending."""
        return self._ranks[1]

    @cached_property
    def limit_rank(self) -> int:
        """The rank of the limit of Z(c) for c → ∞, exactly."""
        return eliminate([_leading(row) for row in self.rows]).rank

    def at(self, c: Any) -> MultiHead:
        """The exact layer at a rational scale."""
        scale = rational(c)
        free, frozen = self.free.heads[-1], self.frozen.heads[-1]
        head = ContextHead(free.W_K, scale * frozen.W_Q + free.W_Q)
        heads = (*self.free.heads[:-1], head)
        return MultiHead(self.free.contexts, self.free.context_of, self.free.queries, heads)

    def to_sympy(self) -> Any:
        """The attention of the head with the free scale: one row per example."""
        from sympy import Matrix

        return Matrix([list(self.attention(t)) for t in range(self.free.T)])

    @property
    def claim(self) -> str:
        """The claim that this is about."""
        return "lemmax/saturation-no-ties"

    def formula(self) -> str:
        """The attention, its limit, and the rank."""
        from sympy import Matrix, latex

        limits = Matrix([list(self.limit(t)) for t in range(self.free.T)])
        told = f"{len(self.exceptions)}" if self.exceptions else r"\text{no}"
        return (
            rf"\begin{{gathered}} \theta(c) = {latex(self.to_sympy())} \to {latex(limits)} \\ "
            rf"\operatorname{{rank}} Z(c) = {self.rank} \text{{ for all real }} c \text{{ but }} "
            rf"{told} \end{{gathered}}"
        )


def _monomials(powers: Powers, ring: Any) -> list[fmpz_mpoly]:
    least = [min(pair[k] for pair in powers) for k in (0, 1)]
    return [ring.from_dict({(a - least[0], b - least[1]): 1}) for a, b in powers]


def _leading(row: Sequence[fmpz_mpoly]) -> list[fmpz_mpoly]:
    """The coefficients of the highest power of t in a row: its limit up to a factor."""
    top = max((x.degrees()[0] for x in row if not x.is_zero()), default=0)
    ring = row[0].context()
    return [
        ring.from_dict({(0, k): a for (i, k), a in x.to_dict().items() if i == top}) for x in row
    ]


def saturation_family(built: SaturationHeads, stage: int) -> FeatureFamily:
    """The stage of a saturation construction (counted from 1) with the scale of its head free.

    Cost: that of the exponents; ranks and exceptions when they are asked for, by elimination over
    Z[t, z].

    Examples
    --------
    >>> from lemmax.constructions import saturation_heads
    >>> E = [[1, 0, 0], [0, 1, 0]]
    >>> built = saturation_heads(E, [[1, x, x * x] for x in (1, 2, 3)], H=2)
    >>> saturation_family(built, 2).at(built.stages[1].c).heads == built.layer.heads
    True
    """
    if not 1 <= stage <= len(built.stages):
        raise LemmaxError(f"There are stages 1 to {len(built.stages)}, not {stage}.")
    from sympy import Symbol

    this = built.stages[stage - 1]
    chosen = (*this.old, *this.new)
    layer = built.layer
    queries = layer.queries[chosen, range(layer.queries.shape[1])]
    context_of = tuple(layer.context_of[t] for t in chosen)
    before = layer.heads[: stage - 1]
    width = layer.heads[stage - 1].d_h

    def with_last(direction: tuple[int, ...]) -> MultiHead:
        padding = [0] * (width - 1)
        W_K = Matrix([[x, *padding] for x in built.v])
        head = ContextHead(W_K, Matrix([[x, *padding] for x in direction]))
        return MultiHead(layer.contexts, context_of, queries, (*before, head))

    c = Symbol("c", real=True)
    return FeatureFamily(with_last(this.u), with_last(this.w), len(this.old), c)
