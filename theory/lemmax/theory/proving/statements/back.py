"""A written statement read back: every parenthesis is there, so that no precedence is needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.proving.statements.objects import binders_back
from lemmax.theory.proving.statements.trees import INFIX, Tree
from lemmax.theory.proving.theorem import Parsed

_WORD = re.compile(r"\s*(-?\d+%:R|\w+%:R|\d+%N|-?\d+|[\w.]+|<->|<=|:>|/\\|\\/|[()#+\-*/<=~])")
_MODES = {"natural": "Natural", "binary": "Binary"}
_ASSUMED = re.compile(r" : (?:(natural|binary)_exponential exp -> )?(?:exists ((?:\w+ )+): nat, )?")
# Words of Coq: the word of the language, and the arguments before its own.
_BACK: dict[str, tuple[str, tuple[str, ...]]] = {
    "entry_at": ("entry", ()),
    "Num.min": ("min", ()),
    "Num.max": ("max", ()),
    "equal_tensors": ("equal", ()),
    "equal_facts": ("equal", ()),
    "fact_count": ("size", ("R",)),
    "association_count": ("count", ("R",)),
    "table_tensor": ("tensor", ("R",)),
    **{x: (x, ("R",)) for x in ("keys", "queries", "values", "slices_rank_sum", "indicator")},
    **{
        x: (x, ("exp",))
        for x in (
            *("threshold", "threshold_tensor", "memorizes_values", "memorizes_values_at"),
            *("layer_tensor", "logits_tensor", "unmasked_tensor", "feature_rank"),
        )
    },
}


def read_back(parsed: Parsed) -> Any:
    """What the written theorem says: the exponential, the objects, and the conditions as trees."""
    text = parsed.statement
    if not text.startswith("(R : realFieldType)"):
        return None
    text = text.removeprefix("(R : realFieldType)")
    real = text.startswith(" (exp : R -> R)")
    found = binders_back(text.removeprefix(" (exp : R -> R)"), parsed.data)
    head = _ASSUMED.match(found[1]) if found else None
    if found is None or head is None or bool(head[1]) != real:
        return None
    body = found[1][head.end() :]
    words = _WORD.findall(body)
    if "".join(words) != "".join(body.split()):
        return None
    trees: list[Tree] = []
    unknowns: dict[str, Tree] = {}
    names = (head[2] or "").split()
    at = 0
    while at < len(words):
        tree, at = _term(words, at, unknowns)
        if len(unknowns) < len(names):
            name = names[len(unknowns)]
            unknowns[name] = _determined(tree, name)
        else:
            trees.append(tree)
        if at < len(words) and words[at] != "/\\":
            return None
        at += 1
    if not trees or len(unknowns) < len(names):
        return None
    return (_MODES[head[1]] if real else "Plain"), found[0], trees


def _determined(tree: Tree, name: str) -> Tree:
    """The number that ``rank_is (entries X) r`` or ``kruskal_is M r`` determines."""
    if tree[0] == "rank_is" and tree[1][0] == "entries" and tree[2] == name:
        return "tensor_rank", tree[1][1]
    if tree[0] == "kruskal_is" and tree[2] == name:
        return "kruskal_rank", tree[1]
    raise LemmaxError(f"Nothing determines {name}.")


def _term(words: Sequence[str], at: int, unknowns: dict[str, Tree]) -> tuple[Tree, int]:
    word = words[at]
    if word.endswith("%:R"):
        name = word.removesuffix("%:R")
        if re.fullmatch(r"-?\d+", name):
            return Fraction(name), at + 1
        if name not in unknowns:
            raise LemmaxError(f"{name} is not determined before it is used.")
        return unknowns[name], at + 1
    if word.endswith("%N"):
        return Fraction(word.removesuffix("%N")), at + 1
    if word != "(":
        return word, at + 1
    at += 1
    if list(words[at : at + 3]) == ["qr", "R", "("]:
        if words[at + 4] != "#" or list(words[at + 6 : at + 8]) != [")", ")"]:
            raise LemmaxError("A rational number of a Coq file is not closed.")
        return Fraction(int(words[at + 3]), int(words[at + 5])), at + 8
    parts: list[Tree] = []
    while words[at] != ")":
        part, at = _term(words, at, unknowns)
        parts.append(part)
    return _meaning(parts), at + 1


def _meaning(parts: list[Tree]) -> Tree:
    if parts[-2:] == [":>", "R"]:
        parts = parts[:-2]
    if parts[0] == "~":
        return "not", *parts[1:]
    if len(parts) == 3 and isinstance(parts[1], str) and parts[1] in INFIX:
        return parts[1], parts[0], parts[2]
    if len(parts) == 3 and parts[1] == "<->":
        return "iff", parts[0], parts[2]
    if len(parts) == 3 and parts[1] == "\\/":
        return "or", parts[0], parts[2]
    if len(parts) > 2 and parts[1] == "/\\":
        if len(parts) % 2 == 0 or any(x != "/\\" for x in parts[1::2]):
            raise LemmaxError("A conjunction of a Coq file is broken.")
        return "and", *parts[::2]
    if parts[0] == "memorizes_at" and parts[1] == "exp":
        database = parts[4]
        if database[0] != "facts_db" or len(set(database[1:4])) != 1:
            raise LemmaxError("A database of a Coq file has different sizes.")
        return "memorizes_at", parts[2], database[4], parts[3]
    if isinstance(parts[0], str) and parts[0] in _BACK:
        word, before = _BACK[parts[0]]
        if tuple(parts[1 : 1 + len(before)]) != before:
            raise LemmaxError(f"{parts[0]} of a Coq file has other arguments.")
        return word, *parts[1 + len(before) :]
    return tuple(parts)
