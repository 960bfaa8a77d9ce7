"""What a refutation or a witness says, as trees, and what the checker computes of them.

A tree is a number, a name, or a tuple of a word and its arguments: ``("rank", ("argmax", "M"))``.
Definitions and numbers of the instance are put in, ``a >= b`` is ``b <= a``, a chain of comparisons
is their conjunction; so a statement has one tree, whichever way it was written.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from lemmax.checker.language import evaluation
from lemmax.checker.language.evidence import Evidence, gather
from lemmax.checker.language.sorts import given_value, instance_value
from lemmax.checker.language.syntax import statement
from lemmax.theory.proving.theorem import NotTranslated

Tree = Any  # Fraction, str, or a tuple of a word and trees
_COMPARISONS: dict[type, tuple[str, bool]] = {
    ast.LtE: ("<=", False),
    ast.GtE: ("<=", True),
    ast.Lt: ("<", False),
    ast.Gt: ("<", True),
    ast.Eq: ("=", False),
}
_ARITHMETIC: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
INFIX = {*_ARITHMETIC.values(), "<=", "<", "="}
# Words whose arguments at these places are written as the numbers that they are.
NUMBERED: dict[str, tuple[int, ...]] = {
    "entry": (1, 2),
    "threshold": (1,),
    "threshold_tensor": (1,),
    "memorizes_at": (2,),
    "memorizes_values_at": (2,),
    "flattening_rank": (1,),
    "slice_rank_sum": (1,),
    "identity": (0,),
    "zeros": (0, 1),
    "ones": (0, 1),
    "unit": (0, 1),
    "blow_up": (0, 1),
    "covering": (1,),
    "parity": (1,),
}


@dataclass(frozen=True)
class Sentence:
    """Assumptions that hold, and a conclusion that holds (``wanted``) or fails, of an instance."""

    instance: Mapping[str, Any]
    world: evaluation.World
    hypotheses: tuple[Tree, ...]
    conclusion: Tree
    wanted: bool
    evidence: tuple[Mapping[str, Any], ...]

    @property
    def given(self) -> Mapping[str, Any]:
        """The values of the instance that are not numbers."""
        values = self.world.values
        return {n: values[n] for n in self.instance if not isinstance(values[n], Fraction)}

    def value(self, tree: Tree) -> Any:
        """What the checker computes of a tree."""
        return evaluation.evaluate(ast.parse(source(tree), mode="eval").body, self.world)

    def number(self, tree: Tree) -> Fraction:
        """The same of a number; NotTranslated if the checker has only bounds of it."""
        found = self.value(tree)
        if not isinstance(found, (int, Fraction)):
            raise NotTranslated(f"Of {source(tree)} only bounds are known.")
        return Fraction(found)

    def holds(self, tree: Tree) -> bool:
        truth = evaluation.judge(ast.parse(source(tree), mode="eval").body, self.world).truth
        if truth is None:
            raise NotTranslated(f"Whether {source(tree)} is undecided.")
        return truth


def sentence(certificate: Mapping[str, Any]) -> Sentence:
    """What a certificate says."""
    text, instance = certificate["statement"], certificate["instance"]
    clauses: list[tuple[str, ast.expr]]
    if isinstance(text, str):
        read = statement(text)
        values = {n: given_value(sort, instance[n], n) for n, sort in read.given.items()}
        clauses, last = list(read.clauses), read.conclusion
    else:
        values = {name: instance_value(value, name) for name, value in instance.items()}
        parsed = [ast.parse(h.strip(), mode="eval").body for h in text["hypotheses"]]
        clauses = [("", tree) for tree in parsed]
        last = ast.parse(text["conclusion"].strip(), mode="eval").body
    evidence = Evidence()
    items = certificate.get("evidence", [])
    for _ in gather(items, evidence) if items else ():
        pass
    world = evaluation.World(values, evidence)
    names: dict[str, Tree] = {n: v if isinstance(v, Fraction) else n for n, v in values.items()}
    sent = Sentence(instance, world, (), "", certificate["kind"] == "witness", tuple(items))
    hypotheses: list[Tree] = []
    for name, clause in clauses:
        tree = _numbered(_tree(clause, names), sent)
        if name:
            names[name] = tree
        else:
            hypotheses += tree[1:] if tree[0] == "and" else [tree]
    conclusion = _numbered(_tree(last, names), sent)
    return Sentence(instance, world, tuple(hypotheses), conclusion, sent.wanted, sent.evidence)


def _tree(node: ast.expr, names: Mapping[str, Tree]) -> Tree:
    if isinstance(node, ast.Constant):
        return ("text", node.value) if isinstance(node.value, str) else Fraction(str(node.value))
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise NotTranslated(
                f"It names the field {node.id}: a theorem here is about one real field."
            )
        return names[node.id]
    if isinstance(node, ast.List):
        rows = [_tree(row, names) for row in node.elts]
        return ("list", *rows)
    if isinstance(node, ast.BoolOp):
        parts: list[Tree] = []
        word = "and" if isinstance(node.op, ast.And) else "or"
        for part in (_tree(x, names) for x in node.values):
            parts += part[1:] if part[0] == word else [part]
        return (word, *parts)
    if isinstance(node, ast.UnaryOp):
        word = "not" if isinstance(node.op, ast.Not) else "-"
        return word, _tree(node.operand, names)
    if isinstance(node, ast.BinOp):
        return _ARITHMETIC[type(node.op)], _tree(node.left, names), _tree(node.right, names)
    if isinstance(node, ast.Compare):
        sides = [_tree(side, names) for side in (node.left, *node.comparators)]
        pairs = [_compared(op, *pair) for op, pair in zip(node.ops, pairwise(sides), strict=True)]
        return pairs[0] if len(pairs) == 1 else ("and", *pairs)
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    word, arguments = node.func.id, [_tree(x, names) for x in node.args]
    if word == "sum" and arguments[0][0] == "slice_ranks":
        return "slice_rank_sum", *arguments[0][1:]
    return word, *arguments


def _compared(op: ast.cmpop, left: Tree, right: Tree) -> Tree:
    if isinstance(op, ast.NotEq):
        return "not", ("=", left, right)
    symbol, turned = _COMPARISONS[type(op)]
    return (symbol, right, left) if turned else (symbol, left, right)


def _numbered(tree: Tree, sent: Sentence) -> Tree:
    """The tree with the arguments that must be numbers computed."""
    if not isinstance(tree, tuple) or tree[0] == "text":
        return tree
    word, *arguments = tree
    arguments = [_numbered(x, sent) for x in arguments]
    for i in NUMBERED.get(word, ()):
        arguments[i] = sent.number(arguments[i])
    return word, *arguments


def source(tree: Tree) -> str:
    """The tree in the checker's language.

    >>> source(("<=", ("rank", "M"), Fraction(1, 2)))
    '(rank(M) <= (1/2))'
    """
    if isinstance(tree, Fraction):
        return f"({tree})"
    if isinstance(tree, str):
        return tree
    word, *arguments = tree
    if word == "text":
        return repr(arguments[0])
    if word == "slice_rank_sum":
        return f"sum(slice_ranks({source(arguments[0])}, {source(arguments[1])}))"
    texts = [source(x) for x in arguments]
    if word in INFIX and len(texts) == 2:
        return f"({texts[0]} {'==' if word == '=' else word} {texts[1]})"
    if word in ("and", "or"):
        return "(" + f" {word} ".join(texts) + ")"
    if word in ("-", "not"):
        return f"({word} {texts[0]})"
    if word == "list":
        return "[" + ", ".join(texts) + "]"
    return f"{word}({', '.join(texts)})"


def words_in(tree: Tree) -> set[str]:
    """The words that occur in a tree."""
    if not isinstance(tree, tuple):
        return set()
    return {tree[0]}.union(*map(words_in, tree[1:]))


def names_in(tree: Tree) -> set[str]:
    """The names that occur in a tree."""
    if isinstance(tree, str):
        return {tree}
    if not isinstance(tree, tuple) or tree[0] == "text":
        return set()
    return set().union(*map(names_in, tree[1:]))
