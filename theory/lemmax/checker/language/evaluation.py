"""The values of expressions, and whether a condition is true: true, false, or None, undecided."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from ..limits import Undecided, brief, keep, multiply, refuse, released, spend
from ..reading import Integers, Matrix
from ..words import VOCABULARY
from ..words.matrices import plus, scale
from . import reals
from .evidence import Evidence
from .reals import Interval, Logarithm, Real
from .sorts import NOTHING, Field, extent, fitting
from .syntax import COMPARISONS, FIELDS


@dataclass
class World:
    """What names stand for, what evidence says, and words that were computed already."""

    values: Mapping[str, Any]
    evidence: Evidence = field(default_factory=Evidence)
    memory: dict[str, Any] = field(default_factory=dict)


class Judgement(NamedTuple):
    """Whether a condition is true, with its values: "rank(argmax(M)) = 3 > 2"."""

    truth: bool | None
    text: str


def judged(tree: ast.expr, world: World) -> Judgement:
    """The judgement of a whole condition, whose memory is given back."""
    with released():
        try:
            return judge(tree, world)
        finally:
            world.memory.clear()


def judge(tree: ast.expr, world: World) -> Judgement:
    """A condition is undecided where one of its numbers is, unless the rest decides it."""
    if isinstance(tree, ast.BoolOp):
        parts = [judge(part, world) for part in tree.values]
        truths = [part.truth for part in parts]
        if isinstance(tree.op, ast.And):
            value = reals.every(*truths)
            if value is True:
                return Judgement(True, " and ".join(part.text for part in parts))
            return next(part for part in parts if part.truth is value)
        return told(tree, reals.some(*truths))
    try:
        if isinstance(tree, ast.Compare):
            return chain(tree, world)
        return told(tree, truth(evaluate(tree, world), tree))
    except Undecided as reason:
        return Judgement(None, f"{ast.unparse(tree)} is undecided, {reason}")


def told(tree: ast.expr, value: bool | None) -> Judgement:
    word = "undecided" if value is None else "true" if value else "false"
    return Judgement(value, f"{ast.unparse(tree)} is {word}")


def truth(value: Any, node: ast.expr) -> bool | None:
    if value is not None and type(value) is not bool:
        refuse(brief(ast.unparse(node)), "is no comparison")
    return value


def shown(value: Real) -> str:
    return f"= {brief(value)}" if isinstance(value, Fraction) else f"in {value}"


def chain(tree: ast.Compare, world: World) -> Judgement:
    sides = [tree.left, *tree.comparators]
    values = [as_number(evaluate(side, world)) for side in sides]
    texts = [
        brief(v) if isinstance(side, ast.Constant) else f"{ast.unparse(side)} {shown(v)}"
        for side, v in zip(sides, values, strict=True)
    ]
    text, undecided = texts[0], ""
    for i, op in enumerate(tree.ops):
        multiply("A comparison", 20, max(extent(x)[1] for x in values[i : i + 2]))
        symbol, negated, relation = COMPARISONS[type(op)]
        answer = reals.holds(relation, values[i], values[i + 1])
        if answer is False:
            return Judgement(False, f"{texts[i]} {negated} {texts[i + 1]}")
        if answer is None:
            undecided = undecided or f"{texts[i]} {symbol} {texts[i + 1]} is undecided"
        text += f" {symbol} {texts[i + 1]}"
    return Judgement(None, undecided) if undecided else Judgement(True, text)


def charge(what: str, values: list[Any]) -> None:
    """Pay for reading every entry of the values, and for a result of their size."""
    sizes = [extent(value) for value in values]
    entries, bits = 1 + sum(n for n, _ in sizes), max((b for _, b in sizes), default=0)
    spend(what, 30 * entries + 50, 2 * bits, 2 * bits)
    keep(what, 3 * entries, bits)


def evaluate(node: ast.expr, world: World) -> Any:
    """The value of an expression: a number, a truth (None: undecided) or an object."""
    if isinstance(node, (ast.Compare, ast.BoolOp)):
        return judge(node, world).truth
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is str else Fraction(str(node.value))
    if isinstance(node, ast.Name):
        if node.id not in world.values and node.id in FIELDS:
            return Field(node.id)
        return world.values[node.id]
    if isinstance(node, ast.List):
        return literal(node, world)
    if isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.Not):
            return reals.neither(judge(node.operand, world).truth)
        return reals.negative(as_number(evaluate(node.operand, world)))
    if isinstance(node, ast.BinOp):
        return combined(node, evaluate(node.left, world), evaluate(node.right, world))
    assert isinstance(node, ast.Call)
    name = text_of(node)
    if name not in world.memory:
        world.memory[name] = called(node, world)
    return world.memory[name]


def text_of(node: ast.expr) -> str:
    """What a call is remembered by; ast.unparse would do, and takes long."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return f"{node.func.id}({', '.join(map(text_of, node.args))})"
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)


def called(node: ast.Call, world: World) -> Any:
    """The value of a word: of the first with that name that takes arguments of these sorts."""
    assert isinstance(node.func, ast.Name)
    arguments = [evaluate(x, world) for x in node.args]
    charge(f"{node.func.id}(...)", arguments)
    for word in VOCABULARY[node.func.id]:
        sorts = word.sorts * len(arguments) if word.repeats else word.sorts
        if len(sorts) == len(arguments) > 0:
            fitted = [fitting(x, sort) for x, sort in zip(arguments, sorts, strict=True)]
            if NOTHING not in fitted:
                if None in fitted and not word.logical:
                    raise Undecided(f"an argument of {node.func.id}(...) is undecided")
                extra = (world.evidence,) if word.evident else ()
                return word.function(*fitted, *extra)
    calls = " or ".join(word.call for word in VOCABULARY[node.func.id])
    refuse(f"{node.func.id}(...)", f"is called as {calls}")


def literal(node: ast.List, world: World) -> Any:
    """A matrix [[1, 1/2], [0, 3]], or integers [0, 2]."""
    if not any(isinstance(row, ast.List) for row in node.elts):
        parts = [as_number(evaluate(x, world)) for x in node.elts]
        if not all(isinstance(x, Fraction) and x.denominator == 1 and x >= 0 for x in parts):
            refuse(brief(ast.unparse(node)), "is no list of indices")
        return Integers(x.numerator for x in parts if isinstance(x, Fraction))
    rows = [row.elts for row in node.elts if isinstance(row, ast.List)]
    if len(rows) < len(node.elts) or len({len(row) for row in rows}) != 1 or not rows[0]:
        refuse(brief(ast.unparse(node)), "is no matrix")
    return Matrix(tuple(exact(evaluate(x, world)) for x in row) for row in rows)


def combined(node: ast.BinOp, left: Any, right: Any) -> Any:
    """The sum, difference, product or quotient: of numbers; M ± N, c · M, M · c or M / c."""
    charge("A comparison", [left, right])
    op = node.op
    if type(left) is type(right) is Matrix and isinstance(op, (ast.Add, ast.Sub)):
        return plus(left, right if isinstance(op, ast.Add) else scale(right, Fraction(-1)))
    if type(right) is Matrix and isinstance(op, ast.Mult):
        left, right = right, left
    if type(left) is Matrix and isinstance(op, (ast.Mult, ast.Div)):
        factor = exact(right)
        if isinstance(op, ast.Div) and not factor:
            refuse("A comparison", "divides by zero")
        return scale(left, 1 / factor if isinstance(op, ast.Div) else factor)
    a, b = as_number(left), as_number(right)
    if isinstance(op, ast.Div):
        return reals.quotient(a, b)
    if isinstance(op, ast.Mult):
        return reals.product(a, b)
    return reals.total(a, b if isinstance(op, ast.Add) else reals.negative(b))


def as_number(value: Any) -> Real:
    if value is None:
        raise Undecided("a truth that counts as a number is undecided")
    if type(value) in (Interval, Logarithm):
        return value  # type: ignore[no-any-return]
    if type(value) not in (int, bool, Fraction):
        refuse("A comparison", f"uses {brief(value)} where a number is wanted")
    return Fraction(value)


def exact(value: Any) -> Fraction:
    found = as_number(value)
    if not isinstance(found, Fraction):
        refuse("A matrix", "needs numbers that are known exactly")
    return found
