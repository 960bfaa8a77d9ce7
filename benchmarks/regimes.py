"""Random databases of at most 200 facts in the ten regimes of the survey, from a seed.

    python -m benchmarks.regimes 2027 --each 100 -o databases.jsonl
    python -m benchmarks.regimes 2028 --of databases.jsonl --each 20 -o some.jsonl

The survey was tuned on a thousand databases; others of the same regimes show how much of its shares
is tuning. The sizes are drawn as those of the thousand look: their quantiles agree, not their code.
The second command takes some of each regime of a file: the first of a shuffle, so that a smaller
sample is part of a larger one.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Fact = tuple[str, str, str]
MOST = 200


def table(rng: random.Random, K: int, pools: list[list[str]], density: float = 1.0) -> list[Fact]:
    """One table: a column per pool, each cell drawn from it, or left empty."""
    return [
        (f"k{k}", f"q{q}", rng.choice(pool))
        for k in range(K)
        for q, pool in enumerate(pools)
        if rng.random() < density
    ]


def keys(rng: random.Random, least: int, Q: int) -> int:
    """As many keys as a dense table of Q columns may have."""
    return rng.randint(least, max(least, min(40, MOST // Q)))


def pool(name: str, size: int) -> list[str]:
    return [f"{name}v{n}" for n in range(size)]


def two_col(rng: random.Random) -> list[Fact]:
    """Two predicates, one pool; half of the tables have empty cells."""
    density = rng.choice([1.0, rng.uniform(0.7, 1.0)])
    return table(rng, rng.randint(2, 40), [pool("", rng.randint(3, 40))] * 2, density)


def private(rng: random.Random) -> list[Fact]:
    """Each predicate has values of its own."""
    pools = [pool(f"q{q}", rng.randint(1, 12)) for q in range(rng.randint(1, 10))]
    return table(rng, keys(rng, 2, len(pools)), pools)


def fewvals(rng: random.Random) -> list[Fact]:
    """Many keys, few values."""
    values, Q = pool("", rng.randint(2, 6)), rng.randint(2, 8)
    return table(rng, keys(rng, 15, Q), [values] * Q)


def tiny(rng: random.Random) -> list[Fact]:
    """At most six keys, three predicates and five values."""
    density = rng.choice([1.0, rng.uniform(0.6, 1.0)])
    values = pool("", rng.randint(2, 5))
    return table(rng, rng.randint(2, 6), [values] * rng.choice([1, 2, 2, 3, 3]), density)


def typed(rng: random.Random) -> list[Fact]:
    """Columns draw from a few typed pools."""
    Q = rng.randint(2, 10)
    types = [pool(f"t{t}", rng.randint(2, 15)) for t in range(rng.randint(1, max(1, Q - 1)))]
    return table(rng, keys(rng, 4, Q), [rng.choice(types) for _ in range(Q)])


def sparse(rng: random.Random) -> list[Fact]:
    """Between .15 and .7 of the cells are filled."""
    values = pool("", rng.randint(2, 30))
    return table(rng, rng.randint(4, 40), [values] * rng.randint(2, 10), rng.uniform(0.15, 0.7))


def calib18(rng: random.Random) -> list[Fact]:
    """A dense table with about 1.8 facts per unit of the bound of Proposition 2.1."""
    Q = rng.randint(1, 8)
    K = keys(rng, 4, Q)
    return table(rng, K, [pool("", max(2, round(K * rng.uniform(0.56, 0.64))))] * Q)


def dense_shared(rng: random.Random) -> list[Fact]:
    """A dense table, one pool."""
    Q = rng.randint(1, 10)
    return table(rng, keys(rng, 2, Q), [pool("", rng.randint(2, 40))] * Q)


def multi_fig1(rng: random.Random) -> list[Fact]:
    """Two to four tables; columns draw from pools, or from the keys of another table."""
    keys = [[f"T{t}k{k}" for k in range(rng.randint(2, 14))] for t in range(rng.randint(2, 4))]
    pools = [pool(f"P{p}", rng.randint(2, 12)) for p in range(rng.randint(1, 3))]
    facts: list[Fact] = []
    for t, own in enumerate(keys):
        others = [each for each in keys if each is not own]
        for c in range(rng.randint(1, 4)):
            source = rng.choice(others) if rng.random() < 0.5 else rng.choice(pools)
            facts += [(k, f"T{t}c{c}", rng.choice(source)) for k in own]
    return facts


def multi_sharedcols(rng: random.Random) -> list[Fact]:
    """Two to four tables that share predicates and one pool."""
    Q, values = rng.randint(1, 8), pool("", rng.randint(2, 25))
    facts: list[Fact] = []
    for t in range(rng.randint(2, 4)):
        columns = rng.sample(range(Q), rng.randint(1, Q))
        for k in range(rng.randint(2, 12)):
            facts += [(f"T{t}k{k}", f"q{q}", rng.choice(values)) for q in columns]
    return facts


REGIMES: tuple[Callable[[random.Random], list[Fact]], ...] = (
    two_col,
    private,
    fewvals,
    tiny,
    multi_fig1,
    typed,
    sparse,
    multi_sharedcols,
    calib18,
    dense_shared,
)


def databases(seed: int, each: int) -> Iterator[dict[str, Any]]:
    """``each`` databases per regime, one stream of random numbers per regime."""
    for regime in REGIMES:
        rng, index = random.Random(f"{seed} {regime.__name__}"), 0
        while index < each:
            facts = regime(rng)
            if 2 <= len(facts) <= MOST:
                yield {"regime": regime.__name__, "index": index, "triples": facts}
                index += 1


def sampled(seed: int, each: int, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """``each`` databases per regime of those given, the first of a shuffle."""
    for regime in dict.fromkeys(row["regime"] for row in rows):
        own = [row for row in rows if row["regime"] == regime]
        random.Random(f"{seed} {regime}").shuffle(own)
        yield from own[:each]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("--each", type=int, default=100, help="databases per regime")
    parser.add_argument("--of", type=Path, help="a file of databases: a sample of it")
    parser.add_argument("-o", "--out", type=Path, required=True)
    asked = parser.parse_args()
    if asked.of is None:
        rows: Iterator[dict[str, Any]] = databases(asked.seed, asked.each)
    else:
        known = asked.of.read_text(encoding="utf-8").splitlines()
        rows = sampled(asked.seed, asked.each, [json.loads(line) for line in known])
    lines = [json.dumps(row, separators=(",", ":")) for row in rows]
    asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
