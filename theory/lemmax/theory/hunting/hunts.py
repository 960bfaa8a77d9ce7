"""The hunt: sizes in increasing order, and beside them random draws and walks, then shrinking."""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from lemmax.checker import check
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import regular_bytes, write_text
from lemmax.theory.hunting.draws import Draw
from lemmax.theory.hunting.enumeration import enumerable, steps
from lemmax.theory.hunting.outcomes import UNNAMED, Hunt
from lemmax.theory.hunting.question import Instance, Question
from lemmax.theory.hunting.rounds import MET, Job, Late, Tight, one_round, tighter
from lemmax.theory.hunting.shrinking import shrunk
from lemmax.theory.hunting.sizes import size_of
from lemmax.theory.hunting.solving import solved

Prover: TypeAlias = Callable[[Question, Instance], list[Certificate]]
_CHUNK = 400  # enumerated instances between two rounds
_VERSION = 2  # of the state of a hunt


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
    smaller end the rounds, and what is left below the catch is looked at if the time seems to
    suffice. The same seed tries the same instances in the same order; time, by
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
    hunted.solve(Late(clock, start + seconds))
    pool = ProcessPoolExecutor(workers) if workers > 1 else None
    try:
        late = Late(clock, start + seconds)
        while (passed := clock() - start) < seconds and not hunted.done(late):
            if until is not None and hunted.tight is not None and hunted.tight[0] <= until:
                break
            if progress is not None and passed - told > 0.5:
                told = passed
                progress(f"{hunted.words()}, {max(0.0, seconds - passed):.0f} s left at most")
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
        self.tried, self.met = int(known.get("tried", 0)), int(known.get("met", 0))
        self.counts: list[_Count] = [_Count(*c) for c in known.get("counts", ())]  # by size
        self.tight: Tight | None = None
        if known.get("tight") is not None:
            self.tight = Fraction(known["gap"]), size_of(known["tight"]), known["tight"]
        self.rounds, self.idle = int(known.get("rounds", 0)), 0
        self.begun = _Count()  # of the size that is not finished
        self.asked, self.spent = 0, 0.0  # steps of this run and their time
        self.enumerable = enumerable(question)
        self.size = int(known.get("size", 1 if self.enumerable else 0))
        self._source: Iterator[Instance | None] = iter(())
        if self.enumerable:
            self._source = steps(question, self.size)

    @property
    def least(self) -> bool:
        """Whether nothing smaller can be found: every smaller instance was looked at."""
        return self.best is not None and self.enumerable and self.size >= size_of(self.best)

    def done(self, late: Late) -> bool:
        """Nothing smaller can be found, or what is left to look at would take too long."""
        if self.best is None:
            return self.enumerable and self.largest is not None and self.size > self.largest
        return self.least or (self.idle >= self.patience and not self._affordable(late))

    def _affordable(self, late: Late) -> bool:
        """Whether the sizes below the catch can be finished in time, if they go on to grow so."""
        assert self.best is not None
        if not self.enumerable:
            return False
        totals = list(itertools.accumulate(count.steps for count in self.counts))
        if len(totals) < 3 or not totals[-3]:
            return True
        growth = math.sqrt(totals[-1] / totals[-3])
        missing = size_of(self.best) - self.size  # sizes, the one that is begun among them
        wanted = totals[-1] * (math.exp(min(missing * math.log(growth), 500)) - 1)
        price = self.spent / max(1, self.asked)
        return (wanted - self.begun.steps) * price < late.end - late.clock()

    def solve(self, late: Late) -> None:
        """Begin with what z3 guesses, if the statement is about plain numbers."""
        guess = None if self.best is not None else solved(self.question)
        if guess is not None and self.question.ask(guess).answer == "breaks":
            self.best = shrunk(guess, lambda i: self.question.ask(i).answer == "breaks", late)

    def enumerate(self, count: int, late: Late) -> None:
        """Look at the next instances in the order of their size."""
        begun = late.clock()
        for _ in range(count if self.enumerable else 0):
            if late() or self.least or (self.best is None and self.done(late)):
                break
            self._step()
        self.spent += late.clock() - begun

    def _step(self) -> None:
        """Look at one instance, or go on to the next size."""
        try:
            instance = next(self._source)
        except StopIteration:
            self.counts.append(self.begun)
            self.size, self.begun = self.size + 1, _Count()
            self._source = steps(self.question, self.size)
            return
        self.asked += 1
        if instance is None:  # an assumption refuses the shape
            self.begun = self.begun.and_one("refused")
            return
        told = self.question.ask(instance)
        self.begun = self.begun.and_one(told.answer)
        self.tried += 1
        self.met += told.answer in MET
        self.tight = tighter(self.tight, told, instance)
        if told.answer == "breaks":
            self.best, self.evidence = instance, []  # sizes increase: nothing is smaller

    def rounds_of(
        self,
        pool: ProcessPoolExecutor | None,
        workers: int,
        evidence: Prover | None,
        late: Late,
    ) -> None:
        """One round, or one in each process."""
        if self.done(late) or (self.best is not None and self.idle >= self.patience):
            return
        text = self.question.statement.text
        numbers = range(self.rounds, self.rounds + (workers if pool else 1))
        jobs = [Job(text, self.seed, number, self.best, late) for number in numbers]
        results = list(pool.map(one_round, jobs)) if pool else [one_round(jobs[0], self.question)]
        self.rounds += len(jobs)
        self.idle += 1
        for hit, undecided, tight, tried, met in results:
            self.tried, self.met = self.tried + tried, self.met + met
            if tight is not None and (self.tight is None or tight[:2] < self.tight[:2]):
                self.tight = tight
            if hit is not None and (self.best is None or size_of(hit) < size_of(self.best)):
                self.best, self.evidence, self.idle = hit, [], 0
            elif undecided is not None and evidence is not None:
                self._prove(undecided, evidence, late)

    def _prove(self, instance: Instance, evidence: Prover, late: Late) -> None:
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
            "lemmax-hunt": _VERSION,
            "statement": self.question.statement.text,
            "seed": self.seed,
            "size": self.size,
            "rounds": self.rounds,
            "tried": self.tried - self.begun.looked,
            "met": self.met - self.begun.met,
            "counts": [[c.steps, c.looked, c.met, c.open] for c in self.counts],
            "best": self.best,
            "evidence": self.evidence,
            "gap": None if self.tight is None else str(self.tight[0]),
            "tight": None if self.tight is None else self.tight[2],
        }

    def result(self) -> Hunt:
        below = [sum(part) for part in zip(*map(astuple, self.counts), strict=True)] or [0] * 4
        gap, _, tight = self.tight or (None, 0, None)
        return Hunt(
            self.question.statement.text,
            self.claim,
            self.best,
            exhausted=self.size,
            tried=self.tried,
            open=below[3],
            rounds=self.rounds,
            evidence=tuple(self.evidence),
            gap=gap,
            tight=tight,
            looked=below[1],
            satisfied=below[2],
            met=self.met,
        )


@dataclass(frozen=True)
class _Count:
    """Of one size: shapes refused and instances looked at; those that met the assumptions; open."""

    steps: int = 0
    looked: int = 0
    met: int = 0
    open: int = 0

    def and_one(self, answer: str) -> _Count:
        looked = self.looked + (answer != "refused")
        met, undecided = self.met + (answer in MET), self.open + (answer == "open")
        return _Count(self.steps + 1, looked, met, undecided)


def _restored(state: Path | None, text: str, seed: int) -> Mapping[str, Any]:
    """What an earlier hunt of the same statement and seed left."""
    if state is None or not state.exists():
        return {}
    try:
        known = json.loads(regular_bytes(state))
        alike = (
            known["lemmax-hunt"] == _VERSION
            and known["statement"] == text
            and known["seed"] == seed
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise LemmaxError(f"{state} is not the state of a hunt.") from None
    if not alike:
        raise LemmaxError(f"{state} is the state of another hunt.")
    return dict(known)
