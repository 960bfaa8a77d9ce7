"""The words about matrices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lemmax.theory.proving import literals, numbers
from lemmax.theory.proving.kinds.kruskal import kruskal_arguments
from lemmax.theory.proving.kinds.matrix_rank import rank_proof
from lemmax.theory.proving.statements.trees import Tree
from lemmax.theory.proving.statements.writer import (
    MATRICES,
    PRECISION,
    SCALARS,
    VM,
    Node,
    Writer,
    pair,
)


def ranked(rows: Sequence[Sequence[Fraction]]) -> tuple[int, str]:
    """The rank of a rational matrix, and the arguments that show it."""
    table = [list(row) for row in rows]
    _, whole = numbers.cleared(table)
    r = len(numbers.pivots(table)[0])
    return r, rank_proof(whole, r, r in (len(table), len(table[0])))


def _shape(M: Node) -> str:
    return f"{' '.join(M.sizes)} ({M.term})"


def _rank(writer: Writer, tree: Tree) -> Node:
    M = writer.matrix(tree)
    r, proof = ranked(writer.table(tree))
    step = writer.lemma("rank_wordE", f"{' '.join(M.sizes)} {r}%N ({M.term}) {proof} {VM}")
    return Node(f"(rank {M.coq})", f"nat_real {r}%N", None, (*M.steps, step))


def _size(writer: Writer, tree: Tree, word: str, place: int) -> Node:
    M = writer.matrix(tree)
    step = writer.lemma(f"{word}_wordE", _shape(M))
    return Node(f"({word} {M.coq})", f"nat_real {M.sizes[place]}", None, (*M.steps, step))


def _entry(writer: Writer, tree: Tree, i: Fraction, j: Fraction) -> Node:
    M = writer.matrix(tree)
    step = writer.lemma("entry_wordE", f"{_shape(M)} {i}%N {j}%N {VM}")
    coq = f"(entry_at {M.coq} {i}%N {j}%N)"
    return Node(coq, f"at_ ({M.term}) {i}%N {j}%N", None, (*M.steps, step))


def _extreme_entry(writer: Writer, tree: Tree, word: str) -> Node:
    M, rows = writer.matrix(tree), writer.table(tree)
    best = max if word == "max_entry" else min
    value = best(x for row in rows for x in row)
    i = next(i for i, row in enumerate(rows) if value in row)
    j = list(rows[i]).index(value)
    step = writer.decided(f"{word}_wordE", f"{_shape(M)} {i}%N {j}%N {VM}")
    return Node(f"({word} {M.coq})", f"at_ ({M.term}) {i}%N {j}%N", None, (*M.steps, step))


def _sum(writer: Writer, tree: Tree) -> Node:
    M = writer.matrix(tree)
    p, q = M.sizes
    step = writer.lemma("sum_wordE", _shape(M))
    term = f"ssum {p} (fun i => ssum {q} (fun j => at_ ({M.term}) i j))"
    return Node(f"(entry_sum {M.coq})", term, None, (*M.steps, step))


def _kruskal(writer: Writer, tree: Tree) -> Node:
    """The Kruskal rank stands as a variable k with ``kruskal_is M k``."""
    M = writer.matrix(tree)
    rows = [list(row) for row in writer.table(tree)]
    k = int(writer.sent.number(("kruskal_rank", tree)))
    arguments = kruskal_arguments(rows, k)
    sizes = " ".join(M.sizes)
    call = writer.lemma("kruskal_wordE", f"{arguments[0]} {sizes} {k}%N ({M.term}) {arguments[1]}")
    proof = f"{writer.rewriting(M.steps)}apply: {call}; vm_cast_no_check (erefl true)"
    return writer.unknown(("kruskal_rank", tree), f"(kruskal_is {M.coq} {{}})", proof, k)


def _transpose(writer: Writer, tree: Tree) -> Node:
    M = writer.matrix(tree)
    step = writer.lemma("transpose_wordE", _shape(M))
    return Node(
        f"(transpose {M.coq})", f"rtr {_shape(M)}", None, (*M.steps, step), (M.sizes[1], M.sizes[0])
    )


def _gram(writer: Writer, tree: Tree) -> Node:
    M = writer.matrix(tree)
    p, q = M.sizes
    step = writer.lemma("gram_wordE", _shape(M))
    term = f"rmul {p} {q} {p} ({M.term}) (rtr {_shape(M)})"
    return Node(f"(gram {M.coq})", term, None, (*M.steps, step), (p, p))


def _product(writer: Writer, left: Tree, right: Tree) -> Node:
    M, N = writer.matrix(left), writer.matrix(right)
    sizes = f"{' '.join(M.sizes)} {N.sizes[1]}"
    step = writer.lemma("product_wordE", f"{sizes} ({M.term}) ({N.term})")
    return Node(
        f"(product {M.coq} {N.coq})",
        f"rmul {sizes} ({M.term}) ({N.term})",
        None,
        (*M.steps, *N.steps, step),
        (M.sizes[0], N.sizes[1]),
    )


def _argmax(writer: Writer, tree: Tree) -> Node:
    M = writer.matrix(tree)
    step = writer.decided("rargmaxE", f"{_shape(M)} {VM}")
    term = f"rargmax {writer.mode} {PRECISION} {_shape(M)}"
    return Node(f"(argmax {M.coq})", term, None, (*M.steps, step), M.sizes)


def _threshold(writer: Writer, tree: Tree, tau: Fraction) -> Node:
    M = writer.matrix(tree)
    step = writer.decided("rthresholdE", f"{_shape(M)} {pair(tau)} {VM}")
    term = f"rthreshold {writer.mode} {PRECISION} {_shape(M)} {pair(tau)}"
    coq = f"(threshold exp {M.coq} (qr R {pair(tau)}))"
    return Node(coq, term, None, (*M.steps, step), M.sizes)


def _covering(writer: Writer, tree: Tree, level: Fraction) -> Node:
    """How few entries of the first row exceed a level: the order of its entries is named."""
    M, row = writer.matrix(tree), writer.table(tree)[0]
    order = sorted(range(len(row)), key=lambda j: (-row[j], j))
    r = int(writer.sent.number(("covering", tree, level))) - 1
    arguments = f"{_shape(M)} {pair(level)} ({literals.write(order)}%N) {r}%N {VM}"
    step = writer.decided("covering_wordE", arguments)
    coq = f"(covering {M.coq} (qr R {pair(level)}))"
    return Node(coq, f"nat_real {r + 1}%N", None, (*M.steps, step))


SCALARS |= {
    "rank": _rank,
    "covering": _covering,
    "rows": lambda writer, M: _size(writer, M, "rows", 0),
    "columns": lambda writer, M: _size(writer, M, "columns", 1),
    "entry": _entry,
    "max_entry": lambda writer, M: _extreme_entry(writer, M, "max_entry"),
    "min_entry": lambda writer, M: _extreme_entry(writer, M, "min_entry"),
    "entry_sum": _sum,
    "kruskal_rank": _kruskal,
}
MATRICES |= {
    "transpose": _transpose,
    "gram": _gram,
    "product": _product,
    "argmax": _argmax,
    "threshold": _threshold,
}
