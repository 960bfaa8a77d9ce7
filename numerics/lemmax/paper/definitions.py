r"""What a paper defines: its commands, expanded for readers without it, and its theorems.

Commands come from ``\newcommand`` and its kin, ``\def`` with plain arguments, ``\let``,
``\DeclareMathOperator``, ``\DeclarePairedDelimiter`` and ``\NewDocumentCommand`` with ``m`` and
``O``; theorems from ``\newtheorem`` (LaTeX, amsthm, ntheorem) and ``\declaretheorem`` (thmtools);
proofs from environments that open one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from lemmax.paper.sources import Source
from lemmax.paper.tokens import (
    Token,
    Unclosed,
    argument,
    group,
    optional,
    skip_space,
    starred,
    tokens,
)

_VERBS = ("New", "Renew", "Provide", "Declare")
_THEOREM = frozenset(("newtheorem", "renewtheorem", "spnewtheorem", "newmdtheoremenv"))
_ENVIRONMENT = frozenset(
    ("newenvironment", "renewenvironment", *(f"{verb}DocumentEnvironment" for verb in _VERBS))
)
_OPENS_PROOF = re.compile(r"\\begin\s*\{proof\}|\\proof(?![A-Za-z])")
_PLAIN_ARGUMENTS = re.compile(r"(?:#\d)*")
LONGEST = 100_000
DEEPEST = 100


class Endless(Exception):
    """A command whose expansion does not end, or grows beyond all use."""


@dataclass(frozen=True)
class Macro:
    """A command of the paper.

    ``default`` is that of an optional first argument. The body of a ``final`` macro is what the
    name meant before, so it is not expanded again; one with ``delimiters`` takes a star or a size.
    """

    arguments: int
    body: str
    default: str | None = None
    final: bool = False
    delimiters: tuple[str, str] | None = None


@dataclass(frozen=True)
class Definitions:
    """The commands by name, the printed name of every theorem environment, and the proofs.

    A proof is ``proof`` and every environment of the paper that opens one.
    """

    macros: Mapping[str, Macro] = field(default_factory=dict)
    theorems: Mapping[str, str] = field(default_factory=dict)
    proofs: frozenset[str] = frozenset(("proof",))

    def expand(self, text: str) -> str:
        r"""The text with the paper's own commands replaced by what they stand for.

        >>> macros = {"R": Macro(0, r"\mathbb{R}"), "norm": Macro(1, r"\lVert#1\rVert")}
        >>> print(Definitions(macros).expand(r"\norm{x} \in \R^n"))
        \lVert x\rVert \in \mathbb{R}^n
        """
        return _Expansion(self.macros).run(text, 0)


@dataclass
class _Expansion:
    """One expansion, with a limit to all that it may read and write."""

    macros: Mapping[str, Macro]
    left: int = LONGEST

    def run(self, text: str, depth: int) -> str:
        """The text without the paper's own commands."""
        self.left -= len(text)
        if depth > DEEPEST or self.left < 0:
            raise Endless
        parts: list[str] = []
        position = 0
        for token in tokens(text):
            if token.start < position:
                continue
            piece = text[position : token.end]
            position = token.end
            if token.kind == "macro" and token.name in self.macros:
                macro = self.macros[token.name]
                used, after = _applied(macro, text, token.end)
                if used is not None:
                    position = after
                    piece = used if macro.final else self.run(used, depth + 1)
                    # What came from a command must not run into the letter behind it.
                    if re.search(r"\\[A-Za-z]+\Z", piece) and text[after : after + 1].isalpha():
                        piece += " "
            parts.append(piece)
        parts.append(text[position:])
        return "".join(parts)


def _applied(macro: Macro, text: str, position: int) -> tuple[str | None, int]:
    """The body with its arguments, or None where the text does not offer them."""
    given: list[str] = []
    star = False
    if macro.delimiters:
        star, position = starred(text, position)
        size = None if star else optional(text, position)
        position = size.after if size else position
    if macro.default is not None:
        option = optional(text, position)
        given.append(option.of(text) if option else macro.default)
        position = option.after if option else position
    while len(given) < macro.arguments:
        read = argument(text, position)
        if read is None:
            return None, position
        given.append(read.of(text))
        position = read.after

    def put(match: re.Match[str]) -> str:
        number = int(match[1])
        value = given[number - 1] if number <= len(given) else ""
        before = match.string[: match.start()]
        joined = re.search(r"\\[A-Za-z]+\Z", before) and value[:1].isalpha()
        return f" {value}" if joined else value

    body = re.sub(r"#(\d)", put, macro.body)
    if macro.delimiters:
        left, right = macro.delimiters
        body = rf"\left{left} {body} \right{right}" if star else f"{left} {body} {right}"
    return body, position


def read_definitions(source: Source) -> Definitions:
    """All definitions of a paper; a later one of the same name wins."""
    macros: dict[str, Macro] = {}
    theorems: dict[str, str] = {}
    proofs = {"proof"}
    position = 0
    for token in tokens(source.text):
        if token.kind != "macro" or token.start < position:
            continue
        try:
            if token.name in _THEOREM:
                position = _newtheorem(source.text, token, theorems)
            elif token.name == "declaretheorem":
                position = _declaretheorem(source.text, token, theorems)
            elif token.name in _ENVIRONMENT:
                position = _newenvironment(source.text, token, proofs)
            else:
                position = _macro(source.text, token, macros)
        except Unclosed as error:
            raise source.error(
                error.position, "A brace or bracket is opened here and never closed."
            ) from None
    return Definitions(macros, theorems, frozenset(proofs))


def _macro(text: str, token: Token, macros: dict[str, Macro]) -> int:
    """Note the command that this token defines, if it defines one; the position behind it."""
    reader = _DEFINERS.get(token.name)
    if reader is None:
        return token.end
    _, position = starred(text, token.end)
    called = argument(text, position)
    if called is None:
        return token.end
    name = called.of(text).strip().removeprefix("\\")
    macro, after = reader(text, called.after, macros)
    if macro is not None and not (token.name == "providecommand" and name in macros):
        starred_operator = token.name == "DeclareMathOperator" and position != token.end
        body = macro.body.replace("name{", "name*{", 1) if starred_operator else macro.body
        macros[name] = replace(macro, body=body)
    return after


_Read = tuple[Macro | None, int]


def _newcommand(text: str, position: int, macros: Mapping[str, Macro]) -> _Read:
    number = optional(text, position)
    default = optional(text, number.after) if number else None
    last = default or number
    body = group(text, last.after if last else position)
    count = number.of(text).strip() if number else "0"
    if body is None or not count.isdigit():
        return None, position
    return Macro(int(count), body.of(text), default.of(text) if default else None), body.after


def _document_command(text: str, position: int, macros: Mapping[str, Macro]) -> _Read:
    wanted = group(text, position)
    body = group(text, wanted.after) if wanted else None
    if wanted is None or body is None:
        return None, position
    read = re.fullmatch(r"\s*(?:O\s*\{([^{}]*)\})?\s*((?:\+?m\s*)*)", wanted.of(text))
    if read is None:
        return None, body.after
    return Macro(read[2].count("m") + (read[1] is not None), body.of(text), read[1]), body.after


def _def(text: str, position: int, macros: Mapping[str, Macro]) -> _Read:
    brace = text.find("{", position)
    body = group(text, brace) if brace >= 0 else None
    if body is None:
        return None, position
    pattern = text[position:brace].strip()
    if not _PLAIN_ARGUMENTS.fullmatch(pattern):
        return None, body.after
    return Macro(pattern.count("#"), body.of(text)), body.after


def _let(text: str, position: int, macros: Mapping[str, Macro]) -> _Read:
    start = skip_space(text, position)
    target = argument(text, start + text.startswith("=", start))
    if target is None:
        return None, position
    old = target.of(text)
    return macros.get(old.removeprefix("\\"), Macro(0, old, final=True)), target.after


def _operator(text: str, position: int, macros: Mapping[str, Macro]) -> _Read:
    body = group(text, position)
    if body is None:
        return None, position
    return Macro(0, rf"\operatorname{{{body.of(text)}}}"), body.after


def _paired(text: str, position: int, macros: Mapping[str, Macro]) -> _Read:
    left = argument(text, position)
    right = argument(text, left.after) if left else None
    if left is None or right is None:
        return None, position
    return Macro(1, "#1", delimiters=(left.of(text), right.of(text))), right.after


_DEFINERS: dict[str, Callable[[str, int, Mapping[str, Macro]], _Read]] = {
    **dict.fromkeys(
        ("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand"), _newcommand
    ),
    **{f"{verb}DocumentCommand": _document_command for verb in _VERBS},
    **{f"{verb}ExpandableDocumentCommand": _document_command for verb in _VERBS},
    "def": _def,
    "gdef": _def,
    "let": _let,
    "DeclareMathOperator": _operator,
    "DeclarePairedDelimiter": _paired,
}


def _newtheorem(text: str, token: Token, theorems: dict[str, str]) -> int:
    _, position = starred(text, token.end)
    options = optional(text, position) if token.name == "newmdtheoremenv" else None
    name = group(text, options.after if options else position)
    if name is None:
        return token.end
    shared = optional(text, name.after)
    printed = group(text, shared.after if shared else name.after)
    if printed is None:
        return name.after
    theorems[name.of(text).strip()] = printed.of(text).strip()
    return printed.after


def _declaretheorem(text: str, token: Token, theorems: dict[str, str]) -> int:
    options = optional(text, token.end)
    names = group(text, options.after if options else token.end)
    if names is None:
        return token.end
    given = key_values(options.of(text)) if options else {}
    for name in names.of(text).split(","):
        printed = given.get("name", given.get("title", name.strip().capitalize()))
        theorems[name.strip()] = printed
    return names.after


def _newenvironment(text: str, token: Token, proofs: set[str]) -> int:
    """Note an environment that opens a proof; the position behind its definition."""
    _, position = starred(text, token.end)
    name = group(text, position)
    if name is None:
        return token.end
    position = name.after
    if token.name.endswith("DocumentEnvironment"):
        wanted = group(text, position)
        position = wanted.after if wanted else position
    while (option := optional(text, position)) is not None:
        position = option.after
    before = group(text, position)
    after = group(text, before.after) if before else None
    if before is None or after is None:
        return name.after
    if _OPENS_PROOF.search(before.of(text)):
        proofs.add(name.of(text).strip())
    return after.after


def key_values(text: str) -> dict[str, str]:
    """Options of the form ``name=Foo, label={thm:foo}``; a key without a value has an empty one.

    >>> key_values("name={A, B}, numbered=no")
    {'name': 'A, B', 'numbered': 'no'}
    """
    pieces, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            pieces.append(text[start:position])
            start = position + 1
    pieces.append(text[start:])
    found = {}
    for piece in pieces:
        key, _, value = piece.partition("=")
        value = value.strip()
        if value.startswith("{") and value.endswith("}"):
            value = value[1:-1].strip()
        if key.strip():
            found[key.strip()] = value
    return found
