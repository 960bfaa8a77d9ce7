"""Layer files: a compiled layer as its certificate or as float64 weights, and back."""

from __future__ import annotations

import json
from pathlib import Path

from lemmax.constructions.compiler.compiling import CompiledDatabase
from lemmax.theory.certificates.writing import sha256, write_certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head


def save(compiled: CompiledDatabase, path: str | Path) -> None:
    """Write a compiled layer: ``.json`` is its certificate, ``.safetensors`` its float64 weights.

    The JSON file is a memorization certificate as it is, so the checker reads it; its note holds
    a digest by which :func:`load_layer` notices an edited file.
    """
    path = Path(path)
    if path.suffix == ".json":
        certificate = compiled.certificate()
        write_certificate(path, {**certificate, "note": f"sha256 {sha256(certificate)}"})
    elif path.suffix == ".safetensors":
        from lemmax.constructions.exports import write_safetensors

        write_safetensors(compiled.layer, path)
    else:
        raise LemmaxError(f"{path}: a layer is written as .json or .safetensors.")


def load_layer(path: str | Path) -> AttentionLayer:
    """Read the layer of a file that :func:`save` wrote; refuse one that was cut or edited."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise LemmaxError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise LemmaxError(f"{path} is not a layer file: it is cut short or not JSON.") from None
    if not isinstance(document, dict) or document.get("kind") != "memorization":
        raise LemmaxError(f"{path} is not a layer file.")
    note = document.pop("note", "")
    if note != f"sha256 {sha256(document)}":
        raise LemmaxError(f"{path} was edited: its contents do not match its digest.")
    fields = document["layer"]
    return AttentionLayer(
        tuple(fields["tokens"]),
        Matrix(fields["W_E"]),
        Matrix(fields["W_U"]),
        tuple(
            Head(**{name: Matrix(rows) for name, rows in head.items()}) for head in fields["heads"]
        ),
        fields["unit"],
    )
