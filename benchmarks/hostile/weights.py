"""Hostile weights: npz, safetensors, torch, and the files that stand beside them."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.hostile.attempts import DONE, hostile

FACTS = "subject,predicate,object\n0,1,2\n"
CERTIFY = ("certify model.{} facts.csv",)


def layer_arrays() -> dict[str, Any]:
    """One small layer with Wong's names."""
    return {"W_E": np.eye(3, 2), "W_U": np.eye(2, 3)}


def npz(path: Path, arrays: dict[str, Any]) -> None:
    """An honest .npz file."""
    np.savez(path, **arrays)


class Executed:
    """What a pickle of this does when it is loaded: it makes a file."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {DONE}",)


def certify(ending: str) -> tuple[str, ...]:
    """Who reads such weights."""
    both = ("assumptions --model model.npz",) if ending == "npz" else ()
    return (f"certify model.{ending} facts.csv", *both)


def facts(folder: Path) -> Path:
    """An honest table beside the hostile weights."""
    (folder / "facts.csv").write_text(FACTS, encoding="utf-8")
    return folder


def npy(header: str, data: bytes = b"") -> bytes:
    """An array file with any header."""
    text = header.encode()
    return b"\x93NUMPY\x02\x00" + len(text).to_bytes(4, "little") + text + data


def packed(path: Path, files: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> None:
    """An archive with any names."""
    with zipfile.ZipFile(path, "w", how) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def bomb(path: Path, name: str, start: bytes, zeros: int) -> None:
    """An archive with one file of zeros behind some bytes; its check sum is not computed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    data += block * (zeros >> 20) + packer.flush()
    size = len(start) + (zeros >> 20 << 20)
    told = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 0, len(data), size, len(name), 0)
    local = b"PK\x03\x04" + told + name.encode() + data
    entry = b"PK\x01\x02\x14\x00" + told + bytes(14) + name.encode()
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)
    path.write_bytes(local + entry + b"PK\x05\x06" + end)


SMALL = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }\n"


@hostile("npz", "an array of objects, pickled, that runs a command", *certify("npz"))
def npz_pickle(folder: Path) -> None:
    array = np.empty((1, 1), dtype=object)
    array[0, 0] = Executed()
    npz(facts(folder) / "model.npz", {"W_E": array, "x.contexts": array})


@hostile("npz", "a pickle in place of the archive", *certify("npz"))
def npz_bare_pickle(folder: Path) -> None:
    (facts(folder) / "model.npz").write_bytes(pickle.dumps(Executed()))


@hostile("npz", "a shape of 10^12 entries and no data", *certify("npz"))
def npz_shape(folder: Path) -> None:
    header = SMALL.replace("(1, 1)", "(1000000, 1000000)")
    packed(facts(folder) / "model.npz", {"W_E.npy": npy(header), "x.contexts.npy": npy(header)})


@hostile("npz", "a header with a call in it", *certify("npz"))
def npz_header_call(folder: Path) -> None:
    header = f"__import__('os').system('touch {DONE}')\n"
    packed(facts(folder) / "model.npz", {"W_E.npy": npy(header), "x.contexts.npy": npy(header)})


@hostile("npz", "a header of brackets, 100,000 deep", *certify("npz"))
def npz_header_deep(folder: Path) -> None:
    header = "(" * 100_000
    packed(facts(folder) / "model.npz", {"W_E.npy": npy(header), "x.contexts.npy": npy(header)})


@hostile("npz", "three gigabytes of zeros in three megabytes", *certify("npz"))
def npz_bomb(folder: Path) -> None:
    header = npy(SMALL.replace("(1, 1)", "(400000000, 1)"))
    bomb(facts(folder) / "model.npz", "x.contexts.npy", header, 3_200_000_000)


@hostile("npz", "an array that says it is small and unpacks to more", *certify("npz"))
def npz_lying_sizes(folder: Path) -> None:
    path = facts(folder) / "model.npz"
    name = b"x.contexts.npy"
    packed(path, {name.decode(): npy(SMALL, bytes(1 << 22))})
    data = bytearray(path.read_bytes())
    start = data.rindex(b"PK\x01\x02")
    data[start + 24 : start + 28] = (200).to_bytes(4, "little")  # the unpacked size
    path.write_bytes(bytes(data))


@hostile("npz", "names that climb out of the folder", *certify("npz"))
def npz_names(folder: Path) -> None:
    data = npy(SMALL, bytes(8))
    packed(facts(folder) / "model.npz", {f"../{DONE}": data, "/tmp/x.contexts.npy": data})


@hostile("npz", "texts, dates and complex numbers", *certify("npz"))
def npz_types(folder: Path) -> None:
    arrays = {"x.contexts": np.array([["a"]]), "x.queries": np.array([[1j]])}
    npz(facts(folder) / "model.npz", {"W_E": np.array([["1980-01-01"]], "M8[D]")} | arrays)


@hostile("npz", "NaN and infinity", *certify("npz"))
def npz_nan(folder: Path) -> None:
    contexts = np.full((2, 1, 2), np.nan)
    arrays = {"x.contexts": contexts, "x.queries": np.full((2, 2), np.inf)}
    npz(facts(folder) / "model.npz", {"W_E": np.full((3, 2), np.nan), "W_U": np.eye(2, 3)} | arrays)


@hostile("npz", "arrays without entries", *certify("npz"))
def npz_empty(folder: Path) -> None:
    empty = {"W_E": np.zeros((0, 0)), "W_U": np.zeros((0, 0))}
    empty |= {"x.contexts": np.zeros((0, 0, 0)), "x.queries": np.zeros((0, 0))}
    npz(facts(folder) / "model.npz", empty)


@hostile("npz", "a scale 1e999999999", "assumptions --model model.npz")
def npz_scale(folder: Path) -> None:
    one = np.ones((3, 1, 2))
    arrays = {"x.contexts": one, "x.queries": np.eye(3, 2), "x.scale": np.array("1e999999999")}
    arrays |= {"x.heads.0.W_K": np.eye(2), "x.heads.0.W_Q": np.eye(2)}
    npz(facts(folder) / "model.npz", arrays)


@hostile("npz", "a pipe that nobody writes to", *certify("npz"))
def npz_pipe(folder: Path) -> None:
    os.mkfifo(facts(folder) / "model.npz")


@hostile("npz", "a link to a device without end", *certify("npz"))
def npz_device(folder: Path) -> None:
    (facts(folder) / "model.npz").symlink_to("/dev/zero")


# -- safetensors -------------------------------------------------------------------------------


def tensors(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> None:
    """A safetensors file with any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(text) if length is None else length
    path.write_bytes(size.to_bytes(8, "little") + text + data)


def tensor(shape: list[int], start: int, end: int, kind: str = "F32") -> dict[str, Any]:
    return {"dtype": kind, "shape": shape, "data_offsets": [start, end]}


SAFE = certify("safetensors")


@hostile("safetensors", "a header of 2^63 bytes", *SAFE)
def safe_length(folder: Path) -> None:
    tensors(facts(folder) / "model.safetensors", {}, length=2**63)


@hostile("safetensors", "offsets beyond the file, and overlapping ones", *SAFE)
def safe_offsets(folder: Path) -> None:
    header = {"W_E": tensor([1000, 1000], 0, 4_000_000), "W_U": tensor([1, 2], 4, 12)}
    tensors(facts(folder) / "model.safetensors", header, bytes(16))


@hostile("safetensors", "a shape whose size overflows", *SAFE)
def safe_shape(folder: Path) -> None:
    header = {"W_E": tensor([2**32, 2**32], 0, 0), "W_U": tensor([2**63, 2], 0, 0)}
    tensors(facts(folder) / "model.safetensors", header)


@hostile("safetensors", "a header of lists, 200,000 deep", *SAFE)
def safe_deep(folder: Path) -> None:
    tensors(facts(folder) / "model.safetensors", b'{"W_E":' + b"[" * 200_000)


@hostile("safetensors", "names of tokens, 200,000 lists deep", *SAFE, ends="read")
def safe_tokens_deep(folder: Path) -> None:
    header: dict[str, Any] = {"W_E": tensor([3, 2], 0, 24), "W_U": tensor([2, 3], 24, 48)}
    header["__metadata__"] = {"tokens": "[" * 200_000 + "]" * 200_000}
    tensors(facts(folder) / "model.safetensors", header, np.ones(12, "<f4").tobytes())


@hostile("safetensors", "names of tokens that are no names", *SAFE)
def safe_tokens(folder: Path) -> None:
    header: dict[str, Any] = {"W_E": tensor([3, 2], 0, 24), "W_U": tensor([2, 3], 24, 48)}
    header["__metadata__"] = {"tokens": '[["a"], {"b": 1}, null]'}
    tensors(facts(folder) / "model.safetensors", header, np.ones(12, "<f4").tobytes())


@hostile("safetensors", "entries of eight bits that nobody reads here", *SAFE)
def safe_kind(folder: Path) -> None:
    header = {"W_E": tensor([2, 2], 0, 4, "F8_E4M3")}
    tensors(facts(folder) / "model.safetensors", header, bytes(4))


@hostile("safetensors", "a link to a device without end", *SAFE)
def safe_device(folder: Path) -> None:
    (facts(folder) / "model.safetensors").symlink_to("/dev/zero")


@hostile("config.json", "a pipe beside honest weights", "certify model.npz facts.csv")
def config_pipe(folder: Path) -> None:
    npz(facts(folder) / "model.npz", layer_arrays())
    os.mkfifo(folder / "config.json")


@hostile("config.json", "a link to a device without end", "certify model.npz facts.csv")
def config_device(folder: Path) -> None:
    npz(facts(folder) / "model.npz", layer_arrays())
    (folder / "config.json").symlink_to("/dev/zero")


@hostile("config.json", "a number of heads that is none", "certify model.npz facts.csv")
def config_heads(folder: Path) -> None:
    npz(facts(folder) / "model.npz", layer_arrays())
    told = {"model_type": "gpt2", "n_head": -(10**30), "activation_function": ["gelu"]}
    (folder / "config.json").write_text(json.dumps(told), encoding="utf-8")


@hostile("names of tokens", "lists, 200,000 deep", "certify model.npz facts.csv --tokens t.json")
def tokens_deep(folder: Path) -> None:
    npz(facts(folder) / "model.npz", layer_arrays())
    (folder / "t.json").write_text("[" * 200_000, encoding="utf-8")


@hostile("names of tokens", "a pipe", "certify model.npz facts.csv --tokens t.txt")
def tokens_pipe(folder: Path) -> None:
    npz(facts(folder) / "model.npz", layer_arrays())
    os.mkfifo(folder / "t.txt")


# -- torch -------------------------------------------------------------------------------------


@hostile("pt", "a pickle that runs a command", "certify model.pt facts.csv")
def pt_pickle(folder: Path) -> None:
    (facts(folder) / "model.pt").write_bytes(pickle.dumps({"W_E": Executed()}))


@hostile(
    "pth", "an archive of torch with a pickle that runs a command", "certify model.pth facts.csv"
)
def pth_pickle(folder: Path) -> None:
    files = {
        "model/data.pkl": pickle.dumps({"W_E": Executed()}, protocol=2),
        "model/version": b"3\n",
    }
    packed(facts(folder) / "model.pth", files, zipfile.ZIP_STORED)


@hostile("pth", "an archive that unpacks to 1.2 gigabytes", "certify model.pth facts.csv")
def pth_bomb(folder: Path) -> None:
    bomb(facts(folder) / "model.pth", "model/data.pkl", b"", 1_200_000_000)


@hostile("pt", "a state that is no table of arrays", "certify model.pt facts.csv")
def pt_list(folder: Path) -> None:
    buffer = io.BytesIO()
    pickle.dump([1, 2, 3], buffer, protocol=2)
    (facts(folder) / "model.pt").write_bytes(buffer.getvalue())
