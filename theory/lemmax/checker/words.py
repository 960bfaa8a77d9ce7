"""The register of the words of the language.

A word is called by the evaluator, which charges for reading every entry of its arguments and for a
result of that size. Whatever costs more is done by primitives, which charge for themselves.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from .layer_words import LAYER_WORDS
from .matrix_words import MATRIX_WORDS
from .values import SORTS


class Word(NamedTuple):
    """How a function of the language is called, what it means, and the sorts that it takes."""

    call: str
    meaning: str
    sorts: tuple[type, ...]
    repeats: bool  # the last sort, any number of times
    function: Callable[..., Any]


VOCABULARY: dict[str, list[Word]] = {}
for _text, _function in {**MATRIX_WORDS, **LAYER_WORDS}.items():
    _call, _, _meaning = _text.partition("  ")
    _name, _, _taken = _call.rstrip(")").partition("(")
    _sorts = tuple(SORTS[sort] for sort in _taken.split(", ") if sort != "...")
    _word = Word(_call, _meaning, _sorts, "..." in _taken, _function)
    VOCABULARY.setdefault(_name, []).append(_word)
