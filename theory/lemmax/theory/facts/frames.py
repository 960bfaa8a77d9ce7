"""Frames of pandas and polars as rows of cells; neither package is imported or needed."""

from __future__ import annotations

from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.layouts import Cells, Rows


def is_frame(data: object) -> bool:
    """Whether something has columns and rows as a pandas or polars frame has."""
    return (hasattr(data, "itertuples") or hasattr(data, "iter_rows")) and hasattr(data, "columns")


def frame_rows(frame: Any) -> Rows:
    """The rows of a frame, numbered from 1; its column names are the header.

    Columns that pandas numbered itself (``header=None``) are no header.
    """
    if not is_frame(frame):
        raise LemmaxError(f"{type(frame).__name__} is not a frame with columns and rows.")
    frame = _with_index(frame)
    columns: list[Any] = list(frame.columns)
    body = frame.iter_rows() if hasattr(frame, "iter_rows") else frame.itertuples(index=False)
    cells: list[tuple[int, Cells]] = [(n, tuple(row)) for n, row in enumerate(body, 1)]
    if columns == list(range(len(columns))):
        return Rows("the frame", "row", tuple(cells))
    return Rows("the frame", "row", ((0, columns), *cells), headed=True)


def _with_index(frame: Any) -> Any:
    """A pandas frame whose index has a name or holds text, with the index as first columns."""
    index = getattr(frame, "index", None)
    if index is None or not hasattr(frame, "reset_index"):
        return frame
    named = any(name is not None for name in index.names)
    return frame.reset_index() if named or any(isinstance(i, str) for i in index) else frame
