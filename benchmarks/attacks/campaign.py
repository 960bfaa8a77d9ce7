"""Many damaged and false certificates, each checked in a process that the system limits.

Run: ``python -m benchmarks.attacks.campaign --seed 1 --count 6000 [--share 0/2]``. Every attack
draws COUNT instances ("swollen" one in a hundred of it), in parts of 200. A part that is done is
one line of ``benchmarks/results/attacks.jsonl``, so a run that was stopped goes on where it was,
and several processes take shares of the parts. What the checker accepts is judged again without it.
A false acceptance, a traceback, a signal of the system, memory that ran out: each is a fault, is
printed, and makes the status 1. ``--table`` prints the sums of what is recorded.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import attack_checker, random_transformers
from benchmarks.attack_checker import ATTACKS, JUDGES, SHIPPED, Certificate, Outcome, judged
from benchmarks.attacks.forged import FORGED
from benchmarks.attacks.limited import FOLDER, Checker

RESULTS = Path(__file__).parents[1] / "results" / "attacks.jsonl"
PART = 200
_PIECES = (
    *('"', "{", "}", "[", "]", ",", ":", "null", "true", "NaN", "Infinity", "-0", "0.5", "1e9"),
    *('"1e999"', '"-0"', '"0x1p-1000000"', '"1/0"', '"٣"', '"\\u0000"', '"\\ud800"', "99999999"),
    *('{"a":1,"a":1}', "[" * 40, '"' + "9" * 4001 + '"', '"' + "7" * 900 + '"', "\x00", "\ufeff"),
)


class Asked(Exception):
    """The checker is asked about a file."""


def planted(rng: random.Random) -> Certificate:
    """A certificate of any kind, shipped or made."""
    kind = rng.choice(sorted(JUDGES))
    shipped = [c for c in SHIPPED if c["kind"] == kind]
    if kind == "float-memorization":
        return dict(json.loads(attack_checker.coded(rng.randrange(140))))
    if kind == "transformer-memorization":
        return random_transformers.random_certificate(rng.randrange(400), facts=2)
    if kind == "readout":
        return dict(json.loads(attack_checker.read(rng.randrange(12))))
    if kind in FORGED and (not shipped or rng.random() < 0.5):
        return FORGED[kind](rng)
    return dict(rng.choice(shipped))


def text_of(certificate: Certificate) -> str:
    return json.dumps(certificate, separators=(",", ":"))


def damaged(rng: random.Random) -> Outcome:
    """The text of a file with a few letters cut out, doubled, exchanged or put in."""
    text = text_of(planted(rng))
    for _ in range(rng.choice([1, 1, 2, 4])):
        i = rng.randrange(len(text))
        j = min(len(text), i + rng.choice([1, 1, 5, 40]))
        piece = rng.choice([*_PIECES, text[i:j]])
        text = rng.choice(
            [text[:i] + text[j:], text[:i] + piece + text[i:], text[:i] + piece + text[j:]]
        )
    file = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:
        place = rng.randrange(len(file))
        file = file[:place] + bytes([rng.randrange(256)]) + file[place + 1 :]
    answer = attack_checker.said(file)
    return (answer, "") if answer != "holds" else judged(json.loads(file), answer)


def crossed(rng: random.Random) -> Outcome:
    """Two certificates of one kind, of which one takes a part of the other."""
    first = planted(rng)
    second = planted(rng)
    while second["kind"] != first["kind"]:
        second = planted(rng)
    first = json.loads(text_of(first))
    name = rng.choice(sorted(first.keys() & second.keys()))
    if isinstance(first[name], dict) and isinstance(second[name], dict) and rng.random() < 0.5:
        both = sorted(first[name].keys() & second[name].keys())
        if both:
            inner = rng.choice(both)
            first[name][inner] = second[name][inner]
            return judged(first)
    first[name] = second[name]
    return judged(first)


def swollen(rng: random.Random) -> Outcome:
    """A list repeated, or a number made long, up to about a megabyte: what takes time or memory."""
    certificate = json.loads(text_of(planted(rng)))
    for _turn in range(rng.choice([1, 2, 6])):
        places = list(attack_checker.paths(certificate))[1:]
        *path, last = rng.choice(places)
        inside = certificate
        for key in path:
            inside = inside[key]
        value = inside[last]
        room = max(1, (1_000_000 - len(str(certificate))) // (len(str(value)) + 2))
        if isinstance(value, list) and value:
            inside[last] = value * min(room, rng.choice([2, 10, 100, 1000]))
        elif isinstance(value, int):
            inside[last] = rng.choice([10**3, 10**6, 2**53 - 1])
        elif isinstance(value, str) and value.strip("-")[:1].isdigit():
            long = "0x" + "f" * rng.choice([50, 5_000, 300_000])
            digits = "9" * rng.choice([20, 900, 4_000])
            inside[last] = rng.choice([long, digits, f"1/{digits}", "0x1p-999999", "0x1p9999"])
    return judged(certificate)


_COMPARED = ("<=", ">=", "==", "!=", "<", ">")


def statement_mutant(rng: random.Random) -> Outcome:
    """A shipped refutation or witness with another comparison, number, word, value, or kind."""
    certificate = json.loads(text_of(rng.choice([c for c in SHIPPED if "statement" in c])))
    text = certificate["statement"]
    change = rng.choice(["comparison", "number", "word", "kind", "instance", "instance"])
    spots = [(i, w) for w in _COMPARED for i in range(len(text)) if text.startswith(w, i)]
    digits = [i for i, letter in enumerate(text) if letter.isdigit()]
    if change == "comparison" and spots:
        place, old = rng.choice(spots)
        certificate["statement"] = (
            f"{text[:place]}{rng.choice(_COMPARED)}{text[place + len(old) :]}"
        )
    elif change == "number" and digits:
        place = rng.choice(digits)
        certificate["statement"] = text[:place] + str(rng.randint(0, 9)) + text[place + 1 :]
    elif change == "word":
        pairs = [("min(", "max("), ("rows(", "columns("), (" and ", " or "), ("argmax(", "gram(")]
        pairs += [("keys(", "values("), ("+", "-"), ("*", "+"), ("rank(", "rows(")]
        old, new = rng.choice([*pairs, *((b, a) for a, b in pairs)])
        certificate["statement"] = text.replace(old, new, 1)
    elif change == "kind":
        certificate["kind"] = {"refutation": "witness", "witness": "refutation"}[
            certificate["kind"]
        ]
    else:
        certificate["instance"] = attack_checker.mutated(rng, {"i": certificate["instance"]})["i"]
    answer, fault = judged(certificate)
    return f"{change} {answer}", fault


def forged(kind: str) -> Callable[[random.Random], Outcome]:
    """A planted instance with an assertion near the truth; every other one with changed fields."""

    def one(rng: random.Random) -> Outcome:
        certificate = FORGED[kind](rng)
        if rng.random() < 0.5:
            certificate = attack_checker.mutated(rng, certificate)
        return judged(certificate)

    return one


CAMPAIGN: dict[str, Callable[[random.Random], Outcome]] = {
    **{name: one for name, one in ATTACKS.items() if name not in ("minors", "enclosures")},
    **{f"forged {kind}": forged(kind) for kind in FORGED},
    "changed statements": statement_mutant,
    "crossed": crossed,
    "damaged files": damaged,
    "swollen": swollen,
}


def digest() -> str:
    """Of all sources of the checker."""
    parts = (path.read_bytes() for path in sorted(FOLDER.rglob("*.py")))
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def drawn(name: str, seed: int, n: int, ask: Callable[[object], str]) -> Outcome:
    """One instance of an attack, which asks once; the same whenever it is drawn."""
    attack_checker.ask = ask
    try:
        return CAMPAIGN[name](random.Random(f"{seed} {name} {n}"))
    finally:
        attack_checker.ask = attack_checker.said_here


def asking(certificate: object) -> str:
    raise Asked(certificate if isinstance(certificate, bytes) else json.dumps(certificate).encode())


def told_already(answer: str, _certificate: object) -> str:
    return answer


def part(checker: Checker, name: str, seed: int, first: int, count: int) -> dict[str, Any]:
    """So many instances of an attack, from a number on: what was said, and what is wrong.

    Every instance is drawn twice: for the file, and for the judge once the answer is known.
    """
    outcomes: Counter[str] = Counter()
    faults, files = [], []
    for n in range(first, first + count):
        try:
            drawn(name, seed, n, asking)
        except Asked as asked:
            files.append(asked.args[0])
    checker.seconds = checker.megabytes = 0
    answers = checker.ask(files, 1 if name == "swollen" else 40)
    for n, file, answer in zip(range(first, first + count), files, answers, strict=True):
        said, fault = answer.said, answer.fault
        if not fault:
            try:
                said, fault = drawn(name, seed, n, functools.partial(told_already, answer.said))
            except Exception:
                said, fault = "exception", traceback.format_exc()
        outcomes[said] += 1
        faults += [f"number {n}: {fault}: {file[:3000]!r}"] if fault else []
    told = {"attack": name, "seed": seed, "first": first, "count": count, "checker": digest()}
    most = {"seconds": round(checker.seconds, 2), "megabytes": checker.megabytes}
    return {**told, "outcomes": dict(sorted(outcomes.items())), **most, "faults": faults}


def recorded(results: Path) -> list[dict[str, Any]]:
    if not results.exists():
        return []
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]


def run(
    seed: int, count: int, share: tuple[int, int], results: Path, names: Iterable[str] = ()
) -> bool:
    """Whether no part has a fault, of all attacks or of some; recorded parts are not run again."""
    done = {(p["attack"], p["seed"], p["first"]) for p in recorded(results)}
    asked = {
        name: max(1, count // 100) if name == "swollen" else count for name in names or CAMPAIGN
    }
    parts = [
        (first, name, min(PART, most - first))
        for name, most in asked.items()
        for first in range(0, most, PART)
    ]
    mine = sorted(parts)[share[0] :: share[1]]  # of all parts, so that shares never overlap
    fine = True
    with Checker() as checker:
        for first, name, size in mine:
            if (name, seed, first) in done:
                continue
            told = part(checker, name, seed, first, size)
            with open(results, "ab", buffering=0) as stream:
                stream.write(json.dumps(told).encode() + b"\n")
            for fault in told["faults"]:
                fine = False
                print(f"{name}, {fault}", flush=True)
    return fine


def table(results: Path) -> str:
    """One row per attack: instances, what was said, the largest time and memory, the faults."""
    rows = ["| attack | instances | accepted | judged true | fails | refused | s | MB | faults |"]
    rows.append("|---|---|---|---|---|---|---|---|---|")
    parts = recorded(results)
    for name in [*dict.fromkeys(p["attack"] for p in parts), ""]:
        own = [p for p in parts if name in ("", p["attack"])]
        said: Counter[str] = Counter()
        for p in own:
            said.update(p["outcomes"])
        counts = [sum(n for what, n in said.items() if w in what) for w in ("fails", "refused")]
        held = {what: n for what, n in said.items() if "holds" in what}
        unjudged = sum(n for what, n in held.items() if "unjudged" in what)
        most = [max(p[name] for p in own) for name in ("seconds", "megabytes")]
        faults = sum(len(p["faults"]) for p in own)
        cells = [name or "all", sum(said.values()), sum(held.values())]
        cells += [sum(held.values()) - unjudged - faults, *counts, *most, faults]
        rows.append(
            "| " + " | ".join(f"{c:,}" if isinstance(c, int) else str(c) for c in cells) + " |"
        )
    return "\n".join(rows)


def said(results: Path) -> str:
    """The record in sentences, and how much of it is of the checker's sources as they are."""
    every = recorded(results)
    now = digest()

    def told(parts: list[dict[str, Any]]) -> tuple[int, int, int, int]:
        outcomes: Counter[str] = Counter()
        for part in parts:
            outcomes.update(part["outcomes"])
        held = sum(n for what, n in outcomes.items() if "holds" in what)
        unjudged = sum(n for what, n in outcomes.items() if "unjudged" in what)
        faults = sum(len(part["faults"]) for part in parts)
        return sum(outcomes.values()), held, unjudged, faults

    count, held, unjudged, faults = told(every)
    present, held_now, unjudged_now, faults_now = told([p for p in every if p["checker"] == now])
    slowest, largest = (max(part[name] for part in every) for name in ("seconds", "megabytes"))
    return (
        f"{count:,} certificates were attacked and {held:,} of them accepted: "
        f"{held - unjudged - faults:,} are true by a second judge or by how they were made, and "
        f"{unjudged:,} no judge could decide. False acceptances, tracebacks and other faults: "
        f"{faults}. The slowest took {slowest} seconds and the largest {largest} megabytes. By the "
        f"checker as it is now: {present:,}, of which {held_now:,} accepted, {unjudged_now:,} not "
        f"judged, {faults_now} faults."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=6000)
    parser.add_argument("--share", default="0/1", metavar="i/n")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--only", nargs="+", default=(), choices=CAMPAIGN, metavar="ATTACK")
    parser.add_argument("--table", action="store_true")
    chosen = parser.parse_args()
    if chosen.table:
        print(table(chosen.results))
        sys.exit(0)
    place, _, of = chosen.share.partition("/")
    parts_of = int(place), int(of)
    sys.exit(not run(chosen.seed, chosen.count, parts_of, chosen.results, chosen.only))
