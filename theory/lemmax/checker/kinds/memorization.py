"""What an attention layer knows."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..attention import Forward, layer
from ..limits import brief, refuse
from ..reading import fields, integer, no_repeated_question, number, triples, variant
from ..steps import Step


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """A layer answers every question (k, q) with v: by strict argmax, or with probability >= τ."""
    fields(data, "The certificate", "layer facts criterion")
    net = layer(data["layer"], "layer")
    count = len(net.tokens)
    facts = [
        (integer(k, "A key", count), integer(q, "A query", count), integer(v, "A value", count))
        for k, q, v in triples(data["facts"], "facts")
    ]
    no_repeated_question(facts, "facts")
    criterion = data["criterion"]
    kind = variant(criterion, "criterion", "type", {"argmax": "", "probability": "tau"})
    tau = number(criterion["tau"], "criterion.tau") if kind == "probability" else None
    if tau is not None and not 0 < tau < 1:
        refuse("criterion.tau", "must lie strictly between 0 and 1")

    forward = Forward(net, len(facts))
    says = "has the strictly largest logit" if tau is None else f"has probability >= {brief(tau)}"
    for i, (k, q, v) in enumerate(facts):
        answer = forward.knows(k, q, v, tau)
        if answer is not True:
            names = ", ".join(brief(net.tokens[t]) for t in (k, q, v))
            why = f"it does not hold that the value {says}"
            if answer is None:
                why = f"undecided within the limits whether the value {says}"
            yield Step(False, f"fact {i} ({names}): {why}")
    yield Step(True, f"the value {says} among {count} tokens, for all {len(facts)} facts")
