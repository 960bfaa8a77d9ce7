"""Formulas with free symbols, decided by z3 or sympy: the solver is asked here, not in the test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from lemmax.pytest_plugin.earnings import earn, fail
from lemmax.theory.ledger.earning import Earned

LONGEST = 2000  # characters of a formula that the ledger keeps


class Symbolic:
    """The fixture ``symbolic``: give it the formula, it does the deciding."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def proves(self, conclusion: Any, *assumptions: Any) -> None:
        """The conclusion follows from the assumptions for all values of the free symbols.

        Both are formulas of z3. The negation must be unsatisfiable, and the assumptions
        satisfiable: from nothing everything follows.
        """
        import z3
        from z3.z3util import get_vars

        if not isinstance(conclusion, z3.BoolRef):
            fail(self._item, f"A formula of z3 is wanted, not {conclusion!r}.")
        solver = z3.Solver()
        solver.add(*assumptions)
        if solver.check() != z3.sat:
            fail(self._item, "The assumptions are not known to be satisfiable.")
        solver.add(z3.Not(conclusion))
        answer = solver.check()
        if answer != z3.unsat:
            case = f": {solver.model()}" if answer == z3.sat else ""
            fail(self._item, f"The solver says {answer} to the negation{case}.")
        formula = z3.Implies(z3.And(*assumptions), conclusion) if assumptions else conclusion
        names = sorted({str(v) for part in (conclusion, *assumptions) for v in get_vars(part)})
        self._record(" ".join(str(formula).split()), names)

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
            difference = sympy.expand(left - right)
            same = difference == 0 or sympy.simplify(difference) == 0
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
        earn(self._item, Earned("symbolic", formula=kept, symbols=tuple(names)))


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


def _determinant(rows: list[list[Any]]) -> Any:
    """By expansion along the first row; cost n!, for the small matrices of a proof."""
    if len(rows) == 1:
        return rows[0][0]
    total: Any = 0
    for j, entry in enumerate(rows[0]):
        if entry != 0:
            minor = _determinant([[x for k, x in enumerate(row) if k != j] for row in rows[1:]])
            total += (-1) ** j * entry * minor
    return total
