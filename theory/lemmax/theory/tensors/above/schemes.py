"""Ways to multiply small matrices and quaternions with few products, as signs.

A scheme is a list of triples of linear forms α, β, γ, each given by its coefficients.
"""

from __future__ import annotations

from typing import TypeAlias

from flint import fmpq

Form: TypeAlias = tuple[fmpq, ...]
Scheme: TypeAlias = tuple[tuple[Form, Form, Form], ...]


def _signs(lines: str) -> Scheme:
    """A scheme with coefficients 1, -1 and 0, a line for each product.

    >>> _signs("+0 0- ++")
    (((1, 0), (0, -1), (1, 1)),)
    """
    value = {"+": fmpq(1), "-": fmpq(-1), "0": fmpq(0)}

    def form(word: str) -> Form:
        return tuple(value[sign] for sign in word)

    products = [line.split() for line in lines.strip().splitlines()]
    return tuple((form(a), form(b), form(c)) for a, b, c in products)


MATRICES: dict[int, Scheme] = {
    1: _signs("+ + +"),
    2: _signs(
        """
        +00+ +00+ +00+
        00++ +000 0+0-
        +000 0+0- 00++
        000+ -0+0 ++00
        ++00 000+ -0+0
        -0+0 ++00 000+
        0+0- 00++ +000
        """
    ),
    3: _signs(
        """
        +++--00-- 0000+0000 000+00000
        +00-00000 0-00+0000 0+00+0000
        0000+0000 -+0+---0+ 0+0000000
        -00++0000 +-00+0000 0+0++0000
        000++0000 -+0000000 000++0000
        +00000000 +00000000 +++++0+0+
        -00000++0 +0-00+000 00+000+0+
        -00000+00 00+00-000 00+00000+
        000000++0 -0+000000 000000+0+
        +++0----0 00000+000 000000+00
        0000000+0 -0++---+0 00+000000
        00-0000++ 0000+0+-0 00++0+000
        00+00000- 0000+00-0 00+00+000
        00+000000 000000+00 ++++0+++0
        0000000++ 000000-+0 000+0+000
        00-0++000 00000++0- 0+0000++0
        00+00-000 00000+00- 0+00000+0
        0000++000 000000-0+ 000000++0
        0+0000000 000+00000 +00000000
        00000+000 0000000+0 0000+0000
        000+00000 00+000000 0000000+0
        000000+00 0+0000000 00000+000
        00000000+ 00000000+ 00000000+
        """
    ),
}
"""tr(X Y Z) = Σ α(X) β(Y) γ(Z) for s × s matrices, entries row by row: Strassen, Laderman."""

_SQUARES_MINUS_ONE = _signs(
    """
    ++00 ++00 0+00
    00-+ 00+- +000
    +-00 00++ 00+0
    00++ +-00 000+
    0+0+ 0++0 --++
    0+0- 0+-0 ----
    +0+0 +00- +-+-
    +0-0 +00+ +--+
    """
)


def quaternions(a: fmpq, b: fmpq) -> Scheme:
    """The coordinates in 1, i, j, ij of a product, i² = a, j² = b, ij = -ji, as Σ α(X) β(Y) γ.

    Eight products for a = b = -1 (Howell and Lafon), and four products of numbers x + yi, three
    each, for others.

    >>> len(quaternions(fmpq(-1), fmpq(-1))), len(quaternions(fmpq(2), fmpq(3)))
    (8, 12)
    """
    if a == b == -1:
        halved = [tuple(x / 2 for x in c) for _, _, c in _SQUARES_MINUS_ONE[4:]]
        last = zip(_SQUARES_MINUS_ONE[4:], halved, strict=True)
        return (*_SQUARES_MINUS_ONE[:4], *((x, y, c) for (x, y, _), c in last))
    products = []
    # (x₀ + x₁j)(y₀ + y₁j) = x₀y₀ + b x₁ȳ₁ + (x₀y₁ + x₁ȳ₀)j for x₀, x₁, y₀, y₁ in the field of i
    for left, right, sign, goal, factor in (
        (0, 0, 1, 0, fmpq(1)),
        (2, 2, -1, 0, b),
        (0, 2, 1, 2, fmpq(1)),
        (2, 0, -1, 2, fmpq(1)),
    ):
        for (p, q), (real, imaginary) in (
            ((1, 0), (fmpq(1), fmpq(-1))),
            ((0, 1), (a, fmpq(-1))),
            ((1, 1), (fmpq(0), fmpq(1))),
        ):
            products.append(
                (
                    _at(left, fmpq(p), fmpq(q)),
                    _at(right, fmpq(p), fmpq(q * sign)),
                    _at(goal, factor * real, factor * imaginary),
                )
            )
    return tuple(products)


def _at(start: int, x: fmpq, y: fmpq) -> Form:
    """The form with two coefficients at the first or at the last two places."""
    zero = fmpq(0)
    return (x, y, zero, zero) if start == 0 else (zero, zero, x, y)
