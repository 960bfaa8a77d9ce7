"""The edges of polynomials and of points in a plane."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from lemmax.checker.planes import hull, plane
from lemmax.checker.polynomials import has_root_mod, multiply, reduce_modulo, roots_of


def polynomial(*coefficients: int | Fraction) -> list[Fraction]:
    """The constant one first."""
    return [Fraction(x) for x in coefficients]


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_a_polynomial_of_lower_degree_is_its_own_residue(degree: int) -> None:
    modulus = polynomial(*range(2, degree + 2), 1)
    for length in range(1, degree + 1):
        f = polynomial(*range(3, length + 3))
        assert reduce_modulo(f, modulus) == f + [Fraction(0)] * (degree - length)


def test_roots_may_lie_far_beyond_the_numbers_of_the_machine() -> None:
    """0, 1 and 10^400; and 0, 10^40 and 10^40 + 1, which no float tells apart."""
    for roots in ((0, 1, 10**400), (0, 10**40, 10**40 + 1), (10**40, 10**40, 10**40 + 1)):
        f = polynomial(1)
        for root in roots:
            f = multiply(f, polynomial(-root, 1))
        assert roots_of(f) == (len(set(roots)), len(set(roots)))


@pytest.mark.parametrize("q", [5, 7, 11])
def test_roots_mod_a_prime_are_those_of_the_polynomial_without_denominators(q: int) -> None:
    """x^2 + (a/2) x + b/3 has the roots of 6 x^2 + 3 a x + 2 b."""
    for a, b in itertools.product(range(-5, 6), repeat=2):
        wanted = any((6 * x * x + 3 * a * x + 2 * b) % q == 0 for x in range(q))
        assert has_root_mod(polynomial(Fraction(b, 3), Fraction(a, 2), 1), q) is wanted


@pytest.mark.parametrize("points", [[(5,)], [(5,), (5,)], [(5,), (3,)]])
def test_points_of_a_line_are_seen_in_its_only_coordinate(points: list[tuple[int, ...]]) -> None:
    assert plane(points, "The points") == (0, 0)


def test_a_single_point_is_a_vertex_without_neighbours() -> None:
    assert plane([(5, 7)], "The points") == (0, 0)
    assert hull([(5, 5)], "The points") == {0: []}
