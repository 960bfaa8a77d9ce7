r"""A statement as the claims file has it: plain text, with formulas in TeX's round delimiters.

What TeX does with fonts, spacing and counters is dropped. References stay names, not numbers: a
number changes when another theorem is added, and the statement has not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pylatexenc.latex2text import (
    LatexNodes2Text,
    MacroTextSpec,
    get_default_latex_context_db,
)

from lemmax.paper.tokens import Token, argument, group, optional, starred, tokens

DISPLAYS = {
    "equation": "",
    "displaymath": "",
    "math": "",
    "align": "aligned",
    "alignat": "aligned",
    "flalign": "aligned",
    "eqnarray": "aligned",
    "gather": "gathered",
    "multline": "gathered",
}
_ONE_REFERENCE = ("ref", "eqref", "autoref", "nameref", "pageref", "subref", "fullref", "thref")
_CLEVER = ("cref", "crefrange", "labelcref", "namecref", "lcnamecref", "vref")
REFERENCES = frozenset((*_ONE_REFERENCE, *_CLEVER, *("Cref", "Crefrange", "nameCref", "Vref")))
_NATBIB = ("cite", "citep", "citet", "citealp", "citealt", "citeauthor", "citeyear")
CITATIONS = frozenset((*_NATBIB, "textcite", "parencite", "autocite"))
_SILENT = frozenset(
    (
        "label",
        "footnote",
        "thanks",
        "lemmax",
        "lemmaxuses",
        "uses",
        "index",
        "vspace",
        "hspace",
        "phantom",
        "input",
    )
)
_SPACES = {",": " ", ";": " ", ":": " ", "!": "", "/": "", "quad": " ", "qquad": " ", " ": " "}
_NUMBERS = ("nonumber", "notag")
DEEPEST = 60
_HOLE = 0xE000  # private characters stand for formulas while the words are read
_MOST = 0x18FF


class Unreadable(Exception):
    """Text of which no words can be made; the sentence says why."""


def plain(text: str, name_of: Callable[[str], str] = str) -> str:
    r"""LaTeX whose own commands are expanded already, as text with formulas.

    ``name_of`` turns a label into the words that stand for it.

    >>> plain(r"Let $x\in X$ be \emph{odd}, as in \cref{lem:a}.")
    'Let \\(x\\in X\\) be odd, as in lem:a.'
    """
    writer = _Writer(text, name_of)
    writer.run()
    try:
        words = _converter().latex_to_text("".join(writer.words), tolerant_parsing=True)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        # pylatexenc asks for the arguments of a command without looking whether they are there.
        raise Unreadable("A command of this statement lacks its arguments.") from None
    words = words.replace("``", "“").replace("''", "”")
    lines = [" ".join(line.split()) for line in re.split(r"\n\s*\n", words)]
    told = "\n\n".join(line for line in lines if line)
    for number in range(len(writer.formulas) - 1, -1, -1):
        told = told.replace(chr(_HOLE + number), writer.formulas[number])
    return told


@cache
def _converter() -> Any:
    """Words without their markup; the arguments of a command that nobody knows are kept."""
    context = get_default_latex_context_db()
    context.set_unknown_macro_spec(MacroTextSpec("", discard=False))
    return LatexNodes2Text(latex_context=context, strict_latex_spaces=True)


@dataclass
class _Writer:
    """Takes formulas, references and lists out of a text; what is left are words."""

    text: str
    name_of: Callable[[str], str]
    words: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    items: list[int | None] = field(default_factory=list)  # the counters of open lists

    def run(self) -> None:
        """Go through the text once."""
        position = depth = 0
        for token in tokens(self.text):
            depth += {"open": 1, "begin": 1, "close": -1, "end": -1}.get(token.kind, 0)
            if depth > DEEPEST:
                raise Unreadable("The statement is nested too deeply to be read.")
            rest = token.behind(position)
            if rest is not None:
                position = self._token(rest)

    def _token(self, token: Token) -> int:
        text = self.text
        if token.kind == "comment":
            return token.end
        if token.kind == "math":
            return self._formula(token)
        if token.kind == "begin":
            name = token.name.rstrip("*")
            if name in DISPLAYS:
                return self._display(token, name)
            if name in ("enumerate", "itemize", "description"):
                self.items.append(0 if name == "enumerate" else None)
                option = optional(text, token.end)
                return option.after if option else token.end
        if token.kind == "end" and token.name in ("enumerate", "itemize", "description"):
            if self.items:
                self.items.pop()
            self.words.append("\n\n")
            return token.end
        if token.kind == "macro":
            return self._macro(token)
        self.words.append(text[token.start : token.end])
        return token.end

    def _macro(self, token: Token) -> int:
        text, name = self.text, token.name
        if name in _SPACES:
            self.words.append(_SPACES[name])
            return token.end
        if name == "item":
            return self._item(token)
        if name == "ensuremath":
            inside = group(text, token.end)
            if inside is not None:
                self._hole(rf"\({_tidy(inside.of(text))}\)")
                return inside.after
        if name in _SILENT:
            _, position = starred(text, token.end)
            option = optional(text, position)
            inside = group(text, option.after if option else position)
            return inside.after if inside else token.end
        if name == "href":  # \href{address}{words}
            address = group(text, token.end)
            return address.after if address else token.end
        if name in REFERENCES or name in CITATIONS or name == "hyperref":
            return self._reference(token)
        self.words.append(text[token.start : token.end])
        return token.end

    def _item(self, token: Token) -> int:
        option = optional(self.text, token.end)
        sign = "–"
        if option is None and self.items and self.items[-1] is not None:
            self.items[-1] += 1
            sign = f"({self.items[-1]})"
        self.words.append(f"\n\n{option.of(self.text) if option else sign} ")
        return option.after if option else token.end

    def _reference(self, token: Token) -> int:
        text = self.text
        _, position = starred(text, token.end)
        option = optional(text, position)
        while option is not None and token.name != "hyperref":
            position = option.after
            option = optional(text, position)
        inside = group(text, option.after if option else position)
        if inside is None:
            return token.end
        if token.name == "hyperref":  # \hyperref[label]{words}
            self.words.append(inside.of(text))
            return inside.after
        names = [name.strip() for name in inside.of(text).split(",")]
        if token.name in CITATIONS:
            self._hole(f"[{', '.join(names)}]")
        else:
            told = " and ".join(self.name_of(name) for name in names)
            self._hole(f"({told})" if token.name == "eqref" else told)
        return inside.after

    def _formula(self, token: Token) -> int:
        closing = {"\\(": "\\)", "\\[": "\\]"}.get(token.name, token.name)
        depth = 0
        for other in tokens(self.text, token.end):
            depth += {"open": 1, "close": -1}.get(other.kind, 0)
            if other.kind == "math" and other.name == closing and depth == 0:
                inside = _tidy(self.text[token.end : other.start])
                long = token.name in ("$$", "\\[")
                self._hole(f"\\[{inside}\\]" if long else f"\\({inside}\\)")
                return other.end
        self.words.append(self.text[token.start : token.end])
        return token.end

    def _display(self, token: Token, name: str) -> int:
        start = token.end
        if name == "alignat":
            columns = group(self.text, start)
            start = columns.after if columns else start
        end = self.text.find(f"\\end{{{token.name}}}", start)
        end = len(self.text) if end < 0 else end
        inside, inner = _tidy(self.text[start:end]), DISPLAYS[name]
        body = rf"\begin{{{inner}}}{inside}\end{{{inner}}}" if inner else inside
        self._hole(f"\\({body}\\)" if name == "math" else f"\\[{body}\\]")
        return end + len(f"\\end{{{token.name}}}")

    def _hole(self, content: str) -> None:
        if len(self.formulas) > _MOST:
            self.words.append(" … ")
            return
        self.words.append(chr(_HOLE + len(self.formulas)))
        self.formulas.append(content)


def _tidy(formula: str) -> str:
    r"""A formula without labels, numbers, comments, doubled blanks and dollars.

    >>> print(_tidy(r"x = 1 \text{ if $y$ is} % so"))
    x = 1 \text{ if }y\text{ is}
    """
    parts: list[str] = []
    position = 0
    inner = False
    for whole in tokens(formula):
        token = whole.behind(position)
        if token is None:
            continue
        position = token.end
        if token.kind == "comment":
            continue
        if token.kind == "math":  # a formula inside of \text: the text is closed around it
            parts.append(r"\text{" if inner else "}")
            inner = not inner
            continue
        if token.kind == "macro" and token.name == "label":
            inside = argument(formula, token.end)
            position = inside.after if inside else token.end
        elif token.kind == "macro" and token.name == "ensuremath":
            inside = group(formula, token.end)
            if inside is not None:
                parts.append(f"{{{inside.of(formula)}}}")
                position = inside.after
        elif not (token.kind == "macro" and token.name in _NUMBERS):
            parts.append(formula[token.start : token.end])
    return " ".join("".join(parts).split())
