"""Counterexamples: instances of a claim that satisfy its hypotheses and not its conclusion."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ..attention import Layer
from ..claims import RESERVED, STATEMENTS
from ..layer_words import places
from ..limits import brief, refuse
from ..reading import fields, items
from ..statements import judged, names_in, parse
from ..steps import Step
from ..values import Facts, instance_value

CLAIM = re.compile(r"[a-z0-9._-]+/[A-Za-z0-9.:_+'-]{1,100}")


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """An instance of a claim for which every hypothesis is true and the conclusion is false."""
    fields(data, "The certificate", "claim statement instance")
    claim = data["claim"]
    if type(claim) is not str or not CLAIM.fullmatch(claim):
        refuse("claim", f"must be an id such as wong/argmax-rank-one, not {brief(claim)}")
    text = fields(data["statement"], "statement", "hypotheses conclusion")
    given = items(text["hypotheses"], "statement.hypotheses", 0)
    hypotheses = [parse(h, "A hypothesis") for h in given]
    conclusion = parse(text["conclusion"], "The conclusion")
    if type(data["instance"]) is not dict:
        refuse("instance", "must be an object")
    for name in data["instance"]:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,30}", name):
            refuse("instance", f"has a name {brief(name)} that is not a short identifier")
    instance = {name: instance_value(v, f"instance.{name}") for name, v in data["instance"].items()}
    if set(instance) != set().union(*map(names_in, (*hypotheses, conclusion))):
        refuse("instance", "must name exactly what the statement speaks about")

    if claim.startswith(RESERVED):
        known = STATEMENTS.get(claim)
        if known is None:
            yield Step(False, f"{claim} is not among the statements that this checker knows")
            return
        shown = f"{' and '.join(known.hypotheses)} => {known.conclusion}"
        if (tuple(given), text["conclusion"]) != (known.hypotheses, known.conclusion):
            yield Step(False, f"the statement is not that of the claim {claim}: {shown}")
            return
        if {name: type(value) for name, value in instance.items()} != dict(known.instance):
            refuse("instance", f"has values of kinds that do not belong to {claim}")
        for L in (value for value in instance.values() if type(value) is Layer):
            layer_of_the_paper(L, instance.get("D", ()))
        yield Step(True, f"claim {claim}: {shown}")
    else:
        yield Step(True, f"claim {claim}: statement as given by the certificate")
    for hypothesis in hypotheses:
        ok, shown = judged(hypothesis, instance)
        yield Step(ok, f"hypothesis: {shown}" if ok else f"a hypothesis is false: {shown}")
    ok, shown = judged(conclusion, instance)
    yield Step(not ok, f"the conclusion holds: {shown}" if ok else f"the conclusion fails: {shown}")


def layer_of_the_paper(L: Layer, D: Collection[tuple[str, str, str]]) -> None:
    """Refuse what Wong 2025 does not speak of; smaller heads may be padded with zeros."""
    inner = [n for head in L.heads for n in (len(head.W_K), len(head.W_O))]
    if not inner or max(inner) > len(L.W_E[0]) or len(L.W_E[0]) > len(L.tokens):
        refuse("The layer", "must have heads, and d_qk, d_vo <= d_model <= the number of tokens")
    places(L, Facts(D))
    if any(k == q for k, q, _ in D):
        refuse("A fact", "has its query for its key, where equation (5) can be read in two ways")
