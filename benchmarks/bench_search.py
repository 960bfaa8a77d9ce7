"""Walks and fits against their plain peers in the same run.

``python benchmarks/bench_search.py`` prints CPU seconds, one thread. The peer of a walk is the same
loop without numba; that of a fit is one of all terms at once, also of those that the span of the
slices gives away.
"""

from __future__ import annotations

import importlib
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.examples import matrix_product
from lemmax.theory.tensors.reductions import concise
from lemmax.theory.tensors.search.fitting import Quotient, quotients
from lemmax.theory.tensors.search.flip_state import first_state
from lemmax.theory.tensors.search.flips import fibres, over, shorten

MODULE = "lemmax.theory.tensors.search.flip_walk"


def both_loops() -> tuple[Any, Any]:
    """The compiled module and the plain one."""
    compiled = importlib.import_module(MODULE)
    del sys.modules[MODULE]
    loops: Any = importlib.import_module("lemmax.theory.numbers.loops")
    loops.COMPILED, known = False, loops.COMPILED
    plain = importlib.import_module(MODULE)
    loops.COMPILED, sys.modules[MODULE] = known, compiled
    return compiled, plain


def random_table(keys: int, queries: int, values: int, gaps: float = 0.0) -> Array:
    """A table with random values, and a share of undefined cells."""
    rng = np.random.default_rng(0)
    table = rng.integers(0, values, (keys, queries))
    table[rng.random(table.shape) < gaps] = -1
    found: Array = (table[:, :, None] == np.arange(values)).astype(int)
    return found


def seconds(
    loops: Any, T: Array, p: int, goal: int, steps: int, seed: int = 0
) -> tuple[float, int]:
    """The CPU time of a walk and its steps."""
    terms = over(p, fibres(T))
    assert terms is not None
    state = loops.prepared(first_state(*terms, 2, p, seed))
    start = time.process_time()
    taken = loops.walk(state, p, 1, 0, 2, 2000, goal, steps)
    return time.process_time() - start, taken


def fitting_seconds(quotient: Quotient, terms: int) -> float:
    """The median CPU time of eight starting points until they converge or are given up."""
    spent = []
    fits = quotient.fits(terms, None, 8, 0, None)
    for _ in range(8):
        start = time.process_time()
        next(fits)
        spent.append(time.process_time() - start)
    return float(np.median(spent))


def compare_fits() -> None:
    """Fits modulo the matrices of rank one in the span, and fits of everything."""
    for keys, queries, values in ((8, 4, 8), (12, 5, 12)):
        T = concise(random_table(keys, queries, values, gaps=0.5)).array
        terms = len(min((slice_sum(T, mode) for mode in range(3)), key=len)) - 2
        best = min(quotients(T), key=lambda q: q.unknowns(terms))
        whole = replace(best, ones=(), rest=tuple(range(best.array.shape[2])))
        ours, peer = fitting_seconds(best, terms), fitting_seconds(whole, terms)
        print(
            f"table {keys} x {queries} x {values}, {terms} terms, {len(best.ones)} given: "
            f"{best.unknowns(terms)} unknowns {ours * 1e3:.0f} ms a start, "
            f"{whole.unknowns(terms)} unknowns {peer * 1e3:.0f} ms: {peer / ours:.1f} times"
        )


def main() -> None:
    """All comparisons."""
    compare_fits()
    compiled, plain = both_loops()
    start = time.process_time()
    seconds(compiled, matrix_product(2), 0, 0, 1)
    print(f"compiling the walk, or loading it: {time.process_time() - start:.2f} s")
    tensors = {"<2,2,2>": matrix_product(2), "table 12 x 4 x 8": random_table(12, 4, 8)}
    tensors["table 20 x 8 x 13"] = random_table(20, 8, 13)
    for name, T in tensors.items():
        for p in (0, 3, 7):
            ours, taken = seconds(compiled, T, p, 0, 1_000_000)
            peer, fewer = seconds(plain, T, p, 0, 10_000)
            rate, other = taken / ours, fewer / peer
            ring = f"F{p}" if p else "Z"
            print(
                f"{name:<18} over {ring:<2} {rate / 1e6:6.2f} million flips a second, "
                f"plain {other / 1e6:6.3f}: {rate / other:5.0f} times"
            )
    times = []
    for loops in (compiled, plain):
        spent = [seconds(loops, matrix_product(2), 0, 7, 200_000, seed) for seed in range(5)]
        times.append(float(np.median([t for t, _ in spent])))
    print(
        f"<2,2,2> to 7 terms, median of 5 walks over Z: {times[0] * 1e3:.2f} ms, "
        f"plain {times[1] * 1e3:.0f} ms: {times[1] / times[0]:.0f} times"
    )
    T = random_table(12, 4, 8)
    first = min((slice_sum(T, mode) for mode in range(3)), key=len)
    start = time.process_time()
    found = shorten(T, first, target=0)
    spent_all = time.process_time() - start
    print(f"table 12 x 4 x 8, 10⁷ steps: {len(first)} -> {len(found)} terms, {spent_all:.1f} s")


if __name__ == "__main__":
    main()
