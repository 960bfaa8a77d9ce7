"""Weights of others, as float64 arrays: from tensors, lists and files, and never rounded."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import regular_bytes

Weights: TypeAlias = Mapping[str, Any]

LARGEST_FILE = 2**30
"""Bytes of the largest file of weights that is read, packed and unpacked."""

_SAFETENSORS = {"BOOL": "?", "F16": "<f2", "F32": "<f4", "F64": "<f8"} | {
    f"{sign}{8 * size}": f"<{sign.lower()}{size}" for sign in "IU" for size in (1, 2, 4, 8)
}


def exact_floats(name: str, value: Any) -> NDArray[np.float64]:
    """Any array, tensor or nested list of real numbers as float64, if that holds it exactly.

    >>> exact_floats("W_U", [[2**53, 0.5]]).dtype
    dtype('float64')
    >>> exact_floats("W_U", [[2**53 + 1, 0.5]])
    Traceback (most recent call last):
    ...
    lemmax.theory.errors.LemmaxError: W_U has an entry that float64 does not hold exactly.
    """
    try:
        array = _array(value)
        numbers = array.ravel().tolist() if array.dtype.kind in "biuO" else []
        if not all(isinstance(x, Real) for x in numbers):
            raise TypeError("an entry is no real number")
    except (TypeError, ValueError, RuntimeError, NotImplementedError):
        raise LemmaxError(f"{name} is not an array of real numbers.") from None
    try:
        finite = all(map(np.isfinite, map(float, numbers))) and (
            array.dtype.kind != "f" or np.isfinite(array).all()
        )
        with np.errstate(over="ignore"):
            floats = array.astype(np.float64)
    except OverflowError:  # an integer beyond the largest float
        raise LemmaxError(f"{name} has an entry that float64 does not hold exactly.") from None
    if not finite:
        raise LemmaxError(f"{name} has an entry that is not a finite number.")
    # Python compares its numbers exactly, numpy its integers only after rounding them.
    held = all(x == float(x) for x in numbers) if numbers else (floats == array).all()
    if not held:
        raise LemmaxError(f"{name} has an entry that float64 does not hold exactly.")
    return floats


def _array(value: Any) -> NDArray[Any]:
    """The entries as they are: real floats, integers, or objects of Python."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("masked entries have no value")
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        # Every floating type of torch is at most double; integers and complex numbers are not.
        value = (value.double() if value.dtype.is_floating_point else value).numpy()
    # numpy would round the integers of a list that also has floats.
    array = np.asarray(value) if hasattr(value, "dtype") else np.array(value, dtype=object)
    if array.dtype.kind not in "fbiuO":
        raise TypeError(f"{array.dtype} is no type of real numbers")
    return array


def read_weights(
    path: str | Path, skip: Callable[[str], bool] = lambda name: False
) -> dict[str, NDArray[np.float64]]:
    """The arrays of a file: ``.npz``, ``.safetensors``, or a ``state_dict`` in ``.pt``/``.pth``.

    Those whose names are to be skipped are not looked at.

    Nothing in the file is executed; pipes, devices and files beyond 1 GB are not read.
    """
    path = Path(path)
    reader = {
        ".npz": _read_npz,
        ".safetensors": _read_safetensors,
        ".pt": _read_torch,
        ".pth": _read_torch,
    }.get(path.suffix)
    if reader is None:
        raise LemmaxError(f"{path}: weights are read from .npz, .safetensors, .pt or .pth.")
    arrays = _read(path, reader)
    return {
        str(name): exact_floats(str(name), value)
        for name, value in arrays.items()
        if not skip(str(name))
    }


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a ``.npz`` file as they are, texts among them, read with the same care."""
    return _read(path, _read_npz)


def _read(path: Path, reader: Callable[[bytes], dict[str, Any]]) -> dict[str, Any]:
    data = regular_bytes(path, LARGEST_FILE)
    try:
        _refuse_bombs(path, data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the file is refused or read: one sentence or none
            return dict(reader(data))
    except LemmaxError:
        raise
    except Exception:  # each library has errors of its own for a damaged file
        raise LemmaxError(f"{path} is damaged, or not a {path.suffix} file of arrays.") from None


def _refuse_bombs(path: Path, data: bytes) -> None:
    """Refuse an archive that is small and unpacks to something large."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > LARGEST_FILE:
            raise LemmaxError(f"{path} unpacks to {size} bytes, more than {LARGEST_FILE}.")


def _read_npz(data: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _read_safetensors(data: bytes) -> dict[str, Any]:
    try:
        from safetensors import deserialize
    except ImportError:
        raise LemmaxError("Reading safetensors needs the extra lemmax[torch].") from None
    tensors: list[tuple[str, dict[str, Any]]] = deserialize(data)  # type: ignore[no-untyped-call]
    return {name: _tensor(name, tensor) for name, tensor in tensors}


def _tensor(name: str, tensor: Mapping[str, Any]) -> NDArray[Any]:
    kind, entries = tensor["dtype"], bytes(tensor["data"])
    if kind == "BF16":  # the upper half of a float32
        array = (np.frombuffer(entries, "<u2").astype("<u4") << 16).view("<f4")
    elif kind in _SAFETENSORS:
        array = np.frombuffer(entries, _SAFETENSORS[kind])
    else:
        raise LemmaxError(f"{name} has entries of the type {kind}, which is not read.")
    return array.reshape(tensor["shape"])


def _read_torch(data: bytes) -> dict[str, Any]:
    try:
        import torch
    except ImportError:
        raise LemmaxError("Reading torch files needs the extra lemmax[torch].") from None
    state: dict[str, Any] = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    return state
