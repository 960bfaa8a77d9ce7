"""How often the rank of a random database closes, and what it costs.

Run: ``python benchmarks/bench_tensor_ranks.py [DATABASES]``. Each regime draws databases of 180 to
200 facts; the times are processor seconds, of ``tensor_rank`` and of the independent checker.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator

from lemmax.checker import check
from lemmax.theory import Database, tensor_rank

Facts = list[tuple[object, object, object]]


def shared(rng: random.Random, queries: int) -> Facts:
    """One total table whose values come from one pool."""
    keys = 200 // queries
    values = max(2, round(keys / 1.6))
    return [(k, q, rng.randrange(values)) for k in range(keys) for q in range(queries)]


def few_values(rng: random.Random, queries: int) -> Facts:
    """One total table with at most six values."""
    values = rng.randint(2, 6)
    return [(k, q, rng.randrange(values)) for k in range(200 // queries) for q in range(queries)]


def private(rng: random.Random, queries: int) -> Facts:
    """Columns with disjoint values."""
    return [(k, q, (q, rng.randrange(9))) for k in range(200 // queries) for q in range(queries)]


def sparse(rng: random.Random, queries: int) -> Facts:
    """About half of the cells are defined."""
    cells = [(k, q) for k in range(400 // queries) for q in range(queries)]
    return [(k, q, rng.randrange(30)) for k, q in rng.sample(cells, 200)]


def tables(rng: random.Random, queries: int) -> Facts:
    """Two tables; a column of the first may name the keys of the second."""
    facts: Facts = []
    half = max(1, queries // 2)
    for table in range(2):
        keys = 100 // half
        for q in range(half):
            names = rng.random() < 0.5
            for k in range(keys):
                value = (1 - table, rng.randrange(keys)) if names else ("v", rng.randrange(12))
                facts.append(((table, k), (table, q), value))
    return facts


REGIMES: dict[str, tuple[Callable[[random.Random, int], Facts], tuple[int, ...]]] = {
    "private columns": (private, (2, 4, 5, 10)),
    "two queries": (shared, (2,)),
    "few values": (few_values, (2, 4, 5, 8)),
    "shared values": (shared, (3, 4, 5, 8, 10)),
    "sparse": (sparse, (2, 4, 5, 8, 10)),
    "two tables": (tables, (2, 4, 6, 8)),
}


def databases(regime: str, count: int) -> Iterator[Database]:
    draw, sizes = REGIMES[regime]
    rng = random.Random(f"{regime}-0")
    for i in range(count):
        yield Database.from_triples(draw(rng, sizes[i % len(sizes)]))


def main(count: int) -> None:
    print(
        f"{'regime':16} {'closed':>7} {'lower':>6} {'upper':>6} {'s mean':>7} {'s max':>6} check s"
    )
    for regime in REGIMES:
        closed = lower = upper = 0
        spent: list[float] = []
        checking: list[float] = []
        for db in databases(regime, count):
            start = time.process_time()
            result = tensor_rank(db, "R")
            spent.append(time.process_time() - start)
            start = time.process_time()
            if not check(result.certificate()).holds:
                raise SystemExit(f"{regime}: a certificate does not hold")
            checking.append(time.process_time() - start)
            closed += result.rank is not None
            lower += result.lower
            upper += result.upper
        mean = sum(spent) / count
        print(
            f"{regime:16} {closed / count:7.2f} {lower:6} {upper:6} {mean:7.2f} {max(spent):6.2f} "
            f"{sum(checking) / count:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
