"""A round of a hunt: random draws and a walk, a climb of hypothesis, or a walk around a catch."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from lemmax.theory.hunting.draws import Draw
from lemmax.theory.hunting.question import Instance, Question, Told
from lemmax.theory.hunting.shrinking import neighbour, shrunk
from lemmax.theory.hunting.sizes import size_of
from lemmax.theory.hunting.targeting import targeted

ROUND = 120  # draws of a round, and then steps of a walk
MET = ("holds", "breaks")  # answers about instances that satisfy the assumptions


@dataclass(frozen=True)
class Late:
    """Whether the time is over; it can be sent to another process."""

    clock: Callable[[], float]
    end: float

    def __call__(self) -> bool:
        return self.clock() >= self.end


Tight: TypeAlias = tuple[Fraction, int, Instance]
"""A gap, and the smallest instance with it after its size."""


def tighter(known: Tight | None, told: Told, instance: Instance) -> Tight | None:
    """The one of two with the smaller gap, and then the smaller size."""
    if told.slack is None or (known is not None and told.slack > known[0]):
        return known
    other = told.slack, size_of(instance), instance
    return other if known is None or other[:2] < known[:2] else known


class Round(NamedTuple):
    """What broke the statement, made smaller; else the last draw that stayed open; where the
    conclusion was nearest to failing; how many were tried, and satisfied the assumptions.
    """

    caught: Instance | None = None
    undecided: Instance | None = None
    tight: Tight | None = None
    tried: int = 0
    met: int = 0


class Job(NamedTuple):
    """A statement, a seed, the number of the round, the catch so far, and until when."""

    text: str
    seed: int
    number: int
    caught: Instance | None
    late: Late


def one_round(job: Job, question: Question | None = None) -> Round:
    """A round of the kind that its number says."""
    asked = question or Question(job.text)
    if job.number % 4 == 2:
        return _climbed(asked, job)
    if job.caught is not None and job.number % 4 == 1:
        return _polished(asked, job, job.caught)
    return _drawn(asked, job)


def _drawn(asked: Question, job: Job) -> Round:
    """Draws, then a walk from the instance whose conclusion was nearest to failing."""
    draw = Draw(asked, job.seed * 1_000_003 + job.number)
    source = random.Random(f"{job.seed} {job.number}")
    like = job.caught if job.number % 4 else None
    met = 0
    tight: Tight | None = None
    start: Instance | None = None
    undecided: Instance | None = None
    for tried in range(1, 2 * ROUND + 1):
        walking = tried > ROUND
        if (walking and start is None) or job.late():
            return Round(None, undecided, tight, tried - 1, met)
        known = tight[2] if tight is not None else start
        instance = neighbour(known, source) if walking and known else draw.instance(like)
        told = asked.ask(instance)
        met += told.answer in MET
        if told.answer == "breaks" and _smaller(instance, job.caught):
            return Round(_shrunk(asked, instance, job.late), None, tight, tried, met)
        if told.answer == "open" and not walking:
            undecided = instance
        if told.answer == "holds":
            start = instance
            if walking and tight is not None and told.slack == tight[0]:
                tight = tight[0], tight[1], instance  # walk on at equal height
            tight = tighter(tight, told, instance)
    return Round(None, undecided, tight, 2 * ROUND, met)


def _climbed(asked: Question, job: Job) -> Round:
    """What hypothesis comes to, when it is told the slack of the conclusion."""
    found = Round()

    def see(instance: Instance) -> Told:
        nonlocal found
        told = asked.ask(instance)
        caught, undecided = found.caught, found.undecided
        if told.answer == "breaks" and _smaller(instance, caught or job.caught):
            caught = instance
        if told.answer == "open":
            undecided = instance
        tight = tighter(found.tight, told, instance)
        met = found.met + (told.answer in MET)
        found = Round(caught, undecided, tight, found.tried + 1, met)
        return told

    targeted(asked, job.seed * 1_000_003 + job.number, 2 * ROUND, see, job.late)
    if found.caught is None:
        return found
    return found._replace(caught=_shrunk(asked, found.caught, job.late))


def _polished(asked: Question, job: Job, caught: Instance) -> Round:
    """A smaller catch near one that was caught: walk among catches, up a little, then down."""
    source = random.Random(f"{job.seed} {job.number}")
    here, met = caught, 0
    for _ in range(ROUND):
        other = neighbour(here, source)
        if job.late():
            break
        if size_of(other) <= size_of(caught) + 3:
            answer = asked.ask(other).answer
            met += answer in MET
            here = other if answer == "breaks" else here
    least = _shrunk(asked, here, job.late)
    return Round(least if _smaller(least, caught) else None, None, None, ROUND, met)


def _smaller(instance: Instance, caught: Instance | None) -> bool:
    return caught is None or size_of(instance) < size_of(caught)


def _shrunk(asked: Question, instance: Instance, late: Late) -> Instance:
    return shrunk(instance, lambda i: asked.ask(i).answer == "breaks", late)
