r"""Numbers, matrices and layers that a paper prints by name, so that none is typed.

``\lemmaxvalue{NAME}`` prints a whole certificate, ``\lemmaxvalue{NAME:PATH}`` one thing in it (such
as ``M``, ``rank`` or ``heads.0.W_Q``: the end of its path, as far as it is needed), and
``\lemmaxvalue{count:holds}`` how many statements of the paper have that verdict (``count:claims``:
how many there are). A certificate lies in the paper's folder of certificates or ships with lemmax,
and the independent checker must accept it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from lemmax import checker
from lemmax.constructions import shipped
from lemmax.paper.errors import PaperError
from lemmax.paper.statements import Mention
from lemmax.theory.certificates.arrays import Array, exact_arrays, shape, short_name
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.latex import dotted, latex_matrix, latex_number, latex_text

_LONGEST = 12


def value_latex(mention: Mention, folder: Path, counts: Mapping[str, int]) -> str:
    """The mathematics that stands for a name."""
    name, _, path = mention.name.partition(":")
    if name == "count":
        if path not in counts:
            raise PaperError(mention.place, f"There is no count of {path!r}.")
        return str(counts[path])
    certificate = _certificate(mention, name, folder)
    if not path:
        return certificate.formula()
    arrays = exact_arrays(certificate)
    named = {short_name(full): array for full, array in arrays.items()} | arrays
    if path in named:
        return array_latex(named[path])
    ending = [full for full in arrays if full.endswith(f".{path}")]
    if len(ending) > 1:
        told = ", ".join(map(short_name, ending[:_LONGEST]))
        raise PaperError(mention.place, f"{path!r} may be {told} of {name}: say more of it.")
    if ending:
        return array_latex(arrays[ending[0]])
    text = _text(certificate, path.split("."))
    if text is None:
        known = ", ".join(list(map(short_name, arrays))[:_LONGEST])
        raise PaperError(
            mention.place, f"The certificate {name} has nothing called {path!r}; it has {known}."
        )
    return rf"\text{{\texttt{{{typewriter(text)}}}}}"


def typewriter(text: str) -> str:
    r"""A text for ``\texttt``, which has the comparison signs that other fonts lack.

    >>> typewriter("rank(M) <= 2")
    'rank(M) <= 2'
    """
    return latex_text(text).replace(r"\textless{}", "<").replace(r"\textgreater{}", ">")


def array_latex(array: Array) -> str:
    r"""A number, a vector, a matrix, or the slices of a tensor.

    >>> array_latex([Fraction(1), Fraction(1, 2)])
    '\\left(1, \\tfrac{1}{2}\\right)'
    """
    if isinstance(array, Fraction):
        return latex_number(array)
    depth = len(shape(array))
    if depth == 1:
        entries = [latex_number(x) for x in array if isinstance(x, Fraction)]
        return r"\left(" + ", ".join(dotted(entries, _LONGEST, r"\dots")) + r"\right)"
    if depth == 2:
        rows = [row for row in array if isinstance(row, list)]
        return latex_matrix(
            [[latex_number(x) for x in row if isinstance(x, Fraction)] for row in rows]
        )
    return r",\ ".join(dotted([array_latex(inner) for inner in array], 5, r"\dots"))


def _certificate(mention: Mention, name: str, folder: Path) -> Certificate:
    own = (folder / f"{name}.json").resolve()
    if own.is_relative_to(folder.resolve()) and own.is_file():
        return _checked(own, None)
    if name in shipped.names():
        return _checked(shipped.path(name), shipped.load(name).claim)
    raise PaperError(
        mention.place,
        f"There is no certificate {name!r}, neither in {folder.name} nor shipped with lemmax.",
    )


@lru_cache(maxsize=64)
def _checked(path: Path, claim: str | None) -> Certificate:
    try:
        verdict = checker.check_file(path)
    except checker.NotACertificate as error:
        raise PaperError(path.name, f"This is not a certificate: {error}") from None
    if not verdict.holds:
        raise PaperError(path.name, f"The certificate does not hold: {verdict.steps[-1]}")
    return Certificate(json.loads(path.read_text(encoding="utf-8")), claim)


def _text(value: Any, path: list[str]) -> str | None:
    """A text inside of nested tables and lists."""
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value if isinstance(value, str) else None
