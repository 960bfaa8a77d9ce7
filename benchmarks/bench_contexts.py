"""Kruskal ranks against enumerating subsets, and the certified rank of a large feature matrix.

Run with ``python benchmarks/bench_contexts.py``; CPU time, one thread. Enumeration is timed on a
part of the subsets and scaled up, because all of them would take an hour.
"""

from __future__ import annotations

import time
from itertools import combinations, islice
from math import comb
from random import Random

import numpy as np
from flint import fmpz_mat, nmod_mat

from lemmax.theory import ContextHead, Matrix, multi_head
from lemmax.theory.numbers.kruskal_search import DependentSubsets


def integers(rows: int, columns: int, bound: int, draw: Random) -> list[list[int]]:
    """A random integer matrix."""
    return [[draw.randint(-bound, bound) for _ in range(columns)] for _ in range(rows)]


def kruskal(T: int = 200, d: int = 16, k: int = 4, part: int = 20_000) -> None:
    """Any k of T vectors independent: our search against two ways to enumerate the subsets."""
    rows = integers(T, d, 50, Random(0))
    start = time.process_time()
    assert DependentSubsets(fmpz_mat(rows)).of_size(k) is None
    ours = time.process_time() - start
    total = comb(T, k)
    chosen = list(islice(combinations(rows, k), part))
    start = time.process_time()
    assert all(nmod_mat([list(r) for r in s], 2**61 - 1).rank() == k for s in chosen)
    exact = (time.process_time() - start) * total / part
    stacked = np.array(chosen, dtype=np.float64)
    start = time.process_time()
    assert (np.linalg.matrix_rank(stacked) == k).all()
    batched = (time.process_time() - start) * total / part
    print(
        f"Kruskal rank >= {k}, T = {T}, d = {d}: {ours:.2f} s; all {total} subsets one by one "
        f"mod p {exact:.0f} s ({exact / ours:.0f} times), in float64 batches {batched:.0f} s "
        f"({batched / ours:.0f} times)"
    )


def feature_rank(n: int = 32, d: int = 40, H: int = 16, T: int = 500, d_h: int = 1) -> None:
    """rank Z = H(n - 1) + 1 on a shared context, certified."""
    draw = Random(1)
    heads = [
        ContextHead(integers(d, d_h, 10**4, draw), integers(d, d_h, 10**4, draw)) for _ in range(H)
    ]
    layer = multi_head(Matrix(integers(n, d, 5, draw)), integers(T, d, 5, draw), heads)
    start = time.process_time()
    found = layer.feature_rank()
    middle = time.process_time()
    found.certificate()
    end = time.process_time()
    print(
        f"rank Z at n = {n}, d = {d}, H = {H}, T = {T}, d_h = {d_h}: {found.rank} in "
        f"{middle - start:.1f} s, its certificate in {end - middle:.1f} s"
    )


if __name__ == "__main__":
    kruskal()
    feature_rank()
    feature_rank(d_h=40)
