"""What all experiments share: studies, their recorded results, and the way from jobs to a figure.

A study is a list of jobs under one recipe; the list of a larger scale begins with that of a smaller
one. An experiment reads one or more studies, judges claims from their rows and draws a figure.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lemmax.numerics.engines.run import THRESHOLDS
from lemmax.numerics.figures import write_figure
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import Recipe
from lemmax.numerics.training.streams import canonical
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.verdicts import Verdict

if TYPE_CHECKING:
    from lemmax.numerics.experiments.criteria import Asked

Scale: TypeAlias = Literal["small", "paper"]
SCALES: tuple[Scale, ...] = ("small", "paper")
RECORDED = resources.files("lemmax.numerics.experiments") / "recorded"
_KEY = 12  # characters of a job's key that identify it within a study


@dataclass(frozen=True)
class Study:
    """Jobs under one recipe, kept in one file of recorded results.

    ``inspect`` names a function (``module:function``) of a job and its trained weights; what it
    says, plain data, is recorded with the row.
    """

    name: str
    recipe: Recipe
    jobs: Callable[[Scale], list[Job]]
    inspect: str | None = None


@dataclass(frozen=True)
class Row:
    """What one trained job reached; ``reached[τ]`` is the share of facts with probability ≥ τ.

    ``loss`` is the loss that the recipe trains; None where another one was recorded.
    """

    job: Job
    steps: int
    loss: float | None
    accuracy: float
    reached: Mapping[str, float]
    recent: float | None
    inspected: Any = None


@dataclass(frozen=True)
class Judgement:
    """What the data say about a claim; no verdict where they are too few to say.

    A finding that is no claim of the ledger names none: the empty string. ``asked`` has the
    questions of a claim and what each setting measured
    (:mod:`lemmax.numerics.experiments.criteria`).
    """

    claim: str
    verdict: Verdict | None
    sentence: str
    asked: Mapping[str, Sequence[Asked]] = field(default_factory=dict)


Rows: TypeAlias = Mapping[str, Sequence[Row]]
SATURATED = 0.95  # from this accuracy on growth says nothing


@dataclass(frozen=True)
class Experiment:
    """A figure of a paper: the studies it needs, what they say, and how it is drawn.

    ``files`` makes further files from the rows, text by name; they are written beside the figure.
    """

    name: str
    title: str
    studies: tuple[Study, ...]
    judge: Callable[[Rows], list[Judgement]]
    draw: Callable[[Rows, Any], None]
    files: Callable[[Rows], dict[str, str]] | None = None


def row_of(job: Job, record: Mapping[str, Any]) -> Row:
    """The row of a record of :func:`lemmax.numerics.training.sweeps.sweep`."""
    return Row(
        job,
        record["steps"],
        record["loss"],
        record["accuracy"],
        record["reached"],
        record.get("recent"),
        record.get("inspected"),
    )


def machine() -> dict[str, str]:
    """What the last bits of a compiled run depend on."""
    known = {"machine": platform.machine(), "cpu": _cpu()}
    for package in ("numba", "llvmlite", "numpy"):
        try:
            known[package] = version(package)
        except PackageNotFoundError:
            known[package] = "none"
    return known


def _cpu() -> str:
    try:
        from llvmlite import binding  # type: ignore[import-untyped, unused-ignore]
    except ModuleNotFoundError:
        return "unknown"
    return str(binding.get_host_cpu_name())


def compact(study: Study, rows: Iterable[Row], made_on: Mapping[str, str]) -> str:
    """Rows as text: a header, then for each job its key, steps, loss and numbers of facts."""
    header = {"lemmax-recorded": 1, "study": study.name, "recipe": study.recipe.to_json()}
    lines = [canonical({**header, "machine": dict(made_on)})]
    for row in rows:
        facts = row.job.config.samples
        counts = [round(facts * x) for x in (row.accuracy, *row.reached.values())]
        line: list[Any] = [row.job.key(study.recipe)[:_KEY], row.steps, row.loss, counts]
        if row.inspected is not None:
            line += [row.recent, row.inspected]
        elif row.recent is not None:
            line.append(row.recent)
        lines.append(canonical(line))
    return "\n".join(lines) + "\n"


@cache
def recorded(study: Study) -> tuple[dict[str, str], tuple[Row, ...]]:
    """The machine and the rows of the results that ship with lemmax.

    The file holds keys, not jobs: rows belong to the jobs of the study as they are defined now, and
    a line that belongs to none of them is an error. Where the header has a ``loss``, it says in
    words which one was recorded instead of the loss that the recipe trains, and rows have none.
    """
    file = RECORDED / f"{study.name}.jsonl"
    if not file.is_file():
        raise LemmaxError(f"No results of {study.name} are recorded; run without --recorded.")
    lines = file.read_text(encoding="utf-8").splitlines()
    header = json.loads(lines[0])
    if header["recipe"] != study.recipe.to_json():
        raise LemmaxError(f"The recorded results of {study.name} were made by another recipe.")
    jobs = {job.key(study.recipe)[:_KEY]: job for job in study.jobs("paper")}
    rows = []
    for number, line in enumerate(lines[1:], 2):
        key, steps, loss, counts, *more = json.loads(line)
        if key not in jobs:
            raise LemmaxError(f"Line {number} of the recorded {study.name} belongs to no job.")
        job = jobs.pop(key)
        accuracy, *reached = (count / job.config.samples for count in counts)
        shares = dict(zip(map(str, THRESHOLDS), reached, strict=True))
        recent, inspected = (*more, None, None)[:2]
        known = None if "loss" in header else loss
        rows.append(Row(job, steps, known, accuracy, shares, recent, inspected))
    return header["machine"], tuple(rows)


def recorded_rows(experiment: Experiment) -> dict[str, tuple[Row, ...]]:
    """The recorded rows of every study of an experiment."""
    return {study.name: recorded(study)[1] for study in experiment.studies}


def rerun(study: Study, rows: Sequence[Row]) -> list[Row]:
    """Train the jobs of some rows again, as they were trained."""
    from lemmax.numerics.engines.trained import train
    from lemmax.numerics.training.sweeps import function_named

    jobs = [row.job for row in rows]
    rows_again = []
    for t in train(jobs, study.recipe, "numba"):
        record = t.measured.to_json()
        if study.inspect is not None:
            record["inspected"] = function_named(study.inspect)(t.job, t.weights)
        rows_again.append(row_of(t.job, record))
    return rows_again


def measure_rows(
    experiment: Experiment,
    scale: str,
    folder: Path,
    *,
    workers: int = 0,
    cluster: str | None = None,
    device: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> dict[str, tuple[Row, ...]]:
    """Train what the results files in a folder do not have yet; the rows of every study."""
    from lemmax.numerics.training.sweeps import Progress, sweep

    chosen = _scale(scale)
    if not folder.is_dir():
        raise LemmaxError(f"There is no folder {folder}.")
    _check_device(device)
    backend = "numba" if device in (None, "cpu") else "torch"
    rows = {}
    for study in experiment.studies:
        jobs = study.jobs(chosen)

        def tell(state: Progress, name: str = study.name) -> None:
            if progress is not None:
                progress(f"{name}: {state}")

        path = folder / f"{study.name}.jsonl"
        records = sweep(
            jobs,
            study.recipe,
            path,
            backend=backend,
            device=device,
            workers=workers,
            cluster=cluster,
            inspect=study.inspect,
            progress=tell,
        )
        rows[study.name] = tuple(row_of(*pair) for pair in zip(jobs, records, strict=True))
    return rows


def _scale(name: str) -> Scale:
    for scale in SCALES:
        if scale == name:
            return scale
    raise LemmaxError(f"The scale is small or paper, not {name!r}.")


def _check_device(device: str | None) -> None:
    if device in (None, "cpu"):
        return
    try:
        import torch
    except ModuleNotFoundError:
        raise LemmaxError(f"The device {device!r} needs torch, which is not installed.") from None
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise LemmaxError(f"There is no device {device!r} here.") from None


def draw(experiment: Experiment, rows: Rows, path: Path) -> None:
    """Draw the figure; the suffix of the path says how (.svg, .pdf, .png)."""
    write_figure(path, lambda figure: experiment.draw(rows, figure))


def write_files(experiment: Experiment, rows: Rows, folder: Path) -> list[Path]:
    """Write the further files of an experiment, each whole or not at all; their paths."""
    from lemmax.theory.files import write_text

    if experiment.files is None:
        return []
    paths = []
    for name, text in experiment.files(rows).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        write_text(path, text)
        paths.append(path)
    return paths


def record(study: Study, results: Path, target: Path) -> int:
    """Write the results of a sweep of a study in compact form; how many jobs they are."""
    from lemmax.numerics.training.results import read_results
    from lemmax.theory.files import write_bytes

    header, records = read_results(results)
    if header.get("recipe") != study.recipe.to_json() or header.get("backend") != "numba":
        raise LemmaxError(f"{results} does not hold compiled results of the study {study.name}.")
    known = {record["key"]: record for record in records}
    rows = [
        row_of(job, known[key])
        for job in study.jobs("paper")
        if (key := job.key(study.recipe)) in known
    ]
    write_bytes(target, compact(study, rows, machine()).encode())
    return len(rows)
