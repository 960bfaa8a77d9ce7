"""Formulas with free symbols that a claim carries, for computer algebra or an SMT solver to decide.

One syntax with formal statements::

    given a, b: real; assume a > 0 and b > 0; conclude (a + b)**2 > a**2 + b**2

Numbers, symbols, ``+ - * / **``, comparisons, ``and``, ``or``, ``not`` and the words of
:data:`WORDS`. What is concluded is a conjunction, and every symbol occurs somewhere. Here formulas
are read; :mod:`lemmax.pytest_plugin.symbolic` has them decided.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from lemmax.theory.errors import LemmaxError

# How many arguments each word takes; ``series(f, x, n)`` is f up to x**n at x = 0.
WORDS = {"exp": 1, "log": 1, "sqrt": 1, "series": 3, "det": 1}
_SHAPE = re.compile(
    r"given (?P<given>[^;:]+): real;(?: assume (?P<assume>[^;]+);)? conclude (?P<end>[^;]+)"
)
_ALLOWED = (
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow),
    *(ast.UnaryOp, ast.USub, ast.Not, ast.BoolOp, ast.And, ast.Or),
    *(ast.Compare, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    *(ast.Name, ast.Load, ast.List, ast.Call, ast.Constant),
)


class FormulaError(LemmaxError):
    """A formula that cannot be read, or that says nothing."""


@dataclass(frozen=True)
class Formula:
    """What is given, assumed and concluded; ``text`` is the formula with single blanks."""

    text: str
    symbols: tuple[str, ...]
    assumptions: tuple[ast.expr, ...]
    conclusions: tuple[ast.expr, ...]


def read_formula(text: str) -> Formula:
    """Read a formula, and refuse one that cannot be false or does not depend on what is given.

    >>> read_formula("given x, y: real; conclude (x + y)**2 == x**2 + 2*x*y + y**2").symbols
    ('x', 'y')
    >>> read_formula("given x: real; conclude x == x")
    Traceback (most recent call last):
      ...
    lemmax.theory.ledger.formulas.FormulaError: the conclusion 'x == x' compares a thing with itself
    """
    told = " ".join(text.split())
    shape = _SHAPE.fullmatch(told)
    if shape is None:
        raise FormulaError("a formula reads 'given x, y: real; assume …; conclude …'")
    symbols = tuple(name.strip() for name in shape["given"].split(","))
    if len(set(symbols)) < len(symbols) or not all(name.isidentifier() for name in symbols):
        raise FormulaError(f"the symbols {shape['given']!r} are not different names")
    assumptions = _parts(shape["assume"], symbols) if shape["assume"] else ()
    conclusions = _parts(shape["end"], symbols)
    for conclusion in conclusions:
        if not names_in(conclusion):
            raise FormulaError(f"nothing is free in {ast.unparse(conclusion)!r}")
        if isinstance(conclusion, ast.Compare):
            sides = [ast.dump(side) for side in (conclusion.left, *conclusion.comparators)]
            if len(set(sides)) < len(sides):
                raise FormulaError(
                    f"the conclusion {ast.unparse(conclusion)!r} compares a thing with itself"
                )
    idle = set(symbols).difference(*map(names_in, (*assumptions, *conclusions)))
    if idle:
        raise FormulaError(f"the formula does not depend on {min(idle)!r}")
    return Formula(told, symbols, assumptions, conclusions)


def names_in(tree: ast.expr) -> set[str]:
    """The symbols that occur in an expression."""
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n not in called}


def words_in(tree: ast.expr) -> set[str]:
    """The words that occur in an expression."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {call.id for call in calls if isinstance(call, ast.Name)}


def _parts(text: str, symbols: tuple[str, ...]) -> tuple[ast.expr, ...]:
    """The members of a conjunction, each of them checked."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        raise FormulaError(f"{text!r} cannot be read") from None
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            raise FormulaError(f"{text!r} has a {type(node).__name__}, which has no meaning here")
        if isinstance(node, ast.Constant) and type(node.value) is not int:
            raise FormulaError(f"{node.value!r} is not an integer")
        if isinstance(node, ast.Call):
            word = node.func.id if isinstance(node.func, ast.Name) else ""
            if WORDS.get(word) != len(node.args) or node.keywords:
                raise FormulaError(f"{ast.unparse(node)!r} is none of the words {', '.join(WORDS)}")
    unknown = names_in(tree) - set(symbols)
    if unknown:
        raise FormulaError(f"{min(unknown)!r} is not given")
    whole = isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And)
    parts = tuple(tree.values) if whole else (tree,)  # type: ignore[attr-defined]
    for part in parts:
        if not isinstance(part, ast.Compare | ast.BoolOp) and not (
            isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not)
        ):
            raise FormulaError(f"{ast.unparse(part)!r} is neither true nor false")
    return parts
