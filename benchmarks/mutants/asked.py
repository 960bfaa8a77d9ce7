"""What survived in some files, and whether given tests find it.

    python -m benchmarks.mutants.asked theory/lemmax/checker/planes.py
    python -m benchmarks.mutants.asked theory/lemmax/checker/planes.py --tests tests/checker

The first command lists the survivors of the record that are not shown to mean the same, the second
runs the tests against each of them. With --every all mutants are run, not only those recorded, as
a function that was changed needs it; --function names the functions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.mutants.__main__ import KEPT
from benchmarks.mutants.generated import Mutant, mutants_in
from benchmarks.mutants.record import equivalents, read
from benchmarks.mutants.served import Server, serve

BUDGET = 60.0  # seconds of tests for one mutant


def folders(paths: list[str]) -> list[str]:
    return sorted({str(Path(path).parent) for path in paths})


def asked(paths: list[str], every: bool, functions: list[str]) -> list[Mutant]:
    """The mutants of some files: those that are left, or all that can be run."""
    left = {each["digest"] for line in read() for each in line["left"]}
    same = equivalents()
    return [
        mutant
        for mutant in mutants_in(folders(paths), KEPT)
        if mutant.path in paths and not mutant.words and mutant.digest not in same
        if every or mutant.digest in left
        if not functions or mutant.function in functions
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--tests", nargs="*", default=[])
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--function", nargs="*", default=[])
    given = parser.parse_args()
    mutants = asked(given.paths, given.every, given.function)

    def show(line: dict[str, Any]) -> None:
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
        server = Server(folders(given.paths), known, lambda: mutants, show, BUDGET, 1, BUDGET)
        return serve(server, given.tests, ())


if __name__ == "__main__":
    sys.exit(main())
