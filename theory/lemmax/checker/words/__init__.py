"""The words of the language: one module per subject, and the register ``VOCABULARY``.

A word is called by the evaluator, which charges for reading every entry of its arguments and for a
result of that size. Whatever costs more is done by primitives, which charge for themselves.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..language.sorts import SORTS
from . import (
    contexts,
    databases,
    distributions,
    layers,
    logic,
    matrices,
    scalars,
    tensors,
    transformers,
)


class Word(NamedTuple):
    """How a function of the language is called, what it means, and the sorts that it takes."""

    call: str
    meaning: str
    sorts: tuple[type, ...]
    repeats: bool  # the last sort, any number of times
    function: Callable[..., Any]
    logical: bool  # takes undecided truths
    evident: bool  # is given the evidence of the certificate as a last argument


_OBJECTS = (tensors, databases, layers, transformers, distributions, contexts)
_MODULES = (logic, scalars, matrices, *_OBJECTS)
VOCABULARY: dict[str, list[Word]] = {}
for _module in _MODULES:
    _evident = getattr(_module, "EVIDENT", {})
    for _text, _function in {**_module.WORDS, **_evident}.items():
        _call, _, _meaning = _text.partition("  ")
        _name, _, _taken = _call.rstrip(")").partition("(")
        _sorts = tuple(SORTS[sort] for sort in _taken.split(", ") if sort != "...")
        _logical, _asks = _module is logic, _text in _evident
        _word = Word(_call, _meaning, _sorts, "..." in _taken, _function, _logical, _asks)
        VOCABULARY.setdefault(_name, []).append(_word)
