"""A statement as the hunter asks it: of one instance after another, by the checker's own words."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

from lemmax.checker.language import reals
from lemmax.checker.language.evaluation import World, as_number, combined, evaluate, literal
from lemmax.checker.language.evidence import Evidence, gather
from lemmax.checker.language.sorts import GIVEN, NOTHING, Field, fitting, given_value
from lemmax.checker.language.syntax import COMPARISONS, FIELDS, Statement, statement
from lemmax.checker.limits import BeyondLimits, NotACertificate, Undecided, metered
from lemmax.checker.words import VOCABULARY
from lemmax.theory.errors import LemmaxError

Instance: TypeAlias = dict[str, Any]
"""What is given, by name, as certificates write it: {"M": [["1", "0"]], "D": {"facts": ...}}."""
Answer: TypeAlias = Literal["outside", "holds", "breaks", "open"]
"""Outside: an assumption is false, or a word has no value there. Open: not decided."""

_SHAPES = {
    *("rows", "columns", "slices", "slice_rows", "slice_columns", "count", "length", "outcomes"),
    *("min", "max", "even", "heads", "tokens", "d_model", "d_qk", "d_vo", "examples"),
    *("context_length", "dimension", "head_count", "head_dimension", "log_odds"),
}


@dataclass(frozen=True)
class Told:
    """The answer to an instance and, where the conclusion holds, by how much its bounds do.

    The slack is the least difference of the two sides of an inequality; None where there is none.
    """

    answer: Answer
    slack: Fraction | None = None


class Question:
    """A parsed statement.

    >>> asked = Question("given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2")
    >>> asked.ask({"M": [["1", "0", "-1"], ["-1", "0", "1"], ["0", "0", "0"]]}).answer
    'breaks'
    >>> asked.ask({"M": [["1", "0"], ["0", "1"]]}).answer
    'outside'
    """

    def __init__(self, text: str) -> None:
        try:
            self.statement: Statement = statement(text)
        except NotACertificate as error:
            raise LemmaxError(f"{error}{_nearest(str(error))}") from None

    @property
    def given(self) -> Mapping[str, str]:
        """Names and sorts."""
        return self.statement.given

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the statement."""
        return frozenset(
            node.func.id
            for tree in self.trees
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        )

    @property
    def trees(self) -> list[ast.expr]:
        """What is defined, assumed and concluded."""
        return [*(tree for _, tree in self.statement.clauses), self.statement.conclusion]

    @cached_property
    def literals(self) -> list[str]:
        """Texts of the statement, such as those of facts("a f x, b f y")."""
        return [
            node.value
            for tree in self.trees
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]

    @cached_property
    def _shapely(self) -> list[tuple[frozenset[str], ast.expr]]:
        """The assumptions, one by one, that speak of shapes and plain numbers only; their names."""
        defined = {name for name, _ in self.statement.clauses if name}
        return [
            (frozenset(_names(tree)), tree)
            for whole in self.statement.assumptions
            for tree in _conjuncts(whole)
            if all(
                node.func.id in _SHAPES
                for node in ast.walk(tree)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            )
            and not defined & _names(tree)
        ]

    @cached_property
    def sides(self) -> list[tuple[str, str, int]]:
        """Numbers of rows and columns that an assumption names: rows(M) == 5 is M, rows, 5."""
        found = []
        for _, tree in self._shapely:
            said = re.fullmatch(r"(rows|columns)\((\w+)\) == (\d+)", ast.unparse(tree))
            if said is not None:
                found.append((said[2], said[1], int(said[3])))
        return found

    @property
    def conclusions(self) -> list[ast.expr]:
        """The parts of the conclusion, which all have to be true."""
        return _conjuncts(self.statement.conclusion)

    def fits(self, instance: Instance, newest: str | None = None) -> bool:
        """Whether the assumptions about shapes and plain numbers are true; entries do not matter.

        Of a part of an instance only those are asked that speak of nothing else; with ``newest``
        only those that speak of it.
        """
        try:
            with metered():
                values = self._values(instance)
                known = values.keys() | set(FIELDS)
                mind = _Mind(values, Evidence())
                return all(
                    mind.truth(tree) is not False
                    for names, tree in self._shapely
                    if names - self.words <= known and (newest is None or newest in names)
                )
        except (Undecided, BeyondLimits):
            return True
        except (NotACertificate, ZeroDivisionError):
            return False

    def _values(self, instance: Instance) -> dict[str, Any]:
        return {
            name: given_value(sort, instance[name], name)
            for name, sort in self.given.items()
            if name in instance
        }

    def arguments(self, instance: Instance, word: str) -> list[list[Any]]:
        """What a word is asked about, in the checker's own objects, wherever it stands."""
        found: list[list[Any]] = []
        try:
            with metered():
                values = self._values(instance)
                world = World(values)
                for name, tree in (*self.statement.clauses, ("", self.statement.conclusion)):
                    for node in ast.walk(tree):
                        if isinstance(node, ast.Call) and ast.unparse(node.func) == word:
                            found.append([evaluate(x, world) for x in node.args])
                    if name:
                        values[name] = evaluate(tree, world)
        except (NotACertificate, Undecided):
            return found
        return found

    def ask(self, instance: Instance, evidence: Sequence[Mapping[str, Any]] = ()) -> Told:
        """Whether an instance satisfies the assumptions, and then whether it breaks the conclusion.

        Cost: what the checker charges; an instance beyond its limits is open.
        """
        try:
            with metered():
                values = self._values(instance)
                known = Evidence()
                for step in gather(list(evidence), known) if evidence else ():
                    if not step.ok:
                        return Told("open")
                mind = _Mind(values, known)
                undecided = False
                for name, tree in self.statement.clauses:
                    if name:
                        values[name] = mind.value(tree)
                        continue
                    truth = mind.truth(tree)
                    if truth is False:
                        return Told("outside")
                    undecided |= truth is None
                truth = mind.truth(self.statement.conclusion)
                if truth is False:
                    return Told("open" if undecided else "breaks")
                if truth is None:
                    return Told("open")
                return Told("holds", mind.slack(self.statement.conclusion))
        except (Undecided, BeyondLimits):
            return Told("open")
        except (NotACertificate, ZeroDivisionError):
            return Told("outside")


def _names(tree: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _conjuncts(tree: ast.expr) -> list[ast.expr]:
    """The parts of a condition that all have to be true."""
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for value in tree.values for part in _conjuncts(value)]
    if isinstance(tree, ast.Compare) and len(tree.ops) > 1:
        sides = [tree.left, *tree.comparators]
        return [
            ast.Compare(a, [op], [b]) for a, op, b in zip(sides, tree.ops, sides[1:], strict=False)
        ]
    return [tree]


def _nearest(message: str) -> str:
    """The nearest known word or sort, where a message names an unknown one."""
    for what, marked, known in (
        ("the word ", "not in the vocabulary", list(VOCABULARY)),
        ("the sort ", "which is unknown", list(GIVEN)),
    ):
        if marked in message:
            word = message.split(what)[1].split(",")[0].strip("'\"")
            near = difflib.get_close_matches(word, known, 1, 0.5)
            return f" Nearest: {near[0]}." if near else ""
    return ""


class _Mind:
    """The checker's evaluation without its sentences and prices, for many small instances.

    What is caught goes through the checker itself, so a mistake here can only lose a catch. That
    none was lost where all instances were looked at rests on this class; tests compare the two.
    """

    def __init__(self, values: Mapping[str, Any], evidence: Evidence) -> None:
        self.values, self.evidence = values, evidence
        self.memory: dict[int, Any] = {}
        self.world = World(values, evidence)

    def truth(self, tree: ast.expr) -> bool | None:
        """True, false, or None: undecided."""
        if isinstance(tree, ast.BoolOp):
            truths = [self.truth(part) for part in tree.values]
            both = isinstance(tree.op, ast.And)
            return reals.every(*truths) if both else reals.some(*truths)
        try:
            if isinstance(tree, ast.Compare):
                sides = [as_number(self.value(x)) for x in (tree.left, *tree.comparators)]
                return reals.every(
                    *(
                        reals.holds(COMPARISONS[type(op)][2], a, b)
                        for op, a, b in zip(tree.ops, sides, sides[1:], strict=False)
                    )
                )
            value = self.value(tree)
        except Undecided:
            return None
        return value if value is None else bool(value)

    def value(self, node: ast.expr) -> Any:
        """The value of an expression."""
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return self.truth(node)
        if isinstance(node, ast.Constant):
            return node.value if type(node.value) is str else Fraction(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            if node.id not in self.values and node.id in FIELDS:
                return Field(node.id)
            return self.values[node.id]
        if isinstance(node, ast.List):
            return literal(node, self.world)
        if isinstance(node, ast.UnaryOp):
            if isinstance(node.op, ast.Not):
                return reals.neither(self.truth(node.operand))
            return reals.negative(as_number(self.value(node.operand)))
        if isinstance(node, ast.BinOp):
            return combined(node, self.value(node.left), self.value(node.right))
        if id(node) not in self.memory:
            assert isinstance(node, ast.Call)
            self.memory[id(node)] = self._called(node)
        return self.memory[id(node)]

    def _called(self, node: ast.Call) -> Any:
        assert isinstance(node.func, ast.Name)
        arguments = [self.value(x) for x in node.args]
        for word in VOCABULARY[node.func.id]:
            sorts = word.sorts * len(arguments) if word.repeats else word.sorts
            if len(sorts) == len(arguments):
                fitted = [fitting(x, sort) for x, sort in zip(arguments, sorts, strict=True)]
                if NOTHING not in fitted:
                    if None in fitted and not word.logical:
                        raise Undecided(f"an argument of {node.func.id}(...) is undecided")
                    return word.function(*fitted, *((self.evidence,) if word.evident else ()))
        raise NotACertificate(f"{node.func.id}(...) is called in another way.")

    def slack(self, tree: ast.expr) -> Fraction | None:
        """How far a true condition is from false: a number to walk along, which decides nothing."""
        if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
            parts = [part for tree in tree.values if (part := self.slack(tree)) is not None]
            return min(parts, default=None)
        if not isinstance(tree, ast.Compare):
            return None
        sides = [as_number(self.value(side)) for side in (tree.left, *tree.comparators)]
        gaps = []
        for op, a, b in zip(tree.ops, sides, sides[1:], strict=False):
            if isinstance(a, Fraction) and isinstance(b, Fraction):
                if isinstance(op, (ast.Lt, ast.LtE)):
                    gaps.append(b - a)
                elif isinstance(op, (ast.Gt, ast.GtE)):
                    gaps.append(a - b)
        return min(gaps, default=None)
