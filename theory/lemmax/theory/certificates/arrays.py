"""The exact arrays inside a certificate, and how a paper shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from lemmax.theory.latex import dotted, latex_matrix, latex_number, latex_text, weights

Array: TypeAlias = "Fraction | list[Array]"

_NUMBER = re.compile(
    r"(?P<decimal>-?[0-9]+(?:/[0-9]+)?)|(?P<mantissa>-?0x[0-9a-f]+)(?:p(?P<exponent>-?[0-9]+))?"
)
_WORDS = frozenset(("format", "version", "kind", "claim", "statement", "note", "tokens", "unit"))
_WITNESS = frozenset(("lower", "upper", "facts", "proof"))  # what convinces a checker, not a reader
_ROWS, _COLUMNS, _PAGE = 7, 9, 18


def exact_arrays(certificate: Mapping[str, Any]) -> dict[str, Array]:
    """Every number, vector, matrix and tensor of a certificate, under its path.

    >>> from lemmax.theory import certified_rank
    >>> arrays = exact_arrays(certified_rank([[1, 2], [2, 4]]).certificate())
    >>> arrays["matrix"], arrays["rank"]
    ([[Fraction(1, 1), Fraction(2, 1)], [Fraction(2, 1), Fraction(4, 1)]], Fraction(1, 1))
    """
    return dict(_walk(certificate, ()))


def _walk(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Array]]:
    if path and path[-1] in _WORDS:
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


# -- LaTeX -------------------------------------------------------------------------------------


def certificate_formula(certificate: Mapping[str, Any]) -> str:
    """The objects of a certificate below each other, and what a refutation says of them."""
    objects: list[str] = []
    heads: dict[int, dict[str, str]] = {}
    for path, array in shown(certificate).items():
        short = short_name(path)
        weight = re.fullmatch(r"heads\.(\d+)\.(W_[QKVO])", short)
        if weight:
            heads.setdefault(int(weight[1]), {})[weight[2]] = _latex(array)
        else:
            objects.append(rf"{_symbol(short)} &= {_latex(array)}")
    said: list[str] = []
    statement = certificate.get("statement")
    if isinstance(statement, dict):
        for hypothesis in statement.get("hypotheses", ()):
            said.append(rf"\text{{although }} & \texttt{{{latex_text(hypothesis)}}}")
        conclusion = latex_text(str(statement.get("conclusion", "")))
        said.append(rf"\text{{false: }} & \texttt{{{conclusion}}}")
    return weights(_fitting(objects), [heads[h] for h in sorted(heads)], last=said)


def _fitting(lines: list[str]) -> list[str]:
    """As many lines as fit on a page, and how many are left to the certificate."""
    height = 0
    for count, line in enumerate(lines):
        height += 1 + line.count(r" \\ ")
        if height > _PAGE:
            rest = len(lines) - count
            return [*lines[:count], rf"& \text{{and {rest} more in the certificate}}"]
    return lines


def _symbol(name: str) -> str:
    plain = re.fullmatch(r"([A-Za-z])(?:_([A-Za-z0-9]))?", name)
    if plain:
        return name
    return rf"\texttt{{{latex_text(name)}}}"


def _latex(array: Array) -> str:
    if isinstance(array, Fraction):
        return latex_number(array)
    depth = len(shape(array))
    if depth == 1:
        entries = [latex_number(x) for x in array if isinstance(x, Fraction)]
        return r"\left(" + ", ".join(dotted(entries, _COLUMNS, r"\dots")) + r"\right)"
    if depth == 2:
        rows = [row for row in array if isinstance(row, list)]
        cells = [[latex_number(x) for x in row if isinstance(x, Fraction)] for row in rows]
        return latex_matrix(cells, _ROWS, _COLUMNS)
    return r",\ ".join(dotted([_latex(inner) for inner in array], 5, r"\dots"))
