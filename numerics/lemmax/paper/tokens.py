r"""LaTeX as a row of tokens, and the arguments behind a command.

The tokens are pylatexenc's. A whole tree of the document would ask more of it than TeX promises:
a column type such as ``>{$}c<{$}`` or an unbalanced ``\left[`` is no error, and a paper full of
such things must still be read. Environments are therefore matched here, over tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

from pylatexenc.latexwalker import (
    LatexWalker,
    LatexWalkerEndOfStream,
    get_default_latex_context_db,
)

Kind = Literal["text", "macro", "begin", "end", "open", "close", "math", "comment", "verbatim"]

VERBATIM = frozenset(
    ("verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "comment", "filecontents")
)
_INLINE_VERBATIM = frozenset(("verb", "lstinline", "mintinline"))
_SPECIAL = re.compile(r"[\\{}%$]")
_SPACE = re.compile(r"(?:[ \t\r\f]|\n(?![ \t]*\n)|(?<!\\)%[^\n]*(?:\n|\Z))*")
_KINDS: dict[str, Kind] = {
    "begin_environment": "begin",
    "end_environment": "end",
    "brace_open": "open",
    "brace_close": "close",
    "mathmode_inline": "math",
    "mathmode_display": "math",
    "comment": "comment",
    "macro": "macro",
}


class Unclosed(Exception):
    """A brace or bracket that is opened at a position and never closed."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


@dataclass(frozen=True)
class Token:
    r"""A piece of the text from ``start`` to ``end``.

    ``name`` is the macro without its backslash, the environment, or the delimiter of a formula.
    The blanks that TeX swallows behind a macro are not part of it.
    """

    kind: Kind
    name: str
    start: int
    end: int

    def behind(self, position: int) -> Token | None:
        """What is left of the token behind a position: words can be cut, the rest is whole."""
        if self.start >= position:
            return self
        if self.kind == "text" and self.end > position:
            return Token("text", "", position, self.end)
        return None


def tokens(text: str, start: int = 0, stop: int | None = None) -> Iterator[Token]:
    r"""The tokens between two positions; together they cover everything.

    Linear in the length of the text.

    >>> [t.kind for t in tokens(r"\emph{a} $b$ % c")]
    ['macro', 'open', 'text', 'close', 'text', 'math', 'text', 'math', 'text', 'comment']
    """
    stop = len(text) if stop is None else stop
    walker = _walker(text)
    position = start
    while position < stop:
        special = _SPECIAL.search(text, position, stop)
        if special is None:
            yield Token("text", "", position, stop)
            return
        if special.start() > position:
            yield Token("text", "", position, special.start())
        token = _token(walker, text, special.start(), stop)
        yield token
        position = token.end
        if token.kind == "begin" and token.name in VERBATIM:
            end = text.find(f"\\end{{{token.name}}}", position, stop)
            end = stop if end < 0 else end
            yield Token("verbatim", token.name, position, end)
            position = end
        elif token.kind == "macro" and token.name in _INLINE_VERBATIM:
            position = _after_verbatim(text, position, stop)
            yield Token("verbatim", token.name, token.end, position)


@cache
def _context() -> Any:
    return get_default_latex_context_db()


@lru_cache(maxsize=8)
def _walker(text: str) -> LatexWalker:
    return LatexWalker(text, latex_context=_context(), tolerant_parsing=True)


def _token(walker: LatexWalker, text: str, position: int, stop: int) -> Token:
    if text[position] == "%":  # only the comment: its line end may be the start of a paragraph
        end = text.find("\n", position, stop)
        return Token("comment", "", position, stop if end < 0 else end + 1)
    try:
        read = walker.get_token(position)
    except LatexWalkerEndOfStream:  # a backslash at the very end
        return Token("text", "", position, stop)
    kind = _KINDS.get(read.tok, "text")
    end = read.pos + read.len - len(getattr(read, "post_space", "") or "")
    name = read.arg if isinstance(read.arg, str) else ""
    return Token(kind, name, position, end)


def _after_verbatim(text: str, position: int, stop: int) -> int:
    """The position behind ``|…|``, with a star, an option or a language before it."""
    match = re.compile(r"\*?(?:\[[^\]\n]*\])?").match(text, position, stop)
    position = match.end() if match else position
    if position >= stop:
        return stop
    mark = "}" if text[position] == "{" else text[position]
    end = text.find(mark, position + 1, stop)
    line = text.find("\n", position, stop)
    if end < 0 or 0 <= line < end:
        return position
    return end + 1


@dataclass(frozen=True)
class Argument:
    """The inside of an argument, from ``start`` to ``stop``, and where the text goes on."""

    start: int
    stop: int
    after: int

    def of(self, text: str) -> str:
        """The argument itself."""
        return text[self.start : self.stop]


def skip_space(text: str, position: int) -> int:
    """The next position that is neither blank nor comment; an empty line ends the search."""
    match = _SPACE.match(text, position)
    return match.end() if match else position


def group(text: str, position: int) -> Argument | None:
    """The group in braces that comes next, or None.

    >>> group("  {a{b}}c", 0).of("  {a{b}}c")
    'a{b}'
    """
    start = skip_space(text, position)
    if not text.startswith("{", start):
        return None
    depth = 0
    for token in tokens(text, start):
        if token.kind == "open":
            depth += 1
        elif token.kind == "close":
            depth -= 1
            if depth == 0:
                return Argument(start + 1, token.start, token.end)
    raise Unclosed(start)


def optional(text: str, position: int) -> Argument | None:
    """The argument in brackets that comes next, or None; brackets inside braces do not count.

    >>> optional("[a{]}[b]]c", 0).of("[a{]}[b]]c")
    'a{]}[b]'
    """
    start = skip_space(text, position)
    if not text.startswith("[", start):
        return None
    braces = brackets = 0
    for token in tokens(text, start):
        if token.kind == "open":
            braces += 1
        elif token.kind == "close":
            braces -= 1
            if braces < 0:
                break
        elif token.kind == "text" and braces == 0:
            for offset in range(token.start, token.end):
                if text[offset] == "[":
                    brackets += 1
                elif text[offset] == "]":
                    brackets -= 1
                    if brackets == 0:
                        return Argument(start + 1, offset, offset + 1)
    raise Unclosed(start)


def argument(text: str, position: int) -> Argument | None:
    """What TeX takes as the next argument: a group, a command, or one character."""
    braced = group(text, position)
    if braced is not None:
        return braced
    start = skip_space(text, position)
    if start >= len(text) or text[start] in "}\n":
        return None
    token = next(tokens(text, start))
    end = start + 1 if token.kind == "text" else token.end
    return Argument(start, end, end)


def starred(text: str, position: int) -> tuple[bool, int]:
    """Whether a star comes next, and the position behind it."""
    start = skip_space(text, position)
    return (True, start + 1) if text.startswith("*", start) else (False, position)
