"""What an instance consists of: each object's data, its binder, and both read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lemmax.checker.attention import Layer
from lemmax.checker.contexts import MultiHead
from lemmax.checker.language.sorts import Associations, Facts
from lemmax.checker.reading import Matrix, Tensor
from lemmax.checker.words import VOCABULARY
from lemmax.theory.proving import numbers
from lemmax.theory.proving.kinds import memorization
from lemmax.theory.proving.literals import Value
from lemmax.theory.proving.statements.trees import Sentence, Tree
from lemmax.theory.proving.theorem import NotTranslated

FACTS = "seq (nat * nat * nat)"
ASSOCIATIONS = "seq (seq nat * nat)"
Data = dict[str, tuple[str, Value]]


_WHY = {
    "Distribution": "An infimum of divergences needs logarithms and limits, which no real field "
    "with an exponential need have.",
    "AttentionOnly": "Transformers inside a statement are not defined in theory/formal yet.",
    "Integers": "Lists of indices inside a statement are not defined in theory/formal yet.",
}


@dataclass(frozen=True)
class Thing:
    """An object of an instance: data, binder ("" for none), what it says, and its sizes."""

    name: str
    data: Data
    binder: str
    said: Any
    sizes: tuple[int, ...] = ()
    unit: str = ""


def numbering(sent: Sentence) -> dict[str, int]:
    """A number for each name: its token's in the layers, then the other names in order."""
    layers = [x for x in sent.given.values() if isinstance(x, Layer)]
    tokens = list(layers[0].tokens) if layers else []
    if any(list(L.tokens) != tokens for L in layers):
        raise NotTranslated("Its layers have different tokens.")
    named = {name for x in _databases(sent) for fact in x for name in fact}
    return {name: i for i, name in enumerate([*tokens, *sorted(named - set(tokens))])}


def _databases(sent: Sentence) -> list[Facts]:
    found = [x for x in sent.given.values() if isinstance(x, Facts)]

    def literal(tree: Tree) -> None:
        if isinstance(tree, tuple) and tree[0] == "facts":
            found.append(sent.value(tree))
        elif isinstance(tree, tuple) and tree[0] != "text":
            for part in tree[1:]:
                literal(part)

    for tree in (*sent.hypotheses, sent.conclusion):
        literal(tree)
    return found


def things(sent: Sentence) -> dict[str, Thing]:
    """The objects of an instance by name; NotTranslated for sorts that Coq does not have."""
    number = numbering(sent)
    return {name: _thing(name, value, sent, number) for name, value in sent.given.items()}


def _thing(name: str, value: Any, sent: Sentence, number: Mapping[str, int]) -> Thing:
    if not _free(name):
        raise NotTranslated(f"The name {name} means something else in Coq.")
    if isinstance(value, Facts):
        return Thing(name, {name: (FACTS, indices(value, number))}, "", indices(value, number))
    if isinstance(value, Matrix):
        return _matrix(name, value)
    if isinstance(value, Tensor):
        return _tensor(name, value)
    if isinstance(value, Layer):
        return _layer(name, sent.instance[name]["layer"], value.unit)
    if isinstance(value, MultiHead):
        return _contexts(name, value)
    if isinstance(value, Associations):
        pairs = [(list(t), g) for t, g in zip(value.sequences, value.targets, strict=True)]
        return Thing(name, {name: (ASSOCIATIONS, pairs)}, "", pairs)
    raise NotTranslated(_WHY.get(type(value).__name__, "It is about an object that Coq lacks."))


def indices(facts: Facts, number: Mapping[str, int]) -> list[tuple[int, ...]]:
    """Facts in numbers of names."""
    return [tuple(number[name] for name in fact) for fact in facts]


def _matrix(name: str, rows: Matrix) -> Thing:
    d, whole = numbers.cleared(rows)
    p, q = len(rows), len(rows[0])
    data: Data = {f"{name}_den": ("positive", d), f"{name}_rows": ("seq (seq Z)", whole)}
    binder = f"({name} := qmx R {p} {q} (Zpos {name}_den) {name}_rows)"
    return Thing(name, data, binder, [list(row) for row in rows], (p, q))


def _cubes(name: str, matrices: Any) -> Data:
    d, flat = numbers.cleared([x for M in matrices for x in M])
    rows = iter(flat)
    return {
        f"{name}_den": ("positive", d),
        f"{name}_rows": ("cube", [[next(rows) for _ in M] for M in matrices]),
    }


def _tensor(name: str, T: Tensor) -> Thing:
    a, b, c = len(T), len(T[0]), len(T[0][0])
    binder = f"({name} := qtens R {a} {b} {c} {name}_den {name}_rows)"
    return Thing(name, _cubes(name, T), binder, [[list(r) for r in M] for M in T], (a, b, c))


def weights(name: str) -> str:
    """The weights of a layer with that name."""
    kinds = "EUQKVO"
    names = [f"{name}_d{x}" for x in kinds] + [f"{name}_{x}" for x in kinds]
    return f"(Weights {' '.join(names)})"


def _layer(name: str, layer: Mapping[str, Any], unit: str) -> Thing:
    sizes, data = memorization.layer_data(layer)
    binder = f"({name} := layer_of R {' '.join(map(str, sizes))} {weights(name)})"
    named = {f"{name}_{word}": entry for word, entry in data.items()}
    return Thing(name, named, binder, memorization.layer_meant(layer), sizes, unit)


_PARTS = ("C_den", "e_den", "K_den", "Q_den", "C_rows", "which", "e_rows", "K_rows", "Q_rows")


def _contexts(name: str, A: MultiHead) -> Thing:
    T, c, n, d = len(A.context_of), len(A.contexts), len(A.contexts[0]), len(A.contexts[0][0])
    H, dh = len(A.heads), len(A.heads[0][0][0])
    if len(A.queries[0]) != d or any(len(head[0][0]) != dh for head in A.heads):
        raise NotTranslated("Its heads, or its tokens and queries, have different dimensions.")
    data: Data = _cubes(f"{name}_C", A.contexts)
    data[f"{name}_which"] = ("seq nat", list(A.context_of))
    den, rows = numbers.cleared(A.queries)
    data[f"{name}_e_den"], data[f"{name}_e_rows"] = ("positive", den), ("seq (seq Z)", rows)
    data |= _cubes(f"{name}_K", [head[0] for head in A.heads])
    data |= _cubes(f"{name}_Q", [head[1] for head in A.heads])
    sizes = (T, c - 1, n, H, d, dh)
    parts = " ".join(f"{name}_{part}" for part in _PARTS)
    binder = f"({name} := contexts_data R {' '.join(map(str, sizes))} {parts})"
    said = [
        list(A.context_of),
        *([[list(r) for r in M] for M in Ms] for Ms in _matrices(A)),
        [list(r) for r in A.queries],
    ]
    return Thing(name, data, binder, said, sizes, A.scale)


def _matrices(A: MultiHead) -> list[list[Matrix]]:
    return [list(A.contexts), [head[0] for head in A.heads], [head[1] for head in A.heads]]


# --- read back ----------------------------------------------------------------------------------

# Names that a statement uses itself: the field, the exponential, words, what the writer names.
RESERVED = {"R", "exp", "ok", *VOCABULARY}


def _free(name: str) -> bool:
    """Whether an object may have this name."""
    taken = name in RESERVED or re.fullmatch(r"(?:r|facts)_\d+", name)
    return bool(re.fullmatch(r"[A-Za-z]\w*", name)) and not taken


def _matrix_back(name: str, sizes: list[int], data: Mapping[str, Any]) -> Any:
    rows = numbers.over(data[f"{name}_den"], data[f"{name}_rows"])
    return rows if _shaped(rows, *sizes) else None


def _shaped(rows: Any, p: int, q: int) -> bool:
    return len(rows) == p and all(len(row) == q for row in rows)


def _cubes_back(name: str, sizes: list[int], data: Mapping[str, Any]) -> Any:
    cubes = [numbers.over(data[f"{name}_den"], M) for M in data[f"{name}_rows"]]
    return cubes if len(cubes) == sizes[0] and all(_shaped(M, *sizes[1:]) for M in cubes) else None


def _layer_back(name: str, sizes: list[int], data: Mapping[str, Any]) -> Any:
    own = {w.removeprefix(f"{name}_"): v for w, v in data.items() if w.startswith(f"{name}_")}
    return memorization.layer_back(sizes, own)


def _contexts_back(name: str, sizes: list[int], data: Mapping[str, Any]) -> Any:
    T, c, n, H, d, dh = sizes
    which = data[f"{name}_which"]
    if len(which) != T or any(not 0 <= x <= c for x in which):
        return None
    shapes = {"C": [c + 1, n, d], "K": [H, d, dh], "Q": [H, d, dh]}
    found = [_cubes_back(f"{name}_{x}", shape, data) for x, shape in shapes.items()]
    queries = _matrix_back(f"{name}_e", [T, d], data)
    return None if None in [*found, queries] else [list(which), *found, queries]


Back = Callable[[str, list[int], Mapping[str, Any]], Any]
_SIZES = r"((?: \d+)+)"
_BINDERS: list[tuple[re.Pattern[str], Callable[[str], str], tuple[str, ...], Back]] = [
    (
        re.compile(rf" \((\w+) := qmx R{_SIZES} (.*?)\)(?= \(| :)"),
        lambda n: f"(Zpos {n}_den) {n}_rows",
        ("den", "rows"),
        _matrix_back,
    ),
    (
        re.compile(rf" \((\w+) := qtens R{_SIZES} (.*?)\)(?= \(| :)"),
        lambda n: f"{n}_den {n}_rows",
        ("den", "rows"),
        _cubes_back,
    ),
    (
        re.compile(rf" \((\w+) := layer_of R{_SIZES} (.*?\))\)(?= \(| :)"),
        weights,
        tuple(x for kind in "EUQKVO" for x in (kind, f"d{kind}")),
        _layer_back,
    ),
    (
        re.compile(rf" \((\w+) := contexts_data R{_SIZES} (.*?)\)(?= \(| :)"),
        lambda n: " ".join(f"{n}_{part}" for part in _PARTS),
        _PARTS,
        _contexts_back,
    ),
]


def binders_back(text: str, data: Mapping[str, Any]) -> tuple[dict[str, Any], str] | None:
    """The objects that a statement's binders and data write, and the rest of the statement.

    Data without a binder are facts or associations. None if anything is not as it should be.
    """
    found: dict[str, Any] = {}
    used: set[str] = set()
    reading = True
    while reading:
        reading = False
        for pattern, rest, parts, back in _BINDERS:
            match = pattern.match(text)
            if match is None:
                continue
            name, sizes = match[1], [int(x) for x in match[2].split()]
            names = {f"{name}_{part}" for part in parts}
            if (
                match[3] != rest(name)
                or name in RESERVED
                or name in found
                or not names <= set(data)
            ):
                return None
            said = back(name, sizes, data)
            if said is None:
                return None
            found[name], used, reading = said, used | names, True
            text = text[match.end() :]
    for name in set(data) - used:
        found[name] = list(data[name])
    return found, text
