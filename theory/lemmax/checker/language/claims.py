"""What claims say: the formal statements of claims files, and the table of the first version.

A claims file is TOML with one ``[[claim]]`` table per claim; its field ``formal`` is the statement
that a certificate has to carry. The table claims.txt is there for refutations of version 1, which
nothing writes any more: the statements that they carry, for the claims that they were shipped for,
one paragraph per claim: its id, then its statement; a # begins a remark.
"""

import ast
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..files import contents
from ..limits import LIMITS, NotACertificate, brief, refuse
from ..reading import items
from ..steps import Step
from .sorts import SORTS
from .syntax import normalised, parse, statement

RESERVED = ("wong/", "dana/", "mahdavi/", "lemmax/")


@dataclass(frozen=True)
class Listed:
    """For every instance: if all the hypotheses hold, so does the conclusion."""

    instance: Mapping[str, type]
    hypotheses: tuple[str, ...]
    conclusion: str


_LISTED = re.compile(r"given ([^;]*);(?: assume ([^;]*);)? conclude ([^;]*)")


def listed(text: str) -> dict[str, Listed]:
    """The statements of a table in the form of claims.txt."""
    found = {}
    for paragraph in text.split("\n\n"):
        claim, *lines = [line for line in paragraph.splitlines() if line[:1] not in ("#", "")]
        parts = _LISTED.fullmatch(normalised(" ".join(lines)))
        assert parts is not None, claim
        pairs = (entry.split(": ") for entry in parts[1].split(", "))
        given = tuple(parts[2].split(" and ")) if parts[2] else ()
        found[claim] = Listed({name: SORTS[sort] for name, sort in pairs}, given, parts[3])
    return found


_loader: Any = globals()["__loader__"]  # of a folder or of an archive
_path = os.path.join(os.path.dirname(__file__), "claims.txt")
STATEMENTS: dict[str, Listed] = listed(_loader.get_data(_path).decode("utf-8"))


def formal_statements(paths: Iterable[str | os.PathLike[str]]) -> dict[str, str]:
    """The formal statements of the claims in TOML files, or in all of the files of a folder."""
    found: dict[str, str] = {}
    for path in paths:
        name = os.fspath(path)
        parts = [name]
        if os.path.isdir(name):
            parts = sorted(os.path.join(name, f) for f in os.listdir(name) if f.endswith(".toml"))
        for part in parts:
            for claim, formal in _read(part):
                if claim in found:
                    refuse(part, f"has the claim {brief(claim)}, which was read before")
                found[claim] = formal
    return {claim: formal for claim, formal in found.items() if formal}


def _read(path: str) -> Iterator[tuple[str, str]]:
    """The ids and the formal statements ("" where there is none) of one claims file."""
    try:
        text = contents(path, LIMITS["claims bytes"]).decode("utf-8")
        if sum(line.count(".") ** 2 for line in text.split("\n")) > 20_000_000:
            raise ValueError("its keys have too many parts")  # tomllib takes the square of them
        data = tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise NotACertificate(f"{path} is not a claims file: {error}") from None
    claims = data.get("claim")
    if type(claims) is not list:
        refuse(path, "has no claims")
    for claim in claims:
        if type(claim) is not dict or type(claim.get("id")) is not str:
            refuse(path, "has a claim without an id")
        formal = claim.get("formal", "")
        if type(formal) is not str or len(formal) > 2 * LIMITS["statement characters"]:
            refuse(path, f"has no readable formal statement for {brief(claim['id'])}")
        yield claim["id"], normalised(formal)


def bonded(
    data: Mapping[str, Any], version: int, formal: Mapping[str, str] | None
) -> tuple[str, str, list[Step]]:
    """The claim that a certificate names, whose statement is checked, and the step that compares.

    There is such a step where the formal statements of claims are given.
    """
    claim = data["claim"] if type(data.get("claim")) is str else ""
    own = version == 1 and claim.startswith(RESERVED)
    source = "the checker's own" if own else "as given by the certificate"
    if formal is None:
        return claim, source if claim else "", []
    return claim, "the claim's" if claim else "", [_bond(data, formal)]


def _bond(data: Mapping[str, Any], formal: Mapping[str, str]) -> Step:
    """Whether the certificate carries the statement that its claim has in the claims files."""
    claim = data.get("claim")
    if type(claim) is not str or claim not in formal:
        return Step(False, f"the claims files have no formal statement of {brief(claim)}")
    carried = data.get("statement")
    if type(carried) is dict:  # version 1, without sorts and definitions
        asked = statement(formal[claim], claim)
        given = items(carried.get("hypotheses"), "statement.hypotheses", 0)
        carried = [*map(_plain, given), _plain(carried.get("conclusion"))]
        ok = carried == [ast.unparse(tree) for tree in (*asked.assumptions, asked.conclusion)]
        ok = ok and len(asked.assumptions) == len(asked.clauses)
    else:
        ok = type(carried) is str and normalised(carried) == formal[claim]
    if ok:
        return Step(True, f"the statement is that of {claim} in the claims files")
    return Step(False, f"the statement is not that of the claim {claim}: {formal[claim]}")


def _plain(condition: object) -> str:
    return ast.unparse(parse(condition, "A condition"))
