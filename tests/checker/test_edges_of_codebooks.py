"""The edges of the families of codes: what floats are just able to tell apart, and what not.

The columns are made here from the codes: 2c on the outputs, -|c|^2 on the markers, in one part or
in two, all times the factor. Sizes are worked out by hand.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest

from lemmax.checker import NotACertificate
from lemmax.checker.coded import joined, unmarked
from lemmax.checker.coded.arrays import Table
from lemmax.checker.coded.codebooks import Codes, Layer, Layout
from lemmax.checker.coded.floats import FORMATS
from lemmax.checker.coded.selection import stacked
from lemmax.checker.kinds.float_memorization import layout

KINDS = {"bfloat16": "BF16", "float16": "F16", "float32": "F32"}
INTEGERS = ("integers", "joined", "unmarked")
OTHERS = ("one-rounding", "octaves", "lattice")
INFINITY = {"bfloat16": 0x7F80, "float16": 0x7C00, "float32": 0x7F80_0000}
Code = Sequence[float]


def word(number: float, form: str) -> int:
    """The bit pattern of a number that the format holds, by the machine."""
    if form == "float16":
        pattern, held = struct.unpack("<He", struct.pack("<e", number) * 2)
    else:
        pattern, held = struct.unpack("<If", struct.pack("<f", number) * 2)
    assert held == number
    if form == "bfloat16":
        pattern, rest = divmod(pattern, 1 << 16)
        assert not rest
    return int(pattern)


def table(form: str, numbers: Sequence[float], *shape: int) -> Table:
    code = "I" if form == "float32" else "H"
    return Table(KINDS[form], shape, array(code, [word(x, form) for x in numbers]))


def made(
    family: str,
    *codes: Code,
    second: Sequence[float] = (),
    heads: int = 1,
    factor: int = 1,
    weights: str = "float32",
    sums: str = "float32",
    logits: str = "float32",
    gain: int = 104,
    W_E: Sequence[float] = (1,),
    entries: Mapping[tuple[int, int], float] | None = None,
) -> Codes:
    """Codes of tokens 0, 1, ..., and one more token; ``second`` parts of |c|^2; other entries.

    Without markers predicates have 16 where the others have 1.
    """
    m, size, scale = len(codes[0]), len(codes) + 1, 1
    if family == "joined":
        place = joined.layout(heads, m)
    elif family == "unmarked":
        place, scale = unmarked.layout(heads, m), 16
    else:
        place = layout(heads, m, 2 if second else 1, None)
    rows = [[0.0] * size for _ in range(place.width)]
    first, rest = place.intercepts(family)
    for t, code in enumerate(codes):
        for j, x in zip(place.outputs, code, strict=True):
            rows[j][t] = 2 * factor * x
        square = sum((Fraction(x) ** 2 for x in code), Fraction(0))
        part = Fraction(second[t]) if second else Fraction(0)
        for where, share in ((first, square - part), (rest, part)):
            for j in where:
                rows[j][t] = float(-factor * share / scale)
    for j in first if family in INTEGERS else []:
        rows[j][-1] = -factor / scale
    for (j, t), x in (entries or {}).items():
        rows[j][t] = x
    arrays = {
        "W_U": table(weights, [x for row in rows for x in row], place.width, size),
        "W_E": table(weights, W_E, size, 1),  # codes ask only for the largest of its entries
    }
    held, added, stored = (FORMATS[name] for name in (weights, sums, logits))
    queries = list(range(heads))
    layer = Layer(held, added, stored, added, family, m, factor, place, arrays, queries, 0)
    return Codes(layer, scale, gain, list(range(len(codes))))


def margins(family: str, *codes: Code, **options: Any) -> tuple[bool, str]:
    """What is said of codes whose columns are as they should be."""
    found = made(family, *codes, **options)
    assert found.columns().ok
    ok, text = found.margins()
    return ok, text


# --- columns -------------------------------------------------------------------------------------


def test_W_U_is_cut_into_one_row_for_each_coordinate() -> None:
    rows = [list(row) for row in made("one-rounding", [3], [5], weights="float16").rows]
    assert rows == [[word(x, "float16") for x in row] for row in ([6, 10, 0], [-9, -25, 0])]


@pytest.mark.parametrize("form", KINDS)
def test_matrices_with_infinite_entries_are_named(form: str) -> None:
    found = made("integers", [1], weights=form)
    arrays = found.layer.arrays
    infinite = Table(KINDS[form], (1, 1), array("I", [INFINITY[form]]))
    arrays |= dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), arrays["W_E"])
    for name in arrays:
        layer = found.layer._replace(arrays=arrays | {name: infinite})
        with pytest.raises(NotACertificate, match=f"^{name} has an entry that is not a finite"):
            Codes(layer, 1, 104, []).off() if name in ("W_U", "W_E") else stacked(layer)


@pytest.mark.parametrize("heads", [3, 4])
def test_all_coordinates_that_hold_a_part_of_the_square_are_equal(heads: int) -> None:

    def without_marker(entries: Mapping[tuple[int, int], float]) -> Codes:
        return made("unmarked", [1, 2], [2, 1], second=[1, 2], heads=heads, entries=entries)

    right = without_marker({})
    assert right.columns().ok
    for part in (right.first, right.second):
        for j in part[1:]:
            wrong = without_marker({(j, 0): -3})
            assert wrong.columns() == (False, "the coordinates of W_U that hold |c|^2 differ")


def two_heads(family: str, **options: Any) -> Codes:
    if family == "unmarked":
        return made(family, [1, 2], [2, 1], second=[1, 1], heads=3, **options)
    return made(family, [1, 2], [2, 1], heads=2, factor=2, **options)


@pytest.mark.parametrize("family", INTEGERS + OTHERS)
def test_other_tokens_lie_at_zero_or_one_below(family: str) -> None:
    """With integer codes a zero would tie with the code 0, so that they all lie one below."""
    right = two_heads(family)
    assert right.columns().ok
    assert right.others() == (True, "1 other tokens lie below every value")
    low = -right.layer.factor / right.scale
    outputs = right.layer.layout.outputs
    for x in (low, 0, -low, 2 * low):
        below = two_heads(family, entries={(j, 2): x for j in right.first})
        allowed = {low} if family in INTEGERS else {low, 0}
        assert below.others().ok is (x in allowed)
        if x:
            for j in (*outputs, *right.second):
                found = two_heads(family, entries={(j, 2): x}).others()
                assert found == (False, "a token that is no value has a column of its own")


# --- integers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["integers", "joined"])
def test_codes_and_intercepts_of_integer_codes_are_integers(family: str) -> None:
    assert margins(family, [1], [-2])[0]
    assert margins(family, [0.5], [1]) == (False, "a code is not an integer")
    assert margins(family, [3, 4], [1.5, 2]) == (False, "a code is not an integer")
    assert margins(family, [0.5], factor=2) == (False, "a code is not an integer")


def test_both_parts_of_the_square_are_integers() -> None:
    assert margins("integers", [2], second=[1])[0]
    halves = margins("integers", [2], second=[0.5])
    assert halves == (False, "an intercept is not an integer")


EIGHT = {"weights": "bfloat16", "sums": "bfloat16", "logits": "float32"}
ELEVEN = {"weights": "float16", "sums": "float32", "logits": "float16"}


@pytest.mark.parametrize(
    ("codes", "most", "options"),
    [
        # the terms of (9, 1) at the largest entries (9, 6): 82, in two parts or not, 162 and 12
        ([(9, 1), (0, 6)], 256, EIGHT),
        ([(9, 1), (0, 7)], 258, EIGHT),
        ([(9, 1), (0, 6)], 256, EIGHT | {"second": [41, 0]}),
        ([(9, 1), (0, 7)], 258, EIGHT | {"second": [41, 0]}),
        # (26, 1) at (26, 9): 677 + 1352 + 18; times 32 it is 65504, the largest float16
        ([(26, 1), (0, 9)], 2047, ELEVEN | {"factor": 32}),
        # (26, 2) at (26, 4): 680 + 1352 + 16 is 2^11, and times 32 it is not finite
        ([(26, 2), (0, 4)], 2048, ELEVEN),
        ([(26, 2), (0, 4)], 2048, ELEVEN | {"factor": 32}),
    ],
)
def test_partial_sums_are_bounded_by_their_terms(
    codes: list[Code], most: int, options: dict[str, Any]
) -> None:
    bits = 11 if options["weights"] == "float16" else 8
    held = most <= 1 << bits and most * options.get("factor", 1) <= 65504
    assert margins("integers", *codes, **options) == (
        (True, f"partial sums are integers up to {most}, held by {bits} bits")
        if held
        else (False, f"partial sums reach {most}, beyond {bits} bits")
    )


# --- one rounding, and octaves -------------------------------------------------------------------


@pytest.mark.parametrize("family", ["one-rounding", "octaves"])
def test_families_of_numbers_have_one_coordinate_and_no_factor(family: str) -> None:
    with pytest.raises(NotACertificate, match=r"^code.coordinates must be 1 for this family.$"):
        margins(family, [1, 2])
    with pytest.raises(NotACertificate, match=r"^code.factor must be 1 for this family.$"):
        margins(family, [1], [2], factor=2)


def rounded(*codes: float, form: str = "bfloat16", **options: Any) -> str:
    """What is said of codes that are multiplied and added in one format."""
    ok, text = margins("one-rounding", *([c] for c in codes), sums=form, logits=form, **options)
    assert ok is text.startswith("gaps between codes are those of")
    return text


KEPT = "gaps between codes are those of {} bits: one rounding keeps them"


def test_one_rounding_is_of_two_terms_that_are_not_zero() -> None:
    assert rounded(1, 2) == KEPT.format(8)
    told = "a logit has three terms, or a code is zero"
    assert rounded(1, 2, second=[1, 0]) == told
    assert rounded(1, 0) == told
    assert rounded(0) == told


def test_products_of_one_rounding_are_held() -> None:
    """15^2 = 225 has 8 bits and 17^2 = 289 has 9; 45^2 = 2025 has 11 and 47^2 = 2209 has 12."""
    assert rounded(15) == KEPT.format(8)
    assert rounded(17) == "products do not fit 8 bits"
    assert rounded(45, form="float16") == KEPT.format(11)
    assert rounded(47, form="float16") == "products do not fit 11 bits"


@pytest.mark.parametrize(("form", "least"), [("bfloat16", -126), ("float16", -14)])
def test_squares_of_one_rounding_are_normal_numbers(form: str, least: int) -> None:
    code = 2.0 ** (least // 2)
    assert rounded(code, form=form).startswith("gaps")
    assert rounded(code / 2, form=form) == "the smallest square is not a normal number"
    assert rounded(code * 0.75, form=form) == "the smallest square is not a normal number"


def test_three_squares_of_one_rounding_are_finite() -> None:
    """3 · 2^126 is below 2^128 (1 - 2^-8), 4.6875 · 2^126 is not; 3 · 144^2 is below 65504."""
    far = "the largest logit is not finite"
    assert rounded(2.0**63) == KEPT.format(8)
    assert rounded(1.25 * 2.0**63) == far
    assert rounded(144, form="float16") == KEPT.format(11)
    assert rounded(-144, form="float16") == KEPT.format(11)
    assert rounded(148, form="float16") == far
    assert rounded(-148, form="float16") == far


@pytest.mark.parametrize(
    ("codes", "form", "kept"),
    [
        # p = 8, logits of 1 <= c^2 < 2 are 2^-7 apart and those below 1 half of that
        ((0.9375, 1), "bfloat16", True),  # 2^-8 is the next logit below 1
        ((1.625, 1.75), "bfloat16", True),
        ((1, 1.0625), "float16", True),
        # p = 11, and 44^2 = 1936 is below 2^11 = 2048, 46^2 = 2116 is above: there logits are 2
        ((44, 45), "float16", True),
        ((45, 46), "float16", False),
        ((-46, -45), "float16", False),
    ],
)
def test_codes_of_one_rounding_are_as_far_apart_as_logits(
    codes: tuple[float, ...], form: str, kept: bool
) -> None:
    told = rounded(*codes, form=form)
    assert told == (
        KEPT.format(FORMATS[form].significand)
        if kept
        else "two codes are closer than the logits of the format"
    )


def octaves(*codes: float, **options: Any) -> str:
    ok, text = margins("octaves", *([c] for c in codes), **options)
    assert ok is text.endswith("compared exactly, or far apart")
    return text


SPLIT = "an intercept is not split into multiples of the code's unit"
FAR = "codes of {} bits in octaves {} to {}: compared exactly, or far apart"


@pytest.mark.parametrize(
    ("codes", "told"),
    [
        ([0], "a code is zero"),
        ([1, 0], "a code is zero"),
        ([1, 4], FAR.format(8, -7, -5)),
        ([2047], FAR.format(11, 0, 0)),
        ([2049], "codes of 12 bits have squares beyond 24 bits"),
        # 2^-53 is 2^7 times 2^-60: its square is a multiple of 4^-60; 4^-63 is normal, 4^-64 not
        ([2.0**-53], FAR.format(8, -60, -60)),
        ([2.0**-56], FAR.format(8, -63, -63)),
        ([2.0**-57], "terms are multiples of 4^-64, which is not a normal number"),
        # codes below 2^63 have logits below 4 · 2^126 = 2^128
        ([2.0**62], FAR.format(8, 55, 55)),
        ([-(2.0**62)], FAR.format(8, 55, 55)),
        ([2.0**63], "the largest logit is not finite"),
    ],
)
def test_octaves_of_codes_have_ends(codes: list[float], told: str) -> None:
    assert octaves(*codes) == told


@pytest.mark.parametrize(
    ("sums", "logits"), [("bfloat16", "bfloat16"), ("float32", "float16"), ("float16", "float32")]
)
def test_codes_in_octaves_need_24_bits_in_sums_and_logits(sums: str, logits: str) -> None:
    told = octaves(1, sums=sums, logits=logits)
    assert told == "logits must be stored as they are accumulated, with 24 bits at least"


@pytest.mark.parametrize(
    ("part", "kept"),
    [(256, True), (1, True), (-256, True), (0.5, False), (257, False), (512, False)],
)
def test_the_second_part_of_a_square_has_eight_bits_of_units(part: float, kept: bool) -> None:
    """The code 1 of 8 bits has the unit 4^-7 = 2^-14, and 2^8 of them are allowed."""
    assert (octaves(1, second=[part * 2.0**-14]) == SPLIT) is not kept


# --- lattices ------------------------------------------------------------------------------------

SHORT = {"weights": "float32", "sums": "float32", "logits": "bfloat16"}


def lattice(*codes: Code, **options: Any) -> str:
    ok, text = margins("lattice", *codes, **(SHORT | options))
    assert ok is text.startswith("codes lie in the shell")
    return text


IN_SHELL = "codes lie in the shell 76 <= |a|^2 <= 256, up to powers of two"
OUTSIDE = "a code lies outside of the shell from 76 to 256"


@pytest.mark.parametrize(
    ("code", "kept"),
    [([10], False), ([9, 0], True), ([9, 0, 0, 0], True), ([9, 0, 0, 0, 0], False)],
)
def test_codes_of_lattices_have_two_to_four_coordinates(code: Code, kept: bool) -> None:
    few = "lattice codes need 8 or 11 bits in a logit, and 13 more in a sum"
    assert lattice(code) == (IN_SHELL if kept else few)
    for sums, logits in (("float16", "bfloat16"), ("bfloat16",) * 2, ("float32",) * 2):
        assert lattice(code, sums=sums, logits=logits) == few


def test_a_logit_of_a_lattice_has_one_intercept_and_no_factor() -> None:
    told = "a logit has a second intercept, or W_U a factor"
    assert lattice([9, 0], second=[1]) == told
    assert lattice([9, 0], factor=2) == told


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ((8, 3.5), OUTSIDE),  # 76.25 is no integer
        ((7, 5), OUTSIDE),  # 74: between 64 and 76
        ((6, 6.5), OUTSIDE),  # 78.25 is no integer
        ((8.5, 2.5), OUTSIDE),  # 78.5 is no integer
        ((6, 6, 2, 0), IN_SHELL),  # 76
        ((16, 0), IN_SHELL),  # 256
        ((16, 4), OUTSIDE),  # 272 = 4 · 68 is in the next shell, where 68 is below 76
        ((8.5, 1.5, 0.5, 1.5), "a code is not a multiple of its power of two"),  # 77
    ],
)
def test_points_of_a_lattice_lie_in_a_shell(code: Code, told: str) -> None:
    assert lattice(code) == told


@pytest.mark.parametrize(
    ("point", "power", "told"),
    [
        (10, -50, IN_SHELL),
        (10, -63, IN_SHELL),  # 4^-63 = 2^-126 is the least normal number
        (10, -64, "a square is not a normal number"),
        (10, -75, "a square is not a normal number"),  # 4^-75 is 2^-150, the unit of all numbers
        (1, -75, OUTSIDE),  # 2 · 4^-75 is 128 · 4^-78
        (10, 59, IN_SHELL),  # |c|^2 is at most 2^(118 + 8), and four of them 2^128
        (10, 60, "the largest logit is not finite"),
    ],
)
def test_shells_are_as_far_as_floats(point: int, power: int, told: str) -> None:
    """The point (10, 10) of the shell, with 76 <= 200 <= 256, times a power of two."""
    assert lattice([point * 2.0**power] * 2) == told


ELEVEN_BITS = "codes lie in the shell 545 <= |a|^2 <= 2048, up to powers of two"


@pytest.mark.parametrize(
    ("power", "told"),
    [
        (-7, ELEVEN_BITS),
        (-8, "a square is not a normal number"),  # 4^-8 is below 2^-14
        (1, ELEVEN_BITS),
        (2, "the largest logit is not finite"),  # 2048 · 16 · 4 is above 65504
    ],
)
def test_shells_of_eleven_bits(power: int, told: str) -> None:
    """The point (17, 16) has 289 + 256 = 545."""
    assert lattice([17 * 2.0**power, 16 * 2.0**power], logits="float16") == told


# --- over the reals ------------------------------------------------------------------------------


@pytest.mark.parametrize(("W_E", "largest"), [([0.5], 1), ([8, -3], 8), ([-8, 3], 8), ([1], 1)])
@pytest.mark.parametrize(
    ("family", "codes", "heads"),
    [
        ("integers", [(1,)], 1),
        ("integers", [(1, 2)], 2),
        ("one-rounding", [(1,), (3,)], 1),
        ("joined", [(1, 2), (2, 1)], 2),
        ("unmarked", [(1, 2), (2, 1)], 3),
    ],
)
def test_how_far_hidden_states_are_off(
    family: str, codes: list[Code], heads: int, W_E: list[float], largest: int
) -> None:
    """2 (H + 1) 2m max|x|, twice as much where two tokens have blocks; 2c is a multiple of 2.

    All times 2^150, and what is apart times 2^23 at a gain of 16, since e^-16 is below 2^-23.
    """
    second = [1] * len(codes) if family == "unmarked" else []
    found = made(family, *codes, heads=heads, second=second, W_E=W_E, gain=16)
    twice = 2 if family in ("joined", "unmarked") else 1
    off = 2 * (heads + 1) * 2 * len(codes[0]) * largest * twice
    assert found.off() == (off << 150, 1 << (151 + 23))


def test_the_only_code_may_be_zero() -> None:
    assert made("integers", [0, 0]).real() == (
        True,
        "over the reals every hidden state is nearest to its code",
    )


@pytest.mark.parametrize(("gain", "sharp"), [(2, False), (3, True)])
def test_as_far_off_as_codes_are_apart_is_not_nearest(gain: int, sharp: bool) -> None:
    """Off by 2 · 2 · 2 = 2^3; apart by 2 times 2^2 where 23 · 2 / 16 is 2, 2^4 where it is 4."""
    blunt = "over the reals attention is not sharp enough for these codes"
    near = "over the reals every hidden state is nearest to its code"
    assert made("integers", [1], gain=gain).real() == (sharp, near if sharp else blunt)


@pytest.mark.parametrize(("gain", "sharp"), [(12, False), (13, True)])
def test_a_margin_is_lowered_by_one_in_two_to_the_sixteen_at_most(gain: int, sharp: bool) -> None:
    """Off by 2^3 as above, apart by 2 · 2^17 or 2 · 2^18: then 2^16 off is not above apart."""
    told = made("integers", [1], gain=gain, factor=1).probability(Fraction(1, 2))
    assert (told.text != "only integer codes have margins for a probability") is sharp


@pytest.mark.parametrize("family", INTEGERS + OTHERS)
def test_only_integer_codes_have_probabilities(family: str) -> None:
    found = two_heads(family)
    assert found.real().ok
    told = found.probability(Fraction(1, 100))
    assert told == (
        (True, "over the reals every value has probability >= 1/100")
        if family in INTEGERS
        else (False, "only integer codes have margins for a probability")
    )


@pytest.mark.parametrize(
    ("factor", "power"),
    [
        (1, 1),  # 23/16 is 1.44
        (16, 22),  # 23 less a little
        (1 << 15, 47103),  # 23 · 2^11 = 47104, less 23 · 2^-5
    ],
)
def test_probabilities_of_integer_codes(factor: int, power: int) -> None:
    """e^-x < 2^-n for x = factor (1 - 2^-16), n = ⌊23x/16⌋, for each of two tokens."""
    found = made("integers", [1], factor=factor)
    odds = Fraction(2, 1 << power)
    assert found.probability(1 / (1 + odds)).ok
    told = found.probability(1 / (1 + odds * Fraction(3, 4)))
    assert told == (False, f"the margin {factor} is too small for the probability")


# --- places --------------------------------------------------------------------------------------


def test_the_parts_of_a_square_stand_where_every_predicate_has_one() -> None:
    """On the first and the second marker, or on the marker and the hot coordinates."""
    assert Layout(5, [0], [None, 1, 2], [3, 4]).intercepts("octaves") == ([3], [4])
    assert Layout(5, [0], [None, 1, 2], [3]).intercepts("octaves") == ([3], [])
    assert Layout(5, [0], [0, 1, 2], [3]).intercepts("octaves") == ([3], [0, 1, 2])
    assert Layout(5, [0], [None, 1, 2], [3, 4]).intercepts("unmarked") == ([1, 2], [3, 4])
