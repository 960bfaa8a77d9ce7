"""Estimates with intervals: bootstrap over jobs, binomial shares, slopes, logistic midpoints.

Resampling uses a fixed stream, so that a sentence computed from the same data is the same sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.training.streams import stream

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number and its 95 % interval.

    >>> print(Estimate(1.234, 1.0, 1.5))
    1.23 [1.00, 1.50]
    >>> print(Estimate(1.234, -math.inf, math.inf))  # from a single repetition
    1.23 (no interval)
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if math.isinf(self.low) and math.isinf(self.high):
            return f"{self.value:.3g} (no interval)"
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
    resampled = [statistic(random.integers(size, size=size)) for _ in range(repeats)]
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Estimate(value, float(low), float(high))


def mean(values: Any) -> Estimate:
    """The mean with Student's interval; of a single value nothing more is known.

    >>> print(mean([1.0, 2.0, 3.0]))
    2 [-0.48, 4.48]
    >>> print(mean([2.0]))
    2 (no interval)
    """
    from scipy.stats import t

    sample = np.asarray(values, dtype=np.float64)
    centre, half = float(sample.mean()), float("inf")
    if len(sample) > 1:
        error = float(sample.std(ddof=1)) / len(sample) ** 0.5
        half = float(t.ppf(0.975, len(sample) - 1)) * error
    return Estimate(centre, centre - half, centre + half)


def grand_mean(groups: Any) -> Estimate:
    """The mean of equally many values in each group (a row), with the interval of their scatter.

    The scatter is that within the groups, taken together: groups may differ in their means.

    >>> print(grand_mean([[1.0, 1.2], [3.0, 3.2], [5.0, 5.2]]))
    3.1 [2.92, 3.28]
    """
    from scipy.stats import t

    table = np.asarray(groups, dtype=np.float64)
    size, repeats = table.shape
    centre, half, free = float(table.mean()), float("inf"), size * (repeats - 1)
    if free:
        within = table - table.mean(axis=1, keepdims=True)
        error = (float((within**2).sum()) / free / table.size) ** 0.5
        half = float(t.ppf(0.975, free)) * error
    return Estimate(centre, centre - half, centre + half)


def share(successes: int, trials: int) -> Estimate:
    """A share with the interval of Clopper and Pearson.

    >>> print(share(0, 10))
    0 [0, 0.31]
    """
    from scipy.stats import beta

    low = float(beta.ppf(0.025, successes, trials - successes + 1)) if successes else 0.0
    high = float(beta.ppf(0.975, successes + 1, trials - successes)) if successes < trials else 1.0
    return Estimate(successes / trials, low, high)


def wilson(successes: int, trials: int) -> Estimate:
    """A share with the score interval of Wilson, which is narrower than Clopper and Pearson's.

    >>> print(wilson(0, 10))
    0 [0, 0.28]
    """
    z = 1.959963984540054  # the 97.5 % quantile of the normal distribution
    p = successes / trials
    centre = (p + z**2 / (2 * trials)) / (1 + z**2 / trials)
    half = z / (1 + z**2 / trials) * math.sqrt(p * (1 - p) / trials + z**2 / (4 * trials**2))
    low = centre - half if successes else 0.0
    high = centre + half if successes < trials else 1.0
    return Estimate(p, low, high)


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


@dataclass(frozen=True)
class Fit:
    """A polynomial fitted by least squares: the last coefficient with its interval, and R²."""

    leading: Estimate
    r_squared: float
    coefficients: tuple[float, ...]

    def __call__(self, x: Any) -> Floats:
        return np.asarray(np.polyval(self.coefficients, x), dtype=np.float64)


def fit(x: Any, y: Any, degree: int) -> Fit:
    """Fit a polynomial; the interval is Student's.

    >>> line = fit([0, 1, 2, 3], [1.0, 3.1, 4.9, 7.0], 1)
    >>> print(line.leading, round(line.r_squared, 3))
    1.98 [1.80, 2.16] 0.999
    """
    from scipy.stats import t

    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    design = np.vander(a, degree + 1)
    coefficients, *_ = np.linalg.lstsq(design, b)
    residual = b - design @ coefficients
    free = len(a) - degree - 1
    half = float("inf")  # as many points as coefficients tell nothing of the error
    if free:
        variance = float(residual @ residual) / free * np.linalg.inv(design.T @ design)[0, 0]
        half = float(t.ppf(0.975, free)) * float(variance) ** 0.5
    leading = float(coefficients[0])
    spread = float(((b - b.mean()) ** 2).sum())
    return Fit(
        Estimate(leading, leading - half, leading + half),
        1 - float(residual @ residual) / spread,
        tuple(float(c) for c in coefficients),
    )


def bow(x: Any, y: Any) -> Estimate:
    """How far a quadratic fit leaves its chord at the middle; positive: convex (below the chord).

    >>> print(bow([0, 1, 2, 3, 4], [0, 1.1, 4, 8.9, 16]))
    4 [3.59, 4.41]
    """
    a = np.asarray(x, dtype=np.float64)
    scale = float((a.max() - a.min()) / 2) ** 2
    leading = fit(x, y, 2).leading
    return Estimate(round(scale * leading.value, 9), scale * leading.low, scale * leading.high)


def exponent(x: Any, y: Any) -> Estimate:
    """p of the best a + b xᵖ, with the interval of its profile.

    >>> exponent([1, 2, 3, 4, 5], [2, 5, 10, 17, 26.1]).value
    2.01
    """
    from scipy.stats import f

    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    powers = np.arange(5, 601) / 100
    errors = []
    for p in powers:
        design = np.stack([np.ones_like(a), a**p], axis=1)
        coefficients, *_ = np.linalg.lstsq(design, b)
        errors.append(float(((b - design @ coefficients) ** 2).sum()))
    least = min(errors)
    free = len(a) - 3
    near = powers[np.array(errors) <= least * (1 + float(f.ppf(0.95, 1, free)) / free)]
    return Estimate(float(powers[int(np.argmin(errors))]), float(near[0]), float(near[-1]))
