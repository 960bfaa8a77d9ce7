"""The words about tensors, and about layers and contexts where they are tensors or matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from lemmax.checker.reading import Tensor
from lemmax.theory.proving import literals, numbers
from lemmax.theory.proving.kinds import multi_head, tensor_rank
from lemmax.theory.proving.numbers import Rows
from lemmax.theory.proving.statements.matrix_words import ranked
from lemmax.theory.proving.statements.objects import Thing, weights
from lemmax.theory.proving.statements.trees import Tree
from lemmax.theory.proving.statements.writer import (
    MATRICES,
    PRECISION,
    SCALARS,
    TENSORS,
    VM,
    Node,
    Writer,
    pair,
)
from lemmax.theory.proving.theorem import NotTranslated

Cube = list[list[list[int]]]


def _shape(X: Node) -> str:
    return f"{' '.join(X.sizes)} ({X.term})"


# --- facts --------------------------------------------------------------------------------------

FACT_TERMS = {
    "keys": "(size (undup [seq f.1.1 | f <- {}]))",
    "queries": "(size (undup [seq f.1.2 | f <- {}]))",
    "values": "(size (undup [seq f.2 | f <- {}]))",
    "fact_count": "(size (undup {}))",
    "slices_rank_sum": "(minn (size (undup [seq (f.1.1, f.2) | f <- {0}])) "
    "(size (undup [seq (f.1.2, f.2) | f <- {0}])))",
}


def _fact_word(name: str) -> Any:
    def word(writer: Writer, tree: Tree) -> Node:
        D = writer.facts(tree)
        step = writer.lemma(f"{name}_wordE", D)
        return Node(f"({name} R {D})", f"nat_real {FACT_TERMS[name].format(D)}", None, (step,))

    return word


def fact_sizes(D: str) -> tuple[str, ...]:
    return f"(nkeys {D})", f"(nqueries {D})", f"(nvalues {D})"


def _table(writer: Writer, tree: Tree) -> Node:
    D = writer.facts(tree)
    step = writer.lemma("table_tensor_wordE", D)
    return Node(f"(table_tensor R {D})", f"fact_table {D}", None, (step,), fact_sizes(D))


# --- layers -------------------------------------------------------------------------------------

LAYER_WORDS = ("tokens", "heads", "d_model", "d_qk", "d_vo")


def _layer_size(name: str) -> Any:
    def word(writer: Writer, tree: Tree) -> Node:
        L = writer.named(tree)
        value = L.sizes[LAYER_WORDS.index(name)]
        step = writer.lemma(f"{name}_wordE", f"{_sizes(L)} {L.name}")
        return Node(f"({name} {L.name})", f"nat_real {value}%N", None, (step,))

    return word


def _sizes(L: Thing) -> str:
    return " ".join(f"{n}%N" for n in L.sizes)


def layer_arguments(L: Thing, D: str) -> str:
    """The arguments of the lemmas about a layer and facts: n counts from 0."""
    n, *rest = L.sizes
    return f"{n - 1}%N {' '.join(f'{x}%N' for x in rest)} {weights(L.name)} {D} {VM}"


def _layer_tensor(word: str, masked: bool) -> Any:
    def tensor(writer: Writer, layer: Tree, facts: Tree) -> Node:
        L, D = writer.named(layer), writer.facts(facts)
        step = writer.real(f"{word}_wordE", layer_arguments(L, D))
        n, *rest = L.sizes
        sizes = f"{n - 1}%N {' '.join(f'{x}%N' for x in rest)}"
        flag = "true" if masked else "false"
        term = f"layer_table {writer.mode} {sizes} {weights(L.name)} {D} {flag}"
        return Node(f"({word} exp {L.name} {D})", term, None, (step,), fact_sizes(D))

    return tensor


# --- tensors ------------------------------------------------------------------------------------


def _argmax(writer: Writer, tree: Tree) -> Node:
    X = writer.tensor(tree)
    step = writer.decided("argmax_tensor_wordE", f"{_shape(X)} {VM}")
    _, b, c = X.sizes
    term = f"rargmax_tensor {writer.mode} {PRECISION} {b} {c} ({X.term})"
    return Node(f"(argmax_tensor {X.coq})", term, None, (*X.steps, step), X.sizes)


def _threshold(writer: Writer, tree: Tree, tau: Fraction) -> Node:
    X = writer.tensor(tree)
    step = writer.decided("threshold_tensor_wordE", f"{_shape(X)} {pair(tau)} {VM}")
    _, b, c = X.sizes
    term = f"rthreshold_tensor {writer.mode} {PRECISION} {b} {c} ({X.term}) {pair(tau)}"
    coq = f"(threshold_tensor exp {X.coq} (qr R {pair(tau)}))"
    return Node(coq, term, None, (*X.steps, step), X.sizes)


def _mode_product(writer: Writer, left: Tree, right: Tree) -> Node:
    A, B = writer.tensor(left), writer.tensor(right)
    a, b, s = A.sizes
    c = B.sizes[2]
    step = writer.lemma("mode_product_wordE", f"{a} {b} {c} {s} ({A.term}) ({B.term})")
    term = f"rmode_product {a} {b} {c} {s} ({A.term}) ({B.term})"
    coq = f"(mode_product {A.coq} {B.coq})"
    return Node(coq, term, None, (*A.steps, *B.steps, step), (a, b, c))


def _size(word: str, place: int) -> Any:
    def size(writer: Writer, tree: Tree) -> Node:
        X = writer.tensor(tree)
        step = writer.lemma(f"{word}_wordE", _shape(X))
        return Node(f"({word} {X.coq})", f"nat_real {X.sizes[place]}", None, (*X.steps, step))

    return size


def whole(T: Tensor) -> Cube:
    """The integers of a rational tensor, over its least common denominator."""
    _, rows = numbers.cleared([row for M in T for row in M])
    flat = iter(rows)
    return [[next(flat) for _ in M] for M in T]


def _swapped(T: Cube) -> Cube:
    return [[list(M[q]) for M in T] for q in range(len(T[0]))]


def _flattening(writer: Writer, tree: Tree, mode: Fraction) -> Node:
    X = writer.tensor(tree)
    T = whole(writer.table(tree))
    T = _swapped(T) if mode == 1 else tensor_rank.rotated(T) if mode == 2 else T
    r, minor = tensor_rank.flattening(T)
    above = "1%bZ [::] [::]"
    if r < len(T):
        flat = [[Fraction(x) for row in part for x in row] for part in T]
        left, right = numbers.factors(flat)
        d, scaled = numbers.cleared(left)
        c = len(T[0][0])
        slices = [
            [[int(x) for x in row[i : i + c]] for i in range(0, len(row), c)] for row in right
        ]
        above = f"{d}%bZ ({literals.write(scaled)}%bZ) ({literals.write(slices)}%bZ)"
    arguments = f"{_shape(X)} {mode}%N {r}%N {minor} {above} {VM}"
    step = writer.lemma("flattening_rank_wordE", arguments)
    coq = f"(flattening_rank {X.coq} {mode}%N)"
    return Node(coq, f"nat_real {r}%N", None, (*X.steps, step))


def _hints(matrices: Sequence[Any]) -> str:
    """What shows the rank of each of several matrices."""
    parts = []
    for rows in matrices:
        r, proof = ranked(rows)
        p, rest = proof.split(" ", 1)
        parts.append((r, p, rest))
    return "[:: " + "; ".join(f"mk_hint {r}%N {p} {rest}" for r, p, rest in parts) + "]"


def _slice_rank_sum(writer: Writer, tree: Tree, mode: Fraction) -> Node:
    X, T = writer.tensor(tree), writer.table(tree)
    if mode == 2:
        raise NotTranslated("Ranks of slices of the third mode have no translation into Coq.")
    parts = list(T) if mode == 0 else [[M[q] for M in T] for q in range(len(T[0]))]
    hints = _hints(parts)
    total = sum(ranked(M)[0] for M in parts)
    step = writer.lemma("slice_rank_sum_wordE", f"{_shape(X)} {mode}%N {hints} {VM}")
    coq = f"(slice_rank_sum {X.coq} {mode}%N)"
    return Node(
        coq, f"nat_real (sumn [seq hint_rank h | h <- {hints}])", Fraction(total), (*X.steps, step)
    )


def _max_stacked(writer: Writer, matrix: Tree, tree: Tree) -> Node:
    B, X = writer.matrix(matrix), writer.tensor(tree)
    rows, T = writer.table(matrix), writer.table(tree)
    hints = _hints([[*rows, *M] for M in T])
    sizes = f"{B.sizes[0]} {' '.join(X.sizes)}"
    step = writer.lemma("max_stacked_rank_wordE", f"{sizes} ({B.term}) ({X.term}) {hints} {VM}")
    term = f"nat_real (foldr maxn 0%N [seq hint_rank h | h <- {hints}])"
    coq = f"(max_stacked_rank {B.coq} {X.coq})"
    return Node(coq, term, None, (*B.steps, *X.steps, step))


def _rank(writer: Writer, tree: Tree) -> Node:
    """The rank stands as a variable r with ``rank_is (entries X) r``."""
    X, T = writer.tensor(tree), writer.table(tree)
    r = int(writer.sent.number(("tensor_rank", tree)))
    sizes = " ".join(X.sizes)
    if r == 0:
        call = writer.lemma("zero_rank_wordE", _shape(X))
    else:
        arguments = rank_arguments(T, r, writer.sent.evidence)
        call = writer.lemma("tensor_rank_wordE", f"{sizes} {r}%N ({X.term}) {arguments}")
    proof = f"{writer.rewriting(X.steps)}apply: {call}; vm_cast_no_check (erefl true)"
    return writer.unknown(("tensor_rank", tree), f"(rank_is (entries {X.coq}) {{}})", proof, r)


def rank_arguments(T: Tensor, r: int, evidence: Sequence[Mapping[str, Any]]) -> str:
    """What shows that a rational tensor has rank r: steps from below, and terms.

    From below evidence, or a flattening; from above evidence, or the slices of a mode.
    """
    cube, d = whole(T), numbers.cleared([row for M in T for row in M])[0]
    steps: Any = None
    terms: Any = None
    for item in evidence:
        if item["kind"] == "tensor-rank" and item["lower"] == item["upper"] == r:
            entries = tensor_rank.entries_of(item)
            known = tensor_rank.cube(item["tensor"]["shape"], entries, d)
            if known == cube and not item["families"] and "ball" not in item:
                steps = item["proof"]
                terms = [[[numbers.number(x) for x in part] for part in t] for t in item["terms"]]
    if steps is None:
        modes = {m: tensor_rank.flattening(tensor_rank.turned(cube, m))[0] for m in range(3)}
        mode = next((m for m, turns in ((0, 0), (2, 1), (1, 2)) if modes[turns] == r), None)
        if mode is None:
            raise NotTranslated("A rank is not that of a flattening, and no evidence shows it.")
        steps = [{"lemma": "flattening", "mode": mode}]
    if terms is None:
        terms = _by_slices(T, r)
    scale, listed = tensor_rank.integral(terms)
    lower = tensor_rank.lower(cube, steps)
    return f"({lower}) {scale}%bZ ({literals.write(listed)}%bZ)"


def _by_slices(T: Tensor, r: int) -> list[list[list[Fraction]]]:
    """r terms: as many as the ranks of the differences along a tree of the slices of a mode.

    Every slice hangs on another one, or on zero, and T is the sum of the differences, each times
    the slices below it.
    """
    a, b, c = len(T), len(T[0]), len(T[0][0])
    for mode, slices in enumerate(
        (
            [[list(row) for row in M] for M in T],
            [[list(M[q]) for M in T] for q in range(b)],
            [[[row[v] for row in M] for M in T] for v in range(c)],
        )
    ):
        terms = []
        for difference, below in _tree(slices):
            vector = [Fraction(j in below) for j in range((a, b, c)[mode])]
            left, right = numbers.factors(difference)
            for s, line in enumerate(right):
                parts = [[row[s] for row in left], list(line)]
                parts.insert(mode, vector)
                terms.append(parts)
        if len(terms) == r:
            return terms
    raise NotTranslated("A rank is not that of a tree of slices, and no evidence shows it.")


def _tree(slices: list[Rows]) -> list[tuple[Rows, set[int]]]:
    """The differences that are not zero along a cheapest tree, and what hangs on each."""

    def minus(A: Rows, B: Rows) -> Rows:
        return [[x - y for x, y in zip(p, q, strict=True)] for p, q in zip(A, B, strict=True)]

    def cost(A: Rows) -> int:
        return len(numbers.pivots(A)[0])

    parent = dict.fromkeys(range(len(slices)), -1)
    gaps = dict(enumerate(slices))
    left, order = set(parent), []
    while left:
        i = min(left, key=lambda j: (cost(gaps[j]), j))
        left.remove(i)
        order.append(i)
        for j in left:
            gap = minus(slices[j], slices[i])
            if cost(gap) < cost(gaps[j]):
                parent[j], gaps[j] = i, gap
    below = {i: {i} for i in order}
    for i in reversed(order):
        if parent[i] >= 0:
            below[parent[i]] |= below[i]
    return [(gaps[i], below[i]) for i in order if cost(gaps[i])]


# --- contexts -----------------------------------------------------------------------------------

CONTEXT_WORDS = {
    "examples": 0,
    "context_length": 2,
    "head_count": 3,
    "dimension": 4,
    "head_dimension": 5,
}
CONTEXT_DATA = ("C_den", "e_den", "K_den", "Q_den", "C_rows", "which", "e_rows", "K_rows", "Q_rows")


def context_arguments(A: Thing) -> str:
    """The sizes and the data of contexts."""
    return f"{_sizes(A)} {' '.join(f'{A.name}_{part}' for part in CONTEXT_DATA)}"


def _context_size(name: str) -> Any:
    def word(writer: Writer, tree: Tree) -> Node:
        A = writer.named(tree)
        step = writer.lemma(f"{name}_wordE", context_arguments(A))
        value = f"nat_real {A.sizes[CONTEXT_WORDS[name]]}%N"
        return Node(f"({name} {A.name})", value, None, (step,))

    return word


def _least_context_rank(writer: Writer, tree: Tree) -> Node:
    A = writer.named(tree)
    contexts = A.said[1]
    hints = _hints(contexts)
    step = writer.lemma("least_context_rank_wordE", f"{context_arguments(A)} {hints} {VM}")
    term = f"nat_real (foldr minn {A.sizes[2]}%N [seq hint_rank h | h <- {hints}])"
    return Node(f"(least_context_rank {A.name})", term, None, (step,))


def _feature_rank(writer: Writer, tree: Tree) -> Node:
    A = writer.named(tree)
    data = writer.sent.instance[A.name]["multi-head"]
    T = A.sizes[0]
    r = writer.sent.number(("feature_rank", tree))
    if A.unit != "1" or r != T:
        raise NotTranslated("Its feature rank is not the number of its examples.")
    arguments = multi_head.rank_arguments(data, T)
    step = writer.real("feature_rank_wordE", f"{context_arguments(A)} {arguments} {VM}")
    return Node(f"(feature_rank exp {A.name})", f"nat_real {T}%N", None, (step,))


def _query_matrix(writer: Writer, tree: Tree) -> Node:
    A = writer.named(tree)
    step = writer.lemma("query_matrix_wordE", context_arguments(A))
    sizes = (f"{A.sizes[0]}%N", f"{A.sizes[4]}%N")
    term = f"of_ints {A.name}_e_den {A.name}_e_rows"
    return Node(f"(query_matrix {A.name})", term, None, (step,), sizes)


def _all_tokens(writer: Writer, tree: Tree) -> Node:
    A = writer.named(tree)
    T, c, n, _, d, _ = A.sizes
    step = writer.lemma("all_tokens_wordE", context_arguments(A))
    parts = " ".join(f"{A.name}_{part}" for part in ("C_den", "e_den", "C_rows", "e_rows"))
    term = f"rall_tokens {T}%N {c}%N {n}%N {d}%N {parts}"
    sizes = (f"({c}.+1 * {n} + {T})%N", f"{d}%N")
    return Node(f"(all_tokens {A.name})", term, None, (step,), sizes)


def _count(writer: Writer, tree: Tree) -> Node:
    a = writer.named(tree).name
    step = writer.lemma("association_count_wordE", a)
    return Node(f"(association_count R {a})", f"nat_real (size (undup {a}))", None, (step,))


SCALARS["count"] = _count
SCALARS |= {name: _fact_word(name) for name in ("keys", "queries", "values", "slices_rank_sum")}
SCALARS["size"] = _fact_word("fact_count")
SCALARS |= {name: _layer_size(name) for name in LAYER_WORDS}
SCALARS |= {name: _context_size(name) for name in CONTEXT_WORDS}
SCALARS |= {
    "tensor_rank": _rank,
    "flattening_rank": _flattening,
    "slice_rank_sum": _slice_rank_sum,
    "max_stacked_rank": _max_stacked,
    "slices": _size("slices", 0),
    "slice_rows": _size("slice_rows", 1),
    "slice_columns": _size("slice_columns", 2),
    "least_context_rank": _least_context_rank,
    "feature_rank": _feature_rank,
}
MATRICES |= {"query_matrix": _query_matrix, "all_tokens": _all_tokens}
TENSORS |= {
    "tensor": _table,
    "layer_tensor": _layer_tensor("layer_tensor", True),
    "logits_tensor": _layer_tensor("logits_tensor", False),
    "unmasked_tensor": _layer_tensor("unmasked_tensor", False),
    "argmax_tensor": _argmax,
    "threshold_tensor": _threshold,
    "mode_product": _mode_product,
}
