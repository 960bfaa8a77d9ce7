"""What is bit-equal when the processor has other instructions, and what is not.

``python -m benchmarks.determinism RESULTS.jsonl`` computes the same things with the libraries told
to use other instructions (what another machine would make them do), one process per setting, and
records a digest of each and the numbers of what was trained. A run that was interrupted goes on.
On another machine ``--probes`` prints what it computes; ``--add NAME RESULTS.jsonl`` records that
here from its input.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OLD = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR AVX2 FMA3 F16C AVX"
SETTINGS: dict[str, dict[str, str]] = {
    "as it is": {},
    "numpy without AVX": {"NPY_DISABLE_CPU_FEATURES": OLD},
    "OpenBLAS for Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "OpenBLAS for Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "torch without AVX": {"ATEN_CPU_CAPABILITY": "default"},
    "MKL compatible": {"MKL_CBWR": "COMPATIBLE"},
    "numba for any x86-64": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "two threads": {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
}
EXACT = ("layer", "layer in bfloat16", "rank", "margins")


def digest(value: Any) -> str:
    """The digest of something that JSON holds."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def probes() -> dict[str, Any]:
    """A digest of every result that is exact, and the numbers of every run that was trained."""
    import numpy as np

    from lemmax.constructions import compile_database
    from lemmax.constructions.compiler.coded.files import float_certificate
    from lemmax.numerics.certifying.certify import certify
    from lemmax.numerics.training.configurations import RandomDatabase, Wong
    from lemmax.numerics.training.jobs import Job
    from lemmax.numerics.training.recipes import recipe
    from lemmax.numerics.training.sweeps import sweep
    from lemmax.theory import Database, tensor_rank

    facts = [(f"s{i}", f"p{j}", f"o{(i * j + i) % 5}") for i in range(6) for j in range(4)]
    db = Database.from_triples(facts)
    small = Database.from_triples(
        [(str(i), str(j), str((i + j) % 3)) for i in (0, 1, 2) for j in (0, 1)]
    )
    draw = np.random.default_rng(7)
    weights = {"W_E": draw.standard_normal((8, 4)), "W_U": draw.standard_normal((4, 8))}
    weights |= {f"heads.0.W_{x}": draw.standard_normal((4, 2)) for x in "QV"}
    weights |= {
        "heads.0.W_K": draw.standard_normal((2, 4)),
        "heads.0.W_O": draw.standard_normal((2, 4)),
    }
    weights = {name: np.round(array * 64) / 64 for name, array in weights.items()}
    asked = [(0, 1, 2), (1, 0, 3), (2, 3, 4), (5, 6, 7)]
    outcomes = certify(weights, asked).outcomes
    found: dict[str, Any] = {
        "layer": digest(compile_database(db).certificate()),
        "layer in bfloat16": digest(float_certificate(compile_database(db, dtype="bfloat16"))),
        "rank": digest(tensor_rank(small, seconds=None).certificate()),
        "margins": digest([(o.known, str(o.low), str(o.high)) for o in outcomes]),
    }
    jobs = [Job(Wong(1 + s % 3, 1, 1, 2, RandomDatabase(s, 20 + s)), seed=s) for s in range(6)]
    for backend in ("reference", "torch", "numba"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.jsonl"
            group = None if backend == "reference" else 3
            steps = recipe("wong-guess").changed(steps=300)
            records = sweep(jobs, steps, path, backend=backend, group=group)
        found[f"trained, {backend}"] = [
            {"loss": record["loss"], "accuracy": record["accuracy"]} for record in records
        ]
    return found


def run(results: Path) -> None:
    """Every setting that the file does not have yet."""
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    done = {json.loads(line)["setting"] for line in lines}
    rooms = [str(ROOT / room) for room in ("theory", "constructions", "numerics")]
    path = os.pathsep.join([*rooms, str(ROOT)])
    for name, setting in SETTINGS.items():
        if name in done:
            continue
        environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"} | setting
        said = subprocess.run(
            [sys.executable, "-m", "benchmarks.determinism", "--probes"],
            env=environment,
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        add(results, name, json.loads(said), setting)
        print(name, flush=True)


def add(results: Path, name: str, found: dict[str, Any], setting: dict[str, str]) -> None:
    """One more line: what was computed, here or on another machine."""
    line = {"setting": name, "environment": setting, "found": found}
    with open(results, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")


def compared(ours: Any, theirs: Any) -> str:
    """How two results differ, in a word or a number."""
    if ours == theirs:
        return "same bits"
    if isinstance(ours, str):
        return "differs"
    gap = max(abs(a["loss"] - b["loss"]) for a, b in zip(ours, theirs, strict=True))
    same = all(a["accuracy"] == b["accuracy"] for a, b in zip(ours, theirs, strict=True))
    return f"losses within {gap:.1g}, {'the same' if same else 'other'} accuracies"


def table(results: Path) -> str:
    """What each setting changes, as a table in Markdown."""
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    first = lines[0]["found"]
    told = ["| setting | " + " | ".join(first) + " |", "|---|" + "---|" * len(first)]
    for line in lines[1:]:
        cells = [compared(first[name], line["found"][name]) for name in first]
        told.append(f"| {line['setting']} | " + " | ".join(cells) + " |")
    return "\n".join(told)


if __name__ == "__main__":
    if sys.argv[1] == "--probes":
        json.dump(probes(), sys.stdout)
    elif sys.argv[1] == "--add":
        add(Path(sys.argv[3]), sys.argv[2], json.load(sys.stdin), {})
    elif sys.argv[1] == "--table":
        print(table(Path(sys.argv[2])))
    else:
        run(Path(sys.argv[1]))
