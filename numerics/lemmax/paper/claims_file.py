r"""The claims file of a paper, written and kept in step with the paper.

What the paper says wins: number, title, statement, place, and what a proof refers to. Where the
paper is silent the file's own word stands, and what the file alone knows (the kind once it is
there, fields, comments, other tables) is kept as it is, to the byte.
"""

from __future__ import annotations

import datetime
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import networkx as nx
import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Table

from lemmax.paper.errors import PaperError
from lemmax.paper.settings import slug
from lemmax.paper.statements import Statement
from lemmax.theory.ledger.claims import Kind

What = Literal["new", "changed", "unlabelled", "orphan"]

_DEFINED = frozenset(("definition", "notation", "assumption", "convention", "setting", "condition"))
# Of these only those with a label are claims; the others are prose.
_PROSE = _DEFINED | {"remark", "example", "note", "question", "problem", "exercise"}
_UNNUMBERED = ("text", "new")
_WIDTH = 96


@dataclass(frozen=True)
class Drift:
    """One way in which paper and claims file differ."""

    what: What
    claim: str | None
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Header:
    """What a new claims file says of the paper."""

    key: str
    title: str = ""
    authors: str = ""


@dataclass(frozen=True)
class Update:
    """The text that the claims file should have, its key, and how it differs from what it has.

    ``ids`` has the claim of every label.
    """

    text: str
    key: str
    drifts: tuple[Drift, ...]
    ids: Mapping[str, str]


def update_claims(
    old: str | None,
    name: str,
    header: Header,
    statements: Sequence[Statement],
    numbers: Mapping[str, str] | None = None,
    kinds: Mapping[str, Kind | None] | None = None,
) -> Update:
    """Bring the text of a claims file (None: a new one) in step with the statements of a paper.

    ``name`` is how sentences call the file. Where LaTeX has not numbered a label, its number stays.
    """
    document = _parse(old, name, header)
    paper = document["paper"]
    key = paper.get("key") if isinstance(paper, dict) else None
    if not isinstance(key, str):
        raise PaperError(name, "The [paper] table needs a key.")
    chosen = [
        (s, kind)
        for s in statements
        if (kind := _kind(s, kinds or {})) is not None or s.label is None
    ]
    ids = _ids(key, [s for s, _ in chosen])
    _acyclic([s for s, _ in chosen], ids)
    claims = document.get("claim")
    if claims is None:
        claims = tomlkit.aot()
    if not isinstance(claims, AoT):
        raise PaperError(name, "The claims are not [[claim]] tables.")
    present = {str(table.get("id", "")): table for table in claims}
    drifts: list[Drift] = []
    after = None
    for statement, kind in chosen:
        if statement.label is None:
            if kind is not None and not _is_prose(statement):
                told = f"{statement.place}: the {statement.name.lower()} has no label, so no claim."
                drifts.append(Drift("unlabelled", None, told))
            continue
        identifier = ids[statement.label]
        table = present.get(identifier)
        wanted = _wanted(statement, key, ids, numbers, table)
        if table is None:
            table = _table({"id": identifier, "kind": kind, **wanted})
            _insert(claims, table, after, "claim" in document)
            present[identifier] = table
            told = f"{statement.place}: {statement.name} {statement.label!r} has no claim."
            drifts.append(Drift("new", identifier, told))
        else:
            for field, value in wanted.items():
                if not _same(table.get(field), value):
                    table[field] = _item(field, value)
                    told = f"{statement.place}: the {field} of {identifier} changed."
                    drifts.append(Drift("changed", identifier, told))
        after = identifier
    if "claim" not in document and len(claims):
        document.add(tomlkit.nl())
        document["claim"] = claims
    known = set(ids.values())
    for identifier, table in present.items():
        stated = table.get("source") == "text" and table.get("number") not in _UNNUMBERED
        if identifier not in known and stated:
            told = f"{name}: the claim {identifier} has no theorem in the paper."
            drifts.append(Drift("orphan", identifier, told))
    return Update(tomlkit.dumps(document), key, tuple(drifts), ids)


def _parse(old: str | None, name: str, header: Header) -> tomlkit.TOMLDocument:
    if old is not None:
        try:
            document = tomlkit.parse(old)
        except TOMLKitError as error:
            raise PaperError(name, f"This is not a TOML file: {error}.") from None
        if "paper" not in document:
            raise PaperError(name, "The [paper] table is missing.")
        return document
    document = tomlkit.document()
    paper = tomlkit.table()
    paper["key"] = header.key
    paper["title"] = header.title
    paper["authors"] = header.authors
    paper["year"] = datetime.date.today().year
    document["paper"] = paper
    return document


def _kind(statement: Statement, kinds: Mapping[str, Kind | None]) -> Kind | None:
    """The kind of a new claim; None leaves the environment out."""
    for name in (statement.environment, statement.name, statement.name.lower()):
        if name in kinds:
            return kinds[name]
    last = statement.name.lower().split()[-1:]
    return "D" if last and last[0].rstrip("s") in _DEFINED else "A"


def _is_prose(statement: Statement) -> bool:
    last = statement.name.lower().split()[-1:]
    return bool(last) and last[0].rstrip("s") in _PROSE


def _ids(key: str, statements: Iterable[Statement]) -> dict[str, str]:
    ids: dict[str, str] = {}
    owners: dict[str, Statement] = {}
    for statement in statements:
        if statement.label is None:
            continue
        identifier = f"{key}/{slug(statement.label)}"
        if identifier == f"{key}/":
            raise PaperError(
                statement.place, f"The label {statement.label!r} has no letter for an id."
            )
        if identifier in owners:
            raise PaperError(
                statement.place,
                f"The labels {statement.label!r} and {owners[identifier].label!r} give the same "
                f"id {identifier}.",
            )
        owners[identifier] = statement
        ids[statement.label] = identifier
    return ids


def _acyclic(statements: Sequence[Statement], ids: Mapping[str, str]) -> None:
    graph: nx.DiGraph[str] = nx.DiGraph()
    places = {s.label: s.place for s in statements}
    for statement in statements:
        if statement.label is not None:
            graph.add_edges_from((statement.label, used) for used in statement.uses if used in ids)
    try:
        cycle = [edge[0] for edge in nx.find_cycle(graph)]
    except nx.NetworkXNoCycle:
        return
    place = places[cycle[0]]
    raise PaperError(
        place,
        f"The proofs lean on each other in a circle: {' -> '.join([*cycle, cycle[0]])}. "
        "Say with \\lemmaxuses{…} what a proof uses.",
    )


def _wanted(
    statement: Statement,
    key: str,
    ids: Mapping[str, str],
    numbers: Mapping[str, str] | None,
    table: Mapping[str, Any] | None,
) -> dict[str, str | list[str]]:
    """The fields that the paper decides, in the order in which a new claim has them."""
    label = statement.label or ""
    old = dict(table or {})
    number = old.get("number", statement.name)
    if numbers is not None and label in numbers:
        number = f"{statement.name} {numbers[label]}"
    words = slug(label.partition(":")[2] or label).replace("-", " ")
    listed = old.get("uses", [])
    listed = list(listed) if isinstance(listed, list) else []
    own = [ids[used] for used in statement.uses if used in ids]
    foreign = [str(used) for used in listed if not str(used).startswith(f"{key}/")]
    place = f"Section “{statement.section}”" if statement.section else "before the first section"
    return {
        "number": number,
        "title": statement.title or old.get("title", words),
        "statement": statement.text,
        "place": place,
        "source": old.get("source", "text"),
        "uses": [*own, *foreign],
    }


def _same(old: Any, new: str | list[str]) -> bool:
    """Whether nothing was said anew: blanks and the order of a list say nothing."""
    if isinstance(new, list):
        return isinstance(old, list) and sorted(map(str, old)) == sorted(new)
    return isinstance(old, str) and " ".join(old.split()) == " ".join(new.split())


def _table(values: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for field, value in values.items():
        table[field] = _item(field, value)
    return table


def _item(field: str, value: Any) -> Any:
    if field != "statement":
        return value
    paragraphs = [
        textwrap.fill(p, _WIDTH, break_long_words=False, break_on_hyphens=False)
        for p in value.split("\n\n")
    ]
    text = "\n\n".join(paragraphs) + "\n"
    if "'''" in text:  # a literal string shows LaTeX as it is, but cannot hold three primes
        return tomlkit.string(text, multiline=True)
    return tomlkit.parse(f"text = '''\n{text}'''")["text"]


def _insert(claims: AoT, table: Table, after: str | None, parsed: bool) -> None:
    """Put a new claim behind another, and what stood between that one and the next behind it."""
    ids = [str(t.get("id", "")) for t in claims]
    index = ids.index(after) + 1 if after in ids else 0 if after is None else len(ids)
    tail: list[Any] = []
    if index:
        body = claims[index - 1].value.body
        while body and body[-1][0] is None:
            tail.insert(0, body.pop())
        if parsed:  # tomlkit parts the tables of a new file by itself
            claims[index - 1].add(tomlkit.nl())
    if index == len(ids):
        claims.append(table)
    else:
        claims.insert(index, table)
    written = claims[index]
    if tail:
        written.value.body.extend(tail)
    elif index < len(ids):
        written.add(tomlkit.nl())
