"""The databases of a survey, read line by line; a line that is not one is refused by its number."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database, Fact
from lemmax.theory.files import regular_size

Label: TypeAlias = int | str
_LONGEST_LINE = 8_000_000  # bytes
_LARGEST_TENSOR = 10_000_000  # entries |K|·|Q|·|V|
_LONGEST_NAME = 80


class SurveyError(LemmaxError):
    """A file that holds no databases, or a line that is not one."""


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
    for number, text in lines_of(Path(path)):
        where = f"{os.fspath(path)}, line {number}"
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            raise SurveyError(f"{where}: not JSON.") from None
        if not isinstance(data, dict) or "triples" not in data:
            raise SurveyError(f'{where}: not an object with "triples".')
        regime = data.get("regime", "all")
        if not isinstance(regime, str) or not is_name(regime):
            raise SurveyError(f"{where}: the regime is not a short text.")
        position = counts.get(regime, 0)
        counts[regime] = position + 1
        index: Any = data.get("index", data.get("name", position))
        if not is_name(index):
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


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    try:
        regular_size(path)
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


def is_name(value: object) -> bool:
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
    if isinstance(value, str):  # JSON can spell half a character
        return value.isascii() or not re.search("[\ud800-\udfff]", value)
    return isinstance(value, int) and not isinstance(value, bool)


def _short(value: object) -> str:
    """A value on one line of bounded length."""
    text = value if isinstance(value, LemmaxError) else json.dumps(value)
    line = " ".join(str(text).split())
    return line if len(line) <= 200 else f"{line[:200]} …"
