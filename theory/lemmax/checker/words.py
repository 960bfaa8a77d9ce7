"""The register of the words of the language, each with what it takes and what it means.

A word is called by the evaluator, which charges for reading every entry of its arguments and for a
result of that size. Whatever costs more is done by primitives, which charge for themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .layer_words import LAYER_WORDS
from .matrix_words import MATRIX_WORDS
from .values import sort_name


class Word(NamedTuple):
    """A function of the language: the sorts it takes ("..." repeats the last one), its meaning."""

    takes: tuple[Any, ...]
    meaning: str
    function: Callable[..., Any]


VOCABULARY: dict[str, list[Word]] = {}
for _name, _takes, _meaning, _function in (*MATRIX_WORDS, *LAYER_WORDS):
    VOCABULARY.setdefault(_name, []).append(Word(_takes, _meaning, _function))


def listed() -> list[tuple[str, str]]:
    """Every word as it is called, with its meaning."""
    return [
        (f"{name}({', '.join(map(sort_name, word.takes))})", word.meaning)
        for name, words in VOCABULARY.items()
        for word in words
    ]
