"""The last pass of a run (``--recheck``): the certificates that its verdicts rest on, once more.

One fresh process of the independent checker reads the shipped files, as a referee would. A file
that is not what the run checked, or that does not hold, fails the run; so does a deciding
certificate that ships in no file.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from lemmax.pytest_plugin.fixtures import CHECKER
from lemmax.pytest_plugin.gatherer import NAME, Gatherer
from lemmax.theory.ledger.verdicts import Evidence


class Rechecking:
    """After the ledger is derived, and before anything is printed about it."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.line = ""

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        result = yield
        if hasattr(self.config, "workerinput") or self.config.option.collectonly:
            return result
        gatherer = cast(Gatherer, self.config.pluginmanager.get_plugin(NAME))
        passed = [e for entry in gatherer.ledger.values() for e in entry.evidence]
        passed = [e for e in passed if e.outcome == "passed" and not e.recorded]
        self.line, problems = rechecked(gatherer.places.certificates, passed)
        gatherer.problems += problems
        if problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        return result

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.line:
            terminalreporter.section("certificates")
            terminalreporter.write_line(self.line)


def rechecked(folder: Path | None, passed: Iterable[Evidence]) -> tuple[str, list[str]]:
    """A line that says how many certificates of a run hold, and what is wrong with the others."""
    digests: dict[str, str] = {}
    problems = []
    for item in passed:
        if item.grade == "certified" and not item.certificates:
            problems.append(f"{item.test} decides {item.claim} and ships no certificate.")
        digests |= dict(zip(item.certificates, item.sha256, strict=True))
    if folder is None or not digests:
        return "no certificate ships with what ran", problems
    files = {}
    for name, digest in sorted(digests.items()):
        file = folder / name
        if not file.is_file():
            problems.append(f"The certificate {name} is not there.")
        elif hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            problems.append(f"The certificate {name} is not what the run checked.")
        else:
            files[name] = file
    holding = 0
    for name, (status, why) in _asked(files).items():
        holding += status == "holds"
        if status != "holds":
            problems.append(f"The certificate {name} does not hold: {why}")
    told = f"{holding} of {len(digests)} shipped certificates hold, in a fresh process"
    return told, problems


def _asked(files: dict[str, Path]) -> dict[str, tuple[str, str]]:
    """What one process of the checker says of each file, with its last step."""
    if not files:
        return {}
    command = [sys.executable, "-I", "-S", str(CHECKER), "--json", "--", *map(str, files.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
        told = {
            name: (entry["status"], entry.get("error") or entry["steps"][-1])
            for name, entry in zip(files, report, strict=True)
        }
    except (ValueError, KeyError, TypeError, IndexError):
        told = {}
    if not told or (done.returncode == 0) != all(s == "holds" for s, _ in told.values()):
        why = done.stderr.strip() or "the checker did not answer"
        return dict.fromkeys(files, ("unknown", why))
    return told
