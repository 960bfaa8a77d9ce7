"""Asking the checker in processes that the operating system limits, and what they took."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

FOLDER = Path(__file__).parents[2] / "theory/lemmax/checker"
_SAID = {0: "holds", 1: "fails", 2: "refused"}


class Answer(NamedTuple):
    """What the checker said of a file, its processor time, and what is wrong with that."""

    said: str
    seconds: float
    fault: str


@dataclass
class Checker:
    """A server of limited processes, with the largest time of a file and memory of a process."""

    folder: Path = FOLDER
    seconds: float = 0.0
    megabytes: int = 0

    def __enter__(self) -> Checker:
        self._scratch = tempfile.TemporaryDirectory()
        script = Path(__file__).with_name("served.py")
        self._server = subprocess.Popen(
            [sys.executable, "-I", "-S", script, self.folder, self._scratch.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        self._server.communicate()
        self._scratch.cleanup()

    def ask(self, files: Sequence[bytes], together: int = 40) -> list[Answer]:
        """The answers about files with these contents, so many of them in one process.

        Where the system stopped a process, the file that it was at is asked about alone: that one
        had less than the whole time to itself.
        """
        found: list[Answer] = []
        alone = False
        while len(found) < len(files):
            batch = files[len(found) :][: 1 if alone else together]
            answers, stopped = self._request(batch)
            found += answers
            if stopped and len(batch) == 1:
                found.append(Answer("stopped", 60.0, stopped))
            alone = bool(stopped) and len(batch) > 1
        return found

    def _request(self, files: Sequence[bytes]) -> tuple[list[Answer], str]:
        """What one process said, and how the system stopped it before it had said all."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        head = json.dumps([len(file) for file in files]).encode()
        self._server.stdin.write(b"\n".join([head, b"".join(files)]))
        self._server.stdin.flush()
        told: dict[str, Any] = json.loads(self._server.stdout.readline())
        answers = [_answer(**answer) for answer in told["answers"]]
        self.seconds = max([self.seconds, *(answer.seconds for answer in answers)])
        self.megabytes = max(self.megabytes, told["megabytes"])
        if len(answers) == len(files) and told["status"] == 0:
            return answers, ""
        return answers, f"stopped with {told['status']} after {told['seconds']:.1f} s"


def _answer(status: int, seconds: float, error: str) -> Answer:
    fault = ""
    if status not in _SAID:
        fault = f"status {status}: {error}"
    elif "MemoryError" in error:
        fault = "the meter let it run into the system's limit of memory"
    elif status == 2 and error.count("\n") != 1:
        fault = f"a refusal that is not one line: {error}"
    elif seconds > 60:
        fault = f"it took {seconds:.1f} s"
    return Answer(_SAID.get(status, "traceback"), seconds, fault)
