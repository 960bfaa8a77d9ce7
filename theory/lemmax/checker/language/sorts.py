"""The sorts of what a statement speaks about, and how an instance of each is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..arithmetic import height
from ..attention import Layer, layer
from ..contexts import MultiHead, multi_head
from ..kinds.kl_interval import distribution
from ..limits import keep, refuse, spend
from ..reading import (
    Integers,
    Matrix,
    Tensor,
    choice,
    exactly,
    fields,
    integer,
    items,
    matrix,
    no_repeated_question,
    number,
    tensor_value,
    triples,
)
from .reals import Interval, Logarithm


class Facts(tuple[tuple[str, str, str], ...]):
    """Triples (key, query, value) of token names, no (key, query) twice."""


class Softmax(tuple[Matrix]):
    """The row-wise softmax of a matrix of rational logits, which is not computed."""


class Sequences(tuple[tuple[int, ...], ...]):
    """Distinct sequences of token numbers, all of one length."""


@dataclass(frozen=True)
class Associations:
    """Distinct sequences of one length, each with a target token."""

    sequences: Sequences
    targets: tuple[int, ...]


@dataclass(frozen=True)
class Distribution:
    """A distribution of contexts (``prior``) and of the next of N tokens after each (a row)."""

    prior: tuple[Fraction, ...]
    table: Matrix


@dataclass(frozen=True)
class AttentionOnly:
    """An attention-only transformer: a layer, which may have no heads, and its positions."""

    layer: Layer
    pos: Matrix
    data: Mapping[str, Any]


class Field(str):
    """Q, R or C."""


class Number:
    """The sort of arguments that are exact numbers, bounds of one, or logarithms."""


SORTS: dict[str, type] = {  # by the names that statements and words give them
    "integer": Fraction,
    "rational": Fraction,
    "matrix": Matrix,
    "tensor": Tensor,
    "integers": Integers,
    "database": Facts,
    "layer": Layer,
    "contexts": MultiHead,
    "transformer": AttentionOnly,
    "sequences": Sequences,
    "associations": Associations,
    "distribution": Distribution,
    "field": Field,
    "number": Number,
    "softmax": Softmax,
    "truth": bool,
    "text": str,
}


def facts_value(value: object, where: str) -> Facts:
    facts = Facts((k, q, v) for k, q, v in triples(value, where))
    if any(type(name) is not str or not name for fact in facts for name in fact):
        refuse(where, "must consist of token names")
    no_repeated_question(facts, where)
    return facts


def facts_literal(text: str) -> Facts:
    """The facts of a text such as "a f x, b f y": three names each."""
    spend("facts(...)", 10 * len(text))
    return facts_value([part.split() for part in text.split(",")], "facts(...)")


def integers_value(value: object, where: str) -> Integers:
    return Integers(integer(x, where) for x in items(value, where, 0))


def whole_value(value: object, where: str) -> Fraction:
    found = number(value, where)
    if found.denominator != 1:
        refuse(where, "must be an integer")
    return found


def sequences_value(value: object, where: str) -> Sequences:
    rows = [[integer(i, "A token", 10**6) for i in items(t, where)] for t in items(value, where)]
    keep(where, sum(map(len, rows)) + len(rows))
    spend(where, 4 * sum(map(len, rows)))
    if len({len(row) for row in rows}) != 1 or len(set(map(str, rows))) < len(rows):
        refuse(where, "must be distinct sequences of one length")
    return Sequences(map(tuple, rows))


def associations_value(value: object, where: str) -> Associations:
    pairs = [exactly(2, pair, f"{where}[{i}]") for i, pair in enumerate(items(value, where))]
    targets = tuple(integer(g, "A target", 10**6) for _, g in pairs)
    return Associations(sequences_value([t for t, _ in pairs], where), targets)


def distribution_value(value: object, where: str) -> Distribution:
    return Distribution(*distribution(fields(value, where, "prior table")))


def layer_value(value: object, where: str) -> Layer:
    """A layer as Wong 2025 has it: heads, and 1 <= d_qk, d_vo <= d_model <= the tokens."""
    return of_the_paper(layer(value, where))


def of_the_paper(L: Layer) -> Layer:
    inner = [n for head in L.heads for n in (len(head.W_K), len(head.W_O))]
    if not inner or max(inner) > len(L.W_E[0]) or len(L.W_E[0]) > len(L.tokens):
        refuse("The layer", "must have heads, and d_qk, d_vo <= d_model <= the number of tokens")
    return L


def transformer_value(value: object, where: str) -> AttentionOnly:
    data = fields(value, where, "layer pos")
    L = layer(data["layer"], f"{where}.layer")
    return AttentionOnly(L, matrix(data["pos"], f"{where}.pos", columns=len(L.W_E[0])), data)


def field_value(value: object, where: str) -> Field:
    return Field(choice(value, where, ("Q", "R", "C")))


Reader = Callable[[object, str], Any]
_BARE: dict[str, tuple[str, Reader]] = {  # may stand without the tag
    "integer": ("number", whole_value),
    "rational": ("number", number),
    "matrix": ("matrix", matrix),
    "tensor": ("tensor", tensor_value),
    "integers": ("integers", integers_value),
    "field": ("field", field_value),
}
_TAGGED: dict[str, tuple[str, Reader]] = {
    "database": ("facts", facts_value),
    "layer": ("layer", layer_value),
    "contexts": ("multi-head", multi_head),
    "transformer": ("transformer", transformer_value),
    "sequences": ("sequences", sequences_value),
    "associations": ("associations", associations_value),
    "distribution": ("distribution", distribution_value),
}
GIVEN = (*_BARE, *_TAGGED)  # the sorts that a statement may give


def given_value(sort: str, value: Any, where: str) -> Any:
    """An instance of a sort: tagged, as in {"layer": {...}}, or bare where that is short."""
    tag, read = _BARE[sort] if sort in _BARE else _TAGGED[sort]
    if type(value) is dict and list(value) == [tag]:
        return read(value[tag], where)
    if sort in _TAGGED:
        refuse(where, f"must be an object with the one field {tag}")
    return read(value, where)


_FIRST: dict[str, Reader] = {  # version 1, where the value says what it is
    "number": number,
    "matrix": matrix,
    "layer": layer,
    "multi-head": multi_head,
    "integers": integers_value,
    "tensor": tensor_value,
    "facts": facts_value,
}


def instance_value(value: Any, where: str) -> Any:
    """A number, a matrix, a tensor or integers, bare or tagged; a layer or facts, tagged.

    Tagged means an object with one field that names the kind: {"layer": {...}}.
    """
    if type(value) is dict and len(value) == 1:
        kind, value = next(iter(value.items()))
    elif type(value) is list and value and type(value[0]) is int:
        kind = "integers"
    elif type(value) is list and value and type(value[0]) is list and value[0]:
        kind = "tensor" if type(value[0][0]) is list else "matrix"
    else:
        kind = "number"
    return _FIRST[choice(kind, f"The kind of {where}", tuple(_FIRST))](value, where)


NOTHING = object()


def fitting(value: Any, sort: type) -> Any:
    """The value as one of the sort, or NOTHING; a truth counts as the number 0 or 1."""
    if sort in (Fraction, Number) and type(value) in (bool, int):
        return Fraction(value)
    if sort is Number:
        return value if type(value) in (Fraction, Interval, Logarithm) else NOTHING
    if sort is bool and value is None:
        return None
    return value if type(value) is sort else NOTHING


def extent(value: Any) -> tuple[int, int]:
    """How many entries a value has, and the bits of the longest."""
    if type(value) is Fraction:
        return 1, height((value,))
    if type(value) is Interval:
        return 2, height(end for end in (value.low, value.high) if end is not None)
    if type(value) is Logarithm:
        ends = [value.constant, *(x for term in value.terms for x in term)]
        return len(ends), height(ends)
    if type(value) in (Matrix, Tensor):
        parts = [value] if type(value) is Matrix else value
        return sum(len(M) * len(M[0]) for M in parts), max(M.bits for M in parts)
    if type(value) is Facts:
        return 3 * len(value), 0
    if type(value) is Sequences:
        return len(value) * len(value[0]), 0
    if type(value) is Associations:
        return len(value.targets) * (len(value.sequences[0]) + 1), 0
    if type(value) is Distribution:
        return len(value.prior) * (len(value.table[0]) + 1), value.table.bits
    return (len(value), 0) if type(value) in (Integers, str) else (1, 0)
