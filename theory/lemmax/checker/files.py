"""Files: regular ones only, with strict JSON in them."""

import contextlib
import contextvars
import json
import os
import stat
from collections.abc import Iterator
from typing import Any, NoReturn

from .limits import LIMITS, NotACertificate, brief, refuse, room

FOLDER: contextvars.ContextVar[str | None] = contextvars.ContextVar("folder", default=None)


@contextlib.contextmanager
def beside(path: str | os.PathLike[str]) -> Iterator[None]:
    """Files that the certificate at this path names stand in its folder."""
    before = FOLDER.set(os.path.dirname(os.path.abspath(path)))
    try:
        yield
    finally:
        FOLDER.reset(before)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        refuse("An object of the file", "has a repeated field")
    return found


def _integer(text: str) -> int:
    if len(text) > 17:
        refuse("An integer of the file", "is 2^53 or larger and must be written as a string")
    return int(text)


def _no_float(text: str) -> NoReturn:
    refuse("The file", f"contains {brief(text)}, and exact numbers are strings")


def _regular(told: os.stat_result, limit: int) -> int:
    """The size of a regular file: no device, no pipe, no file that the system makes up."""
    if not stat.S_ISREG(told.st_mode) or not told.st_size:
        refuse("The file", "is empty or is not a regular file")
    if told.st_size > limit:
        refuse("The file", f"is larger than {limit} bytes")
    return told.st_size


def contents(path: str | os.PathLike[str], limit: int) -> bytes:
    """What stands in a regular file.

    The path is looked at before it is opened, since opening a device may do something, and again
    when it is open, since it may have been replaced.
    """
    _regular(os.stat(path), limit)
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
        return stream.read(_regular(os.fstat(stream.fileno()), limit))


def weighed(what: str, raw: bytes) -> None:
    """Refuse JSON whose values would not fit into the memory, before it is read."""
    letters = (6 if raw.isascii() else 9) * len(raw)  # bytes of the file, its text, its strings
    values = 2 * raw.count(b",") + 2 * raw.count(b"[") + 8 * raw.count(b"{")
    room(what, values + letters // 40)


def read(path: str | os.PathLike[str]) -> object:
    """The JSON value of a file, or NotACertificate."""
    try:
        raw = contents(path, LIMITS["file bytes"])
        weighed("The file", raw)
        return json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
    except NotACertificate:
        raise
    except OSError as error:
        raise NotACertificate(f"The file cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise NotACertificate(f"The file is not JSON in UTF-8: {error}.") from None
    except (RecursionError, MemoryError):
        raise NotACertificate("The file is nested too deep or too large.") from None
