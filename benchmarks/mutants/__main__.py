"""Mutants of the checker and of what keeps the ledger: `python -m benchmarks.mutants checker`.

A line per mutant is appended to build/mutants/ROOM.jsonl; what is there is not run again, so a run
that was ended goes on. `python -m benchmarks.mutants record` writes what was found into
benchmarks/results/mutants.jsonl.

Tests that are written for what survived of a sample are tests for that sample. What they find
elsewhere is asked of one that another seed draws, in a folder build/mutants that is empty, and
`fresh` writes it into fresh.jsonl:

    python -m benchmarks.mutants keeping --seed 2027 --most 500 --budget 20
    python -m benchmarks.mutants fresh --seed 2027 --most 500
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # a mutant of a loop is Python, not machine code

from benchmarks.mutants.generated import ROOT, Mutant, drawn, mutants_in
from benchmarks.mutants.record import FRESH, LEFT, Made, Place, record, table, write
from benchmarks.mutants.rooms import ROOMS
from benchmarks.mutants.served import Server, serve

BUILD = ROOT / "build" / "mutants"
KEPT = BUILD / "generated"


def lines_of(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def run(name: str, seed: int, budget: float, jobs: int, again: bool, most: int) -> int:
    """Run the mutants of a room that were not run yet; with ``again`` those that survived."""
    room, results = ROOMS[name], BUILD / f"{name}.jsonl"
    latest = {(line["path"], line["digest"]): line["result"] for line in lines_of(results)}

    def wanted() -> Iterator[Mutant]:
        known = [
            mutant
            for mutant in drawn(mutants_in(list(room.targets), KEPT), seed)
            if not mutant.words
        ]
        for mutant in known[: most or None]:
            before = latest.get(mutant.key)
            # What no test covered costs nothing to ask again.
            if before in ((None, "survived", "uncovered") if again else (None, "uncovered")):
                yield mutant

    def keep(line: dict[str, Any]) -> None:
        with open(results, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")

    known = BUILD / f"{name}-coverage.jsonl"
    server = Server(list(room.targets), known, wanted, keep, budget, jobs, room.slowest)
    return serve(server, room.tests, room.without)


CHARGING = ("spend", "keep", "room", "foresee", "foreseen")


def charges(path: str) -> list[tuple[int, int]]:
    """The lines of a file on which the checker's meter is charged before work is done."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id in CHARGING
    ]


def made_in(folders: list[str]) -> dict[Place, Made]:
    """The mutants of each place below some folders."""
    generated: dict[Place, Made] = {}
    every = mutants_in(folders, KEPT)
    charging = {path: charges(path) for path in {mutant.path for mutant in every}}
    for mutant in every:
        part = "charges" if mutant.lines in charging[mutant.path] else ""
        made = generated.setdefault((mutant.path, part), Made())
        made.mutants += not mutant.words
        made.words += mutant.words
        if not mutant.words:
            made.digests.add(mutant.digest)
    return generated


def recorded() -> None:
    """Write the record from the results of all runs."""
    generated, lines = dict[Place, Made](), list[dict[str, Any]]()
    for name, room in ROOMS.items():
        lines += lines_of(BUILD / f"{name}.jsonl")
        generated |= made_in(list(room.targets))
    write(record(lines, generated))


def fresh(seed: int, most: int) -> None:
    """Write what became of the mutants of the sampled room that a seed draws."""
    lines = {(line["path"], line["digest"]): line for line in lines_of(BUILD / "keeping.jsonl")}
    every = drawn(mutants_in(list(ROOMS["keeping"].targets), KEPT), seed)
    asked = [mutant.key for mutant in every if not mutant.words][: most or None]
    names = ("path", "digest", "result")
    places = ("function", "line", "was", "now")  # of those that are left
    write(
        (
            {name: line[name] for name in (*names, *(places if line["result"] in LEFT else ()))}
            for line in (lines[key] for key in asked)
        ),
        FRESH,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("room", choices=[*ROOMS, "record", "fresh"])
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of tests per mutant")
    parser.add_argument("--again", action="store_true", help="run what survived again")
    parser.add_argument("--most", type=int, default=0, help="of the drawn order; 0 for all")
    given = parser.parse_args()
    if given.room == "record":
        recorded()
        print(table())
        return 0
    if given.room == "fresh":
        fresh(given.seed, given.most)
        return 0
    return run(given.room, given.seed, given.budget, given.jobs, given.again, given.most)


if __name__ == "__main__":
    sys.exit(main())
