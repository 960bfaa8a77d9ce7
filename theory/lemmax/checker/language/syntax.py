"""How a statement is read: ``given x: sort, ...; let y = ...; assume ...; conclude ...``.

A condition is made of comparisons between numbers (``0 < x <= 1`` is one), of words that are true
or false, and of ``and``, ``or``, ``not``; numbers of integers, words, + - * / and names; a matrix
may be added to a matrix and multiplied with a number, and written as ``[[0, 1/2]]``. Python's
parser reads conditions, and nothing else gets through.
"""

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..limits import LIMITS, brief, refuse, spend
from ..words import VOCABULARY
from .sorts import GIVEN

COMPARISONS: dict[type, tuple[str, str, Callable[[Any, Any], bool]]] = {
    ast.Eq: ("==", "!=", operator.eq),
    ast.NotEq: ("!=", "==", operator.ne),
    ast.Lt: ("<", ">=", operator.lt),
    ast.LtE: ("<=", ">", operator.le),
    ast.Gt: (">", "<=", operator.gt),
    ast.GtE: (">=", "<", operator.ge),
}
_LANGUAGE = (
    *(ast.Compare, ast.BoolOp, ast.And, ast.Or, ast.Not, ast.Call, ast.Name, ast.Load, ast.List),
    *(ast.Constant, ast.BinOp, ast.UnaryOp, ast.USub, ast.Add, ast.Sub, ast.Mult, ast.Div),
    *COMPARISONS,
)
FIELDS = ("Q", "R", "C")  # the names of fields, where nothing else is given that name
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")


@dataclass(frozen=True)
class Statement:
    """What is given (names and sorts), then definitions and assumptions in order, a conclusion.

    A clause is (name, expression) for ``let``, and ("", condition) for ``assume``.
    """

    text: str
    given: Mapping[str, str]
    clauses: tuple[tuple[str, ast.expr], ...]
    conclusion: ast.expr

    @property
    def assumptions(self) -> list[ast.expr]:
        return [tree for name, tree in self.clauses if not name]


def normalised(text: str) -> str:
    """The same statement, with every run of white space as one blank."""
    return " ".join(text.split())


def statement(text: object, where: str = "The statement") -> Statement:
    """Read a statement; every name in it must be given or defined, and every given name used.

    >>> read = statement("given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2")
    >>> dict(read.given), [ast.unparse(tree) for tree in read.assumptions]
    ({'M': 'matrix'}, ['rank(M) == 1'])
    """
    most = LIMITS["statement characters"]
    if type(text) is not str or len(text) > most:
        refuse(where, f"must be a text of at most {most} characters")
    first, *middle, last = [part.strip() for part in normalised(text).split(";")] + [""] * (
        ";" not in text
    )
    if not first.startswith("given ") or not last.startswith("conclude "):
        refuse(where, "reads given NAME: SORT, ...; let NAME = ...; assume ...; conclude ...")
    given: dict[str, str] = {}
    for entry in first.removeprefix("given ").split(","):
        name, _, sort = (part.strip() for part in entry.partition(":"))
        if sort not in GIVEN:
            refuse(where, f"gives {brief(name)} the sort {brief(sort)}, which is unknown")
        new_name(name, given, where)
        given[name] = sort
    clauses: list[tuple[str, ast.expr]] = []
    # which given names each name depends on
    reach: dict[str, set[str]] = {name: {name} for name in given}
    defined: set[str] = set()
    used: set[str] = set()

    def read(part: str) -> ast.expr:
        tree = parse(part, where, most)
        for name in sorted(names_in(tree)):
            if name not in reach and name not in FIELDS:
                refuse(where, f"speaks about {brief(name)}, which is neither given nor defined")
        used.update(names_in(tree))
        return tree

    def reached(tree: ast.expr) -> set[str]:
        return set().union(*(reach.get(name, set()) for name in names_in(tree)))

    spoken: set[str] = set()
    for part in middle:
        word, _, rest = part.partition(" ")
        if word == "let" and "=" in rest:
            name, _, body = (piece.strip() for piece in rest.partition("="))
            new_name(name, reach, where)
            tree = read(body)
            reach[name] = reached(tree)
            defined.add(name)
            clauses.append((name, tree))
        elif word == "assume":
            tree = read(rest)
            spoken |= reached(tree)
            both = isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And)
            clauses += [("", part) for part in (tree.values if both else [tree])]  # type: ignore[attr-defined]
        else:
            refuse(where, f"has the clause {brief(part)}, which neither defines nor assumes")
    conclusion = read(last.removeprefix("conclude "))
    if not reached(conclusion):
        refuse(where, "concludes something that does not depend on what is given")
    for name in given:
        if name not in spoken | reached(conclusion):
            refuse(where, f"gives {name} and does not speak about it")
    for name in sorted(defined - used):
        refuse(where, f"defines {name} and does not use it")
    return Statement(normalised(text), given, tuple(clauses), conclusion)


def new_name(name: str, known: Mapping[str, Any], where: str) -> None:
    if not NAME.fullmatch(name) or name in ("and", "or", "not", "in", "is", "if", "else"):
        refuse(where, f"has a name {brief(name)} that is not a short identifier")
    if name in known:
        refuse(where, f"names {name} twice")


def parse(text: object, where: str, most: int | None = None) -> ast.expr:
    """The syntax tree of a condition; only the nodes of the language are let through."""
    most = LIMITS["comparison characters"] if most is None else most
    if type(text) is not str or len(text) > most:
        refuse(where, f"must be a text of at most {most} characters")
    spend(where, 10 * len(text) + 300)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        refuse(where, f"is {brief(text)}, which cannot be parsed")
    level: list[ast.AST] = [tree]
    depth, texts = 0, set[int]()  # places where a text may stand: arguments of words
    while level:
        depth += 1
        if depth > 120:
            refuse(where, "is nested more than 120 deep")
        for node in level:
            bad = type(node) not in _LANGUAGE
            if isinstance(node, ast.Call):
                bad |= bool(node.keywords) or not isinstance(node.func, ast.Name)
                texts |= {id(x) for x in node.args}
                if isinstance(node.func, ast.Name) and node.func.id not in VOCABULARY:
                    named = brief(node.func.id)
                    refuse(where, f"uses the word {named}, which is not in the vocabulary")
            elif isinstance(node, ast.Constant):
                text_here = type(node.value) is str and id(node) in texts
                bad |= type(node.value) is not int and not text_here
            if bad:
                refuse(where, f"is {brief(text)}, which is not in the language of comparisons")
        level = [part for node in level for part in ast.iter_child_nodes(node)]
    return tree


def names_in(tree: ast.expr) -> set[str]:
    """The names that an expression speaks about."""
    nodes = list(ast.walk(tree))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return {n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in called}
