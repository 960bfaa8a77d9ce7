"""The rank of a tensor over Q, R or C."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..balls import check_ball
from ..bounds import RULES
from ..decompositions import Bundle, Family, bundle, check_zero, family, remainder, without_bundle
from ..limits import keep, refuse, released, spend
from ..polynomials import roots_of
from ..reading import choice, fields, integer, items, variant
from ..steps import Step
from ..tensors import length_of, sizes, sparse, vectors


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """lower <= R(T) <= upper over a field: a chain of lower-bound lemmas, and a decomposition.

    Each step of the proof but the last gives R(T) >= gain + R(S) where S is computed from T; the
    last bounds R from below outright.
    """
    names = "tensor field lower upper proof terms families"
    fields(data, "The certificate", names + " ball" * ("ball" in data))
    T, scale = sparse(data["tensor"])
    field = choice(data["field"], "field", ("Q", "R", "C"))
    lower, upper = integer(data["lower"], "lower"), integer(data["upper"], "upper")
    if lower > upper:
        refuse("lower", "is larger than upper")
    terms = [
        vectors(term, T, f"terms[{i}]") for i, term in enumerate(items(data["terms"], "terms", 0))
    ]
    families: dict[str, Family] = {}
    bundles: dict[str, Bundle] = {}
    for i, value in enumerate(items(data["families"], "families", 0)):
        where = f"families[{i}]"
        if isinstance(value, Mapping) and "terms" in value:
            bundles[where] = bundle(value, T, where)
        else:
            families[where] = family(value, T, where)
    proof = items(data["proof"], "proof")
    ball = fields(data["ball"], "ball", "maps centre free radius") if "ball" in data else None
    length = len(terms) + sum(len(modulus) - 1 for modulus, _ in families.values())
    length += sum(len(some) for _, some in bundles.values())
    length += len(items(ball["centre"], "ball.centre")) if ball else 0
    if length != upper:
        yield Step(False, f"R <= {upper}: the decomposition has {length} terms")
    for name, (modulus, _) in (families | bundles).items():
        if field == "Q":
            yield Step(False, f"{name} is irrational, and the field is Q")
        elif field == "R":
            real, distinct = roots_of(modulus)
            all_real = real == distinct == len(modulus) - 1
            if not (all_real if name in families else real):
                yield Step(False, f"{name}: {real} of {len(modulus) - 1} roots are real")
    with released():
        rest = remainder(T, scale, terms, list(families.values()))
        for name, some in bundles.items():
            rest, rational = without_bundle(rest, some)
            if not rational:
                yield Step(False, f"{name}: the sum of the terms is not rational")
        if ball is None:
            yield check_zero(rest, length)
        elif field == "Q":
            yield Step(False, "the ball holds real terms, and the field is Q")
        else:
            yield from check_ball(ball, rest, length)
        del rest

    bound, cube = 0, T
    for i, step in enumerate(proof):
        where, last = f"proof[{i}]", i == len(proof) - 1
        named = {name: rule.fields for name, rule in RULES.items() if rule.closes == last}
        name = variant(step, where, "lemma", named)
        with released():
            keep("The tensor", entries := math.prod(sizes(cube)), length_of(cube))
            spend("The tensor", entries)
            gain, cube, text = RULES[name].apply(step, cube, field, where)
        bound += gain
        yield Step(gain >= 0, f"{name}: {text}")
    yield Step(bound >= lower, f"{bound} >= {lower}: the proof gives R >= {bound} over {field}")
