"""Layers by codes as files: arrays in the safetensors format, and a certificate beside them.

A safetensors file is eight bytes of length, a JSON header and the raw arrays; it is written here
without a library, so that a million facts cost no more memory than their arrays.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lemmax.constructions.compiler.deciding import bits
from lemmax.theory.certificates.writing import Certificate, certificate, number, write_certificate
from lemmax.theory.errors import LemmaxError

if TYPE_CHECKING:
    from lemmax.constructions.compiler.coded import CompiledByCodes

_TYPES = {"bfloat16": "BF16", "float16": "F16", "float32": "F32"}

LARGEST_INSIDE = 299_000
"""Bytes of arrays that a certificate carries inside itself; larger ones stand in a file."""


def tensors(compiled: CompiledByCodes) -> dict[str, tuple[str, NDArray[Any]]]:
    """What a file holds: the weights in their format, facts, predicates and tokens."""
    coded = compiled.coded
    names = [str(token) for token in coded.tokens]
    if len(set(names)) != len(names):
        raise LemmaxError("Two tokens of the layer are written alike.")
    text = json.dumps(names, ensure_ascii=False, separators=(",", ":")).encode()
    kind = _TYPES[coded.arithmetic.weights.name]
    weights = {
        name: (kind, bits(array, coded.arithmetic.weights))
        for name, array in coded.weights().items()
    }
    return weights | {
        "facts": ("I32", compiled.facts.astype("<i4")),
        "queries": ("I32", np.array(coded.queries, dtype="<i4")),
        "tokens": ("U8", np.frombuffer(text, dtype=np.uint8)),
    }


def safetensors(arrays: Mapping[str, tuple[str, NDArray[Any]]]) -> list[bytes | memoryview]:
    """The pieces of a safetensors file, in order."""
    header: dict[str, Any] = {}
    end = 0
    for name, (kind, array) in arrays.items():
        start, end = end, end + array.nbytes
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    raw = [np.ascontiguousarray(array).data.cast("B") for _, array in arrays.values()]
    return [len(text).to_bytes(8, "little"), text, *raw]


def _fields(compiled: CompiledByCodes, arrays: dict[str, Any]) -> Certificate:
    coded = compiled.coded
    fields: dict[str, Any] = {
        "arithmetic": {
            "weights": coded.arithmetic.weights.name,
            "accumulate": coded.arithmetic.accumulate.name,
            "logits": coded.arithmetic.logits.name,
        },
        "code": {
            "family": coded.code.family,
            "coordinates": coded.code.coordinates,
            "intercepts": coded.code.intercepts,
            "factor": coded.unembedding_scale,
        },
        "arrays": arrays,
        "facts": len(compiled.facts),
    }
    if compiled.tau is not None:
        fields["tau"] = number(compiled.tau)
    return certificate("float-memorization", fields)


def float_certificate(compiled: CompiledByCodes) -> Certificate:
    """A ``float-memorization`` certificate with its arrays inside, as base64."""
    data = b"".join(safetensors(tensors(compiled)))
    if len(data) > LARGEST_INSIDE:
        raise LemmaxError(
            f"The arrays take {len(data)} bytes: save the layer, which writes them beside it."
        )
    return _fields(compiled, {"base64": base64.b64encode(data).decode()})


def save_coded(compiled: CompiledByCodes, path: str | Path) -> None:
    """Write ``NAME.json``, the certificate, and beside it ``NAME.safetensors``, its arrays.

    The arrays come first and are moved to their place whole; the certificate carries their SHA-256.
    """
    path = Path(path)
    target = path.with_suffix(".safetensors")
    temporary = target.with_name(f".{target.name}.partial")
    digest, size = hashlib.sha256(), 0
    try:
        with open(temporary, "wb") as file:
            for piece in safetensors(tensors(compiled)):
                digest.update(piece)
                size += file.write(piece)
        os.replace(temporary, target)
    except OSError as error:
        raise LemmaxError(f"{target} cannot be written: {error.strerror}.") from None
    finally:
        temporary.unlink(missing_ok=True)
    arrays = {"file": target.name, "sha256": digest.hexdigest(), "bytes": size}
    write_certificate(path, _fields(compiled, arrays))
