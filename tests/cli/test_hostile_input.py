"""Files that someone else made: read as they stand, or refused with one sentence.

The list is that of the page about hardening (`benchmarks/hostile`). Every command runs in a process
of its own, with limits of the operating system and a hook that sees what is opened and started.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import benchmarks.hostile.facts
import benchmarks.hostile.projects
import benchmarks.hostile.weights  # noqa: F401
import pytest
from benchmarks.hostile.attempts import (
    ATTEMPTS,
    DONE,
    SECRET,
    Attempt,
    Reader,
    cases,
    chosen,
    table,
)

pytest.importorskip("torch", reason="pickles are tried with torch too")
pytest.importorskip("myst_parser", reason="pages need the extra site")


RECORDED = Path(__file__).parents[2] / "benchmarks/results/hostile.jsonl"


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader() as server:
        yield server


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder with a short name: whole paths stand in some sentences."""
    folder = Path(tempfile.mkdtemp()).resolve()
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_hostile_file_does_no_harm(name: str, reader: Reader, scratch: Path) -> None:
    """By one of its readers; `python -m benchmarks.hostile` has all of them read it."""
    assert not reader.faults(name, chosen(name), scratch)


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("certify leak.npz leak.csv", "opened"),
        ("survey leak.jsonl", "opened"),
    ],
)
def test_what_leads_out_is_seen(command: str, fault: str, reader: Reader, scratch: Path) -> None:
    """A file that is given as a link to the secret is opened, and the hook says so."""

    def make(folder: Path) -> None:
        for ending in ("npz", "csv", "jsonl"):
            (folder / f"leak.{ending}").symlink_to(scratch / "outside" / "secret.csv")

    ATTEMPTS["leak"] = Attempt("CSV", "a link", (command,), make)
    try:
        found = reader.faults("leak", command, scratch)
    finally:
        del ATTEMPTS["leak"]
    assert any(fault in sentence for sentence in found)


def test_secrets_and_code_are_seen(reader: Reader, scratch: Path) -> None:
    """The judge is no rubber stamp: a secret that is printed, and a file that code would make."""

    def make(folder: Path) -> None:
        (folder / "facts.csv").write_text(f"subject,predicate,object\na,f,{SECRET}\n")
        (folder / DONE).touch()

    ATTEMPTS["told"] = Attempt("CSV", "a secret", ("rank facts.csv",), make, "read")
    try:
        found = reader.faults("told", "rank facts.csv", scratch)
    finally:
        del ATTEMPTS["told"]
    assert any("was printed" in sentence for sentence in found)
    assert any(f"{DONE} was made" in sentence for sentence in found)


def test_every_reading_is_recorded_and_went_well() -> None:
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    recorded = {(line["name"], line["command"]): line for line in map(json.loads, lines)}
    assert set(recorded) == set(cases())
    assert not [line for line in recorded.values() if line["faults"]]
    assert len({chosen(name).split()[0] for name in ATTEMPTS}) >= 12


def test_the_table_has_every_file_once() -> None:
    lines = table().splitlines()
    assert len(lines) == 2 + len(ATTEMPTS) >= 42
    assert all(line.count(" | ") >= 3 for line in lines[2:])
