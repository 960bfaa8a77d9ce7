"""The nearest point to zero of all demands, without any solver: either side, from any start."""

from __future__ import annotations

import random
from typing import Any

import z3
from flint import fmpq, fmpz, fmpz_mat

from lemmax.constructions.readouts.demands import Demands, squared
from lemmax.constructions.readouts.nearest import nearest


def random_demands(seed: int) -> Demands:
    rng = random.Random(seed)
    T, D, V = rng.randint(3, 8), rng.randint(1, 4), rng.randint(2, 4)
    rows = [[rng.randint(-4, 4) for _ in range(D)] for _ in range(T)]
    return Demands(fmpz_mat(rows), tuple(t % V for t in range(T)), V)


def satisfiable(demands: Demands) -> bool:
    """Whether a readout exists, decided by z3 over the rationals."""
    D = demands.Z.ncols()
    W = [[z3.Real(f"w{v}_{j}") for j in range(D)] for v in range(demands.V)]
    solver = z3.Solver()
    for row, y in zip(demands.Z.tolist(), demands.labels, strict=True):
        scores: list[Any] = [
            z3.Sum([w * int(x) for w, x in zip(some, row, strict=True)]) for some in W
        ]
        solver.add([scores[y] > scores[v] for v in range(demands.V) if v != y])
    return bool(solver.check() == z3.sat)


def test_the_nearest_point_decides_as_an_smt_solver_does() -> None:
    sides = set()
    for seed in range(30):
        demands = random_demands(seed)
        told = nearest(demands, {(0, (demands.labels[0] + 1) % demands.V): fmpq(1)})
        assert told is not None
        weights, point = told
        assert all(x > 0 for x in weights.values())
        assert demands.total(weights) == point
        assert len(weights) <= (demands.V - 1) * demands.Z.ncols() + 1
        holds = bool(squared(point))
        assert holds == satisfiable(demands), seed
        assert holds == (demands.least(point)[1] > 0)
        sides.add(holds)
    assert sides == {True, False}


def test_the_nearest_point_is_the_same_from_every_start() -> None:
    """And no combination of demands is shorter, nor has other weights a wider margin."""
    found = 0
    for seed in range(30):
        demands, rng = random_demands(seed), random.Random(seed)
        pairs = [(t, v) for t, y in enumerate(demands.labels) for v in range(demands.V) if v != y]
        first, second = (nearest(demands, {rng.choice(pairs): fmpq(1)}) for _ in range(2))
        assert first is not None
        assert second is not None
        (a, x), (b, y) = first, second
        assert x * sum(b.values(), fmpz(0)) == y * sum(a.values(), fmpz(0))
        length = fmpq(squared(x), sum(a.values(), fmpz(0)) ** 2)
        some = {pair: fmpz(rng.randint(1, 9)) for pair in pairs}
        assert fmpq(squared(demands.total(some)), sum(some.values(), fmpz(0)) ** 2) >= length
        for _ in range(3):
            W = fmpz_mat([[v * 9 + rng.randint(-9, 9) for v in row] for row in x.tolist()])
            gap = demands.least(W)[1]
            assert gap <= 0 or fmpq(gap * gap, squared(W)) <= length
        found += bool(length)
    assert 5 < found < 25
