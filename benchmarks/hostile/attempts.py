"""Hostile files, one by one: how each is made, who reads it, and how that has to end.

The tests run this list and the page about hardening prints it, so that they cannot differ.
A file is made in a folder of its own; beside that folder lies a secret, which no command may read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

SECRET = "a-secret-that-no-file-may-fetch"
DONE = "executed"  # the file that code in a hostile file would make

Ends = Literal["refused", "read", "either"]
Make = Callable[[Path], object]


@dataclass(frozen=True)
class Attempt:
    """A hostile file: ``make`` writes it into a folder whose sibling ``outside`` has the secret.

    ``refused`` is one sentence and status 2; ``read``: the file is taken as the harmless thing it
    also is, and its trick does nothing.
    """

    format: str
    what: str
    commands: tuple[str, ...]
    make: Make
    ends: Ends = "refused"

    @property
    def readers(self) -> str:
        """The commands that read it, each once."""
        return ", ".join(dict.fromkeys(command.split()[0] for command in self.commands))


ATTEMPTS: dict[str, Attempt] = {}


def hostile(
    format_: str, what: str, *commands: str, ends: Ends = "refused"
) -> Callable[[Make], Make]:
    """Put a file on the list, under the name of the function that makes it."""

    def listed(make: Make) -> Make:
        assert make.__name__ not in ATTEMPTS
        ATTEMPTS[make.__name__] = Attempt(format_, what, commands, make, ends)
        return make

    return listed


def cases() -> Iterator[tuple[str, str]]:
    """Every file with every command that reads it."""
    for name, attempt in ATTEMPTS.items():
        for command in attempt.commands:
            yield name, command


def chosen(name: str) -> str:
    """One of the commands that read a file: the next one for the next file."""
    commands = ATTEMPTS[name].commands
    return commands[[*ATTEMPTS].index(name) % len(commands)]


def table() -> str:
    """The list as a table in Markdown."""
    lines = ["| format | what was tried | read by | ends |", "|---|---|---|---|"]
    said = {"refused": "refused", "read": "read as it stands", "either": "read or refused"}
    for attempt in sorted(ATTEMPTS.values(), key=lambda a: a.format):
        row = (attempt.format, attempt.what, attempt.readers, said[attempt.ends])
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    return "\n".join(lines)


class Reader:
    """The server, asked about one file after the other; slow to start, quick to answer."""

    def __enter__(self) -> Reader:
        self._server = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("served.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        self._server.communicate()

    def ask(self, folder: Path, command: str) -> dict[str, Any]:
        """How a command ended that ran in a folder."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps([str(folder), command.split()]) + "\n")
        self._server.stdin.flush()
        told: dict[str, Any] = json.loads(self._server.stdout.readline())
        return told

    def faults(self, name: str, command: str, scratch: Path) -> list[str]:
        """What went wrong when a file of the list was read; nothing, where all is well."""
        return self.judged(name, command, scratch)[1]

    def judged(self, name: str, command: str, scratch: Path) -> tuple[dict[str, Any], list[str]]:
        """How it ended, and what went wrong."""
        attempt = ATTEMPTS[name]
        folder, outside = scratch / "given", scratch / "outside"
        folder.mkdir()
        outside.mkdir()
        for ending in ("txt", "tex", "toml", "json", "csv", "safetensors", "aux", "sty", "md"):
            (outside / f"secret.{ending}").write_text(f"{SECRET}\n", encoding="utf-8")
        attempt.make(folder)
        told = self.ask(folder, command)
        return told, [*_faults(told, attempt.ends), *_left(folder, scratch)]


def _faults(told: dict[str, Any], ends: Ends) -> Iterator[str]:
    status, errors = told["status"], told["errors"]
    wanted = {"refused": (2,), "read": (0, 1), "either": (0, 1, 2)}[ends]
    if status not in wanted:
        yield f"status {status} after {told['seconds']} s: {errors[-800:]}"
    elif status == 2:
        lines = [line for line in errors.splitlines() if "read as" not in line]
        if len(lines) != 1 or len(lines[0]) > 1000:
            yield f"not one sentence: {errors[:800]}"
    yield from told["seen"]
    if SECRET in told["output"] + errors:
        yield "the secret was printed"
    if "\x1b" in told["output"] + errors:
        yield "letters that steer a terminal were printed"


def _left(folder: Path, scratch: Path) -> Iterator[str]:
    """What a command wrote where it had no business, and secrets in what it wrote."""
    outside = scratch / "outside"
    for path in sorted(scratch.rglob("*")):
        inside = path.is_relative_to(folder)
        if path.name == DONE or not (inside or path.is_relative_to(outside)):
            yield f"{path} was made"
        if not inside or path.is_symlink() or not path.is_file():
            continue
        if SECRET.encode() in path.read_bytes():
            yield f"the secret is in {path.name}"
