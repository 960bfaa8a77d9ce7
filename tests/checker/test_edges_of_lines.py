"""Lines and their points at the edges of what is asked of them: envelopes of the layers by codes.

The rules compare integers, numbers times 2^150 and logits times 2^300, so that an edge is met
exactly, and one unit beside it is met too, also where no format has such numbers.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Mapping
from typing import Any

import pytest

from lemmax.checker import NotACertificate
from lemmax.checker.coded.arrays import Table
from lemmax.checker.coded.codebooks import Layer
from lemmax.checker.coded.envelopes import NEVER, Envelope, Group, Line, valuation
from lemmax.checker.coded.floats import FORMATS, ONE, SHIFT, Format
from lemmax.checker.kinds.float_memorization import layout
from lemmax.checker.steps import Step

BFLOAT16, FLOAT16, FLOAT32 = (FORMATS[name] for name in ("bfloat16", "float16", "float32"))
NORMAL = 1 << (SHIFT - 126)  # the least normal number of bfloat16, and of float32
LARGEST = ((1 << 24) - 1) << (104 + SHIFT)  # the largest number of float32
KEY, VALUE = 2, 3  # the predicates are tokens 0 and 1
Entries = Mapping[tuple[int, int], float]


def table(rows: int, width: int, entries: Entries) -> Table:
    """Zeros, but for some entries; bfloat16 is the upper half of float32."""
    words = array("H", [0] * (rows * width))
    for (i, j), number in entries.items():
        words[i * width + j] = int.from_bytes(struct.pack("<f", number), "little") >> 16
    return Table("BF16", (rows, width), words)


def layer(
    W_E: Entries | None = None,
    W_U: Entries | None = None,
    asked: tuple[int, ...] = (0,),
    weights: Format = BFLOAT16,
    **changes: Any,
) -> Layer:
    """Two predicates that share numbers: numbers 0 and 1, what is shared is 2, and 5 is a marker.

    The outputs are 0 and 3, and 2 and 4 of what is shared; the value has the slope 1 + 1.
    """
    place = layout(2, 2, 1, 2)
    facts = [token for q in asked for token in (KEY, q, VALUE)]
    arrays = {
        "W_E": table(4, 6, W_E or {(KEY, 0): 1, (KEY, 1): 1}),
        "W_U": table(6, 4, {(0, VALUE): 1, (3, VALUE): 1} if W_U is None else W_U),
        "facts": Table("I32", (len(asked), 3), array("i", facts)),
    }
    formats = (weights, FLOAT32, FLOAT32, weights)
    return Layer(*formats, "envelope", 2, 1, place, arrays, [0, 1], 2)._replace(**changes)


def whole(*args: Any, gain: int = 128, **changes: Any) -> Envelope:
    return Envelope(layer(*args, **changes), gain, [VALUE])


def parts(**known: Any) -> Envelope:
    """What the steps before have found, and nothing else."""
    made = Envelope.__new__(Envelope)
    made.__dict__.update({"layer": layer(), "terms": 3, "top": 0, "unit_y": NEVER, "off": 0})
    made.__dict__.update(known)
    return made


def test_no_power_of_two_divides_only_zero_so_often() -> None:
    assert valuation([0, 0]) == valuation([]) == NEVER == 10**6
    assert valuation([0, 24, -4]) == 2


REFUSED = r"^code of lines needs products that sums hold, and no factor\.$"


@pytest.mark.parametrize("changes", [{"factor": 2}, {"m": 3}, {"weights": FLOAT32}])
def test_lines_are_of_one_or_two_numbers_whose_products_are_held(changes: dict[str, Any]) -> None:
    with pytest.raises(NotACertificate, match=REFUSED):
        whole(**changes)


def test_sums_of_24_bits_hold_products_of_12() -> None:
    for bits, held in ((8, True), (11, True), (12, True), (13, False)):
        form = FLOAT16._replace(significand=bits)
        if held:
            assert whole(W_U={}, weights=form).terms == 5  # four outputs and a marker
        else:
            with pytest.raises(NotACertificate, match=REFUSED):
                whole(W_U={}, weights=form)


@pytest.mark.parametrize(
    ("number", "why"),
    [(-0.0, "has the entry -0"), (math.inf, "has an entry that is not a finite number")],
)
def test_what_is_no_number_is_refused(number: float, why: str) -> None:
    with pytest.raises(NotACertificate, match=rf"^W_U {why}\.$"):
        whole(W_U={(0, 0): number})
    lines = whole({(KEY, 0): 1, (KEY, 4): number})
    assert lines.columns().ok
    with pytest.raises(NotACertificate, match=rf"^W_E {why}\.$"):
        lines.points()


@pytest.mark.parametrize(("slope", "side"), [(1, 1), (-1, -1), (2.0**-126, 1), (-(2.0**-126), -1)])
def test_values_are_on_the_side_of_their_slope(slope: float, side: int) -> None:
    lines = whole(W_U={(0, VALUE): slope})
    assert lines.columns().ok
    assert lines.place == {VALUE: (side, 0)}
    least = parts(known=[VALUE], rows=[], parts={VALUE: [[side], [0], [0]]})
    assert least.columns().ok
    assert least.place == {VALUE: (side, 0)}
    level = whole(W_U={(0, VALUE): slope, (3, VALUE): -slope}).columns()
    assert level == Step(False, f"the column of token {VALUE} has no slope")


def found(W_E: Entries, asked: tuple[int, ...] = (0,), gain: int = 128) -> tuple[Step, Envelope]:
    lines = whole(W_E, None, asked, gain=gain)
    assert lines.columns().ok
    return lines.points(), lines


def test_the_number_of_a_fact_is_not_zero() -> None:
    for number in (0, -1):
        why = f"a fact of token {VALUE} is not on its side"
        assert found({(KEY, 0): number})[0] == Step(False, why)


def test_predicates_that_share_a_number_halve_it_in_turn() -> None:
    """129 has all the eight bits of bfloat16."""
    step, lines = found({(KEY, 0): 1, (KEY, 1): 1.5, (KEY, 2): 129}, (0, 1))
    assert step == Step(True, "2 facts are points of their values' side")
    assert sorted(lines.at[VALUE]) == [(ONE, 129 * ONE), (3 * ONE // 2, 129 * ONE // 2)]
    assert (lines.top, lines.unit_y) == (129 * ONE, SHIFT - 1)


@pytest.mark.parametrize(
    ("W_E", "reach"),
    [
        ({(KEY, 0): 1, (KEY, 1): 4, (KEY, 2): 0.5}, 4 * ONE),
        ({(KEY, 0): 1, (KEY, 1): -8, (KEY, 2): 0.5}, 8 * ONE),
        ({(KEY, 0): 0.5, (KEY, 1): -0.5}, ONE),
    ],
)
def test_over_the_reals_a_point_is_off_by_what_attention_leaves(W_E: Entries, reach: int) -> None:
    """Each of the two heads and the sum: three times the largest number, or 1, times exp(-16).

    exp(-16) < 2^-23, exp(-24) < 2^-34 (23/16 for each unit), and one is for what is cut off.
    """
    for gain, power in ((16, 23), (24, 34)):
        step, lines = found(W_E, gain=gain)
        assert step.ok
        assert lines.off == 3 * reach // 2**power + 1


def line(token: int, p: float, q: float, r: float) -> Line:
    return Line(token, *(int(x * 2) * ONE // 2 for x in (p, q, r)))


def crossed(*lines: tuple[float, float, float], top: int = 0) -> Step:
    side = [line(token, *each) for token, each in enumerate(lines)]
    return parts(sides={1: [], -1: side}, top=top * ONE).crossings()


def test_lines_cross_one_after_the_other() -> None:
    fine = Step(True, "neighbouring lines cross in their order, whatever the share")
    assert crossed((1, 0, 0), (2, 0, 1), (3, 0, 2.5)) == fine
    # three lines through one point, at X = 1
    wrong = Step(False, "lines do not cross in order at token 1")
    assert crossed((1, 0, 0), (2, 0, 1), (3, 0, 2)) == wrong
    # rho is 2, then 1
    assert crossed((1, 0, 0), (2, 2, 0), (3, 3, 1)) == wrong


@pytest.mark.parametrize("top", [0, 1, 5])
def test_lines_cross_in_order_up_to_one_more_than_the_largest_share(top: int) -> None:
    """They cross at X = 0, and at X = t - Y, which is 0 for Y = t = top + 1."""
    assert crossed((1, 0, 0), (2, 0, 0), (3, 1, top + 1), top=top).ok
    sooner = crossed((1, 0, 0), (2, 0, 0), (3, 1, top + 0.5), top=top)
    assert sooner == Step(False, "shares reorder the lines at token 1")


def beside(points: dict[int, list[tuple[int, int]]], off: int, *lines: Line) -> Step:
    place = {each.token: (1, j) for j, each in enumerate(lines)}
    return parts(at=points, place=place, sides={1: list(lines), -1: []}, off=off).neighbours()


def test_a_point_lies_above_its_neighbours_by_more_than_it_may_be_off() -> None:
    """X + 2y - t, p differs by 1 and q by 2, is more than three times what both are off by.

    The slopes are 1 and 2, the shares 1 and 3, and the lines cross where X + 2y = 1.
    """
    low, high = line(7, 1, 1, 0), line(8, 2, 3, 1)
    for off in (1, 5, ONE):
        for v, other, sign in ((8, 7, 1), (7, 8, -1)):
            for y in (0, 3):
                edge = ONE + sign * 3 * off - 2 * y
                near = beside({v: [(edge, y)]}, off, low, high)
                assert near == Step(False, f"a fact of token {v} is answered by token {other}")
                assert beside({v: [(edge + sign, y)]}, off, low, high).ok


def test_the_neighbour_is_named_that_a_fact_is_answered_by() -> None:
    """The lines cross at X = 1, 2 and 3."""
    ladder = [line(0, 1, 0, 0), line(1, 2, 0, 1), line(2, 3, 0, 3), line(3, 4, 0, 6)]
    winners = [0.5, 1.5, 2.5, 3.5]
    for v, x in enumerate(winners):
        assert beside({v: [(int(x * ONE), 0)]}, 1, *ladder).ok
    for v, x in ((2, 0.5), (3, 0.5), (3, 1.5)):
        below = beside({v: [(int(x * ONE), 0)]}, 1, *ladder)
        assert below == Step(False, f"a fact of token {v} is answered by token {v - 1}")
    for v, x in ((0, 1.5), (0, 3.5), (1, 2.5), (1, 3.5)):
        above = beside({v: [(int(x * ONE), 0)]}, 1, *ladder)
        assert above == Step(False, f"a fact of token {v} is answered by token {v + 1}")


def test_neighbours_alone_do_not_tell_where_lines_cross_in_another_order() -> None:
    """At X = 1 the logits are 1, -2 and 2: the second line never wins, and hides the third."""
    lines = (1, 0, 0), (2, 0, 4), (3, 0, 1)
    assert beside({0: [(ONE, 0)]}, 1, *(line(v, *each) for v, each in enumerate(lines))).ok
    assert crossed(*lines) == Step(False, "lines do not cross in order at token 1")


def grouped(exponents: list[int], weight: int = ONE, **changes: Any) -> Step:
    """A value for each exponent, on two lines at least; slopes grow with their number."""
    lines = [Line(v, (v + 1) * ONE, 0, 0) for v in range(len(exponents))]
    return parts(
        layer=layer()._replace(**changes),
        sides={1: lines, -1: []},
        group_of=dict(enumerate(exponents)),
        parts={v: [[weight, 0], [0, 0], [0]] for v in range(len(exponents))},
        at={v: [(ONE << e if e >= 0 else ONE >> -e, 0)] for v, e in enumerate(exponents)},
    ).grouped()


def test_lines_write_each_number_twice() -> None:
    with pytest.raises(NotACertificate, match=r"^code of lines writes each number twice\.$"):
        grouped([0], m=1)
    assert grouped([0], m=2).ok


def test_magnitudes_grow_with_slopes() -> None:
    assert grouped([-1, 0, 0, 2]) == Step(True, "3 groups of values, by magnitude")
    assert grouped([0, -1]) == Step(False, "magnitudes do not grow with the slopes")


def test_weights_are_normal_numbers() -> None:
    """Of the format of weights and of that of sums."""
    why = Step(False, "a weight is not a normal number")
    for weight in (NORMAL, -NORMAL, 0):
        assert grouped([0], weight).ok
    for weight in (NORMAL - 1, -NORMAL // 2, 1, -1):
        assert grouped([0], weight) == why
    assert grouped([-126]).ok
    assert grouped([-127]) == why
    half = FLOAT16, FLOAT32  # the least normal number is 2^-14 then
    for weights, sums in (half, half[::-1]):
        assert grouped([0], ONE >> 14, weights=weights, sums=sums).ok
        assert grouped([0], ONE >> 15, weights=weights, sums=sums) == why


def test_there_are_at_most_600_groups() -> None:
    assert grouped(list(range(600))) == Step(True, "600 groups of values, by magnitude")
    with pytest.raises(NotACertificate, match=r"^The groups are more than a format has exponents"):
        grouped(list(range(601)))


def group(p: int, q: int = 0, r: int = 0, *, x: tuple[int, ...], **changes: Any) -> Group:
    """One value, and the numbers of its facts."""
    own = Line(VALUE, p, q, r)
    a, b, c = (valuation([number]) for number in (p, q, r))
    found = Group(own, own, min(x), max(x), valuation([*x]), p, q, abs(r), a, b, c, p, r)
    return found._replace(**changes)


def compared(right: list[Group], left: list[Group] | None = None, **known: Any) -> Step:
    return parts(groups={1: right, -1: left or []}, **known).margins()


def exactly(count: int, pairs: int) -> Step:
    return Step(True, f"{count} of {pairs} pairs of groups exactly, the others far apart")


def test_values_beat_the_logit_zero_by_more_than_they_may_be_off() -> None:
    """2 · 4 - 3 is what X and y are off by, 1 each, times 2 and 3; 2 · 4 - 2 is more."""
    p, q, x = 2 * ONE, 3 * ONE, (4 * ONE,)
    tie = compared([group(p, q, 3 * ONE, x=x)], off=ONE)
    assert tie == Step(False, "a value lies below the tokens that are no values")
    assert compared([group(p, q, 2 * ONE, x=x)], off=ONE) == exactly(1, 1)


def test_logits_may_be_the_largest_number_and_no_larger() -> None:
    one, large = group(ONE, x=(ONE,)), group(LARGEST, x=(ONE,))
    assert compared([large]) == exactly(1, 1)
    assert compared([one], [large]) == compared([large], [one]) == exactly(2, 2)
    why = Step(False, "the largest logit is not finite")
    assert compared([group(2 * LARGEST, x=(ONE,))]) == why
    assert compared([group(LARGEST, x=(2 * ONE,))]) == why
    # it is -2 · LARGEST that the other side has at 2, and -oo when it is stored
    why = Step(False, "a value of the other sign may have a positive logit")
    assert compared([group(ONE, x=(2 * ONE,))], [large]) == why


# A sum of three terms that are 2^24 together, and no multiples of a normal number, is off by less
# than 2 · 3 · 2^24 / 2^24 + 1, and by 2 · 3 least numbers 2^(-126 + 300) of what underflows.
LOOSE = 6 + 1 + (6 << 174)


@pytest.mark.parametrize(("more", "holds"), [(-1, False), (0, False), (1, True)])
def test_smaller_magnitudes_are_further_apart_than_sums_are_off(more: int, holds: bool) -> None:
    """At X = 1 and y = 0 the slopes differ by that, whatever the shares are."""
    low = group(1, x=(1,), unit_x=200)
    high = group(1 + LOOSE + more, 5, x=(1, 1 << 24), unit_p=200, unit_q=200)
    why = Step(False, "two magnitudes are closer than sums are exact")
    assert compared([low, high]) == (exactly(3, 4) if holds else why)


@pytest.mark.parametrize(("more", "holds"), [(-1, False), (0, True), (1, True)])
@pytest.mark.parametrize("turned", [False, True])
def test_the_other_side_is_below_zero_by_what_sums_are_off(
    more: int, holds: bool, turned: bool
) -> None:
    """At X = 1 it has -p, p = LOOSE or one more."""
    mine = group(1, x=(1, 1 << 24), unit_p=200)
    other = group(1, x=(1,), unit_x=200, least_p=LOOSE + more)
    sides = ([other], [mine]) if turned else ([mine], [other])
    why = Step(False, "a value of the other sign may have a positive logit")
    assert compared(*sides) == (exactly(2, 2) if holds else why)


def test_a_bound_of_the_error_of_a_sum() -> None:
    """T is the sum of the absolute terms, 2 · 7 + 3 · 11 + 5 · 2^150, n = 3, and p = 24."""
    loose = parts(top=11, unit_y=0).error(group(1, x=(7,)), group(2, 3, -5, x=(1,)))
    assert loose == (47 + 5 * ONE, 6 * 5 * ONE // 2**24 + 1 + 6 * 2**174)


def test_sums_of_24_bits_are_exact() -> None:
    """Multiples of 2^200 up to 2^224, which is held as well, and not the next one."""
    for large, exact in ((2**24 - 1, True), (2**24, True), (2**24 + 1, False)):
        total, error = parts().error(group(1, x=(1, large)), group(1 << 200, x=(1,)))
        assert total == large << 200
        assert (error == 0) is exact
