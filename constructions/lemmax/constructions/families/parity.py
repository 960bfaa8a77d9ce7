r"""The identity behind the parity obstruction, with every weight a symbol.

For H heads and n bits, \(\sum_b(-1)^{|b|}f(b)\prod_hZ_h(b)\) is a polynomial in the weights: with
\(n=H+1\) bits it is zero. The last token is fixed, so a head's weight at (position s, bit b) is one
symbol w and what it adds to a difference of two logits one symbol u.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset


@dataclass(frozen=True)
class ParityIdentity(Typeset):
    """f(b) = c + Σ_h N_h(b)/Z_h(b) over n bits, cleared of denominators; all in Z[c, w, u].

    >>> parity_identity(1).difference
    0
    >>> parity_identity(1, bits=1).difference != 0
    True
    """

    H: int
    bits: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """c, and w and u per head, place and bit; the last place stands for all fixed positions."""
        places = [(s, bit) for s in range(self.bits) for bit in (0, 1)] + [(self.bits, 0)]
        return (
            "c",
            *(f"{x}{h}_{s}_{bit}" for x in "wu" for h in range(self.H) for s, bit in places),
        )

    @cached_property
    def sums(self) -> tuple[Any, Any]:
        """Σ f(b) Π_h Z_h(b) over the even and over the odd b: elements of a polynomial ring."""
        from sympy.polys.domains import ZZ
        from sympy.polys.rings import ring

        R, *symbols = ring(list(self.names), ZZ)
        value = dict(zip(self.names, symbols, strict=True))
        sums = [R(0), R(0)]
        for b in product((0, 1), repeat=self.bits):
            places = [*enumerate(b), (self.bits, 0)]
            w = [[value[f"w{h}_{s}_{k}"] for s, k in places] for h in range(self.H)]
            u = [[value[f"u{h}_{s}_{k}"] for s, k in places] for h in range(self.H)]
            Z = [sum(row, R(0)) for row in w]
            N = [
                sum((x * y for x, y in zip(a, b, strict=True)), R(0))
                for a, b in zip(w, u, strict=True)
            ]
            cleared = value["c"] * prod(Z, start=R(1))
            for h in range(self.H):
                cleared += N[h] * prod(Z[:h] + Z[h + 1 :], start=R(1))
            sums[sum(b) % 2] += cleared
        return sums[0], sums[1]

    @property
    def difference(self) -> Any:
        """The alternating sum."""
        return self.sums[0] - self.sums[1]

    def to_sympy(self) -> Any:
        """The alternating sum as an expression."""
        return self.difference.as_expr()

    @property
    def claim(self) -> str:
        """The claim that this is about."""
        return "lemmax/parity-obstruction"

    def formula(self) -> str:
        """The identity for any H, and what it is for this one."""
        told = r"= 0" if self.difference == 0 else r"\ne 0"
        return (
            rf"\sum_{{b \in \{{0,1\}}^{{{self.bits}}}}} (-1)^{{|b|}} f(b) "
            rf"\prod_{{h=1}}^{{{self.H}}} Z_h(b) {told}, \quad f = c + \sum_h N_h / Z_h, \quad "
            r"Z_h(b) = \sum_s w_{h,s,b_s}, \quad N_h(b) = \sum_s w_{h,s,b_s} u_{h,s,b_s}"
        )


def parity_identity(H: int, bits: int | None = None) -> ParityIdentity:
    """The alternating sum for H heads over H + 1 bits, or over another number of bits.

    Cost: 2^bits products of H sums; three heads take about a second.

    Examples
    --------
    >>> parity_identity(2).to_sympy()
    0
    """
    bits = H + 1 if bits is None else bits
    if H < 0 or bits < 1:
        raise LemmaxError("Parity needs no heads or more, and at least one bit.")
    return ParityIdentity(H, bits)
