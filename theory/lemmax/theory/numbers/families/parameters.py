r"""The values of a parameter at which a polynomial over Z, or over Z[e^{1/q}], is zero.

A parameter c is the variable itself, or its exponential is: :math:`t = e^{c/q}`, and then only the
positive roots count and c is q times their logarithm. The coefficients may contain
:math:`z = e^{1/p}`, which is transcendental: an irreducible polynomial in t and z stays irreducible
over Q(z) when z gets its value, so its roots are simple and balls isolate them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flint import acb, acb_poly, arb, ctx, fmpz_mpoly, fmpz_poly

from lemmax.theory.errors import Undecided
from lemmax.theory.numbers.balls import precisions, rational_above, rational_below
from lemmax.theory.sympified import symbolic_number

_DIGITS = 64  # bits of the balls that are shown
_MOST = 1 << 14


@dataclass(frozen=True)
class Value:
    """A real number c, as a root of ``polynomial``, which is irreducible in (t, z).

    ``logarithm`` is q where c is q · ln t, and 0 where c is t itself; z is e^{1/``denominator``}.
    ``place`` counts the real roots below this one.
    """

    polynomial: fmpz_mpoly
    logarithm: int
    denominator: int
    place: int
    root: arb

    @property
    def mixed(self) -> bool:
        """Whether powers of e are among the coefficients."""
        return bool(self.polynomial.degrees()[1] > 0)

    @property
    def explicit(self) -> bool:
        """Whether sympy has an expression for it: algebraic numbers, and degree one over Q(z)."""
        return not self.mixed or self.polynomial.degrees()[0] == 1

    @property
    def ball(self) -> arb:
        """c in a ball."""
        with ctx.workprec(_DIGITS):
            return self.logarithm * self.root.log() if self.logarithm else self.root

    def to_sympy(self) -> Any:
        """c itself: a root, the logarithm of one, or the set that a ball and an equation isolate.

        The set where constants mix and t has a degree above 1: sympy has no numbers for it.
        """
        from sympy import ConditionSet, Eq, Interval, Poly, Symbol, expand_log, log, rootof

        t = Symbol("t")
        if not self.explicit:
            c = Symbol("c", real=True)
            ends = (rational_below(self.ball), rational_above(self.ball))
            equation = Eq(self._at(self._power(c)), 0, evaluate=False)
            return ConditionSet(c, equation, Interval(*map(symbolic_number, ends)))
        if self.mixed:
            slope, constant = Poly(self._at(t), t).all_coeffs()
            root = -constant / slope
        else:
            root = rootof(Poly(self._at(t), t), self.place)
        return expand_log(self.logarithm * log(root)) if self.logarithm else root

    def _power(self, c: Any) -> Any:
        from sympy import exp

        return exp(c / self.logarithm) if self.logarithm else c

    def _at(self, t: Any) -> Any:
        """The polynomial with t as given and z = e^{1/denominator}."""
        from sympy import Add, Integer, Rational, exp

        terms = self.polynomial.to_dict().items()
        z = exp(Rational(1, self.denominator))
        return Add(*(Integer(int(a)) * t**i * z**k for (i, k), a in terms))


def zeros(polynomial: fmpz_mpoly, logarithm: int, denominator: int) -> Iterator[Value]:
    """All real values of the parameter at which an irreducible polynomial in (t, z) vanishes.

    >>> from flint import fmpz_mpoly_ctx
    >>> t, z = fmpz_mpoly_ctx.get(["t", "z"]).gens()
    >>> [value.to_sympy() for value in zeros(t**2 - 2, 0, 1)]
    [-sqrt(2), sqrt(2)]
    >>> [value.to_sympy() for value in zeros(t**2 - 2, 3, 1)]
    [3*log(2)/2]
    >>> [value.to_sympy() for value in zeros(2 * t - z, 1, 2)]
    [1/2 - log(2)]
    """
    if polynomial.degrees()[0] == 0 or (polynomial.degrees() == (1, 0) and len(polynomial) == 1):
        if polynomial.degrees()[0] and not logarithm:  # the polynomial t itself
            yield Value(polynomial, 0, denominator, 0, arb(0))
        return
    for place, root in enumerate(_real_roots(polynomial, denominator)):
        if root > 0 or not logarithm:
            yield Value(polynomial, logarithm, denominator, place, root)


def _real_roots(polynomial: fmpz_mpoly, denominator: int) -> list[arb]:
    """The real roots in disjoint balls that do not contain 0, in ascending order."""
    for precision in precisions(128, _MOST):
        with ctx.workprec(precision):
            roots = _isolated(polynomial, denominator)
        if roots is not None and all(root.abs_lower() > 0 for root in roots):
            return sorted(roots, key=lambda root: float(root.mid()))
    raise Undecided("Two roots cannot be told apart.")


def _isolated(polynomial: fmpz_mpoly, denominator: int) -> list[arb] | None:
    degree, mixed = polynomial.degrees()
    if not mixed:
        coefficients = [0] * (degree + 1)
        for (i, _), a in polynomial.to_dict().items():
            coefficients[i] = int(a)
        # flint: of an irreducible polynomial the real roots have the imaginary part 0 exactly
        every: list[tuple[acb, int]] = fmpz_poly(coefficients).complex_roots()  # type: ignore[assignment]
        return [root.real for root, _ in every if root.imag.is_zero()]
    z = (arb(1) / denominator).exp()
    balls = [arb(0)] * (degree + 1)
    for (i, k), a in polynomial.to_dict().items():
        balls[i] += int(a) * z**k
    try:
        complex_roots = acb_poly([acb(x) for x in balls]).roots(arb(2) ** -_DIGITS)
    except ValueError:
        return None
    real = []
    for root in complex_roots:
        if root.imag.contains(0):
            # the conjugate of this root lies in a ball that meets the mirror image: only its own?
            mirror = acb(root.real, -root.imag)
            if sum(bool(mirror.overlaps(other)) for other in complex_roots) != 1:
                return None
            real.append(root.real)
    return real
