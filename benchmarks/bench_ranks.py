"""Exact ranks against their peers in the same run: flint's own rank and sympy's DomainMatrix.

Run with ``python benchmarks/bench_ranks.py``; it prints one line a comparison. CPU time, one
thread, the median of several repetitions.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from random import Random

import numpy as np
from flint import fmpz_mat

from lemmax.theory import certified_rank, softmax_rank


def seconds(function: Callable[[], object], repetitions: int) -> float:
    """The median CPU time of a call."""
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times)


def compare(
    name: str, ours: Callable[[], object], peer: Callable[[], object], repetitions: int
) -> None:
    """Print both times and their ratio."""
    a, b = seconds(ours, repetitions), seconds(peer, repetitions)
    print(f"{name:<58} {a * 1e3:10.2f} ms {b * 1e3:10.2f} ms   peer/ours {b / a:8.2f}")


def main() -> None:
    """All comparisons."""
    from sympy import ZZ
    from sympy.polys.matrices import DomainMatrix

    rng = np.random.default_rng(0)
    full = rng.integers(-100, 101, (200, 200))
    half = rng.integers(-10, 11, (400, 200)) @ rng.integers(-10, 11, (200, 400))
    built, deficient = fmpz_mat(full.tolist()), fmpz_mat(half.tolist())
    compare(
        "full rank 200x200, prebuilt, peer fmpz_mat.rank",
        lambda: certified_rank(built),
        built.rank,
        9,
    )
    compare(
        "rank 200 of 400x400, prebuilt, peer fmpz_mat.rank",
        lambda: certified_rank(deficient),
        deficient.rank,
        3,
    )
    entries = full.tolist()
    compare(
        "full rank 200x200 from numpy, peer sympy DomainMatrix",
        lambda: certified_rank(full),
        lambda: (
            DomainMatrix([[ZZ(x) for x in row] for row in entries], (200, 200), ZZ)
            .to_field()
            .rank()
        ),
        1,
    )
    random = Random(0)
    logits = [
        [Fraction(random.randint(-300, 300), random.randint(1, 60)) for _ in range(64)]
        for _ in range(64)
    ]
    print(
        f"softmax_rank of a 64x64 rational matrix: {seconds(lambda: softmax_rank(logits), 3):.3f} s"
    )


if __name__ == "__main__":
    main()
