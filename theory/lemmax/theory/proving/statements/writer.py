"""Numbers, matrices and tensors of a statement as Coq terms, with the equations that compute them.

Each word has a lemma (``theory/formal/reflect_*.v``) that turns it, applied to listed matrices or
tensors, into what the list computes to. A term's steps are these lemmas, inside first; rewriting
with them leaves a comparison of computed expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lemmax.checker.attention import Layer
from lemmax.checker.contexts import MultiHead
from lemmax.checker.language.sorts import Associations, Facts
from lemmax.checker.reading import Matrix, Tensor
from lemmax.theory.proving.statements.objects import Thing, indices, numbering
from lemmax.theory.proving.statements.trees import Sentence, Tree, source
from lemmax.theory.proving.theorem import NotTranslated

BITS, SQUARINGS = 128, 48
PRECISION = f"{BITS}%bZ {SQUARINGS}%N"
VM = "ltac:(vm_cast_no_check (erefl true))"


# Why a word has no translation, where it is more than that nobody has written its lemma.
_WHY = {
    "log_odds": "a real field with an exponential need not have logarithms",
    "log": "a real field with an exponential need not have logarithms",
    "independent_share": "sets of rows are not counted in theory/formal",
    "*": "matrices are not multiplied by numbers there",
}


def untranslated(word: str) -> NotTranslated:
    """The refusal of a word that Coq does not have."""
    why = _WHY.get(word, "theory/formal does not define it yet")
    return NotTranslated(f"The word {word} has no translation into Coq: {why}.")


@dataclass(frozen=True)
class Node:
    """A written expression: its Coq text, the list or expression that it is, and its value.

    ``steps`` turn the text into ``den``, ``mden`` or ``tden`` of the term; ``sizes`` are Coq terms.
    """

    coq: str
    term: str
    value: Any
    steps: tuple[str, ...]
    sizes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unknown:
    """A number that a relation determines: its name, the relation, its proof and its value."""

    name: str
    relation: str
    proof: str
    value: int


@dataclass
class Writer:
    """Writes trees; ``mode`` says what is known of the exponential (Plain: there is none)."""

    sent: Sentence
    things: Mapping[str, Thing]
    mode: str
    unknowns: dict[Tree, Unknown] = field(default_factory=dict)
    literals: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)

    @property
    def exp(self) -> str:
        return "(fun x : R => x)" if self.mode == "Plain" else "exp"

    @property
    def ok(self) -> str:
        plain = "(Logic.I : exponential_of Plain (fun x : R => x))"
        return plain if self.mode == "Plain" else "ok"

    def lemma(self, name: str, *arguments: str) -> str:
        """A lemma that needs no property of the exponential."""
        return f"(@{name} R {self.exp} {' '.join(arguments)})"

    def decided(self, name: str, *arguments: str) -> str:
        """A lemma that compares, with a precision."""
        return self.lemma(name, self.mode, self.ok, PRECISION, *arguments)

    def real(self, name: str, *arguments: str) -> str:
        """A lemma that needs an exponential."""
        if self.mode == "Plain":
            raise NotTranslated("A statement without an exponential speaks of attention.")
        return self.lemma(name, self.mode, self.ok, "isT", *arguments)

    def sort(self, tree: Tree) -> type:
        """Which kind of object a tree is."""
        if isinstance(tree, Fraction):
            return Fraction
        found = self.sent.value(tree)
        for kind in (Matrix, Tensor, Facts, Layer, MultiHead, Associations):
            if isinstance(found, kind):
                return kind
        return Fraction

    def scalar(self, tree: Tree) -> Node:
        """A number."""
        if isinstance(tree, Fraction):
            return self.literal(tree)
        if not isinstance(tree, tuple):
            raise NotTranslated(f"{tree} is not a number.")
        if tree[0] not in SCALARS:
            raise untranslated(tree[0])
        return SCALARS[tree[0]](self, *tree[1:])

    def literal(self, x: Fraction) -> Node:
        if x.denominator == 1 and 0 <= x < 1000:  # natural numbers are unary
            step = self.lemma("nat_realE", f"{x}%N")
            return Node(f"{x}%:R", f"nat_real {x}%N", x, (step,))
        step = self.lemma("num_wordE", pair(x))
        return Node(f"(qr R {pair(x)})", f"Rat {pair(x)}", x, (step,))

    def matrix(self, tree: Tree) -> Node:
        """A matrix: named data, or a word of matrices."""
        if isinstance(tree, str):
            thing = self.things[tree]
            p, q = (f"{n}%N" for n in thing.sizes)
            step = self.lemma("of_intsE", f"{p} {q} {tree}_den {tree}_rows")
            return Node(tree, f"of_ints {tree}_den {tree}_rows", thing.said, (step,), (p, q))
        if tree[0] not in MATRICES:
            raise untranslated(tree[0])
        return MATRICES[tree[0]](self, *tree[1:])

    def tensor(self, tree: Tree) -> Node:
        """A tensor: named data, or a word of tensors."""
        if isinstance(tree, str):
            thing = self.things[tree]
            sizes = tuple(f"{n}%N" for n in thing.sizes)
            step = self.lemma("qtens_wordE", f"{' '.join(sizes)} {tree}_den {tree}_rows {VM}")
            term = f"tens_of_ints {tree}_den {tree}_rows"
            return Node(tree, term, thing.said, (step,), sizes)
        if tree[0] not in TENSORS:
            raise untranslated(tree[0])
        return TENSORS[tree[0]](self, *tree[1:])

    def table(self, tree: Tree) -> Any:
        """The entries of a matrix or a tensor, as the checker computes them."""
        return self.sent.value(tree)

    def named(self, tree: Tree) -> Thing:
        """An object that a word takes by name."""
        if not isinstance(tree, str):
            raise NotTranslated(f"{source(tree)} is no name of an object.")
        return self.things[tree]

    def facts(self, tree: Tree) -> str:
        """A database: its name, or the name of the data of a literal."""
        if isinstance(tree, str):
            return tree
        if tree[0] != "facts":
            raise untranslated(tree[0])
        listed = indices(self.sent.value(tree), numbering(self.sent))
        for name, known in self.literals.items():
            if known == listed:
                return name
        name = f"facts_{len(self.literals) + 1}"
        self.literals[name] = listed
        return name

    def unknown(self, tree: Tree, relation: str, proof: str, value: int) -> Node:
        """A number that stands in the statement as a variable, with what determines it."""
        if tree not in self.unknowns:
            name = f"r_{len(self.unknowns) + 1}"
            text = relation.replace("{}", name)
            self.unknowns[tree] = Unknown(name, text, proof, value)
        step = self.lemma("nat_realE", f"{value}%N")
        known = self.unknowns[tree]
        return Node(f"{known.name}%:R", f"nat_real {value}%N", Fraction(value), (step,))

    def rewriting(self, steps: tuple[str, ...]) -> str:
        """The tactic that unfolds the names of an instance and rewrites with the steps."""
        names = [n for n, t in self.things.items() if t.binder]
        unfolded = " ".join(f"?/{name}" for name in names)
        return f"rewrite {unfolded} {' '.join(dict.fromkeys(steps))}; " if names or steps else ""


Word = Callable[..., Node]
SCALARS: dict[str, Word] = {}
MATRICES: dict[str, Word] = {}
TENSORS: dict[str, Word] = {}


def pair(x: Fraction) -> str:
    """A rational number as Coq writes it.

    >>> pair(Fraction(-1, 2))
    '(-1 # 2)'
    """
    return f"({x.numerator} # {x.denominator})"


def _arithmetic(symbol: str, lemma: str, term: str) -> Word:
    def word(writer: Writer, left: Tree, right: Tree | None = None) -> Node:
        if right is None:
            inner = writer.scalar(left)
            step = writer.lemma("opp_wordE", f"({inner.term})")
            return Node(f"(- {inner.coq})", f"sopp ({inner.term})", None, (*inner.steps, step))
        a, b = writer.scalar(left), writer.scalar(right)
        step = writer.lemma(lemma, f"({a.term})", f"({b.term})")
        steps = (*a.steps, *b.steps, step)
        return Node(f"({a.coq} {symbol} {b.coq})", term.format(a.term, b.term), None, steps)

    return word


SCALARS["+"] = _arithmetic("+", "add_wordE", "sadd ({}) ({})")
SCALARS["-"] = _arithmetic("-", "sub_wordE", "sadd ({}) (sopp ({}))")
SCALARS["*"] = _arithmetic("*", "mul_wordE", "smul ({}) ({})")
SCALARS["/"] = _arithmetic("/", "div_wordE", "smul ({}) (sinv ({}))")


def _extreme(word: str) -> Word:
    def extreme(writer: Writer, *arguments: Tree) -> Node:
        if len(arguments) != 2:
            raise NotTranslated(f"The word {word} takes two numbers in Coq.")
        a, b = (writer.scalar(x) for x in arguments)
        left, right = (writer.sent.number(x) for x in arguments)
        first = left <= right if word == "min" else left >= right
        side = "left" if first else "right"
        step = writer.decided(f"{word}_{side}_wordE", f"({a.term}) ({b.term}) {VM}")
        chosen = a if first else b
        coq = f"(Num.{word} {a.coq} {b.coq})"
        return Node(coq, chosen.term, None, (*a.steps, *b.steps, step))

    return extreme


SCALARS["min"] = _extreme("min")
SCALARS["max"] = _extreme("max")


def _indicator(writer: Writer, condition: Tree) -> Node:
    """1 where a comparison of two numbers holds, else 0."""
    if condition[0] not in ("<=", "<"):
        raise NotTranslated("Only comparisons of numbers are counted as 0 or 1 in Coq.")
    symbol, left, right = condition
    a, b = writer.scalar(left), writer.scalar(right)
    holds = writer.sent.holds(condition)
    name = f"indicator_{'le' if symbol == '<=' else 'lt'}_{'true' if holds else 'false'}_wordE"
    step = writer.decided(name, f"({a.term}) ({b.term}) {VM}")
    coq = f"(indicator R ({a.coq} {symbol} {b.coq} :> R))"
    return Node(coq, f"nat_real {int(holds)}%N", None, (*a.steps, *b.steps, step))


SCALARS["indicator"] = _indicator
