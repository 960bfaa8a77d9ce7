"""``python -m benchmarks.hostile RESULTS.jsonl``: every file with every command that reads it.

A line of the results is one reading; a run that was interrupted goes on. Status 1 if a reading
went wrong.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import benchmarks.hostile.facts
import benchmarks.hostile.projects
import benchmarks.hostile.weights  # noqa: F401
from benchmarks.hostile.attempts import Reader, cases


def run(results: Path) -> bool:
    """Read what the file has not; whether all of it ended well."""
    old = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    done = {(line["name"], line["command"]): line for line in map(json.loads, old)}
    with Reader() as reader:
        for name, command in cases():
            if (name, command) in done:
                continue
            with tempfile.TemporaryDirectory() as folder:
                told, faults = reader.judged(name, command, Path(folder).resolve())
            line = {"name": name, "command": command, "faults": faults}
            line |= {key: told[key] for key in ("status", "seconds", "megabytes")}
            done[name, command] = line
            with open(results, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(line) + "\n")
            if faults:
                print(f"{name}: {command}", *faults, sep="\n    ", flush=True)
    return not any(line["faults"] for line in done.values())


if __name__ == "__main__":
    sys.exit(0 if run(Path(sys.argv[1])) else 1)
