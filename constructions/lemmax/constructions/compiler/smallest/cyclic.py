"""Tables of a cyclic group: two heads in the plane, whatever the order of the group."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lemmax.constructions.compiler.smallest.merging import MOST, table
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head


@dataclass(frozen=True)
class Labels:
    """Numbers x_k, y_q and z_v such that z of each fact is x + y modulo the number of values."""

    keys: tuple[int, ...]
    queries: tuple[int, ...]
    values: tuple[int, ...]


def labels(db: Database) -> Labels | None:
    """Labels of a whole table in which some row permutes another in one cycle; else None.

    Every table of Z_n is one, with its elements renamed in any way. Cost: |K| · |Q| comparisons for
    each row.

    >>> table = {f"k{i}": {f"q{j}": (i + j) % 3 for j in range(3)} for i in range(3)}
    >>> labels(Database.from_tables(table))
    Labels(keys=(0, 1, 2), queries=(0, 1, 2), values=(0, 1, 2))
    """
    n = len(db.values)
    if n < 2 or len(db) != len(db.keys) * len(db.queries) or max(n, len(db.keys)) > MOST:
        return None
    cells = table(db)
    return _by_rows(cells, n) or _by_rows(cells.T, n, turned=True)


def _by_rows(cells: NDArray[np.int64], n: int, turned: bool = False) -> Labels | None:
    if cells.shape[1] != n or any(len(set(row)) != n for row in cells.tolist()):
        return None
    for row in cells[1:]:
        step = dict(zip(cells[0].tolist(), row.tolist(), strict=True))
        cycle = [int(cells[0, 0])]
        while step[cycle[-1]] != cycle[0]:
            cycle.append(step[cycle[-1]])
        if len(cycle) == n:
            z = np.argsort(np.array(cycle))
            x, y = z[cells[:, 0]], z[cells[0]]
            if ((x[:, None] + y - z[cells]) % n == 0).all():
                rows, columns = tuple(x.tolist()), tuple(y.tolist())
                return Labels(*((columns, rows) if turned else (rows, columns)), tuple(z.tolist()))
    return None


def cyclic(db: Database, found: Labels) -> AttentionLayer:
    """Two heads, d_model = 2, d_qk = d_vo = 1, sixteen parameters: z = x + y - n·[x + y ≥ n].

    The second head attends evenly and adds x + y. The first has the score A(x + y - n + 1/2), so
    that its attention is within e^{-A/2} of the carry. Needs subjects and predicates to be
    disjoint.

    >>> table = {f"k{i}": {f"q{j}": (i + j) % 9 for j in range(9)} for i in range(9)}
    >>> db = Database.from_tables(table)
    >>> layer = cyclic(db, labels(db))
    >>> layer.parameters, layer.tokens[layer.last_logits(("k7", "q5")).argmax()[0]]
    (16, 3)
    """
    n = len(db.values)
    A = 2 * (8 * n).bit_length()
    half = Fraction(1, 2)
    x = dict(zip(db.keys, found.keys, strict=True))
    y = dict(zip(db.queries, found.queries, strict=True))
    z = dict(zip(db.values, found.values, strict=True))
    W_E = [
        [Fraction(x[t]), Fraction(1)]
        if t in x
        else [n - half - y[t], Fraction(-1)]
        if t in y
        else [Fraction(0), Fraction(0)]
        for t in db.tokens
    ]
    # h = (h_0, -1) and z + 1 = -2·h_0 + (n + 1)/2, up to the error of the carry.
    shift = Fraction(n + 1, 2)
    W_U = []
    for t in db.tokens:
        v = z[t] + 1 if t in z else 0
        W_U.append([Fraction(-2 * v), v * (Fraction(v, 2) - shift) if v else Fraction(n + 2)])
    heads = (
        Head([[0], [-A]], [[1, 0]], [[0], [1]], [[Fraction(n, 4), 0]]),
        Head([[0], [0]], [[0, 0]], [[1], [0]], [[-1, 0]]),
    )
    return AttentionLayer(db.tokens, Matrix(W_E), Matrix(W_U).T, heads)
