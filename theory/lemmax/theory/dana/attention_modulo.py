"""Attention before output at one value of z modulo a prime, for all sequences at once.

Attention weights are rational functions of z; a minor that is nonzero at one point modulo one prime
is not the zero function, so that these residues bound the real rank from below.
"""

from __future__ import annotations

import numpy as np

from lemmax.theory.dana.rank_bounds import (
    Which,
)
from lemmax.theory.dana.transformer import AoT
from lemmax.theory.errors import NotExact
from lemmax.theory.numbers.primes import POWERS_OF_TWO_31
from lemmax.theory.numbers.residues import Residues, inverses, power, product, reduced


def features_modulo(
    model: AoT, indices: list[tuple[int, ...]], matrix: Which, point: int
) -> Residues:
    """The matrix (one row per sequence) at z = point modulo p, rows and columns scaled at will."""
    p = POWERS_OF_TWO_31
    e, pos, circuits, q, _ = model.integer_form()
    if model.unit == "ln2" and q != 1:
        raise NotExact("In units of ln 2 the attention scores must be integers.")
    tokens = np.array(indices)
    vectors = (reduced(e, p)[tokens] + reduced(pos, p)) % p
    # exponents matter modulo p - 1 only, and are computed there
    order = p - 1
    formal = (reduced(e, order)[tokens] + reduced(pos, order)) % order
    blocks = [] if matrix == "A" else [vectors[:, -1, :]]
    base = np.array(point, dtype=np.int64)
    for head, circuit in zip(model.heads, circuits, strict=True):
        queries = product(formal[:, -1, :], reduced(circuit, order), order)
        scores = np.zeros(tokens.shape, dtype=np.int64)
        for k in range(model.d):
            scores = (scores + queries[:, None, k] * formal[:, :, k]) % order
        weights = power(np.broadcast_to(base, scores.shape), scores, p)
        total = np.zeros(len(indices), dtype=np.int64)
        output = np.zeros((len(indices), model.d), dtype=np.int64)
        for s in range(model.S):
            total = (total + weights[:, s]) % p
            output = (output + weights[:, s, None] * vectors[:, s, :]) % p
        if not total.all():
            # a vanishing normaliser: this point says nothing about this head
            return np.zeros((len(indices), 1), dtype=np.int64)
        output = output * inverses(total, p)[:, None] % p
        if matrix == "W_V A'":
            values = head.W_V.flint.numer_denom()[0].transpose()
            output = product(output, reduced(values, p), p)
        blocks.append(output)
    return np.concatenate(blocks, axis=1)
