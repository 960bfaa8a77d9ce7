r"""refutation: the hypotheses, and the negation of the conclusion, in the words of the certificate.

``rank(argmax(M)) <= 2`` becomes ``((rank (argmax M)) <= 2%:R :> R)``: the words are functions of
real matrices (``theory/formal/matrix_words.v``), so that the statement can be read beside the
certificate's. Numbers of the instance stand in the statement, matrices are named data. Every
parenthesis is written, so that reading back needs no precedence.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.proving import literals, memorization, numbers
from lemmax.theory.proving.literals import Value
from lemmax.theory.proving.matrix_rank import rank_proof
from lemmax.theory.proving.numbers import Rows
from lemmax.theory.proving.softmax import at_least
from lemmax.theory.proving.theorem import NotTranslated, Parsed, Theorem

Tree = Any  # nested tuples: ("rank", ("argmax", "M")), ("+", a, b); numbers are Fractions
COMPARISONS: dict[type, tuple[str, bool]] = {
    ast.LtE: ("<=", False),
    ast.GtE: ("<=", True),
    ast.Lt: ("<", False),
    ast.Gt: ("<", True),
    ast.Eq: ("=", False),
}
ARITHMETIC: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
LEMMAS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
BITS, SQUARINGS = 128, 48
VM = "ltac:(vm_cast_no_check (erefl true))"


def tree_of(text: str, values: Mapping[str, Any]) -> Tree:
    """The tree of a comparison of a certificate, with numbers of the instance put in."""
    return _tree(ast.parse(text.strip(), mode="eval").body, values)


def _tree(node: ast.expr, values: Mapping[str, Any]) -> Tree:
    if isinstance(node, ast.Constant):
        return Fraction(int(str(node.value)))
    if isinstance(node, ast.Name):
        value = values[node.id]
        return value if isinstance(value, Fraction) else node.id
    if isinstance(node, ast.UnaryOp):
        return "-", _tree(node.operand, values)
    if isinstance(node, ast.BinOp):
        sides = _tree(node.left, values), _tree(node.right, values)
        return ARITHMETIC[type(node.op)], *sides
    if isinstance(node, ast.Compare):
        symbol, turned = COMPARISONS[type(node.ops[0])]
        left, right = _tree(node.left, values), _tree(node.comparators[0], values)
        return (symbol, right, left) if turned else (symbol, left, right)
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return node.func.id, *(_tree(x, values) for x in node.args)


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
        unfolded = " ".join(f"/{name}" for name in self.matrices if name in _names(tree))
        rewriting = " ".join(dict.fromkeys(steps))
        proof = f"apply: {close}; vm_cast_no_check (erefl true)"
        if unfolded or rewriting:
            proof = f"rewrite {unfolded} {rewriting}; {proof}"
        return (text if holds else f"(~ {text})"), proof


@dataclass(frozen=True)
class LayerData:
    """A layer: its sizes n, H, d, d_qk, d_vo, its weights as data, and as the certificate's."""

    sizes: tuple[int, ...]
    data: Mapping[str, tuple[str, Value]]
    weights: Any


LAYER_WORDS = ("tokens", "heads", "d_model", "d_qk", "d_vo")
FACT_WORDS: dict[str, tuple[Callable[[list[tuple[int, ...]]], int], str]] = {
    "keys": (lambda D: len({f[0] for f in D}), "(size (undup [seq f.1.1 | f <- D]))"),
    "queries": (lambda D: len({f[1] for f in D}), "(size (undup [seq f.1.2 | f <- D]))"),
    "slices_rank_sum": (
        lambda D: min(len({(f[0], f[2]) for f in D}), len({(f[1], f[2]) for f in D})),
        "(minn (size (undup [seq (f.1.1, f.2) | f <- D])) "
        "(size (undup [seq (f.1.2, f.2) | f <- D])))",
    ),
}


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


def _names(tree: Tree) -> set[str]:
    if isinstance(tree, str):
        return {tree}
    return set().union(*map(_names, tree[1:])) if isinstance(tree, tuple) else set()


def _words(trees: Iterable[Tree]) -> set[str]:
    found: set[str] = set()
    for tree in trees:
        if isinstance(tree, tuple):
            found |= {tree[0]} | _words(tree[1:])
    return found


def instance_of(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The instance: numbers as Fractions, matrices as rows; NotTranslated for other objects."""
    found: dict[str, Any] = {}
    for name, value in certificate["instance"].items():
        if isinstance(value, str):
            found[name] = numbers.number(value)
        elif (
            isinstance(value, list) and isinstance(value[0], list) and isinstance(value[0][0], str)
        ):
            found[name] = numbers.rows_of(value)
        elif isinstance(value, dict) and "layer" in value:
            sizes, data = memorization.layer_data(value["layer"])
            if value["layer"]["unit"] != "1" or any(isinstance(x, LayerData) for x in found.values()):
                raise NotTranslated("Its layer is counted in units of ln 2, or there are two.")
            found[name] = LayerData(sizes, data, memorization.layer_meant(value["layer"]))
        elif isinstance(value, dict) and "facts" in value:
            found[name] = _indices(value["facts"], certificate["instance"])
        else:
            kind = next(iter(value)) if isinstance(value, dict) else "tensor"
            raise NotTranslated(f"Refutations about a {kind} have no translation into Coq.")
    return found


def _indices(facts: Any, instance: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """Facts in the numbers of the tokens of the instance's layer."""
    layers = [x["layer"] for x in instance.values() if isinstance(x, dict) and "layer" in x]
    if len(layers) != 1:
        raise NotTranslated("Facts are numbered by the tokens of one layer.")
    place = {token: i for i, token in enumerate(layers[0]["tokens"])}
    return [tuple(place[name] for name in fact) for fact in facts]


def _is_matrix(value: Any) -> bool:
    return isinstance(value, list) and isinstance(value[0], list)


def trees_of(certificate: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[list[Tree], Tree]:
    """The hypotheses and the conclusion as trees."""
    statement = certificate["statement"]
    return [tree_of(h, values) for h in statement["hypotheses"]], tree_of(
        statement["conclusion"], values
    )


def translate(certificate: Mapping[str, Any]) -> Theorem:
    """The theorem of a refutation about matrices and numbers."""
    values = instance_of(certificate)
    hypotheses, conclusion = trees_of(certificate, values)
    matrices = {name: value for name, value in values.items() if _is_matrix(value)}
    objects = {
        name: value
        for name, value in values.items()
        if not isinstance(value, Fraction) and name not in matrices
    }
    natural = bool({"threshold", "memorizes_at"} & _words([*hypotheses, conclusion]))
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


_BINDER = re.compile(r" \((\w+) := qmx R (\d+) (\d+) \(Zpos (\w+)_den\) (\w+)_rows\)")
_LAYER = re.compile(
    r" \((\w+) := layer_of R (\d+) (\d+) (\d+) (\d+) (\d+) "
    + re.escape(memorization.WEIGHTS)
    + r"\)"
)
_WORD = re.compile(r"\s*(-?\d+%:R|\d+%N|-?\d+|\w+|<=|:>|/\\|[()#+\-*/<=~])")


def read_back(parsed: Parsed) -> Any:
    """What the written theorem says: the matrices, and the comparisons as trees."""
    text = parsed.statement
    if not text.startswith("(R : realFieldType)"):
        return None
    text = text.removeprefix("(R : realFieldType)")
    natural = text.startswith(" (exp : R -> R)")
    text = text.removeprefix(" (exp : R -> R)")
    matrices: dict[str, Rows] = {}
    while match := _BINDER.match(text):
        name, p, q = match[1], int(match[2]), int(match[3])
        if match[4] != name or match[5] != name:
            return None
        rows: Any = parsed.data.get(f"{name}_rows")
        den: Any = parsed.data.get(f"{name}_den")
        if rows is None or den is None or len(rows) != p or any(len(row) != q for row in rows):
            return None
        matrices[name] = numbers.over(den, rows)
        text = text[match.end() :]
    names = {f"{n}_{part}" for n in matrices for part in ("den", "rows")}
    objects: dict[str, Any] = {}
    if layer := _LAYER.match(text):
        sizes = [int(x) for x in layer.groups()[1:]]
        weights = {*"EUQKVO", *(f"d{x}" for x in "EUQKVO")}
        if not weights <= set(parsed.data):
            return None
        objects[layer[1]] = memorization.layer_back(sizes, parsed.data)
        text = text[layer.end() :]
        names |= weights
        for name in set(parsed.data) - names:
            facts: Any = parsed.data[name]
            if any(not 0 <= x < sizes[0] for fact in facts for x in fact):
                return None
            objects[name] = list(facts)
        names |= set(objects) - {layer[1]}
    if set(parsed.data) != names:
        return None
    head = " : " + "natural_exponential exp -> " * natural
    if not text.startswith(head):
        return None
    words = _WORD.findall(text.removeprefix(head))
    if "".join(words) != "".join(text.removeprefix(head).split()):
        return None
    trees, at = [], 0
    while at < len(words):
        tree, at = _term(words, at)
        trees.append(tree)
        if at < len(words) and words[at] != "/\\":
            return None
        at += 1
    if not trees or trees[-1][0] != "~" or any(tree[0] == "~" for tree in trees[:-1]):
        return None
    return matrices, objects, trees[:-1], trees[-1][1]


def _term(words: Sequence[str], at: int) -> tuple[Tree, int]:
    word = words[at]
    if word.endswith("%:R"):
        return Fraction(int(word.removesuffix("%:R"))), at + 1
    if word.endswith("%N"):
        return Fraction(int(word.removesuffix("%N"))), at + 1
    if word != "(":
        return word, at + 1
    at += 1
    parts: list[Tree] = []
    if words[at : at + 3] == ["qr", "R", "("]:
        if words[at + 4] != "#" or words[at + 6 : at + 8] != [")", ")"]:
            raise LemmaxError("A rational number of a Coq file is not closed.")
        return Fraction(int(words[at + 3]), int(words[at + 5])), at + 8
    while words[at] != ")":
        part, at = _term(words, at)
        parts.append(part)
    at += 1
    if parts[-2:] == [":>", "R"]:
        parts = parts[:-2]
    if len(parts) == 3 and parts[1] in ("+", "-", "*", "/", "<=", "<", "="):
        return (parts[1], parts[0], parts[2]), at
    if parts[0] == "threshold" and parts[1] == "exp":
        return ("threshold", *parts[2:]), at
    if parts[0] in FACT_WORDS and parts[1] == "R":
        return (parts[0], *parts[2:]), at
    if parts[0] == "memorizes_at" and parts[1] == "exp":
        database = parts[4]
        if database[0] != "facts_db" or len(set(database[1:4])) != 1:
            raise LemmaxError("A database of a Coq file has different sizes.")
        return ("memorizes_at", parts[2], database[4], parts[3]), at
    if parts[0] == "entry_at":
        return ("entry", *parts[1:]), at
    return tuple(parts), at


def meant(certificate: Mapping[str, Any]) -> Any:
    """The same of the certificate; indices and thresholds as numbers."""
    values = instance_of(certificate)
    hypotheses, conclusion = trees_of(certificate, values)
    matrices = {name: value for name, value in values.items() if _is_matrix(value)}
    objects = {
        name: value.weights if isinstance(value, LayerData) else value
        for name, value in values.items()
        if not isinstance(value, Fraction) and name not in matrices
    }
    plain = [_numbered(tree, matrices) for tree in (*hypotheses, conclusion)]
    return matrices, objects, plain[:-1], plain[-1]


def _numbered(tree: Tree, matrices: Mapping[str, Rows]) -> Tree:
    """The tree with the indices of entries, and thresholds, computed from numbers and sizes."""
    if not isinstance(tree, tuple):
        return tree
    word, *arguments = tree
    arguments = [_numbered(x, matrices) for x in arguments]
    if word == "entry":
        return word, arguments[0], *(_number(x, matrices) for x in arguments[1:])
    if word == "threshold":
        return word, arguments[0], _number(arguments[1], matrices)
    if word == "memorizes_at":
        return word, *arguments[:2], _number(arguments[2], matrices)
    return word, *arguments


def _number(tree: Tree, matrices: Mapping[str, Rows]) -> Fraction:
    if isinstance(tree, Fraction):
        return tree
    word, *arguments = tree
    if word == "rows":
        return Fraction(len(matrices[arguments[0]]))
    if word == "columns":
        return Fraction(len(matrices[arguments[0]][0]))
    a, b = (_number(x, matrices) for x in arguments)
    return {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else a}[word]
