"""The edges of what predicates and heads of layers by codes may be: with markers, without, joined.

The layers are as small as they can be, in bfloat16; no weight is there that is not needed.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Mapping, Sequence

import pytest

from lemmax.checker import NotACertificate
from lemmax.checker.coded import joined, unmarked
from lemmax.checker.coded.arrays import Table
from lemmax.checker.coded.codebooks import Layer, Layout
from lemmax.checker.coded.floats import FORMATS, Format
from lemmax.checker.kinds import float_memorization as marked
from lemmax.checker.steps import Step

BFLOAT16, FLOAT16, FLOAT32 = (FORMATS[name] for name in ("bfloat16", "float16", "float32"))
Entries = Mapping[tuple[int, int], float]


def word(number: float) -> int:
    """bfloat16 is the upper half of float32."""
    return int.from_bytes(struct.pack("<f", number), "little") >> 16


def table(rows: int, width: int, entries: Entries) -> Table:
    """Zeros, but for some entries."""
    words = array("H", [0] * (rows * width))
    for (i, j), number in entries.items():
        words[i * width + j] = word(number)
    return Table("BF16", (rows, width), words)


def tokens(*numbers: int) -> Table:
    return Table("I32", (len(numbers) // 3, 3), array("i", numbers))


def layer(
    family: str,
    place: Layout,
    m: int,
    W_E: Table,
    facts: Sequence[int],
    heads: Mapping[str, Sequence[float]] | None = None,
    residual: Format = BFLOAT16,
) -> Layer:
    """Predicates are the first tokens; heads are zero where nothing is said of them."""
    count, d = len(place.hot), place.width
    wide = 2 if family == "joined" else 1
    sizes = {"W_Q": d * wide, "W_K": wide * d, "W_V": d * m, "W_O": m * d}
    arrays = {"W_E": W_E, "facts": tokens(*facts)}
    for name, size in sizes.items():
        words = [word(x) for x in (heads or {}).get(name, [0] * (count * size))]
        arrays[name] = Table("BF16", (count, size), array("H", words))
    formats = (BFLOAT16, FLOAT32, FLOAT32, residual)
    return Layer(*formats, family, m, 1, place, arrays, list(range(count)), 0)


def without_marker(
    scale: float = 16, changes: Entries | None = None, residual: Format = BFLOAT16
) -> Layer:
    """Three heads, two coordinates; the tokens are three predicates and a key, which is zero.

    The hot coordinates are 1, 2 and 4, the last marker is 5, and (1,1) is 3.
    """
    entries = {(0, 1): scale, (0, 5): scale, (0, 3): -scale / 2}
    entries |= {(1, 2): scale, (1, 5): scale, (1, 3): -scale, (2, 4): scale, (2, 5): scale}
    W_E = table(4, 6, {**entries, **(changes or {})})
    return layer("unmarked", unmarked.layout(3, 2), 2, W_E, (3, 0, 3), residual=residual)


def by_a_marker(changes: Entries | None = None, W_Q: float = -104, W_V: float = 1) -> Layer:
    """One head, one coordinate and one marker; the tokens are a predicate and a key."""
    heads: dict[str, list[float]]
    heads = {"W_Q": [0, W_Q], "W_K": [0, 1], "W_V": [W_V, 0], "W_O": [1, 0]}
    W_E = table(2, 2, {(0, 1): 1, **(changes or {})})
    return layer("integers", marked.layout(1, 1, 1, None), 1, W_E, (1, 0, 1), heads)


def both(changes: Entries | None = None, facts: Sequence[int] = (1, 0, 1)) -> Layer:
    """One head, one coordinate: a block, a hot coordinate, an output and a marker.

    The tokens are a predicate, with 5 in its block, which no other head reads, and two keys.
    """
    W_E = table(3, 4, {(0, 0): 5, (0, 1): 1, (0, 3): 1, **(changes or {})})
    return layer("joined", joined.layout(1, 1), 1, W_E, facts)


def scored(p: float, gain: float, *, right: bool = True) -> Layer:
    """The same with a head that scores by the number p and the gain, and reads the block."""
    heads = {"W_Q": [0, 0, -2 * gain * p, gain, 0, 0, 0, 0], "W_K": [0, p, 0, 0, 0, p * p, 0, 0]}
    heads |= {"W_V": [1, 0, 0, 0], "W_O": [0, 0, 1 if right else 2, 0]}
    return layer("joined", joined.layout(1, 1), 1, table(3, 4, {}), (1, 0, 1), heads)


UNREADABLE = [(-0.0, "has the entry -0"), (math.inf, "has an entry that is not a finite number")]


@pytest.mark.parametrize(("number", "why"), UNREADABLE)
def test_what_is_no_number_is_refused_wherever_embeddings_are_read(number: float, why: str) -> None:
    """At the first place of a predicate, at another one, at a key, and in a block."""
    sentence = rf"^W_E {why}\.$"
    for place in [(0, 1), (0, 0), (1, 0), (3, 0)]:
        with pytest.raises(NotACertificate, match=sentence):
            unmarked.predicates(without_marker(changes={place: number}))
    for place in [(0, 1), (0, 0)]:
        with pytest.raises(NotACertificate, match=sentence):
            marked.predicates(by_a_marker({place: number}))
    with pytest.raises(NotACertificate, match=sentence):
        joined.predicates(both({(0, 0): number}))
    with pytest.raises(NotACertificate, match=sentence):
        joined.held(both({(2, 0): number}))


def test_only_the_rows_of_predicates_are_read_as_predicates() -> None:
    assert joined.predicates(both({(1, 0): -0.0})).ok


def test_second_coordinates_of_the_later_blocks_are_markers() -> None:
    """Four blocks of two: those from the third on begin at 4 and 6."""
    assert unmarked.layout(4, 2) == Layout(8, [0, 3], [1, 2, 4, 6], [5, 7])
    assert unmarked.layout(3, 3) == Layout(9, [0, 4, 5], [1, 3, 6], [7])


@pytest.mark.parametrize("scale", [16, 32, 64])
def test_predicates_without_a_marker_have_any_power_of_two_from_16_on(scale: int) -> None:
    text = f"3 predicates, 1 keys; the stream reaches {2 * scale}"
    assert unmarked.predicates(without_marker(scale)) == (scale, Step(True, text))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (without_marker(8), "predicate 0 has no power of two from 16 on at its hot coordinate"),
        (without_marker(24), "predicate 0 has no power of two from 16 on at its hot coordinate"),
        (without_marker(-16), "predicate 0 has no power of two from 16 on at its hot coordinate"),
        (without_marker(changes={(0, 3): -16}), "predicate 0 is not as it should be"),
        (without_marker(changes={(1, 3): -8}), "predicate 1 is not as it should be"),
        (without_marker(changes={(2, 3): -16}), "predicate 2 is not as it should be"),
        (without_marker(changes={(2, 0): 1}), "predicate 2 is not as it should be"),
        (without_marker(changes={(3, 0): 0.5}), "a key has an entry that is not an integer"),
        (
            without_marker(changes={(3, 1): 4, (3, 2): -4, (3, 4): 1}),
            "a key may score more than half of what predicates do",
        ),
        (without_marker(2.0**64), "the scores of predicates are not finite"),
        (without_marker(2.0**63), f"the residual stream reaches {2**64}, beyond 8 bits"),
        (without_marker(128, {(3, 0): 1}), "the residual stream reaches 257, beyond 8 bits"),
    ],
)
def test_what_predicates_without_a_marker_are_not(wrong: Layer, why: str) -> None:
    """There is no scale then: it is 0."""
    assert unmarked.predicates(wrong) == (0, Step(False, why))


def test_keys_may_score_half_of_what_predicates_do() -> None:
    """Their hot coordinates add up to 16/2 in absolute value."""
    assert unmarked.predicates(without_marker(16, {(3, 1): 4, (3, 2): -4}))[0] == 16


def test_the_stream_may_reach_the_first_number_with_one_more_bit() -> None:
    """2S and the largest entry of a key: 2^8 is held by eight bits, and so is all below."""
    for scale, largest in ((128, 0), (64, 128), (64, -128)):
        assert unmarked.predicates(without_marker(scale, {(3, 0): largest}))[0] == scale
    assert not unmarked.predicates(without_marker(256))[1].ok
    assert unmarked.predicates(without_marker(256, residual=FLOAT32))[0] == 256


def test_heads_that_select_nothing_have_no_gain() -> None:
    astray = "W_{} of head 0 does not select its block and predicate"
    assert unmarked.heads(without_marker(), 16) == (0, Step(False, astray.format("Q")))
    assert marked.heads(by_a_marker(W_V=2), 1) == (0, Step(False, astray.format("V")))
    assert joined.heads(scored(1, 128, right=False)) == (0, Step(False, astray.format("O")))


def test_markers_are_powers_of_two_from_one_on() -> None:
    why = "predicate 0 has no power of two at the marker"
    for number in (0, 0.5, -1, 3, 1.5):
        assert marked.predicates(by_a_marker({(0, 1): number})) == (0, Step(False, why))
    for number in (1, 2, 64):
        found = marked.predicates(by_a_marker({(0, 1): number}))
        assert found == (number, Step(True, "1 predicates, 1 keys as they should"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ((0, 0), "predicate 0 is not a marker and a hot coordinate"),
        ((1, 1), "a key is not zero at a marker"),
    ],
)
def test_markers_stand_at_predicates_alone(change: tuple[int, int], why: str) -> None:
    assert marked.predicates(by_a_marker({change: 1})) == (0, Step(False, why))


def test_the_least_gain_is_104() -> None:
    """exp(x) is 0 for x <= -104, so that 104 is enough, and 103 is not."""
    enough = "1 heads attend to one token only: exp(-104) is 0"
    assert marked.heads(by_a_marker(), 1) == (104, Step(True, enough))
    assert joined.heads(scored(1, 104)) == (104, Step(True, enough))
    little = "attention saturates to exp(-103), which is not 0"
    assert marked.heads(by_a_marker(W_Q=-103), 1) == (0, Step(False, little))
    little = "scores may differ by 103 only, and exp(-103) is not 0"
    assert joined.heads(scored(1, 103)) == (0, Step(False, little))


@pytest.mark.parametrize(("p", "gain"), [(0, 128), (0.5, 128), (1, 127.5)])
def test_predicates_are_numbered_by_integers_that_are_not_zero(p: float, gain: float) -> None:
    """Every other token has the number 0, and would be attended to as much."""
    why = "the predicates' numbers are not distinct integers"
    assert joined.heads(scored(p, gain)) == (0, Step(False, why))


def test_subjects_of_all_facts_are_looked_at() -> None:
    """In two facts the second subject is the fourth number."""
    facts = (1, 0, 1, 2, 0, 1)
    assert joined.predicates(both(facts=facts)) == Step(
        True, "1 predicates, 0 of them subjects too"
    )
    shared = joined.predicates(both(facts=(1, 0, 1, 0, 0, 1)))
    assert shared == Step(True, "1 predicates, 1 of them subjects too")
    hot = joined.predicates(both({(2, 1): 1}, facts))
    assert hot == Step(False, "a subject that is no predicate has a hot coordinate")


@pytest.mark.parametrize(
    ("numbers", "gain", "form", "least"),
    [
        # 17² has nine bits: 128 · 289 is moved by 144 + 1 at most, from 128 above 128 · 288
        ([17, 16], 128, BFLOAT16, 128 - 145),
        # so has 2 · 17 · 18 - 17² = 323: 128 · 323 is moved by 161 + 1 at most, 128 · 18² is held
        ([17, 18], 128, BFLOAT16, 128 - 162),
        # 2 against 0 differs by 4 · 171; nothing has the number 1
        ([2], 171, BFLOAT16, 171),
        # partial sums reach 4 · 2^8 · 128² = 2^24, the last integer that 24 bits surely hold
        ([128], 256, BFLOAT16, 256),
        ([129], 256, BFLOAT16, 0),
        # 4 · 128 · 11² = 61952 lies below 65504, the largest number of float16, and 12² above
        ([11], 128, FLOAT16, 128),
        ([12], 128, FLOAT16, 0),
    ],
)
def test_scores_are_so_far_apart(numbers: list[int], gain: int, form: Format, least: int) -> None:
    assert joined.apart(numbers, gain, form, FLOAT32) == least


def test_outputs_may_reach_the_first_number_with_one_more_bit() -> None:
    """One head: an output is one entry of a block, and 2^8 is held by eight bits."""
    held = "outputs are integers up to 256, whatever the order of the heads"
    assert joined.held(both({(2, 0): 256})) == Step(True, held)
    beyond = "outputs reach 258, beyond 8 bits"
    assert joined.held(both({(2, 0): -258})) == Step(False, beyond)
    assert joined.held(both({(2, 0): 0.5})) == Step(False, "a block is not made of integers")
