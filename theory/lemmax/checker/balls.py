"""Real terms of rank one that Newton's method proves to exist near given ones."""

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from .arithmetic import bits_of, cleared_all, dot, height
from .decompositions import Rest
from .limits import LIMITS, keep, refuse, released, spend
from .reading import exactly, indices, number
from .steps import Step
from .tensors import Integral, exact_rank, mapped, sizes, vectors

_INVERSE_BITS = 96  # after the point, in the approximate inverse


def check_ball(ball: Mapping[str, Any], rest: Rest, length: int) -> Iterator[Step]:
    """What the terms leave, the rest, is a sum of real terms near those of the centre.

    Integer maps of the modes that keep the ranks of the flattenings keep the tensor rank: they can
    be undone on the tensor S they give. Let x be the free entries of the terms, N in number, while
    the others stay as they are in the centre. F(x) = Σ a⊗b⊗c - S has to vanish where x does not
    occur, and N entries of F are left. With x0 from the centre, a matrix Y, ρ the radius,
    η = |Y F(x0)| and κ = |1 - Y F'(x0)| in the maximum norm, G(x) = x - Y F(x) has a derivative of
    norm at most s = κ + |Y| L on the ball of radius ρ, where L = 2ρ(α + β + γ) + 3Rρ² bounds the
    change of F' (α is the largest sum of |a(i)| over the R terms, β and γ likewise). If s < 1 and
    η + sρ <= ρ then G is a contraction of the ball, so it has a fixed point, where F = 0: Y is
    regular since κ < 1. Y is an approximate inverse of F'(x0) made here.
    """
    parts, d = cleared_all(rest)
    S: Integral = parts
    for mode, part in enumerate(exactly(3, ball["maps"], "ball.maps")):
        before = exact_rank(S, mode)
        S = mapped(part, S, mode, f"ball.maps[{mode}]")
        if (after := exact_rank(S, mode)) != before:
            yield Step(False, f"the map of mode {mode} lowers a rank from {before} to {after}")
    a, b, c = sizes(S)
    centre = [vectors(term, S, f"ball.centre[{r}]") for r, term in enumerate(ball["centre"])]
    R = len(centre)
    stack = [
        [term[m][i] for term in centre] for m, size in enumerate((a, b, c)) for i in range(size)
    ]
    free = indices(ball["free"], "ball.free", len(stack) * R)
    N, radius = len(free), number(ball["radius"], "ball.radius")
    if not 0 < N <= LIMITS["equations"] or radius < 0:
        refuse("ball", f"must have 1..{LIMITS['equations']} free entries and a radius >= 0")
    (X,), h = cleared_all([stack])
    long = X.bits
    bits = 3 * max(long, h.bit_length()) + d.bit_length()
    spend("The centre", 30 * R * a * b * c, 2 * long + d.bit_length(), long)
    spend("The centre", 2 * a * b * c, 3 * h.bit_length(), d.bit_length() + bits)
    keep("The centre", 3 * N * N + N * R, bits)
    column = {place: n for n, place in enumerate(free)}
    value: list[int] = []  # times h^3 d
    jacobian: list[dict[int, int]] = []  # times h^2
    cubed = h**3
    for i, j, k in itertools.product(range(a), range(b), range(c)):
        total, occurs = -S[i][j][k] * cubed, False
        derivative: dict[int, int] = {}
        for r in range(R):
            x, y, z = X[i][r], X[a + j][r], X[a + b + k][r]
            at = [column.get(n * R + r) for n in (i, a + j, a + b + k)]
            total += x * y * z * d
            by = zip(at, (y * z, x * z, x * y), strict=True)
            derivative |= {n: w for n, w in by if n is not None}
            given = (w for n, w in zip(at, (x, y, z), strict=True) if n is None)
            occurs |= all(given) and at != [None] * 3
        if occurs:
            value.append(total)
            jacobian.append(derivative)
            if len(jacobian) > N:
                yield Step(False, f"there are more than {N} equations for {N} free entries")
        elif total:
            yield Step(
                False, f"no free entry contributes to ({i}, {j}, {k}), where the sum is wrong"
            )
    if len(jacobian) != N:
        yield Step(False, f"there are {len(jacobian)} equations for {N} free entries")
    one = h * h << _INVERSE_BITS
    spend("The centre", N * N, 2 * long + _INVERSE_BITS, 2 * h.bit_length())
    with released():
        Y = approximate_inverse(
            [[(row.get(n, 0) << _INVERSE_BITS) // (h * h) for n in range(N)] for row in jacobian]
        )
    if Y is None:
        yield Step(False, "the derivative is singular, or nearly")
        return
    kappa = 0
    spend("The contraction", N * sum(map(len, jacobian)) + N * N, 2 * long, 3 * _INVERSE_BITS)
    spend("The contraction", 2 * N * N, bits, 3 * _INVERSE_BITS)
    for i, line in enumerate(Y):
        product = [0] * N
        for w, row in zip(line, jacobian, strict=True):
            for n, x in row.items():
                product[n] += w * x
        product[i] -= one
        kappa = max(kappa, sum(map(abs, product)))
    longest = 2 * height((radius,)) + bits + 4 * _INVERSE_BITS
    spend("The contraction", 40, longest, longest)
    eta = Fraction(max(abs(dot(line, value)) for line in Y), one * h * d)
    norm = Fraction(max(sum(map(abs, line)) for line in Y), 1 << _INVERSE_BITS)
    sums = [sum(map(abs, row)) for row in X]
    size = Fraction(max(sums[:a]) + max(sums[a : a + b]) + max(sums[a + b :]), h)
    slope = Fraction(kappa, one) + norm * (2 * radius * size + 3 * R * radius**2)
    ok = slope < 1 and eta + slope * radius <= radius
    text = f"s < 2^{magnitude(slope)}, eta < 2^{magnitude(eta)}, radius < 2^{magnitude(radius)}"
    if not ok:
        yield Step(False, f"Newton's method does not contract the ball: {text}")
    yield Step(True, f"R <= {length}: {R} real terms exist, Newton contracts: {text}")


def approximate_inverse(rows: list[list[int]]) -> list[list[int]] | None:
    """The inverse of a matrix, both in units of 2^-_INVERSE_BITS; no claim on its precision.

    None where a pivot is zero, or where the numbers grow so long that it would be useless.
    """
    N, swaps = len(rows), []
    spend("The inverse", N * N, bits_of(rows), bits_of(rows))
    for c in range(N):
        spend("The inverse", 2 * N * N, 3 * _INVERSE_BITS, 3 * _INVERSE_BITS)
        place = max(range(c, N), key=lambda i: abs(rows[i][c]))
        swaps.append(place)
        rows[c], rows[place] = rows[place], rows[c]
        pivot, rows[c][c] = rows[c][c], 1 << _INVERSE_BITS
        if not pivot:
            return None
        top = rows[c] = [(x << _INVERSE_BITS) // pivot for x in rows[c]]
        if bits_of([top, [row[c] for row in rows]]) > 2 * _INVERSE_BITS:
            return None
        for i, row in enumerate(rows):
            if i != c and (f := row[c]):
                row[c] = 0
                rows[i] = [x - (f * y >> _INVERSE_BITS) for x, y in zip(row, top, strict=True)]
    for c in reversed(range(N)):
        for row in rows:
            row[c], row[swaps[c]] = row[swaps[c]], row[c]
    return rows


def magnitude(x: Fraction) -> int:
    """An exponent e with x < 2^e."""
    return x.numerator.bit_length() - x.denominator.bit_length() + 1
