"""A full disk and a folder that may not be written to: one sentence, and nothing is lost.

Kills -9 at random moments are tried by `benchmarks/kills.py`; a few of them here.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks import kills

from lemmax.cli import main
from lemmax.theory import files
from lemmax.theory.files import write_text

FORK = multiprocessing.get_context("fork")
FACTS = "subject,predicate,object\na,f,x\na,g,y\nb,f,y\n"
COMMANDS = {
    "compile facts.csv -o out.json": ["out.json"],
    "compile facts.csv -o out.json --dtype bfloat16": ["out.json", "out.safetensors"],
    "rank facts.csv --certificate out.json": ["out.json"],
    "rank facts.csv --write L R P": ["L", "R", "P"],
    "export wong/argmax-rank-one -f npz -o out.npz": ["out.npz"],
    "errata dana -o letter.tex": ["letter.tex"],
    "checker -o checker.pyz": ["checker.pyz"],
    "survey many.jsonl -o out.jsonl --seconds 9": ["out.jsonl"],
}


READ_ONLY = Path("/sys/kernel")  # not even for root


def given() -> None:
    """The files that the commands read, in this folder."""
    Path("facts.csv").write_text(FACTS, encoding="utf-8")
    Path("many.jsonl").write_text('{"triples": [["a", "f", "x"]]}\n', encoding="utf-8")


def refused(status: int, told: str) -> str:
    """The one sentence of a command that ended with status 2."""
    assert status == 2, told
    (sentence,) = (line for line in told.splitlines() if "read as" not in line)
    return sentence


def full() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))


def called(command: str, before: Callable[[], None], answer: Any) -> None:
    told, status = io.StringIO(), 0
    before()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
        try:
            main(command.split())
        except SystemExit as ended:
            status = int(ended.code or 0)
        except BaseException:
            status = 70
            traceback.print_exc()
    answer.send((status, told.getvalue()))


def run(command: str, before: Callable[[], None]) -> tuple[int, str]:
    """Status and standard error of a command in a process of its own."""
    here, there = FORK.Pipe()
    child = FORK.Process(target=called, args=(command, before, there))
    child.start()
    status, told = here.recv()
    child.join()
    return status, told


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_lost(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given()
    with pytest.raises(SystemExit) as ended:
        main(command.split())  # what it is to be compared with, and it does work
    assert not ended.value.code
    for name in COMMANDS[command]:
        (tmp_path / name).write_bytes(b"what was there before")
    if command.startswith("survey"):
        (tmp_path / "out.jsonl").unlink()  # it would be continued
    made = {name: (tmp_path / name).read_bytes() for name in os.listdir()}
    status, told = run(command, full)
    assert "File too large" in refused(status, told)
    left = {name: (tmp_path / name).read_bytes() for name in os.listdir()}
    if left.get("out.jsonl") == b"":  # made before anything was to be written
        del left["out.jsonl"]
    assert left == made


@pytest.mark.skipif(
    not READ_ONLY.is_dir(), reason="a folder that nobody may write to, Linux has it"
)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_that_is_read_only_is_one_sentence(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given()
    for name in COMMANDS[command]:
        if f" {name}" in command:
            command = command.replace(f" {name}", f" {READ_ONLY / name}")
    assert "cannot be written" in refused(*run(command, lambda: None))
    assert sorted(os.listdir()) == ["facts.csv", "many.jsonl"]


def test_what_a_killed_writer_left_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphan, young, other = (tmp_path / name for name in (".a.x.12345678", ".a.x.abcdefgh", ".b"))
    for path in (orphan, young, other):
        path.touch()
    hour_ago = time.time() - 3600
    os.utime(orphan, (hour_ago, hour_ago))
    os.utime(other, (hour_ago, hour_ago))
    write_text(tmp_path / "a.x", "text")
    assert sorted(os.listdir(tmp_path)) == [".a.x.abcdefgh", ".b", "a.x"]
    monkeypatch.setattr(files, "_ABANDONED", -1.0)
    write_text(tmp_path / "a.x", "text")
    assert sorted(os.listdir(tmp_path)) == [".b", "a.x"]


def test_killed_at_random_moments_it_ends_with_the_same_bytes(tmp_path: Path) -> None:
    results = tmp_path / "kills.jsonl"
    assert kills.run(results, 2, 1, ["compile in bfloat16"])
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 3
    assert kills.table(results).splitlines()[-1].startswith("| compile in bfloat16 | 2 |")
    assert kills.table_beside(results).count("| yes |") == 1
    before = results.read_bytes()
    assert kills.run(results, 2, 1, ["compile in bfloat16"])  # all of it is there
    assert results.read_bytes() == before


def test_a_torn_file_is_seen(tmp_path: Path) -> None:
    whole, lines = kills.WORKS["compile"], kills.WORKS["sweep"]
    (tmp_path / "layer.json").write_text("half", encoding="utf-8")
    assert kills.torn(whole, tmp_path, {"layer.json": b"half and half"}) == ["layer.json"]
    (tmp_path / "results.jsonl").write_text("one\ntwo\nth", encoding="utf-8")
    assert kills.torn(lines, tmp_path, {"results.jsonl": b"one\ntwo\nthree\n"}) == []
    assert kills.torn(lines, tmp_path, {"results.jsonl": b"one\nthree\n"}) == ["results.jsonl"]
