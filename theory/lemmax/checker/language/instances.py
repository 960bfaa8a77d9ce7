"""What certificates about a statement have in common: the statement, an instance, its evidence."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..limits import Undecided, brief, refuse
from ..reading import fields
from ..steps import Step
from .evaluation import World, evaluate, judged
from .evidence import Evidence, gather
from .sorts import given_value
from .syntax import statement

_NAME = r"(?!\.)[^/\\<>]{1,200}"
CLAIM = re.compile(f"{_NAME}(/{_NAME})+")  # as claims files have them: printable names of files


def claim_of(data: Mapping[str, Any]) -> str:
    claim = data["claim"]
    if (
        type(claim) is not str
        or len(claim) > 400
        or not claim.isprintable()
        or not CLAIM.fullmatch(claim)
    ):
        refuse("claim", f"must be an id such as wong/argmax-rank-one, not {brief(claim)}")
    return claim


def on_instance(data: Mapping[str, Any], wanted: bool) -> Iterator[Step]:
    """Every assumption is true of the instance, and the conclusion is true, or false, as wanted."""
    names = "claim statement instance" + " evidence" * ("evidence" in data)
    fields(data, "The certificate", names)
    claim, asked = claim_of(data), statement(data["statement"])
    instance = fields(data["instance"], "instance", " ".join(asked.given))
    values = {
        name: given_value(sort, instance[name], f"instance.{name}")
        for name, sort in asked.given.items()
    }
    yield Step(True, f"claim {claim}: {asked.text}")
    evidence = Evidence()
    if "evidence" in data:
        yield from gather(data["evidence"], evidence)
    yield from on_values(asked.clauses, asked.conclusion, values, evidence, wanted)
    if evidence.idle:
        yield Step(False, "some evidence is about no argument of a word of the statement")


def on_values(
    clauses: Iterable[tuple[str, ast.expr]],
    conclusion: ast.expr,
    values: dict[str, Any],
    evidence: Evidence,
    wanted: bool,
) -> Iterator[Step]:
    """The definitions (with a name) and the assumptions (without), in order; the conclusion."""
    world = World(values, evidence)
    for name, tree in clauses:
        if name:
            try:
                values[name] = evaluate(tree, world)
            except Undecided as reason:
                yield Step(False, f"{name} is undecided: {reason}")
            continue
        truth, shown = judged(tree, world)
        if truth is None:
            yield Step(False, f"an assumption is undecided: {shown}")
        yield Step(bool(truth), f"{'assumption' if truth else 'an assumption is false'}: {shown}")
    truth, shown = judged(conclusion, world)
    if truth is None:
        yield Step(False, f"the conclusion is undecided: {shown}")
    yield Step(truth is wanted, f"the conclusion {'holds' if truth else 'fails'}: {shown}")
