"""Files that someone else may have made, read with care."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from lemmax.theory.errors import LemmaxError


def regular_bytes(path: str | Path, most: int) -> bytes:
    """The contents of a regular file of at most ``most`` bytes.

    Anything else (a pipe or a device, which might never end, a folder, a larger file) is refused
    before it is read. Cost: one reading of the file.

    >>> regular_bytes("/dev/zero", 100)
    Traceback (most recent call last):
    ...
    lemmax.theory.errors.LemmaxError: /dev/zero cannot be read: it is not a regular file.
    """
    try:
        # Without O_NONBLOCK a pipe that nobody writes to would be waited for here.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise LemmaxError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise LemmaxError(f"{str(path)!r} is not the name of a file.") from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise LemmaxError(f"{path} cannot be read: it is not a regular file.")
        if status.st_size > most:
            raise LemmaxError(f"{path} has {status.st_size} bytes, more than {most}.")
        with open(handle, "rb", closefd=False) as file:
            # No more than it says it has: files under /proc say that they are empty.
            return file.read(status.st_size)
    except OSError as error:
        raise LemmaxError(f"{path} cannot be read: {error.strerror}.") from None
    finally:
        os.close(handle)
