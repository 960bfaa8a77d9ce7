"""Sweeps: many jobs, recorded one by one, that a kill cannot hurt.

The unit of work is a group of jobs as the backend plans it; the plan depends on the list of jobs
alone. A finished job is a line in the results file. A group in progress keeps a checkpoint, written
atomically. Started again with the same arguments, a sweep skips what is recorded, continues what
was checkpointed, and ends with the same file, byte for byte.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lemmax.numerics.engines.register import engine, one_thread, plan, start
from lemmax.numerics.engines.run import Run
from lemmax.numerics.training.configurations import Arrays
from lemmax.numerics.training.jobs import Job, job_from_json
from lemmax.numerics.training.naming import function_named
from lemmax.numerics.training.recipes import Recipe, recipe
from lemmax.numerics.training.results import Results, ResultsError
from lemmax.numerics.training.streams import canonical
from lemmax.numerics.training.workers import ClusterError, checked_workers, finished
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_bytes


@dataclass(frozen=True)
class Progress:
    """How far a sweep is, in work units (rows × vocabulary × steps), not in jobs."""

    jobs: int
    all_jobs: int
    work: int
    all_work: int
    seconds: float
    worked: int

    @property
    def eta(self) -> float | None:
        """Seconds left, at the rate of this run."""
        if not self.worked:
            return None
        return (self.all_work - self.work) * self.seconds / self.worked

    def __str__(self) -> str:
        share = 100 * self.work / max(1, self.all_work)
        left = "" if self.eta is None else f", {_duration(self.eta)} left"
        return f"{self.jobs}/{self.all_jobs} jobs, {share:.0f} % of the work{left}"


def _duration(seconds: float) -> str:
    """A time to read.

    >>> _duration(59.6), _duration(3700)
    ('1 min', '1 h 2 min')
    """
    minutes = round(seconds / 60)
    if seconds < 59:
        return f"{round(seconds)} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@dataclass(frozen=True)
class Task:
    """A group of jobs as plain data, so that it can travel to another process or machine."""

    jobs: tuple[str, ...]
    recipe: Recipe
    backend: str
    device: str | None
    checkpoint: str | None
    checkpoint_seconds: float
    inspect: str | None = None
    keep: str | None = None

    def prepare(self) -> None:
        """Import the engine."""
        engine(self.backend)

    def run(self) -> list[dict[str, Any]]:
        """Train the group, from its checkpoint if there is one; one record per job."""
        jobs = [job_from_json(json.loads(text)) for text in self.jobs]
        with one_thread(self.backend):
            run = start(jobs, self.recipe, self.backend, None, self.device)
            key = self.key
            if self.checkpoint is not None:
                restore(run, Path(self.checkpoint), key)
            chunk, saved = max(1, run.steps // 1000), time.monotonic()
            while not run.finished:
                began = time.monotonic()
                run.advance(run.step + chunk)
                now = time.monotonic()
                if now - began < min(0.2, self.checkpoint_seconds / 4):
                    chunk *= 2
                if self.checkpoint is None or run.finished:
                    continue
                if now - saved >= self.checkpoint_seconds:
                    save(run, Path(self.checkpoint), key)
                    saved = time.monotonic()
            records = [
                {"key": job.key(self.recipe), "job": job.to_json(), **measured.to_json()}
                for job, measured in zip(jobs, run.measured(), strict=True)
            ]
            if self.keep is not None:
                for job, weights in zip(jobs, run.weights(), strict=True):
                    write_weights(Path(self.keep) / f"{job.key(self.recipe)}.safetensors", weights)
            if self.inspect is not None:
                inspect = function_named(self.inspect)
                for record, job, weights in zip(records, jobs, run.weights(), strict=True):
                    record["inspected"] = inspect(job, weights)
            return records

    @property
    def key(self) -> str:
        """A hash of all that the state of the run depends on, and of the form of the state."""
        form = ["whole groups"] if self.backend == "torch" else []
        text = canonical([self.jobs, self.recipe.to_json(), self.backend, *form])
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def save(run: Run, path: Path, key: str) -> None:
    """Write a checkpoint, atomically."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {f"state.{name}": array for name, array in run.state().items()}
    np.savez(buffer, key=np.array(key), **arrays)
    write_bytes(path, buffer.getvalue())


def restore(run: Run, path: Path, key: str) -> bool:
    """Continue from a checkpoint if there is one of this very run."""
    try:
        with np.load(io.BytesIO(path.read_bytes())) as data:
            if str(data["key"]) != key:
                return False
            arrays = {n[6:]: data[n] for n in data.files if n.startswith("state.")}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return False  # none, or not one of ours: begin at the beginning
    run.restore(arrays)
    return True


def sweep(
    jobs: Sequence[Job],
    recipe: str | Recipe,
    results: str | os.PathLike[str],
    *,
    backend: str = "numba",
    group: int | None = None,
    device: str | None = None,
    workers: int = 0,
    cluster: str | None = None,
    checkpoint_seconds: float = 30.0,
    inspect: str | None = None,
    keep: Literal["weights"] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> list[dict[str, Any]]:
    """Train all jobs that the results file does not have yet; the records of all of them.

    Parameters
    ----------
    jobs, recipe, backend, group, device
        As for :func:`lemmax.numerics.engines.train`.
    results
        The file of results; checkpoints are kept beside it while groups are in progress.
    workers
        Processes to train in; 0 trains in this one.
    cluster
        The address of a Dask scheduler whose workers train instead. They need lemmax, and keep no
        checkpoints: a lost group is trained again.
    checkpoint_seconds
        The time between checkpoints of a group.
    inspect
        The name, ``module:function``, of a function of a job and its trained weights; what it
        returns (plain data) becomes the record's ``inspected``.
    keep
        With ``"weights"`` the trained weights of every job are kept as ``KEY.safetensors`` in the
        folder ``RESULTS.weights``; jobs that were trained without are trained again, alike.
        :func:`kept_weights` reads them.
    progress
        Called whenever jobs finish.

    Raises
    ------
    ResultsError
        The file holds other results, or cannot be written. Nothing recorded is lost.
    ClusterError
        The scheduler cannot be reached.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from lemmax.numerics.training.configurations import Wong
    >>> jobs = [Job(Wong(2, 1, 1, 1, ((0, 2, 3), (1, 2, 4))), seed) for seed in range(2)]
    >>> short = _recipe("wong-guess").changed(steps=20)
    >>> file = os.path.join(mkdtemp(), "results.jsonl")
    >>> [record["steps"] for record in sweep(jobs, short, file, backend="reference")]
    [20, 20]

    Cost: that of training; what the file has is not trained again.
    """
    chosen = _recipe(recipe)
    checked_workers(workers)
    if chosen.family == "own":
        backend = "own"
    keys = [job.key(chosen) for job in jobs]
    if len(set(keys)) != len(keys):
        raise LemmaxError("The same job occurs twice in the sweep.")
    groups = plan(jobs, chosen, backend, group)
    weights = None if keep is None else _weights_folder(results, keep, cluster)
    identity: dict[str, Any] = {"recipe": chosen.to_json(), "backend": backend}
    if not chosen.both_positions:
        identity["loss"] = "trained positions"  # earlier files have a mean over both positions
    if inspect is not None:
        identity["inspect"] = inspect
    if any(len(members) > 1 for members in groups):
        # the last bits depend on the padding, so on the companions in the group
        text = canonical([[keys[number] for number in members] for members in groups])
        identity["groups"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    with Results(results, identity) as file:
        folder = Path(f"{os.fspath(results)}.checkpoints")
        tasks: dict[Task, int] = {}
        for members in groups:
            there = [keys[number] for number in members if keys[number] in file.records]
            if weights is not None:
                there = [key for key in there if (weights / f"{key}.safetensors").is_file()]
            if len(there) == len(members):
                continue
            texts = tuple(canonical(jobs[number].to_json()) for number in members)
            place = None
            if cluster is None:
                place = str(folder / f"{keys[members[0]]}.npz")
            kept = None if weights is None else str(weights)
            task = Task(texts, chosen, backend, device, place, checkpoint_seconds, inspect, kept)
            tasks[task] = sum(jobs[number].work(chosen) for number in members)
        total = sum(job.work(chosen) for job in jobs)
        began, worked = time.monotonic(), 0
        if cluster is None and tasks:
            folder.mkdir(exist_ok=True)
        if weights is not None:
            weights.mkdir(exist_ok=True)
        with contextlib.closing(finished(list(tasks), workers, cluster)) as ended:
            for task, records in ended:
                file.append(records)
                if task.checkpoint is not None:
                    Path(task.checkpoint).unlink(missing_ok=True)
                worked += tasks[task]
                if progress is not None:
                    done = [job for job, key in zip(jobs, keys, strict=True) if key in file.records]
                    work = sum(job.work(chosen) for job in done)
                    seconds = time.monotonic() - began
                    progress(Progress(len(done), len(jobs), work, total, seconds, worked))
        file.sort(keys)
        _remove(folder)
        return [file.records[key] for key in keys]


def _weights_folder(results: str | os.PathLike[str], keep: str, cluster: str | None) -> Path:
    if keep != "weights":
        raise LemmaxError(f"Of a trained job its weights can be kept, not {keep!r}.")
    if cluster is not None:
        raise LemmaxError("Workers of a cluster have other disks: weights are kept without one.")
    if find_spec("safetensors") is None:
        raise LemmaxError("To keep weights the package safetensors is needed (the extra torch).")
    return Path(f"{os.fspath(results)}.weights")


def write_weights(path: Path, weights: Arrays) -> None:
    """Write weights as safetensors, whole or not at all."""
    from safetensors.numpy import save as packed

    write_bytes(path, packed({name: np.asarray(x, order="C") for name, x in weights.items()}))


def kept_weights(results: str | os.PathLike[str], key: str) -> Arrays:
    """The weights that a sweep kept of the job with this key.

    Nothing in the file is executed. Cost: reading it.
    """
    from safetensors.numpy import load

    path = Path(f"{os.fspath(results)}.weights") / f"{key}.safetensors"
    if not path.is_file():
        raise LemmaxError(f'There are no weights {path}; sweep(…, keep="weights") keeps them.')
    arrays: Arrays = load(path.read_bytes())
    return arrays


def _recipe(name: str | Recipe) -> Recipe:
    return recipe(name)


def _remove(folder: Path) -> None:
    """Remove the checkpoints of a finished sweep."""
    if folder.is_dir():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


__all__ = [
    "ClusterError",
    "Progress",
    "ResultsError",
    "Task",
    "function_named",
    "kept_weights",
    "restore",
    "save",
    "sweep",
]
