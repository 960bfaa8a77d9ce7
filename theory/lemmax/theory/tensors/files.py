"""Decompositions as ⟨L, R, P⟩ in SMS files, the form in which bilinear algorithms are published.

L and R have one row per term, P one column per term: term t is L[t, :] ⊗ R[t, :] ⊗ P[:, t]. An SMS
file starts with ``rows columns R``, has one line ``i j value`` for each nonzero entry, counted from
one, and ends with ``0 0 0``. Values are integers or fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flint import fmpq

from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import regular_text, write_text
from lemmax.theory.numbers.matrices import rational
from lemmax.theory.tensors.decompositions import Decomposition, rational_terms

_LARGEST = 2_000_000


class NotADecomposition(LemmaxError):
    """Files that are no SMS matrices, or matrices that do not fit together or to the tensor."""


def sms(rows: Sequence[Sequence[fmpq]], columns: int) -> str:
    """The text of one matrix.

    >>> print(sms([[fmpq(1), fmpq(0)], [fmpq(0), fmpq(-1, 2)]], 2), end="")
    2 2 R
    1 1 1
    2 2 -1/2
    0 0 0
    """
    lines = [f"{len(rows)} {columns} R"]
    for i, row in enumerate(rows, 1):
        lines += [f"{i} {j} {x}" for j, x in enumerate(row, 1) if x]
    return "\n".join([*lines, "0 0 0"]) + "\n"


def write_decomposition(decomposition: Decomposition, paths: Sequence[str | Path]) -> None:
    """Write L, R and P to three files; only rational decompositions can be written."""
    for path, text in zip(_three(paths), decomposition_texts(decomposition), strict=True):
        write_text(path, text)


def decomposition_texts(decomposition: Decomposition) -> tuple[str, str, str]:
    """The texts of L, R and P."""
    if decomposition.families:
        raise LemmaxError("SMS files hold rational numbers, and this decomposition is irrational.")
    a, b, c = decomposition.shape
    left, right, third = ([list(t[mode]) for t in decomposition.terms] for mode in range(3))
    transposed = [[row[k] for row in third] for k in range(c)]
    return sms(left, a), sms(right, b), sms(transposed, len(decomposition))


def read_decomposition(paths: Sequence[str | Path]) -> Decomposition:
    """Read L, R and P from three files."""
    left, right, third = (read_sms(path) for path in _three(paths))
    count = len(left)
    if len(right) != count or any(len(row) != count for row in third):
        raise NotADecomposition(
            f"L has {count} rows, R {len(right)} rows and P {len(third[0])} columns: "
            "they must have one for each term."
        )
    shape = len(left[0]), len(right[0]), len(third)
    return rational_terms(
        shape, [(left[t], right[t], [row[t] for row in third]) for t in range(count)]
    )


def _three(paths: Sequence[str | Path]) -> Sequence[str | Path]:
    if len(paths) != 3:
        raise NotADecomposition(f"A decomposition is three files, L, R and P, not {len(paths)}.")
    return paths


def _is_count(text: str) -> bool:
    return text.isdecimal() and len(text) < 19


def read_sms(path: str | Path) -> list[list[fmpq]]:
    """The matrix in an SMS file."""
    text = regular_text(path)
    lines = [
        (number, line.split())
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith(("#", "%"))
    ]
    if not lines or len(lines[0][1]) != 3 or not all(map(_is_count, lines[0][1][:2])):
        raise NotADecomposition(f"{path} does not start with the line 'rows columns R'.")
    rows, columns = (int(x) for x in lines[0][1][:2])
    if not rows or not columns or rows * columns > _LARGEST:
        raise NotADecomposition(
            f"{path} is a matrix of {rows} by {columns}, which is no good size."
        )
    matrix = [[fmpq(0)] * columns for _ in range(rows)]
    for number, fields in lines[1:]:
        if fields == ["0", "0", "0"]:
            return matrix
        if len(fields) != 3 or not all(map(_is_count, fields[:2])):
            raise NotADecomposition(f"{path}, line {number}: an entry is 'row column value'.")
        i, j = int(fields[0]), int(fields[1])
        if not (1 <= i <= rows and 1 <= j <= columns):
            raise NotADecomposition(f"{path}, line {number}: ({i}, {j}) is outside the matrix.")
        matrix[i - 1][j - 1] = rational(fields[2])
    raise NotADecomposition(f"{path} does not end with the line '0 0 0'.")
