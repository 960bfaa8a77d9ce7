"""What a survey records: one row per database, in a results file or together in a compact one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmax.numerics.survey.databases import Label, is_name, lines_of
from lemmax.numerics.training.results import ResultsError, read_results
from lemmax.numerics.training.streams import canonical
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import regular_size


@dataclass(frozen=True)
class Row:
    """What is known of one database.

    ``proposition`` is the bound of Wong's Proposition 2.1, ``flattening`` the largest rank of a
    flattening, ``seconds`` are of CPU time; ``stopped`` says that time ended the search, ``holds``
    what the independent checker says of the certificate, where it was asked. ``cut`` says that time
    ended a search for proofs from below, None in rows of surveys that did not ask; ``fitted`` is
    the fewest terms of a numerical fit, None where none was tried.
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
    cut: bool | None = None
    fitted: int | None = None


_COLUMNS = tuple(Row.__dataclass_fields__)
_ALWAYS = _COLUMNS[: _COLUMNS.index("cut")]  # the others came later


def row_of(record: Mapping[str, Any]) -> Row:
    """The row of a line of a results file."""
    sizes = dict(zip(("keys", "queries", "values"), record["shape"], strict=True))
    known = {**record, **sizes}
    return _row(known[name] if name in _ALWAYS else known.get(name) for name in _COLUMNS)


def _row(values: Iterable[Any]) -> Row:
    """A row of values that a file holds; ValueError where they are not what they should be."""
    row = Row(*values)
    sizes = (row.keys, row.queries, row.values, row.facts, row.proposition)
    good = (
        is_name(row.index)
        and is_name(row.regime)
        and all(type(x) is int and x > 0 for x in (*sizes, row.flattening, row.lower, row.upper))
        and row.lower <= row.upper
        and type(row.stopped) is bool
        and (row.holds is None or type(row.holds) is bool)
        and (row.cut is None or type(row.cut) is bool)
        and (row.fitted is None or type(row.fitted) is int)
    )
    if not good or not 0 <= float(row.seconds) < float("inf"):
        raise ValueError
    return row


def together(surveys: Sequence[tuple[Mapping[str, Any], Sequence[Row]]]) -> dict[str, Any]:
    """The header of surveys over one field and of different regimes.

    It has the names of the columns, and the seconds that each regime was given.
    """
    fields = {header["field"] for header, _ in surveys}
    seconds: dict[str, float | None] = {}
    for header, rows in surveys:
        regimes, given = {row.regime for row in rows}, header["seconds"]
        if len(fields) > 1 or not seconds.keys().isdisjoint(regimes):
            raise ResultsError(
                "Only surveys over one field, of different regimes, are put together."
            )
        for regime in sorted(regimes):
            seconds[regime] = given[regime] if isinstance(given, Mapping) else given
    head = {"field": fields.pop(), "seconds": seconds, "columns": list(_COLUMNS)}
    return {"lemmax-survey": 1, **head}


def compact(surveys: Sequence[tuple[Mapping[str, Any], Sequence[Row]]]) -> str:
    """Surveys of different regimes as one text for a repository: a header, one list per row."""
    lines = [canonical(together(surveys))]
    lines += [canonical(list(vars(row).values())) for _, rows in surveys for row in rows]
    return "\n".join(lines) + "\n"


def is_recorded(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as results of lemmax do, compact or not."""
    try:
        regular_size(path)
        with open(path, "rb") as file:
            header = json.loads(file.readline(10_000))
    except (OSError, ValueError, RecursionError, LemmaxError):
        return False
    return isinstance(header, dict) and not {"lemmax-survey", "lemmax-results"}.isdisjoint(header)


def read_survey(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[Row]]:
    """The header and the rows of a results file of a survey, or of a compact one."""
    lines = [text for _, text in lines_of(Path(path))]
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
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ResultsError(f"{os.fspath(path)} is damaged.") from None
    if not rows:
        raise ResultsError(f"{os.fspath(path)} holds no finished database.")
    return header, rows
