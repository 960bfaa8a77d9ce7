"""The hunt: sizes in increasing order, and beside them random draws and walks, then shrinking."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from lemmax.checker import check
from lemmax.theory.certificates.writing import Certificate, about_claim
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import regular_bytes, write_text
from lemmax.theory.hunting.draws import Draw
from lemmax.theory.hunting.enumeration import enumerable, steps
from lemmax.theory.hunting.question import Instance, Question, Told
from lemmax.theory.hunting.shrinking import neighbour, shrunk
from lemmax.theory.hunting.sizes import size_of
from lemmax.theory.hunting.solving import solved
from lemmax.theory.latex import Typeset, latex_text

Prover: TypeAlias = Callable[[Question, Instance], list[Certificate]]
UNNAMED = "hunted/statement"  # the claim of a statement that was typed
_ROUND = 120  # draws of a round, and then steps of a walk
_CHUNK = 400  # enumerated instances between two rounds


@dataclass(frozen=True)
class Hunt(Typeset):
    """How a hunt ended.

    ``instance`` breaks the statement, or is None. Every instance whose size is below
    ``exhausted`` was looked at (0: sizes cannot be enumerated), and ``open`` of them could not be
    decided. ``gap`` is the least difference of the sides of the conclusion's inequalities
    among all instances where it held, and ``tight`` the smallest instance with that gap. Cost:
    none, it is what a hunt brought home.

    >>> caught = hunt("given n: integer; conclude n * n < 2")
    >>> caught.size, caught.instance
    (3, {'n': '-2'})
    """

    statement: str
    claim: str = UNNAMED  # pyright: ignore[reportIncompatibleMethodOverride]
    instance: Instance | None = None
    exhausted: int = 0
    tried: int = 0
    open: int = 0
    rounds: int = 0
    seconds: float = 0.0
    evidence: tuple[Certificate, ...] = ()
    gap: Fraction | None = None
    tight: Instance | None = None

    @property
    def size(self) -> int | None:
        """The size of the counterexample."""
        return None if self.instance is None else size_of(self.instance)

    @property
    def smallest(self) -> bool:
        """Whether no smaller instance breaks the statement: all of them were looked at."""
        return self.size is not None and self.exhausted >= self.size and not self.open

    def certificate(self) -> Certificate:
        """A ``refutation`` that the independent checker accepts."""
        if self.instance is None:
            raise LemmaxError("Nothing was caught, so there is no certificate.")
        return about_claim("refutation", self.claim, self.statement, self.instance, self.evidence)

    def formula(self) -> str:
        """The counterexample, or the sentence that there is none."""
        if self.instance is None:
            return rf"\text{{{latex_text(self.sentence())}}}"
        return self.certificate().formula()

    def to_sympy(self) -> dict[str, Any]:
        """The objects of the counterexample, by name."""
        return self.certificate().to_sympy()

    def sentence(self) -> str:
        """The outcome in words."""
        tried = f"{self.tried:,} instances in {self.seconds:.0f} s"
        below = f"none is smaller than {self.exhausted}"
        if self.instance is not None:
            told = f"A counterexample of size {self.size} ({tried})"
            return f"{told}; there is no smaller one." if self.smallest else f"{told}."
        if self.exhausted > 1:
            if self.open:  # one of these may be a counterexample
                return (
                    f"None found below size {self.exhausted}, but {self.open} undecided; {tried}."
                )
            return f"None found: {below} (all of them looked at), {tried}."
        return f"None found in {tried}."


def hunt(
    statement: str,
    *,
    claim: str = UNNAMED,
    seconds: float = 60.0,
    largest: int | None = None,
    patience: int = 40,
    seed: int = 0,
    workers: int = 1,
    state: Path | None = None,
    evidence: Prover | None = None,
    progress: Callable[[str], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
    until: Fraction | None = None,
) -> Hunt:
    """Look for an instance that satisfies the assumptions and breaks the conclusion.

    Where the statement speaks of numbers, matrices, tensors and tables of facts, all instances are
    looked at in the order of their size (:func:`lemmax.theory.hunting.sizes.size_of`), up to
    ``largest`` if it is given. Beside that run random draws, and walks from instances whose
    conclusion is nearly false. What is caught is made smaller as long as it breaks the statement,
    and the independent checker accepts its certificate; ``patience`` rounds that find nothing
    smaller end the hunt. The same seed tries the same instances in the same order; time, by
    ``clock``, only says when to stop. With ``state`` a hunt that was stopped goes on.
    Where the checker only encloses a number, ``evidence`` may certify it: a function of an instance
    (:func:`lemmax.constructions.hunting.evidence`), asked about instances that stayed open.
    With ``until`` the hunt ends where the conclusion holds by so little. Cost: the seconds.

    >>> caught = hunt("given M: matrix; assume rank(M) == 1; conclude max_entry(M) > 0")
    >>> caught.instance, caught.smallest
    ({'M': [['-1']]}, True)
    """
    question = Question(statement)
    text = question.statement.text
    if seconds <= 0:
        raise LemmaxError("A hunt needs a positive number of seconds.")
    hunted = _Chase(question, claim, seed, largest, patience, _restored(state, text, seed))
    start, told = clock(), 0.0
    hunted.solve(_Late(clock, start + seconds))
    pool = ProcessPoolExecutor(workers) if workers > 1 else None
    try:
        while (passed := clock() - start) < seconds and not hunted.done:
            if until is not None and hunted.tight is not None and hunted.tight[0] <= until:
                break
            if progress is not None and passed - told > 0.5:
                told = passed
                progress(f"{hunted.words()}, {max(0.0, seconds - passed):.0f} s left at most")
            late = _Late(clock, start + seconds)
            hunted.enumerate(_CHUNK, late)
            hunted.rounds_of(pool, workers, evidence, late)
            if state is not None:
                write_text(state, json.dumps(hunted.state(), ensure_ascii=False) + "\n")
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)
    result = replace(hunted.result(), seconds=clock() - start)
    if result.instance is not None:
        verdict = check(json.loads(json.dumps(result.certificate())))
        if not verdict.holds:
            raise AssertionError(f"the checker refuses what was caught: {verdict}")
    return result


class _Chase:
    """What a hunt knows; plain data goes in and out, so that it can be stopped."""

    def __init__(
        self,
        question: Question,
        claim: str,
        seed: int,
        largest: int | None,
        patience: int,
        known: Mapping[str, Any],
    ) -> None:
        self.question, self.claim, self.seed = question, claim, seed
        self.largest, self.patience = largest, patience
        Draw(question, seed)  # says which sort has no generator
        self.best: Instance | None = known.get("best")
        self.evidence: list[Certificate] = [Certificate(c) for c in known.get("evidence", ())]
        self.tried, self.open = int(known.get("tried", 0)), int(known.get("open", 0))
        self.tight: _Tight | None = None
        if known.get("tight") is not None:
            self.tight = Fraction(known["gap"]), size_of(known["tight"]), known["tight"]
        self.rounds, self.idle = int(known.get("rounds", 0)), 0
        self.begun = 0, 0  # tried and open of the size that is not finished
        self.enumerable = enumerable(question)
        self.size = int(known.get("size", 1 if self.enumerable else 0))
        self._source: Iterator[Instance | None] = iter(())
        if self.enumerable:
            self._source = steps(question, self.size)

    @property
    def done(self) -> bool:
        """Nothing smaller can be found, or no round has found anything smaller for long."""
        if self.best is not None:
            return (
                self.enumerable and self.size >= size_of(self.best)
            ) or self.idle >= self.patience
        return self.enumerable and self.largest is not None and self.size > self.largest

    def solve(self, late: _Late) -> None:
        """Begin with what z3 guesses, if the statement is about plain numbers."""
        guess = None if self.best is not None else solved(self.question)
        if guess is not None and self.question.ask(guess).answer == "breaks":
            self.best = shrunk(guess, lambda i: self.question.ask(i).answer == "breaks", late)

    def enumerate(self, count: int, late: _Late) -> None:
        """Look at the next instances in the order of their size."""
        if not self.enumerable or self.done:
            return
        for _ in range(count):
            if late():
                return
            try:
                instance = next(self._source)
            except StopIteration:
                self.size, self.begun = self.size + 1, (0, 0)
                if self.done:
                    return
                self._source = steps(self.question, self.size)
                continue
            if instance is None:  # an assumption refuses the shape
                continue
            told = self.question.ask(instance)
            self.tried += 1
            self.tight = _tighter(self.tight, told, instance)
            self.open += told.answer == "open"
            self.begun = self.begun[0] + 1, self.begun[1] + (told.answer == "open")
            if told.answer == "breaks":
                self.best, self.evidence = instance, []  # sizes increase: nothing is smaller
                self.size = size_of(instance)
                return

    def rounds_of(
        self,
        pool: ProcessPoolExecutor | None,
        workers: int,
        evidence: Prover | None,
        late: _Late,
    ) -> None:
        """One round of random draws and a walk, or one in each process."""
        if self.done:
            return
        text = self.question.statement.text
        numbers = range(self.rounds, self.rounds + (workers if pool else 1))
        jobs = [(text, self.seed, number, self.best, late) for number in numbers]
        results = list(pool.map(_round, jobs)) if pool else [_round(jobs[0], self.question)]
        self.rounds += len(jobs)
        self.idle += 1
        for hit, undecided, tight, tried in results:
            self.tried += tried
            if tight is not None and (self.tight is None or tight[:2] < self.tight[:2]):
                self.tight = tight
            if hit is not None and (self.best is None or size_of(hit) < size_of(self.best)):
                self.best, self.evidence, self.idle = hit, [], 0
            elif undecided is not None and evidence is not None:
                self._prove(undecided, evidence, late)

    def _prove(self, instance: Instance, evidence: Prover, late: _Late) -> None:
        """Ask again about an open instance, with certified bounds, and make it smaller."""

        def proved(other: Instance) -> bool:
            if self.best is not None and size_of(other) >= size_of(self.best):
                return False
            known = evidence(self.question, other)
            inner = [{k: v for k, v in c.items() if k not in ("format", "version")} for c in known]
            if not inner or self.question.ask(other, inner).answer != "breaks":
                return False
            self.best, self.evidence, self.idle = other, known, 0
            return True

        if proved(instance):
            shrunk(instance, proved, late)

    def words(self) -> str:
        """How far it is."""
        told = [f"{self.tried:,} instances"]
        if self.enumerable:
            told.append(f"all below size {self.size}")
        if self.best is not None:
            told.append(f"caught one of size {size_of(self.best)}")
        return ", ".join(told)

    def state(self) -> dict[str, Any]:
        """What to go on from: a size that is not finished is begun again, and counted once."""
        return {
            "lemmax-hunt": 1,
            "statement": self.question.statement.text,
            "seed": self.seed,
            "size": self.size,
            "rounds": self.rounds,
            "tried": self.tried - self.begun[0],
            "open": self.open - self.begun[1],
            "best": self.best,
            "evidence": self.evidence,
            "gap": None if self.tight is None else str(self.tight[0]),
            "tight": None if self.tight is None else self.tight[2],
        }

    def result(self) -> Hunt:
        text = self.question.statement.text
        counts = self.size, self.tried, self.open, self.rounds
        gap, _, tight = self.tight or (None, 0, None)
        caught = self.best, *counts
        return Hunt(text, self.claim, *caught, 0.0, tuple(self.evidence), gap, tight)


@dataclass(frozen=True)
class _Late:
    """Whether the time is over; it can be sent to another process."""

    clock: Callable[[], float]
    end: float

    def __call__(self) -> bool:
        return self.clock() >= self.end


def _polished(
    asked: Question, caught: Instance, source: random.Random, late: _Late
) -> tuple[Instance | None, None]:
    """A smaller catch near one that was caught: walk among catches, up a little, then down."""
    here = caught
    for _ in range(_ROUND):
        other = neighbour(here, source)
        if late():
            break
        near = size_of(other) <= size_of(caught) + 3
        if near and asked.ask(other).answer == "breaks":
            here = other
    least = shrunk(here, lambda i: asked.ask(i).answer == "breaks", late)
    return (least if size_of(least) < size_of(caught) else None), None


_Tight: TypeAlias = tuple[Fraction, int, Instance]
"""A gap, and the smallest instance with it after its size."""


def _tighter(known: _Tight | None, told: Told, instance: Instance) -> _Tight | None:
    """The one of two with the smaller gap, and then the smaller size."""
    if told.slack is None or (known is not None and told.slack > known[0]):
        return known
    other = told.slack, size_of(instance), instance
    return other if known is None or other[:2] < known[:2] else known


def _round(
    job: tuple[str, int, int, Instance | None, _Late], question: Question | None = None
) -> tuple[Instance | None, Instance | None, _Tight | None, int]:
    """Draws, then a walk from the instance whose conclusion was nearest to failing.

    What broke the statement, made smaller; else the last draw that stayed open; where the
    conclusion was nearest to failing; how many were tried.
    """
    text, seed, number, caught, late = job
    asked = question or Question(text)
    draw = Draw(asked, seed * 1_000_003 + number)
    source = random.Random(f"{seed} {number}")
    if caught is not None and number % 3 == 1:
        return *_polished(asked, caught, source, late), None, _ROUND
    tight: _Tight | None = None
    start: Instance | None = None
    undecided: Instance | None = None
    for tried in range(1, 2 * _ROUND + 1):
        walking = tried > _ROUND
        if (walking and start is None) or late():
            return None, undecided, tight, tried - 1
        known = tight[2] if tight is not None else start
        like = caught if number % 3 else None
        instance = neighbour(known, source) if walking and known else draw.instance(like)
        told = asked.ask(instance)
        if told.answer == "breaks" and (caught is None or size_of(instance) < size_of(caught)):
            least = shrunk(instance, lambda i: asked.ask(i).answer == "breaks", late)
            return least, None, tight, tried
        if told.answer == "open" and not walking:
            undecided = instance
        if told.answer == "holds":
            start = instance
            if walking and tight is not None and told.slack == tight[0]:
                tight = tight[0], tight[1], instance  # walk on at equal height
            tight = _tighter(tight, told, instance)
    return None, undecided, tight, 2 * _ROUND


def _restored(state: Path | None, text: str, seed: int) -> Mapping[str, Any]:
    """What an earlier hunt of the same statement and seed left."""
    if state is None or not state.exists():
        return {}
    try:
        known = json.loads(regular_bytes(state))
        alike = known["lemmax-hunt"] == 1 and known["statement"] == text and known["seed"] == seed
    except (ValueError, KeyError, TypeError, RecursionError):
        raise LemmaxError(f"{state} is not the state of a hunt.") from None
    if not alike:
        raise LemmaxError(f"{state} is the state of another hunt.")
    return dict(known)
