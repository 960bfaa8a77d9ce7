"""Counterexamples: instances of a claim that satisfy its assumptions and not its conclusion."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ..attention import Layer
from ..language.claims import RESERVED, STATEMENTS
from ..language.evidence import Evidence
from ..language.instances import claim_of, on_instance, on_values
from ..language.sorts import Facts, instance_value, of_the_paper
from ..language.syntax import NAME, names_in, parse
from ..limits import brief, refuse
from ..reading import fields, items
from ..steps import Step
from ..words.layers import places


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """An instance for which every assumption is true and the conclusion is false."""
    if type(data.get("statement")) is str:
        yield from on_instance(data, False)
    else:
        yield from first_version(data)


def first_version(data: Mapping[str, Any]) -> Iterator[Step]:
    """The same for hypotheses and a conclusion in a list; values say of which sort they are."""
    fields(data, "The certificate", "claim statement instance")
    claim = claim_of(data)
    text = fields(data["statement"], "statement", "hypotheses conclusion")
    given = items(text["hypotheses"], "statement.hypotheses", 0)
    hypotheses = [parse(h, "A hypothesis") for h in given]
    conclusion = parse(text["conclusion"], "The conclusion")
    if type(data["instance"]) is not dict:
        refuse("instance", "must be an object")
    for name in data["instance"]:
        if not NAME.fullmatch(name):
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
    clauses = [("", hypothesis) for hypothesis in hypotheses]
    yield from on_values(clauses, conclusion, instance, Evidence(), False)


def layer_of_the_paper(L: Layer, D: Collection[tuple[str, str, str]]) -> None:
    """Refuse what Wong 2025 does not speak of; smaller heads may be padded with zeros."""
    places(of_the_paper(L), Facts(D))
    if any(k == q for k, q, _ in D):
        refuse("A fact", "has its query for its key, where equation (5) can be read in two ways")
