"""How objects show themselves in a terminal and in a notebook: short text, small tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from html import escape
from typing import Any

LONGEST = 400
"""Characters of the longest text that shows an object whole."""
_MOST = 12


def shortened(value: Any, summary: str) -> str:
    """The fields of a dataclass as text, or a summary where they are long.

    >>> from lemmax.theory import Database
    >>> Database.from_triples((k, "f", k) for k in range(99))
    Database(99 facts: 99 keys, 1 query, 99 values)
    """
    name = type(value).__name__
    parts = (f"{f.name}={getattr(value, f.name)!r}" for f in fields(value) if f.repr)
    full = f"{name}({', '.join(parts)})"
    return full if len(full) <= LONGEST else f"{name}({summary})"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "query", "queries"), counted(3, "fact")
    ('1 query', '3 facts')
    """
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def html_table(rows: Sequence[Sequence[object]], header: Sequence[str] = ()) -> str:
    """A small table; beyond a dozen rows or columns with dots.

    >>> html_table([[1, "<"]], ["a", "b"])
    '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>&lt;</td></tr></table>'
    """
    lines = [_line(header, "th")] if header else []
    lines += [_line(row, "td") for row in _dotted(rows)]
    return f"<table>{''.join(lines)}</table>"


def _dotted(items: Sequence[Any]) -> list[Any]:
    few = [*items[: _MOST - 2], None, items[-1]] if len(items) > _MOST else list(items)
    return few


def _line(row: Sequence[object] | None, tag: str) -> str:
    cells = ["⋯"] if row is None else ["⋯" if c is None else str(c) for c in _dotted(row)]
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
