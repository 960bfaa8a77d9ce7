"""Surveys: the ranks of many databases, recorded one by one, as a table and a figure by regime.

A survey reads one database a line, bounds the rank of each within the same time, and records a line
for each that is finished; a kill loses at most those in progress. Tables and figures are drawn from
recorded lines alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from lemmax.numerics.experiments.statistics import Estimate, wilson
from lemmax.numerics.training.jobs import canonical
from lemmax.numerics.training.results import Results, ResultsError, read_results, write_atomically
from lemmax.numerics.training.workers import checked_workers, connected, finished
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database, Fact
from lemmax.theory.tensors.fields import known_field
from lemmax.theory.tensors.ranks import tensor_rank
from lemmax.theory.tensors.search.clock import usable_seconds

Label: TypeAlias = int | str
_LONGEST_LINE = 8_000_000  # bytes
_LARGEST_TENSOR = 10_000_000  # entries |K|·|Q|·|V|
_LONGEST_NAME = 80


class SurveyError(LemmaxError):
    """A file that holds no databases, or a line that is not one."""


# -- the databases -----------------------------------------------------------------------------
@dataclass(frozen=True)
class Entry:
    """A database of a survey: a line of the file, with the regime it belongs to."""

    line: int
    regime: str
    index: Label
    triples: tuple[Fact, ...]


def read_databases(path: str | os.PathLike[str]) -> list[Entry]:
    """The databases of a JSON-lines file.

    A line is an object with ``triples``, a list of [subject, predicate, object] of strings or
    integers, and if wanted ``regime``, and ``index`` or ``name``; without the latter a database is
    numbered within its regime. Blank lines are skipped.

    Raises
    ------
    SurveyError
        The file cannot be read or is empty, or a line is not a consistent database; it is named.
    """
    entries: list[Entry] = []
    seen: dict[tuple[str, Label], int] = {}
    counts: dict[str, int] = {}
    for number, text in _lines(Path(path)):
        where = f"{os.fspath(path)}, line {number}"
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise SurveyError(f"{where}: not JSON.") from None
        if not isinstance(data, dict) or "triples" not in data:
            raise SurveyError(f'{where}: not an object with "triples".')
        regime = data.get("regime", "all")
        if not isinstance(regime, str) or not _name(regime):
            raise SurveyError(f"{where}: the regime is not a short text.")
        position = counts.get(regime, 0)
        counts[regime] = position + 1
        index: Any = data.get("index", data.get("name", position))
        if not _name(index):
            raise SurveyError(f"{where}: the index is neither an integer nor a short text.")
        if (regime, index) in seen:
            raise SurveyError(
                f"{where}: {index!r} of the regime {regime!r} is on line {seen[regime, index]} too."
            )
        seen[regime, index] = number
        entries.append(Entry(number, regime, index, _database(where, data["triples"]).triples))
    if not entries:
        raise SurveyError(f"{os.fspath(path)} holds no databases.")
    return entries


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    try:
        with open(path, "rb") as file:
            number = 0
            while data := file.readline(_LONGEST_LINE + 1):
                number += 1
                if len(data) > _LONGEST_LINE:
                    raise SurveyError(
                        f"{path}, line {number}: longer than {_LONGEST_LINE} bytes, "
                        "the most that a survey reads."
                    )
                try:
                    text = data.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    raise SurveyError(f"{path}, line {number}: not UTF-8 text.") from None
                if text.strip():
                    yield number, text
    except OSError as error:
        raise SurveyError(f"{path} cannot be read: {error.strerror}.") from None


def _name(value: object) -> bool:
    """Whether a value names a database: an integer, or a text that fits on a line."""
    if isinstance(value, str):
        return value.isprintable() and 0 < len(value) <= _LONGEST_NAME
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18


def _database(where: str, triples: object) -> Database:
    if not isinstance(triples, list):
        raise SurveyError(f"{where}: the triples are not a list.")
    for fact in triples:
        if not isinstance(fact, list) or len(fact) != 3 or not all(map(_token, fact)):
            raise SurveyError(
                f"{where}: {_short(fact)} is not a triple of three strings or integers."
            )
    try:
        db = Database.from_triples(tuple(fact) for fact in triples)
    except LemmaxError as error:
        raise SurveyError(f"{where}: {_short(error)}") from None
    shape = len(db.keys), len(db.queries), len(db.values)
    if shape[0] * shape[1] * shape[2] > _LARGEST_TENSOR:
        raise SurveyError(
            f"{where}: {shape[0]} keys, {shape[1]} queries and {shape[2]} values are a tensor "
            f"of more than {_LARGEST_TENSOR} entries."
        )
    return db


def _token(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _short(value: object) -> str:
    """A value on one line of bounded length."""
    text = value if isinstance(value, LemmaxError) else json.dumps(value)
    line = " ".join(str(text).split())
    return line if len(line) <= 200 else f"{line[:200]} …"


# -- one database ------------------------------------------------------------------------------
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
        """Load or compile the kernels of the searches: no database pays for that."""
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


# -- what is recorded --------------------------------------------------------------------------
@dataclass(frozen=True)
class Row:
    """What is known of one database.

    ``proposition`` is the bound of Wong's Proposition 2.1, ``flattening`` the largest rank of a
    flattening, ``seconds`` are of CPU time; ``stopped`` says that time ended the search, ``holds``
    what the independent checker says of the certificate, where it was asked.
    """

    regime: str
    index: Label
    keys: int
    queries: int
    values: int
    facts: int
    lower: int
    upper: int
    proposition: int
    flattening: int
    seconds: float
    stopped: bool
    holds: bool | None


_COLUMNS = tuple(Row.__dataclass_fields__)


def row_of(record: Mapping[str, Any]) -> Row:
    """The row of a line of a results file."""
    keys, queries, values = record["shape"]
    found = {**record, "keys": keys, "queries": queries, "values": values}
    return _row(found[name] for name in _COLUMNS)


def _row(values: Iterable[Any]) -> Row:
    """A row of values that a file holds; ValueError where they are not what they should be."""
    row = Row(*values)
    sizes = (row.keys, row.queries, row.values, row.facts, row.proposition)
    good = (
        _name(row.index)
        and _name(row.regime)
        and all(type(x) is int and x > 0 for x in (*sizes, row.flattening, row.lower, row.upper))
        and row.lower <= row.upper
        and type(row.stopped) is bool
        and (row.holds is None or type(row.holds) is bool)
    )
    if not good or not 0 <= float(row.seconds) < float("inf"):
        raise ValueError
    return row


def compact(surveys: Sequence[tuple[Mapping[str, Any], Sequence[Row]]]) -> str:
    """Surveys of different regimes as one text for a repository.

    A header with the names of the columns, and the seconds that each regime was given; then one
    list a row.
    """
    fields = {header["field"] for header, _ in surveys}
    seconds: dict[str, float | None] = {}
    for header, rows in surveys:
        regimes = {row.regime for row in rows}
        if len(fields) > 1 or not seconds.keys().isdisjoint(regimes):
            raise ResultsError(
                "Only surveys over one field, of different regimes, are put together."
            )
        seconds |= dict.fromkeys(sorted(regimes), header["seconds"])
    head = {"field": fields.pop(), "seconds": seconds, "columns": list(_COLUMNS)}
    lines = [canonical({"lemmax-survey": 1, **head})]
    lines += [canonical(list(vars(row).values())) for _, rows in surveys for row in rows]
    return "\n".join(lines) + "\n"


def is_recorded(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as results of lemmax do, compact or not."""
    try:
        with open(path, "rb") as file:
            header = json.loads(file.readline(10_000))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and not {"lemmax-survey", "lemmax-results"}.isdisjoint(header)


def read_survey(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Row]]:
    """The header and the rows of a results file of a survey, or of a compact one."""
    lines = [text for _, text in _lines(Path(path))]
    try:
        header = json.loads(lines[0]) if lines else {}
        if "lemmax-survey" in header:
            rows = [_row(json.loads(line)) for line in lines[1:]]
        else:
            header, records = read_results(path)
            if header.get("survey") != "tensor-rank":
                raise ResultsError(f"{os.fspath(path)} does not hold the results of a survey.")
            rows = [row_of(record) for record in records]
    except ResultsError:
        raise
    except (ValueError, TypeError, KeyError):
        raise ResultsError(f"{os.fspath(path)} is damaged.") from None
    if not rows:
        raise ResultsError(f"{os.fspath(path)} holds no finished database.")
    return header, rows


# -- what it says ------------------------------------------------------------------------------
@dataclass(frozen=True)
class Summary:
    """The databases of one regime, with 95 % intervals of Wilson for shares.

    ``closed`` is the share whose rank is known, ``exact`` the share whose rank is known to be the
    bound of Proposition 2.1; ``ratio`` the median of upper bound / Proposition 2.1, ``gap`` the
    median of upper - lower over the open ones; ``stopped`` counts those that time ended;
    ``checked`` counts certificates given to the independent checker, ``closed_checked`` those of
    them that close a database, ``rejected`` those that do not hold.
    """

    regime: str
    databases: int
    closed: Estimate
    exact: Estimate
    ratio: float
    gap: float | None
    stopped: int
    mean_seconds: float
    max_seconds: float
    checked: int
    closed_checked: int
    rejected: int

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    def cells(self) -> dict[str, str]:
        """The row of a table, by the heads of its columns."""
        return {
            "regime": self.regime,
            "n": str(self.databases),
            "closed": _share(self.closed),
            "Prop. 2.1 exact": _share(self.exact),
            "upper / Prop. 2.1": f"{self.ratio:.2f}",
            "open gap": "–" if self.gap is None else f"{self.gap:g}",
            "ended by time": str(self.stopped),
            "mean s": f"{self.mean_seconds:.2f}",
            "max s": f"{self.max_seconds:.1f}",
            "checked": f"{self.checked - self.rejected}/{self.checked}",
        }


def _share(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """One summary for each regime, in the order of the rows."""
    regimes = dict.fromkeys(row.regime for row in rows)
    return [_summary([row for row in rows if row.regime == regime]) for regime in regimes]


def _summary(rows: Sequence[Row]) -> Summary:
    gaps = [row.upper - row.lower for row in rows if row.lower < row.upper]
    checked = [row for row in rows if row.holds is not None]
    return Summary(
        rows[0].regime,
        len(rows),
        wilson(len(rows) - len(gaps), len(rows)),
        wilson(sum(row.lower == row.proposition for row in rows), len(rows)),
        statistics.median(row.upper / row.proposition for row in rows),
        statistics.median(gaps) if gaps else None,
        sum(row.stopped for row in rows),
        statistics.fmean(row.seconds for row in rows),
        max(row.seconds for row in rows),
        len(checked),
        sum(row.lower == row.upper for row in checked),
        sum(not row.holds for row in checked),
    )


def markdown(some: Sequence[Summary]) -> str:
    """The table in Markdown."""
    lines = [list(summary.cells().values()) for summary in some]
    heads = list(some[0].cells())
    table = [heads, ["---"] + ["--:"] * (len(heads) - 1), *lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in table)


def _main(*paths: str) -> None:
    """Put the results in all files but the last together, and write them to the last."""
    surveys = [read_survey(path) for path in paths[:-1]]
    write_atomically(Path(paths[-1]), compact(surveys).encode())
    print(sum(len(rows) for _, rows in surveys), "databases")


if __name__ == "__main__":
    _main(*sys.argv[1:])
