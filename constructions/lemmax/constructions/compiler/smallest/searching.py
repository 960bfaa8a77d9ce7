"""The search for a smaller layer: waves of attempts, in processes, continued after any end."""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lemmax.constructions.compiler.planning import Dimensions, applicable
from lemmax.constructions.compiler.smallest.descent import Problem, Weights, descend
from lemmax.constructions.compiler.smallest.merging import merged
from lemmax.constructions.compiler.smallest.rounding import known, layer_of
from lemmax.constructions.compiler.smallest.shapes import wave
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.files import write_text
from lemmax.theory.tensors.search.clock import late
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.memorization import memorizes

LARGEST = 300_000  # facts × values: what is larger is not searched
_NUMBERS = 1_000_000  # logits of all restarts together
RESTARTS, STEPS = 32, 2000


@dataclass(frozen=True)
class Attempt:
    """One descent of many restarts: plain data, whose result depends on nothing else."""

    database: Database
    dims: Dimensions
    number: int
    seed: int
    restarts: int
    steps: int

    def small(self) -> tuple[Database, dict[Hashable, Hashable]]:
        """The facts that are trained: with merged tokens in every other wave."""
        db = self.database
        if self.number % 2 == 0 and "by-predicates" in applicable(db):
            few = merged(db, "predicates")
            fewer = merged(few.database, "subjects")
            same = {t: fewer.representative[r] for t, r in few.representative.items()}
            return fewer.database, same
        return db, {t: t for t in (*db.keys, *db.queries)}

    def run(self, deadline: float | None = None) -> dict[str, Any] | None:
        """The loss, and the weights and bits of an exact layer; None where the time was over."""
        small, same = self.small()
        problem = Problem.of(small)
        restarts = max(1, min(self.restarts, _NUMBERS // (len(small) * len(small.values))))
        dims = self.dims
        sizes = (dims.d_model, dims.heads, dims.d_vo, dims.d_qk)
        mixed = np.random.SeedSequence((self.seed, self.number, *sizes)).generate_state(1)
        done = descend(
            problem,
            dims,
            restarts=restarts,
            steps=self.steps * (1 + min(self.number, 4)),
            seed=int(mixed[0]),
            deadline=deadline,
        )
        if done is None:
            return None
        bits = None if done.weights is None else known(done.weights, small, same, self.database)
        told: dict[str, Any] = {"loss": done.loss}
        if bits is not None and done.weights is not None:
            told |= {"bits": bits, "weights": {n: x.tolist() for n, x in done.weights.items()}}
        return told

    def layer(self, told: dict[str, Any]) -> AttentionLayer:
        """The exact layer of a result."""
        weights: Weights = {name: np.array(x) for name, x in told["weights"].items()}
        return layer_of(weights, told["bits"], *self.small(), self.database)


@dataclass
class State:
    """How far a search is: the wave, what it has tried, and the smallest layer that was found."""

    identity: dict[str, Any]
    number: int = 0
    below: int = 0  # parameters that the wave has to beat
    tried: dict[str, float] = field(default_factory=dict)
    found: dict[str, Any] | None = None  # dims, number, bits, weights

    @property
    def best(self) -> int:
        """The parameters of the smallest layer known."""
        return Dimensions(**self.found["dims"]).parameters if self.found else self.below

    def wanted(self, sizes: list[Dimensions]) -> list[Dimensions]:
        """The sizes of this wave that come before the layer that it has found."""
        if self.found is None or self.found["number"] < self.number:
            return sizes
        return sizes[: sizes.index(Dimensions(**self.found["dims"]))]

    def words(self, sizes: int, deadline: float | None) -> str:
        """How far the search is, in a line."""
        left = "" if deadline is None else f", {max(0.0, deadline - time.monotonic()):.0f} s left"
        tried = f"{len(self.tried)} of {sizes} sizes tried in wave {self.number + 1}"
        return f"{self.best} parameters, {tried}{left}"

    def write(self, path: Path | None) -> None:
        """Replace the file by this state."""
        if path is not None:
            write_text(path, json.dumps({"lemmax-smallest": 1, **asdict(self)}) + "\n")


def opened(path: Path | None, identity: dict[str, Any], below: int) -> State:
    """The state of a file if there is one, of the same database and seed; else a new one."""
    if path is None or not path.exists():
        return State(identity, below=below)
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told.pop("lemmax-smallest") != 1:
            raise ValueError
        state = State(**told)
        if state.best > below:
            raise ValueError
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise LemmaxError(f"{path} is not the state of a search.") from None
    if state.identity != identity:
        raise LemmaxError(f"{path} is the state of another search: other facts, or another seed.")
    return state


def search(
    db: Database,
    below: int,
    *,
    least: int = 4,
    narrowest: int = 2,
    seconds: float | None = None,
    waves: int | None = None,
    seed: int = 0,
    restarts: int = RESTARTS,
    steps: int = STEPS,
    processes: int = 1,
    state: str | os.PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> AttentionLayer | None:
    """A layer with at least ``least`` and fewer than ``below`` parameters; None if none is found.

    It ends after so many seconds, or waves, or when there is nothing smaller to try. The same seed
    and the same waves find the same layer, in any number of processes, killed and continued or
    not; with ``state`` every finished attempt is kept in that file.
    """
    if len(db) * len(db.values) > LARGEST:
        return None
    facts = json.dumps([[str(t) for t in fact] for fact in db])
    digest = hashlib.sha256(facts.encode()).hexdigest()[:32]
    file = None if state is None else Path(state)
    effort = {"seed": seed, "restarts": restarts, "steps": steps}
    at = opened(file, {"facts": digest, "least": least, "below": below, **effort}, below)
    deadline = None if seconds is None else time.monotonic() + seconds
    with contextlib.ExitStack() as stack:
        pool = stack.enter_context(_pool(processes)) if processes > 1 else None
        while (waves is None or at.number < waves) and not late(deadline):
            sizes = wave(at.number, least, at.below, narrowest)
            if not sizes:
                break
            left = [Attempt(db, d, at.number, **effort) for d in sizes if _name(d) not in at.tried]
            for attempt, told in _ended(left, partial(at.wanted, sizes), deadline, pool):
                at.tried[_name(attempt.dims)] = told.pop("loss")
                if told and attempt.dims in at.wanted(sizes):
                    at.found = {"dims": asdict(attempt.dims), "number": at.number, **told}
                at.write(file)
                if progress is not None:
                    progress(at.words(len(sizes), deadline))
            if any(_name(d) not in at.tried for d in at.wanted(sizes)):
                break  # the time is over
            at.number, at.below, at.tried = at.number + 1, at.best, {}
            at.write(file)
    if at.found is None:
        return None
    dims = Dimensions(**at.found["dims"])
    try:
        layer = Attempt(db, dims, at.found["number"], **effort).layer(at.found)
    except (LemmaxError, ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise LemmaxError(f"{state} is not the state of a search.") from None
    if not memorizes(layer, db).holds:
        raise LemmaxError(f"{state} was edited: its layer does not know every fact.")
    return layer


def _name(dims: Dimensions) -> str:
    return f"{dims.d_model}-{dims.heads}-{dims.d_vo}-{dims.d_qk}"


def _ended(
    attempts: list[Attempt],
    wanted: Callable[[], list[Dimensions]],
    deadline: float | None,
    pool: ProcessPoolExecutor | None,
) -> Iterator[tuple[Attempt, dict[str, Any]]]:
    """The attempts that end in time, with their results; what is no longer wanted is left out."""
    if pool is None:
        for attempt in attempts:
            if attempt.dims in wanted():
                told = attempt.run(deadline)
                if told is None:
                    return
                yield attempt, told
        return
    end = None if deadline is None else time.time() + deadline - time.monotonic()
    futures = {pool.submit(_perform, attempt, end): attempt for attempt in attempts}
    try:
        for future in as_completed(futures):
            told = None if future.cancelled() else future.result()
            if told is not None:
                yield futures[future], told
            for other, attempt in futures.items():
                if attempt.dims not in wanted():
                    other.cancel()
    except BrokenProcessPool:
        raise LemmaxError(
            "A process of the search ended unexpectedly; what was tried is kept in the state."
        ) from None


def _perform(attempt: Attempt, end: float | None) -> dict[str, Any] | None:
    """An attempt in another process, until a time of day."""
    return attempt.run(None if end is None else time.monotonic() + end - time.time())


def _pool(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        processes, multiprocessing.get_context("spawn"), initializer=_follow_parent
    )


def _follow_parent() -> None:
    """End with the parent, whatever ends that."""
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
