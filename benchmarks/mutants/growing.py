"""Certificates that tell mutants of the checker from the checker: the corpus grows by them.

    python -m benchmarks.mutants.growing FILE.jsonl ... --variants 20 --seconds 1.5

Every mutant that survived is put into its place, and certificates that reach its lines are checked,
damaged variants of the corpus and those of the files, until one has another outcome. Those are
added to tests/data/corpus.jsonl, and `python -m benchmarks.mutants checker --again` then kills.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import random
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import corpus
from benchmarks.attack_checker import mutated
from benchmarks.mutants.__main__ import BUILD, KEPT, lines_of
from benchmarks.mutants.generated import ROOT, Mutant, mutants_in
from benchmarks.mutants.rooms import ROOMS
from benchmarks.mutants.served import Work, alive, modules, pooled, put, span

TARGETS = list(ROOMS["checker"].targets)
LINES = BUILD / "pool.jsonl"
Pool = list[tuple[Any, dict[str, Any]]]


def variants(rows: list[dict[str, Any]], number: int, seed: int) -> Iterator[str]:
    """Certificates with one or more places damaged, mostly those that hold."""
    for n, row in enumerate(rows):
        if isinstance(row["certificate"], dict) and row["certificate"]:
            for k in range(number if row["said"][0] == "holds" else number // 4):
                rng = random.Random(f"{seed} {n} {k}")
                try:
                    yield corpus.text_of(mutated(rng, row["certificate"]))
                except (ValueError, TypeError, RecursionError):
                    continue


def measured(texts: list[str]) -> tuple[Pool, dict[tuple[str, int], list[int]]]:
    """The certificates that are fast, what is said of them, and those that reach each line."""
    pool: Pool = []
    by_line: dict[tuple[str, int], list[int]] = defaultdict(list)
    known = {line["text"]: line for line in lines_of(LINES)}
    with open(LINES, "a", encoding="utf-8") as stream:
        for text in texts:
            if text not in known:
                known[text] = told = measure(text)
                stream.write(json.dumps(told) + "\n")
            told = known[text]
            if told["fast"]:
                for path, numbers in told["lines"].items():
                    for number in numbers:
                        by_line[path, number].append(len(pool))
                pool.append((json.loads(text), told["outcome"]))
    return pool, by_line


def measure(text: str) -> dict[str, Any]:
    certificate, began = json.loads(text), time.process_time()
    outcome = corpus.outcome(certificate)
    if time.process_time() - began > corpus.SLOW or len(text) > corpus.LARGE:
        return {"text": text, "fast": False}
    lines: dict[str, set[int]] = defaultdict(set)
    for file, (_, line) in corpus.reached(certificate):
        lines[Path(file).relative_to(ROOT).as_posix()].add(abs(line))
    listed = {file: sorted(numbers) for file, numbers in lines.items()}
    return {"text": text, "fast": True, "outcome": outcome, "lines": listed}


def grown(pool: Pool, by_line: dict[tuple[str, int], list[int]], seconds: float, jobs: int) -> None:
    """Find a certificate for every mutant that is left, and add what was found to the corpus.

    Certificates that the corpus has already are asked first.
    """
    known = [row["certificate"] for row in corpus.read()]
    old = set(map(corpus.text_of, known))
    there = {n for n, (certificate, _) in enumerate(pool) if corpus.text_of(certificate) in old}
    latest = {
        (line["path"], line["digest"]): line["result"] for line in lines_of(BUILD / "checker.jsonl")
    }
    every = [mutant for mutant in mutants_in(TARGETS, KEPT) if not mutant.words]
    left = [mutant for mutant in every if latest.get(mutant.key) in ("survived", "uncovered")]
    for name in sorted(modules(TARGETS)):
        importlib.import_module(name)
    gc.collect()
    places = alive(TARGETS)
    gc.freeze()
    useful, found = Counter[int](), set[int]()

    def tasks() -> Iterator[tuple[Mutant, Work]]:
        for mutant in left:
            reaching = {n for line in span(mutant) for n in by_line[mutant.path, line]}
            order = sorted(reaching, key=lambda n: (-useful[n], n not in there, n))
            if order and places[mutant.path, mutant.function]:
                yield mutant, partial(tried, mutant, order)

    def tried(mutant: Mutant, order: list[int], out: int) -> None:
        put(mutant, places[mutant.path, mutant.function])
        signal.setitimer(signal.ITIMER_PROF, seconds)
        for n in order:
            os.write(out, f"{n}\n".encode())
            certificate, outcome = pool[n]
            if corpus.outcome(certificate) != outcome:
                return
        os.write(out, b"none\n")

    for done, (_, said, ended) in enumerate(pooled(tasks(), jobs), 1):
        last = said.split()[-1] if said else "none"
        # An exception of the mutant ends the child too, at the certificate that it named last.
        if last != "none" and ended != signal.SIGPROF:
            useful[int(last)] += 1
            found |= {int(last)} - there
        if done % 100 == 0:
            told = f"{useful.total()} told apart by {len(found)}"
            print(f"{done} of {len(left)} tried, {told}", flush=True)
    corpus.record([*known, *(pool[n][0] for n in sorted(found))])
    print(f"{useful.total()} of {len(left)} are told apart by {len(found)} certificates.")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--variants", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    rows = corpus.read()
    texts = {*variants(rows, given.variants, given.seed)}
    for file in given.files:
        texts.update(file.read_text(encoding="utf-8").splitlines())
    texts.update(corpus.text_of(row["certificate"]) for row in rows)
    pool, by_line = measured(sorted(texts, key=lambda text: (len(text), text)))
    print(f"{len(pool)} certificates", flush=True)
    grown(pool, by_line, given.seconds, given.jobs)


if __name__ == "__main__":
    main()
