"""Matrices of small rank whose argmax or softmax has full rank (Propositions 3.6 and 3.7)."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest
import sympy
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions import gram_blowup
from lemmax.constructions.refuting import witness
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory import Matrix, argmax, certified_rank, softmax_rank

Certify = Callable[..., checker.Verdict]


def test_gram_block_identities() -> None:
    """The two identities of the integer blow-up, with free symbols."""
    i, j = sympy.symbols("i j")
    entry = 2 * i * j - j**2
    assert sympy.expand(entry.subs(j, i) - entry - (i - j) ** 2) == 0
    corner = sympy.Matrix(2, 2, lambda a, b: entry.subs({i: a + 1, j: b + 1}))
    assert corner.det() == 4


@pytest.mark.claim(
    "lemmax/gram-integers",
    grade="universal",
    scope="all 2 ≤ r ≤ n ≤ 12, entry by entry",
    statement="cb3341f9711cd281",
)
def test_gram_integers_up_to_twelve(exhaust: Callable[..., int]) -> None:
    def blows_up(M: Matrix, n: int, r: int) -> bool:
        small = all(max(map(abs, row)) <= n * n for row in M.rows())
        apart = all(sorted(row)[-1] - sorted(row)[-2] >= 1 for row in M.rows())
        return certified_rank(M).rank == r and argmax(M) == Matrix.identity(n) and small and apart

    sizes = [(n, r) for n in range(2, 13) for r in range(2, n + 1)]
    made = ((gram_blowup(n, r).matrix, n, r) for n, r in sizes)
    assert exhaust(made, blows_up, control=(gram_blowup(3, 2).matrix, 3, 3)) == len(sizes)


@pytest.mark.claim("lemmax/gram-integers", grade="certified")
def test_proposition_3_6_certified_instance(certify: Certify) -> None:
    blowup = gram_blowup(12, 2)
    certify(blowup.certificate(), ship_as="wong/proposition-3.6")
    certify(witness("lemmax/gram-integers", n=12, r=2), ship_as="lemmax/gram-integers")
    assert certified_rank(argmax(blowup.matrix)).rank == 12


@pytest.mark.claim(
    "wong/proposition-3.6",
    grade="universal",
    scope="rational points of the sphere that span, all 2 ≤ r ≤ n ≤ 8",
    statement="bc8e838935c56900",
)
def test_proposition_3_6_with_points_that_span(exhaust: Callable[..., int]) -> None:
    def blows_up(M: Matrix, n: int, r: int) -> bool:
        on_the_sphere = all(M[i, i] == 1 for i in range(n))
        return certified_rank(M).rank == r and argmax(M) == Matrix.identity(n) and on_the_sphere

    sizes = [(n, r) for n in range(2, 9) for r in range(2, n + 1)]
    made = ((gram_blowup(n, r, points="sphere").matrix, n, r) for n, r in sizes)
    # the control: whole numbers, which blow up and lie on no sphere
    assert exhaust(made, blows_up, control=(gram_blowup(3, 2).matrix, 3, 2)) == len(sizes)


points = st.integers(1, 3).flatmap(
    lambda r: st.lists(st.tuples(*[st.integers(-4, 4)] * r), min_size=1, max_size=5, unique=True)
)


def gram(rows: list[tuple[int, ...]]) -> Matrix:
    return Matrix([[sum(a * b for a, b in zip(x, y, strict=True)) for y in rows] for x in rows])


@given(points, st.integers(0, 3), st.data())
def test_gram_power_is_a_sum_of_squares(
    rows: list[tuple[int, ...]], power: int, data: st.DataObject
) -> None:
    a = data.draw(st.lists(st.integers(-5, 5), min_size=len(rows), max_size=len(rows)))
    M = gram(rows).rows()
    left = sum(a[i] * a[j] * M[i][j] ** power for i in range(len(rows)) for j in range(len(rows)))
    right = 0
    for index in product(range(len(rows[0])), repeat=power):
        coordinate = 0
        for weight, x in zip(a, rows, strict=True):
            term = weight
            for place in index:
                term *= x[place]
            coordinate += term
        right += coordinate**2
    assert left == right


@given(points)
def test_interpolating_polynomial(rows: list[tuple[int, ...]]) -> None:
    def value(i: int, x: tuple[int, ...]) -> Fraction:
        result = Fraction(1)
        for j, y in enumerate(rows):
            if j != i:
                direction = [a - b for a, b in zip(rows[i], y, strict=True)]
                numerator = sum(d * (a - b) for d, a, b in zip(direction, x, y, strict=True))
                result *= Fraction(numerator, sum(d * d for d in direction))
        return result

    for i in range(len(rows)):
        assert [value(i, x) for x in rows] == [int(i == j) for j in range(len(rows))]


def full_softmax_rank(rows: list[tuple[int, ...]], scale: Fraction) -> bool:
    return softmax_rank(scale * gram(rows)).rank == len(rows)


@pytest.mark.claim(
    "lemmax/gram-softmax-full-rank",
    grade="property",
    scope="up to 5 distinct integer points in dimension up to 3, scales 1/3 to 2",
    statement="64e7caac6bb780b3",
)
@given(points, st.sampled_from((Fraction(1, 3), Fraction(1), Fraction(2))))
def test_softmax_of_a_gram_matrix_has_full_rank(
    sample: Sample, rows: list[tuple[int, ...]], scale: Fraction
) -> None:
    sample(full_softmax_rank, rows, scale, control=([(1, 0), (1, 0)], Fraction(1)))


def test_proposition_3_7_spanning_vectors() -> None:
    for n in range(2, 9):
        for r in range(2, n + 1):
            rows = [tuple(int(i == j) for j in range(r)) for i in range(r)]
            rows += [(c,) + (0,) * (r - 1) for c in range(2, n - r + 2)]
            assert len(set(rows)) == n
            assert certified_rank(gram(rows)).rank == r


@pytest.mark.claim("lemmax/gram-softmax-full-rank", grade="certified")
def test_proposition_3_7_certified_instances(certify: Certify) -> None:
    blowup = gram_blowup(8, 2)
    certify(blowup.certificate())
    certify(blowup.softmax_rank().certificate(), ship_as="wong/proposition-3.7")
    line = gram_blowup(8, 1)  # rank one is enough for softmax
    certify(line.certificate())
    certify(line.softmax_rank("1/7").certificate(), ship_as="lemmax/gram-softmax-line")
    points = Matrix([[i] for i in range(1, 9)])
    rank = softmax_rank(fmpq(2, 7) * (points @ points.T))
    made = witness("lemmax/gram-softmax-full-rank", [rank.certificate()], P=points, c=fmpq(2, 7))
    certify(made, ship_as="lemmax/gram-softmax-full-rank")
    assert rank.rank == 8
    assert blowup.softmax_rank().rank == line.softmax_rank("1/7").rank == 8
