"""Layers in the formats that other programs read."""

from __future__ import annotations

import json
import os
from pathlib import Path

from lemmax.theory.attention import AttentionLayer
from lemmax.theory.errors import LemmaxError


def write_safetensors(layer: AttentionLayer, path: str | Path) -> None:
    """The weights as float64 tensors; the metadata lists the tokens as JSON.

    Written whole or not at all.
    """
    try:
        from safetensors.numpy import save
    except ImportError:
        raise LemmaxError("Writing safetensors needs the extra lemmax[torch].") from None
    metadata = {"format": "lemmax-layer", "tokens": json.dumps([str(t) for t in layer.tokens])}
    data = save({name: array.copy() for name, array in layer.to_numpy().items()}, metadata)
    target = Path(path)
    temporary = target.with_name(f".{target.name}.partial")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
