r"""One way to write mathematics, read by Markdown, by docstrings and by the claims files alike.

Everywhere in lemmax a formula is ``\( … \)`` or ``\[ … \]``. Sphinx reads dollars in Markdown and
``:math:`` in docstrings; the functions below translate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_FORMULA = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#$|~])")
_TAG = re.compile(r"\{(test|cited|claim|by hand)(?::\s*([^{}]*))?\}")


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """The text as (kind, content) with kinds text, inline and display."""
    end = 0
    for match in _FORMULA.finditer(text):
        yield "text", text[end : match.start()]
        yield ("inline", match[1]) if match[1] is not None else ("display", match[2])
        end = match.end()
    yield "text", text[end:]


def _one_line(formula: str) -> str:
    return " ".join(formula.split())


def markdown(text: str, escape: bool = True) -> str:
    r"""Text with formulas as MyST Markdown; other text is plain unless ``escape`` is false.

    A displayed formula becomes a block of its own, indented like the line that it stands in.

    >>> markdown(r"rank \(M\) is *not* 2")
    'rank $M$ is \\*not\\* 2'
    """
    done = ""
    for kind, content in _pieces(text):
        if kind == "text":
            if done.endswith("$$\n\n"):
                content = _indentation(done) + content.lstrip()
            done += _SPECIAL.sub(r"\\\1", content) if escape else content
        elif kind == "inline":
            done += f"${_one_line(content)}$"
        else:
            space = _indentation(done)
            done = f"{done.rstrip()}\n\n{space}$$\n{space}{_one_line(content)}\n{space}$$\n\n"
    return done


def _indentation(text: str) -> str:
    """How far the last line that says something is moved to the right."""
    lines = [line for line in text.split("\n") if line.strip()]
    match = re.match(r"\d+\.\s+|\s*", lines[-1] if lines else "")
    return " " * len(match[0] if match else "")


_LITERAL = re.compile(r"(``.+?``|`[^`]+`)", re.DOTALL)


def _bars(text: str) -> str:
    """Absolute values and sizes, |T|, are not substitutions; examples and literals stay."""
    lines = []
    for line in text.split("\n"):
        if "|" in line and not line.lstrip().startswith((">>>", "...", "+", "|  ")):
            pieces = _LITERAL.split(line)
            pieces[::2] = [piece.replace("|", "\\|") for piece in pieces[::2]]
            line = "".join(pieces)
        lines.append(line)
    return "\n".join(lines)


def docstring_lines(lines: list[str]) -> None:
    r"""Rewrite formulas and bars in the lines of a docstring, in place."""
    text = "\n".join(lines)
    if not any(sign in text for sign in ("\\(", "\\[", "|")):
        return
    parts = []
    for kind, content in _pieces(text):
        if kind == "text":
            parts.append(_bars(content))
        else:
            # A backslash-space is an empty separator: a role must not touch a letter.
            parts.append(f"\\ :math:`{_one_line(content)}`\\ ")
    lines[:] = "".join(parts).split("\n")


def proof_page(text: str, header: str, link: Callable[[str], str]) -> str:
    """A proof page for readers: formulas, a header below the title, tags as labels.

    ``link`` turns the id of a claim into Markdown.
    """

    def label(match: re.Match[str]) -> str:
        kind, inside = match[1], _one_line(match[2] or "")
        shown = {"test": "tested", "cited": "cited", "claim": "uses", "by hand": "by hand"}[kind]
        tag = f'<span class="lx-by lx-by-{kind.replace(" ", "-")}">{shown}</span>'
        if kind == "test":
            tests = (t.strip() for t in inside.split(","))
            return tag + " " + ", ".join(f"`{t}`{{.lx-test}}" for t in tests if t)
        if kind == "claim":
            return tag + " " + ", ".join(link(c.strip()) for c in inside.split(","))
        return f"{tag} {inside}".strip()

    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    text = _TAG.sub(label, markdown(text, escape=False))
    return re.sub(r"^(# .*)$", lambda m: f"{m[1]}\n\n{header}", text, count=1, flags=re.MULTILINE)
