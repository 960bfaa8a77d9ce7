"""Facts decided one by one with the checker's arithmetic, and what the checker spends on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lemmax.checker.kinds.transformer_memorization import NO_MARGIN, margin
from lemmax.checker.limits import LIMITS, BeyondLimits, Undecided, metered
from lemmax.checker.models.network import Network
from lemmax.checker.models.vectors import Ball
from lemmax.numerics.certifying.prompts import Asked


@dataclass(frozen=True)
class Outcome:
    """One fact: whether it is known, between which bounds its margin lies, and why it is not known.

    The margin is the answer's logit minus the largest other one. ``work`` bounds what the checker
    spends on the fact alone, ``further`` on what follows its first ``same`` tokens.
    """

    fact: tuple[Any, ...]
    prompt: tuple[int, ...]
    answer: int
    known: bool
    low: Fraction | None = None
    high: Fraction | None = None
    rival: int | None = None
    reason: str = ""
    bits: int = 0
    work: int = field(default=0, repr=False)
    further: int = field(default=0, repr=False)
    same: int = field(default=0, repr=False)

    @property
    def final(self) -> bool:
        """Whether more bits change nothing: it is decided, or too much already."""
        return self.known or self.rival is not None or not self.work

    def after(self, before: Outcome | None) -> int:
        """What the checker spends on it once it has checked another: beginnings are shared."""
        if before is not None and shared(self.prompt, before.prompt) >= self.same:
            return self.further
        return self.work


def shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two prompts have in common at their beginning.

    >>> shared([1, 2, 3], [1, 2, 4, 5])
    2
    """
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def room(built: int) -> int:
    """Units of work for the prompts of one certificate of a model that took ``built``."""
    return LIMITS["work"] * 9 // 10 - 2 * built


def decided(
    net: Network, asked: Sequence[tuple[int, Asked]], least: Fraction, bits: int, built: int
) -> Iterator[tuple[int, Outcome]]:
    """The facts at this precision; ``rival`` is named only where it is decided.

    A prompt that takes more than one certificate may is such an outcome, and so is every prompt
    that is as long: they are not tried.
    """
    left = sorted(asked, key=lambda item: item[1].prompt)
    while left:
        steps = net.logits([list(one.prompt) for _, one in left])
        spent, before = [0], tuple[int, ...]()  # on the first n tokens of the prompt before
        for n, (i, one) in enumerate(left, 1):
            size = len(one.prompt)
            try:
                with metered() as meter:
                    _, logits = next(steps)
            except BeyondLimits:
                yield i, _beyond(one, f"it takes more than the checker may spend, {bits} bits")
                why = f"a prompt of {size} tokens takes more than the checker may spend"
                for j, other in left[n:]:
                    if len(other.prompt) >= size:
                        yield j, _beyond(other, f"not tried: {why}, {bits} bits")
                left = [item for item in left[n:] if len(item[1].prompt) < size]
                break
            same = shared(one.prompt, before) if net.causal else 0
            # later tokens take more than earlier ones: equal shares are too much for a beginning
            share = -(-meter.work // (size - same))
            spent = spent[: same + 1] + [spent[same] + share * k for k in range(1, size - same + 1)]
            before = one.prompt
            if spent[-1] > room(built):
                yield i, _beyond(one, f"it takes more than the checker may spend, {bits} bits")
            else:
                units = {"work": spent[-1], "further": meter.work, "same": same}
                yield i, _outcome(one, logits, least, bits, units)
        else:
            return


def _beyond(one: Asked, reason: str) -> Outcome:
    return Outcome(one.fact, one.prompt, one.answer, False, reason=reason)


def _outcome(
    one: Asked, logits: Ball | Undecided, least: Fraction, bits: int, units: dict[str, Any]
) -> Outcome:
    def outcome(known: bool, **more: Any) -> Outcome:
        return Outcome(one.fact, one.prompt, one.answer, known, bits=bits, **units, **more)

    if isinstance(logits, Undecided):
        return outcome(False, reason=f"{logits} ({bits} bits)")
    low, high, rival = margin(logits, one.answer)
    bounds = {"low": Fraction(low, 1 << bits), "high": Fraction(high, 1 << bits)}
    if bounds["low"] > least:
        return outcome(True, rival=rival, **bounds)
    if bounds["high"] > least:
        return outcome(False, reason=NO_MARGIN.format(rival, bits), **bounds)
    why = f"token {rival} has the larger logit"
    if bounds["high"] > 0 or least:
        why = f"the lead over token {rival} is not larger than the margin"
    return outcome(False, rival=rival, reason=why, **bounds)
