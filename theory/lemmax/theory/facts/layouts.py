"""How rows of cells are meant: one fact per row, or a table with a column per predicate.

A reading is chosen only where the rows allow no other; where they allow two, they are refused with
the words that say which is meant. What the rows come from, a file or a frame, is not known here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from lemmax.theory.errors import LemmaxError

Token: TypeAlias = Hashable
Fact: TypeAlias = tuple[Token, Token, Token]
Layout = Literal["triples", "headed-triples", "table"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
Cells: TypeAlias = Sequence[Token]

HEADER = ("subject", "predicate", "object")
USUAL = (
    HEADER,
    ("s", "p", "o"),
    ("subj", "pred", "obj"),
    ("subject", "relation", "object"),
    ("head", "relation", "tail"),
    ("h", "r", "t"),
    ("key", "query", "value"),
    ("k", "q", "v"),
    ("entity", "attribute", "value"),
)
"""Headers of files of triples; their columns may stand in any order."""
_SUBJECTS = frozenset(("", "subject", "key", "entity", "name", "id", "index", "label", "item"))


@dataclass(frozen=True)
class Rows:
    """Rows of cells, each with the place it stands at (a line of a file, a row of a frame)."""

    name: str
    unit: Literal["line", "row"]
    numbered: tuple[tuple[int, Cells], ...]
    headed: bool = False  # the first row is known to be a header

    def at(self, number: int) -> str:
        """The words that name a place.

        >>> Rows("facts.csv", "line", ()).at(3)
        'facts.csv, line 3'
        """
        return f"{self.name}, {self.unit} {number}"


@dataclass(frozen=True)
class Reading:
    """Facts with the places they stand at, and one sentence about how they were read."""

    facts: tuple[tuple[int | None, Fact], ...]
    how: str
    unit: Literal["line", "row"] = "line"


def is_empty(cell: object) -> bool:
    """Whether a cell holds nothing: None, NaN in any of its forms, or blank text.

    >>> [is_empty(cell) for cell in (None, float("nan"), " ", 0, "x")]
    [True, True, True, False, False]
    """
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return not cell.strip() if isinstance(cell, str) else bool(cell != cell)


def interpret(rows: Rows, layout: Layout | None = None) -> Reading:
    """The facts that rows of cells mean.

    Without a layout, a usual header (subject, predicate, object; s, p, o; head, relation, tail;
    key, query, value; …) means one fact per row. So do three columns whose first row has a cell
    that occurs again below it, for then it is no header. Rows with an empty cell, or with another
    number of columns than three, or under a first name such as ``name``, are a table.

    Raises
    ------
    LemmaxError
        Ragged rows, facts with an empty cell, and rows that can be read in two ways.

    Examples
    --------
    >>> rows = Rows("f.csv", "line", ((1, "afx"), (2, "agy"), (3, "bfy")))
    >>> interpret(rows).how
    'f.csv: read as 3 facts, one per row, without a header.'
    >>> interpret(rows, "table").how
    "f.csv: read as 4 facts, a table with subjects in the column 'a' and the predicates 'f', 'x'."
    """
    _not_ragged(rows)
    chosen = _layout(rows) if layout is None else layout
    if chosen == "table":
        return _table(rows)
    if len(rows.numbered[0][1]) != 3:
        raise LemmaxError(f"{rows.at(rows.numbered[0][0])}: a row of facts has three cells.")
    return _triples(rows, headed=chosen == "headed-triples" or _order(_names(rows)) is not None)


def _names(rows: Rows) -> list[Token]:
    return [cell.strip() if isinstance(cell, str) else cell for cell in rows.numbered[0][1]]


def _order(names: Sequence[Token]) -> tuple[int, int, int] | None:
    """Where subject, predicate and object stand under a usual header."""
    lower = [str(name).lower() for name in names]
    for usual in USUAL:
        if len(lower) == 3 and set(lower) == set(usual):
            return lower.index(usual[0]), lower.index(usual[1]), lower.index(usual[2])
    return None


def _not_ragged(rows: Rows) -> None:
    if not rows.numbered:
        raise LemmaxError(f"{rows.name} is empty.")
    width = len(rows.numbered[0][1])
    if width < 2:
        raise LemmaxError(f"{rows.name} has one column: a table needs a subject and a predicate.")
    for number, cells in rows.numbered:
        if len(cells) != width:
            raise LemmaxError(f"{rows.at(number)}: {len(cells)} cells, {width} columns.")


def _layout(rows: Rows) -> Layout:
    names, below = _names(rows), [cells for _, cells in rows.numbered[1:]]
    if _order(names) is not None:
        return "triples"
    lower = [str(name).lower() for name in names]
    if any(set(usual) <= set(lower) for usual in USUAL[:1]):
        raise LemmaxError(
            f"{rows.name} has the columns subject, predicate, object and others: "
            "leave out the others, or say --format table."
        )
    again = next((n for j, n in enumerate(names) if n in {cells[j] for cells in below}), None)
    if again is not None and not is_empty(again):
        if len(names) == 3 and not rows.headed:
            return "triples"
        raise LemmaxError(
            f"{rows.name}: the first row does not look like a header, since {again!r} occurs again "
            "below it; if it is one, say --format table."
        )
    if len(names) != 3 or rows.headed or lower[0] in _SUBJECTS:
        return "table"
    if any(is_empty(cell) for cells in below for cell in cells):
        return "table"
    facts, cells_below = len(below), 2 * len(below)
    raise LemmaxError(
        f"{rows.name} can be read in two ways: say --format triples for {_counted(facts + 1)}, one "
        f"per row, --format headed-triples for {_counted(facts)} under a header, or --format table "
        f"for {_counted(cells_below)} with the predicates {names[1]!r} and {names[2]!r}."
    )


def _triples(rows: Rows, *, headed: bool) -> Reading:
    order = _order(_names(rows)) if headed else None
    s, p, o = order or (0, 1, 2)
    facts: list[tuple[int | None, Fact]] = []
    for number, cells in rows.numbered[1:] if headed else rows.numbered:
        if any(map(is_empty, cells)):
            raise LemmaxError(f"{rows.at(number)}: a fact with an empty cell.")
        facts.append((number, (cells[s], cells[p], cells[o])))
    header = ", ".join(str(name) for name in _names(rows))
    under = f"under the header {header}" if headed else "without a header"
    how = f"{rows.name}: read as {_counted(len(facts))}, one per row, {under}."
    return Reading(tuple(facts), how, rows.unit)


def _table(rows: Rows) -> Reading:
    names = _names(rows)
    for column, name in enumerate(names[1:], 2):
        if is_empty(name):
            raise LemmaxError(f"{rows.name}: column {column} has no name.")
    if len(set(names[1:])) != len(names) - 1:
        raise LemmaxError(f"{rows.name}: two columns have the same name.")
    facts = tuple(_cells_as_facts(rows, names[1:]))
    predicates = ", ".join(repr(name) for name in names[1:5]) + (", …" if len(names) > 5 else "")
    where = "the first column" if is_empty(names[0]) else f"the column {names[0]!r}"
    said = "predicates" if len(names) > 2 else "predicate"
    how = (
        f"{rows.name}: read as {_counted(len(facts))}, a table with subjects in {where} and the "
        f"{said} {predicates}."
    )
    return Reading(facts, how, rows.unit)


def _cells_as_facts(rows: Rows, names: Sequence[Token]) -> Iterator[tuple[int | None, Fact]]:
    for number, (subject, *cells) in rows.numbered[1:]:
        if is_empty(subject):
            raise LemmaxError(f"{rows.at(number)}: a row without a subject.")
        for name, cell in zip(names, cells, strict=True):
            if not is_empty(cell):
                yield number, (subject, name, cell)


def _counted(facts: int) -> str:
    return "1 fact" if facts == 1 else f"{facts} facts"
