"""What a layer kept as arrays answers: over the reals, in time linear in its vocabulary.

Two tokens come in, so two rows of W_E make the hidden state, in balls. Floats with a bound on
their error say which few tokens can be first or second; these are compared as ever, and the others
have their share of the probability, in an interval.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from lemmax.constructions.compiler.answers import Recall, recall
from lemmax.theory.errors import LemmaxError, Undecided
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head
from lemmax.theory.wong.memorization import HiddenStates

Floats: TypeAlias = NDArray[np.float64]

FEW = 64
"""Tokens that are compared in balls, of a vocabulary that is larger."""
_SUMMED = 2.0**-20  # relative error of exponentials of doubles, and of their sum
_TINY = 2.0**-900  # what doubles cannot tell from zero


def recall_from_arrays(
    tokens: Sequence[Hashable],
    index: Mapping[Any, int],
    weights: Mapping[str, NDArray[Any]],
    key: Hashable,
    query: Hashable,
) -> Recall:
    """The two most probable tokens after (key, query), of weights that doubles hold.

    Raises
    ------
    LemmaxError
        An unknown token, or two that tie for the first place.
    Undecided
        So many tokens are next to the second place that they are not told apart.

    Notes
    -----
    Cost: tokens × d_model operations in floats, a sort of the columns of W_U, and what
    :func:`recall` costs for 64 tokens.

    Examples
    --------
    >>> from lemmax.constructions.capacity import random_table
    >>> from lemmax.constructions.compiler import compile_database
    >>> db = random_table(400, 3, 500)
    >>> compiled = compile_database(db, dtype="bfloat16")
    >>> compiled.recall("k7", "q1").answer == db["k7", "q1"]
    True
    """
    for token in (key, query):
        if token not in index:
            raise LemmaxError(f"The token {token!r} is unknown to this layer.")
    if len(tokens) <= FEW + 2:
        return recall(part_of(tokens, range(len(tokens)), weights), key, query)
    asked = list(dict.fromkeys((index[key], index[query])))
    small = part_of(tokens, asked, weights)
    k, q = small.indices((key, query))
    with ctx.workprec(192):
        state = HiddenStates(small)(k, q, 192)
        x, radius = (np.array([float(end(entry)) for entry in state]) for end in (arb.mid, arb.rad))
    # tokens with the same column of W_U tie: the first of them stands for all
    columns, first, group, counts = np.unique(
        weights["W_U"], axis=1, return_index=True, return_inverse=True, return_counts=True
    )
    logits = x @ columns
    rounding = (len(x) + 8) * 2.0**-52  # of a sum of so many products, relative to their sizes
    error = (np.abs(x) * rounding + 2 * radius + _TINY) @ np.abs(columns) + _TINY
    if not np.isfinite(logits).all():
        raise Undecided("The logits of this layer are beyond the range of doubles.")
    near = np.argsort(-logits)[:FEW]
    chosen = np.unique(np.concatenate([first[near], asked]))
    told = recall(part_of(tokens, chosen.tolist(), weights), key, query)
    assert told.runner_up is not None
    assert told.runner_up_probability is not None
    best, second = (int(group[index[token]]) for token in (told.answer, told.runner_up))
    if counts[best] > 1:
        raise LemmaxError(f"After {key!r} {query!r} the layer cannot tell its first tokens apart.")
    compared = np.bincount(group[chosen], minlength=len(counts))
    others, left = counts - compared, compared == 0
    if (logits[left] + error[left]).max(initial=-np.inf) >= logits[second] - error[second]:
        raise Undecided(
            f"After {key!r} {query!r} more than {FEW} tokens of the layer are next to the second."
        )
    with ctx.workprec(256):
        odds = summed(others, logits - logits[best], error + error[best])
        share = 1 / (1 + told.probability * odds)  # of the tokens that were compared
        return Recall(
            told.answer,
            told.probability * share,
            told.runner_up,
            told.runner_up_probability * share,
        )


def summed(counts: NDArray[Any], exponents: Floats, error: Floats) -> arb:
    """Σ counts · exp(exponents), each exponent within its error, as a ball.

    >>> summed(np.array([2]), np.array([-1000.0]), np.array([0.0])).contains(2 * arb(-1000).exp())
    True
    """
    low, high = (float((counts * np.exp(exponents + sign * error)).sum()) for sign in (-1, 1))
    lost = arb(int(counts.sum())) * _TINY  # of exponentials that doubles cannot tell from zero
    return (arb(low * (1 - _SUMMED)) - lost).union(arb(high * (1 + _SUMMED)) + lost)


def part_of(
    tokens: Sequence[Hashable], chosen: Sequence[int], weights: Mapping[str, NDArray[Any]]
) -> AttentionLayer:
    """The layer of some tokens, as rationals."""
    stacks = (weights[name] for name in ("W_Q", "W_K", "W_V", "W_O"))
    heads = [Head(*(Matrix(w, floats=True) for w in each)) for each in zip(*stacks, strict=True)]
    places = list(chosen)
    return AttentionLayer(
        [tokens[t] for t in places],
        Matrix(np.asarray(weights["W_E"][places]), floats=True),
        Matrix(np.asarray(weights["W_U"][:, places]), floats=True),
        heads,
    )
