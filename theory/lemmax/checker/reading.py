"""Reading: exact numbers, and the shapes that every kind is made of."""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

from .limits import LIMITS, brief, keep, refuse, spend


class Matrix(tuple[tuple[Fraction, ...], ...]):
    """Rows of equal length, at least one row and one column."""

    @functools.cached_property
    def bits(self) -> int:
        """The length of the longest numerator or denominator."""
        return max(map(int.bit_length, chain(*map(Fraction.as_integer_ratio, chain(*self)))))


class Tensor(tuple[Matrix, ...]):
    """A nonempty list of matrices of equal shape; the first index selects the matrix."""


class Integers(tuple[int, ...]):
    """A list of integers."""


def screen(value: object, depth: int = 0) -> None:
    """Refuse what no certificate contains, whatever its kind, before anything is computed."""
    if depth > LIMITS["nesting"]:
        refuse("The certificate", f"is nested more than {LIMITS['nesting']} deep")
    if type(value) is list:
        keep("The certificate", 2 * len(value) + 2)
        spend("The certificate", 4 * len(value))
        for item in value:
            if type(item) is not str or len(item) > 20:
                screen(item, depth + 1)
    elif type(value) is dict:
        keep("The certificate", 8 * len(value) + 6)
        for key, item in value.items():
            if type(key) is not str:
                refuse("A field name", "is not a string")
            screen(item, depth + 1)
    elif type(value) is str:
        if len(value) > 20:
            keep("The certificate", 1, 7 * len(value))
            if len(value) > LIMITS["hex digits"] + 20:
                refuse("A string of the certificate", "is too long")
    elif type(value) is not int or abs(value) >= 2**53:
        refuse(brief(value), "is neither an object, a list, a string nor an integer below 2^53")


def fields(value: object, where: str, names: str) -> dict[str, Any]:
    """An object with exactly the named fields."""
    if type(value) is not dict:
        refuse(where, f"must be an object, not {brief(value)}")
    for name in names.split():
        if name not in value:
            refuse(where, f"lacks the field {name}")
    for name in value:
        if name not in names.split():
            refuse(where, f"has an unknown field {brief(name)}")
    return value


def items(value: object, where: str, least: int = 1) -> list[Any]:
    if type(value) is not list or len(value) < least:
        refuse(where, f"must be a {'nonempty ' * least}list, not {brief(value)}")
    return value


def exactly(count: int, value: object, where: str) -> list[Any]:
    """A list of so many entries."""
    if len(entries := items(value, where)) != count:
        refuse(where, f"must have {count} entries, not {len(entries)}")
    return entries


def choice(value: object, where: str, options: Sequence[str]) -> str:
    if type(value) is not str or value not in options:
        refuse(where, f"must be one of {', '.join(options)}, not {brief(value)}")
    return value


def variant(value: object, where: str, tag: str, options: Mapping[str, str]) -> str:
    """The tag of an object whose further fields depend on it, as ``options`` says."""
    if type(value) is not dict:
        refuse(where, f"must be an object, not {brief(value)}")
    name = choice(value.get(tag), f"{where}.{tag}", tuple(options))
    fields(value, where, f"{tag} {options[name]}")
    return name


def integer(value: object, where: str, below: int = 2**53) -> int:
    """A JSON integer in 0..below-1."""
    if type(value) is not int or not 0 <= value < below:
        refuse(where, f"must be an integer in 0..{below - 1}, not {brief(value)}")
    return value


def indices(value: object, where: str, below: int) -> list[int]:
    """Distinct JSON integers in 0..below-1."""
    found = [integer(x, f"An entry of {where}", below) for x in items(value, where, 0)]
    if len(set(found)) != len(found):
        refuse(where, "repeats an index")
    return found


_DIGITS = f"[1-9][0-9]{{0,{LIMITS['decimal digits'] - 1}}}"
_HEX_DIGITS = f"[1-9a-f][0-9a-f]{{0,{LIMITS['hex digits'] - 1}}}"
_DECIMAL = re.compile(rf"(0|-?{_DIGITS})(?:/({_DIGITS}))?")
_HEX = re.compile(rf"(-?)0x(0|{_HEX_DIGITS})(?:p(0|-?[1-9][0-9]{{0,6}}))?")


def number(value: object, where: str = "The entry") -> Fraction:
    """An exact number: decimal integer, fraction in lowest terms, hex integer or hex dyadic."""
    if type(value) is not str:
        refuse(where, f"must be an exact number in a string, not {brief(value)}")
    if len(value) <= 20:
        found = _decimal(value)
    else:
        keep(where, 2, 4 * len(value))
        digits = min(len(value), 2 * LIMITS["decimal digits"])
        spend(where, 1, 4 * digits, 4 * digits)
        found = _decimal.__wrapped__(value)
    if found is not None:
        return found
    if parts := _HEX.fullmatch(value):
        length, exponent = 4 * len(parts[2]), int(parts[3] or 0)
        if abs(exponent) > LIMITS["exponent"]:
            refuse(where, f"has an exponent beyond {LIMITS['exponent']}")
        if parts[1] and parts[2] == "0":
            refuse(where, "is a negative zero")
        keep(where, 2, length + abs(exponent))
        spend(where, 40, length, max(-exponent, 0) // 8)
        mantissa = int(parts[1] + parts[2], 16)
        return Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))
    if _DECIMAL.fullmatch(value):
        refuse(where, f"is the fraction {brief(value)}, which is not in lowest terms")
    refuse(where, f"is {brief(value)}, which is not an exact number")


@functools.lru_cache(maxsize=50_000)
def _decimal(text: str) -> Fraction | None:
    """The number, if the text is a decimal integer or a decimal fraction in lowest terms."""
    parts = _DECIMAL.fullmatch(text)
    if parts is None:
        return None
    if parts[2] is None:
        return Fraction(int(parts[1]))
    found = Fraction(int(parts[1]), int(parts[2]))
    return found if found.denominator == int(parts[2]) > 1 else None


def _whole(x: Fraction, where: str) -> int:
    if x.denominator != 1:
        refuse(where, f"is {brief(x)}, which is not an integer")
    return x.numerator


def whole(value: object, where: str) -> int:
    return _whole(number(value, where), where)


def numbers(value: object, where: str, count: int | None = None) -> tuple[Fraction, ...]:
    """A nonempty list of exact numbers."""
    row = items(value, where) if count is None else exactly(count, value, where)
    keep(where, 3 * len(row))
    spend(where, 15 * len(row))
    return tuple(number(x, f"An entry of {where}") for x in row)


def wholes(value: object, where: str, count: int | None = None) -> list[int]:
    """A nonempty list of integers."""
    return [_whole(x, f"An entry of {where}") for x in numbers(value, where, count)]


def matrix(
    value: object, where: str, rows: int | None = None, columns: int | None = None
) -> Matrix:
    """A nonempty list of nonempty rows of exact numbers, all of one length."""
    table = items(value, where)
    width = columns if columns is not None else len(items(table[0], f"{where}[0]"))
    if rows is not None and len(table) != rows:
        refuse(where, f"must have {rows} rows, not {len(table)}")
    return Matrix(numbers(row, f"{where}[{i}]", width) for i, row in enumerate(table))


def tensor_value(value: object, where: str) -> Tensor:
    parts = [matrix(part, f"{where}[{i}]") for i, part in enumerate(items(value, where))]
    if len({(len(part), len(part[0])) for part in parts}) != 1:
        refuse(where, "has slices of different shapes")
    return Tensor(parts)


def prime(value: object, where: str) -> int:
    """A prime, which is proved to be one."""
    p = whole(value, where)
    if p >= LIMITS["prime"]:
        refuse(where, f"must be below {LIMITS['prime']}")
    spend(where, 1_000)
    if not is_prime(p):
        refuse(where, f"is {brief(p)}, which is not a prime")
    return p


def is_prime(n: int) -> bool:
    """Deterministic Miller-Rabin: exact for n below LIMITS["prime"]."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    if n < 2 or any(n % b == 0 for b in bases):
        return n in bases
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in bases:
        x = pow(base, odd, n)
        if x == 1 or any(pow(x, 1 << i, n) == n - 1 for i in range(twos)):
            continue
        return False
    return True


def triples(value: object, where: str) -> list[list[Any]]:
    """A nonempty list of lists of three."""
    return [exactly(3, fact, f"{where}[{i}]") for i, fact in enumerate(items(value, where))]


def no_repeated_question(facts: Iterable[tuple[object, object, object]], where: str) -> None:
    asked: set[tuple[object, object]] = set()
    for k, q, _ in facts:
        if (k, q) in asked:
            refuse(where, f"has two facts about ({brief(k)}, {brief(q)})")
        asked.add((k, q))
