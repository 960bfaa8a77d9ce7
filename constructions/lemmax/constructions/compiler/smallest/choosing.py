"""The smallest layer that a proof gives: constructions that share embeddings, and the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from lemmax.constructions.compiler.by_predicates import by_predicates
from lemmax.constructions.compiler.parabola import numbers, unembedding
from lemmax.constructions.compiler.planning import Dimensions, Method, applicable, dimensions
from lemmax.constructions.compiler.smallest.cyclic import cyclic, labels
from lemmax.constructions.compiler.smallest.few_keys import few_keys
from lemmax.constructions.compiler.smallest.merging import Merged, merged
from lemmax.constructions.compiler.smallest.paired import pair, paired
from lemmax.constructions.compiler.two_heads import two_heads
from lemmax.constructions.compiler.two_heads_one_hot import two_heads_one_hot
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer


@dataclass(frozen=True)
class Choice:
    """A construction that applies to a database: its sizes, and how to build it."""

    method: Method
    dims: Dimensions
    build: Callable[[], AttentionLayer]


def no_head(db: Database) -> AttentionLayer:
    """No head and d_model = 2, for facts that depend on the predicate alone."""
    number = numbers(db)
    own = {q: number[v] for _, q, v in db}
    zero, one = Fraction(0), Fraction(1)
    W_E = [[one, Fraction(own[t])] if t in own else [zero, zero] for t in db.tokens]
    return AttentionLayer(db.tokens, Matrix(W_E), Matrix(unembedding(db, [one, zero], [zero, one])))


def choices(db: Database) -> Iterator[Choice]:
    """The constructions that apply, merged where tokens never disagree."""
    if all(len(db.V_q(q)) == 1 for q in db.queries):
        yield Choice("no-head", Dimensions(2, 0, 0, 0), lambda: no_head(db))
        return
    if "by-predicates" not in applicable(db):
        yield Choice("two-heads", dimensions(db, "two-heads"), lambda: two_heads(db))
        one_hot = dimensions(db, "two-heads-one-hot")
        yield Choice("two-heads-one-hot", one_hot, lambda: two_heads_one_hot(db))
        return
    found = labels(db)
    if found is not None:
        yield Choice("cyclic", Dimensions(2, 2, 1, 1), lambda: cyclic(db, found))
    few = merged(db, "predicates")
    yield _merged(db, few, "by-predicates", len(few.database.queries), by_predicates)
    two = pair(few.database) if len(few.database.queries) > 2 else None
    if two is not None:
        less = len(few.database.queries) - 1
        yield _merged(db, few, "paired", less, lambda small: paired(small, two))
    keys = merged(db, "subjects")
    yield _merged(db, keys, "few-keys", len(keys.database.keys), few_keys)


def _merged(
    db: Database,
    small: Merged,
    method: Method,
    size: int,
    build: Callable[[Database], AttentionLayer],
) -> Choice:
    d = max(2, size)
    dims = Dimensions(d, 1, 1, d - 1)
    return Choice(method, dims, lambda: small.expanded(build(small.database), db))


def constructed(db: Database) -> Choice:
    """The construction with the fewest non-embedding parameters, then the smallest d_model.

    >>> facts = [("a", "f", 1), ("b", "f", 2), ("a", "g", 2), ("c", "h", 3), ("d", "h", 1)]
    >>> constructed(Database.from_triples(facts)).dims.parameters
    8
    """
    return min(choices(db), key=lambda c: (c.dims.parameters, c.dims.d_model))
