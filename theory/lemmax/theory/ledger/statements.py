"""The formal statement of a claim, read where it stands: in the catalogue."""

import ast
from functools import cache

from lemmax.checker.language.syntax import names_in, statement
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import Catalogue, load_claims, normalised


@cache
def _built_in() -> Catalogue:
    return load_claims()


def refutable(claim: str) -> str:
    """The same for what one instance can refute.

    That something exists is not so, nor is a claim about one instance, unless its assumptions say
    which: then no other instance satisfies them. Cost: that of reading the statement.

    >>> refutable("wong/tau-below-layer-rank")
    Traceback (most recent call last):
    lemmax.theory.errors.LemmaxError: The claim wong/tau-below-layer-rank says that something ...
    >>> refutable("dana/figure-4-bound").partition(";")[0]
    'given N: integer, T: integer, d: integer, d_h: integer, H: integer'
    """
    kind, text = _built_in()[claim].kind, statement_of(claim)
    if kind == "E":
        raise LemmaxError(
            f"The claim {claim} says that something exists: an instance that is not so "
            "does not refute it."
        )
    if kind == "I" and (free := _free(text)):
        raise LemmaxError(
            f"The claim {claim} is about one instance, and its assumptions leave "
            f"{' and '.join(free)} free: another instance that is not so does not refute it."
        )
    return text


def _free(text: str) -> list[str]:
    """What is given and not set equal, by an assumption, to something without a name in it.

    >>> _free("given n: integer, M: matrix; assume n == 2 and rows(M) == n; conclude rank(M) <= n")
    ['M']
    """
    read = statement(text)
    free = dict.fromkeys(read.given)
    for whole in read.assumptions:
        parts = whole.values if isinstance(whole, ast.BoolOp) else [whole]
        for tree in parts if not _either(whole) else ():
            for name, other in _equated(tree):
                if not names_in(other):
                    free.pop(name, None)
    return list(free)


def _either(tree: ast.expr) -> bool:
    return isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.Or)


def _equated(tree: ast.expr) -> list[tuple[str, ast.expr]]:
    """Names and what they are said to be equal to: x == ... or equal(x, ...)."""
    sides: list[ast.expr] = []
    if isinstance(tree, ast.Compare) and [type(op) for op in tree.ops] == [ast.Eq]:
        sides = [tree.left, *tree.comparators]
    elif isinstance(tree, ast.Call) and ast.unparse(tree.func) == "equal":
        sides = tree.args
    if len(sides) != 2:
        return []
    pairs = (sides, sides[::-1])
    return [(side.id, other) for side, other in pairs if isinstance(side, ast.Name)]


def statement_of(claim: str) -> str:
    """What a claim of the four shipped catalogues says formally, with single blanks.

    >>> statement_of("wong/argmax-rank-one")
    'given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2'
    """
    formal = _built_in()[claim].formal
    if formal is None:
        raise LemmaxError(f"The claim {claim} carries no formal statement.")
    return normalised(formal)
