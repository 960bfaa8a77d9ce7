"""Argued proofs: pages whose every step says what stands behind it.

A page is a Markdown file with a front matter (``claim``, ``direction``, ``statement``: the digest
of the words that it proves, and ``uses``: claims that it leans on as a whole) and numbered steps,
each ending with one tag:

- ``{test: tests/x.py::test_y, tests/x.py::test_z}``: the step is checked by these tests;
- ``{cited: whose theorem; hypotheses checked: how}``: a theorem of the literature;
- ``{claim: lemmax/gram-integers}``: another claim, which must hold; in another project
  ``lemmax:wong/proposition-2.1``, or ``lemmax-1.0:…`` for one version, is a claim that the
  installed lemmax ships with its verdict;
- ``{by hand}``: an argument that a reader follows.

A step that names a missing or failing test breaks the proof, and a broken proof is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from lemmax.theory.errors import LemmaxError

Direction = Literal["for", "against", "gap"]
StepKind = Literal["test", "cited", "claim", "by hand"]


class ProofError(LemmaxError):
    """A proof page that cannot be read; the sentence says where it is wrong."""


@dataclass(frozen=True)
class ProofStep:
    """One numbered step and what stands behind it."""

    number: int
    text: str
    kind: StepKind
    references: tuple[str, ...]


@dataclass(frozen=True)
class Proof:
    """An argued proof of a claim, against it, or of a gap in its printed proof."""

    claim: str
    direction: Direction
    title: str
    steps: tuple[ProofStep, ...]
    path: Path
    statement: str | None = None
    uses: tuple[str, ...] = ()

    @property
    def tests(self) -> tuple[str, ...]:
        """The node ids that the steps name."""
        return tuple(r for step in self.steps if step.kind == "test" for r in step.references)

    @property
    def claims(self) -> tuple[str, ...]:
        """The claims that the page leans on, as a whole or in a step."""
        steps = (r for step in self.steps if step.kind == "claim" for r in step.references)
        return tuple(dict.fromkeys((*self.uses, *steps)))


_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_STEP = re.compile(r"^(\d+)\.\s+", re.MULTILINE)
_TAG = re.compile(r"\{(test|cited|claim|by hand)(?::\s*([^{}]*))?\}")


def read_proof(path: Path) -> Proof:
    """Parse a proof page."""
    text = path.read_text(encoding="utf-8")
    front = _FRONT.match(text)
    if front is None:
        raise ProofError(f"{path}: the page has no front matter between two lines '---'.")
    header = dict(_pair(path, line) for line in front[1].splitlines() if line.strip())
    if not {"claim", "direction"} <= set(header) <= {"claim", "direction", "statement", "uses"}:
        raise ProofError(
            f"{path}: the front matter has the fields claim, direction and statement, perhaps uses."
        )
    if header["direction"] not in get_args(Direction):
        raise ProofError(f"{path}: the direction is for, against or gap.")
    body = text[front.end() :]
    title = next((line[2:] for line in body.splitlines() if line.startswith("# ")), "")
    if not title:
        raise ProofError(f"{path}: the page has no title.")
    steps = _steps(path, body)
    uses = tuple(name.strip() for name in header.get("uses", "").split(",") if name.strip())
    direction, statement = cast(Direction, header["direction"]), header.get("statement")
    return Proof(header["claim"], direction, title, steps, path, statement, uses)


def _pair(path: Path, line: str) -> tuple[str, str]:
    key, colon, value = line.partition(":")
    if not colon:
        raise ProofError(f"{path}: the line {line!r} of the front matter has no colon.")
    return key.strip(), value.strip()


def _steps(path: Path, body: str) -> tuple[ProofStep, ...]:
    starts = list(_STEP.finditer(body))
    if not starts:
        raise ProofError(f"{path}: the page has no numbered steps.")
    ends = [start.start() for start in starts[1:]] + [len(body)]
    steps = []
    for expected, (start, end) in enumerate(zip(starts, ends, strict=True), 1):
        number, text = int(start[1]), body[start.end() : end].strip()
        if number != expected:
            raise ProofError(f"{path}: step {number} stands where step {expected} belongs.")
        tags = list(_TAG.finditer(text))
        if len(tags) != 1:
            raise ProofError(f"{path}: step {number} has {len(tags)} tags instead of one.")
        kind, inside = cast(StepKind, tags[0][1]), (tags[0][2] or "").strip()
        if (kind == "by hand") == bool(inside):
            raise ProofError(f"{path}: the tag of step {number} is not well formed.")
        references = (
            (inside,) if kind == "cited" else tuple(r.strip() for r in inside.split(",") if inside)
        )
        steps.append(ProofStep(number, text[: tags[0].start()].strip(), kind, references))
    return tuple(steps)


def find_proofs(folders: Iterable[Path]) -> list[Proof]:
    """All proof pages below some folders, in a fixed order."""
    return [
        read_proof(path)
        for folder in folders
        for path in sorted(folder.rglob("*.md"))
        if path.name not in ("index.md", "README.md")
    ]
