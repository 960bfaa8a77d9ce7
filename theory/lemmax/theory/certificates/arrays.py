"""The exact arrays inside a certificate, under their paths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

Array: TypeAlias = "Fraction | list[Array]"

_NUMBER = re.compile(
    r"(?P<decimal>-?[0-9]+(?:/[0-9]+)?)|(?P<mantissa>-?0x[0-9a-f]+)(?:p(?P<exponent>-?[0-9]+))?"
)
_WORDS = frozenset(("format", "version", "kind", "claim", "statement", "note", "tokens", "unit"))
# what convinces a checker, not a reader
_WITNESS = frozenset(("lower", "upper", "facts", "proof", "evidence"))


def exact_arrays(certificate: Mapping[str, Any]) -> dict[str, Array]:
    """Every number, vector, matrix and tensor of a certificate, under its path.

    >>> from lemmax.theory import certified_rank
    >>> arrays = exact_arrays(certified_rank([[1, 2], [2, 4]]).certificate())
    >>> arrays["matrix"], arrays["rank"]
    ([[Fraction(1, 1), Fraction(2, 1)], [Fraction(2, 1), Fraction(4, 1)]], Fraction(1, 1))
    """
    return dict(_walk(certificate, ()))


def _walk(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Array]]:
    if path and (path[-1] in _WORDS or (path[-1] == "facts" and tokens_of_facts(value))):
        return
    array = _array(value)
    if array is not None:
        yield ".".join(path), array
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _walk(inner, (*path, str(number)))


def tokens_of_facts(value: Any) -> bool:
    """Whether these are facts that name their tokens, as numerals perhaps; others have indices."""
    facts = value if isinstance(value, list) else []
    return any(isinstance(token, str) for fact in facts if isinstance(fact, list) for token in fact)


def _array(value: Any) -> Array | None:
    """A number, or nested lists of numbers of one shape; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Fraction(value)
    if isinstance(value, str):
        return _number(value)
    if not isinstance(value, list) or not value:
        return None
    items = [_array(item) for item in value]
    known = [item for item in items if item is not None]
    if len(known) < len(items) or len({shape(item) for item in known}) > 1:
        return None
    return known


def _number(text: str) -> Fraction | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if match["decimal"] is not None:
        return Fraction(match["decimal"])
    exponent = int(match["exponent"] or 0)
    return Fraction(int(match["mantissa"], 16)) * Fraction(2) ** exponent


def shape(array: Array) -> tuple[int, ...]:
    """How many items at each depth."""
    return (len(array), *shape(array[0])) if isinstance(array, list) else ()


def shown(certificate: Mapping[str, Any]) -> dict[str, Array]:
    """What a reader wants to see: the objects, not the witnesses of the bounds."""
    kept = {name: value for name, value in certificate.items() if name not in _WITNESS}
    return exact_arrays(kept)


def short_name(path: str) -> str:
    """The path without the words that say nothing in a paper.

    >>> short_name("layer.heads.0.W_Q"), short_name("instance.M")
    ('heads.0.W_Q', 'M')
    """
    for prefix in ("instance.layer.", "instance.", "layer."):
        if path.startswith(prefix):
            return path.removeprefix(prefix)
    return path
