"""Readouts against a plain linear program and brute force, on the same facts in one run.

``python benchmarks/bench_readouts.py`` measures CPU seconds and records them in
``benchmarks/results/readouts.json``. The plain program asks cvxpy for any W with gaps of at least
one and knows no margin and no proof; brute force looks for a set of demands of at most rank + 1
whose null vector is positive, and is tried where there are few of them.
"""

from __future__ import annotations

import itertools
import json
import platform
import signal
import time
from pathlib import Path
from typing import Any

import cvxpy as _cvxpy
import numpy as np
from flint import fmpq_mat, fmpz_mat

from lemmax import checker
from lemmax.constructions import readout
from lemmax.theory.files import write_text
from lemmax.theory.numbers.linear import null_space

cvxpy: Any = _cvxpy  # its operators are named at run time
RESULTS = Path(__file__).parent / "results" / "readouts.json"
SIZES = [(6, 4, 2), (8, 6, 2), (50, 24, 5), (200, 32, 20), (500, 64, 50)]
PATIENCE = 20  # seconds


def instance(T: int, D: int, V: int, conflict: bool) -> tuple[Any, list[int]]:
    """Random features and labels; with four facts z0 + z2 = z1 + z3 that conflict, or without."""
    rng = np.random.default_rng(0)
    Z = rng.integers(-1000, 1000, (T, D))
    labels = rng.integers(0, V, T).tolist()
    labels[:4] = [0, 1, 0, 1]
    if conflict:
        Z[0] = Z[1] + Z[3] - Z[2]
    return Z, labels


def plain(Z: Any, labels: list[int], V: int) -> str:
    """Any readout, by a linear program over all demands at once."""
    W, y = cvxpy.Variable((V, Z.shape[1])), np.array(labels)
    scores = (Z / 1000) @ W.T
    own = cvxpy.sum(cvxpy.multiply(np.eye(V)[y], scores), axis=1, keepdims=True)
    rival = np.eye(V)[y] == 0
    gaps = own @ np.ones((1, V)) - scores
    problem = cvxpy.Problem(cvxpy.Minimize(0), [cvxpy.multiply(rival, gaps - 1) >= 0])
    problem.solve(solver=cvxpy.HIGHS, time_limit=PATIENCE)
    return str(problem.status)


def brute_force(Z: Any, labels: list[int], V: int) -> str:
    """All sets of at most rank + 1 demands: is one of them a conflict?"""
    points = []
    for t, y in enumerate(labels):
        for v in (v for v in range(V) if v != y):
            signs = [(u == y) - (u == v) for u in range(V)]
            points.append([s * int(x) for s in signs for x in Z[t]])
    most = fmpz_mat(points).rank() + 1
    for size in range(1, most + 1):
        for some in itertools.combinations(points, size):
            for vector in null_space(fmpq_mat(some).transpose()):
                if all(x > 0 for x in vector) or all(x < 0 for x in vector):
                    return "infeasible"
    return "optimal"


def timed(function: Any, *arguments: Any) -> tuple[Any, float | None]:
    def stop(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, stop)  # CPU seconds: others may share the machine
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    start = time.process_time()
    try:
        return function(*arguments), round(time.process_time() - start, 3)
    except TimeoutError:
        return None, None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def main() -> None:
    readout([[1, 0], [0, 1]], "ab")  # imports
    rows = []
    for (T, D, V), conflict in itertools.product(SIZES, (False, True)):
        Z, labels = instance(T, D, V, conflict)
        told, seconds = timed(readout, Z, labels)
        verdict, check = timed(checker.check, told.certificate())
        assert verdict.holds
        status, other = timed(plain, Z, labels, V)
        decided = status in ("optimal", "infeasible")
        assert not decided or (status == "infeasible") != told.holds
        slow, brute = timed(brute_force, Z, labels, V) if T <= 8 else (None, None)
        assert slow is None or (slow == "infeasible") != told.holds
        margin = None if told.margin is None else str(told.margin)
        facts = None if told.conflict is None else len(told.conflict.facts)
        rows.append(
            {
                "facts": T,
                "features": D,
                "labels": V,
                "holds": told.holds,
                "margin": margin,
                "conflicting facts": facts,
                "readout": seconds,
                "check": check,
                "plain program": other if decided else f"more than {PATIENCE}",
                "brute force": brute,
            }
        )
        print(rows[-1], flush=True)
    record = {"python": platform.python_version(), "unit": "CPU seconds", "rows": rows}
    write_text(RESULTS, json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
