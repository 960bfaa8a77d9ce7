"""What a layer answers to a key and a query, with its probability."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from flint import arb, ctx, fmpq

from lemmax.theory.errors import LemmaxError, Undecided
from lemmax.theory.numbers.balls import ceiling_above, floor_below
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.memorization import HiddenStates

_PRECISIONS = (192, 768, 3072, 12_288, 49_152)
_LONGEST = 20_000  # bits of an attention weight in units of ln 2 that is written as a fraction

Column: TypeAlias = list[fmpq]


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


def recall(layer: AttentionLayer, key: Hashable, query: Hashable) -> Recall:
    """The two most probable next tokens after (key, query), each compared with every other token.

    The precision is raised until balls decide every comparison that is no exact tie. Of runners-up
    that tie, the first in the order of the tokens is named. Cost: tokens × d_model
    multiplications per precision, of which nearly always one is enough.

    Raises
    ------
    LemmaxError
        The two largest logits are equal.
    Undecided
        A comparison stays open at the largest precision.

    Examples
    --------
    >>> layer = AttentionLayer(("a", "b", "c"), [[1], [-1], [0]], [[1, -1, 0]])
    >>> answer = recall(layer, "a", "b")
    >>> answer.answer, answer.runner_up, answer.interval()
    ('b', 'c', '[0.665240, 0.665241]')
    """
    k, q = layer.indices((key, query))
    states = HiddenStates(layer)
    columns: list[Column] = layer.W_U.flint.transpose().tolist()
    tied = _ties(states, columns, k, q)
    for precision in _PRECISIONS:
        state = states(k, q, precision)
        with ctx.workprec(precision):
            logits = [_dot(state, column) for column in columns]
            first = _largest(logits, range(len(logits)), tied)
            if first is None:
                continue
            if len(first) > 1:
                names = " and ".join(repr(layer.tokens[t]) for t in first[:2])
                raise LemmaxError(f"After {key!r} {query!r} the layer cannot tell {names} apart.")
            best = first[0]
            others = [t for t in range(len(logits)) if t != best]
            second = _largest(logits, others, tied)
            odds = {t: (logits[t] - logits[best]).exp() for t in others}
            probability = 1 / (1 + sum(odds.values(), arb(0)))
            if second is None or not probability.rad() < arb(2) ** -64:
                continue
            if not second:
                return Recall(layer.tokens[best], probability, None, None)
            runner_up = second[0]
            return Recall(
                layer.tokens[best],
                probability,
                layer.tokens[runner_up],
                odds[runner_up] * probability,
            )
    raise Undecided(
        f"What the layer answers to {key!r} {query!r} stays open with {_PRECISIONS[-1]} bits."
    )


def _dot(state: Iterable[arb], column: Column) -> arb:
    return sum((h * arb(w) for h, w in zip(state, column, strict=True)), arb(0))


def _largest(
    logits: list[arb], tokens: Sequence[int], tied: Callable[[int, int], bool]
) -> list[int] | None:
    """The tokens of largest logit, all of them in exact ties; None where the balls leave it open.

    The token with the largest lower end is compared with each of the others.
    """
    if not tokens:
        return []
    top = max(tokens, key=lambda t: logits[t].lower())
    rivals = [t for t in tokens if t != top and not logits[t] < logits[top]]
    return sorted([top, *rivals]) if all(tied(top, t) for t in rivals) else None


def _ties(
    states: HiddenStates, columns: list[Column], k: int, q: int
) -> Callable[[int, int], bool]:
    """Whether two tokens have exactly equal logits; False where that stays open."""
    exact = _rational_state(states, k, q)
    if exact is None:
        return lambda t, u: states.tied(k, q, columns[t], columns[u])
    logits = [
        sum((h * w for h, w in zip(exact, column, strict=True)), fmpq(0)) for column in columns
    ]
    return lambda t, u: logits[t] == logits[u]


def _rational_state(states: HiddenStates, k: int, q: int) -> list[fmpq] | None:
    """The hidden state where every attention weight is 2^s / (2^s + 1) with an integer s."""
    scores = [states.score_gap(head, k, q) for head in range(len(states.values))]
    if states.unit != "ln2" or any(s.q != 1 or abs(s) > _LONGEST for s in scores):
        return None
    state = [fmpq(x) for x in states.embedding[q]]
    for s, values in zip(scores, states.values, strict=True):
        power = fmpq(2) ** int(s.p)
        alpha = power / (power + 1)
        state = [
            h + y + alpha * (x - y) for h, x, y in zip(state, values[k], values[q], strict=True)
        ]
    return state
