"""What may be spent on a certificate, and the meter that every primitive charges before it works.

Time is counted in units of one small multiplication, about a tenth of a microsecond; a division,
or a greatest common divisor, of numbers of a and b bits takes a·b / 60,000 more, a product less.
Memory is counted in bytes. Both counts depend on the certificate alone, so that every machine
accepts the same files.
"""

import contextlib
import contextvars
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

LIMITS: dict[str, int] = {
    "file bytes": 64_000_000,
    "array bytes": 250_000_000,  # of a file of arrays beside a certificate
    "claims bytes": 4_000_000,  # of a file of claims
    "nesting": 12,
    "decimal digits": 4_000,
    "hex digits": 400_000,
    "exponent": 1_000_000,
    "prime": 3_317_044_064_679_887_385_961_981,
    "precision bits": 8_192,
    "comparison characters": 500,
    "statement characters": 2_000,
    "positions": 4_096,  # of a prompt, where the model has no table of them
    "equations": 400,  # of a real decomposition
    "work": 250_000_000,  # units for all steps together: at most about half a minute
    "memory": 600_000_000,  # bytes at any one time
}


class NotACertificate(ValueError):
    """The input is malformed, or too large to be checked; the message is one sentence."""


class BeyondLimits(NotACertificate):
    """What was asked takes more than may be spent: it is not called false, nor true."""


class Undecided(Exception):
    """A comparison of real numbers stayed open at the largest precision."""


def refuse(where: str, why: str) -> NoReturn:
    raise NotACertificate(f"{where} {why}.")


def beyond(what: str, why: str) -> NoReturn:
    raise BeyondLimits(f"{what} {why}.")


def brief(value: object) -> str:
    """A short harmless name for anything a certificate may contain."""
    if isinstance(value, str):
        return ascii(value if len(value) <= 48 else value[:48] + "...")
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, (int, Fraction)):
        number = Fraction(value)
        bits = max(number.numerator.bit_length(), number.denominator.bit_length())
        return str(number) if bits <= 400 else f"<a number of {bits} bits>"
    names = {list: "a list", dict: "an object", float: "a float"}
    return names.get(type(value), f"a {type(value).__name__}")


@dataclass
class Meter:
    """Units of work done and bytes in use."""

    work: int = 0
    memory: int = 0


_METER: contextvars.ContextVar[Meter | None] = contextvars.ContextVar("meter", default=None)


def _beyond(what: str, name: str, amount: int, unit: str) -> NoReturn:
    beyond(what, f"brings the {name} to {amount:.1e} {unit}, and the limit is {LIMITS[name]:.1e}")


def spend(what: str, count: int, a: int = 0, b: int = 0, flat: int = 0) -> None:
    """Charge for so many divisions of numbers of a and b bits; refuse if that is too long.

    ``flat`` is what it takes besides, however short the numbers are.
    """
    meter = _METER.get() or Meter()
    meter.work += flat + count * (1 + (a * b + 10 * (a + b)) // 60_000)
    if meter.work > LIMITS["work"]:
        _beyond(what, "work", meter.work, "units")


def multiply(what: str, count: int, bits: int) -> None:
    """The same for products of two numbers of so many bits, which Python makes by Karatsuba."""
    spend(what, count, bits, min(bits, 10 * math.isqrt(math.isqrt(math.isqrt(bits**5)))))


def foresee(what: str, count: int) -> None:
    """Refuse at once what would be refused in the end: so many products are still to come."""
    if (amount := (_METER.get() or Meter()).work + count) > LIMITS["work"]:
        _beyond(what, "work", amount, "units")


def keep(what: str, count: int, bits: int = 0) -> None:
    """Charge for numbers of so many bits in lists, until the step that makes them is done with."""
    room(what, count, bits)
    (_METER.get() or Meter()).memory += count * (40 + bits // 7)


def room(what: str, count: int, bits: int = 0) -> None:
    """The same for numbers that are gone at once: refuse if they do not fit."""
    if (amount := (_METER.get() or Meter()).memory + count * (40 + bits // 7)) > LIMITS["memory"]:
        _beyond(what, "memory", amount, "bytes")


@contextlib.contextmanager
def metered() -> Iterator[Meter]:
    """Count from zero, for one certificate."""
    meter = Meter()
    before = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(before)


@contextlib.contextmanager
def released() -> Iterator[None]:
    """A step: the memory that it takes is given back at its end."""
    meter = _METER.get() or Meter()
    before = meter.memory
    yield
    meter.memory = before
