"""Layers by codes as files: arrays in the safetensors format, and a certificate beside them.

A safetensors file is eight bytes of length, a JSON header and the raw arrays; it is written here
without a library, so that a million facts cost no more memory than their arrays.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lemmax import checker
from lemmax.constructions.compiler.answers import Recall
from lemmax.constructions.compiler.coded.by_codes import LARGEST_EXACT
from lemmax.constructions.compiler.coded.deciding import bits
from lemmax.constructions.compiler.coded.recalling import part_of, recall_from_arrays
from lemmax.theory.certificates.writing import Certificate, certificate, number, write_certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_pieces
from lemmax.theory.wong.layer import AttentionLayer

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


@dataclass(frozen=True)
class StoredLayer:
    """A layer by codes as its files keep it: tokens, weights in doubles, facts by their numbers."""

    path: Path
    tokens: list[str]
    weights: dict[str, NDArray[np.float64]]
    facts: NDArray[np.int32]

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each token."""
        return {token: i for i, token in enumerate(self.tokens)}

    @cached_property
    def layer(self) -> AttentionLayer:
        """The layer as rational matrices; refused where they would be too large."""
        if self.weights["W_E"].size > LARGEST_EXACT:
            raise LemmaxError(
                f"{self.path} is kept as arrays: its layer is too large for rational matrices."
            )
        return part_of(self.tokens, range(len(self.tokens)), self.weights)

    def recall(self, key: str, query: str) -> Recall:
        """The answer over the reals, in time linear in the vocabulary."""
        return recall_from_arrays(self.tokens, self.index, self.weights, key, query)

    def is_fact(self, key: str, query: str) -> bool:
        """Whether the certificate is about this subject and predicate."""
        asked = [self.index.get(key, -1), self.index.get(query, -1)]
        return bool((self.facts[:, :2] == asked).all(axis=1).any())


def load_coded(path: str | Path) -> StoredLayer:
    """The layer of a ``float-memorization`` certificate that the checker accepts.

    Cost: the checker's, and reading the arrays once: a million facts take some seconds.
    """
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

    def raw(name: str) -> bytes:
        low, high = header[name]["data_offsets"]
        return data[start + low : start + high]

    def array(name: str) -> NDArray[np.float64]:
        kind = header[name]["dtype"]
        if kind == "BF16":  # the upper half of a float32
            floats = (np.frombuffer(raw(name), "<u2").astype("<u4") << 16).view("<f4")
        else:
            floats = np.frombuffer(raw(name), "<f2" if kind == "F16" else "<f4")
        return floats.astype(np.float64).reshape(header[name]["shape"])

    weights = {name: array(name) for name in ("W_E", "W_U", "W_Q", "W_K", "W_V", "W_O")}
    facts = np.frombuffer(raw("facts"), "<i4").reshape(header["facts"]["shape"])
    return StoredLayer(Path(path), json.loads(raw("tokens")), weights, facts)
