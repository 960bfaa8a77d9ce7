"""Deadlines: readings of a clock after which a search ends. None is no deadline.

The clock is the monotonic one, or that of the processor where many searches are compared: a busy
machine then gives each as much as an idle one does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from threadpoolctl import threadpool_limits

from lemmax.theory.errors import LemmaxError

LONGEST = 365 * 24 * 3600  # seconds
_CLOCK: ContextVar[Callable[[], float]] = ContextVar("clock", default=time.monotonic)


def now() -> float:
    """The reading of the clock that deadlines are compared with."""
    return _CLOCK.get()()


@contextmanager
def processor_time() -> Iterator[None]:
    """Deadlines count the seconds of this process on a processor, not those that pass.

    Linear algebra takes one thread meanwhile, in the libraries that are loaded: threads that wait
    for each other are counted too, and they wait longer on a busy machine.
    """
    before = _CLOCK.set(time.process_time)
    try:
        with threadpool_limits(1, "blas"):
            yield
    finally:
        _CLOCK.reset(before)


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

    >>> late(None), late(now() - 1), late(now() + 60)
    (False, True, False)
    """
    return deadline is not None and now() >= deadline


def share(deadline: float | None, parts: int) -> float | None:
    """The deadline of the first of some parts that share the time left.

    >>> share(None, 3)
    """
    if deadline is None:
        return None
    begins = now()
    return begins + (deadline - begins) / parts


def earlier(deadline: float | None, parts: int) -> float | None:
    """The deadline that leaves the last of some parts of the time for something else.

    >>> round(earlier(now() + 80, 8) - now())
    70
    """
    return None if deadline is None else deadline - (deadline - now()) / parts


def within(seconds: float, deadline: float) -> float:
    """The deadline of a turn of so many seconds, which no later one may exceed.

    >>> within(60.0, 0.0)
    0.0
    """
    return min(deadline, now() + seconds)
