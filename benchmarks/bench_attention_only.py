"""The cost of exact ranks, associative memories and divergences for attention-only transformers.

``python benchmarks/bench_attention_only.py`` prints CPU seconds (one thread); ``--large`` adds the
memories of 500 and 1,000 associations.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from itertools import product
from typing import Any

from lemmax import checker
from lemmax.constructions import associative_memory, best_encoder
from lemmax.theory import Table, aot_rank
from lemmax.theory.certificates.writing import to_json
from lemmax.theory.dana.generic import generic_aot


def timed(name: str, call: Callable[[], Any]) -> Any:
    """Run, print the CPU time, return the result."""
    start = time.process_time()
    result = call()
    print(f"{time.process_time() - start:8.2f} s  {name}", flush=True)
    return result


def memory(N: int, S: int, H: int, d_h: int, T0: int | None = None) -> Any:
    """An associative memory for T₀ random sequences (all of them by default)."""
    rng = random.Random(0)
    sequences = list(product(range(N), repeat=S))
    chosen = sequences if T0 is None else rng.sample(sequences, T0)
    pairs = {t: rng.randrange(N) for t in chosen}
    name = f"associative memory: {len(pairs)} associations, N = {N}, S = {S}, H = {H}, d_h = {d_h}"
    return timed(name, lambda: associative_memory(pairs, H, d_h, tokens=range(N)))


def main() -> None:
    """Print the table of times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    large = parser.parse_args().large
    rng = random.Random(1)
    sequences = rng.sample(list(product(range(12), repeat=4)), 1000)
    model = generic_aot(12, 4, 32, 32, 16, rank_one=False)
    timed("rank of A': T₀ = 1000, S = 4, d = 32, H = 16", lambda: aot_rank(model, sequences, "A'"))
    found = memory(10, 2, 49, 2)
    certificate = json.loads(to_json(found.certificate()))
    timed("its certificate, re-checked", lambda: checker.check(certificate))
    rows = [["4/5", "1/10", "1/10"], ["1/10", "4/5", "1/10"], ["1/10", "1/10", "4/5"]]
    timed(
        "best encoder: N = 3, d = 1, to 10^-4", lambda: best_encoder(Table(rows), 1, tolerance=1e-4)
    )
    if large:
        memory(16, 3, 250, 2, 502)
        memory(20, 3, 499, 2, 1000)


if __name__ == "__main__":
    main()
