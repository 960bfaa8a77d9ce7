"""The words about truths, each of which may be undecided."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..language import reals
from ..limits import Undecided


def indicator(p: bool | None) -> Fraction:
    if p is None:
        raise Undecided("the condition of an indicator is undecided")
    return Fraction(p)


WORDS: dict[str, Callable[..., Any]] = {
    "implies(truth, truth)  not p, or q": lambda p, q: reals.some(reals.neither(p), q),
    "iff(truth, truth)  both are true, or both are false": reals.same,
    "indicator(truth)  1 if p, else 0": indicator,
}
