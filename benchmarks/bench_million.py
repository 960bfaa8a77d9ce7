"""The cost of layers by codes as facts grow: read, compile, save, and re-check alone.

``python benchmarks/bench_million.py`` measures every size in processes of its own and records CPU
time (one thread) and memory in ``benchmarks/results/million.json``; ``--draw FILE.svg`` draws it.
Tables have three predicates and a tenth as many values as facts.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

from lemmax.constructions.compiler import compile_database, save
from lemmax.theory import Database
from lemmax.theory.files import write_text

RESULTS = Path(__file__).parent / "results" / "million.json"
CHECKER = Path(__file__).parents[1] / "theory" / "lemmax" / "checker"
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
STEPS = ("read", "compile", "save", "check", "total")


def write_table(path: Path, facts: int) -> None:
    """An RDF dump of so many facts, every value used."""
    random, values = Random(facts), facts // 10
    with open(path, "w", encoding="utf-8") as file:
        for i in range(facts):
            v = i if i < values else random.randrange(values)
            file.write(f"<http://x.org/s{i // 3}> <http://x.org/p{i % 3}> <http://x.org/v{v}> .\n")


def compiled(source: Path, target: Path, logits: str) -> dict[str, Any]:
    """Seconds of each step of one process."""
    start = time.process_time()
    db = Database.read(source)
    read = time.process_time()
    layer = compile_database(db, dtype="bfloat16", logits=logits)
    done = time.process_time()
    save(layer, target)
    return {
        "facts": len(db),
        "logits": logits,
        "family": layer.coded.code.family,
        "d_model": layer.dims.d_model,
        "read": round(read - start, 3),
        "compile": round(done - read, 3),
        "save": round(time.process_time() - done, 3),
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def measure(facts: int, logits: str, runs: int = 2) -> dict[str, Any]:
    """One table from its dump to the checker's verdict; the quicker of two runs."""
    return min((_measure(facts, logits) for _ in range(runs)), key=lambda row: row["total"])


def _measure(facts: int, logits: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "facts.nt", Path(folder) / "layer.json"
        write_table(source, facts)
        command = [sys.executable, __file__, "--one", str(source), str(target), logits]
        row = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        # -I: the checker alone, with nothing of lemmax on its path
        checker = subprocess.Popen([sys.executable, "-I", str(CHECKER), str(target)])
        _, status, usage = os.wait4(checker.pid, 0)
        if status:
            raise SystemExit(f"{facts} facts are not certified")
        row["check"] = round(usage.ru_utime + usage.ru_stime, 3)
        row["check_mib"] = usage.ru_maxrss // 1024
        row["total"] = round(row["read"] + row["compile"] + row["save"] + row["check"], 3)
        row["bytes"] = target.with_suffix(".safetensors").stat().st_size
    return dict(row)


def slope(rows: list[dict[str, Any]], step: str, least: int = 100_000) -> float:
    """The growth exponent of a step between ``least`` facts and the largest table."""
    large = [row for row in rows if row["facts"] >= least]
    first, last = large[0], large[-1]
    return math.log(last[step] / first[step]) / math.log(last["facts"] / first["facts"])


def draw(record: dict[str, Any], path: Path) -> None:
    """Seconds against facts, both logarithmic."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    rows = [row for row in record["rows"] if row["logits"] == "bfloat16"]
    for step in STEPS:
        label = f"{step} (slope {slope(rows, step):.2f})"
        axes.loglog([r["facts"] for r in rows], [r[step] for r in rows], "o-", label=label)
    axes.set(xlabel="facts", ylabel="CPU seconds", title="Layers by codes, bfloat16")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    """Measure and record, or draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", nargs=3, metavar=("SOURCE", "TARGET", "LOGITS"))
    parser.add_argument("--draw", type=Path)
    chosen = parser.parse_args()
    if chosen.one:
        source, target, logits = chosen.one
        print(json.dumps(compiled(Path(source), Path(target), logits)))
        return
    if chosen.draw:
        draw(json.loads(RESULTS.read_text(encoding="utf-8")), chosen.draw)
        return
    rows = [measure(facts, logits) for logits in ("bfloat16", "float32") for facts in SIZES]
    record = {"python": platform.python_version(), "rows": rows}
    write_text(RESULTS, json.dumps(record, indent=1) + "\n")
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
