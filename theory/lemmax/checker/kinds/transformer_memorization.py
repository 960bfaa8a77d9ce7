"""What a transformer of several layers, with weights as they were trained, says after prompts."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..coded.arrays import tables
from ..limits import LIMITS, Undecided, brief, foresee, refuse
from ..models.network import Arrays, Network
from ..models.vectors import Ball
from ..reading import exactly, fields, integer, items, number
from ..steps import Step

NO_MARGIN = "no margin against token {} at a precision of {} bits"


def margin(logits: Ball, answer: int) -> tuple[int, int, int]:
    """Bounds lo <= 2^bits (z_answer - max of the others) <= hi, and the token of that maximum."""
    center, own = list(logits.center), logits.center[answer]
    center[answer] = min(center) - 1
    rival = max(range(len(center)), key=center.__getitem__)
    gap = own - center[rival]
    return gap - 2 * logits.radius, gap + 2 * logits.radius, rival


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """After each prompt the answer's logit exceeds every other by more than the margin.

    The model is the function over the reals that the stored weights define: attention with a mask
    and a scale, LayerNorm, RMSNorm, MLPs. It is evaluated in balls with ``bits`` after the point.
    """
    fields(
        data, "The certificate", "model arrays bits margin facts" + " ignored" * ("ignored" in data)
    )
    bits = integer(data["bits"], "bits", LIMITS["precision bits"] + 1)
    if bits < 32:
        refuse("bits", "must be at least 32")
    least = number(data["margin"], "margin")
    if least < 0:
        refuse("margin", "must not be negative")
    left_out = items(data.get("ignored", []), "ignored", 0)
    if not all(type(name) is str for name in left_out):
        refuse("ignored", "must be names")
    net = Network(data["model"], Arrays(tables(data["arrays"])), bits)
    if net.size < 2:
        refuse("W_E", "must have two tokens at least")
    facts = [exactly(2, fact, "A fact") for fact in items(data["facts"], "facts")]
    answers = [integer(answer, "An answer", net.size) for _, answer in facts]
    prompts = net.prompts([prompt for prompt, _ in facts], "facts")
    foresee("The logits", len(facts) * net.d * (1 + net.size * net.W_U.width * bits // 7_500))
    for i, logits in net.logits(prompts):
        if isinstance(logits, Undecided):
            yield Step(False, f"fact {i}: {logits}, {bits} bits")
            continue
        low, high, rival = margin(logits, answers[i])
        if low <= least * 2**bits:
            larger = high <= least * 2**bits
            why = f"the lead over token {rival} is not larger than the margin"
            yield Step(False, f"fact {i}: {why if larger else NO_MARGIN.format(rival, bits)}")
    text = f"{len(net.steps)} steps of width {net.d}, weights exact, {bits} bits after the point"
    yield Step(True, text)
    if left_out:
        names = ", ".join(map(brief, left_out))[:500]
        yield Step(True, f"left out of the model by whoever made this: {names}")
    ahead = f" by more than {data['margin']}" if least else ""
    others = "other" if net.size == 2 else f"other {net.size - 1}"
    yield Step(
        True, f"the answer's logit exceeds the {others}{ahead}, for all {len(facts)} prompts"
    )
