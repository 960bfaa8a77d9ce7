"""The record of mutants: what was found, a line per file, and tables of it.

Only this module is needed to read the record; it needs neither mutmut nor coverage.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "mutants.jsonl"
EQUIVALENT = HERE / "equivalent"  # a file per room, or several
AFTERWARDS = "fresh.toml"  # among these: of what the fresh draw left, after its share was told
FRESH = HERE / "fresh.jsonl"  # of the rooms that are sampled: drawn after tests were written for it
COUNTED = ("killed", "timeout")  # a mutant that does not end is found as well
SHOWN = 200  # letters of a place, at most
LEFT = ("survived", "uncovered")


@dataclass(frozen=True)
class Counts:
    """Mutants of one file or of many."""

    mutants: int  # that could have been run
    words: int  # of messages, not run
    killed: int
    timeout: int
    survived: int
    uncovered: int
    equivalent: int  # of those that survived or that no test covers
    unrunnable: int = 0

    @property
    def ran(self) -> int:
        return self.killed + self.timeout + self.survived + self.uncovered

    @property
    def found(self) -> int:
        return self.killed + self.timeout

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(self.numbers(), other.numbers(), strict=True)))

    def numbers(self) -> tuple[int, ...]:
        return (
            self.mutants,
            self.words,
            self.killed,
            self.timeout,
            self.survived,
            self.uncovered,
            self.equivalent,
            self.unrunnable,
        )


def wilson(found: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval for a share of a sample: at 95 % for the z that is given.

    >>> low, high = wilson(90, 100)
    >>> round(low, 3), round(high, 3)
    (0.826, 0.945)
    """
    if not of:
        return 0.0, 1.0
    share, spread = found / of, z * z / of
    middle = share + spread / 2
    half = z * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    return (middle - half) / (1 + spread), (middle + half) / (1 + spread)


def equivalents(path: Path = EQUIVALENT, but: str = "") -> dict[str, str]:
    """Why a mutant means the same as the function it was made from, by its digest."""
    files = sorted(file for file in path.glob("*.toml") if file.name != but)
    tables = [tomllib.loads(file.read_text(encoding="utf-8"))["equivalent"] for file in files]
    return {digest: each["why"] for table in tables for each in table for digest in each["digests"]}


Place = tuple[str, str]  # a file, and "charges" for mutants of what the checker's meter is charged


@dataclass
class Made:
    """The mutants that a place has: how many, how many are words only, and the digests of all."""

    mutants: int = 0
    words: int = 0
    digests: set[str] = field(default_factory=set)


def record(lines: Iterable[dict[str, Any]], generated: dict[Place, Made]) -> list[dict[str, Any]]:
    """A line per place from the lines of runs: the last result of each mutant that still exists."""
    latest = {(line["path"], line["digest"]): line for line in lines}
    found = []
    for (path, part), made in sorted(generated.items()):
        results = [latest[path, d] for d in sorted(made.digests) if (path, d) in latest]
        counted = {
            result: sum(line["result"] == result for line in results)
            for result in ("killed", "timeout", "unrunnable")
        }
        left = [line for line in results if line["result"] in LEFT]
        left.sort(key=lambda line: (line["line"], line["digest"]))
        names = ("function", "line", "was", "now", "digest", "result")
        told = {"path": path, "part": part, "mutants": made.mutants, "words": made.words}
        found.append(told | counted | {"left": [{n: line[n] for n in names} for line in left]})
    return found


def stale(line: dict[str, Any], made: Made) -> bool:
    """Whether the record of a place is of another text of its file, as far as it tells."""
    same = (line["mutants"], line["words"]) == (made.mutants, made.words)
    return not same or not {each["digest"] for each in line["left"]} <= made.digests


def renewed(line: dict[str, Any], results: dict[str, str]) -> dict[str, Any]:
    """The record of a place after some of the mutants that were left were run again.

    What was found stays found, so only a result of a mutant that is left changes anything.

    >>> each = {"digest": "a", "result": "survived"}
    >>> line = {"killed": 3, "timeout": 0, "unrunnable": 0, "left": [each]}
    >>> renewed(line, {"a": "killed", "b": "killed"})
    {'killed': 4, 'timeout': 0, 'unrunnable': 0, 'left': []}
    """
    again = [results.get(each["digest"], each["result"]) for each in line["left"]]
    counted = {name: line[name] + again.count(name) for name in ("killed", "timeout", "unrunnable")}
    left = [
        each | {"result": result}
        for each, result in zip(line["left"], again, strict=True)
        if result in LEFT
    ]
    return line | counted | {"left": left}


def write(lines: Iterable[dict[str, Any]], path: Path = RESULTS) -> None:
    told = (json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text("".join(told), encoding="utf-8")


def read(path: Path = RESULTS) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def counts(line: dict[str, Any], known: dict[str, str]) -> Counts:
    """The counts of one file."""
    left = line["left"]
    return Counts(
        line["mutants"],
        line["words"],
        line["killed"],
        line["timeout"],
        sum(each["result"] == "survived" for each in left),
        sum(each["result"] == "uncovered" for each in left),
        sum(each["digest"] in known for each in left),
        line["unrunnable"],
    )


def folder_of(path: str, part: str = "") -> str:
    """The room that a file of the record belongs to."""
    parts = path.split("/")
    folder = "/".join(parts[2:4]) if parts[2] == "theory" else parts[2]
    return f"{folder}, {part}" if part else folder


def rooms(lines: list[dict[str, Any]], known: dict[str, str]) -> dict[str, Counts]:
    """The counts of each folder that was mutated."""
    found: dict[str, Counts] = {}
    for line in lines:
        folder, more = folder_of(line["path"], line["part"]), counts(line, known)
        found[folder] = found[folder] + more if folder in found else more
    return found


def table(path: Path = RESULTS, why: Path = EQUIVALENT) -> str:
    """The record as a table in Markdown."""
    known = equivalents(why)
    told = [
        "| folder | mutants | run | killed | without end | survived | no test | the same | found |"
    ]
    told.append("|---|---|---|---|---|---|---|---|---|")
    for folder, each in rooms(read(path), known).items():
        told.append("| " + " | ".join((folder, *cells(each))) + " |")
    return "\n".join(told)


def cells(each: Counts) -> tuple[str, ...]:
    """What the table says of one folder."""
    numbers = (each.mutants, each.ran, each.killed, each.timeout, each.survived, each.uncovered)
    of = each.ran - each.equivalent
    share = f"{each.found / of:.1%}" if of else "–"
    return (*(f"{number:,}" for number in numbers), str(each.equivalent), share)


def drawn_again(path: Path = FRESH, why: Path = EQUIVALENT) -> str:
    """What became of mutants that nobody had looked at, and what the share does not count."""
    known, every = equivalents(why, but=AFTERWARDS), equivalents(why)
    lines = [line for line in read(path) if line["result"] != "unrunnable"]
    found = sum(line["result"] in COUNTED for line in lines)
    left = [line["digest"] for line in lines if line["result"] in LEFT]
    same, later = (sum(digest in reasons for digest in left) for reasons in (known, every))
    of = len(lines) - same
    low, high = wilson(found, of)
    return (
        f"Of {len(lines)} mutants of these folders that another seed drew afterwards {found} were "
        f"found; without {same} shown to mean the same that is {found / of:.1%} ({low:.1%} to "
        f"{high:.1%}, Wilson's interval at 95 %). That is the share of the draw: of the others "
        f"{later - same} were shown to mean the same afterwards, and tests find "
        f"{len(left) - later} now."
    )


def said(path: Path = RESULTS, why: Path = EQUIVALENT, again: Path = FRESH) -> str:
    """What the table leaves open, in sentences.

    The share of a sample says nothing of other mutants once tests were written for what survived.
    """
    every = rooms(read(path), equivalents(why))
    told = []
    for name, each in every.items():
        if each.ran + each.unrunnable < each.mutants:
            told.append(f"{each.ran:,} of {each.mutants:,} in {name}")
    sampled = (
        f"Run were, in an order drawn by a seed, {'; '.join(told)}. Tests were written for what "
        f"survived of these, so that their shares say nothing of the others. {drawn_again(again)}"
        if told
        else ""
    )
    words = sum(each.words for each in every.values())
    return (
        f"{sampled} A share is of the mutants that were run without those shown to mean the same "
        f"(`benchmarks/mutants/equivalent/`). {words:,} more change only words or assertions. "
        "What survived is listed in `benchmarks/results/mutants.jsonl`."
    ).strip()


def listed(path: Path = RESULTS, why: Path = EQUIVALENT, folder: str = "checker") -> str:
    """The mutants of a folder that no test found and that are not shown to be the same."""
    known = equivalents(why)
    told = ["| place | was | is | |", "|---|---|---|---|"]
    for line in read(path):
        if folder_of(line["path"], line["part"]) == folder:
            for each in line["left"]:
                if each["digest"] not in known:
                    place = line["path"].partition("/lemmax/")[2] + f":{each['line']}"
                    was, now = (code(each[name]) for name in ("was", "now"))
                    told.append(f"| {place} | {was} | {now} | {each['result']} |")
    return "\n".join(told)


def code(text: str) -> str:
    """A text as code in a cell of a table."""
    marks = "``" if "`" in text else "`"
    return f"{marks}{text.replace('|', chr(92) + '|')}{marks}"
