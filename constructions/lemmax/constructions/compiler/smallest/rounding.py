"""Floats into a layer with exact weights: as few bits as keep every fact, exactly decided."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from flint import fmpq, fmpz

from lemmax.constructions.compiler.smallest.descent import (
    HEAD,
    Array,
    Problem,
    Weights,
    gradient,
    spoken,
)
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head
from lemmax.theory.wong.memorization import memorizes

BITS = (3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 44)


def exact(rows: Array, bits: int) -> Matrix:
    """A matrix rounded to so many fractional bits.

    >>> exact(np.array([[0.3, -1.0]]), 2)
    Matrix([['1/4', '-1']])
    """
    return Matrix(
        [[fmpq(fmpz(round(float(x) * 2**bits)), fmpz(2**bits)) for x in row] for row in rows]
    )


def layer_of(
    weights: Weights, bits: int, small: Database, same: dict[Hashable, Hashable], db: Database
) -> AttentionLayer:
    """The layer over the tokens of ``db`` whose embeddings are those that ``same`` names.

    A token that is no value gets the mean of two values, which is below the larger of the two.
    """
    E, U = exact(weights["W_E"], bits).flint.tolist(), exact(weights["W_U"], bits).flint.tolist()
    row = {t: E[i] for i, t in enumerate(spoken(small))}
    column = {v: U[i] for i, v in enumerate(small.values)}
    mean = [(a + b) / 2 for a, b in zip(U[0], U[1], strict=True)]
    zero = [fmpq(0)] * len(mean)
    heads = [
        Head(
            *(
                exact(x.T if name == "W_K" else x, bits)
                for name, x in ((name, weights[name][i]) for name in HEAD)
            )
        )
        for i in range(len(weights["W_Q"]))
    ]
    return AttentionLayer(
        db.tokens,
        Matrix([row[same[t]] if t in same else zero for t in db.tokens]),
        Matrix([column.get(t, mean) for t in db.tokens]).T,
        heads,
    )


def known(
    weights: Weights, small: Database, same: dict[Hashable, Hashable], db: Database
) -> int | None:
    """The fewest of ``BITS`` with which the exact layer memorizes ``db``; None where none does."""
    problem = Problem.of(small)
    for bits in BITS:
        rounded = {name: np.round(x * 2.0**bits)[None] / 2.0**bits for name, x in weights.items()}
        if (
            gradient(problem, rounded)[1][0] > 0
            and memorizes(layer_of(weights, bits, small, same, db), db).holds
        ):
            return bits
    return None
