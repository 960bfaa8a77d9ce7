"""Kill -9 at random moments of everything that writes, and two of everything beside each other.

``python -m benchmarks.kills RESULTS.jsonl`` runs each work once undisturbed, then again and again:
the whole process group is killed at a seeded moment, what lies there is looked at, and the same
work is done again in the same folder. It must end with the same bytes. On a Dask cluster a worker
or the scheduler is killed instead. A run that was interrupted goes on: a line is one kill.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FACTS = [(f"s{i}", f"p{i % 7}", f"o{i * i % 31}") for i in range(400)]
DATABASES = [
    [[f"k{i}", f"q{j}", f"v{(i * j + n) % 3}"] for i in range(3) for j in range(3)]
    for n in range(6)
]
SWEEP = """
from pathlib import Path
from lemmax.numerics.training.configurations import RandomDatabase, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.training.sweeps import sweep
if __name__ == "__main__":
    import os, sys
    jobs = [Job(Wong(1 + s % 4, 1, 1, 2, RandomDatabase(s, 20 + s)), seed=s) for s in range(12)]
    sweep(jobs, recipe("wong-guess").changed(steps=4000), Path("results.jsonl"), backend="numba",
          group=3, checkpoint_seconds=0.05, workers=int(sys.argv[1]),
          cluster=os.environ.get("SCHEDULER"))
"""
VARYING = re.compile(rb'"seconds": ?[0-9.e-]+|[0-9.]+ s,')  # times that a result tells of itself


@dataclass(frozen=True)
class Work:
    """Something that writes files: the words of a program, what it needs, what it leaves."""

    words: tuple[str, ...]
    made: tuple[str, ...]
    prepare: Callable[[Path], object] = lambda folder: None
    whole: bool = True  # a file is there whole or not at all; else a torn last line is allowed


def lemmax(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "lemmax", *words)


def facts(folder: Path) -> None:
    rows = [",".join(fact) for fact in FACTS]
    (folder / "facts.csv").write_text("\n".join(["subject,predicate,object", *rows]) + "\n")


def databases(folder: Path) -> None:
    lines = [json.dumps({"triples": triples}) for triples in DATABASES]
    (folder / "many.jsonl").write_text("\n".join(lines) + "\n")


def sweep(folder: Path) -> None:
    (folder / "work.py").write_text(SWEEP)


def prepared(folder: Path, *words: str) -> None:
    env = environment(folder)
    subprocess.run(lemmax(*words), cwd=folder, env=env, check=True, capture_output=True)


def project(folder: Path) -> None:
    prepared(folder, "init", "paper")


def certificate(folder: Path) -> None:
    prepared(folder, "export", "wong/argmax-rank-one", "-f", "json", "-o", "c.json")


SURVEY = lemmax("survey", "many.jsonl", "-o", "out.jsonl", "--seconds", "1000", "--certify", "1")
LEDGER = ("pytest", "-q", "-p", "no:cacheprovider", "--ledger", "ledger.json", "--rootdir", ".")
WORKS = {
    "compile": Work(lemmax("compile", "facts.csv", "-o", "layer.json"), ("layer.json",), facts),
    "compile in bfloat16": Work(
        lemmax("compile", "facts.csv", "-o", "layer.json", "--dtype", "bfloat16"),
        ("layer.json", "layer.safetensors"),
        facts,
    ),
    "export": Work(
        lemmax("export", "wong/argmax-rank-one", "-f", "npz", "-o", "x.npz"), ("x.npz",)
    ),
    "survey": Work(SURVEY, ("out.jsonl",), databases, whole=False),
    "survey, two processes": Work((*SURVEY, "--workers", "2"), ("out.jsonl",), databases, False),
    "sweep": Work((sys.executable, "work.py", "0"), ("results.jsonl",), sweep, False),
    "sweep, two processes": Work(
        (sys.executable, "work.py", "2"), ("results.jsonl",), sweep, False
    ),
    "ledger": Work(
        ("sh", "-c", f"cd paper && {sys.executable} -m {' '.join(LEDGER)}"),
        ("paper/ledger.json",),
        project,
    ),
    "proof": Work(lemmax("prove", "c.json", "-o", "c.v", "--run", "--json"), ("c.v",), certificate),
}
CLUSTERED = ("worker", "scheduler")


def environment(folder: Path) -> dict[str, str]:
    """This checkout, one thread, and one cache of proofs for all runs."""
    rooms = [str(ROOT / room) for room in ("theory", "constructions", "numerics")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([*rooms, str(ROOT)]),
        "XDG_CACHE_HOME": str(folder.parent.parent / "cache"),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def begin(work: Work, folder: Path, **more: str) -> subprocess.Popen[Any]:
    """The work in a process group of its own."""
    with open(folder / "output", "ab") as output:
        return subprocess.Popen(
            work.words,
            cwd=folder,
            env=environment(folder) | more,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def finish(work: Work, folder: Path, **more: str) -> dict[str, bytes]:
    """Do the work to its end; the files that it made, without the times that they tell."""
    process = begin(work, folder, **more)
    if status := process.wait(timeout=600):
        raise RuntimeError(f"status {status}: " + (folder / "output").read_text()[-2000:])
    return {name: VARYING.sub(b"", (folder / name).read_bytes()) for name in work.made}


def torn(work: Work, folder: Path, wanted: dict[str, bytes]) -> list[str]:
    """Files that are there and are not whole."""
    found = []
    for name, whole in wanted.items():
        if not (folder / name).exists():
            continue
        there = VARYING.sub(b"", (folder / name).read_bytes())
        lines = there[: there.rfind(b"\n") + 1].splitlines()
        good = there == whole if work.whole else set(lines) <= set(whole.splitlines())
        if not good:
            found.append(name)
    return found


def new_folder(work: Work, place: Path) -> Path:
    folder = place / "folder"
    folder.mkdir(parents=True)
    work.prepare(folder)
    for record in (place.parent / "cache" / "lemmax" / "prove").glob("*.json"):
        record.unlink()  # what was proved is proved again
    return folder


def killed(name: str, place: Path, moments: random.Random, known: dict[str, Any]) -> dict[str, Any]:
    """One kill of a work at a random moment, and what came of doing it again."""
    work = WORKS[name]
    if name not in known:
        finish(work, new_folder(work, place / "first"))  # machine code and caches are made
        folder = new_folder(work, place / "undisturbed")
        began = time.monotonic()
        known[name] = finish(work, folder), time.monotonic() - began
    wanted, whole = known[name]
    folder = new_folder(work, place / "killed")
    process = begin(work, folder)
    moment = moments.uniform(0.2, 1.0) * whole
    try:
        process.wait(timeout=moment)
        late = True
    except subprocess.TimeoutExpired:
        late = False
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    half = torn(work, folder, wanted)
    again = finish(work, folder)
    left = [path.name for path in folder.rglob("*.lock")]
    return {
        "work": name,
        "moment": round(moment, 2),
        "of": round(whole, 2),
        "killed": not late,
        "torn": half,
        "locks": left,
        "equal": again == wanted,
    }


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[Any]]]]:
    """A scheduler and two workers: its address, and the three processes."""
    told = folder / "scheduler.json"
    words = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0"]
    words += ["--no-dashboard", "--scheduler-file", str(told)]
    quiet: dict[str, Any] = {
        "cwd": folder,
        "env": environment(folder),
        "stderr": subprocess.DEVNULL,
    }
    processes: list[subprocess.Popen[Any]] = []
    processes.append(subprocess.Popen(words, start_new_session=True, **quiet))
    try:
        while not told.exists() or not told.read_text():
            time.sleep(0.1)
        for _ in range(2):
            words = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-dashboard"]
            words += ["--no-nanny", "--nthreads", "1", "--scheduler-file", str(told)]
            processes.append(subprocess.Popen(words, start_new_session=True, **quiet))
        yield json.loads(told.read_text())["address"], processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def killed_on_cluster(
    whom: str, place: Path, moments: random.Random, known: dict[str, Any]
) -> dict[str, Any]:
    """Kill a worker or the scheduler under a sweep; it goes on, or ends with one sentence."""
    work = WORKS["sweep"]
    if "cluster" not in known:
        began = time.monotonic()
        folder = new_folder(work, place / "undisturbed")
        with cluster(place) as (address, _):
            wanted = finish(work, folder, SCHEDULER=address)
        shutil.rmtree(place / "undisturbed")
        known["cluster"] = wanted, time.monotonic() - began
    wanted, whole = known["cluster"]
    folder = new_folder(work, place / "killed")
    moment = moments.uniform(0.3, 0.9) * whole
    (place / "second").mkdir()
    with cluster(place / "second") as (address, processes):
        process = begin(work, folder, SCHEDULER=address)
        time.sleep(moment)
        late = process.poll() is not None
        victim = processes[0] if whom == "scheduler" else processes[moments.choice((1, 2))]
        victim.kill()
        status = process.wait(timeout=300)
    half = torn(work, folder, wanted)
    said = (folder / "output").read_text()
    again = finish(work, folder)  # without a cluster: the results are the same
    return {
        "work": f"sweep on a cluster, {whom} killed",
        "moment": round(moment, 2),
        "of": round(whole, 2),
        "killed": not late,
        "status": status,
        "sentence": next((line for line in said.splitlines()[::-1] if "Error: " in line), "")[
            -300:
        ],
        "torn": half,
        "locks": [path.name for path in folder.rglob("*.lock")],
        "equal": again == wanted,
    }


def beside(name: str, place: Path, known: dict[str, Any]) -> dict[str, Any]:
    """Two runs of one work at once, with one cache; where they write one file, in one folder."""
    work = WORKS[name]
    wanted, whole = known[name]
    folder = new_folder(work, place / "two")
    processes = [begin(work, folder) for _ in range(2)]
    statuses = sorted(process.wait(timeout=600) for process in processes)
    said = (folder / "output").read_text()
    if all(statuses):
        raise RuntimeError(said[-2000:])
    again = finish(work, folder)
    told = (x for x in said.splitlines() if x.endswith("results.jsonl.") or "lemmax: Another" in x)
    sentence = next(told, "")[:300]
    return {
        "work": name,
        "beside": 2,
        "of": round(whole, 2),
        "statuses": statuses,
        "sentence": sentence,
        "reason": said[-3000:] if any(statuses) and not sentence else "",
        "torn": torn(work, folder, wanted),
        "locks": [path.name for path in folder.rglob("*.lock")],
        "equal": again == wanted,
    }


def run(results: Path, kills: int, seed: int, names: list[str], pairs: int = 1) -> bool:
    """Every kill that the file does not have yet; whether all was well."""
    done = (
        [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    )
    have, known = {tuple(line["key"]) for line in done}, dict[str, Any]()
    for name in names:
        keys: list[tuple[Any, ...]] = [(name, seed, number) for number in range(kills)]
        if name in WORKS:
            keys += [(name, seed, "beside", *((n,) if n else ())) for n in range(pairs)]
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder).resolve()
            for key in keys:
                if key in have:
                    continue
                moments = random.Random(repr(key))
                if key[2] == "beside":
                    if name not in known:
                        killed(name, place, moments, known)
                    line = beside(name, place, known)
                elif name in CLUSTERED:
                    line = killed_on_cluster(name, place, moments, known)
                else:
                    line = killed(name, place, moments, known)
                for left in ("first", "killed", "second", "two"):
                    shutil.rmtree(place / left, ignore_errors=True)
                done.append({"key": key, **line})
                with open(results, "a", encoding="utf-8") as stream:
                    stream.write(json.dumps(done[-1]) + "\n")
                print(json.dumps(done[-1]), flush=True)
    return all(line["equal"] and not line["torn"] and not line["locks"] for line in done)


def table(results: Path) -> str:
    """The record as a table in Markdown."""
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    told = ["| work | kills | of them before the end | torn files | locks left | same bytes |"]
    told.append("|---|---|---|---|---|---|")
    for name in dict.fromkeys(line["work"] for line in lines):
        some = [line for line in lines if line["work"] == name and "beside" not in line]
        cells = (len(some), sum(line["killed"] for line in some))
        counts = (sum(bool(line[what]) for line in some) for what in ("torn", "locks", "equal"))
        told.append(f"| {name} | " + " | ".join(map(str, (*cells, *counts))) + " |")
    return "\n".join(told)


def table_beside(results: Path) -> str:
    """The runs beside each other as a table in Markdown."""
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    told = ["| work | pairs | statuses | said | same bytes |", "|---|---|---|---|---|"]
    rows = Counter(
        (
            line["work"],
            ", ".join(map(str, line["statuses"])),
            line["sentence"].rpartition(": ")[2],
            "yes" if line["equal"] else "no",
        )
        for line in lines
        if "beside" in line
    )
    for (work, *cells), pairs in rows.items():
        told.append(f"| {work} | {pairs} | " + " | ".join(cells) + " |")
    return "\n".join(told)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--kills", type=int, default=5, help="of each work")
    parser.add_argument("--pairs", type=int, default=1, help="of each work, beside each other")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--only", nargs="*", default=[*WORKS, *CLUSTERED])
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        print(table(given.results), table_beside(given.results), sep="\n\n")
        return 0
    return 0 if run(given.results, given.kills, given.seed, given.only, given.pairs) else 1


if __name__ == "__main__":
    sys.exit(main())
