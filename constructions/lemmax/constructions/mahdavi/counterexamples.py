r"""Small exact counterexamples to statements about multi-head attention on contexts and queries.

Each function returns an object that the independent checker can judge: a ``refutation`` with the
claim's own statement, or a layer with its certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from flint import fmpq

from lemmax.constructions.refuting import refute
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.mahdavi.layer import ContextHead, MultiHead, multi_head
from lemmax.theory.numbers.matrices import Matrix


def vandermonde_head() -> MultiHead:
    """Three multiples of one query, one head of dimension one, rank Z = 3.

    Row t of the attention is proportional to (1, z^t, z^2t). The Kruskal rank of the queries is 1
    and so is d_h: neither limits the rank.

    >>> vandermonde_head().feature_rank().rank
    3
    """
    head = ContextHead(Matrix([[0], [1], [2]]), Matrix([[1], [0], [0]]))
    return multi_head(Matrix.identity(3), [[1, 0, 0], [2, 0, 0], [3, 0, 0]], [head])


def kruskal_weakening_not_tight() -> Certificate:
    """Kruskal rank 1 < n = 3 and yet rank Z = 3 > H(1 - 1) + 1."""
    return refute("mahdavi/kruskal-weakening-tight", A=vandermonde_head())


def head_dimension_no_limit() -> Certificate:
    """Two tokens, two queries, d_h = 1 and yet rank Z = 2 > H(1 - 1) + 1."""
    first = Matrix([[1], [0]])
    layer = multi_head(Matrix.identity(2), [[0, 0], [1, 0]], [ContextHead(first, first)])
    return refute("mahdavi/head-dimension-rank", A=layer)


def one_dimensional_head() -> Certificate:
    """Assumptions 1 and 2 at n = T = 2, H = 1: memorized by a head of dimension 1 < n."""
    first = Matrix([[1], [0]])
    layer = multi_head(Matrix.identity(2), Matrix.identity(2), [ContextHead(first, first)])
    return refute("mahdavi/theorem-1-parameters", A=layer)


def long_context() -> MultiHead:
    """n = 3 tokens in d = 2, in general position with the queries; two heads reach rank 4 = Hd."""
    heads = [
        ContextHead(Matrix([[1], [0]]), Matrix([[1], [0]])),
        ContextHead(Matrix([[1], [3]]), Matrix([[0], [1]])),
    ]
    queries = [[1, 2], [1, 3], [2, 1], [3, 1]]
    return multi_head([[1, 0], [0, 1], [1, 1]], queries, heads)


def general_position_exceeded() -> Certificate:
    """Two heads on n = 2 tokens in d = 1, no number zero: rank Z = 2 > H(d - 1) + 1 = 1."""
    one, zero = Matrix([[1]]), Matrix([[0]])
    heads = [ContextHead(one, one), ContextHead(zero, zero)]
    layer = multi_head([[1], [2]], [[1], [-1]], heads)
    return refute("mahdavi/general-position-limit", A=layer)


def tied_scores() -> Certificate:
    """(0, 0, -1) is not constant, and softmax(0, 0, -c) tends to (1/2, 1/2, 0)."""
    return refute("mahdavi/one-hot", a=Matrix([[0, 0, -1]]))


def tied_saturation() -> Certificate:
    """A context of full rank whose two best tokens share the attention at every scale."""
    W = Matrix([[0, 0, 0], [0, 0, 0], [-1, 0, 0]])
    return refute("mahdavi/saturation-lemma", E=Matrix.identity(3), W=W, e=Matrix([[1], [0], [0]]))


def similar_tokens() -> Certificate:
    """Tokens at distance 10⁻⁶ with more than 0.99 of the attention on one of them."""
    E = Matrix([[fmpq(1), fmpq(0)], [fmpq(1), fmpq(1, 10**6)]])
    return refute("mahdavi/similar-contexts", E=E, v=Matrix([[0], [10**7]]), i=0, j=1)


def cancelling_token() -> Certificate:
    """One token x = -p_0 at position 0: X + P = 0."""
    return refute("mahdavi/encoding-makes-contexts-full-rank", X=Matrix([[0, -1]]))


def parallel_pair() -> Certificate:
    """15 vectors of the plane, two of them parallel: 104 of 105 pairs are independent."""
    short = [[1, 0], [0, 1], [1, 1], [1, -1], [1, 2], [2, 1], [1, -2], [2, -1]]
    long: list[list[Any]] = [[1, 3], [3, 1], [1, -3], [3, -1], [2, fmpq(1, 2)], [2, fmpq(-1, 2)]]
    return refute("mahdavi/approximate-kruskal", M=Matrix([[1, 0], *short, *long]), k=2)


def two_token_memorizer(labels: Sequence[int]) -> MultiHead:
    r"""One head of dimension one on two tokens that outputs d labels ±1 on d queries, exactly.

    Queries are the unit vectors of dimension d >= 2, the shared context is their first two. In
    units of ln 2 the logit difference is the label ±1, so the attention is (2/3, 1/3) or (1/3, 2/3)
    and with values 3 and -3 the output is the label. Real labels: replace ln 2 · (±1) by
    :math:`\log\frac{R+y}{R-y}` and the values by ±R.

    >>> [float(x.mid()) for x in two_token_memorizer([1, -1, 1]).outputs().entries()]
    [1.0, -1.0, 1.0]
    """
    d = len(labels)
    if d < 2 or any(y not in (1, -1) for y in labels):
        raise LemmaxError("Give at least two labels, each 1 or -1.")
    first = Matrix([[int(i == 0)] for i in range(d)])
    values = Matrix([[3], [-3], *([[0]] * (d - 2))])
    head = ContextHead(first, Matrix([[y] for y in labels]), values, Matrix([[1]]))
    context = Matrix.identity(d)[range(2), range(d)]
    return multi_head(context, Matrix.identity(d), [head], scale="ln2")


def all_sign_labels(d: int) -> list[tuple[tuple[int, ...], MultiHead]]:
    """For all 2^d sign labels of d queries, a layer with one head that memorizes them."""
    return [(labels, two_token_memorizer(labels)) for labels in product((1, -1), repeat=d)]


def rays(x: Sequence[int] = (1, 2, 3, 4, 6)) -> tuple[list[Matrix], Matrix]:
    """Queries x e on one ray with contexts E · 12/x: equal logits for all weights, rank Z = 1."""
    E = Matrix([[1, 0, 2], [0, 1, 1], [1, 1, 0]])
    contexts = [fmpq(12, y) * E for y in x]
    return contexts, Matrix([[y, 2 * y, -y] for y in x])
