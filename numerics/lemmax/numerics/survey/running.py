"""A survey at work: one task per database, bounded within its time and recorded when finished."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lemmax.numerics.survey.databases import Label, read_databases
from lemmax.numerics.survey.recorded import Row, row_of
from lemmax.numerics.training.results import Results
from lemmax.numerics.training.streams import canonical
from lemmax.numerics.training.workers import checked_workers, connected, finished
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database, Fact
from lemmax.theory.tensors.fields import known_field
from lemmax.theory.tensors.ranks import tensor_rank
from lemmax.theory.tensors.search.clock import processor_time, usable_seconds


@dataclass(frozen=True)
class Task:
    """A database to bound, as plain data, so that it can travel to another process or machine."""

    regime: str
    index: Label
    triples: tuple[Fact, ...]
    field: str
    seconds: float
    check: bool = False

    @property
    def key(self) -> str:
        """A hash of the database, its place in the survey, the field and the seconds."""
        facts = sorted(canonical(fact) for fact in self.triples)
        text = canonical([self.regime, self.index, facts, self.field, self.seconds])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def prepare(self) -> None:
        """Load or compile the loops of the searches: no database pays for that."""
        from lemmax.theory.numbers import modular
        from lemmax.theory.tensors.above.slices import slice_sum
        from lemmax.theory.tensors.search.flips import shorten

        i, j, k = np.ix_(range(3), range(3), range(3))
        cycle = ((i + j) % 3 == k).astype(int)
        modular.ranks(cycle)
        shorten(cycle, slice_sum(cycle, 2), target=0, steps=1_000)

    def run(self) -> list[dict[str, Any]]:
        """Bound the rank; check the certificate, where this database is in the sample."""
        from lemmax import checker
        from lemmax.theory.certificates.writing import sha256, to_json
        from lemmax.theory.tensors.arrays import flattening_rank

        db = Database.from_triples(self.triples)
        began = time.process_time()
        with processor_time():  # the same on a busy machine
            result = tensor_rank(db, known_field(self.field), seconds=self.seconds)
        seconds = time.process_time() - began
        certificate = result.certificate()
        holds = checker.check(json.loads(to_json(certificate))).holds if self.check else None
        return [
            {
                "key": self.key,
                "regime": self.regime,
                "index": self.index,
                "shape": list(result.array.shape),
                "facts": len(db),
                "lower": result.lower,
                "upper": result.upper,
                "proposition": db.slice_rank_bound,
                "flattening": max(flattening_rank(result.array, mode) for mode in range(3)),
                "seconds": round(seconds, 3),
                "stopped": result.stopped,
                "cut": result.cut,
                "fitted": result.fitted,
                "holds": holds,
                "lower_by": list(result.bound.lemmas),
                "upper_by": list(result.reasons),
                "certificate": sha256(certificate),
            }
        ]


def survey(
    databases: str | os.PathLike[str],
    results: str | os.PathLike[str],
    *,
    field: str = "R",
    seconds: float = 60.0,
    certify: int = 0,
    workers: int = 0,
    cluster: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """Bound the rank of every database that the results file does not have yet; all the rows.

    Parameters
    ----------
    databases
        A file that :func:`read_databases` reads; all of it is read before any work begins.
    results
        The file of results: a header, then a JSON line for every database.
    field, seconds
        As for :func:`~lemmax.theory.tensors.ranks.tensor_rank`, for each database.
    certify
        How many certificates of each regime the independent checker checks; which ones follows
        from the databases alone.
    workers, cluster
        Processes to work in (0: this one), or the address of a Dask scheduler.
    progress
        Called with the numbers of finished and of all databases, at first before any work.

    Raises
    ------
    SurveyError, UnknownField, UnusableTime, ClusterError
        Before any work begins, and with nothing written.
    ResultsError
        The file holds other results, or cannot be written. Nothing recorded is lost.
    """
    known_field(field)
    usable_seconds(seconds)
    checked_workers(workers)
    if certify < 0:
        raise LemmaxError(f"The number of certificates cannot be negative, as {certify} is.")
    entries = read_databases(databases)
    tasks = [Task(e.regime, e.index, e.triples, field, float(seconds)) for e in entries]
    chosen = sample(tasks, certify)
    if cluster is not None:
        with connected(cluster):
            pass  # it answers, so the results file may be made
    identity = {
        "survey": "tensor-rank",
        "field": field,
        "seconds": float(seconds),
        "certify": certify,
    }
    with Results(results, identity) as file:
        keys = [task.key for task in tasks]
        left = [
            replace(task, check=key in chosen)
            for task, key in zip(tasks, keys, strict=True)
            if key not in file.records
        ]
        done = len(tasks) - len(left)
        if progress is not None:
            progress(done, len(tasks))
        with contextlib.closing(finished(left, workers, cluster)) as ended:
            for _, records in ended:
                file.append(records)
                done += 1
                if progress is not None:
                    progress(done, len(tasks))
        file.sort(keys)
        return [row_of(file.records[key]) for key in keys]


def sample(tasks: Sequence[Task], count: int) -> set[str]:
    """The keys of so many databases of each regime: the first ones, as the keys are hashes."""
    regimes: dict[str, list[str]] = {}
    for key, regime in sorted((task.key, task.regime) for task in tasks):
        regimes.setdefault(regime, []).append(key)
    return {key for keys in regimes.values() for key in keys[:count]}
