"""The words about heads on contexts and queries (Mahdavi, Liao and Thrampoulidis 2024)."""

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..arithmetic import rank, rank_mod
from ..contexts import MultiHead, rows_mod, spans
from ..language.evidence import Evidence
from ..language.reals import Interval, Real, collapsed
from ..limits import beyond, foresee, refuse, released, spend
from ..reading import Matrix

_GROUPS = 16  # different contexts, all subsets of which are looked at


def all_tokens(A: MultiHead) -> Matrix:
    if len(A.queries[0]) != len(A.contexts[0][0]):
        refuse("all_tokens", "needs tokens and queries of one dimension")
    return Matrix(itertools.chain(*A.contexts, A.queries))


def groups(A: MultiHead) -> list[tuple[Matrix, int]]:
    """The different contexts that examples have, each with the number of its examples."""
    found: list[tuple[Matrix, int]] = []
    for c in sorted(set(A.context_of)):
        count = A.context_of.count(c)
        spend("The contexts", len(A.context_of) + 20 * len(found) * len(A.contexts[c]))
        place = next((i for i, (E, _) in enumerate(found) if A.contexts[c] == E), None)
        if place is None:
            found.append((A.contexts[c], count))
        else:
            found[place] = found[place][0], found[place][1] + count
    return found


def feature_ceiling(A: MultiHead) -> int:
    """min over unions F of groups of examples with one context of T - |F| + ρ + (H - 1) δ."""
    parts, H = groups(A), len(A.heads)
    if len(parts) > _GROUPS:
        beyond("feature_ceiling(...)", f"looks at all sets of at most {_GROUPS} contexts")
    foresee("feature_ceiling(...)", 100 << len(parts))
    best = len(A.context_of)
    for size in range(1, len(parts) + 1):
        for chosen in itertools.combinations(parts, size):
            with released():
                rho, delta = spans([E for E, _ in chosen])
            outside = len(A.context_of) - sum(count for _, count in chosen)
            best = min(best, outside + rho + (H - 1) * delta)
    return best


def rank_at(A: MultiHead, z: int) -> int:
    """The rank of Z mod a prime, at a point."""
    p = 2**61 - 1
    return rank_mod(rows_mod(A, p, z), p)


def feature_rank_lower(A: MultiHead) -> int:
    if A.scale == "ln2":
        refuse("feature_rank_lower", "needs a transcendental scale")
    return rank_at(A, 3**37)


def feature_rank(A: MultiHead, evidence: Evidence) -> Real:
    """Below: mod a prime, at a point where the scale is transcendental. Above: the ceiling."""
    with released():
        low = rank_at(A, 2 if A.scale == "ln2" else 3**37)
    T, width = len(A.context_of), len(A.heads) * len(A.contexts[0][0])
    bounds = Interval(Fraction(low), Fraction(min(T, width)))
    bounds = evidence.cut("multi-head", bounds, lambda other: other == A)
    if bounds.low != bounds.high and len(groups(A)) <= _GROUPS:
        assert bounds.high is not None
        bounds = Interval(bounds.low, min(bounds.high, Fraction(feature_ceiling(A))))
    return collapsed(bounds)


WORDS: dict[str, Callable[..., Any]] = {
    "examples(contexts)  the number T of examples": lambda A: len(A.context_of),
    "context_length(contexts)  n, the number of tokens": lambda A: len(A.contexts[0]),
    "dimension(contexts)  d, the dimension of the tokens": lambda A: len(A.contexts[0][0]),
    "head_count(contexts)  H, the number of heads": lambda A: len(A.heads),
    "head_dimension(contexts)  d_h, the largest": lambda A: max(len(K[0]) for K, _, _ in A.heads),
    "shared(contexts)  one context for all examples": lambda A: len(set(A.context_of)) == 1,
    "least_context_rank(contexts)  of all contexts": lambda A: min(map(rank, A.contexts)),
    "query_matrix(contexts)  one query per row": lambda A: A.queries,
    "all_tokens(contexts)  the tokens of all contexts, then the queries": all_tokens,
    "token_span(contexts)  ρ, the dimension of all tokens": lambda A: spans(A.contexts)[0],
    "difference_span(contexts)  δ, of all differences in a context": lambda A: spans(A.contexts)[1],
    "feature_ceiling(contexts)  the least T - |F| + ρ(F) + (H - 1) δ(F)": feature_ceiling,
    "feature_rank_lower(contexts)  rank Z mod a prime, at most rank Z": feature_rank_lower,
}

EVIDENT: dict[str, Callable[..., Any]] = {
    "feature_rank(contexts)  bounds of rank Z: mod a prime, the ceiling, evidence": feature_rank,
}
