"""Data of a Coq file: integers, natural numbers, lists and pairs, written and read back.

What is read is a small language, not Coq: a value is an integer, a list ``[:: a; b]`` or a tuple
``(a, b)``, and a scope may follow it. Whatever else stands there is refused.

>>> write([[1, -2], []])
'[:: [:: 1; -2]; [::]]'
>>> read("[:: [:: 1; -2]; [::]]%bZ")
[[1, -2], []]
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lemmax.theory.errors import LemmaxError

Value = int | Sequence["Value"]
_TOKEN = re.compile(r"\s*(?:(\[::)|(-?\d+)|([\];(),])|(%\w+))")


def write(value: Value) -> str:
    """A value as Coq writes it: lists in brackets, tuples in parentheses."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return "(" + ", ".join(map(write, value)) + ")"
    inside = "; ".join(map(write, value))
    return f"[:: {inside}]" if inside else "[::]"


def folded(text: str, width: int = 98) -> str:
    """The text broken at spaces, so that no line is longer than it need be."""
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = "  " + word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def read(text: str) -> Value:
    """The value that a text writes; LemmaxError if it writes none."""
    tokens: list[str] = []
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            raise LemmaxError(f"{text[position : position + 40]!r} is no value of a Coq file.")
        tokens.append(match[0].strip())
        position = match.end()
    value, rest = _value(tokens, 0)
    if rest < len(tokens) and tokens[rest].startswith("%"):
        rest += 1
    if rest != len(tokens):
        raise LemmaxError(f"{tokens[rest]!r} follows a value of a Coq file.")
    return value


def _value(tokens: list[str], at: int) -> tuple[Value, int]:
    if at >= len(tokens):
        raise LemmaxError("A value of a Coq file is cut off.")
    if re.fullmatch(r"-?\d+", tokens[at]):
        return int(tokens[at]), at + 1
    if tokens[at] not in ("[::", "("):
        raise LemmaxError(f"{tokens[at]!r} does not begin a value of a Coq file.")
    closing, separator = ("]", ";") if tokens[at] == "[::" else (")", ",")
    parts: list[Value] = []
    at += 1
    while at < len(tokens) and tokens[at] != closing:
        part, at = _value(tokens, at)
        parts.append(part)
        if at < len(tokens) and tokens[at] == separator:
            at += 1
        elif at >= len(tokens) or tokens[at] != closing:
            raise LemmaxError("A list of a Coq file is not closed.")
    if at >= len(tokens):
        raise LemmaxError("A list of a Coq file is not closed.")
    return (parts if closing == "]" else tuple(parts)), at + 1
