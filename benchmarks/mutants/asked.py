"""What survived in some files, and whether given tests find it.

    python -m benchmarks.mutants.asked theory/lemmax/checker/planes.py
    python -m benchmarks.mutants.asked theory/lemmax/checker/planes.py --tests tests/checker
    python -m benchmarks.mutants.asked --tests tests/checker/test_edges.py --record

The first command lists the survivors of the record that are not shown to mean the same, the second
runs the tests against each of them, the third runs tests against those of all files and writes into
the record which they find. A file that is not as it was when its mutants were recorded is refused
there: with --every all of its mutants are run, and all that is recorded of it is new. --function
names the functions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.mutants.__main__ import KEPT, made_in
from benchmarks.mutants.generated import Mutant, mutants_in
from benchmarks.mutants.record import Place, equivalents, read, record, renewed, stale, write
from benchmarks.mutants.served import Server, serve

BUDGET = 60.0  # seconds of tests for one mutant


def folders(paths: list[str]) -> list[str]:
    """The folders of some files, without those inside of another.

    >>> folders(["a/b.py", "a/c/d.py", "ab/e.py"])
    ['a', 'ab']
    """
    every = {Path(path).parent for path in paths}
    return sorted(str(folder) for folder in every if every.isdisjoint(folder.parents))


def asked(paths: list[str], every: bool, functions: list[str]) -> list[Mutant]:
    """The mutants of some files: those that are left, or all that can be run."""
    left = {each["digest"] for line in read() for each in line["left"]}
    same = equivalents()
    return [
        mutant
        for mutant in mutants_in(folders(paths), KEPT)
        if mutant.path in paths and not mutant.words
        if every or mutant.digest in left - same.keys()
        if not functions or mutant.function in functions
    ]


def recorded(paths: list[str], results: list[dict[str, Any]], every: bool) -> None:
    """Put results into the record: of all mutants of the files, or of some that were left."""
    made = made_in(folders(paths))
    if every:
        known = {place: each for place, each in made.items() if place[0] in paths}
        new = {(line["path"], line["part"]): line for line in record(results, known)}
        old = {(line["path"], line["part"]): line for line in read() if line["path"] not in paths}
        write(line for _, line in sorted((old | new).items()))
        return
    found = {
        (line["path"], line["digest"]): line["result"]
        for line in results
        if line["result"] != "uncovered"  # by these tests: by others it may be
    }

    def again(line: dict[str, Any]) -> dict[str, Any]:
        digests = {digest: said for (path, digest), said in found.items() if path == line["path"]}
        return renewed(line, digests)

    write([again(line) if line["path"] in paths else line for line in read()])


def outdated(paths: list[str]) -> set[str]:
    """The files that are not as they were when their mutants were recorded."""
    made = made_in(folders(paths))
    known: dict[Place, dict[str, Any]] = {(line["path"], line["part"]): line for line in read()}
    return {
        place[0]
        for place in made.keys() | known.keys()
        if place[0] in paths
        if place not in made or place not in known or stale(known[place], made[place])
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("paths", nargs="*", help="all files of the record, if none is named")
    parser.add_argument("--tests", nargs="*", default=[])
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--function", nargs="*", default=[])
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds of tests per mutant")
    given = parser.parse_args()
    paths: list[str] = given.paths or sorted({line["path"] for line in read()})
    if given.record and not given.every and (old := outdated(paths)):
        print(f"Not as recorded, so all of their mutants are asked for: {', '.join(sorted(old))}.")
        return 2
    mutants = asked(paths, given.every, given.function)
    results: list[dict[str, Any]] = []

    def show(line: dict[str, Any]) -> None:
        results.append(line)
        place = f"{line['path'].partition('/lemmax/')[2]}:{line['line']} {line['function']}"
        print(f"{line.get('result', '')} {line['digest']} {place}")
        if line.get("result") not in ("killed", "timeout"):
            print(f"    - {line['was']}\n    + {line['now']}", flush=True)

    if not given.tests:
        for mutant in mutants:
            show(mutant.told())
        print(f"{len(mutants)} mutants")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder) / "coverage.jsonl"
        budget: float = given.budget
        server = Server(folders(paths), known, lambda: mutants, show, budget, 1, BUDGET)
        status = serve(server, given.tests, ())
    if given.record:
        recorded(paths, results, given.every)
    return status


if __name__ == "__main__":
    sys.exit(main())
