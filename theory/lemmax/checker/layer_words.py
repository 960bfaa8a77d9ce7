"""The words about facts, layers and contexts."""

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .arithmetic import dot, height, rank
from .attention import Forward, Layer
from .contexts import MultiHead, feature_rank_lower
from .limits import Undecided, brief, keep, refuse, spend
from .matrix_words import zero_one
from .reading import Matrix, Tensor
from .values import Facts


def names_of(D: Facts) -> tuple[list[str], list[str], list[str]]:
    """The keys, the queries and the values, each sorted."""
    keys, queries, values = (sorted(set(names)) for names in zip(*D, strict=True))
    spend("A table of the facts", 2 * len(keys) * len(queries) * len(values))
    keep("A table of the facts", len(keys) * len(queries) * len(values) // 2)
    return keys, queries, values


def tensor(D: Facts) -> Tensor:
    keys, queries, values = names_of(D)
    present = set(D)
    return Tensor(zero_one([(k, q, v) in present for v in values] for q in queries) for k in keys)


def places(L: Layer, D: Facts) -> dict[str, int]:
    place = {token: i for i, token in enumerate(L.tokens)}
    for name in (name for fact in D for name in fact if name not in place):
        refuse(brief(name), "is named by a fact and is no token of the layer")
    return place


def logits_tensor(L: Layer, D: Facts) -> Tensor:
    return layer_tensor(L, D, False)


def layer_tensor(L: Layer, D: Facts, masked: bool = True) -> Tensor:
    """The logits of the values of D after (k, q); masked: without heads where D has no fact."""
    place, (keys, queries, values) = places(L, D), names_of(D)
    forward, known = Forward(L, 0), {(k, q) for k, q, _ in D}
    columns = [forward.columns[forward.column_of[place[v]]] for v in values]

    def fibre(k: str, q: str) -> tuple[Fraction, ...]:
        base, scale = forward.rows[place[q]]
        if not masked or (k, q) in known:
            y = forward.residual(place[k], place[q])
            base, scale = y.base, y.denominator
            if y.deltas:
                refuse("The attention", "of the layer is irrational, so its tensor is not computed")
        scale *= forward.unembedding_scale
        long = height((*base, scale)) + forward.coordinates.bits
        spend("The logits", (len(base) + 20) * len(values), long, long)
        keep("The logits", 3 * len(values), long)
        return tuple(Fraction(dot(base, u), scale) for u in columns)

    return Tensor(Matrix(fibre(k, q) for q in queries) for k in keys)


def answers(L: Layer, D: Facts, tau: Fraction | None = None) -> list[bool]:
    """For each fact whether the layer knows it; an open comparison is never counted either way."""
    place = places(L, D)
    if tau is not None and not 0 < tau <= 1:
        refuse("The threshold", "must lie in (0, 1]")
    forward = Forward(L, len(D))
    known = [forward.knows(place[k], place[q], place[v], tau) for k, q, v in D]
    if None in known:
        raise Undecided("a fact of the layer stays undecided at the largest precision")
    return [x is True for x in known]


def memorizes(L: Layer, D: Facts, tau: Fraction | None = None) -> bool:
    return all(answers(L, D, tau))


def accuracy(L: Layer, D: Facts, tau: Fraction | None = None) -> Fraction:
    return Fraction(sum(answers(L, D, tau)), len(D))


def all_tokens(A: MultiHead) -> Matrix:
    if len(A.queries[0]) != len(A.contexts[0][0]):
        refuse("all_tokens", "needs tokens and queries of one dimension")
    return Matrix(itertools.chain(*A.contexts, A.queries))


def slices_rank_sum(D: Facts) -> int:
    return min(len({(k, v) for k, _, v in D}), len({(q, v) for _, q, v in D}))


def d_qk(L: Layer) -> int:
    return max([0, *(len(head.W_K) for head in L.heads)])


def d_vo(L: Layer) -> int:
    return max([0, *(len(head.W_O) for head in L.heads)])


LAYER_WORDS: dict[str, Callable[..., Any]] = {
    "tensor(database)  0/1 over the sorted keys, queries, values (Wong 2025, equation 1)": tensor,
    "slices_rank_sum(database)  min(Σ_k |V_k|, Σ_q |V_q|) (Wong 2025, 2.1)": slices_rank_sum,
    "size(database)  the number of facts": len,
    "keys(database)  |K|, the number of different keys": lambda D: len({f[0] for f in D}),
    "queries(database)  |Q|, the number of different queries": lambda D: len({f[1] for f in D}),
    "values(database)  |V|, the number of different values": lambda D: len({f[2] for f in D}),
    "layer_tensor(layer, database)  L of Wong 2025, equation 8; no heads off D": layer_tensor,
    "logits_tensor(layer, database)  the logits of the values after every (k, q)": logits_tensor,
    "tokens(layer)  |T|, the size of the vocabulary": lambda L: len(L.tokens),
    "d_model(layer)  the dimension of the embedding": lambda L: len(L.W_E[0]),
    "heads(layer)  the number of heads": lambda L: len(L.heads),
    "d_qk(layer)  the largest query-key dimension": d_qk,
    "d_vo(layer)  the largest value-output dimension": d_vo,
    "memorizes(layer, database)  every fact's value has strictly the largest logit": memorizes,
    "memorizes_at(layer, database, rational)  every fact has probability >= τ": memorizes,
    "accuracy(layer, database)  the share of memorized facts": accuracy,
    "accuracy_at(layer, database, rational)  of facts with probability >= τ": accuracy,
    "examples(contexts)  the number T of examples": lambda A: len(A.context_of),
    "context_length(contexts)  n, the number of tokens": lambda A: len(A.contexts[0]),
    "dimension(contexts)  d, the dimension of the tokens": lambda A: len(A.contexts[0][0]),
    "head_count(contexts)  H, the number of heads": lambda A: len(A.heads),
    "head_dimension(contexts)  d_h, the largest": lambda A: max(len(K[0]) for K, _, _ in A.heads),
    "shared(contexts)  one context for all examples": lambda A: len(set(A.context_of)) == 1,
    "least_context_rank(contexts)  of all contexts": lambda A: min(map(rank, A.contexts)),
    "query_matrix(contexts)  one query per row": lambda A: A.queries,
    "all_tokens(contexts)  the tokens of all contexts, then the queries": all_tokens,
    "feature_rank_lower(contexts)  rank Z mod a prime, at most rank Z": feature_rank_lower,
}
