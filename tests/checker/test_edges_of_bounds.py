"""The rules that bound the rank of a tensor from below, on tensors of a few entries.

Every bound is worked out by hand, and next to it stands what the rule must not take for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import pytest
from benchmarks.corpus import counted

from lemmax.checker import NotACertificate
from lemmax.checker.bounds import algebras, flattenings, joint, pencils, spans
from lemmax.checker.bounds.algebras import Factor, lost, skew_parts
from lemmax.checker.tensors import Bound, Integral

PRIME = "1000003"
Step = dict[str, Any]
Lemma = Callable[[Mapping[str, Any], Integral, str, str], Bound]

UNIT = [[[1, 0], [0, 0]], [[0, 0], [0, 1]]]  # e_0⊗e_0⊗e_0 + e_1⊗e_1⊗e_1
JORDAN = [[[1, 0], [0, 1]], [[0, 1], [0, 0]]]  # the slices I and N span no other rank one than N
TURN = [[[1, 0], [0, 1]], [[0, 1], [-1, 0]]]  # det (z_0 I + z_1 J) = z_0² + z_1²
STAIRS = [[[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1]]]  # minors z_0², z_0 z_1, z_1²


def refused(lemma: Lemma, step: Step, T: Integral, sentence: str) -> None:
    with pytest.raises(NotACertificate, match=f"^{re.escape(sentence)}"):
        lemma(step, T, "Q", "step")


# --- spans of slices ----------------------------------------------------------------------------


def quadrics(*minors: list[int], mode: int = 0) -> Step:
    return {"mode": mode, "prime": PRIME, "minors": list(minors)}


def test_without_minors_all_symmetric_matrices_are_quadrics() -> None:
    assert spans.quadrics(quadrics(), JORDAN, "step") == (JORDAN, 3)


def test_fewer_quadrics_than_slices_give_one_more_than_the_slices() -> None:
    for minors, most in (
        ([[0, 1, 0, 1], [0, 1, 0, 2]], 1),
        ([[0, 1, 0, 1], [0, 1, 0, 2], [0, 1, 1, 2]], 0),
    ):
        shown = f"R >= 3: at most {most} dimensions of quadrics for 2 slices"
        assert spans.by_quadrics(quadrics(*minors), STAIRS, "Q", "step") == (3, STAIRS, shown)
    assert spans.by_quadrics(quadrics([0, 1, 0, 1]), STAIRS, "Q", "step")[0] < 0


def pencil(lemma: str, **fields: Any) -> Step:
    return {"lemma": lemma, "mode": 0, "prime": PRIME, "order": [0, 1], "pivots": [0]} | fields


AT_ZERO = {"modulus": ["0", "1"], "left": [[["1"], ["0"]]], "jet": [[["0"], ["1"]]]}
TURNED = {"modulus": ["1", "0", "1"], "left": [[["1", "0"], ["0", "1"]]]}
ONE_SQUARE, MIXED = [["0", "0"], ["0", "1"]], [["0", "1"], ["1", "0"]]
SIGNS = [["1", "0"], ["0", "-1"]]


def test_two_quadrics_with_a_jet_give_one_more_than_the_slices() -> None:
    """The quadrics of z_0² are those with Z_00 = 0; E_11 + x (E_01 + E_10) has a jet at 0."""
    step = quadrics([0, 1, 0, 1]) | {"kernel": [ONE_SQUARE, MIXED]}
    bound, rest, text = spans.by_quadric_pencil(
        step | {"pencil": pencil("jet", **AT_ZERO)}, JORDAN, "C", "step"
    )
    shown = "two quadrics with R >= 2 + 2 - 1, at a root of degree 1, with a jet"
    assert (bound, rest, text) == (3, JORDAN, f"R >= 3: {shown}")
    refused(
        spans.by_quadric_pencil, step | {"pencil": "jet"}, JORDAN, "step.pencil must be an object"
    )


@pytest.mark.parametrize(
    ("outside", "fields"), [("sturm", "QR"), ("3", "Q"), ("5", ""), ("2", "")]
)  # -1 is no square mod 3, and one mod 2 and 5
def test_two_quadrics_that_meet_outside_of_the_field(outside: str, fields: str) -> None:
    """diag(1, -1) + x (E_01 + E_10) is singular at ±i, and Z_00 + Z_11 = 0 for both matrices."""
    for field in "QRC":
        step = quadrics([0, 1, 0, 1]) | {"kernel": [SIGNS, MIXED]}
        step |= {"pencil": pencil("eigenvalue", **TURNED, outside=outside)}
        bound = spans.by_quadric_pencil(step, TURN, field, "step")[0]
        assert bound == 3 if field in fields else bound < 0


def test_two_quadrics_with_a_pencil_no_larger_than_the_slices_show_nothing() -> None:
    """JORDAN and one entry: Z_00 = Z_02 = Z_12 = 0; with E_22 the pencil has rank 4, else 3."""
    T = [[[*row, 0] for row in part] + [[0, 0, 0]] for part in JORDAN]
    T += [[[0, 0, 0], [0, 0, 0], [0, 0, 1]]]
    minors = quadrics([0, 1, 0, 1], [0, 2, 0, 2], [0, 2, 1, 2])
    B = [["0", "1", "0"], ["1", "0", "0"], ["0", "0", "0"]]
    small = [["0", "0", "0"], ["0", "1", "0"], ["0", "0", "0"]]
    large = [*small[:2], ["0", "0", "1"]]
    first, second, last = [["1"], ["0"], ["0"]], [["0"], ["1"], ["0"]], [["0"], ["0"], ["1"]]
    zero = [["0"], ["0"], ["0"]]
    of_three = pencil("jet", modulus=["0", "1"], left=[first, last], jet=[second, zero])
    of_three |= {"pivots": [0, 2]}
    of_four = pencil("jet", modulus=["0", "1"], left=[first], jet=[second])

    def bound(A: list[list[str]], step: Step) -> int:
        step = minors | {"kernel": [A, B], "pencil": step}
        return spans.by_quadric_pencil(step, T, "Q", "step")[0]

    assert bound(large, of_four) == 4
    assert bound(small, of_three) < 0


def square(**changes: Any) -> Step:
    step = {"mode": 0, "prime": PRIME, "form": ["1", "0"], "minors": [[0, 1, 0, 1]]}
    return step | {"weights": ["1"]} | changes


def contraction(**changes: Any) -> Step:
    step = {"mode": 0, "columns": 1, "functional": ["1", "0"], "basis": [["1", "0"]]}
    return step | {"prime": PRIME} | changes


def test_steps_about_spans_have_the_sizes_of_the_tensor() -> None:
    for form in (["1"], ["1", "0", "0"]):
        refused(spans.by_square, square(form=form), JORDAN, "step must have 2 entries")
    more = square(weights=["1", "1"])
    refused(spans.by_square, more, JORDAN, "step needs a weight for each minor.")
    two = contraction(columns=0)
    refused(spans.by_contraction, two, JORDAN, "step needs two different modes.")
    for basis, sentence in (
        ([["1"]], "step.basis must have 2 entries"),
        ([["1", "0", "0"]], "step.basis must have 2 entries"),
        ("x", "step.basis must be a nonempty list"),
    ):
        refused(spans.by_contraction, contraction(basis=basis), JORDAN, sentence)


def test_matrices_of_rank_one_that_vanish_on_a_functional_do_not_span() -> None:
    """Of the span of I and N only the multiples of N have rank one, and N e_0 = 0."""
    assert spans.by_contraction(contraction(), JORDAN, "Q", "step")[0] == 3
    assert spans.by_contraction(contraction(), UNIT, "Q", "step")[0] < 0


# --- substitution in two modes ------------------------------------------------------------------

WIDE = [[[0, 0], [1, 0]], [[1, 0], [0, 1]]]  # W: e_0⊗e_1⊗e_0 + e_1⊗e_0⊗e_0 + e_1⊗e_1⊗e_1


def in_two(**changes: Any) -> Step:
    level = {"functionals": [["1", "0"], ["0", "1"]], "first": [], "second": []}
    step = {"mode": 0, "columns": 1, "prime": PRIME, "first": [["1", "0"]], "second": [["1", "0"]]}
    return step | {"levels": [level], "maps": [[["0", "1"]]] * 3} | changes


def test_two_modes_at_once_give_the_dimensions_of_both_spaces() -> None:
    """With U = V = <e_0>, φ(U, V) = 0 and neither φ(U, B) nor φ(A, V) is: 1 + 1, and [[[1]]]."""
    assert joint.by_joint(in_two(), WIDE, "Q", "step")[:2] == (2, [[[1]]])


def test_steps_in_two_modes_have_the_sizes_of_the_tensor() -> None:
    level = in_two()["levels"][0]
    needs = "step needs two spaces, and functionals on the third mode."
    for changes, sentence in (
        ({"columns": 0}, "step needs two different modes."),
        ({"first": "x"}, "step must be a list"),
        ({"first": [["1"]]}, "step must have 2 entries"),
        ({"second": [["1"]]}, "step must have 2 entries"),
        ({"second": [["1", "0", "0"]]}, "step must have 2 entries"),
        ({"maps": [[], [], [["1"]]]}, "step.maps must have 2 entries"),
        ({"maps": [[], [], [["0", "1", "0"]]]}, "step.maps must have 2 entries"),
        ({"maps": [[], [], []]}, needs),
        ({"first": []}, needs),
        ({"second": []}, needs),
        ({"first": [], "second": []}, needs),
        ({"levels": "x"}, "step.levels must be a nonempty list"),
        ({"levels": [{}]}, "step.levels[0] lacks the field functionals."),
        ({"levels": [level | {"functionals": [["1"]]}]}, "step.levels[0] must have 2 entries"),
        (
            {"levels": [level | {"functionals": [["1", "0", "0"]]}]},
            "step.levels[0] must have 2 entries",
        ),
    ):
        refused(joint.by_joint, in_two(**changes), WIDE, sentence)


# --- pencils ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("third", "modulus", "outside", "fields"),
    [
        (1, "-2", "sturm", ""),  # both roots of x² - 2 are real
        (1, "-2", "3", "Q"),
        (1, "-2", "7", ""),  # 3² = 2 mod 7
        (3, "-2/9", "3", ""),  # 3 divides a denominator
        (3, "-2/9", "5", "Q"),  # 3 is no square mod 5
    ],
)
def test_a_root_outside_of_the_field(third: int, modulus: str, outside: str, fields: str) -> None:
    """[[cx, -2], [-1, cx]] is singular where (cx)² = 2, and (1, cx) is in its left kernel."""
    T = [[[0, -2], [-1, 0]], [[third, 0], [0, third]]]
    step = pencil("eigenvalue", modulus=[modulus, "0", "1"], outside=outside)
    step |= {"left": [[["1", "0"], ["0", str(third)]]]}
    for field in "QRC":
        bound = pencils.by_eigenvalue(step, T, field, "step")[0]
        assert bound == 3 if field in fields else bound < 0


def test_a_row_of_residues_times_a_matrix() -> None:
    """(1, x) · [[2, 0], [3, 4]] = (2 + 3x, 4x)."""
    modulus, one = list(map(Fraction, (-2, 0, 1))), [[1, 0], [0, 1]]
    row, product = ([list(map(Fraction, y)) for y in x] for x in (one, [[2, 3], [0, 4]]))
    assert pencils.Pencil(one, one, modulus).times(row, [[2, 0], [3, 4]]) == product


# --- flattenings and transversals ---------------------------------------------------------------


def test_a_restriction_has_three_maps() -> None:
    step = {"mode": 0, "prime": PRIME, "maps": [[], []]}
    refused(flattenings.by_substitution, step, UNIT, "step.maps must have 3 entries, not 2.")


def test_a_koszul_flattening_of_rank_one_gives_one() -> None:
    """x -> (1, 1, 1)∧x has rank 2 = C(2, 1); x -> x_i + x_j for i < j would have rank 3."""
    step = {"mode": 0, "prime": PRIME}
    assert flattenings.by_koszul(step, [[[1]], [[1]], [[1]]], "Q", "step")[0] == 1


def transversal(hitting: int, **changes: int) -> Step:
    return {"mode": 0, "columns": 1, "hitting": hitting} | changes


def test_matrices_of_rank_one_in_the_columns_are_added_up() -> None:
    """In each column of the unit tensor lies one; [[1, 0]] and [[0, 1]] have one column."""
    assert flattenings.by_transversal(transversal(0), UNIT, "Q", "step")[0] == 2
    for T, columns in (([[[1, 0]], [[0, 1]]], 1), ([[[1], [0]], [[0], [1]]], 2)):
        step = transversal(0, columns=columns)
        assert flattenings.by_transversal(step, T, "Q", "step")[0] == 2


def test_a_transversal_has_fewer_than_a_million_indices() -> None:
    refused(
        flattenings.by_transversal,
        transversal(10**6),
        UNIT,
        "step.hitting must be an integer in 0..999999, not 1000000.",
    )
    assert flattenings.by_transversal(transversal(10**6 - 1), UNIT, "Q", "step")[0] < 0


def test_sets_are_met_by_as_many_indices_as_they_need() -> None:
    apart = [frozenset({0}), frozenset({1})]
    assert [flattenings.hits(apart, size) for size in (-1, 0, 1, 2, 3)] == [False] * 3 + [True] * 2
    assert [flattenings.hits([], size) for size in (-1, 0, 1)] == [False, True, True]


def test_the_smallest_set_is_met_first() -> None:
    """Two sets are asked about, then one after 2 is taken: 20 + 4 · 2 and 20 + 4 · 1."""
    with counted() as bill:
        assert not flattenings.hits([frozenset({0, 1}), frozenset({2})], 1)
    assert bill.sums["work"] == 28 + 24


# --- algebras -----------------------------------------------------------------------------------


def matrices(s: int) -> list[list[list[int]]]:
    """E_ij E_kl = E_il where j = k."""
    n = range(s * s)
    return [[[int(a // s * s + b % s == c and a % s == b // s) for c in n] for b in n] for a in n]


def identity(s: int) -> list[str]:
    return [str(int(i % (s + 1) == 0)) for i in range(s * s)]


DOUBLE = [[[1, 0], [0, 1]], [[0, 1], [0, 0]]]  # Q[x]/x²
LINE = {"polynomial": ["0", "1"], "degree": 1, "point": "0", "prime": "2"}


def radical(**changes: Any) -> Step:
    step = {"unit": ["1", "0"], "prime": PRIME, "ideal": [["0", "1"]], "kept": [0]}
    return step | {"map": [["1", "0"]]} | changes


def test_a_nilpotent_ideal_counts_twice() -> None:
    assert algebras.by_radical(radical(), DOUBLE, "Q", "step")[:2] == (2, [[[1]]])


def test_steps_about_algebras_have_the_sizes_of_the_tensor() -> None:
    for changes, sentence in (
        ({"ideal": [["0"]]}, "step.ideal must have 2 entries"),
        ({"ideal": [["0", "1", "0"]]}, "step.ideal must have 2 entries"),
        ({"ideal": "x"}, "step.ideal must be a nonempty list"),
        ({"kept": "x"}, "step.kept must be a list"),
        ({"map": [["1"]]}, "step.map must have 2 entries"),
        ({"map": [["1", "0", "0"]]}, "step.map must have 2 entries"),
        ({"map": "x"}, "step.map must be a nonempty list"),
    ):
        refused(algebras.by_radical, radical(**changes), DOUBLE, sentence)
    simple = {"unit": ["1", "1"], "prime": PRIME, "element": ["1", "0"], "factors": "x"}
    refused(algebras.by_algebra, simple, UNIT, "step.factors must be a nonempty list")


def test_degrees_of_parts_lie_between_one_and_999() -> None:
    assert algebras.factor(LINE | {"degree": 999}, "here").degree == 999
    for degree, sentence in (
        (0, "here.degree must be positive."),
        (1000, "here.degree must be an integer in 0..999, not 1000."),
    ):
        with pytest.raises(NotACertificate, match=f"^{re.escape(sentence)}$"):
            algebras.factor(LINE | {"degree": degree}, "here")


@pytest.mark.parametrize(
    ("coefficients", "point", "cofactor", "shown"),
    [
        ((1, 0, 1), 2, 5, False),  # 2 < 1 + 1 + 1
        ((1, 0, 1), 4, 17, True),  # f(4) = 17, and 4 >= 1 + 1 + 1
        ((0, -2, 1), 3, 3, False),  # x (x - 2) is 3 at 3, and 3 < 2 + 1 + 1
        ((1, 0, 1), 4, 0, False),
        ((1, 0, 1), 4, 1, False),
        ((1, 0, 1), 4, -17, False),
        ((0, 0, 1), 3 * 10**200, 3, False),  # the cofactor 3 · 10^400 is beyond any float
    ],
)
def test_a_value_with_a_large_prime_shows_that_a_polynomial_is_irreducible(
    coefficients: tuple[int, ...], point: int, cofactor: int, shown: bool
) -> None:
    f = list(map(Fraction, coefficients))
    assert algebras.is_irreducible(f, str(point), str(cofactor), "here") is shown


def part(s: int, *coefficients: int) -> Factor:
    return Factor(list(map(Fraction, coefficients)), s, True)


@pytest.mark.parametrize(
    ("s", "over_q", "over_r", "over_c"),
    [
        (1, 1, 2, 3),
        (2, 1, 2, 3),
        (3, 3 * 9 // 3, 9 // 3 + 2 * 9 // 3, 3 * 9 // 3),
        (4, 3 * 16 // 2, 16 // 2 + 2 * 16 // 2, 3 * 16 // 2),
        (9, 3 * 81 // 3, 81 // 3 + 2 * 81 // 3, 3 * 81 // 3),
        (5, 3 * 25 // 5, 25 // 5 + 2 * 25 // 5, 3 * 25 // 5),
    ],
)
def test_a_part_loses_one_or_its_dimension_over_a_prime(
    s: int, over_q: int, over_r: int, over_c: int
) -> None:
    """x³ - 2 has one real root and a pair: one part over Q, two over R (s², 2s²), three over C."""
    for field, wanted in zip("QRC", (over_q, over_r, over_c), strict=True):
        found = lost([part(s, -2, 0, 0, 1)], field)
        assert (found, type(found)) == (wanted, int)


def test_matrices_of_three_rows_have_a_loss_of_three() -> None:
    step = {"unit": identity(3), "prime": PRIME, "element": ["0"] * 9}
    T = matrices(3)
    found = algebras.by_algebra(step | {"factors": [LINE | {"degree": 3}]}, T, "Q", "step")
    assert found == (15, T, "R >= 2·9 - 3, by the simple parts of an algebra over Q")


def test_an_element_may_have_denominators() -> None:
    """(1/2, -1/2) in Q² has the polynomial (x - 1/2)(x + 1/2)."""
    halves = [LINE | {"polynomial": [x, "1"]} for x in ("-1/2", "1/2")]
    step = {"unit": ["1", "1"], "prime": PRIME, "element": ["1/2", "-1/2"], "factors": halves}
    assert algebras.by_algebra(step, UNIT, "Q", "step")[0] == 2


def test_one_polynomial_of_degree_one_leaves_a_larger_centre() -> None:
    """The centre of Q² has two dimensions, and the powers of 1 have one."""
    step = {"unit": ["1", "1"], "prime": PRIME, "element": ["1", "1"]}
    found = algebras.by_algebra(
        step | {"factors": [LINE | {"polynomial": ["-1", "1"]}]}, UNIT, "Q", "step"
    )
    assert found[0] < 0
    assert found[2] == "the centre is larger"


@pytest.mark.parametrize(
    ("parts", "squares", "over_q", "over_r"),
    [
        ([part(2, 1, 0, 1)], [1, -1], 0, 0),  # the centre C: no real root, signature 0
        ([part(2, -2, 0, 1)], [-1] * 4, 1, 2),  # at both real roots of one part
        ([part(2, 0, 1), part(2, -2, 0, 1)], [-1] * 2, 1, 2),  # perhaps at both of the second
        ([part(2, 0, 1), part(2, -1, 1)], [1, -1], 1, 1),  # at one of two
        ([part(2, 0, 1), part(2, -1, 1)], [1, 1, 1, 1], 0, 0),
    ],
)
def test_signatures_count_quaternions(
    parts: list[Factor], squares: list[int], over_q: int, over_r: int
) -> None:
    """A real root adds 2 to the signature for matrices, and -2 for quaternions."""
    form = [[x * int(i == j) for j in range(len(squares))] for i, x in enumerate(squares)]
    assert [skew_parts(parts, form, field) for field in "QRC"] == [over_q, over_r, 0]
