"""The values that a statement speaks about: numbers, matrices, tensors, facts, layers, contexts."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .attention import Layer, layer
from .contexts import MultiHead, multi_head
from .limits import refuse
from .reading import (
    Integers,
    Matrix,
    Tensor,
    choice,
    integer,
    items,
    matrix,
    no_repeated_question,
    number,
    tensor_value,
    triples,
)


class Facts(tuple[tuple[str, str, str], ...]):
    """Triples (key, query, value) of token names, no (key, query) twice."""


class Softmax(tuple[Matrix]):
    """The row-wise softmax of a matrix of rational logits, which is not computed."""


SORTS: dict[str, type] = {  # by the names that statements give them
    "rational": Fraction,
    "matrix": Matrix,
    "tensor": Tensor,
    "integers": Integers,
    "database": Facts,
    "layer": Layer,
    "contexts": MultiHead,
    "softmax": Softmax,
    "truth": bool,
}


def facts_value(value: object, where: str) -> Facts:
    facts = Facts((k, q, v) for k, q, v in triples(value, where))
    if any(type(name) is not str or not name for fact in facts for name in fact):
        refuse(where, "must consist of token names")
    no_repeated_question(facts, where)
    return facts


def integers_value(value: object, where: str) -> Integers:
    return Integers(integer(x, where) for x in items(value, where))


READERS: dict[str, Callable[[object, str], Any]] = {
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
    return READERS[choice(kind, f"The kind of {where}", tuple(READERS))](value, where)
