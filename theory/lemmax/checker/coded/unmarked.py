"""Integer codes without a marker: what a predicate adds to the outputs cancels.

Predicate i has S at its hot coordinate t_i and at (max(i,2),1), and at (1,1), which is an output,
-S/2 if i = 0 and -S if i = 1; heads and coordinates are counted from 0. W_K adds up the t_i, W_Q
of head h too, with -1 at t_h. On (k, q), q = i, a predicate scores itself S^2, in its own head
-S^2, and the key at most S^2/2 in absolute value, however rounded: 2^n is held, rounding is
monotone. Head i reads the key; the others read -S/2 and S, or S, or nothing, at (1,1).
"""

from ..limits import spend
from ..steps import Step
from .codebooks import Layer, Layout
from .floats import ONE, SHIFT, value, values
from .selection import astray, stacked


def layout(heads: int, m: int) -> Layout:
    """Blocks alone; the second part of an intercept stands on the second coordinates."""
    blocks = heads * m
    return Layout(
        blocks,
        [0, *range(m + 1, 2 * m)],
        [1, *range(m, blocks, m)],
        list(range(2 * m + 1, blocks, m)),
    )


def predicates(layer: Layer) -> tuple[int, Step]:
    """S, and whether predicates are as above and what is added to the outputs is held."""
    W_E, place, m, d = layer.arrays["W_E"].entries, layer.layout, layer.m, layer.layout.width
    spend("The predicates", 4 * len(layer.queries) * d)
    hot = [j for j in place.hot if j is not None]
    scale = value(W_E[layer.queries[0] * d + hot[0]], layer.weights, "W_E")
    if scale < 16 * ONE or scale & (scale - 1):
        return 0, Step(False, "predicate 0 has no power of two from 16 on at its hot coordinate")
    for i, q in enumerate(layer.queries):
        wanted = {hot[i]: scale, max(i, 2) * m + 1: scale}
        if i < 2:
            wanted[m + 1] = -scale // (2 - i)
        for j in range(d):
            if value(W_E[q * d + j], layer.weights, "W_E") != wanted.get(j, 0):
                return 0, Step(False, f"predicate {i} is not as it should be")
    keys = set(layer.arrays["facts"].entries[0::3])
    spend("The keys", 4 * len(keys) * d)
    reach = []
    for j in range(d):
        column = W_E[j::d]
        words = values(map(column.__getitem__, keys), layer.weights, "W_E").values()
        if any(x % ONE for x in words):
            return 0, Step(False, "a key has an entry that is not an integer")
        reach.append(max(map(abs, words)))
    if 2 * sum(reach[j] for j in hot) > scale:
        return 0, Step(False, "a key may score more than half of what predicates do")
    if scale * scale > layer.weights.largest << SHIFT:
        return 0, Step(False, "the scores of predicates are not finite")
    bits = min(layer.sums.significand, layer.residual.significand)
    most = (2 * scale + max(reach)) // ONE
    if most > 1 << bits:
        return 0, Step(False, f"the residual stream reaches {most}, beyond {bits} bits")
    text = f"{len(layer.queries)} predicates, {len(keys)} keys; the stream reaches {most}"
    return scale >> SHIFT, Step(True, text)


def heads(layer: Layer, scale: int) -> tuple[int, Step]:
    """Head h changes the sign of predicate h, and copies block h to the outputs."""
    hot = [j for j in layer.layout.hot if j is not None]

    def scores(h: int) -> tuple[list[int], list[int]]:
        W_Q, W_K = [0] * layer.layout.width, [0] * layer.layout.width
        for i, j in enumerate(hot):
            W_K[j], W_Q[j] = ONE, -ONE if i == h else ONE
        return W_Q, W_K

    if wrong := astray(layer, stacked(layer), scores):
        return 0, wrong
    gain = scale * scale // 2
    return gain, Step(True, f"{len(hot)} heads attend to one token only: exp(-{gain}) is 0")
