r"""refutation: the hypotheses, and the negation of the conclusion, in the words of the certificate.

``rank(argmax(M)) <= 2`` becomes ``((rank (argmax M)) <= 2%:R :> R)``: the words are functions of
real matrices (``theory/formal/matrix_words.v``), so that the statement can be read beside the
certificate's. Numbers of the instance stand in the statement, matrices are named data. Every
parenthesis is written, so that reading back needs no precedence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.proving import literals, numbers
from lemmax.theory.proving.kinds import memorization
from lemmax.theory.proving.kinds.matrix_rank import rank_proof
from lemmax.theory.proving.kinds.refutation_back import meant, read_back
from lemmax.theory.proving.kinds.trees import (
    FACT_WORDS,
    LAYER_WORDS,
    LayerData,
    Tree,
    instance_of,
    is_matrix,
    names_in,
    trees_of,
    words_in,
)
from lemmax.theory.proving.literals import Value
from lemmax.theory.proving.numbers import Rows
from lemmax.theory.proving.softmax import at_least
from lemmax.theory.proving.theorem import NotTranslated, Theorem

__all__ = ["meant", "read_back", "translate"]

LEMMAS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
BITS, SQUARINGS = 128, 48
VM = "ltac:(vm_cast_no_check (erefl true))"


@dataclass(frozen=True)
class Node:
    """A translated expression: its Coq text, the list or expression that it is, and its value.

    ``steps`` are the equations that turn the text into ``den`` or ``mden`` of the representation.
    """

    coq: str
    term: str
    value: Any
    steps: tuple[str, ...]


class Translator:
    """Translates trees; ``exp`` and ``ok`` name the exponential and what is known of it."""

    def __init__(
        self, matrices: Mapping[str, Rows], natural: bool, objects: Mapping[str, Any]
    ) -> None:
        """Matrices, layers and facts by name; natural: the statement has an exponential."""
        self.matrices = matrices
        self.objects = objects
        self.exp = "exp" if natural else "(fun x : R => x)"
        self.mode = "Natural" if natural else "Plain"
        self.ok = "ok" if natural else "(Logic.I : exponential_of Plain (fun x : R => x))"

    def lemma(self, name: str, *arguments: str) -> str:
        return f"(@{name} R {self.exp} {' '.join(arguments)})"

    def with_mode(self, name: str, *arguments: str) -> str:
        return self.lemma(name, self.mode, self.ok, f"{BITS}%bZ", f"{SQUARINGS}%N", *arguments)

    def scalar(self, tree: Tree) -> Node:
        """A number: a literal, arithmetic, or a word of matrices."""
        if isinstance(tree, Fraction):
            return self._literal(tree)
        if not isinstance(tree, tuple):
            raise NotTranslated(f"{tree} is not a number.")
        word, *arguments = tree
        if word in LEMMAS and len(arguments) == 2:
            return self._arithmetic(word, *map(self.scalar, arguments))
        if word == "-":
            inner = self.scalar(arguments[0])
            step = self.lemma("opp_wordE", f"({inner.term})")
            return Node(
                f"(- {inner.coq})", f"sopp ({inner.term})", -inner.value, (*inner.steps, step)
            )
        if word == "entry":
            return self._entry(*arguments)
        if word in ("rank", "rows", "columns", "max_entry", "min_entry", "entry_sum"):
            return self._word(word, self.matrix(arguments[0]))
        if word in LAYER_WORDS and isinstance(self.objects.get(arguments[0]), LayerData):
            value = self.objects[arguments[0]].sizes[LAYER_WORDS.index(word)]
            sizes = " ".join(f"{n}%N" for n in self.objects[arguments[0]].sizes)
            step = self.lemma(f"{word}_wordE", f"{sizes} {arguments[0]}")
            coq = f"({word} {arguments[0]})"
            return Node(coq, f"nat_real {value}%N", Fraction(value), (step,))
        if word in FACT_WORDS and isinstance(self.objects.get(arguments[0]), list):
            count, term = FACT_WORDS[word]
            D = arguments[0]
            step = self.lemma(f"{word}_wordE", D)
            value = Fraction(count(self.objects[D]))
            return Node(f"({word} R {D})", f"nat_real {term.replace('D', D)}", value, (step,))
        raise NotTranslated(f"The word {word} has no translation into Coq.")

    def _literal(self, x: Fraction) -> Node:
        if x.denominator == 1 and 0 <= x < 1000:  # natural numbers are unary
            n = x.numerator
            step = self.lemma("nat_realE", f"{n}%N")
            return Node(f"{n}%:R", f"nat_real {n}%N", x, (step,))
        pair = f"({x.numerator} # {x.denominator})"
        step = self.lemma("num_wordE", pair)
        return Node(f"(qr R {pair})", f"Rat {pair}", x, (step,))

    def _arithmetic(self, symbol: str, a: Node, b: Node) -> Node:
        values = {
            "+": lambda: a.value + b.value,
            "-": lambda: a.value - b.value,
            "*": lambda: a.value * b.value,
            "/": lambda: a.value / b.value,
        }
        terms = {
            "+": f"sadd ({a.term}) ({b.term})",
            "-": f"sadd ({a.term}) (sopp ({b.term}))",
            "*": f"smul ({a.term}) ({b.term})",
            "/": f"smul ({a.term}) (sinv ({b.term}))",
        }
        step = self.lemma(f"{LEMMAS[symbol]}_wordE", f"({a.term})", f"({b.term})")
        return Node(
            f"({a.coq} {symbol} {b.coq})",
            terms[symbol],
            values[symbol](),
            (*a.steps, *b.steps, step),
        )

    def _entry(self, matrix: Tree, *indices: Tree) -> Node:
        M = self.matrix(matrix)
        i, j = (int(self.scalar(index).value) for index in indices)
        p, q = len(M.value), len(M.value[0])
        step = self.lemma("entry_wordE", f"{p}%N {q}%N ({M.term}) {i}%N {j}%N {VM}")
        return Node(
            f"(entry_at {M.coq} {i}%N {j}%N)",
            f"at_ ({M.term}) {i}%N {j}%N",
            M.value[i][j],
            (*M.steps, step),
        )

    def _word(self, word: str, M: Node) -> Node:
        p, q = len(M.value), len(M.value[0])
        L = f"({M.term})"
        shape = f"{p}%N {q}%N {L}"
        if word in ("rows", "columns"):
            n = p if word == "rows" else q
            step = self.lemma(f"{word}_wordE", shape)
            term, value = f"nat_real {n}%N", Fraction(n)
        elif word == "entry_sum":
            step = self.lemma("sum_wordE", shape)
            term = f"ssum {p}%N (fun i => ssum {q}%N (fun j => at_ {L} i j))"
            value = sum((x for row in M.value for x in row), Fraction(0))
        elif word == "rank":
            _, whole = numbers.cleared(M.value)
            r = len(numbers.pivots(M.value)[0])
            proof = rank_proof(whole, r, r in (p, q))
            step = self.lemma("rank_wordE", f"{p}%N {q}%N {r}%N {L} {proof} {VM}")
            term, value = f"nat_real {r}%N", Fraction(r)
        else:
            best = max if word == "max_entry" else min
            value = best(x for row in M.value for x in row)
            i = next(i for i, row in enumerate(M.value) if value in row)
            j = M.value[i].index(value)
            step = self.with_mode(f"{word}_wordE", f"{shape} {i}%N {j}%N {VM}")
            term = f"at_ {L} {i}%N {j}%N"
        return Node(f"({word} {M.coq})", term, value, (*M.steps, step))

    def matrix(self, tree: Tree) -> Node:
        """A matrix: named data, or a word of matrices."""
        if isinstance(tree, str):
            rows = self.matrices.get(tree)
            if rows is None:
                raise NotTranslated(f"{tree} is neither a matrix nor a number.")
            p, q = len(rows), len(rows[0])
            step = self.lemma("of_intsE", f"{p}%N {q}%N {tree}_den {tree}_rows")
            return Node(tree, f"of_ints {tree}_den {tree}_rows", rows, (step,))
        if not isinstance(tree, tuple) or tree[0] in LEMMAS:
            raise NotTranslated("Arithmetic with matrices has no translation into Coq.")
        word, first, *rest = tree
        M = self.matrix(first)
        p, q = len(M.value), len(M.value[0])
        shape = f"{p}%N {q}%N ({M.term})"
        steps: tuple[str, ...] = M.steps
        if word == "transpose":
            value = [list(column) for column in zip(*M.value, strict=True)]
            step = self.lemma("transpose_wordE", shape)
            return Node(f"(transpose {M.coq})", f"rtr {shape}", value, (*steps, step))
        if word == "gram":
            value = _times(M.value, [list(c) for c in zip(*M.value, strict=True)])
            step = self.lemma("gram_wordE", shape)
            term = f"rmul {p}%N {q}%N {p}%N ({M.term}) (rtr {shape})"
            return Node(f"(gram {M.coq})", term, value, (*steps, step))
        if word == "product":
            N = self.matrix(rest[0])
            sizes = f"{p}%N {q}%N {len(N.value[0])}%N"
            step = self.lemma("product_wordE", f"{sizes} ({M.term}) ({N.term})")
            return Node(
                f"(product {M.coq} {N.coq})",
                f"rmul {sizes} ({M.term}) ({N.term})",
                _times(M.value, N.value),
                (*steps, *N.steps, step),
            )
        precision = f"{BITS}%bZ {SQUARINGS}%N"
        if word == "argmax":
            value = [[Fraction(x == max(row)) for x in row] for row in M.value]
            step = self.with_mode("rargmaxE", f"{shape} {VM}")
            term = f"rargmax {self.mode} {precision} {shape}"
            return Node(f"(argmax {M.coq})", term, value, (*steps, step))
        if word == "threshold":
            tau = self.scalar(rest[0])
            level = f"({tau.value.numerator} # {tau.value.denominator})"
            value = [[Fraction(at_least(row, j, tau.value)) for j in range(q)] for row in M.value]
            step = self.with_mode("rthresholdE", f"{shape} {level} {VM}")
            term = f"rthreshold {self.mode} {precision} {shape} {level}"
            return Node(f"(threshold exp {M.coq} (qr R {level}))", term, value, (*steps, step))
        raise NotTranslated(f"The word {word} has no translation into Coq.")

    def comparison(self, tree: Tree, holds: bool) -> tuple[str, str]:
        """The Coq text of a comparison, or of its negation, and its proof."""
        word, *arguments = tree
        if word in ("<=", "<", "="):
            a, b = map(self.scalar, arguments)
            name = {"<=": "le", "<": "lt", "=": "eq"}[word]
            text, sides = f"({a.coq} {word} {b.coq} :> R)", f"({a.term}) ({b.term})"
            steps = (*a.steps, *b.steps)
            if holds and word == "=":
                close = self.lemma("eq_wordE", sides)
            else:
                close = self.with_mode(f"{'' if holds else 'n'}{name}_wordE", sides)
        elif word == "equal":
            A, B = map(self.matrix, arguments)
            text, steps = f"(equal {A.coq} {B.coq})", (*A.steps, *B.steps)
            sides = f"{len(A.value)}%N {len(A.value[0])}%N ({A.term}) ({B.term})"
            if holds:
                close = self.lemma("equal_wordE", sides)
            else:
                i, j = _difference(A.value, B.value)
                close = self.with_mode("unequal_wordE", f"{sides} {i}%N {j}%N")
        elif word in ("distinct_rows", "unit_rows") and holds:
            M = self.matrix(arguments[0])
            text, steps = f"({word} {M.coq})", M.steps
            shape = f"{len(M.value)}%N {len(M.value[0])}%N ({M.term})"
            if word == "unit_rows":
                close = self.lemma("unit_wordE", shape)
            else:
                close = self.with_mode("distinct_wordE", shape)
        elif word == "memorizes_at" and holds:
            L, D, tau = arguments
            layer, level = self.objects[L], self.scalar(tau).value
            n, sizes = layer.sizes[0], " ".join(f"{x}%N" for x in layer.sizes)
            number = f"({level.numerator} # {level.denominator})"
            database = f"(facts_db {n} {n} {n} {D})"
            text, steps = f"(memorizes_at exp {L} (qr R {number}) {database})", ()
            precision = f"{memorization.BITS}%bZ {memorization.SQUARINGS}%N"
            close = f"(@tau_sound R exp ok {precision} {sizes} {memorization.WEIGHTS} {number} {D})"
        else:
            raise NotTranslated(f"The word {word} has no translation into Coq.")
        unfolded = " ".join(f"/{name}" for name in self.matrices if name in names_in(tree))
        rewriting = " ".join(dict.fromkeys(steps))
        proof = f"apply: {close}; vm_cast_no_check (erefl true)"
        if unfolded or rewriting:
            proof = f"rewrite {unfolded} {rewriting}; {proof}"
        return (text if holds else f"(~ {text})"), proof


def _times(A: Rows, B: Rows) -> Rows:
    columns = list(zip(*B, strict=True))
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in columns]
        for row in A
    ]


def _difference(A: Rows, B: Rows) -> tuple[int, int]:
    for i, (a, b) in enumerate(zip(A, B, strict=True)):
        for j, (x, y) in enumerate(zip(a, b, strict=True)):
            if x != y:
                return i, j
    raise LemmaxError("Two matrices that should differ are equal.")


def translate(certificate: Mapping[str, Any]) -> Theorem:
    """The theorem of a refutation about matrices and numbers."""
    values = instance_of(certificate)
    hypotheses, conclusion = trees_of(certificate, values)
    matrices = {name: value for name, value in values.items() if is_matrix(value)}
    objects = {
        name: value
        for name, value in values.items()
        if not isinstance(value, Fraction) and name not in matrices
    }
    natural = bool({"threshold", "memorizes_at"} & words_in([*hypotheses, conclusion]))
    translator = Translator(matrices, natural, objects)
    parts = [translator.comparison(tree, True) for tree in hypotheses]
    parts.append(translator.comparison(conclusion, False))
    data: dict[str, tuple[str, Value]] = {}
    binders = "(R : realFieldType)" + " (exp : R -> R)" * natural
    for name, rows in matrices.items():
        d, whole = numbers.cleared(rows)
        data[f"{name}_den"], data[f"{name}_rows"] = ("positive", d), ("seq (seq Z)", whole)
        p, q = len(rows), len(rows[0])
        binders += f"\n  ({name} := qmx R {p} {q} (Zpos {name}_den) {name}_rows)"
    for name, value in objects.items():
        if isinstance(value, LayerData):
            data |= value.data
            sizes = " ".join(map(str, value.sizes))
            binders += f"\n  ({name} := layer_of R {sizes} {memorization.WEIGHTS})"
        else:
            data[name] = ("seq (nat * nat * nat)", value)
    assumed = "natural_exponential exp ->\n  " * natural
    texts = " /\\\n  ".join(text for text, _ in parts)
    lines = ["move=> ok."] if natural else []
    for _, proof in parts[:-1]:
        lines += ["split.", literals.folded(f"{proof}.")]
    lines.append(literals.folded(f"{parts[-1][1]}."))
    return Theorem(data, f"{binders} :\n  {assumed}{texts}", "\n".join(lines))
