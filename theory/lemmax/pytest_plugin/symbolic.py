"""Formulas with free symbols, decided by z3 or sympy: the solver is asked here, not in the test.

Only a formula that the claim itself carries decides the claim (``symbolic.decide``); one that a
test writes (``proves``, ``identity``, ``singular``) supports it.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import pytest

from lemmax.pytest_plugin.earnings import earn, fail, marked_claims
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import Catalogue
from lemmax.theory.ledger.earning import Earned
from lemmax.theory.ledger.formulas import Formula, names_in, read_formula, words_in

LONGEST = 2000  # characters of a formula that the ledger keeps
PATIENCE = 60_000  # milliseconds for z3
_ARITHMETIC: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class Symbolic:
    """The fixture ``symbolic``: give it the formula, it does the deciding."""

    def __init__(self, item: pytest.Item, catalogue: Catalogue) -> None:
        self._item, self._catalogue = item, catalogue

    def decide(self, claim: str) -> None:
        """The formula that a marked claim carries is true for all values of its symbols.

        It proves the claim (``formula``) or refutes it (``counterformula``).
        """
        if claim not in marked_claims(self._item):
            fail(self._item, f"The test is not marked with {claim}.")
        carried = self._catalogue[claim]
        texts = {"for": carried.formula, "against": carried.counterformula}
        if not any(texts.values()):
            fail(self._item, f"{claim} carries no formula.")
        for shows, text in texts.items():
            if text:
                formula = read_formula(text)
                self._decided(formula)
                told = Earned("symbolic", claim, shows, formula=formula.text)
                earn(self._item, _with_symbols(told, formula.symbols))

    def _decided(self, formula: Formula) -> None:
        """Fail unless every conclusion follows from the assumptions, and from no less."""
        if formula.assumptions:
            self._satisfiable(_assumed(formula, formula.symbols))
        for conclusion in formula.conclusions:
            equation = isinstance(conclusion, ast.Compare) and [*map(type, conclusion.ops)] == [
                ast.Eq
            ]
            if equation and not formula.assumptions and words_in(conclusion) <= {"det"}:
                same = _polynomial_equation(conclusion, formula.symbols)
            elif equation and words_in(conclusion):
                same = _equation(conclusion, formula)
            else:
                self._follows(*_for_z3(conclusion, formula))
                continue
            if not same:
                fail(self._item, f"{_short(ast.unparse(conclusion))} is not an identity.")

    def proves(self, conclusion: Any, *assumptions: Any) -> None:
        """The conclusion follows from the assumptions for all values of the free symbols.

        Both are formulas of z3. The negation must be unsatisfiable, and the assumptions
        satisfiable: from nothing everything follows.
        """
        import z3
        from z3.z3util import get_vars

        if not isinstance(conclusion, z3.BoolRef):
            fail(self._item, f"A formula of z3 is wanted, not {conclusion!r}.")
        self._follows(conclusion, assumptions)
        formula = z3.Implies(z3.And(*assumptions), conclusion) if assumptions else conclusion
        names = sorted({str(v) for part in (conclusion, *assumptions) for v in get_vars(part)})
        self._record(" ".join(str(formula).split()), names)

    def _follows(self, conclusion: Any, assumptions: Sequence[Any]) -> None:
        import z3

        if z3.is_true(z3.simplify(conclusion)):
            fail(self._item, f"{_short(conclusion)} is true without looking at its symbols.")
        solver = self._satisfiable(assumptions)
        solver.add(z3.Not(conclusion))
        answer = solver.check()
        if answer != z3.unsat:
            case = f": {solver.model()}" if answer == z3.sat else ""
            fail(self._item, f"The solver says {answer} to the negation{case}.")
        if assumptions:
            alone = z3.Solver()
            alone.set("timeout", PATIENCE)
            alone.add(z3.Not(conclusion))
            if alone.check() == z3.unsat:
                fail(self._item, f"{_short(conclusion)} is true whatever is assumed.")

    def _satisfiable(self, assumptions: Sequence[Any]) -> Any:
        """A solver that knows the assumptions; fails unless they can be met."""
        import z3

        solver = z3.Solver()
        solver.set("timeout", PATIENCE)
        solver.add(*assumptions)
        if solver.check() != z3.sat:
            fail(self._item, "The assumptions are not known to be satisfiable.")
        return solver

    def identity(self, left: Any, right: Any = 0) -> None:
        """Both sides are the same expression, polynomial or rational function of their symbols.

        Expressions of sympy are subtracted and simplified, elements of a polynomial ring compared.
        """
        import sympy
        from sympy.polys.rings import PolyElement

        if isinstance(left, PolyElement):
            same, names = left == right, _symbols_of_polynomials(left, right)
        else:
            left, right = sympy.sympify(left), sympy.sympify(right)
            if left == right:
                fail(self._item, f"{_short(left)} is compared with itself.")
            same = _same(left, right)
            names = sorted(str(s) for s in left.free_symbols | right.free_symbols)
        if not same:
            fail(self._item, f"{_short(left)} is not {_short(right)}.")
        self._record(f"{left} == {right}", names)

    def singular(self, rows: Sequence[Sequence[Any]]) -> None:
        """The determinant of a square matrix over a polynomial ring is the zero polynomial."""
        n = len(rows)
        if not n or any(len(row) != n for row in rows):
            fail(self._item, "A square matrix is wanted.")
        names = sorted({name for row in rows for x in row for name in _symbols_of_polynomials(x)})
        if _determinant([list(row) for row in rows]) != 0:
            fail(self._item, "The determinant is not the zero polynomial.")
        shown = ", ".join(f"[{', '.join(map(str, row))}]" for row in rows)
        self._record(f"det([{shown}]) == 0", names)

    def _record(self, formula: str, names: Sequence[str]) -> None:
        if not names:
            fail(self._item, f"Nothing is free in {_short(formula)}: it is an instance.")
        kept = formula if len(formula) <= LONGEST else f"{formula[:LONGEST]} …"
        earn(self._item, _with_symbols(Earned("symbolic", formula=kept), names))


def _with_symbols(earned: Earned, names: Sequence[str]) -> Earned:
    return replace(earned, symbols=tuple(names))


def _value(tree: ast.expr, values: Mapping[str, Any], words: Mapping[str, Any]) -> Any:
    """An expression of a formula, in whatever the values and words are made of."""
    if isinstance(tree, ast.Constant):
        return words["number"](tree.value)
    if isinstance(tree, ast.Name):
        return values[tree.id]
    if isinstance(tree, ast.List):
        return [_value(x, values, words) for x in tree.elts]
    if isinstance(tree, ast.Call):
        arguments = [_value(x, values, words) for x in tree.args]
        assert isinstance(tree.func, ast.Name)
        if tree.func.id not in words:
            raise LemmaxError(f"The word {tree.func.id} has no meaning in an inequality.")
        return words[tree.func.id](*arguments)
    if isinstance(tree, ast.UnaryOp):
        inner = _value(tree.operand, values, words)
        return words["not"](inner) if isinstance(tree.op, ast.Not) else -inner
    if isinstance(tree, ast.BoolOp):
        parts = [_value(x, values, words) for x in tree.values]
        return words["and" if isinstance(tree.op, ast.And) else "or"](*parts)
    if isinstance(tree, ast.Compare):
        sides = [_value(x, values, words) for x in (tree.left, *tree.comparators)]
        pairs = zip(tree.ops, sides, sides[1:], strict=False)
        links = [_ARITHMETIC[type(op)](a, b) for op, a, b in pairs]
        return links[0] if len(links) == 1 else words["and"](*links)
    assert isinstance(tree, ast.BinOp)
    left = _value(tree.left, values, words)
    if isinstance(tree.op, ast.Pow):
        if not isinstance(tree.right, ast.Constant) or not isinstance(tree.right.value, int):
            raise LemmaxError("An exponent is a number.")
        return reduce(operator.mul, [left] * tree.right.value, words["number"](1))
    right = _value(tree.right, values, words)
    if isinstance(tree.op, ast.Div):
        return words.get("/", operator.truediv)(left, right)
    return _ARITHMETIC[type(tree.op)](left, right)


def _for_z3(conclusion: ast.expr, formula: Formula) -> tuple[Any, list[Any]]:
    import z3

    words = {"number": z3.RealVal, "not": z3.Not, "and": z3.And, "or": z3.Or, "det": _of_rows}
    values = {name: z3.Real(name) for name in formula.symbols}
    linked, before = names_in(conclusion), set[str]()
    while linked != before:  # what is assumed of other symbols is nothing to this conclusion
        before = linked
        linked = linked.union(*(names_in(a) for a in formula.assumptions if names_in(a) & linked))
    return _value(conclusion, values, words), _assumed(formula, linked)


def _assumed(formula: Formula, symbols: Collection[str]) -> list[Any]:
    """The assumptions about these symbols alone, for z3; fewer only prove more."""
    import z3

    words = {"number": z3.RealVal, "not": z3.Not, "and": z3.And, "or": z3.Or}
    values = {name: z3.Real(name) for name in symbols}
    about = [a for a in formula.assumptions if names_in(a) <= set(symbols)]
    return [_value(a, values, words) for a in about]


def _polynomial_equation(conclusion: ast.expr, symbols: Sequence[str]) -> bool:
    from sympy.polys.domains import QQ
    from sympy.polys.rings import ring

    R, *elements = ring(list(symbols), QQ)
    words = {"number": lambda n: R(n), "det": _of_rows, "/": _divided}
    assert isinstance(conclusion, ast.Compare)
    values = dict(zip(symbols, elements, strict=True))
    left, right = (_value(x, values, words) for x in (conclusion.left, *conclusion.comparators))
    return bool(left == right)


def _divided(a: Any, b: Any) -> Any:
    """The quotient by a number: by anything else it has no value where that is zero.

    Until sympy 1.14 its own operator dropped what remains.
    """
    from sympy.polys.polyerrors import ExactQuotientFailed

    if not b.is_ground:
        raise ExactQuotientFailed(a, b)
    return a.exquo(b)


def _equation(conclusion: ast.expr, formula: Formula) -> bool:
    import sympy

    told = (ast.unparse(assumption) for assumption in formula.assumptions)
    positive = {text.removesuffix(" > 0") for text in told if text.endswith(" > 0")}
    values = {
        name: sympy.Symbol(name, positive=True) if name in positive else sympy.Symbol(name)
        for name in formula.symbols
    }
    words = {
        "number": sympy.Integer,
        "exp": sympy.exp,
        "log": sympy.log,
        "sqrt": sympy.sqrt,
        "series": lambda f, x, n: sympy.series(f, x, 0, int(n) + 1).removeO(),
        "det": _of_rows,
    }
    assert isinstance(conclusion, ast.Compare)
    left, right = (_value(x, values, words) for x in (conclusion.left, *conclusion.comparators))
    return _same(left, right)


def _same(left: Any, right: Any) -> bool:
    import sympy

    difference = sympy.expand(left - right)
    return bool(difference == 0 or sympy.simplify(difference) == 0)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]} …"


def _symbols_of_polynomials(*values: Any) -> list[str]:
    """The names of the variables that occur in elements of a polynomial ring."""
    names = set()
    for value in values:
        for monomial in value.itermonoms() if hasattr(value, "itermonoms") else ():
            names |= {
                str(s) for s, power in zip(value.ring.symbols, monomial, strict=True) if power
            }
    return sorted(names)


def _of_rows(rows: Sequence[Sequence[Any]]) -> Any:
    if any(len(row) != len(rows) for row in rows):
        raise LemmaxError("A determinant wants a square matrix.")
    return _determinant([list(row) for row in rows])


def _determinant(rows: list[list[Any]]) -> Any:
    """By expansion along the first row; cost n!, for the small matrices of a proof."""
    if len(rows) == 1:
        return rows[0][0]
    total: Any = 0
    for j, entry in enumerate(rows[0]):
        minor = _determinant([[x for k, x in enumerate(row) if k != j] for row in rows[1:]])
        total = total + (-1) ** j * entry * minor
    return total
