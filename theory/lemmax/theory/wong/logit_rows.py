"""The logits of one position as rational functions of one number z, and what is decided of them.

Attention scores are rational multiples of a unit, so all attention weights of a sequence are
rational functions of z = e^{1/q}, which is transcendental, or of z = 2^{1/q}, whose powers below q
are independent over Q. A tie is an identity of polynomials; every other comparison is decided by
balls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flint import arb, ctx, fmpq, fmpq_poly

from lemmax.theory.errors import NotExact, Undecided
from lemmax.theory.numbers.balls import precisions, sign
from lemmax.theory.numbers.row_maps import Unit
from lemmax.theory.sympified import symbolic_polynomial


@dataclass(frozen=True)
class LogitRow:
    """Logits of one position as rational functions: ``numerators[t](z) / denominator(z)``.

    z is e^{1/q} for the unit 1 and 2^{1/q} for the unit ln 2; the denominator is positive there.
    """

    numerators: tuple[fmpq_poly, ...]
    denominator: fmpq_poly
    q: int
    unit: Unit

    def balls(self, precision: int = 128) -> list[arb]:
        """The logits as balls."""
        with ctx.workprec(precision + 32):
            z = arb(2) ** (arb(1) / self.q) if self.unit == "ln2" else (arb(1) / self.q).exp()
            denominator = _evaluate(self.denominator, z)
            return [_evaluate(p, z) / denominator for p in self.numerators]

    def rationals(self) -> list[fmpq]:
        """The logits as rationals: always possible in units of ln 2 with integer scores."""
        if self.denominator.degree() <= 0:
            point = fmpq(0)
        elif self.unit == "ln2" and self.q == 1:
            point = fmpq(2)
        else:
            raise NotExact("These logits are irrational: attention scores are not in ln 2 · Z.")
        if any(p.degree() > 0 for p in self.numerators) and point == 0:
            raise NotExact("These logits are irrational: attention scores are not in ln 2 · Z.")
        denominator = self.denominator(point)
        return [p(point) / denominator for p in self.numerators]

    def to_sympy(self) -> Any:
        """The logits as a row of exact numbers: rational functions of e^{1/q} or 2^{1/q}.

        >>> LogitRow((fmpq_poly([1]),), fmpq_poly([1, 1]), 2, "1").to_sympy()
        Matrix([[1/(1 + exp(1/2))]])
        """
        from sympy import Integer, Matrix, Rational, exp

        power = Rational(1, self.q)
        z = Integer(2) ** power if self.unit == "ln2" else exp(power)
        below = symbolic_polynomial(self.denominator, z)
        return Matrix([[symbolic_polynomial(p, z) / below for p in self.numerators]])

    def sign(self, t: int, u: int) -> int:
        """The exact sign of logit t minus logit u; 0 is a true tie."""
        difference = self.numerators[t] - self.numerators[u]
        if not difference:
            return 0
        if self.unit == "ln2":
            return self._sign_at_power_of_two(difference)
        # e^{1/q} is transcendental: a nonzero polynomial does not vanish there.
        return _sign_by_balls(difference, self.q, self.unit)

    def _sign_at_power_of_two(self, difference: fmpq_poly) -> int:
        # z^q = 2 and 1, z, …, z^{q-1} are independent over Q: reduce modulo z^q - 2.
        modulus = fmpq_poly([-2] + [0] * (self.q - 1) + [1])
        remainder = difference % modulus
        return 0 if not remainder else _sign_by_balls(remainder, self.q, self.unit)

    def argmax(self) -> tuple[int, ...]:
        """The tokens of largest logit, all of them where there is a tie."""
        balls = self.balls(64)
        # Balls first: only tokens that may be maximal are compared exactly.
        best = max(range(len(balls)), key=lambda t: float(balls[t].mid()))
        candidates = [t for t, ball in enumerate(balls) if not ball < balls[best]]
        top = [candidates[0]]
        for t in candidates[1:]:
            sign = self.sign(t, top[0])
            if sign > 0:
                top = [t]
            elif sign == 0:
                top.append(t)
        return tuple(top)

    def probability(self, t: int, precision: int = 128) -> arb:
        """The softmax probability of token t over the whole vocabulary, as a ball."""
        with ctx.workprec(precision + 32):
            balls = self.balls(precision)
            return 1 / sum(((ball - balls[t]).exp() for ball in balls), arb(0))

    def reaches(self, t: int, tau: fmpq) -> bool:
        """Whether the probability of token t is at least τ.

        Raises
        ------
        Undecided
            Where the logits are transcendental and the probability cannot be told from τ.
        """
        constant = all(self.sign(t, u) == 0 for u in range(len(self.numerators)))
        if constant:
            return bool(fmpq(1, len(self.numerators)) >= tau)
        for precision in precisions(factor=4):
            probability = self.probability(t, precision)
            with ctx.workprec(precision):
                if probability > tau:
                    return True
                if probability < tau:
                    return False
        raise Undecided(f"The probability of token {t} cannot be told from {tau}.")


def _evaluate(polynomial: fmpq_poly, z: arb) -> arb:
    value = arb(0)
    for coefficient in reversed(polynomial.coeffs()):
        value = value * z + coefficient
    return value


def _sign_by_balls(polynomial: fmpq_poly, q: int, unit: Unit) -> int:
    def value() -> arb:
        z = arb(2) ** (arb(1) / q) if unit == "ln2" else (arb(1) / q).exp()
        return _evaluate(polynomial, z)

    return sign(value, "A nonzero polynomial in e")
