"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from lemmax.theory.errors import LemmaxError


def write_bytes(path: str | Path, data: bytes) -> None:
    """Replace a file by new contents: a reader sees the old ones or the new ones.

    Raises
    ------
    LemmaxError
        The folder is missing, the path is a folder, the disk is full; nothing is left behind.
    """
    target = Path(path)
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
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


def write_text(path: str | Path, text: str) -> None:
    """The same for a text, as UTF-8 and with the line ends that it has."""
    write_bytes(path, text.encode())


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
