"""What a verdict on trained models means: one criterion for each word, the same in every judge.

A claim asks one or more questions: does a quantity lie in a range? A setting is a recipe, an
architecture or a generator that the paper leaves open. In a setting the 95 % interval of a quantity
may lie below, inside or above the range; the places that it meets are its possible answers. What
each word then means is said by ``WORDS`` and computed by :func:`verdict`.

>>> from lemmax.numerics.experiments.statistics import Estimate
>>> short, long = Estimate(-.055, -.064, -.045), Estimate(.07, .056, .086)
>>> verdict({"short": [Asked("difference", short, -.05, .05)]}) is None
True
>>> verdict({"long": [Asked("difference", long, -.05, .05)]})
'not-reproduced'
>>> verdict({s: [Asked("difference", e, -.05, .05)] for s, e in (("s", short), ("l", long))})
'recipe-dependent'
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

from lemmax.numerics.experiments.statistics import Estimate
from lemmax.numerics.experiments.studies import Judgement
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.verdicts import Verdict

Place: TypeAlias = Literal["below", "inside", "above"]

WORDS = {
    "reproduced": "In every setting every interval lies inside its range.",
    "recipe-dependent": "Two settings surely answer one question differently: of below, inside and "
    "above the range, their intervals meet none in common.",
    "not-reproduced": "In every setting some interval lies outside its range, and no two settings "
    "surely differ.",
    "open": "Everything else: the intervals are too wide to say.",
}

EQUAL = 0.05  # accuracies whose mean difference is below this much are the same
STRAIGHT = 0.05  # a curve that is called straight leaves its chord by less than this accuracy


@dataclass(frozen=True)
class Asked:
    """A question of a claim, and what one setting measured: is it within ``low`` and ``high``?"""

    question: str
    measured: Estimate
    low: float = -math.inf
    high: float = math.inf

    @property
    def range(self) -> str:
        """The range in words.

        >>> Asked("slope", Estimate(0, 0, 0), low=0.0).range
        'at least 0'
        """
        if math.isinf(self.low):
            return f"at most {self.high:.3g}"
        if math.isinf(self.high):
            return f"at least {self.low:.3g}"
        return f"{self.low:.3g} to {self.high:.3g}"

    @property
    def possible(self) -> frozenset[Place]:
        """The places that the interval meets.

        >>> sorted(Asked("slope", Estimate(.1, -.1, .3), low=0).possible)
        ['below', 'inside']
        """
        places: set[Place] = set()
        if self.measured.low < self.low:
            places.add("below")
        if self.measured.high > self.high:
            places.add("above")
        if self.measured.low <= self.high and self.measured.high >= self.low:
            places.add("inside")
        return frozenset(places)


def verdict(settings: Mapping[str, Sequence[Asked]]) -> Verdict | None:
    """The word for what the settings measured, or None where the claim stays open."""
    if not settings or not all(settings.values()):
        raise LemmaxError("A claim about trained models asks a question in every setting.")
    answers = [asked for one in settings.values() for asked in one]
    if all(asked.possible == {"inside"} for asked in answers):
        return "reproduced"
    if any(
        a.question == b.question and not a.possible & b.possible
        for one, other in combinations(settings.values(), 2)
        for a in one
        for b in other
    ):
        return "recipe-dependent"
    if all(any("inside" not in asked.possible for asked in one) for one in settings.values()):
        return "not-reproduced"
    return None


def judged(
    claim: str,
    settings: Mapping[str, Sequence[Asked]],
    sentence: str,
    known: Collection[str] | None = (),
    untrained: int = 0,
) -> Judgement:
    """What the settings say about a claim, by the criterion above.

    ``known`` are the settings whose results were known when the question or its limits were chosen,
    None for all of them. The sentence says so. ``untrained`` counts further settings that were
    fixed and have no results yet: then only what they cannot change is a verdict, that two differ.

    >>> short = {"short": [Asked("slope", Estimate(0.2, 0.1, 0.3), low=0.0)]}
    >>> judged("x/c", short, "A slope.", None).sentence
    'A slope. The question and its limits were chosen when these results were known.'
    """
    late = set(settings if known is None else known)
    if not late <= set(settings):
        raise LemmaxError(f"{claim} has no setting {min(late - set(settings))!r}.")
    if late:
        whose = (
            "these results"
            if late == set(settings)
            else f"the results of {'; '.join(sorted(late))}"
        )
        sentence += f" The question and its limits were chosen when {whose} were known."
    word = verdict(settings)
    if untrained:
        sentence += f" {untrained} more settings were fixed and have not been trained yet."
        word = word if word == "recipe-dependent" else None
    return Judgement(claim, word, sentence, settings)


def between(value: float, no: float, yes: float) -> Estimate:
    """A number without an interval that says yes from one limit on and no only below another.

    >>> Asked("R²", between(.99, .9, .97), low=.97).possible == {"inside"}
    True
    >>> Asked("R²", between(.95, .9, .97), low=.97).possible == {"inside"}
    False
    >>> "inside" in Asked("R²", between(.85, .9, .97), low=.97).possible
    False
    """
    return Estimate(value, value, value if value < no else max(value, yes))


def less(a: Estimate, b: Estimate, share: float = 1.0) -> Estimate:
    """``a`` minus a share of ``b``, with an interval that holds whatever their correlation.

    >>> print(less(Estimate(.2, .1, .3), Estimate(1, .8, 1.2), .5))
    -0.3 [-0.50, -0.10]
    """
    return Estimate(a.value - share * b.value, a.low - share * b.high, a.high - share * b.low)


def straight(curved: Estimate, r_squared: float) -> list[Asked]:
    """What the word linear asks: a quadratic fit leaves its chord by at most ``STRAIGHT``.

    The line also has R² over .97; scatter alone never counts against it.
    """
    return [
        Asked("curvature", curved, -STRAIGHT, STRAIGHT),
        Asked("R²", between(r_squared, -math.inf, 0.97), low=0.97),
    ]


def told(parts: Iterable[tuple[str, Estimate]]) -> str:
    """Estimates with their names, as a part of a sentence.

    >>> told([("short", Estimate(1.0, 0.5, 1.5)), ("long", Estimate(2.0, 1.5, 2.5))])
    'short: 1 [0.50, 1.50]; long: 2 [1.50, 2.50]'
    """
    return "; ".join(f"{name}: {estimate}" for name, estimate in parts)
