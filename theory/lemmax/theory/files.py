"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import glob
import os
import stat
import tempfile
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lemmax.theory.errors import LemmaxError


def write_bytes(path: str | Path, data: bytes) -> None:
    """Replace a file by new contents: a reader sees the old ones or the new ones.

    Raises
    ------
    LemmaxError
        The folder is missing, the path is a folder, the disk is full; nothing is left behind.
    """
    write_pieces(path, [data])


def write_pieces(path: str | Path, pieces: Iterable[bytes | memoryview]) -> None:
    """The same for contents that come in pieces.

    Where a writer is killed its temporary file stays; a later one of the same file removes it.
    """
    target = Path(path)
    temporary: str | None = None
    try:
        _remove_orphans(target)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as stream:
            for piece in pieces:
                stream.write(piece)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise LemmaxError(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


_ABANDONED = 600.0  # seconds without a change after which nobody writes a temporary file any more


def _remove_orphans(target: Path) -> None:
    """Remove what a killed writer of this file left behind."""
    for path in target.parent.glob(f".{glob.escape(target.name)}.????????"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED:
                path.unlink()


def write_text(path: str | Path, text: str) -> None:
    """The same for a text, as UTF-8 and with the line ends that it has."""
    write_bytes(path, text.encode())


def regular_size(path: str | os.PathLike[str]) -> int:
    """The size of a regular file; a pipe or a device, which might never end, is not opened.

    >>> regular_size("/dev/zero")
    Traceback (most recent call last):
    ...
    lemmax.theory.errors.LemmaxError: /dev/zero cannot be read: it is not a regular file.
    """
    try:
        status = os.stat(path)
    except OSError as error:
        raise LemmaxError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise LemmaxError(f"{str(path)!r} is not the name of a file.") from None
    if not stat.S_ISREG(status.st_mode):
        raise LemmaxError(f"{path} cannot be read: it is not a regular file.")
    return status.st_size


def regular_bytes(path: str | Path, most: int = 2**31) -> bytes:
    """The contents of a regular file of at most ``most`` bytes, which someone else may have made.

    Anything else (a pipe or a device, a folder, a larger file) is refused before it is opened.
    Cost: one reading of the file.
    """
    size = regular_size(path)
    if size > most:
        raise LemmaxError(f"{path} has {size} bytes, more than {most}.")
    try:
        # Without O_NONBLOCK a pipe that took its place meanwhile would be waited for here.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            # No more than it says it has: files under /proc say that they are empty.
            return file.read(size)
    except OSError as error:
        raise LemmaxError(f"{path} cannot be read: {error.strerror}.") from None


def regular_text(path: str | Path, most: int = 2**31) -> str:
    """The same as text; a mark of the byte order before it is left out."""
    try:
        return regular_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LemmaxError(f"{path} is not UTF-8 text.") from None


def read_toml(path: str | Path, kind: type[LemmaxError] = LemmaxError) -> dict[str, Any]:
    """The table of a TOML file; what is none is refused with an error of that kind."""
    try:
        text = regular_bytes(path, 2**27).decode()
        if sum(line.count(".") ** 2 for line in text.split("\n")) > 20_000_000:
            raise ValueError("its keys have too many parts")  # their cost grows with the square
        return tomllib.loads(text)
    except LemmaxError as error:
        raise kind(str(error)) from None
    except RecursionError:
        raise kind(f"{path} is not a TOML file: it is nested too deep.") from None
    except ValueError as error:  # TOML, UTF-8, or an integer that is too long
        raise kind(f"{path} is not a TOML file: {error}.") from None


def available_memory() -> int | None:
    """Bytes that programs may still take, where the system says so.

    >>> available_memory() is None or available_memory() > 0
    True
    """
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def refuse_beyond_memory(what: str, needed: int) -> None:
    """Refuse, before the work, what takes more memory than there is."""
    available = available_memory()
    if available is not None and needed > available:
        raise LemmaxError(
            f"{what} need about {needed / 2**30:.1f} GB of memory, and {available / 2**30:.1f} GB "
            "are free."
        )
