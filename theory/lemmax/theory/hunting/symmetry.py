"""Symmetries that no word of a statement sees: what is listed need not be listed twice.

``lines``: a matrix or a tensor may be permuted along each of its axes. ``slices``: the slices of a
tensor may be permuted. ``names``: the tokens of sequences and targets may be renamed, and the
sequences permuted. That the words below see none of it is tested on drawn instances.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Literal, TypeAlias

from lemmax.theory.hunting.question import Question

Symmetry: TypeAlias = Literal["lines", "slices", "names"]

# Words of one matrix that row and column permutations leave as they are, or carry along.
_MATRIX = {
    *("rank", "max_entry", "min_entry", "max_abs", "entry_sum", "rows", "columns", "row_gap"),
    *("argmax", "threshold", "above", "softmax", "most_distinct", "positive_entries"),
    *("min", "max", "log", "log_odds", "iff", "implies", "row_rays", "distinct_rows", "unit_rows"),
    *("gram", "softmax_rank"),
}
# Words of one tensor that permutations along its axes leave as they are; the ranks of its slices
# are in the order of the slices, which only a sum or a maximum forgets.
_TENSOR = {
    *("tensor_rank", "flattening_rank", "max_slice_rank", "spanning_tree", "slices", "slice_rows"),
    *("slice_columns", "slice_ranks", "sum", "largest", "min", "max", "rank", "rows", "columns"),
}
_SLICES = {"join", "max_stacked_rank"}  # another object beside the tensor: its slices stay alike
_NAMES = {"count", "length", "parity", "last_tokens", "sequences", "constant", "min", "max"}


def symmetries(question: Question) -> Mapping[str, Symmetry]:
    """What may be done with the things that are given, by name; what is not there must not move.

    >>> symmetries(Question("given T: tensor, n: integer; conclude tensor_rank(T) <= n"))
    {'T': 'lines'}
    >>> symmetries(Question("given a: associations, H: integer; conclude not parity(a, H)"))
    {'a': 'names'}
    >>> symmetries(Question("given M: matrix; conclude entry(M, 0, 0) <= 9"))
    {}
    """
    found: dict[str, Symmetry] = {}
    for name, sort in question.given.items():
        if sort == "matrix" and _permutable(question):
            found[name] = "lines"
        elif sort == "tensor" and question.words <= _TENSOR | _SLICES and _forgotten(question):
            found[name] = "slices" if question.words & _SLICES else "lines"
        elif sort in ("associations", "sequences") and question.words <= _NAMES:
            found[name] = "names"
    return found


def _permutable(question: Question) -> bool:
    """Whether rows and columns of the one given matrix may be permuted.

    A Gram matrix is permuted by rows alone, so it must not be added to another matrix.
    """
    nodes = [node for tree in question.trees for node in ast.walk(tree)]
    written = any(isinstance(node, ast.List) for node in nodes)
    one = list(question.given.values()).count("matrix") == 1
    added = any(
        isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) for node in nodes
    )
    mixed = "gram" in question.words and added
    return one and not written and not mixed and question.words <= _MATRIX


def _forgotten(question: Question) -> bool:
    """Whether the order of the ranks of slices is seen nowhere."""
    nodes = [node for tree in question.trees for node in ast.walk(tree)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    ranks = {id(node) for node in calls if ast.unparse(node.func) == "slice_ranks"}
    inside = {
        id(x) for node in calls if ast.unparse(node.func) in ("sum", "largest") for x in node.args
    }
    return ranks <= inside


def in_order(lines: Sequence[Any]) -> bool:
    """Whether they do not decrease.

    >>> in_order([(0, 1), (0, 1), (1, 0)])
    True
    """
    return all(a <= b for a, b in pairwise(lines))


def least_tensor(slices: Sequence[Sequence[Sequence[Any]]], symmetry: Symmetry | None) -> bool:
    """Whether a tensor is to be listed: of all that symmetry makes of one, the least is.

    Were two neighbours along an axis in the wrong order, exchanging them would make it less.

    >>> least_tensor([[[0, 1]], [[1, 0]]], "lines"), least_tensor([[[1, 0]], [[0, 1]]], "slices")
    (True, False)
    """
    if symmetry is None:
        return True
    if not in_order(slices):
        return False
    if symmetry == "slices":
        return True
    rows = [[M[i] for M in slices] for i in range(len(slices[0]))]
    columns = zip(*chain.from_iterable(slices), strict=True)
    return in_order(rows) and in_order(list(columns))


def least_names(tokens: Sequence[int]) -> bool:
    """Whether no renaming makes the numbers of tokens smaller: 0 is the most frequent, then 1.

    >>> least_names([0, 1, 0]), least_names([0, 1, 1]), least_names([0, 2])
    (True, False, False)
    """
    times = Counter(tokens)
    return in_order([-times[i] for i in range(max(times) + 1)])
