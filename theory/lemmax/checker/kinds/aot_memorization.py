"""What an attention-only transformer knows of sequences."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..arithmetic import bits_of, dot
from ..enclosures import precisions, weights
from ..limits import LIMITS, foresee, released, spend
from ..reading import exactly, fields, integer, items
from ..steps import Step
from ..transformers import Transformer


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """On each sequence the target's logit is the largest: (x_S + Σ_h Σ_s a_s x_s W_V W_O) W_U."""
    fields(data, "The certificate", "layer pos pairs")
    pairs = [exactly(2, pair, "A pair") for pair in items(data["pairs"], "pairs")]
    net = Transformer(data, (t for t, _ in pairs))
    targets = [integer(g, "A target", len(net.layer.tokens)) for _, g in pairs]
    foresee("The forward pass", len(pairs) * len(net.W_U) * len(net.layer.tokens))
    for number, (t, g) in enumerate(zip(net.inputs, targets, strict=True)):
        with released():
            answer = answers(net, t, g)
        if answer is False:
            yield Step(False, f"pair {number}: another token has a logit at least as large")
        if answer is None:
            yield Step(False, f"pair {number}: undecided at {LIMITS['precision bits']} bits")
    yield Step(True, f"the target has the strictly largest logit, for all {len(pairs)} sequences")


def answers(net: Transformer, t: Sequence[int], g: int) -> bool | None:
    """Whether g has the strictly largest logit after the sequence t; None: not decided."""
    keys, moved, W_U, scale = net.keys(t), net.values, net.W_U, net.value_scale
    scores, d, tokens = net.scores(t, keys), len(W_U), len(W_U[0])
    long = max([keys.bits + scale.bit_length(), *(M.bits + 1 for part in moved for M in part)])
    for bits in precisions():
        spend("The forward pass", 6 * (len(moved) * len(t) + 1) * d, long, 2 * bits)
        center = [x * scale << bits + 1 for x in keys[-1]]
        radius = [0] * d
        for (of_tokens, of_positions), row in zip(moved, scores, strict=True):
            bounds = weights(row, net.score_scale, net.layer.unit, bits)
            low, high = (sum(w[i] for w in bounds) for i in (0, 1))
            for s, (a, b) in enumerate(bounds):
                a, b = (a << bits) // high, -((-b << bits) // low)
                value = list(map(operator.add, of_tokens[t[s]], of_positions[s]))
                center = [c + (a + b) * v for c, v in zip(center, value, strict=True)]
                radius = [r + (b - a) * abs(v) for r, v in zip(radius, value, strict=True)]
        spend("The forward pass", 4 * tokens * d, bits_of([center]), W_U.bits + 1)
        decided, wanted = True, W_U.columns[g]
        for j, column in enumerate(W_U.columns):
            if j != g:
                gap = list(map(operator.sub, wanted, column))
                lead, error = dot(gap, center), dot(map(abs, gap), radius)
                if lead < -error or lead == error == 0:
                    return False
                decided = decided and lead > error
        if decided:
            return True
    return None
