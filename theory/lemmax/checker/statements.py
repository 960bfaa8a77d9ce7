"""The language of statements: how a comparison is read, evaluated and shown.

A statement is ``given x: sort, ...; assume condition; conclude condition``. A condition is made of
comparisons between numbers (``0 < x <= 1`` is one), of words that are true or false, and of
``and``, ``or``, ``not``; numbers of integers, words, + - * / and names; a matrix may be added to a
matrix and multiplied with a number. Python's parser reads it, and nothing else gets through.
"""

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .arithmetic import height
from .limits import LIMITS, brief, keep, refuse, released, spend
from .reading import Matrix, Tensor
from .steps import Step
from .values import SORTS, Facts
from .words import VOCABULARY

_COMPARISONS: dict[type, tuple[str, str, Callable[[Any, Any], bool]]] = {
    ast.Eq: ("==", "!=", operator.eq),
    ast.NotEq: ("!=", "==", operator.ne),
    ast.Lt: ("<", ">=", operator.lt),
    ast.LtE: ("<=", ">", operator.le),
    ast.Gt: (">", "<=", operator.gt),
    ast.GtE: (">=", "<", operator.ge),
}
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_LANGUAGE = (
    *(ast.Compare, ast.BoolOp, ast.And, ast.Or, ast.Not, ast.Call, ast.Name, ast.Load),
    *(ast.Constant, ast.BinOp, ast.UnaryOp, ast.USub, *_COMPARISONS, *_ARITHMETIC),
)


@dataclass(frozen=True)
class Statement:
    """For every instance: if all the hypotheses hold, so does the conclusion."""

    instance: Mapping[str, type]
    hypotheses: tuple[str, ...]
    conclusion: str


_STATEMENT = re.compile(r"given ([^;]*);(?: assume ([^;]*);)? conclude ([^;]*)")


def statement(text: str) -> Statement:
    """Read ``given M: matrix; assume p and q; conclude r``, where p and q are two hypotheses.

    >>> statement("given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2").hypotheses
    ('rank(M) == 1',)
    """
    parts = _STATEMENT.fullmatch(" ".join(text.split()))
    if parts is None:
        refuse("A statement", "reads given NAME: SORT, ...; assume CONDITION; conclude CONDITION")
    instance = {}
    for entry in parts[1].split(", "):
        name, _, sort = entry.partition(": ")
        if sort not in SORTS:
            refuse("A statement", f"gives {brief(name)} the sort {brief(sort)}, which is unknown")
        instance[name] = SORTS[sort]
    given = tuple(parts[2].split(" and ")) if parts[2] else ()
    return Statement(instance, given, parts[3])


# --- reading ------------------------------------------------------------------------------------


def parse(text: object, where: str) -> ast.expr:
    """The syntax tree of a condition; only the nodes of the language are let through."""
    if type(text) is not str or len(text) > LIMITS["comparison characters"]:
        refuse(where, f"must be a text of at most {LIMITS['comparison characters']} characters")
    spend(where, 10 * len(text) + 300)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        refuse(where, f"is {brief(text)}, which cannot be parsed")
    for node in ast.walk(tree):
        bad = type(node) not in _LANGUAGE
        bad |= isinstance(node, ast.Constant) and type(node.value) is not int
        bad |= isinstance(node, ast.Call) and bool(node.keywords)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in VOCABULARY:
                refuse(
                    where, f"uses the word {brief(node.func.id)}, which is not in the vocabulary"
                )
        elif bad or isinstance(node, ast.Call):
            refuse(where, f"is {brief(text)}, which is not in the language of comparisons")
        if bad:
            refuse(where, f"is {brief(text)}, which is not in the language of comparisons")
    return tree


def names_in(tree: ast.expr) -> set[str]:
    """The instance entries that an expression speaks about."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in called}


# --- evaluating ---------------------------------------------------------------------------------


def charge(what: str, values: list[Any]) -> None:
    """Pay for reading every entry of the values, and for a result of their size."""
    entries, bits = 1, 0
    for value in values:
        parts = [value] if type(value) is Matrix else value if type(value) is Tensor else []
        entries += sum(len(part) * len(part[0]) for part in parts)
        entries += 3 * len(value) if type(value) is Facts else 0
        bits = max([bits, *(part.bits for part in parts)])
        bits = max(bits, height((value,))) if type(value) is Fraction else bits
    spend(what, 30 * entries + 50, 2 * bits, 2 * bits)
    keep(what, 3 * entries, bits)


def evaluate(node: ast.expr, instance: Mapping[str, Any]) -> Any:
    """The value of an expression: a number, a truth or an object."""
    if isinstance(node, (ast.Compare, ast.BoolOp)):
        return compare(node, instance).ok
    if isinstance(node, ast.Constant):
        return Fraction(str(node.value))
    if isinstance(node, ast.Name):
        return instance[node.id]
    if isinstance(node, ast.UnaryOp):
        value = evaluate(node.operand, instance)
        return not truth(value, node) if isinstance(node.op, ast.Not) else -as_number(value)
    if isinstance(node, ast.BinOp):
        return combined(node, evaluate(node.left, instance), evaluate(node.right, instance))
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    arguments = [evaluate(x, instance) for x in node.args]
    arguments = [Fraction(x) if type(x) is int else x for x in arguments]
    charge(f"{node.func.id}(...)", arguments)
    for word in VOCABULARY[node.func.id]:
        sorts = word.sorts * len(arguments) if word.repeats else word.sorts
        if len(sorts) == len(arguments) > 0:
            fitted = [fitting(x, sort) for x, sort in zip(arguments, sorts, strict=True)]
            if None not in fitted:
                return word.function(*fitted)
    calls = " or ".join(word.call for word in VOCABULARY[node.func.id])
    refuse(f"{node.func.id}(...)", f"is called as {calls}")


def fitting(value: Any, sort: type) -> Any:
    """The value as one of the sort, or None; a truth counts as the number 0 or 1."""
    if type(value) is bool and sort is Fraction:
        return Fraction(value)
    return value if type(value) is sort else None


def combined(node: ast.BinOp, left: Any, right: Any) -> Any:
    """The sum, difference, product or quotient: of numbers; M ± N, c · M, M · c or M / c."""
    apply = _ARITHMETIC[type(node.op)]
    charge("A comparison", [left, right])
    if type(left) is type(right) is Matrix and isinstance(node.op, (ast.Add, ast.Sub)):
        if (len(left), len(left[0])) != (len(right), len(right[0])):
            refuse("A sum", "of matrices of different shapes")
        return Matrix(tuple(map(apply, a, b)) for a, b in zip(left, right, strict=True))
    if type(right) is Matrix and isinstance(node.op, ast.Mult):
        left, right = right, left
    right = as_number(right)
    if isinstance(node.op, ast.Div) and right == 0:
        refuse("A comparison", "divides by zero")
    if type(left) is Matrix and isinstance(node.op, (ast.Mult, ast.Div)):
        return Matrix(tuple(apply(x, right) for x in row) for row in left)
    return apply(as_number(left), right)


def as_number(value: Any) -> Fraction:
    if type(value) not in (int, bool, Fraction):
        refuse("A comparison", f"uses {brief(value)} where a number is wanted")
    return Fraction(value)


def truth(value: Any, node: ast.expr) -> bool:
    if type(value) is not bool:
        refuse(brief(ast.unparse(node)), "is no comparison")
    return value


def compare(tree: ast.expr, instance: Mapping[str, Any]) -> Step:
    """Whether a condition is true, with its values: "rank(argmax(M)) = 3 > 2"."""
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        steps = [compare(part, instance) for part in tree.values]
        failed = [step for step in steps if not step.ok]
        return failed[0] if failed else Step(True, " and ".join(step.text for step in steps))
    if not isinstance(tree, ast.Compare):
        if isinstance(tree, ast.BoolOp):
            value = any(compare(part, instance).ok for part in tree.values)
        else:
            value = truth(evaluate(tree, instance), tree)
        return Step(value, f"{ast.unparse(tree)} is {'true' if value else 'false'}")
    sides = [tree.left, *tree.comparators]
    values = [as_number(evaluate(side, instance)) for side in sides]
    texts = [
        brief(v) if isinstance(side, ast.Constant) else f"{ast.unparse(side)} = {brief(v)}"
        for side, v in zip(sides, values, strict=True)
    ]
    shown = texts[0]
    for i, op in enumerate(tree.ops):
        charge("A comparison", values[i : i + 2])
        symbol, negated, holds = _COMPARISONS[type(op)]
        if not holds(values[i], values[i + 1]):
            return Step(False, f"{texts[i]} {negated} {texts[i + 1]}")
        shown += f" {symbol} {texts[i + 1]}"
    return Step(True, shown)


def judged(tree: ast.expr, instance: Mapping[str, Any]) -> Step:
    """The same for a whole condition, whose memory is given back."""
    with released():
        return compare(tree, instance)
