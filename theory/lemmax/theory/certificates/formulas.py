r"""Certificates as mathematics for a paper: what they are about, and what they say of it.

Every kind has the formula that the object in Python has; a refutation tells the value of each side.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from lemmax.theory.certificates.arrays import (
    Array,
    exact_arrays,
    shape,
    short_name,
    shown,
    tokens_of_facts,
)
from lemmax.theory.latex import (
    aligned,
    between,
    dotted,
    latex_facts,
    latex_matrix,
    latex_number,
    latex_text,
    weights,
)

_ROWS, _COLUMNS, _PAGE, _LINE = 7, 9, 18, 60
_TERMS, _ENTRIES = 6, 8  # terms of a decomposition that are shown, and entries of their vectors


def certificate_formula(certificate: Mapping[str, Any]) -> str:
    r"""What a certificate says, as one display.

    >>> from lemmax.theory import softmax_rank
    >>> print(certificate_formula(softmax_rank([[1, 2]]).certificate()))
    \operatorname{rank}\operatorname{softmax}\left(\begin{pmatrix} 1 & 2 \end{pmatrix}\right) = 1
    """
    match certificate.get("kind"):
        case "softmax-rank":
            scale = r"\ln 2 \cdot " if certificate.get("unit") == "ln2" else ""
            matrix = rf"\left({scale}{_named(certificate, 'logits')}\right)"
            rank = rf"\operatorname{{rank}}\operatorname{{softmax}}{matrix}"
            return f"{rank} = {certificate['rank']}"
        case "matrix-rank":
            matrix = _named(certificate, "matrix")
            return rf"\operatorname{{rank}}{matrix} = {certificate['rank']}"
        case "kruskal-rank":
            vectors = _named(certificate, "vectors")
            return rf"\operatorname{{krank}}{vectors} = {certificate['rank']}"
        case "tensor-rank":
            return _tensor_rank(certificate)
    return _objects(certificate)


def _named(certificate: Mapping[str, Any], field: str) -> str:
    return _latex(exact_arrays({field: certificate[field]})[field])


def _tensor_rank(certificate: Mapping[str, Any]) -> str:
    """The interval, and the terms of the decomposition where they are written out."""
    symbol = rf"\operatorname{{rank}}_{{\mathrm{{{certificate['field']}}}}}(D)"
    said = between(certificate["lower"], symbol, certificate["upper"])
    size = r" \times ".join(map(str, certificate["tensor"]["shape"]))
    lines = [rf"& {said}, \quad D \text{{ of size }} {size}"]
    terms = certificate.get("terms", [])
    if terms and not certificate.get("families") and not certificate.get("real"):
        shown_terms = [_term(term) for term in terms[:_TERMS]]
        if len(terms) > _TERMS:
            shown_terms.append(rf"\text{{{len(terms) - _TERMS} more terms}}")
        groups = [" + ".join(shown_terms[i : i + 3]) for i in range(0, len(shown_terms), 3)]
        lines += [f"D &= {groups[0]}", *(f"&+ {group}" for group in groups[1:])]
    return aligned(lines)


def _term(factors: Sequence[Sequence[str]]) -> str:
    columns = []
    for vector in factors:
        entries = exact_arrays({"v": list(vector)})["v"]
        assert isinstance(entries, list)
        cells = [[latex_number(x)] for x in entries if isinstance(x, Fraction)]
        columns.append(latex_matrix(cells, _ENTRIES))
    return r" \otimes ".join(columns)


def _both_values(certificate: Mapping[str, Any]) -> list[str]:
    """What the checker computed: the value of each side, hypotheses first."""
    from lemmax import checker

    try:
        verdict = checker.check(dict(certificate))
    except checker.NotACertificate:
        return []
    return [step.partition(": ")[2] for step in verdict.steps[1:]] if verdict.holds else []


def _objects(certificate: Mapping[str, Any]) -> str:
    """The objects of a certificate below each other, and what a refutation says of them."""
    objects: list[str] = []
    heads: dict[int, dict[str, str]] = {}
    for name, value in certificate.get("instance", {}).items():
        if isinstance(value, Mapping) and tokens_of_facts(value.get("facts")):
            objects.append(rf"{_symbol(name)} &= {latex_facts(value['facts'], _ROWS)}")
    for path, array in shown(certificate).items():
        short = short_name(path)
        weight = re.fullmatch(r"heads\.(\d+)\.(W_[QKVO])", short)
        if weight:
            heads.setdefault(int(weight[1]), {})[weight[2]] = _latex(array)
        else:
            objects.append(rf"{_symbol(short)} &= {_latex(array)}")
    said: list[str] = []
    statement = certificate.get("statement")
    if isinstance(statement, str):
        said += _said(statement, str(certificate.get("kind")))
        for text in _both_values(certificate)[-1:]:
            said += _lines("for ", text)
    if isinstance(statement, dict):
        hypotheses = list(statement.get("hypotheses", ()))
        conclusion = str(statement.get("conclusion", ""))
        told = _both_values(certificate)
        for place, text in enumerate(hypotheses):
            value = told[place] if len(told) == len(hypotheses) + 1 else text
            said.append(rf"\text{{although }} & \texttt{{{latex_text(value)}}}")
        said.append(rf"\text{{false: }} & \texttt{{{latex_text(conclusion)}}}")
        if told:
            said.append(rf"\text{{for }} & \texttt{{{latex_text(told[-1])}}}")
    return weights(_fitting(objects), [heads[h] for h in sorted(heads)], last=said)


def _said(statement: str, kind: str) -> list[str]:
    """What a formal statement defines, assumes and concludes of the objects, in short lines."""
    refuted = kind == "refutation"
    words = {
        "let": "let ",
        "assume": "although " if refuted else "since ",
        "conclude": "false: " if refuted else "true: ",
    }
    lines = []
    for clause in statement.split("; ")[1:]:  # what is given is shown above
        word, _, rest = clause.partition(" ")
        for number, part in enumerate(rest.split(" and ")):
            lines += _lines(words[word] if number == 0 else "and ", part)
    return lines


def _lines(first: str, text: str) -> list[str]:
    pieces = textwrap.wrap(text, _LINE, break_on_hyphens=False)
    return [
        rf"\text{{{'' if number else first}}} & \texttt{{{latex_text(piece)}}}"
        for number, piece in enumerate(pieces)
    ]


def _fitting(lines: list[str]) -> list[str]:
    """As many lines as fit on a page, and how many are left to the certificate."""
    height = 0
    for count, line in enumerate(lines):
        height += 1 + line.count(r"\\")
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
