r"""The effective rank of a database: the least rank of a tensor that agrees with it on its facts.

Nothing is asked of the cells where the database says nothing, so it can be far below the rank.

*Below* (block lemma): on a completely specified block K' × Q' with values V' it is at least
rank(D|K'×Q') + |V∖V'|; one cell as block gives |V|. *Above*: two keys conflict where both are
defined and differ at some query. The classes of a proper colouring merge into one key each,
likewise for queries, and every tensor that represents the merged database gives one of the same
rank for the original. The merged database is bounded by a minimum spanning tree on its slices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.facts.database import Database, Token
from lemmax.theory.latex import Typeset, between
from lemmax.theory.numbers.interval import Interval
from lemmax.theory.tensors.above.slices import spanning_tree
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.ranks import TensorRank, tensor_rank
from lemmax.theory.wong.layer_tensors import flattening_ranks

_STRATEGIES = ("largest_first", "DSATUR", "smallest_last")
_BLOCKS = 2_000


@dataclass(frozen=True)
class Block:
    """A completely specified block, the rank of its tensor, and the values outside it."""

    keys: tuple[Token, ...]
    queries: tuple[Token, ...]
    tensor: TensorRank
    outside: int

    @property
    def bound(self) -> int:
        """rank(D|K'×Q') + |V∖V'|, or what is known of it from below."""
        return self.tensor.lower + self.outside


@dataclass(frozen=True)
class EffectiveRank(Interval, Typeset):
    """Bounds for the effective rank over a field.

    ``block`` gives the lower bound. ``representation`` is a tensor that agrees with the database on
    all of its facts, with the terms that sum to it.

    >>> db = Database.from_triples([("a", "f", "v"), ("b", "g", "v")])
    >>> result = effective_rank(db)
    >>> result.lower, result.upper  # the rank is 2
    (1, 1)
    """

    block: Block
    merged: Database
    representation: TensorRank

    @property
    def lower(self) -> int:
        """At least this, by the block lemma."""
        return self.block.bound

    @property
    def upper(self) -> int:
        """At most this, the number of terms of the representation."""
        return self.representation.upper

    def certificate(self) -> Certificate:
        """A ``tensor-rank`` certificate of the representation: the upper bound."""
        return self.representation.certificate()

    def formula(self) -> str:
        """The effective rank as an equation or as two inequalities."""
        return between(self.lower, r"\operatorname{er}(\mathcal{D})", self.upper)


def effective_rank(db: Database, field: Field = "R") -> EffectiveRank:
    """Bounds for the effective rank of a database over Q, R or C; exact where they meet.

    Notes
    -----
    Blocks are the maximal ones above each set of queries, of which at most 2,000 are tried, each
    at the cost of three exact ranks. The colourings are greedy, and the merged database with the
    smallest spanning tree is the one whose rank is then bounded by all means.

    Examples
    --------
    >>> facts = [(k, q, "v") for k, q in zip("abcde", "fghij")]
    >>> effective_rank(Database.from_triples(facts)).rank  # the rank is 5
    1
    """
    mergings = [
        Merging(db, ({k: k for k in db.keys}, {q: q for q in db.queries})),
        *(merge_compatible(db, first, s) for first in (0, 1) for s in _STRATEGIES),
    ]
    best = min(mergings, key=lambda m: spanning_tree_bound(m.merged.tensor()))
    return EffectiveRank(best_block(db, field), best.merged, tensor_rank(best.spread(db), field))


# -- below ---------------------------------------------------------------------------------------


def best_block(db: Database, field: Field = "R") -> Block:
    """The block with the largest flattening rank + |V∖V'|, its rank then bounded by all means."""
    tensor = db.tensor()
    best: tuple[int, list[int], list[int]] = (0, [], [])
    for keys, queries in _blocks(tensor.sum(axis=2)):
        part = tensor[np.ix_(keys, queries)]
        rank = max(flattening_ranks(part.tolist()))
        bound = rank + int((~part.any(axis=(0, 1))).sum())
        if bound > best[0]:
            best = (bound, keys, queries)
    _, keys, queries = best
    part = tensor[np.ix_(keys, queries)]
    present = part.any(axis=(0, 1))
    return Block(
        tuple(db.keys[i] for i in keys),
        tuple(db.queries[j] for j in queries),
        tensor_rank(part[:, :, present], field),
        int((~present).sum()),
    )


def _blocks(domain: NDArray[np.int64]) -> Iterator[tuple[list[int], list[int]]]:
    """Maximal completely specified blocks, each once, above sets of few queries first."""
    seen = set()
    tried = 0
    for size in range(1, domain.shape[1] + 1):
        for chosen in combinations(range(domain.shape[1]), size):
            tried += 1
            if tried > _BLOCKS:
                return
            keys = np.flatnonzero(domain[:, list(chosen)].all(axis=1))
            if not keys.size:
                continue
            queries = np.flatnonzero(domain[keys].all(axis=0))
            name = (keys.tobytes(), queries.tobytes())
            if name not in seen:
                seen.add(name)
                yield keys.tolist(), queries.tolist()


# -- above ---------------------------------------------------------------------------------------


def conflict_graph(db: Database, mode: int) -> nx.Graph:
    """Keys (mode 0) or queries (mode 1), joined where some cell forbids merging them.

    >>> db = Database.from_triples([("a", "f", 1), ("b", "f", 2), ("c", "g", 1)])
    >>> sorted(conflict_graph(db, 0).edges)
    [('a', 'b')]
    """
    lines: dict[Token, dict[Token, Token]] = {}
    for k, q, v in db:
        own, other = (k, q) if mode == 0 else (q, k)
        lines.setdefault(own, {})[other] = v
    graph = nx.Graph()
    graph.add_nodes_from(lines)
    graph.add_edges_from(
        (a, b)
        for a, b in combinations(lines, 2)
        if any(lines[b].get(place, v) != v for place, v in lines[a].items())
    )
    return graph


def merge(db: Database, mode: int, colour: Mapping[Token, int]) -> Database:
    """The database in which the keys (queries) of each colour are one; its tokens are the colours.

    A proper colouring of the conflict graph never gives a contradiction: compatible in pairs means
    compatible all together, since a cell gets its value from any one of them.
    """
    facts = [(colour[k], q, v) if mode == 0 else (k, colour[q], v) for k, q, v in db]
    return Database.from_triples(facts)


@dataclass(frozen=True)
class Merging:
    """A database with merged keys and queries, and the class of every original one."""

    merged: Database
    classes: tuple[dict[Token, Token], dict[Token, Token]]

    def spread(self, db: Database) -> NDArray[np.int64]:
        """The merged tensor with each class written out: it represents the original database."""
        keys, queries, values = self.merged.keys, self.merged.queries, self.merged.values
        return self.merged.tensor()[
            np.ix_(
                [keys.index(self.classes[0][k]) for k in db.keys],
                [queries.index(self.classes[1][q]) for q in db.queries],
                [values.index(v) for v in db.values],
            )
        ]


def merge_compatible(db: Database, first: int = 0, strategy: str = "DSATUR") -> Merging:
    """Merge keys and queries in turn, by greedy colourings, until nothing merges any more."""
    merged = db
    classes: tuple[dict[Token, Token], dict[Token, Token]] = (
        {k: k for k in db.keys},
        {q: q for q in db.queries},
    )
    mode, idle = first, 0
    while idle < 2:
        graph = conflict_graph(merged, mode)
        colour = nx.greedy_color(graph, strategy=strategy)
        idle += 1
        if len(set(colour.values())) < len(graph):
            merged, idle = merge(merged, mode, colour), 0
            for token, name in classes[mode].items():
                classes[mode][token] = colour[name]
        mode = 1 - mode
    return Merging(merged, classes)


def spanning_tree_bound(tensor: NDArray[np.int64]) -> int:
    """The least number of terms that a spanning tree on the slices of one of the modes gives."""
    return min(len(spanning_tree(tensor, mode)) for mode in range(3))


def represents(tensor: Sequence[Sequence[Sequence[int]]] | NDArray[np.int64], db: Database) -> bool:
    """Whether a K × Q × V tensor agrees with the database on all of its facts.

    >>> db = Database.from_triples([("a", "f", "v"), ("b", "g", "v")])
    >>> represents([[[1], [1]], [[1], [1]]], db), represents([[[1], [1]], [[1], [0]]], db)
    (True, False)
    """
    array, own = np.asarray(tensor), db.tensor()
    domain = own.any(axis=2)
    return bool((array[domain] == own[domain]).all())
