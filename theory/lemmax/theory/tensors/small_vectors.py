"""Vectors of small integers: those that searches try first, those behind residues mod a prime."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import TypeAlias

import numpy as np

from lemmax.theory.numbers.modular import Residues
from lemmax.theory.numbers.primes import MERSENNE_31

SmallVector: TypeAlias = tuple[int, ...]


def small_vectors(size: int, most: int) -> list[SmallVector]:
    """Primitive integer vectors up to sign: all ones first, then by largest entry and by weight.

    >>> small_vectors(2, 7)
    [(1, 1), (1, 0), (0, 1), (1, -1), (1, 2), (1, -2), (2, 1)]
    """
    ones: SmallVector = (1,) * size
    vectors: list[SmallVector] = [ones]
    for largest in range(1, most + 1 if size > 1 else 2):
        entries = [sign * x for x in range(1, largest + 1) for sign in (1, -1)]
        for weight in range(1, size + 1):
            for support in combinations(range(size), weight):
                for values in product(range(1, largest + 1), *[entries] * (weight - 1)):
                    if max(map(abs, values)) < largest or math.gcd(*values) > 1:
                        continue
                    x = [0] * size
                    for i, value in zip(support, values, strict=True):
                        x[i] = value
                    if tuple(x) != ones:
                        vectors.append(tuple(x))
                    if len(vectors) >= most:
                        return vectors
    return vectors


def small_multiple(residues: Residues) -> list[int] | None:
    """A vector of small integers on the same line mod the prime, if an entry divides it so.

    >>> small_multiple(np.array([10, 5, -5]) % MERSENNE_31)
    [2, 1, -1]
    """
    for pivot in residues[residues != 0][:4]:
        line = residues * pow(int(pivot), -1, MERSENNE_31) % MERSENNE_31
        line = np.where(line > MERSENNE_31 // 2, line - MERSENNE_31, line)
        for factor in (1, 2, 3, 6):
            scaled = (line * factor) % MERSENNE_31
            scaled = np.where(scaled > MERSENNE_31 // 2, scaled - MERSENNE_31, scaled)
            if np.abs(scaled).max() < 1_000:
                return [int(x) for x in scaled]
    return None
