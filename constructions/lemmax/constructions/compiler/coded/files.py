"""Layers by codes as files: arrays in the safetensors format, and a certificate beside them.

A safetensors file is eight bytes of length, a JSON header and the raw arrays; it is written here
without a library, so that a million facts cost no more memory than their arrays.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lemmax import checker
from lemmax.constructions.compiler.coded.by_codes import LARGEST_EXACT
from lemmax.constructions.compiler.coded.deciding import bits
from lemmax.theory.certificates.writing import Certificate, certificate, number, write_certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_pieces
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head

if TYPE_CHECKING:
    from lemmax.constructions.compiler.coded.compiled import CompiledByCodes

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
    if coded.arithmetic.residual.name != coded.arithmetic.weights.name:
        fields["arithmetic"]["residual"] = coded.arithmetic.residual.name
    if coded.code.family == "envelope":
        fields["code"]["shared"] = coded.code.shared
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
    pieces = safetensors(tensors(compiled))
    write_pieces(target, pieces)
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    size = sum(len(piece) for piece in pieces)
    arrays = {"file": target.name, "sha256": digest.hexdigest(), "bytes": size}
    write_certificate(path, _fields(compiled, arrays))


def load_coded(path: str | Path) -> AttentionLayer:
    """The layer of a ``float-memorization`` certificate that the checker accepts, as rationals."""
    try:
        verdict = checker.check_file(path)
    except checker.NotACertificate as error:
        raise LemmaxError(f"{path} is not a layer file: {error}") from None
    if not verdict.holds:
        raise LemmaxError(f"{path} was edited, or never held: {verdict.steps[-1].rstrip('.')}.")
    told = json.loads(Path(path).read_text(encoding="utf-8"))["arrays"]
    if "base64" in told:
        data = base64.b64decode(told["base64"])
    else:
        data = Path(path).with_name(told["file"]).read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    if int(np.prod(header["W_E"]["shape"])) > LARGEST_EXACT:
        raise LemmaxError(
            f"{path} is kept as arrays: its layer is too large for rational matrices."
        )

    def array(name: str) -> NDArray[Any]:
        entry = header[name]
        low, high = entry["data_offsets"]
        raw, kind = data[start + low : start + high], entry["dtype"]
        if kind == "BF16":  # the upper half of a float32
            floats = (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
        else:
            floats = np.frombuffer(raw, "<f2" if kind == "F16" else "<f4")
        return floats.astype(np.float64).reshape(entry["shape"])

    low, high = header["tokens"]["data_offsets"]
    stacks = (array(name) for name in ("W_Q", "W_K", "W_V", "W_O"))
    heads = [Head(*(Matrix(w, floats=True) for w in each)) for each in zip(*stacks, strict=True)]
    embedding, unembedding = (Matrix(array(name), floats=True) for name in ("W_E", "W_U"))
    return AttentionLayer(
        json.loads(data[start + low : start + high]), embedding, unembedding, heads
    )
