"""What is read, how it is named, and what is charged: the edges of the checker's first modules."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from benchmarks.corpus import counted

from lemmax import checker
from lemmax.checker import LIMITS, NotACertificate, arithmetic, limits, reading
from lemmax.checker.language import claims
from lemmax.checker.limits import brief, foresee, keep, metered, room, spend


def refused(sentence: str) -> Any:
    return pytest.raises(NotACertificate, match=f"^{re.escape(sentence)}")


# --- arithmetic ---------------------------------------------------------------------------------


def test_no_rows_have_no_bits() -> None:
    assert arithmetic.bits_of([]) == arithmetic.bits_of([[], []]) == 0


def test_subsets_are_counted_up_to_a_limit() -> None:
    for n in range(8):
        for k in range(n + 1):
            assert arithmetic.subsets(n, k) == math.comb(n, k)
    assert arithmetic.subsets(70, 69) == 70  # as many as subsets of one, not by those of 35
    partial = (math.comb(70, k) for k in range(36))
    first = next(found for found in partial if found > 10**18)
    assert arithmetic.subsets(70, 35) == first < 11**18 < math.comb(70, 35)
    assert arithmetic.subsets(10**18, 2) > 10**18


# --- what no certificate contains ---------------------------------------------------------------


def nested(times: int, innermost: Any, within: Callable[[Any], Any]) -> Any:
    for _ in range(times):
        innermost = within(innermost)
    return innermost


@pytest.mark.parametrize("within", [lambda x: [x], lambda x: {"a": x}], ids=["lists", "objects"])
def test_what_is_nested_lies_twelve_levels_below_the_top(within: Callable[[Any], Any]) -> None:
    reading.screen(nested(12, [], within))
    with refused("The certificate is nested more than 12 deep."):
        reading.screen(nested(13, [], within))


def test_a_short_string_in_a_list_is_no_level() -> None:
    """Up to 20 letters it is not looked at: longer ones are charged for, one by one."""

    def innermost(letters: int) -> Any:
        return nested(12, ["1" * letters], lambda x: [x])

    for letters in (0, 1, 20):
        reading.screen(innermost(letters))
    with refused("The certificate is nested more than 12 deep."):
        reading.screen(innermost(21))


@pytest.mark.parametrize(
    ("value", "memory"),
    [
        (["x" * 20], 4 * 40),
        (["x" * 21], 4 * 40 + 40 + 7 * 21 // 7),
        ("x" * 20, 0),
        ("x" * 21, 40 + 7 * 21 // 7),
    ],
)
def test_strings_beyond_twenty_letters_are_charged_for(value: Any, memory: int) -> None:
    """A list of one takes 2 + 2 numbers of 40 bytes; a long string 40 and one for each letter.

    The room is asked for, and then it is taken.
    """
    with counted() as bill:
        reading.screen(value)
    assert bill.sums["memory"] == 2 * memory


def test_field_names_are_strings() -> None:
    with refused("A field name is not a string."):
        reading.screen({1: "a"})


def test_strings_have_as_many_letters_as_a_number() -> None:
    most = LIMITS["hex digits"] + 20
    reading.screen("x" * most)
    with refused("A string of the certificate is too long."):
        reading.screen("x" * (most + 1))


@pytest.mark.parametrize("value", [[], {}])
def test_what_does_not_fit_is_the_certificate(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, "memory", 10)
    with refused("The certificate brings the memory to "):
        reading.screen(value)


# --- numbers ------------------------------------------------------------------------------------


def test_lists_have_at_least_one_entry() -> None:
    assert reading.items([1], "here") == [1]
    wrong: Any
    for wrong in ([], "x"):
        for read in (reading.items, reading.numbers):
            with refused("here must be a nonempty list"):
                read(wrong, "here")


def test_a_number_without_a_name_is_an_entry() -> None:
    for wrong in ("x", 1, "2/4"):
        with refused("The entry "):
            reading.number(wrong)


@pytest.mark.parametrize(
    ("text", "work", "memory"),
    [
        ("1" * 20, 0, 0),
        ("1" * 21, 1, 2 * (40 + 84 // 7)),  # 84² + 20 · 84 is below 60,000
        # 8000 digits are read as decimals: 1 + (32000² + 20 · 32000) // 60,000; the number has
        # 39,992 bits, and 40 quotients of it take 1 + 399,920 // 60,000 each.
        ("0x" + "1" * 9_998, 17_078 + 40 * 7, 2 * (40 + 5_714) + 2 * (40 + 5_713)),
    ],
)
def test_numbers_beyond_twenty_letters_are_charged_for(text: str, work: int, memory: int) -> None:
    """The room for two numbers of so many bits, here and for "0x", is asked for and taken."""
    with counted() as bill:
        assert reading.number(text) == int(text, 0)
    assert bill.sums == {"work": work, "memory": 2 * memory}


def sieve(most: int) -> list[int]:
    left = list(range(2, most))
    return [n for n in left if all(n % d for d in range(2, math.isqrt(n) + 1))]


def test_small_primes() -> None:
    assert [n for n in range(-3, 2000) if reading.is_prime(n)] == sieve(2000)


def test_two_tells_apart_what_passes_all_odd_bases() -> None:
    """For p = 3 mod 8 and q = 2p - 1, both prime, 2 is no square mod q, and 3, ..., 41 are.

    Each of these has the same sign as a power of exponent (p - 1) / 2 mod p and mod q, so that
    pq is a strong pseudoprime to it.
    """
    p = 6190871611
    q = 2 * p - 1
    odd = (p * q - 1) // 2
    assert odd % 2
    for base in (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41):
        assert pow(base, odd, p * q) in (1, p * q - 1)
    assert not reading.is_prime(p * q)
    assert reading.is_prime(p)
    assert reading.is_prime(q)


def test_the_least_number_that_passes_all_bases_is_not_below_the_limit() -> None:
    """Sorenson and Webster 2015: it is 1287836182261 · 2575672364521."""
    least = 1287836182261 * 2575672364521
    assert least == LIMITS["prime"]
    with refused(f"p must be below {least}."):
        reading.prime(str(least), "p")


# --- what is said and charged -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("x" * 48, repr("x" * 48)),
        ("x" * 49, repr("x" * 48 + "...")),
        (2**400 - 1, str(2**400 - 1)),
        (2**400, "<a number of 401 bits>"),
        (Fraction(1, 2**400 - 1), f"1/{2**400 - 1}"),
        (Fraction(1, 2**400), "<a number of 401 bits>"),
    ],
)
def test_names_are_short(value: object, name: str) -> None:
    assert brief(value) == name


@pytest.mark.parametrize(
    ("given", "work"),
    [
        ({"count": 3}, 3),
        ({"count": 3, "flat": 4}, 7),
        ({"count": 2, "a": 60_000}, 2 * 11),
        ({"count": 2, "b": 60_000}, 2 * 11),
        ({"count": 1, "a": 5_999}, 1),
        ({"count": 1, "a": 6_000}, 2),
        ({"count": 1, "a": 600, "b": 300}, 1 + (180_000 + 9_000) // 60_000),
    ],
)
def test_a_division_takes_a_product_and_ten_of_a_sum(given: dict[str, int], work: int) -> None:
    """1 + (ab + 10 (a + b)) / 60,000 for each, rounded down, and what is flat."""
    with counted() as bill:
        spend("Something", **given)
    assert bill.sums == {"work": work, "memory": 0}


def test_a_product_of_long_numbers_takes_less_than_a_division() -> None:
    """2^16 bits count as 2^16 by 10 · 2^10: 671,088,640 + 757,760, over 60,000, is 11,197."""
    with counted() as bill:
        limits.multiply("Something", 1, 2**16)
    assert bill.sums["work"] == 1 + 11_197


def test_as_much_as_the_limit_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, "work", 5)
    monkeypatch.setitem(LIMITS, "memory", 80)
    with metered():
        foresee("Something", 5)
        spend("Something", 5)
        for charge in (foresee, spend):
            with refused("Something brings the work to 6.0e+00 units, and the limit is 5.0e+00."):
                charge("Something", 1)
    with metered():
        room("Something", 2)
        keep("Something", 2)
        for charge in (room, keep):
            with refused("Something brings the memory to 1.2e+02 bytes, and the limit is 8.0e+01"):
                charge("Something", 1)


def test_what_belongs_to_the_language_is_there_when_it_is_asked_for() -> None:
    for name in ("RESERVED", "STATEMENTS", "formal_statements"):
        assert getattr(checker, name) is getattr(claims, name)
    with pytest.raises(AttributeError, match="no attribute 'claims_of'"):
        getattr(checker, "claims_of")  # noqa: B009
