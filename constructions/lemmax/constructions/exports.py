"""Layers and certificates in the formats that papers and other programs read."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import fmpq

import lemmax.theory.claims
from lemmax.theory.attention import AttentionLayer
from lemmax.theory.certificates import Certificate, sha256
from lemmax.theory.database import latex_text
from lemmax.theory.errors import LemmaxError
from lemmax.theory.exact import latex_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Array: TypeAlias = "Fraction | list[Array]"

REFERENCES = Path(lemmax.theory.claims.__file__).with_name("references.bib")

_NUMBER = re.compile(
    r"(?P<decimal>-?[0-9]+(?:/[0-9]+)?)|(?P<mantissa>-?0x[0-9a-f]+)(?:p(?P<exponent>-?[0-9]+))?"
)
_WORDS = frozenset(("format", "version", "kind", "claim", "statement", "note", "tokens", "unit"))
_WITNESS = frozenset(("lower", "upper", "facts", "proof"))  # what convinces a checker, not a reader
_ROWS, _COLUMNS, _DIGITS, _HEADS, _PAGE = 7, 9, 24, 3, 18


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.partial")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, target)
    except OSError as error:
        raise LemmaxError(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_safetensors(layer: AttentionLayer, path: str | Path) -> None:
    """The weights as float64 tensors; the metadata lists the tokens as JSON.

    Written whole or not at all.
    """
    metadata = {"format": "lemmax-layer", "tokens": json.dumps([str(t) for t in layer.tokens])}
    write_bytes(path, _safetensors(layer.to_numpy(), metadata))


def _safetensors(arrays: Mapping[str, NDArray[Any]], metadata: dict[str, str]) -> bytes:
    try:
        from safetensors.numpy import save
    except ImportError:
        raise LemmaxError("Writing safetensors needs the extra lemmax[torch].") from None
    return bytes(save({name: array.copy() for name, array in arrays.items()}, metadata))


# -- the exact arrays of a certificate ---------------------------------------------------------


def exact_arrays(certificate: Certificate) -> dict[str, Array]:
    """Every number, vector, matrix and tensor of a certificate, under its path.

    >>> from lemmax.theory import certified_rank
    >>> found = exact_arrays(certified_rank([[1, 2], [2, 4]]).certificate())
    >>> found["matrix"], found["rank"]
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
    found = [item for item in items if item is not None]
    if len(found) < len(items) or len({_shape(item) for item in found}) > 1:
        return None
    return found


def _number(text: str) -> Fraction | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if match["decimal"] is not None:
        return Fraction(match["decimal"])
    exponent = int(match["exponent"] or 0)
    return Fraction(int(match["mantissa"], 16)) * Fraction(2) ** exponent


def _shape(array: Array) -> tuple[int, ...]:
    return (len(array), *_shape(array[0])) if isinstance(array, list) else ()


def _shown(certificate: Certificate) -> dict[str, Array]:
    """What a reader wants to see: the objects, not the witnesses of the bounds."""
    kept = {name: value for name, value in certificate.items() if name not in _WITNESS}
    return exact_arrays(kept)


def _short(path: str) -> str:
    """The path without the words that say nothing in a paper.

    >>> _short("layer.heads.0.W_Q"), _short("instance.M")
    ('heads.0.W_Q', 'M')
    """
    for prefix in ("instance.layer.", "instance.", "layer."):
        if path.startswith(prefix):
            return path.removeprefix(prefix)
    return path


# -- LaTeX -------------------------------------------------------------------------------------


def display(body: str, label: str, comments: Sequence[str] = ()) -> str:
    r"""Mathematics as a numbered display that fits its column; needs amsmath and graphicx.

    ``body`` is what an object's ``to_latex()`` returns.

    >>> print(display("x = 1", "lemmax:x"))
    \begin{equation}\label{lemmax:x}
    \resizebox{\ifdim\width>0.88\columnwidth 0.88\columnwidth\else\width\fi}{!}{$\displaystyle
    x = 1
    $}
    \end{equation}
    """
    lines = [f"% {comment}" for comment in comments]
    lines += [
        rf"\begin{{equation}}\label{{{label}}}",
        r"\resizebox{\ifdim\width>0.88\columnwidth 0.88\columnwidth\else\width\fi}{!}"
        r"{$\displaystyle",
        body,
        "$}",
        r"\end{equation}",
    ]
    return "\n".join(lines)


def certificate_latex(certificate: Certificate, name: str | None = None) -> str:
    """The objects of a certificate as one display with a label, the claim's id and a digest.

    Large matrices are shortened with dots and long numbers rounded: the certificate has them whole.
    """
    title = name or certificate.get("claim") or certificate["kind"]
    lines: list[str] = []
    heads: dict[int, dict[str, str]] = {}
    for path, array in _shown(certificate).items():
        short = _short(path)
        weight = re.fullmatch(r"heads\.(\d+)\.W_([QKVO])", short)
        if weight:
            heads.setdefault(int(weight[1]), {})[weight[2]] = _latex(array)
        else:
            lines.append(rf"{_symbol(short)} &= {_latex(array)}")
    lines = _fitting(lines)
    for number, weights in sorted(heads.items())[:_HEADS]:
        told = [
            rf"W_{x}^{{{number + 1}}} = {weights[x]}" for x in ("Q", "K", "V", "O") if x in weights
        ]
        lines.append("& " + r",\ ".join(told))
    if len(heads) > _HEADS:
        lines.append(rf"& \text{{and {len(heads) - _HEADS} more heads}}")
    statement = certificate.get("statement")
    if isinstance(statement, dict):
        for hypothesis in statement.get("hypotheses", ()):
            lines.append(rf"\text{{although }} & \texttt{{{latex_text(hypothesis)}}}")
        conclusion = latex_text(str(statement.get("conclusion", "")))
        lines.append(rf"\text{{false: }} & \texttt{{{conclusion}}}")
    body = "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"
    comments = [
        f"lemmax {title}: a certificate of kind {certificate['kind']}",
        f"sha256 {sha256(certificate)}",
        "re-check it with: python3 checker.py CERTIFICATE.json",
        "needs the packages amsmath and graphicx",
    ]
    return display(body, f"lemmax:{title}", comments)


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
    shape = _shape(array)
    if isinstance(array, Fraction):
        return _latex_number(array)
    if len(shape) == 1:
        entries = [_latex_number(x) for x in array if isinstance(x, Fraction)]
        return r"\left(" + ", ".join(_dotted(entries, _COLUMNS, r"\dots")) + r"\right)"
    if len(shape) == 2:
        return _latex_matrix(array)
    slices = [_latex(inner) for inner in array]
    return r",\ ".join(_dotted(slices, 5, r"\dots"))


def _latex_matrix(rows: list[Array]) -> str:
    cells = [
        _dotted([_latex_number(x) for x in row if isinstance(x, Fraction)], _COLUMNS, r"\cdots")
        for row in rows
        if isinstance(row, list)
    ]
    dots = [[r"\vdots"] * len(cells[0])]
    kept = cells if len(cells) <= _ROWS else [*cells[: _ROWS - 2], *dots, cells[-1]]
    body = r" \\ ".join(" & ".join(row) for row in kept)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _dotted(items: list[str], most: int, dots: str) -> list[str]:
    return items if len(items) <= most else [*items[: most - 2], dots, items[-1]]


def _latex_number(value: Fraction) -> str:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= 3.3 * _DIGITS:
        return latex_number(fmpq(value.numerator, value.denominator))
    sign, size = ("-" if value < 0 else ""), abs(value)
    exponent = 0
    if size:
        exponent = (size.numerator.bit_length() - size.denominator.bit_length()) * 30103 // 100000
        while size >= Fraction(10) ** (exponent + 1):
            exponent += 1
        while size < Fraction(10) ** exponent:
            exponent -= 1
    leading = round(size / Fraction(10) ** exponent * 100)
    mantissa = f"{leading // 100}.{leading % 100:02d}"
    return rf"{sign}{mantissa}{{\cdot}}10^{{{exponent}}}"


# -- sympy, arrays, BibTeX ---------------------------------------------------------------------


def certificate_sympy(certificate: Certificate) -> str:
    """The objects of a certificate as a Python file with exact sympy matrices.

    >>> from lemmax.theory import certified_rank
    >>> print(certificate_sympy(certified_rank([[1, "1/2"]]).certificate()))
    from sympy import Array, Matrix, Rational
    <BLANKLINE>
    matrix = Matrix([[1, Rational(1, 2)]])
    rank = 1
    """
    lines = ["from sympy import Array, Matrix, Rational", ""]
    for path, array in _shown(certificate).items():
        name = re.sub(r"\W", "_", _short(path))
        depth = len(_shape(array))
        wrapped = f"Matrix({_sympy(array)})" if depth in (1, 2) else _sympy(array)
        lines.append(f"{name} = {f'Array({wrapped})' if depth > 2 else wrapped}")
    return "\n".join(lines)


def _sympy(array: Array) -> str:
    if isinstance(array, list):
        return "[" + ", ".join(map(_sympy, array)) + "]"
    # Python refuses to read very long decimals, but not hexadecimals.
    p, q = (str(n) if n.bit_length() < 10_000 else hex(n) for n in array.as_integer_ratio())
    return p if q == "1" else f"Rational({p}, {q})"


def float_arrays(certificate: Certificate) -> dict[str, NDArray[np.float64]]:
    """The objects of a certificate as float64 arrays, each entry rounded once."""
    import numpy as np

    def nested(array: Array) -> Any:
        return [nested(x) for x in array] if isinstance(array, list) else float(array)

    kept = {n: v for n, v in certificate.items() if n not in ("lower", "upper")}
    try:
        return {
            _short(path): np.array(nested(array), dtype=np.float64)
            for path, array in exact_arrays(kept).items()
        }
    except OverflowError:
        raise LemmaxError("A number of this certificate is too large for float64.") from None


def certificate_npz(certificate: Certificate) -> bytes:
    """A NumPy archive of :func:`float_arrays`."""
    import numpy as np

    stream = io.BytesIO()
    np.savez(stream, **float_arrays(certificate))  # type: ignore[arg-type]
    return stream.getvalue()


def certificate_safetensors(certificate: Certificate) -> bytes:
    """The same arrays as safetensors; the metadata names the kind, the claim and the tokens."""
    metadata = {"format": "lemmax-certificate", "kind": str(certificate["kind"])}
    if "claim" in certificate:
        metadata["claim"] = str(certificate["claim"])
    tokens = certificate.get("layer", {}).get("tokens")
    if tokens:
        metadata["tokens"] = json.dumps(tokens)
    return _safetensors(float_arrays(certificate), metadata)


def bibtex(*keys: str) -> str:
    """The BibTeX entries of the papers and of lemmax; all of them without a key.

    >>> print(bibtex("lemmax").splitlines()[0])
    @misc{lemmax,
    """
    entries = {}
    for text in REFERENCES.read_text(encoding="utf-8").strip().split("\n\n"):
        entries[text.partition("{")[2].partition(",")[0]] = text
    return "\n\n".join(entries[key] for key in keys or entries)
