"""Which construction a database is compiled by: those that apply, their sizes, the cheapest."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from lemmax.theory.facts.database import Database

Method = Literal[
    "by-predicates",
    "by-keys",
    "two-heads",
    "two-heads-one-hot",
    "by-codes",
    "no-head",
    "few-keys",
    "paired",
    "cyclic",
    "found",
]


@dataclass(frozen=True)
class Dimensions:
    """The sizes of a layer and its non-embedding parameters 2·H·d_model·(d_vo + d_qk)."""

    d_model: int
    heads: int
    d_vo: int
    d_qk: int

    @property
    def parameters(self) -> int:
        """Non-embedding parameters."""
        return 2 * self.heads * self.d_model * (self.d_vo + self.d_qk)


def applicable(db: Database) -> tuple[Method, ...]:
    """The constructions that apply to a database."""
    if not set(db.keys) & set(db.queries):
        return ("by-predicates", "by-keys")
    return ("two-heads-one-hot", "two-heads")


def dimensions(db: Database, method: Method) -> Dimensions:
    """The sizes that a construction needs for a database."""
    K, Q = len(db.keys), len(db.queries)
    if method == "by-predicates":
        return Dimensions(max(2, Q), 1, 1, max(1, Q - 1))
    if method == "by-keys":
        return Dimensions(K + 1, 1, 1, max(1, K - 1))
    if method == "two-heads":
        return Dimensions(2 * Q + 1, 2, 1, Q)
    return Dimensions(len(db.tokens), 2, 1, Q)


def cheapest(db: Database) -> Method:
    """The construction with the fewest non-embedding parameters, then the smallest d_model.

    >>> cheapest(Database.from_triples([("a", "f", "x"), ("b", "f", "y")]))
    'by-predicates'
    """
    sizes: dict[Method, Dimensions] = {method: dimensions(db, method) for method in applicable(db)}
    methods: list[Method] = list(sizes)
    return min(methods, key=lambda method: (sizes[method].parameters, sizes[method].d_model))


def lower_bounds(db: Database) -> tuple[str, ...]:
    """Known necessities: dimensions below which no layer memorizes this database.

    >>> lower_bounds(Database.from_triples([("k", "f", 1), ("k", "g", 2), ("k", "h", 3)]))
    ('d_model >= 2: with d_model = 1 at most two values can be strict maxima.',)
    """
    bounds = []
    if len(db.values) >= 3:
        bounds.append("d_model >= 2: with d_model = 1 at most two values can be strict maxima.")
    shared = [t for t in db.keys if t in db.queries and (t, t) in db]
    for a, b in combinations(shared, 2):
        if (a, b) in db and (b, a) in db:
            same, other = db[a, a], db[a, b]
            if db[b, b] == same and db[b, a] == other and same != other:
                bounds.append(
                    f"heads >= 2: {a} and {b} form an equality table, which no one-head layer "
                    "of any dimension memorizes."
                )
                break
    return tuple(bounds)
