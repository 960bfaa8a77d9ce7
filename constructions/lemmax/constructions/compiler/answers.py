"""What a layer answers to a key and a query, with its probability."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from flint import arb, ctx

from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.matrices import ceiling_above, floor_below
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.memorization import HiddenStates


@dataclass(frozen=True)
class Recall:
    """What a layer answers to (key, query): the token, its probability, the second best."""

    answer: Hashable
    probability: arb
    runner_up: Hashable | None
    runner_up_probability: arb | None

    def interval(self, digits: int = 6) -> str:
        """The probability as an interval of decimals, rounded outwards.

        >>> Recall("a", arb("0.25"), None, None).interval()
        '[0.250000, 0.250000]'
        """
        scale = 10**digits
        with ctx.workprec(256):
            low = floor_below(self.probability * scale)
            high = ceiling_above(self.probability * scale)
        ends = (f"{end // scale}.{end % scale:0{digits}d}" for end in (low, min(high, scale)))
        return f"[{', '.join(ends)}]"


def recall(layer: AttentionLayer, key: Hashable, query: Hashable, precision: int = 192) -> Recall:
    """The two most probable next tokens after (key, query)."""
    k, q = layer.indices((key, query))
    state = HiddenStates(layer)(k, q, precision)
    with ctx.workprec(precision):
        columns = layer.W_U.flint.transpose().tolist()
        logits = [sum((h * arb(w) for h, w in zip(state, c, strict=True)), arb(0)) for c in columns]
        order = sorted(range(len(logits)), key=lambda t: _Middle(logits[t]), reverse=True)
        total = sum(((logit - logits[order[0]]).exp() for logit in logits), arb(0))
        best = 1 / total
        if len(order) == 1:
            return Recall(layer.tokens[order[0]], best, None, None)
        second = (logits[order[1]] - logits[order[0]]).exp() / total
    if not logits[order[0]] > logits[order[1]]:
        tied = " and ".join(repr(layer.tokens[t]) for t in order[:2])
        raise LemmaxError(f"After {key!r} {query!r} the layer cannot tell {tied} apart.")
    return Recall(layer.tokens[order[0]], best, layer.tokens[order[1]], second)


class _Middle:
    """Orders balls by their midpoints, exactly: floats could overflow or tie."""

    def __init__(self, ball: arb) -> None:
        self.middle = ball.mid()

    def __lt__(self, other: _Middle) -> bool:
        return bool(self.middle < other.middle)
