"""Results on disk: a header, then one JSON line for every finished job.

A line is written in one piece and flushed to the disk before the next job counts. What a killed
process leaves behind is a whole number of lines and at most one torn line, which is dropped. A file
is only ever continued by a run that would have made the same lines: another recipe, backend or
format is refused, and what is recorded stays as it is.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lemmax.numerics.training.streams import canonical
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import regular_size, write_bytes

VERSION = 1


class ResultsError(LemmaxError):
    """A results file that cannot be read, continued or written to."""


class Results:
    """The results file of one sweep, open for appending.

    Parameters
    ----------
    path
        The file; it is made if it does not exist.
    identity
        What must be equal for the file to be continued, such as recipe, backend, groups.
    """

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.identity = dict(identity)
        self.records: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Results:
        self._lock = _locked(self.path)
        try:
            if self.path.exists():
                regular_size(self.path)  # a pipe would be waited for
            if self.path.exists() and self.path.stat().st_size:
                header, records, size = _read(self.path)
                if header:
                    self._compare(header)
                self.records = {record["key"]: record for record in records}
                if self.path.stat().st_size != size:
                    os.truncate(self.path, size)  # a torn last line
            if not self.path.exists() or not self.path.stat().st_size:
                header = {"lemmax-results": VERSION, **self.identity}
                self._write([header])
        except BaseException:
            self._lock.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def _compare(self, header: Mapping[str, Any]) -> None:
        theirs, ours = header.get("recipe", {}), self.identity.get("recipe")
        if ours is not None and theirs != ours:
            names = sorted(n for n in {*theirs, *ours} if theirs.get(n) != ours.get(n))
            raise ResultsError(
                f"{self.path} holds results of the recipe {theirs.get('name')!r}, which differs "
                f"from {ours['name']!r} in {', '.join(names)}; give another file."
            )
        for name in sorted({*self.identity, *header} - {"lemmax-results"}):
            given, wanted = header.get(name), self.identity.get(name)
            if given != wanted:
                raise ResultsError(
                    f"{self.path} was made with {name} {given!r}, not {wanted!r}; "
                    "give another file."
                )

    def append(self, records: Iterable[dict[str, Any]]) -> None:
        """Record finished jobs, on the disk when this returns."""
        new = [record for record in records if record["key"] not in self.records]
        self._write(new)
        self.records |= {record["key"]: record for record in new}

    def _write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        data = "".join(canonical(line) + "\n" for line in lines).encode()
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise ResultsError(f"{self.path} cannot be written: {error.strerror}.") from None
        try:
            size = os.fstat(handle).st_size
            try:
                while data:
                    data = data[os.write(handle, data) :]
                os.fsync(handle)
            except OSError as error:
                os.ftruncate(handle, size)
                raise ResultsError(
                    f"{self.path} cannot be written ({error.strerror}); "
                    f"the {len(self.records)} results recorded before are safe in it."
                ) from None
        finally:
            os.close(handle)

    def sort(self, keys: Iterable[str]) -> None:
        """Put the lines into the order of the keys, in one atomic step, if they are not yet."""
        order = {key: place for place, key in enumerate(keys)}
        wanted = sorted(self.records, key=lambda key: order.get(key, len(order)))
        if wanted == list(self.records):
            return
        lines = [{"lemmax-results": VERSION, **self.identity}]
        lines += [self.records[key] for key in wanted]
        write_bytes(self.path, "".join(canonical(line) + "\n" for line in lines).encode())


def read_results(
    path: str | os.PathLike[str],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and the records of a results file; a torn last line is left out."""
    header, records, _ = _read(Path(path))
    return header, records


def _read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    """The header, the records and the length up to the last whole line."""
    try:
        regular_size(path)
        data = path.read_bytes()
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror}.") from None
    size = data.rfind(b"\n") + 1
    lines = data[:size].split(b"\n")[:-1]
    if not lines:
        if _opening(data):
            return {}, [], 0  # killed while the header was written
        raise ResultsError(f"{path} is not a results file of lemmax.")
    header = _parsed(path, 1, lines[0])
    version = header.get("lemmax-results")
    if version is None:
        raise ResultsError(f"{path} is not a results file of lemmax.")
    if version != VERSION:
        raise ResultsError(
            f"{path} is a results file of version {version}; this lemmax writes version {VERSION}."
        )
    records: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines[1:], 2):
        record = _parsed(path, number, line)
        if not isinstance(record.get("key"), str):
            raise ResultsError(f"Line {number} of {path} is not a result.")
        if records.get(record["key"], record) != record:
            raise ResultsError(f"Line {number} of {path} contradicts an earlier one.")
        records[record["key"]] = record
    return header, list(records.values()), size


def _opening(data: bytes) -> bool:
    """Whether the bytes could be the beginning of a header."""
    return data[:1] in (b"", b"{")


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        if number == 1:
            raise ResultsError(f"{path} is not a results file of lemmax.")
        raise ResultsError(f"Line {number} of {path} is damaged.")
    return record


class _Lock:
    def __init__(self, handle: int, path: Path) -> None:
        self.handle = handle
        self.path = path

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink()
        os.close(self.handle)


def _locked(path: Path) -> _Lock:
    """An exclusive lock that dies with the process."""
    if path.is_dir():
        raise ResultsError(f"{path} is a folder.")
    place = Path(f"{path}.lock")
    try:
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise ResultsError(f"{path} cannot be written: {error.strerror}.") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_ino != os.stat(place).st_ino:
            raise BlockingIOError  # its owner has just removed it: another may have a new one
    except OSError:
        os.close(handle)
        raise ResultsError(f"Another sweep is writing to {path}.") from None
    return _Lock(handle, place)
