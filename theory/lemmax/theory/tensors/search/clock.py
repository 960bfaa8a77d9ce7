"""Deadlines: readings of the monotonic clock after which a search ends. None is no deadline."""

from __future__ import annotations

import time

from lemmax.theory.errors import LemmaxError

LONGEST = 365 * 24 * 3600  # seconds


class UnusableTime(LemmaxError):
    """A time to search that is no positive number of seconds, or more than a year."""


def usable_seconds(seconds: float) -> float:
    """The seconds themselves, where they are a time to search.

    >>> usable_seconds(0.5)
    0.5
    """
    if not 0 < seconds <= LONGEST:  # false for NaN too
        raise UnusableTime(
            f"{seconds} is not a time to search: give more than 0 seconds and at most a year, "
            f"{LONGEST} seconds."
        )
    return seconds


def late(deadline: float | None) -> bool:
    """Whether a deadline has passed.

    >>> late(None), late(time.monotonic() - 1), late(time.monotonic() + 60)
    (False, True, False)
    """
    return deadline is not None and time.monotonic() >= deadline


def share(deadline: float | None, parts: int) -> float | None:
    """The deadline of the first of some parts that share the time left.

    >>> share(None, 3)
    """
    if deadline is None:
        return None
    now = time.monotonic()
    return now + (deadline - now) / parts


def within(seconds: float, deadline: float) -> float:
    """The deadline of a turn of so many seconds, which no later one may exceed.

    >>> within(60.0, 0.0)
    0.0
    """
    return min(deadline, time.monotonic() + seconds)
