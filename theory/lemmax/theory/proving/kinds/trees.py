"""The comparisons of a refutation as trees, and the instance that they speak about."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from lemmax.theory.proving import numbers
from lemmax.theory.proving.kinds import memorization
from lemmax.theory.proving.literals import Value
from lemmax.theory.proving.theorem import NotTranslated

Tree = Any  # nested tuples: ("rank", ("argmax", "M")), ("+", a, b); numbers are Fractions
COMPARISONS: dict[type, tuple[str, bool]] = {
    ast.LtE: ("<=", False),
    ast.GtE: ("<=", True),
    ast.Lt: ("<", False),
    ast.Gt: ("<", True),
    ast.Eq: ("=", False),
}
ARITHMETIC: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def tree_of(text: str, values: Mapping[str, Any]) -> Tree:
    """The tree of a comparison of a certificate, with numbers of the instance put in."""
    return _tree(ast.parse(text.strip(), mode="eval").body, values)


def _tree(node: ast.expr, values: Mapping[str, Any]) -> Tree:
    if isinstance(node, ast.Constant):
        return Fraction(int(str(node.value)))
    if isinstance(node, ast.Name):
        value = values[node.id]
        return value if isinstance(value, Fraction) else node.id
    if isinstance(node, ast.UnaryOp):
        return "-", _tree(node.operand, values)
    if isinstance(node, ast.BinOp):
        sides = _tree(node.left, values), _tree(node.right, values)
        return ARITHMETIC[type(node.op)], *sides
    if isinstance(node, ast.Compare):
        symbol, turned = COMPARISONS[type(node.ops[0])]
        left, right = _tree(node.left, values), _tree(node.comparators[0], values)
        return (symbol, right, left) if turned else (symbol, left, right)
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return node.func.id, *(_tree(x, values) for x in node.args)


def names_in(tree: Tree) -> set[str]:
    if isinstance(tree, str):
        return {tree}
    return set().union(*map(names_in, tree[1:])) if isinstance(tree, tuple) else set()


def words_in(trees: Iterable[Tree]) -> set[str]:
    found: set[str] = set()
    for tree in trees:
        if isinstance(tree, tuple):
            found |= {tree[0]} | words_in(tree[1:])
    return found


@dataclass(frozen=True)
class LayerData:
    """A layer: its sizes n, H, d, d_qk, d_vo, its weights as data, and as the certificate's."""

    sizes: tuple[int, ...]
    data: Mapping[str, tuple[str, Value]]
    weights: Any


LAYER_WORDS = ("tokens", "heads", "d_model", "d_qk", "d_vo")
FACT_WORDS: dict[str, tuple[Callable[[list[tuple[int, ...]]], int], str]] = {
    "keys": (lambda D: len({f[0] for f in D}), "(size (undup [seq f.1.1 | f <- D]))"),
    "queries": (lambda D: len({f[1] for f in D}), "(size (undup [seq f.1.2 | f <- D]))"),
    "slices_rank_sum": (
        lambda D: min(len({(f[0], f[2]) for f in D}), len({(f[1], f[2]) for f in D})),
        "(minn (size (undup [seq (f.1.1, f.2) | f <- D])) "
        "(size (undup [seq (f.1.2, f.2) | f <- D])))",
    ),
}


def instance_of(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The instance: numbers as Fractions, matrices as rows; NotTranslated for other objects."""
    found: dict[str, Any] = {}
    for name, value in certificate["instance"].items():
        if isinstance(value, str):
            found[name] = numbers.number(value)
        elif (
            isinstance(value, list) and isinstance(value[0], list) and isinstance(value[0][0], str)
        ):
            found[name] = numbers.rows_of(value)
        elif isinstance(value, dict) and "layer" in value:
            sizes, data = memorization.layer_data(value["layer"])
            if value["layer"]["unit"] != "1" or any(
                isinstance(x, LayerData) for x in found.values()
            ):
                raise NotTranslated("Its layer is counted in units of ln 2, or there are two.")
            found[name] = LayerData(sizes, data, memorization.layer_meant(value["layer"]))
        elif isinstance(value, dict) and "facts" in value:
            found[name] = _indices(value["facts"], certificate["instance"])
        else:
            kind = next(iter(value)) if isinstance(value, dict) else "tensor"
            raise NotTranslated(f"Refutations about a {kind} have no translation into Coq.")
    return found


def _indices(facts: Any, instance: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """Facts in the numbers of the tokens of the instance's layer."""
    layers = [x["layer"] for x in instance.values() if isinstance(x, dict) and "layer" in x]
    if len(layers) != 1:
        raise NotTranslated("Facts are numbered by the tokens of one layer.")
    place = {token: i for i, token in enumerate(layers[0]["tokens"])}
    return [tuple(place[name] for name in fact) for fact in facts]


def is_matrix(value: Any) -> bool:
    return isinstance(value, list) and isinstance(value[0], list)


def _listed(statement: str) -> dict[str, Any]:
    """The assumptions and the conclusion of a formal statement, one comparison each."""
    hypotheses: list[str] = []
    *before, last = statement.split("; ")[1:]
    for clause in before:
        word, _, condition = clause.partition(" ")
        if word != "assume":
            raise NotTranslated("Statements with definitions have no translation into Coq.")
        hypotheses += _comparisons(condition)
    conclusion = _comparisons(last.removeprefix("conclude "))
    if len(conclusion) > 1:
        raise NotTranslated("Conclusions of several parts have no translation into Coq.")
    return {"hypotheses": hypotheses, "conclusion": conclusion[0]}


def _comparisons(condition: str) -> list[str]:
    """The parts of a conjunction; ``a < b <= c`` has two."""
    tree = ast.parse(condition, mode="eval").body
    both = isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And)
    parts = []
    for part in tree.values if both else [tree]:  # type: ignore[attr-defined]
        if isinstance(part, ast.Compare):
            sides = [part.left, *part.comparators]
            for op, pair in zip(part.ops, pairwise(sides), strict=True):
                parts.append(ast.unparse(ast.Compare(pair[0], [op], [pair[1]])))
        else:
            parts.append(ast.unparse(part))
    for part in map(_parsed, parts):
        whole = isinstance(part, (ast.Compare, ast.Call))
        if not whole or (isinstance(part, ast.Compare) and type(part.ops[0]) not in COMPARISONS):
            raise NotTranslated(f"{ast.unparse(part)} has no translation into Coq.")
    return parts


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def trees_of(certificate: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[list[Tree], Tree]:
    """The hypotheses and the conclusion as trees."""
    statement = certificate["statement"]
    if isinstance(statement, str):
        statement = _listed(statement)
    return [tree_of(h, values) for h in statement["hypotheses"]], tree_of(
        statement["conclusion"], values
    )
