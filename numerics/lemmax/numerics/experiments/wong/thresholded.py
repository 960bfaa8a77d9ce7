r"""softmax_{≥τ}(L) of a trained layer, exactly, and ranks from both sides: of it, of L, of D.

Floats are read as the rationals they are. Every comparison of a probability with a threshold is
decided by balls that enclose it, never by a float; the softmax is over the values of the database,
as in equation (13), and off the domain L keeps only W_EU, as in equation (5). The ranks of the
tensors of zeros and ones come from :func:`~lemmax.theory.tensors.ranks.tensor_rank`; L has
transcendental entries, so it is bounded from below by its flattenings at a residue
(:func:`~lemmax.numerics.experiments.wong.trained_ranks.rank_below`) and from above by what no
weights of its dimensions exceed (:func:`layer_rank_above`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from lemmax.numerics.engines.run import THRESHOLDS
from lemmax.numerics.training.configurations import Triple
from lemmax.theory.errors import NotExact
from lemmax.theory.numbers.balls import precisions
from lemmax.theory.tensors.ranks import tensor_rank
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.layer_ranks import LayerShape, rank_ceiling
from lemmax.theory.wong.memorization import HiddenStates

Bounds: TypeAlias = tuple[int, int]
TAUS = tuple(Fraction(str(tau)) for tau in THRESHOLDS)  # 1/2, 3/4, 19/20, 99/100
_LEVELS = len(TAUS)


def axes_of(facts: Sequence[Triple]) -> tuple[list[int], list[int], list[int]]:
    """The keys, queries and values of a database, each in increasing order.

    >>> axes_of([(0, 3, 5), (1, 3, 4)])
    ([0, 1], [3], [4, 5])
    """
    keys, queries, values = (sorted({fact[i] for fact in facts}) for i in range(3))
    return keys, queries, values


def marks(layer: AttentionLayer, facts: Sequence[Triple]) -> list[int]:
    """For every fibre, keys first, the value that is probable and how many thresholds it reaches.

    A mark is 0 where no value has probability 1/2, and else four times the place of the value plus
    the number of thresholds. Cost: a forward pass in balls for each pair of a key and a query.

    Raises
    ------
    NotExact
        If 4096 bits do not tell the largest logits apart, or a probability from a threshold.

    Examples
    --------
    >>> layer = AttentionLayer((0, 1, 2, 3), [[0], [1], [0], [0]], [[0, 0, 2, -1]])
    >>> marks(layer, [(0, 1, 2), (1, 1, 3)])  # e^3 : 1 is a probability of .953
    [3, 3]
    """
    (keys, queries, values), domain = axes_of(facts), {(k, q) for k, q, _ in facts}
    states = HiddenStates(layer)
    columns = [list(column) for column in zip(*layer.W_U.flint.tolist(), strict=True)]
    chosen = [columns[layer.index[v]] for v in values]

    def logits(k: int, q: int) -> Iterator[tuple[int, list[arb]]]:
        for precision in precisions(128, 4096, factor=4):
            with ctx.workprec(precision):
                a, b = layer.index[k], layer.index[q]
                alone = (k, q) not in domain
                state = [arb(x) for x in states.embedding[b]] if alone else states(a, b, precision)
                yield precision, [_dot(state, column) for column in chosen]

    return [_mark(logits(k, q)) for k in keys for q in queries]


def _dot(state: list[arb], column: list[fmpq]) -> arb:
    return sum((h * arb(w) for h, w in zip(state, column, strict=True)), arb(0))


def _mark(enclosures: Iterator[tuple[int, list[arb]]]) -> int:
    for precision, logits in enclosures:
        with ctx.workprec(precision):
            best = max(range(len(logits)), key=lambda v: float(logits[v].mid()))
            gaps = [logits[best] - x for v, x in enumerate(logits) if v != best]
            if not all(gap > 0 for gap in gaps):
                continue
            # Another value is less probable than this one, so less than one half.
            odds = sum(((-gap).exp() for gap in gaps), arb(0))
            allowed = [arb(fmpq(t.denominator - t.numerator, t.numerator)) for t in TAUS]
            if all(odds < most or odds > most for most in allowed):
                reached = sum(bool(odds < most) for most in allowed)
                return _LEVELS * best + reached if reached else 0
    raise NotExact("4096 bits do not tell a probability of the layer from a threshold or a tie.")


def read(mark: int) -> tuple[int, int]:
    """The place of the value of a mark, and how many thresholds it reaches.

    >>> read(3), read(4), read(5), read(0)
    ((0, 3), (0, 4), (1, 1), (0, 0))
    """
    return ((mark - 1) // _LEVELS, (mark - 1) % _LEVELS + 1) if mark else (0, 0)


def marked_tensor(some: Sequence[int], facts: Sequence[Triple], level: int) -> NDArray[np.int64]:
    """softmax_{≥τ}(L) at the threshold of that place, counted from 0, out of the marks.

    >>> marked_tensor([3, 3], [(0, 1, 2), (1, 1, 3)], 2).tolist()
    [[[1, 0]], [[1, 0]]]
    """
    keys, queries, values = axes_of(facts)
    tensor = np.zeros((len(keys) * len(queries), len(values)), dtype=np.int64)
    for fibre, mark in enumerate(some):
        value, reached = read(mark)
        if reached > level:
            tensor[fibre, value] = 1
    return tensor.reshape(len(keys), len(queries), len(values))


def database_tensor(facts: Sequence[Triple]) -> NDArray[np.int64]:
    """The tensor D, its axes ordered as those of :func:`marked_tensor`."""
    places = [{token: i for i, token in enumerate(axis)} for axis in axes_of(facts)]
    tensor = np.zeros([len(place) for place in places], dtype=np.int64)
    for fact in facts:
        tensor[tuple(place[token] for place, token in zip(places, fact, strict=True))] = 1
    return tensor


def rank_bounds(tensor: NDArray[np.int64]) -> Bounds:
    """The rank over the reals from both sides; no clock decides, so a re-run says the same.

    >>> rank_bounds(np.ones((2, 2, 2), dtype=np.int64))
    (1, 1)
    """
    found = tensor_rank(tensor)
    return found.lower, found.upper


def layer_rank_above(shape: LayerShape, facts: Sequence[Triple]) -> int:
    """No weights of these dimensions give L a larger rank on this database.

    With n = min(d_model, |V|) and ρ = min(H·d_vo, n), every fibre L_kq: is E_q, plus on the domain
    something of a space W of dimension at most ρ, all within dimension n. So the slice of q has
    rank at most min(n, ρ + 1) and at most as many as it has different rows; E alone has rank at
    most min(|Q|, n), and the heads add at most min(ρ, facts) for each query, or for each key; and
    modulo W there is only E, of rank at most n - ρ.

    >>> layer_rank_above(LayerShape(6, 6, 1, 4), [(0, 2, 3), (1, 2, 4)])
    2
    """
    keys, queries, values = axes_of(facts)
    n, rho = shape.n(len(values)), shape.rho(len(values))
    by_query = [sum(fact[1] == q for fact in facts) for q in queries]
    by_key = [sum(fact[0] == k for fact in facts) for k in keys]
    rows = [known + (known < len(keys)) for known in by_query]
    plain = min(len(queries), n)
    return min(
        rank_ceiling(shape, len(keys), len(queries), len(values)),
        sum(min(row, n, rho + 1) for row in rows),
        len(keys) * plain,
        plain + sum(min(known, rho) for known in by_query),
        plain + sum(min(known, rho) for known in by_key),
        min(len(queries), n - rho) + sum(min(rho, row) for row in rows),
    )
