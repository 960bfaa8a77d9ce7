"""The words about facts, layers and contexts."""

from __future__ import annotations

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


def layer_tensor(L: Layer, D: Facts, masked: bool) -> Tensor:
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


def accuracy(L: Layer, D: Facts, tau: Fraction | None = None) -> Fraction:
    return Fraction(sum(answers(L, D, tau)), len(D))


def all_tokens(A: MultiHead) -> Matrix:
    if len(A.queries[0]) != len(A.contexts[0][0]):
        refuse("all_tokens", "needs tokens and queries of one dimension")
    return Matrix(itertools.chain(*A.contexts, A.queries))


_D, _L, _N, _A = Facts, Layer, Fraction, MultiHead
LAYER_WORDS: list[tuple[str, tuple[Any, ...], str, Callable[..., Any]]] = [
    ("tensor", (_D,), "0/1 over the sorted keys, queries, values (Wong 2025, eq. 1)", tensor),
    (
        "slices_rank_sum",
        (_D,),
        "min(Σ_k |V_k|, Σ_q |V_q|), the bound of Wong 2025, Proposition 2.1",
        lambda D: min(len({(k, v) for k, _, v in D}), len({(q, v) for _, q, v in D})),
    ),
    ("size", (_D,), "the number of facts", len),
    ("keys", (_D,), "|K|, the number of different keys", lambda D: len({f[0] for f in D})),
    ("queries", (_D,), "|Q|, the number of different queries", lambda D: len({f[1] for f in D})),
    ("values", (_D,), "|V|, the number of different values", lambda D: len({f[2] for f in D})),
    (
        "layer_tensor",
        (_L, _D),
        "L over the sorted keys, queries, values (Wong 2025, eq. 8), without heads off the facts",
        lambda L, D: layer_tensor(L, D, True),
    ),
    (
        "logits_tensor",
        (_L, _D),
        "the logits of the values after every (k, q)",
        lambda L, D: layer_tensor(L, D, False),
    ),
    ("tokens", (_L,), "|T|, the size of the vocabulary", lambda L: len(L.tokens)),
    ("d_model", (_L,), "the dimension of the embedding", lambda L: len(L.W_E[0])),
    ("heads", (_L,), "the number of heads", lambda L: len(L.heads)),
    (
        "d_qk",
        (_L,),
        "the largest query-key dimension",
        lambda L: max([0, *(len(h.W_K) for h in L.heads)]),
    ),
    (
        "d_vo",
        (_L,),
        "the largest value-output dimension",
        lambda L: max([0, *(len(h.W_O) for h in L.heads)]),
    ),
    (
        "memorizes",
        (_L, _D),
        "for every fact (k, q, v) the logit of v is strictly largest over the full vocabulary",
        lambda L, D: all(answers(L, D)),
    ),
    (
        "memorizes_at",
        (_L, _D, _N),
        "for every fact (k, q, v) the probability of v over the full vocabulary is >= τ",
        lambda L, D, tau: all(answers(L, D, tau)),
    ),
    ("accuracy", (_L, _D), "the share of memorized facts", accuracy),
    (
        "accuracy_at",
        (_L, _D, _N),
        "the share of facts known with probability >= τ (Wong 2025, equation 14)",
        accuracy,
    ),
    ("examples", (_A,), "the number T of examples", lambda A: len(A.context_of)),
    ("context_length", (_A,), "n, the number of tokens of a context", lambda A: len(A.contexts[0])),
    ("dimension", (_A,), "d, the dimension of the tokens", lambda A: len(A.contexts[0][0])),
    ("head_count", (_A,), "H, the number of heads", lambda A: len(A.heads)),
    (
        "head_dimension",
        (_A,),
        "d_h, the largest dimension of a head",
        lambda A: max(len(W_K[0]) for W_K, _, _ in A.heads),
    ),
    ("shared", (_A,), "one context for all examples", lambda A: len(set(A.context_of)) == 1),
    (
        "least_context_rank",
        (_A,),
        "the least rank of a context",
        lambda A: min(map(rank, A.contexts)),
    ),
    ("query_matrix", (_A,), "one query per row", lambda A: A.queries),
    ("all_tokens", (_A,), "the tokens of all contexts and the queries, one per row", all_tokens),
    ("feature_rank_lower", (_A,), "the rank of Z mod a prime, at most rank Z", feature_rank_lower),
]
