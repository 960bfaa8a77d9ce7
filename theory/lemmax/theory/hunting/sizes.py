"""The size of an instance: below each value there are finitely many instances."""

from __future__ import annotations

from fractions import Fraction
from typing import Any


def size_of(value: Any) -> int:
    r"""Σ over all numbers p/q of |p| + q, so \(1 + |x|\) for an integer; 1 for each name or text.

    The measure counts what a reader has to read: every entry of every matrix counts one at least.

    >>> size_of({"M": [["1", "0"], ["-1/2", "3"]]})
    10
    >>> size_of({"D": {"facts": [["a", "f", "x"]]}})
    3
    """
    if isinstance(value, dict):
        return sum(
            _names(part) if key in ("facts", "tokens", "unit", "scale") else size_of(part)
            for key, part in value.items()
        )
    if isinstance(value, (list, tuple)):
        return sum(size_of(part) for part in value)
    if isinstance(value, (int, Fraction)):
        number = Fraction(value)
        return abs(number.numerator) + number.denominator
    try:
        number = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return 1
    return abs(number.numerator) + number.denominator


def _names(value: Any) -> int:
    """One for each name, whatever it looks like."""
    return sum(map(_names, value)) if isinstance(value, list) else 1
