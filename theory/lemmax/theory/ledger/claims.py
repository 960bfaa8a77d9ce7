"""Claims: every statement of a paper that a ledger decides, one readable TOML file per paper.

A file has a ``[paper]`` table and one ``[[claim]]`` table per statement::

    [[claim]]
    id = "wong/proposition-3.6"
    kind = "A"                  # A for all, E there exists, I instance, T trained, D definition
    number = "Proposition 3.6"
    title = "argmax blow-up"
    statement = '''LaTeX, in our own words'''
    place = "Section 3.2"
    source = "text"             # text, summary, reconstruction, or the key of the paper itself
    uses = ["wong/definition-argmax"]
    repaired_by = "lemmax/gram-integers"    # optional
    refutation = "universal"                # optional: the counterexample is "for all weights"
    reading = '''which reading is decided'''  # optional
    sharpens = "wong/figure-3d"             # optional: our sharp reading of a hedged statement
    waits = '''why it is open: what was tried, up to which size, what the data say'''  # while it is

and, all optional, what binds evidence to it::

    formal = '''given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2'''
    consequence = "why the formal statement is only a consequence of the claim's words"
    consequence_uses = ["lemmax/parity-obstruction"]  # claims that this consequence leans on
    theorems = ["parity_obstruction.no_heads"]  # Coq theorems about it: file, dot, name
    formula = '''given x: real; conclude …'''  # free symbols, proves it: see formulas.py
    counterformula = '''given x: real; conclude …'''  # its truth refutes the claim
    symbols = "what the symbols of the formula stand for, and why it proves or refutes the claim"
    informal = "why there is neither a formal statement nor a theorem"
    repair = "why repaired_by repairs it: a weaker assumption, another constant or reading"

and, for a statement that does not stand, what its authors are told::

    quote = '''the sentence as it is printed'''
    counterexample = '''why it does not stand, in words and numbers'''
    hedge = "“likely”: the paper asserts less than is decided"
    holds_as = ["dana/theorem-1-free-heads"]    # other readings or special cases, which hold

The formal statement stands here and nowhere else: certificates carry it, and the checker compares.
A claim carries no verdict: verdicts are derived from evidence
(:mod:`lemmax.theory.ledger.verdicts`).
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import read_toml
from lemmax.theory.ledger.formulas import FormulaError, read_formula

Kind = Literal["A", "E", "I", "T", "D"]
Refutation = Literal["instance", "universal"]

KINDS: dict[Kind, str] = {
    "A": "for all",
    "E": "there exists",
    "I": "instance",
    "T": "trained",
    "D": "definition",
}
BUILT_IN = Path(__file__).parent / "catalogue"


class ClaimsError(LemmaxError):
    """A claims file that cannot be used; the sentence says where it is wrong."""


def normalised(text: str) -> str:
    """A text with every run of white space as one blank.

    >>> normalised("  a   b\\n c ")
    'a b c'
    """
    return " ".join(text.split())


@dataclass(frozen=True)
class Claim:
    """One statement. ``digest`` changes when what is claimed changes."""

    id: str
    kind: Kind
    number: str
    title: str
    statement: str
    place: str
    source: str
    uses: tuple[str, ...] = ()
    repaired_by: str | None = None
    refutation: Refutation = "instance"
    reading: str | None = None
    sharpens: str | None = None
    formal: str | None = None
    consequence: str | None = None
    consequence_uses: tuple[str, ...] = ()
    theorems: tuple[str, ...] = ()
    formula: str | None = None
    counterformula: str | None = None
    symbols: str | None = None
    informal: str | None = None
    repair: str | None = None
    quote: str | None = None
    counterexample: str | None = None
    hedge: str | None = None
    holds_as: tuple[str, ...] = ()
    waits: str | None = None

    @property
    def paper(self) -> str:
        """The part of the id before the slash."""
        return self.id.partition("/")[0]

    @property
    def digest(self) -> str:
        """A fingerprint of id, kind, words, formal statement and formulas; evidence is tied to it.

        Blanks are no change: every run of white space counts as one blank.
        """
        formulas = [f for f in (self.formula, self.counterformula) if f]
        parts = (self.id, self.kind, self.statement, self.formal or "", *formulas)
        text = "\n".join(normalised(part) for part in parts)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Catalogue:
    """All claims of some files, with the graph of what leans on what."""

    claims: Mapping[str, Claim]
    papers: Mapping[str, Mapping[str, Any]]

    def __getitem__(self, identifier: str) -> Claim:
        try:
            return self.claims[identifier]
        except KeyError:
            near = difflib.get_close_matches(identifier, list(self.claims), 1)
            nearest = f" Nearest: {near[0]}." if near else ""
            raise ClaimsError(f"There is no claim {identifier!r}.{nearest}") from None

    def __contains__(self, identifier: object) -> bool:
        return identifier in self.claims

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims.values())

    def __len__(self) -> int:
        return len(self.claims)

    @cached_property
    def leans_on(self) -> Mapping[str, frozenset[str]]:
        """What each claim uses, and what that uses, down to the last definition."""
        below: dict[str, frozenset[str]] = {}
        for identifier in TopologicalSorter({c.id: c.uses for c in self}).static_order():
            uses = self.claims[identifier].uses
            below[identifier] = frozenset(uses).union(*(below[used] for used in uses))
        return MappingProxyType(below)

    def used_by(self, identifier: str) -> tuple[str, ...]:
        """The claims that name this one under ``uses`` or ``repaired_by``."""
        return tuple(c.id for c in self if identifier in c.uses or identifier == c.repaired_by)


def load_claims(paths: Iterable[str | Path] = (BUILT_IN,)) -> Catalogue:
    """Read claims files (or folders of them) and check that they fit together.

    >>> catalogue = load_claims()
    >>> catalogue["wong/proposition-3.6"].kind
    'A'
    """
    claims: dict[str, Claim] = {}
    papers: dict[str, Mapping[str, Any]] = {}
    homes: dict[str, Path] = {}
    for path in _files(paths):
        paper, listed = _read(path)
        papers[paper["key"]] = MappingProxyType(paper)
        for claim in listed:
            if claim.id in claims:
                raise ClaimsError(f"{path}: the claim {claim.id} is also in {homes[claim.id]}.")
            if claim.paper != paper["key"]:
                raise ClaimsError(
                    f"{path}: the claim {claim.id} does not begin with {paper['key']}/."
                )
            claims[claim.id], homes[claim.id] = claim, path
    for claim in claims.values():
        for target in (
            *claim.uses,
            *claim.consequence_uses,
            *claim.holds_as,
            *filter(None, (claim.repaired_by, claim.sharpens)),
        ):
            if target not in claims:
                raise ClaimsError(
                    f"{homes[claim.id]}: {claim.id} refers to {target}, which does not exist."
                )
    try:
        TopologicalSorter({claim.id: claim.uses for claim in claims.values()}).prepare()
    except CycleError as error:
        cycle = error.args[1][::-1]  # each uses the next
        raise ClaimsError(f"{homes[cycle[0]]}: a cycle in uses: {' -> '.join(cycle)}.") from None
    return Catalogue(MappingProxyType(claims), MappingProxyType(papers))


def _files(paths: Iterable[str | Path]) -> Iterator[Path]:
    for given in map(Path, paths):
        if given.is_dir():
            yield from sorted(given.glob("*.toml"))
        elif given.exists():
            yield given
        else:
            raise ClaimsError(f"There is no claims file {given}.")


_FIELDS = {f.name for f in fields(Claim)}
_REQUIRED = ("id", "kind", "number", "title", "statement", "place", "source")
_LISTS = {"uses": "ids", "consequence_uses": "ids", "holds_as": "ids", "theorems": "theorems"}
# A field that says something about another one, and is nothing without it.
_NEEDS = {
    "consequence": "formal",
    "consequence_uses": "consequence",
    "repair": "repaired_by",
    "hedge": "quote",
    "formula": "symbols",
    "counterformula": "symbols",
}
_NAME = re.compile(r"(?!\.)[^/\\<>]{1,200}")  # of a folder or file, not hidden, not ..
_THEOREM = re.compile(r"\w+\.[\w']+")


def _read(path: Path) -> tuple[dict[str, Any], list[Claim]]:
    document = read_toml(path, ClaimsError)
    unknown = sorted(set(document) - {"paper", "claim"})
    if unknown:
        raise ClaimsError(f"{path}: unknown table {unknown[0]!r}.")
    paper = document.get("paper", {})
    if not isinstance(paper, dict) or not isinstance(paper.get("key"), str):
        raise ClaimsError(f"{path}: the [paper] table needs a key.")
    if not _NAME.fullmatch(paper["key"]) or not paper["key"].isprintable():
        raise ClaimsError(f"{path}: the key {paper['key']!r} is no name of a folder.")
    listed = document.get("claim", [])
    if not isinstance(listed, list) or not all(isinstance(table, dict) for table in listed):
        raise ClaimsError(f"{path}: a claim is a table, [[claim]].")
    return paper, [_claim(path, n, table) for n, table in enumerate(listed, 1)]


def _claim(path: Path, number: int, table: dict[str, Any]) -> Claim:
    where = f"{path}: {table.get('id', f'claim number {number}')}"
    unknown = sorted(set(table) - _FIELDS)
    if unknown:
        raise ClaimsError(f"{where} has an unknown field {unknown[0]!r}.")
    missing = [field for field in _REQUIRED if field not in table]
    if missing:
        raise ClaimsError(f"{where} lacks the field {missing[0]!r}.")
    for field, value in table.items():
        if field in _LISTS:
            if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
                raise ClaimsError(f"{where}: {field} must be a list of {_LISTS[field]}.")
        elif not isinstance(value, str):
            raise ClaimsError(f"{where}: the field {field!r} must be a text.")
        elif not value.strip():
            raise ClaimsError(f"{where}: the field {field!r} is empty.")
    _fits_together(where, table)
    return Claim(**{**table, **{name: tuple(table.get(name, ())) for name in _LISTS}})


def _fits_together(where: str, table: dict[str, Any]) -> None:
    """Refuse fields whose values contradict each other or mean nothing."""
    if table["kind"] not in KINDS:
        raise ClaimsError(f"{where}: the kind is one of {', '.join(KINDS)}, not {table['kind']!r}.")
    if table.get("refutation", "instance") not in get_args(Refutation):
        raise ClaimsError(f"{where}: refutation is 'instance' or 'universal'.")
    if "/" not in table["id"]:
        raise ClaimsError(f"{where}: an id has the form paper/name.")
    names = table["id"].split("/")
    if not all(map(_NAME.fullmatch, names)) or not table["id"].isprintable():
        raise ClaimsError(f"{where}: an id is made of names of files, for its page is one.")
    if len(table["id"]) > 400:
        raise ClaimsError(f"{where}: an id has at most 400 characters.")
    if "formal" in table and table["kind"] in ("T", "D"):
        raise ClaimsError(f"{where}: a claim of kind {table['kind']} has no formal statement.")
    for field, other in _NEEDS.items():
        if field in table and other not in table:
            raise ClaimsError(f"{where}: the field {field!r} says nothing without {other!r}.")
    for theorem in table.get("theorems", ()):
        if not _THEOREM.fullmatch(theorem):
            raise ClaimsError(f"{where}: a theorem is named file.theorem, not {theorem!r}.")
    if "symbols" in table and not {"formula", "counterformula"} & set(table):
        raise ClaimsError(f"{where}: the field 'symbols' says nothing without a formula.")
    for field in {"formula", "counterformula"} & set(table):
        try:
            read_formula(table[field])
        except FormulaError as error:
            raise ClaimsError(f"{where}: {field}: {error}.") from None
    if "informal" in table and (table.get("theorems") or "formal" in table):
        raise ClaimsError(f"{where} says why it is informal and has a formal statement or theorem.")
    if table.get("repaired_by") == table["id"]:
        raise ClaimsError(f"{where} is repaired by itself.")
    if "sharpens" in table and "reading" not in table:
        raise ClaimsError(f"{where} sharpens a statement and says no reading.")
    if table.get("sharpens") == table["id"]:
        raise ClaimsError(f"{where} sharpens itself.")
    if table["id"] in table.get("consequence_uses", ()):
        raise ClaimsError(f"{where}: its consequence leans on the claim itself.")
