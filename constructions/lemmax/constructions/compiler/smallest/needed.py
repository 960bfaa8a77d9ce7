"""Parameters that no layer can do without: what one head of the smallest size cannot separate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from lemmax.constructions.compiler.planning import lower_bounds
from lemmax.constructions.compiler.smallest.merging import MOST, conflicts, table
from lemmax.theory.facts.database import Database, Token

_PARTS = (2, 3, 5)  # numbers of values of a part whose orders are all tried
_MOST_TOKENS = 24  # keys, and predicates, of such a part
_CHANGES = 2  # of sign, of a + b·exp(cx) + b'·exp(c'x)
_NODES = 5_000  # beginnings of orders of keys that are tried


@dataclass(frozen=True)
class Needed:
    """Non-embedding parameters that every layer has which memorizes a database, and why.

    ``narrowest`` is the least d_model.
    """

    parameters: int
    narrowest: int
    reasons: tuple[str, ...]


def needed(db: Database) -> Needed:
    """The best lower bound that the arguments here give.

    A head has at least 4·d_model parameters, and d_model ≥ 2 with three values. One head with
    d_qk = d_vo = 1, of any d_model, sees a key as a point of the plane and decides each predicate
    by curves w = a + b·exp(cu), any two of which cross at most twice; where that cannot separate
    the keys (claim ``lemmax/one-small-head-orders``), two heads or a larger one are needed.

    >>> needed(Database.from_triples([("k", "f", 1), ("k", "g", 2), ("k", "h", 3)])).parameters
    0
    >>> needed(Database.from_triples([("k", "f", 1), ("l", "f", 2), ("k", "h", 3)])).parameters
    8
    """
    narrowest = 1 if len(db.values) < 3 else 2
    if all(len(db.V_q(q)) == 1 for q in db.queries):
        return Needed(0, narrowest, ("The facts depend on the predicate alone: no head.",))
    reasons = ["A predicate with two values needs a head, of at least 4·d_model parameters."]
    if narrowest == 2:
        reasons.append("Three values need d_model >= 2.")
    least = 4 * narrowest
    if any(bound.startswith("heads >= 2") for bound in lower_bounds(db)):
        reasons.append("An equality table needs two heads.")
        return Needed(2 * least, narrowest, tuple(reasons))
    if between(db):
        reasons.append("One head needs d_vo >= 2: no order puts values between the diagonal's.")
        return Needed(12, narrowest, tuple(reasons))
    reason = _not_small(db)
    if reason is not None:  # one head with d_model = 1 is as if d_qk = d_vo = 1
        reasons.append(f"One head with d_qk = d_vo = 1 is not enough for any d_model: {reason}")
        least = 12 if narrowest == 2 else 8
    elif narrowest == 1 and _clique(db) > 2 * len(db.queries) + 1:
        reasons.append("With d_model = 1 a head cuts the line at most twice for each predicate.")
        least = 8
    return Needed(least, narrowest, tuple(reasons))


def between(db: Database) -> bool:
    """Whether the diagonal excludes one head with d_vo = 1, of any d_model and d_qk.

    Such a head orders the values so that D(a, b) = D(b, a), where it is neither, lies between
    D(a, a) and D(b, b). That cannot be if it is always a value of the diagonal again: neighbours
    have nothing between them (claim ``lemmax/diagonal-needs-values-of-two``).

    >>> table = {f"t{i}": {f"t{j}": (i + j) % 3 for j in range(3)} for i in range(3)}
    >>> between(Database.from_tables(table))
    True
    """
    having: dict[Token, list[Token]] = {}
    for t in db.keys:
        if (t, t) in db:
            having.setdefault(db[t, t], []).append(t)
    if not 2 < len(having) <= MOST:
        return False
    return all(
        any(
            (a, b) in db
            and (b, a) in db
            and db[a, b] == db[b, a]
            and db[a, b] in having.keys() - {c, d}
            for a in having[c]
            for b in having[d]
        )
        for c, d in combinations(having, 2)
    )


def _clique(db: Database) -> int:
    """How many keys at least are pairwise told apart by the facts, found greedily."""
    if len(db.keys) > MOST:
        return max(len(db.V_q(q)) for q in db.queries)
    against = conflicts(table(db))
    chosen: list[int] = []
    for k in np.argsort(-against.sum(axis=1), kind="stable"):
        if against[k, chosen].all():
            chosen.append(int(k))
    return len(chosen)


def _not_small(db: Database) -> str | None:
    """Why no layer of one head with d_qk = d_vo = 1 memorizes a database; None: not known."""
    cuts = [len(db.V_q(q)) - 1 for q in db.queries]
    cells = 1 + sum(cuts) + 2 * sum(a * b for a, b in combinations(cuts, 2))
    if len(db.keys) > cells and _clique(db) > cells:
        return f"its curves leave {cells} cells, and more keys are told apart."
    for values in _PARTS:
        if separable(_part(table(db), values)) is False:
            return "no orders of its values and keys let any two curves cross at most twice."
    return None


def _part(cells: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    """The facts of the most frequent values, of the keys and predicates that have most of them."""
    counts = np.bincount(cells[cells >= 0])
    chosen = np.argsort(-counts, kind="stable")[:values]
    part = np.full_like(cells, -1)
    for number, value in enumerate(chosen):
        part[cells == value] = number
    for axis in (1, 0):
        most = np.argsort(-(part >= 0).sum(axis=axis), kind="stable")[:_MOST_TOKENS]
        part = part[np.sort(most)] if axis == 1 else part[:, np.sort(most)]
    return part


def separable(cells: NDArray[np.int64]) -> bool | None:
    """Whether orders of values and of keys exist as one head with d_qk = d_vo = 1 needs them.

    ``cells`` is a table of values, -1 where there is none. For an order of the values a predicate
    with a threshold is the set of keys with a larger value. Going through the keys in their order,
    two such sets may take turns in having a key that the other has not (of those for which both
    predicates are defined) at most three times. False: no layer; True: not excluded; None: too
    many orders. Cost: half of all orders of the values, and for each a search for that of the keys.

    >>> pairs = [[int(k in pair) for pair in combinations(range(4), 2)] for k in range(4)]
    >>> separable(np.array(pairs)), separable(np.array(pairs)[:, :5])
    (False, True)
    """
    n = int(cells.max()) + 1
    nodes = [_NODES]
    for order in permutations(range(n)):
        if order[0] > order[-1]:
            continue  # the reverse has been tried
        rank = np.array([order.index(v) for v in range(n)])
        ranked = np.where(cells >= 0, rank[cells], -1)
        signs = _signs(ranked)
        found = _ordered(signs, nodes)
        if found or found is None:
            return found
    return False


def _signs(ranked: NDArray[np.int64]) -> NDArray[np.int8]:
    """One row for each pair of sets that may take turns: +1, -1 or 0 for each key."""
    above = [
        np.where(column < 0, 0, np.where(column > j, 1, -1)).astype(np.int8)
        for column in ranked.T
        for j in sorted(set(column[column >= 0].tolist()))[:-1]
    ]
    rows = {
        tuple(x.tolist())
        for a, b in combinations(above, 2)
        if (x := np.where(a * b < 0, a, 0).astype(np.int8)).any()
    }
    kept = [x for x in rows if x.count(1) > 1 and x.count(-1) > 1]  # others change at most twice
    return np.array(sorted(kept), dtype=np.int8).reshape(len(kept), ranked.shape[0])


def _ordered(signs: NDArray[np.int8], nodes: list[int]) -> bool | None:
    """Whether some order of the columns has at most two changes of sign in every row.

    Columns are inserted one by one, those with the most signs first, wherever they fit.
    """
    columns = np.argsort(-np.abs(signs).sum(axis=0), kind="stable").tolist()

    def fits(order: list[int]) -> bool:
        last = np.zeros(len(signs), dtype=np.int8)
        changes = np.zeros(len(signs), dtype=np.int8)
        for k in order:
            now = signs[:, k]
            changes += now * last < 0
            last = np.where(now != 0, now, last)
        return bool((changes <= _CHANGES).all())

    def insert(order: list[int]) -> bool | None:
        if len(order) == len(columns):
            return True
        new = columns[len(order)]
        for place in range(max(1, len(order) - (len(order) == 1)) + (len(order) > 1)):
            nodes[0] -= 1
            if nodes[0] < 0:
                return None
            longer = [*order[:place], new, *order[place:]]
            if fits(longer):
                found = insert(longer)
                if found or found is None:
                    return found
        return False

    return insert([])
