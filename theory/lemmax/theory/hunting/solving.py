"""Statements about plain numbers, asked of z3: counterexamples that no order of sizes reaches.

What z3 names is only a guess: the hunt asks it exactly, as every other instance. Without z3, and
for statements with words other than min and max, there is no guess.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from functools import reduce
from typing import Any

from lemmax.theory.hunting.question import Instance, Question

_EFFORT = 20_000_000  # z3's own units, a few seconds: the same on every machine


def solved(question: Question) -> Instance | None:
    """Numbers that satisfy the assumptions and break the conclusion, as far as z3 sees.

    >>> solved(Question("given n: integer; assume n > 10; conclude n * n != 10000"))
    {'n': '100'}
    """
    if not set(question.given.values()) <= {"integer", "rational"}:
        return None
    if not question.words <= {"min", "max"}:
        return None
    try:
        import z3
    except ImportError:
        return None
    own = z3.Context()  # in the common one the answer depends on what else was asked
    made = {"integer": z3.Int, "rational": z3.Real}
    known = {name: made[sort](name, own) for name, sort in question.given.items()}
    symbols = dict(known)
    solver = z3.Solver(ctx=own)
    solver.set("rlimit", _EFFORT)
    solver.set("random_seed", 0)
    try:
        for name, tree in question.statement.clauses:
            if name:
                known[name] = _term(tree, known, own)
            else:
                solver.add(_term(tree, known, own))
        solver.add(z3.Not(_term(question.statement.conclusion, known, own)))
    except KeyError:  # a sign that is not translated
        return None
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    values = {name: model.eval(x, model_completion=True) for name, x in symbols.items()}
    if not all(z3.is_int_value(x) or z3.is_rational_value(x) for x in values.values()):
        return None  # a root
    return {name: str(Fraction(str(x))) for name, x in values.items()}


_OPERATORS: dict[type, Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}


def _term(tree: ast.expr, known: dict[str, Any], own: Any) -> Any:
    """A number or a condition in z3's context ``own``; KeyError: something else."""
    import z3

    def of(node: ast.expr) -> Any:
        return _term(node, known, own)

    if isinstance(tree, ast.Constant) and type(tree.value) is int:
        return z3.IntVal(tree.value, own)
    if isinstance(tree, ast.Name):
        return known[tree.id]
    if isinstance(tree, ast.BinOp):
        if isinstance(tree.op, ast.Div):
            above = of(tree.left)  # z3 would round the quotient of two integers
            return (z3.ToReal(above) if above.is_int() else above) / of(tree.right)
        return _OPERATORS[type(tree.op)](of(tree.left), of(tree.right))
    if isinstance(tree, ast.UnaryOp):
        return z3.Not(of(tree.operand)) if isinstance(tree.op, ast.Not) else -of(tree.operand)
    if isinstance(tree, ast.BoolOp):
        return (z3.And if isinstance(tree.op, ast.And) else z3.Or)(*map(of, tree.values))
    if isinstance(tree, ast.Compare):
        sides = [of(side) for side in (tree.left, *tree.comparators)]
        pairs = zip(tree.ops, sides, sides[1:], strict=False)
        return z3.And(*(_OPERATORS[type(op)](a, b) for op, a, b in pairs))
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.args:
        order = ast.LtE if tree.func.id == "min" else ast.GtE
        return reduce(lambda a, b: z3.If(_OPERATORS[order](a, b), a, b), [of(x) for x in tree.args])
    raise KeyError(type(tree).__name__)
