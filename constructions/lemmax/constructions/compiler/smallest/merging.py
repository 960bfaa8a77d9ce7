"""Tokens that never disagree share an embedding: fewer predicates, or subjects, to compile."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer

MOST = 1024  # tokens whose pairs are compared


@dataclass(frozen=True)
class Merged:
    """A database in which some tokens stand for several, and which token stands for which.

    >>> db = Database.from_triples([("a", "f", "x"), ("a", "g", "y"), ("b", "h", "x")])
    >>> merged(db, "predicates").database.queries
    ('f', 'g')
    """

    database: Database
    representative: dict[Hashable, Hashable]

    def expanded(self, layer: AttentionLayer, db: Database) -> AttentionLayer:
        """The layer over all tokens of ``db``: those that were merged have equal embeddings.

        A token that is no value gets the mean of two values as its unembedding, which is strictly
        below the larger of the two whenever a fact is known. Needs two values.
        """
        rows, columns = layer.W_E.flint.tolist(), layer.W_U.flint.transpose().tolist()
        place, spoken = layer.index, {*db.keys, *db.queries}
        first, second = (columns[place[v]] for v in db.values[:2])
        mean = [(a + b) / 2 for a, b in zip(first, second, strict=True)]
        zero = [fmpq(0)] * layer.d_model
        W_E = [rows[place[self.representative[t]]] if t in spoken else zero for t in db.tokens]
        W_U = [columns[place[t]] if t in place else mean for t in db.tokens]
        return AttentionLayer(db.tokens, Matrix(W_E), Matrix(W_U).T, layer.heads, layer.unit)


def table(db: Database) -> NDArray[np.int64]:
    """The number of the value of each key (row) and query (column), -1 where there is none."""
    (keys, k), (queries, q), (_, v) = db.columns
    cells = np.full((len(keys), len(queries)), -1, dtype=np.int64)
    cells[np.array(k), np.array(q)] = np.array(v)
    return cells


def conflicts(cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows disagree somewhere where both are defined."""
    there = cells >= 0
    return np.array([((cells != row) & there & (row >= 0)).any(axis=1) for row in cells])


def coloured(against: NDArray[np.bool_]) -> list[int]:
    """A colour for each vertex, different for those that are in conflict: DSATUR, deterministic.

    >>> coloured(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool))
    [1, 0, 1]
    """
    colours = [-1] * len(against)
    seen: list[set[int]] = [set() for _ in colours]
    degree = against.sum(axis=1)
    for _ in colours:
        v = max(
            (i for i, c in enumerate(colours) if c < 0),
            key=lambda i: (len(seen[i]), degree[i], -i),
        )
        colours[v] = next(c for c in range(len(colours)) if c not in seen[v])
        for u in np.flatnonzero(against[v]):
            seen[u].add(colours[v])
    return colours


def merged(db: Database, part: Literal["predicates", "subjects"]) -> Merged:
    """The database with as few predicates, or subjects, as colouring their conflicts finds.

    Two predicates are in conflict when some subject has different objects for them; predicates of
    one colour become one, and the facts stay a function. Needs subjects and predicates to be
    disjoint. Cost: pairs of them × facts; above {most} of them nothing is merged.
    """
    tokens = db.queries if part == "predicates" else db.keys
    same: dict[Hashable, Hashable] = {t: t for t in (*db.keys, *db.queries)}
    if len(tokens) <= MOST:
        cells = table(db)
        colours = coloured(conflicts(cells.T if part == "predicates" else cells))
        first: dict[int, Hashable] = {}
        for token, colour in zip(tokens, colours, strict=True):
            same[token] = first.setdefault(colour, token)
    return Merged(Database.from_triples((same[k], same[q], v) for k, q, v in db), same)


merged.__doc__ = (merged.__doc__ or "").format(most=MOST)
