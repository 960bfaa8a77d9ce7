"""Sharpness: where the inequalities of a conclusion that holds are attained, or nearly."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from lemmax.theory.errors import LemmaxError
from lemmax.theory.hunting.hunts import hunt
from lemmax.theory.hunting.outcomes import UNNAMED
from lemmax.theory.hunting.question import Instance, Question
from lemmax.theory.hunting.shrinking import shrunk
from lemmax.theory.hunting.sizes import size_of


@dataclass(frozen=True)
class Sharp:
    """The least gap between the sides of one inequality that a hunt saw, and a small instance.

    ``gap`` is None where no instance had exact values on both sides.
    """

    bound: str
    gap: Fraction | None
    instance: Instance | None
    tried: int
    broken: bool

    @property
    def attained(self) -> bool:
        """Whether both sides were equal somewhere."""
        return self.gap == 0

    @property
    def size(self) -> int | None:
        return None if self.instance is None else size_of(self.instance)


def inequalities(statement: str) -> list[tuple[str, str]]:
    """Each inequality of the conclusion, and the statement that concludes nothing else.

    >>> [bound for bound, _ in inequalities("given M: matrix; conclude 0 <= rank(M) <= rows(M)")]
    ['0 <= rank(M)', 'rank(M) <= rows(M)']
    """
    asked = Question(statement)
    given, *clauses = [part.strip() for part in asked.statement.text.split(";")][:-1]
    return [
        (bound, _concluding(given, clauses, bound))
        for tree in asked.conclusions
        if isinstance(tree, ast.Compare)
        and isinstance(tree.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
        for bound in [ast.unparse(tree)]
    ]


def _concluding(given: str, clauses: list[str], bound: str) -> str:
    """The statement with another conclusion, without what only the old one spoke of."""
    kept = f"conclude {bound}"
    for clause in reversed(clauses):
        defined = re.match(r"let (\w+) =", clause)
        if defined is None or re.search(rf"\b{defined[1]}\b", kept):
            kept = f"{clause}; {kept}"
    names = [part.strip() for part in given.removeprefix("given ").split(",")]
    spoken = [n for n in names if re.search(rf"\b{n.partition(':')[0].strip()}\b", kept)]
    return f"given {', '.join(spoken)}; {kept}"


def sharpness(
    statement: str,
    *,
    claim: str = UNNAMED,
    seconds: float = 60.0,
    seed: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> list[Sharp]:
    """For each inequality of the conclusion where it is attained, or the least gap that was seen.

    The time is shared by the inequalities; one that is attained needs no more of it. The instance
    is made smaller as long as the gap stays.

    >>> sharpness("given M: matrix; conclude rank(M) <= rows(M)", seconds=5)[0].attained
    True
    """
    bounds = inequalities(statement)
    if not bounds:
        raise LemmaxError("The conclusion has no inequality, so that there is nothing to attain.")
    share = seconds / len(bounds)
    return [_sharp(bound, text, claim, share, seed, clock) for bound, text in bounds]


@dataclass(frozen=True)
class _Within:
    """Whether the conclusion holds by so little at an instance."""

    asked: Question
    gap: Fraction

    def __call__(self, instance: Instance) -> bool:
        slack = self.asked.ask(instance).slack
        return slack is not None and slack <= self.gap


def _sharp(
    bound: str, text: str, claim: str, seconds: float, seed: int, clock: Callable[[], float]
) -> Sharp:
    asked, end = Question(text), clock() + 2 * seconds
    caught = hunt(text, claim=claim, seconds=seconds, seed=seed, clock=clock, until=Fraction(0))
    gap, least = caught.gap, caught.tight
    if gap is not None and least is not None:
        least = shrunk(least, _Within(asked, gap), lambda: clock() > end)
        gap = asked.ask(least).slack
    return Sharp(bound, gap, least, caught.tried, caught.instance is not None)
