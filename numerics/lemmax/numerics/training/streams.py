"""Canonical text of plain data, and random streams that depend on the names given to them alone."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np


def canonical(data: Any) -> str:
    """The canonical JSON text of plain data: sorted names, no spaces.

    >>> canonical({"b": (1, 2), "a": 0.1})
    '{"a":0.1,"b":[1,2]}'
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def stream(*names: object) -> np.random.Generator:
    """The random stream that the names denote; other names give an independent one.

    >>> bool(stream("init", 1).random() == stream("init", 1).random())
    True
    """
    digest = hashlib.sha256(canonical([str(name) for name in names]).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))
