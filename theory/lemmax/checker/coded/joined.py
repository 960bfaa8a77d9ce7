"""Predicates that are subjects too: their own blocks are read by every head but one, and cancel.

Predicate i has a one-hot coordinate o_i and a number p_i, other tokens p = 0. On (k, q), q = i,
head h scores token t as s (2 p_i p_t - p_t^2) = s (p_i^2 - (p_i - p_t)^2), s = -g for h = i and g
otherwise: head i attends to k, the others to q, unless k = q, where both are the same. The outputs
of q hold minus the sum of its blocks other than i, so that block i of k is left.
"""

from ..limits import spend
from ..steps import Step
from .codebooks import Layer, Layout
from .floats import ONE, SHIFT, Format, length, value, values
from .selection import astray, stacked


def layout(heads: int, m: int) -> Layout:
    """Blocks, one-hot coordinates, outputs, a marker."""
    blocks = heads * m
    hot: list[int | None] = list(range(blocks, blocks + heads))
    outputs = list(range(blocks + heads, blocks + heads + m))
    return Layout(blocks + heads + m + 1, outputs, hot, [blocks + heads + m])


def predicates(layer: Layer) -> Step:
    """Predicates are one-hot, marked, and take back their blocks; other subjects are unmarked."""
    W_E, place, m, d = layer.arrays["W_E"].entries, layer.layout, layer.m, layer.layout.width
    spend("The predicates", 4 * len(layer.queries) * d)
    for i, q in enumerate(layer.queries):
        row = [value(w, layer.weights, "W_E") for w in W_E[q * d : (q + 1) * d]]
        if [row[j] for j in place.hot if j is not None] != [
            ONE if h == i else 0 for h in range(len(layer.queries))
        ] or row[place.markers[0]] != ONE:
            return Step(False, f"predicate {i} is not a marker and a hot coordinate")
        for j, output in enumerate(place.outputs):
            others = sum(row[h * m + j] for h in range(len(layer.queries)) if h != i)
            if row[output] != -others:
                return Step(False, f"predicate {i} does not take back its own blocks")
    keys = set(layer.arrays["facts"].entries[0::3]) - set(layer.queries)
    for hot in place.hot:
        marks = W_E[hot or 0 :: d]
        if any(map(marks.__getitem__, keys)):
            return Step(False, "a subject that is no predicate has a hot coordinate")
    shared = set(layer.arrays["facts"].entries[0::3]) & set(layer.queries)
    return Step(True, f"{len(layer.queries)} predicates, {len(shared)} of them subjects too")


def heads(layer: Layer) -> tuple[int, Step]:
    """The gain, and whether scores differ by it and heads copy their block to the outputs."""
    d, count, stacks = layer.layout.width, len(layer.queries), stacked(layer)
    hot = [j for j in layer.layout.hot if j is not None]
    numbers = [stacks["W_K"][j] for j in hot]
    gain = abs(stacks["W_Q"][hot[0] * 2 + 1])
    if any(p % ONE for p in numbers) or 0 in numbers or len(set(numbers)) != count or gain % ONE:
        return 0, Step(False, "the predicates' numbers are not distinct integers")
    ps = [p // ONE for p in numbers]

    def scores(h: int) -> tuple[list[int], list[int]]:
        W_Q, W_K = [0] * (2 * d), [0] * (2 * d)
        for i, j in enumerate(hot):
            sign = -1 if i == h else 1
            W_K[j], W_K[d + j] = ps[i] * ONE, ps[i] ** 2 * ONE
            W_Q[2 * j], W_Q[2 * j + 1] = 2 * sign * gain * ps[i], -sign * gain
        return W_Q, W_K

    if wrong := astray(layer, stacks, scores):
        return 0, wrong
    least = apart(ps, gain // ONE, layer.weights, layer.sums)
    if least < 104:
        return 0, Step(False, f"scores may differ by {least} only, and exp(-{least}) is not 0")
    return least, Step(True, f"{count} heads attend to one token only: exp(-{least}) is 0")


def apart(ps: list[int], gain: int, weights: Format, sums: Format) -> int:
    """How much the scores of a predicate and of another token differ at least, when stored.

    The scores are integers that sums hold; storing one moves it by at most 2^-p of itself, and
    not at all where it has p bits.
    """
    spend("The scores", 20 * len(ps) ** 2)

    def moved(score: int) -> int:
        exact = length(score) <= weights.significand
        return 0 if exact else (abs(score) >> weights.significand) + 1

    least = gain
    for p in ps:
        if gain * 4 * p * p > min(1 << sums.significand, weights.largest >> SHIFT):
            return 0
        own = gain * p * p
        for other in (0, *ps):
            if other != p:
                score = gain * (2 * p * other - other * other)
                least = min(least, own - score - moved(score) - moved(own))
    return least


def held(layer: Layer) -> Step:
    """Outputs add up to integers that the format of the weights holds, in every order."""
    m, d = layer.m, layer.layout.width
    count = len(layer.queries)
    W_E = layer.arrays["W_E"].entries
    reach = 0
    for j in range(count * m):
        column = values(W_E[j::d], layer.weights, "W_E").values()
        if any(x % ONE for x in column):
            return Step(False, "a block is not made of integers")
        reach = max(reach, *map(abs, column))
    most = (2 * count - 1) * reach // ONE
    if most > 1 << layer.weights.significand:
        return Step(False, f"outputs reach {most}, beyond {layer.weights.significand} bits")
    return Step(True, f"outputs are integers up to {most}, whatever the order of the heads")
