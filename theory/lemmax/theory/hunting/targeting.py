"""Hypothesis on the slack: its choices make an instance, and it climbs to where bounds nearly fail.

What is drawn is drawn as in every other round, but hypothesis makes each random choice, so that it
can repeat all of them and change one. ``target`` tells it by how little the conclusion held, or how
small what breaks it is. Without hypothesis there are no such rounds.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from lemmax.theory.hunting.draws import Draw
from lemmax.theory.hunting.question import Instance, Question, Told
from lemmax.theory.hunting.shrinking import changed, leaves
from lemmax.theory.hunting.sizes import size_of

_X = TypeVar("_X")
_FAR = 60  # how far a number moves at once; hypothesis tries constants of the code from 100 on
_MOST = Fraction(10**300)  # still a float
_MOVES = 3  # numbers that are moved after an instance was drawn


def targeted(
    question: Question,
    seed: int,
    examples: int,
    see: Callable[[Instance], Told],
    late: Callable[[], bool] = lambda: False,
) -> None:
    """Let ``see`` have so many instances, each the better for what it told about those before.

    The same seed makes the same instances as long as ``see`` tells the same and it is not
    ``late``. Cost: what ``see`` costs, and about a millisecond for each.

    >>> asked = Question("given M: matrix; assume rank(M) == 1; conclude entry_sum(M) <= 150")
    >>> told = []
    >>> def see(instance):
    ...     told.append(asked.ask(instance))
    ...     return told[-1]
    >>> targeted(asked, 0, 120, see)
    >>> min(t.slack for t in told if t.slack is not None) < 75
    True
    """
    try:
        import hypothesis
        from hypothesis import strategies as st
    except ImportError:
        return
    left = examples

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.target),
        suppress_health_check=list(hypothesis.HealthCheck),  # pyright: ignore[reportArgumentType]
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(st.data())
    def climb(data: Any) -> None:
        nonlocal left
        made = _made(question, _Choices(lambda a, b: data.draw(st.integers(a, b))))
        if left <= 0 or late():  # all was drawn: hypothesis wants the same choices each time
            raise _Enough
        left -= 1
        told = see(made)
        if told.answer == "breaks":
            hypothesis.target(-float(min(Fraction(size_of(made)), _MOST)), label="size")
        elif told.slack is not None:
            hypothesis.target(-float(min(told.slack, _MOST)), label="slack")

    with contextlib.suppress(_Enough):
        climb()


class _Enough(BaseException):
    """Ends a climb at once; hypothesis would take an Exception for a failure to look into."""


def _made(question: Question, choices: _Choices) -> Instance:
    """A drawn instance, and then some of its numbers moved."""
    made = Draw(question, choices).instance()
    for _ in range(choices.randint(0, _MOVES)):
        places = list(leaves(made))
        if not places:
            break
        path, text = choices.choice(places)
        made = changed(made, path, str(Fraction(text) + choices.randint(-_FAR, _FAR)))
    return made


class _Choices(random.Random):
    """Random choices that someone else makes: which integer from here to there."""

    def __init__(self, between: Callable[[int, int], int]) -> None:
        super().__init__(0)
        self._between = between

    def randint(self, a: int, b: int) -> int:
        return self._between(a, b) if a < b else a

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        first, end = (0, start) if stop is None else (start, stop)
        return first + step * self.randint(0, (end - first - 1) // step)

    def random(self) -> float:
        return self.randint(0, 99) / 100

    def choice(self, seq: Sequence[_X]) -> _X:  # type: ignore[override]
        return seq[self.randint(0, len(seq) - 1)]

    def sample(self, population: Sequence[_X], k: int, *, counts: Any = None) -> list[_X]:
        pool = list(population)
        return [pool.pop(self.randint(0, len(pool) - 1)) for _ in range(k)]
