"""A written refutation read back: every parenthesis is there, so that no precedence is needed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.proving import numbers
from lemmax.theory.proving.kinds import memorization
from lemmax.theory.proving.kinds.trees import (
    FACT_WORDS,
    LayerData,
    Tree,
    instance_of,
    is_matrix,
    trees_of,
)
from lemmax.theory.proving.numbers import Rows
from lemmax.theory.proving.theorem import Parsed

_BINDER = re.compile(r" \((\w+) := qmx R (\d+) (\d+) \(Zpos (\w+)_den\) (\w+)_rows\)")
_LAYER = re.compile(
    r" \((\w+) := layer_of R (\d+) (\d+) (\d+) (\d+) (\d+) "
    + re.escape(memorization.WEIGHTS)
    + r"\)"
)
_WORD = re.compile(r"\s*(-?\d+%:R|\d+%N|-?\d+|\w+|<=|:>|/\\|[()#+\-*/<=~])")


def read_back(parsed: Parsed) -> Any:
    """What the written theorem says: the matrices, and the comparisons as trees."""
    text = parsed.statement
    if not text.startswith("(R : realFieldType)"):
        return None
    text = text.removeprefix("(R : realFieldType)")
    natural = text.startswith(" (exp : R -> R)")
    text = text.removeprefix(" (exp : R -> R)")
    matrices: dict[str, Rows] = {}
    while match := _BINDER.match(text):
        name, p, q = match[1], int(match[2]), int(match[3])
        if match[4] != name or match[5] != name:
            return None
        rows: Any = parsed.data.get(f"{name}_rows")
        den: Any = parsed.data.get(f"{name}_den")
        if rows is None or den is None or len(rows) != p or any(len(row) != q for row in rows):
            return None
        matrices[name] = numbers.over(den, rows)
        text = text[match.end() :]
    names = {f"{n}_{part}" for n in matrices for part in ("den", "rows")}
    objects: dict[str, Any] = {}
    if layer := _LAYER.match(text):
        sizes = [int(x) for x in layer.groups()[1:]]
        weights = {*"EUQKVO", *(f"d{x}" for x in "EUQKVO")}
        if not weights <= set(parsed.data):
            return None
        objects[layer[1]] = memorization.layer_back(sizes, parsed.data)
        text = text[layer.end() :]
        names |= weights
        for name in set(parsed.data) - names:
            facts: Any = parsed.data[name]
            if any(not 0 <= x < sizes[0] for fact in facts for x in fact):
                return None
            objects[name] = list(facts)
        names |= set(objects) - {layer[1]}
    if set(parsed.data) != names:
        return None
    head = " : " + "natural_exponential exp -> " * natural
    if not text.startswith(head):
        return None
    words = _WORD.findall(text.removeprefix(head))
    if "".join(words) != "".join(text.removeprefix(head).split()):
        return None
    trees, at = [], 0
    while at < len(words):
        tree, at = _term(words, at)
        trees.append(tree)
        if at < len(words) and words[at] != "/\\":
            return None
        at += 1
    if not trees or trees[-1][0] != "~" or any(tree[0] == "~" for tree in trees[:-1]):
        return None
    return matrices, objects, trees[:-1], trees[-1][1]


def _term(words: Sequence[str], at: int) -> tuple[Tree, int]:
    word = words[at]
    if word.endswith("%:R"):
        return Fraction(int(word.removesuffix("%:R"))), at + 1
    if word.endswith("%N"):
        return Fraction(int(word.removesuffix("%N"))), at + 1
    if word != "(":
        return word, at + 1
    at += 1
    parts: list[Tree] = []
    if words[at : at + 3] == ["qr", "R", "("]:
        if words[at + 4] != "#" or words[at + 6 : at + 8] != [")", ")"]:
            raise LemmaxError("A rational number of a Coq file is not closed.")
        return Fraction(int(words[at + 3]), int(words[at + 5])), at + 8
    while words[at] != ")":
        part, at = _term(words, at)
        parts.append(part)
    at += 1
    if parts[-2:] == [":>", "R"]:
        parts = parts[:-2]
    if len(parts) == 3 and parts[1] in ("+", "-", "*", "/", "<=", "<", "="):
        return (parts[1], parts[0], parts[2]), at
    if parts[0] == "threshold" and parts[1] == "exp":
        return ("threshold", *parts[2:]), at
    if parts[0] in FACT_WORDS and parts[1] == "R":
        return (parts[0], *parts[2:]), at
    if parts[0] == "memorizes_at" and parts[1] == "exp":
        database = parts[4]
        if database[0] != "facts_db" or len(set(database[1:4])) != 1:
            raise LemmaxError("A database of a Coq file has different sizes.")
        return ("memorizes_at", parts[2], database[4], parts[3]), at
    if parts[0] == "entry_at":
        return ("entry", *parts[1:]), at
    return tuple(parts), at


def meant(certificate: Mapping[str, Any]) -> Any:
    """The same of the certificate; indices and thresholds as numbers."""
    values = instance_of(certificate)
    hypotheses, conclusion = trees_of(certificate, values)
    matrices = {name: value for name, value in values.items() if is_matrix(value)}
    objects = {
        name: value.weights if isinstance(value, LayerData) else value
        for name, value in values.items()
        if not isinstance(value, Fraction) and name not in matrices
    }
    plain = [_numbered(tree, matrices) for tree in (*hypotheses, conclusion)]
    return matrices, objects, plain[:-1], plain[-1]


def _numbered(tree: Tree, matrices: Mapping[str, Rows]) -> Tree:
    """The tree with the indices of entries, and thresholds, computed from numbers and sizes."""
    if not isinstance(tree, tuple):
        return tree
    word, *arguments = tree
    arguments = [_numbered(x, matrices) for x in arguments]
    if word == "entry":
        return word, arguments[0], *(_number(x, matrices) for x in arguments[1:])
    if word == "threshold":
        return word, arguments[0], _number(arguments[1], matrices)
    if word == "memorizes_at":
        return word, *arguments[:2], _number(arguments[2], matrices)
    return word, *arguments


def _number(tree: Tree, matrices: Mapping[str, Rows]) -> Fraction:
    if isinstance(tree, Fraction):
        return tree
    word, *arguments = tree
    if word == "rows":
        return Fraction(len(matrices[arguments[0]]))
    if word == "columns":
        return Fraction(len(matrices[arguments[0]][0]))
    a, b = (_number(x, matrices) for x in arguments)
    return {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else a}[word]
