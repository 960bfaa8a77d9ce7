"""Layers and certificates in the formats that papers and other programs read."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lemmax.theory.ledger.claims
from lemmax.theory.certificates.arrays import Array, exact_arrays, shape, short_name, shown
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_bytes as write_bytes
from lemmax.theory.wong.layer import AttentionLayer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REFERENCES = Path(lemmax.theory.ledger.claims.__file__).with_name("references.bib")


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


# -- certificates ------------------------------------------------------------------------------


def certificate_sympy(certificate: Mapping[str, Any]) -> str:
    """The objects of a certificate as a Python file with exact sympy matrices.

    >>> from lemmax.theory import certified_rank
    >>> print(certificate_sympy(certified_rank([[1, "1/2"]]).certificate()))
    from sympy import Array, Matrix, Rational
    <BLANKLINE>
    matrix = Matrix([[1, Rational(1, 2)]])
    rank = 1
    """
    lines = ["from sympy import Array, Matrix, Rational", ""]
    for path, array in shown(certificate).items():
        name = re.sub(r"\W", "_", short_name(path))
        depth = len(shape(array))
        wrapped = f"Matrix({_sympy(array)})" if depth in (1, 2) else _sympy(array)
        lines.append(f"{name} = {f'Array({wrapped})' if depth > 2 else wrapped}")
    return "\n".join(lines)


def _sympy(array: Array) -> str:
    if isinstance(array, list):
        return "[" + ", ".join(map(_sympy, array)) + "]"
    # Python refuses to read very long decimals, but not hexadecimals.
    p, q = (str(n) if n.bit_length() < 10_000 else hex(n) for n in array.as_integer_ratio())
    return p if q == "1" else f"Rational({p}, {q})"


def float_arrays(certificate: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """The objects of a certificate as float64 arrays, each entry rounded once."""
    import numpy as np

    def nested(array: Array) -> Any:
        return [nested(x) for x in array] if isinstance(array, list) else float(array)

    kept = {n: v for n, v in certificate.items() if n not in ("lower", "upper")}
    try:
        return {
            short_name(path): np.array(nested(array), dtype=np.float64)
            for path, array in exact_arrays(kept).items()
        }
    except OverflowError:
        raise LemmaxError("A number of this certificate is too large for float64.") from None


def certificate_npz(certificate: Mapping[str, Any]) -> bytes:
    """A NumPy archive of :func:`float_arrays`."""
    import numpy as np

    stream = io.BytesIO()
    np.savez(stream, **float_arrays(certificate))  # type: ignore[arg-type]
    return stream.getvalue()


def certificate_safetensors(certificate: Mapping[str, Any]) -> bytes:
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
