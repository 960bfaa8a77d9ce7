"""Tables of random facts, which have nothing to be compressed."""

from __future__ import annotations

from random import Random

from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database


def random_table(keys: int, queries: int, values: int, gaps: int = 0, seed: int = 0) -> Database:
    """Facts about k0, k1, … with predicates q0, …, every value used; the first ``gaps`` missing.

    Where there are fewer facts than values the last values are not used.

    >>> random_table(2, 2, 3).triples
    (('k0', 'q0', 'v1'), ('k0', 'q1', 'v0'), ('k1', 'q0', 'v2'), ('k1', 'q1', 'v1'))
    """
    if min(keys, queries, values) < 1 or gaps >= keys * queries:
        raise LemmaxError("A table has at least one subject, predicate, value and fact.")
    random = Random(f"{keys}, {queries}, {values}, {seed}")
    wanted = [f"v{i}" for i in range(values)]
    objects = wanted + random.choices(wanted, k=max(0, keys * queries - values))
    random.shuffle(objects)
    pairs = [(f"k{i}", f"q{j}") for i in range(keys) for j in range(queries)]
    facts = [(*pair, v) for pair, v in zip(pairs, objects, strict=False)]
    return Database.from_triples(facts[gaps:])
