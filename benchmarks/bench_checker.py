"""How long the independent checker takes: over certificates, to start, and over hostile files.

``python benchmarks/bench_checker.py [--against OTHER] [--certificates FOLDER] [--hostile]``

OTHER is another checker, a file or a folder that Python runs. Times are seconds of processor time,
the least of several runs, both checkers in turn. Hostile files are those of tests/checker; each is
checked by a process with 60 seconds and a gigabyte, and the table names time, memory and status.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "theory/lemmax/checker"
SHIPPED = ROOT / "constructions/lemmax/constructions/certificates"
# In one process: a first round reads, compiles and remembers; the least of the later rounds counts.
WITHIN = """
import importlib.util, sys, time
path, rounds, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
place = path if path.endswith(".py") else path + "/__init__.py"
spec = importlib.util.spec_from_file_location("measured", place)
module = importlib.util.module_from_spec(spec)
sys.modules["measured"] = module
spec.loader.exec_module(module)
times = []
for _ in range(rounds):
    start = time.process_time()
    for file in files:
        assert module.check_file(file).holds, file
    times.append(time.process_time() - start)
print(min(times[1:]))
"""


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))


def run(checker: Path, *files: Path) -> tuple[float, int, int]:
    """Seconds, the largest resident memory in megabytes, and the status of one process."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", checker, *files],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limited,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, process.returncode


def within(checker: Path, files: Sequence[Path], rounds: int) -> float:
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        WITHIN,
        str(checker),
        str(rounds),
        *map(str, files),
    ]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def speed(checkers: Sequence[Path], files: Sequence[Path], rounds: int) -> None:
    small = min(files, key=lambda file: file.stat().st_size)
    asked = {"one file, one process": [small], f"{len(files)} files, one process": files}
    for told, chosen in asked.items():
        times = [[run(checker, *chosen)[0] for checker in checkers] for _ in range(rounds)]
        print(f"{told:32}", *(f"{min(column):8.3f}" for column in zip(*times, strict=True)))
    inside = [[within(checker, files, rounds) for checker in checkers] for _ in range(3)]
    print(f"{'... without start-up':32}", *(f"{min(c):8.3f}" for c in zip(*inside, strict=True)))


def hostile(checkers: Sequence[Path]) -> None:
    for name in ("test_hostile_files", "test_hostile_statements"):
        spec = importlib.util.spec_from_file_location(name, ROOT / f"tests/checker/{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for title, make in module.HOSTILE.items():
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "hostile.json"
                file.write_text(json.dumps(make(), separators=(",", ":")), encoding="utf-8")
                parts = [run(checker, file) for checker in checkers]
            shown = (f"{seconds:6.1f} s {size:5} MB {status:3}" for seconds, size, status in parts)
            print(f"{title:44}", *shown, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, metavar="OTHER")
    parser.add_argument("--certificates", type=Path, default=SHIPPED, metavar="FOLDER")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--rounds", type=int, default=10)
    chosen = parser.parse_args()
    both = [FOLDER, *([chosen.against] if chosen.against else [])]
    if chosen.hostile:
        hostile(both)
    else:
        speed(both, sorted(chosen.certificates.rglob("*.json")), chosen.rounds)
