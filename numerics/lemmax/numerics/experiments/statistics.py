"""Estimates with intervals: bootstrap over jobs, binomial shares, slopes, logistic midpoints.

Resampling uses a fixed stream, so that a sentence computed from the same data is the same sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.jobs import stream

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number and its 95 % interval.

    >>> print(Estimate(1.234, 1.0, 1.5))
    1.23 [1.00, 1.50]
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3g} [{_text(self.low)}, {_text(self.high)}]"

    def within(self, low: float, high: float) -> bool:
        """Whether the whole interval lies between two numbers."""
        return low <= self.low and self.high <= high

    def apart(self, low: float, high: float) -> bool:
        """Whether the whole interval lies outside of two numbers, on one side."""
        return self.high < low or high < self.low


def _text(x: float) -> str:
    return f"{x:.2f}" if 0.1 <= abs(x) < 100 else f"{x:.3g}"


def bootstrap(
    statistic: Callable[[NDArray[np.int64]], float], size: int, repeats: int = 400
) -> Estimate:
    """A statistic of a sample, given by the numbers of its members, and a percentile interval.

    >>> values = np.arange(100.0)
    >>> print(bootstrap(lambda chosen: float(values[chosen].mean()), 100))
    49.5 [44.03, 55.12]
    """
    random = stream("bootstrap", size, repeats)
    value = statistic(np.arange(size))
    found = [statistic(random.integers(size, size=size)) for _ in range(repeats)]
    low, high = np.quantile(found, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def share(successes: int, trials: int) -> Estimate:
    """A share with the interval of Clopper and Pearson.

    >>> print(share(0, 10))
    0 [0, 0.31]
    """
    from scipy.stats import beta

    low = float(beta.ppf(0.025, successes, trials - successes + 1)) if successes else 0.0
    high = float(beta.ppf(0.975, successes + 1, trials - successes)) if successes < trials else 1.0
    return Estimate(successes / trials, low, high)


def slope(x: Any, y: Any, *groups: Any) -> float:
    """The least-squares slope of y on x, with an intercept for every combination of the groups.

    Groups are numbered by small non-negative integers.

    >>> round(slope([0, 1, 2, 0, 1, 2], [0, 1, 2, 9, 10, 11], [0, 0, 0, 1, 1, 1]), 6)
    1.0
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    member = np.zeros(len(a), dtype=np.int64)
    for group in groups:
        numbers = np.asarray(group, dtype=np.int64)
        member = member * (numbers.max() + 1) + numbers
    a, b = _centred(a, member), _centred(b, member)
    total = float(a @ a)
    return float(a @ b) / total if total else 0.0


def _centred(x: Floats, member: NDArray[np.int64]) -> Floats:
    sizes = np.maximum(np.bincount(member), 1)
    centred: Floats = x - (np.bincount(member, x) / sizes)[member]
    return centred


def midpoint(x: Floats, success: Floats, steps: int = 30) -> float:
    """Where a logistic curve in log x, fitted to successes and failures, passes one half.

    >>> x = np.repeat([1.0, 2.0, 4.0, 8.0], 50)
    >>> round(midpoint(x, (np.arange(200) % 50 < np.repeat([48, 40, 10, 2], 50)) * 1.0), 2)
    2.83
    """
    z = np.log(x)
    design = np.stack([np.ones_like(z), z - z.mean()])
    weights = np.zeros(2)
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(weights @ design, -30, 30)))
        # a weak prior on the slope keeps separated samples finite
        gradient = design @ (success - p) - np.array([0.0, 1e-2]) * weights
        hessian = (design * (p * (1 - p))) @ design.T + np.diag([1e-9, 1e-2])
        change = np.linalg.solve(hessian, gradient)
        weights = weights + np.clip(change, -4, 4)
        if np.abs(change).max() < 1e-9:
            break
    if abs(weights[1]) < 1e-9:
        return float("nan")
    return float(np.exp(np.clip(z.mean() - weights[0] / weights[1], -20, 20)))
