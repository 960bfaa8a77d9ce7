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
