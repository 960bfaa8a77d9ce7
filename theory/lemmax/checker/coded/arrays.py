"""Files of arrays in the safetensors format: a length, a JSON header, and the raw numbers."""

import base64
import binascii
import hashlib
import json
import os
import re
import sys
from array import array
from typing import Any, NamedTuple

from ..files import FOLDER, contents
from ..limits import LIMITS, brief, keep, refuse, spend
from ..reading import fields, integer

_FLOATS = {"BF16": ("H", 2), "F16": ("H", 2), "F32": ("I", 4), "F64": ("Q", 8)}
_CODES = _FLOATS | {"I32": ("i", 4), "U8": ("B", 1)}
NAMES = {"BF16": "bfloat16", "F16": "float16", "F32": "float32"}


class Table(NamedTuple):
    """The entries of an array, row by row, its type and its shape."""

    kind: str
    shape: tuple[int, ...]
    entries: "array[int]"


def tables(value: object, names: str | None = None) -> dict[str, Table]:
    """The arrays, inside the certificate as base64 or in a file of known digest beside it.

    They have exactly the names that are given, if any are.
    """
    data = _inside(value) if type(value) is dict and "base64" in value else _outside(value)
    keep("The arrays", len(data) // 20)
    spend("The arrays", len(data) // 8)
    return _parsed(data, names)


def _inside(value: object) -> bytes:
    text = fields(value, "arrays", "base64")["base64"]
    if type(text) is not str:
        refuse("arrays.base64", "must be a string")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        refuse("arrays.base64", "is not base64")


def _outside(value: object) -> bytes:
    data = fields(value, "arrays", "file sha256 bytes")
    name, digest = data["file"], data["sha256"]
    if type(name) is not str or not re.fullmatch(r"[\w][\w .+-]{0,199}", name):
        refuse("arrays.file", "must be the name of a file beside the certificate")
    if type(digest) is not str or not re.fullmatch("[0-9a-f]{64}", digest):
        refuse("arrays.sha256", "must be 64 hexadecimal digits")
    size = integer(data["bytes"], "arrays.bytes", LIMITS["array bytes"] + 1)
    folder = FOLDER.get()
    if folder is None:
        refuse("arrays.file", "is read only for a certificate that is itself a file")
    try:
        content = contents(os.path.join(folder, name), LIMITS["array bytes"])
    except OSError as error:
        refuse(f"The file {name!a}", f"cannot be read: {error.strerror}")
    spend("The digest", len(content) // 20)
    if len(content) != size or hashlib.sha256(content).hexdigest() != digest:
        refuse(f"The file {name!a}", "does not match its digest")
    return content


def _parsed(data: bytes, names: str | None) -> dict[str, Table]:
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > min(len(data) - 8, 100_000):
        refuse("The arrays", "have no header")
    try:
        header: Any = json.loads(data[8 : 8 + size])
    except (ValueError, RecursionError):
        refuse("The arrays", "have no header")
    if names is not None or type(header) is not dict:
        fields(header, "The header of the arrays", names or "")
    found, start = {}, 8 + size
    for name, entry in header.items():
        entry = fields(entry, f"The entry {brief(name)}", "dtype shape data_offsets")
        kind, shape, ends = entry["dtype"], entry["shape"], entry["data_offsets"]
        if (
            type(kind) is not str
            or kind not in _CODES
            or type(shape) is not list
            or type(ends) is not list
        ):
            refuse(f"The entry {brief(name)}", "is not an array of a known type")
        sizes = tuple(integer(n, f"The shape of {brief(name)}", 2**31) for n in shape)
        low, high = (
            [integer(n, f"The place of {brief(name)}") for n in ends] if len(ends) == 2 else (1, 0)
        )
        code, width = _CODES[kind]
        count = width
        for n in sizes:
            count *= n
        if high - low != count or start + high > len(data):
            refuse(f"The entry {brief(name)}", "does not fit its shape")
        entries = array(code)
        if entries.itemsize != width:
            refuse(f"The entry {brief(name)}", "cannot be read on this machine")
        entries.frombytes(data[start + low : start + high])
        if sys.byteorder == "big":
            entries.byteswap()
        found[name] = Table(kind, sizes, entries)
    return found
