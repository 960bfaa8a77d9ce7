r"""The statements of a paper: every theorem environment with its label, words and proof.

A proof belongs to the statement before it, or to the one that its own title names
(``\begin{proof}[Proof of \cref{thm:main}]``). What it refers to is what the statement uses, unless
``\lemmaxuses{…}`` in the statement or the proof says it outright.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lemmax.paper.definitions import Definitions, Endless, key_values, read_definitions
from lemmax.paper.errors import Place
from lemmax.paper.sources import Source
from lemmax.paper.tokens import Argument, Token, Unclosed, group, optional, starred, tokens
from lemmax.paper.web import REFERENCES, Unreadable, plain

_RESTATABLE = frozenset(("restatable", "restatable*"))
_USES = frozenset(("lemmaxuses", "uses"))
_MENTIONS = {
    "lemmax": "badge",
    "lemmaxverdict": "badge",
    "lemmaxgrade": "badge",
    "lemmaxvalue": "value",
}
_SECTIONS = frozenset(("chapter", "section", "subsection", "subsubsection"))


@dataclass(frozen=True)
class Statement:
    """A theorem of the paper; ``uses`` are labels of other statements, in the order of the text.

    ``latex`` has the printed name and the title as the paper itself writes them.
    """

    label: str | None
    environment: str
    name: str
    title: str | None
    text: str
    section: str | None
    place: Place
    uses: tuple[str, ...] = ()
    latex: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Mention:
    """A badge or a value that the paper prints by name."""

    name: str
    place: Place


@dataclass(frozen=True)
class Contents:
    r"""The statements in order, what ``\lemmax`` and ``\lemmaxvalue`` name, and the front page."""

    statements: tuple[Statement, ...]
    badges: tuple[Mention, ...] = ()
    values: tuple[Mention, ...] = ()
    title: str = ""
    authors: str = ""


@dataclass
class _Open:
    """An environment that is not closed yet."""

    token: Token
    statement: _Draft | None = None
    proof: bool = False
    proof_of: _Draft | None = None


def _ours(opened: _Open) -> bool:
    """Whether an environment that is open is a statement or a proof."""
    return opened.statement is not None or opened.proof


@dataclass
class _Draft:
    environment: str
    name: str
    title: str | None
    start: int
    section: str | None
    end: int = 0
    inside: int = 0
    labels: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    said: list[str] | None = None


def read_statements(source: Source) -> Contents:
    """Find the statements; the first thing that is wrong is an error with its place."""
    definitions = read_definitions(source)
    scan = _Scan(source, definitions)
    try:
        scan.run()
    except Unclosed as error:
        raise source.error(
            error.position, "A brace or bracket is opened here and never closed."
        ) from None
    home = {label: draft.labels[0] for label, draft in scan.homes.items() if draft.labels}
    return Contents(
        tuple(_finish(source, definitions, draft, home) for draft in scan.drafts),
        tuple(scan.mentions["badge"]),
        tuple(scan.mentions["value"]),
        _front(source, definitions, "title"),
        _front(source, definitions, "author"),
    )


def _front(source: Source, definitions: Definitions, command: str) -> str:
    """The title or the authors as plain text on one line; empty where they cannot be read."""
    for token in tokens(source.text):
        if token.kind == "macro" and token.name == command:
            try:
                option = optional(source.text, token.end)
                given = group(source.text, option.after if option else token.end)
                text = definitions.expand(given.of(source.text)) if given else ""
                people = [" ".join(plain(part).split()) for part in re.split(r"\\and\b", text)]
            except (Unclosed, Endless, Unreadable):
                return ""
            return " and ".join(filter(None, [", ".join(people[:-1]), people[-1]]))
    return ""


def _finish(
    source: Source, definitions: Definitions, draft: _Draft, home: Mapping[str, str]
) -> Statement:
    label = draft.labels[0] if draft.labels else None
    named = draft.references if draft.said is None else draft.said
    if draft.said is not None:
        for name in draft.said:
            if name not in home:
                raise source.error(
                    draft.start, f"\\lemmaxuses names {name!r}, which is no label of a statement."
                )
    uses = dict.fromkeys(home[name] for name in named if name in home)
    uses.pop(label or "", None)
    try:
        text = plain(definitions.expand(source.text[draft.inside : draft.end]))
        title = plain(definitions.expand(draft.title)) if draft.title else None
        section = plain(definitions.expand(draft.section)) if draft.section else None
        name = plain(definitions.expand(draft.name))
    except Endless:
        raise source.error(
            draft.start, "A command of this statement expands without an end."
        ) from None
    except Unreadable as error:
        raise source.error(draft.start, str(error)) from None
    except Unclosed:
        raise source.error(
            draft.start, "A brace or bracket of this statement is never closed."
        ) from None
    place = source.place(draft.start)
    latex = (draft.name, draft.title or "")
    return Statement(
        label, draft.environment, name, title, text, section, place, tuple(uses), latex
    )


class _Scan:
    """One pass over the text, with the stack of open environments."""

    def __init__(self, source: Source, definitions: Definitions) -> None:
        self.source, self.text, self.definitions = source, source.text, definitions
        self.drafts: list[_Draft] = []
        self.mentions: dict[str, list[Mention]] = {"badge": [], "value": []}
        self.labels: dict[str, int] = {}
        self.homes: dict[str, _Draft] = {}
        self.stack: list[_Open] = []
        self.last: _Draft | None = None
        self.section: str | None = None
        self.pending: list[tuple[_Draft, str]] = []

    def run(self) -> None:
        """Read everything from the beginning of the document to its end."""
        position = self.text.find("\\begin{document}")
        position = 0 if position < 0 else position
        for token in tokens(self.text, position):
            if token.start < position:
                continue
            if token.kind == "begin":
                position = self._begin(token)
            elif token.kind == "end":
                self._end(token)
            elif token.kind == "macro":
                position = self._macro(token)
        for opened in self.stack:
            if opened.statement is not None or opened.proof:
                raise self.source.error(
                    opened.token.start,
                    f"The environment {opened.token.name} is opened here and never closed.",
                )
        self._settle_proofs()

    def _begin(self, token: Token) -> int:
        name = token.name
        if name == "document":
            return token.end
        opened = _Open(token)
        self.stack.append(opened)
        position = token.end
        if name in self.definitions.proofs:
            option = optional(self.text, position)
            opened.proof, opened.proof_of = True, self.last
            if option is not None:
                target = self._first_reference(option)
                opened.proof_of = (
                    _Draft("proof", "", target, token.start, None) if target else (self.last)
                )
                if target and opened.proof_of is not None:
                    self.pending.append((opened.proof_of, target))
            return option.after if option else position
        if name in self.definitions.theorems:
            option = optional(self.text, position)
            draft = self._draft(name, token, option.of(self.text) if option else None)
            draft.inside = option.after if option else position
        elif name in _RESTATABLE:
            option = optional(self.text, position)
            kind = group(self.text, option.after if option else position)
            called = group(self.text, kind.after) if kind else None
            if kind is None or called is None:
                return position
            draft = self._draft(
                kind.of(self.text).strip(), token, option.of(self.text) if option else None
            )
            draft.inside = called.after
        else:
            return position
        opened.statement = draft
        self.drafts.append(draft)
        return draft.inside

    def _draft(self, environment: str, token: Token, option: str | None) -> _Draft:
        printed = self.definitions.theorems.get(environment, environment.capitalize())
        draft = _Draft(environment, printed, option, token.start, self.section)
        if option is not None:
            given = key_values(option)
            if set(given) & {"label", "name", "restate"}:  # thmtools
                draft.title = given.get("name") or None
                if given.get("label"):
                    self._label(given["label"], token.start, draft)
        return draft

    def _end(self, token: Token) -> None:
        name = token.name
        if name == "document":
            return
        known = {*self.definitions.theorems, *self.definitions.proofs, *_RESTATABLE}
        if self.stack and self.stack[-1].token.name == name:
            opened = self.stack.pop()
        elif name in known:
            innermost = next((o.token for o in reversed(self.stack) if _ours(o)), None)
            if innermost is not None:
                raise self.source.error(
                    innermost.start,
                    f"The environment {innermost.name} is opened here and not closed before "
                    f"\\end{{{name}}} at {self.source.place(token.start)}.",
                )
            raise self.source.error(
                token.start, f"The environment {name} is closed here but was never opened."
            )
        else:
            # Some other environment, perhaps opened or closed by a command of the paper.
            while self.stack and not _ours(self.stack[-1]):
                if self.stack.pop().token.name == name:
                    break
            return
        if opened.statement is not None:
            opened.statement.end = token.start
            self.last = opened.statement

    def _macro(self, token: Token) -> int:
        name = token.name
        if name in _SECTIONS:
            _, position = starred(self.text, token.end)
            short = optional(self.text, position)
            title = group(self.text, short.after if short else position)
            if title is not None:
                self.section = (short or title).of(self.text)
            return token.end
        if name == "label":
            given = group(self.text, token.end)
            if given is not None:
                self._label(given.of(self.text).strip(), token.start, None)
                return given.after
        elif name in REFERENCES or name == "hyperref":
            found = self._references(token)
            draft = self._proof()
            if draft is not None:
                draft.references += found
        elif name in _USES:
            given = group(self.text, token.end)
            draft = self._proof() or self._statement()
            if given is not None and draft is not None:
                draft.said = (draft.said or []) + _names(given.of(self.text))
                return given.after
        elif name in _MENTIONS:
            _, position = starred(self.text, token.end)
            given = group(self.text, position)
            if given is not None:
                told = Mention(given.of(self.text).strip(), self.source.place(token.start))
                self.mentions[_MENTIONS[name]].append(told)
                return given.after
        return token.end

    def _label(self, label: str, position: int, draft: _Draft | None) -> None:
        if "#" in label:
            return  # inside of a definition
        if label in self.labels:
            raise self.source.error(
                position,
                f"The label {label!r} stands here and at {self.source.place(self.labels[label])}.",
            )
        self.labels[label] = position
        around = draft or self._statement()
        if around is None:
            return
        self.homes[label] = around
        own = draft is not None or self.stack[-1].statement is around
        if own:
            around.labels.append(label)

    def _statement(self) -> _Draft | None:
        """The innermost statement that is open here."""
        for opened in reversed(self.stack):
            if opened.statement is not None:
                return opened.statement
            if opened.proof:
                return None
        return None

    def _proof(self) -> _Draft | None:
        """The statement whose proof is open here."""
        for opened in reversed(self.stack):
            if opened.proof:
                return opened.proof_of
            if opened.statement is not None:
                return None
        return None

    def _references(self, token: Token) -> list[str]:
        _, position = starred(self.text, token.end)
        option = optional(self.text, position)
        if token.name == "hyperref":
            return _names(option.of(self.text)) if option else []
        while option is not None:
            position = option.after
            option = optional(self.text, position)
        given = group(self.text, position)
        names = _names(given.of(self.text)) if given else []
        if given and token.name in ("crefrange", "Crefrange"):
            second = group(self.text, given.after)
            names += _names(second.of(self.text)) if second else []
        return names

    def _first_reference(self, inside: Argument) -> str | None:
        for token in tokens(self.text, inside.start, inside.stop):
            if token.kind == "macro" and (token.name in REFERENCES or token.name == "hyperref"):
                names = self._references(token)
                if names:
                    return names[0]
        return None

    def _settle_proofs(self) -> None:
        """Give proofs that name their statement, perhaps one further down, to it."""
        for proof, label in self.pending:
            draft = self.homes.get(label)
            if draft is not None:
                draft.references += proof.references
                if proof.said is not None:
                    draft.said = (draft.said or []) + proof.said


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
