r"""Do the assumptions of Mahdavi et al. hold on a real model? Decided on stored floats, exactly.

A float is a dyadic rational, so ranks and Kruskal ranks of stored activations are exact facts, and
so is the rank of Z for stored weights (softmax logits are dyadic multiples of one scale). They are
facts about the stored numbers. Rounding noise alone makes a matrix of floats full rank, so the
report also says what the same computation proves in real arithmetic, where balls were computed.

Any model goes through :func:`check_assumptions`: give contexts, queries and head weights as arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from numpy.typing import NDArray

from lemmax.theory.errors import NotExact, ShapeError
from lemmax.theory.mahdavi.ceilings import theorem_1_bound
from lemmax.theory.mahdavi.layer import ContextHead, MultiHead, multi_head
from lemmax.theory.numbers.kruskal_rank import kruskal_rank
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.numbers.rank import certified_rank

Array = NDArray[Any]


@dataclass(frozen=True)
class AttentionData:
    """What enters one attention layer, as arrays.

    ``contexts`` is T × n × d, ``queries`` T × d_q; each head is a pair (W_K: d × d_h, W_Q:
    d_q × d_h), rows are inputs. A bias of the query map is one more coordinate 1 of the queries;
    a bias of the key map moves all logits of a row alike and is left out.
    """

    name: str
    contexts: Array
    queries: Array
    heads: Sequence[tuple[Array, Array]] = ()
    scale: str = "1"

    def __post_init__(self) -> None:
        if self.contexts.ndim != 3:
            raise ShapeError(
                f"{self.name}: contexts need three dimensions (examples, tokens, d), "
                f"not {self.contexts.ndim}."
            )
        if self.queries.ndim != 2 or len(self.queries) != len(self.contexts):
            raise ShapeError(f"{self.name}: there must be one query per example.")
        if not len(self.contexts):
            raise ShapeError(f"{self.name}: there must be at least one example.")
        arrays = [self.contexts, self.queries, *(W for head in self.heads for W in head)]
        for array in arrays:
            if not np.isfinite(array).all():
                raise NotExact(f"{self.name}: an array contains NaN or infinity.")

    @property
    def shape(self) -> tuple[int, int, int]:
        """T, n and d."""
        T, n, d = self.contexts.shape
        return int(T), int(n), int(d)


@dataclass(frozen=True)
class AssumptionReport:
    """One layer. Everything but the ``float*`` and ``sampled_*`` fields is exact.

    The least singular value, over random sets of n queries and over each context, is what rounding
    would have to reach before it could have made the rank: compare it with the error of the forward
    pass. All queries together say less: where layer normalisation puts them on a hyperplane, their
    rank beyond d is the rounding's.
    """

    name: str
    T: int
    n: int
    d: int
    contexts_checked: int
    contexts_full_rank: int
    repeated_tokens: int
    distinct_queries: int
    queries_checked: int
    kruskal_lower: int
    kruskal_upper: int
    float32_rank_of_queries: int
    sampled_share_independent: float
    float64_least_singular_value: float
    examples: int | None = None
    feature_rank_lower: int | None = None
    feature_rank_upper: int | None = None
    theorem_1: int | None = None
    shared_bound: int | None = None

    @property
    def assumption_1(self) -> bool | None:
        """Whether the queries have Kruskal rank n or more; None: not decided."""
        if self.kruskal_lower >= self.n:
            return True
        return False if self.kruskal_upper < self.n else None

    @property
    def assumption_2(self) -> bool:
        """Whether every context that was checked has rank n."""
        return self.contexts_full_rank == self.contexts_checked

    def to_json(self) -> dict[str, Any]:
        """All fields, with the two assumptions."""
        return {
            **asdict(self),
            "assumption_1": self.assumption_1,
            "assumption_2": self.assumption_2,
        }


def dyadic_matrix(array: Array) -> Matrix:
    """A float matrix as the dyadic rationals that its bits spell, converted as a whole.

    >>> dyadic_matrix(np.array([[0.5, 3.0]]))
    Matrix([['1/2', '3']])
    """
    mantissas, exponents = np.frexp(np.asarray(array, dtype=np.float64))
    integers = (mantissas * 2.0**53).astype(np.int64)
    shifts = np.where(integers == 0, 0, exponents - 53)
    least = int(shifts.min())
    rows = [
        [m << s for m, s in zip(ms, ss, strict=True)]
        for ms, ss in zip(integers.tolist(), (shifts - least).tolist(), strict=True)
    ]
    scale = fmpq(2) ** least
    return Matrix(fmpq_mat(fmpz_mat(rows)) * scale)


def check_assumptions(
    data: AttentionData,
    *,
    contexts: int | None = None,
    queries: int | None = None,
    examples: int | None = None,
    samples: int = 200,
    seed: int = 0,
) -> AssumptionReport:
    """Decide Assumptions 1 and 2 and the rank of Z on stored arrays.

    Parameters
    ----------
    contexts, queries, examples
        How many contexts, queries and examples of Z to look at; all contexts, all queries and
        as many examples as exceed H(n - 1) + 1 by twenty, unless given. Up to d + 3 queries in
        general have an exact Kruskal rank; more of them may leave an interval.
    samples, seed
        For the published approximate test: random sets of n queries, float32 rank.

    Notes
    -----
    Cost: one exact rank of an n × d matrix per context, the Kruskal rank of the queries, and where
    there are heads one evaluation of Z modulo a prime.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> data = AttentionData("random", draw.normal(size=(8, 3, 5)), draw.normal(size=(8, 5)))
    >>> report = check_assumptions(data)
    >>> report.assumption_1, report.assumption_2, report.kruskal_lower
    (True, True, 5)
    """
    T, n, d = data.shape
    looked = min(T, contexts or T)
    full = sum(certified_rank(dyadic_matrix(data.contexts[t])).rank == n for t in range(looked))
    asked = min(T, queries or T)
    chosen = data.queries[:asked]
    kruskal = kruskal_rank(dyadic_matrix(chosen))
    single = np.asarray(chosen, dtype=np.float32)
    return AssumptionReport(
        data.name,
        T,
        n,
        d,
        looked,
        full,
        _repeated(data.contexts),
        len({row.tobytes() for row in np.ascontiguousarray(chosen)}),
        asked,
        kruskal.lower,
        kruskal.upper,
        int(np.linalg.matrix_rank(single)),
        sampled_share(single, n, samples, seed),
        _least_singular_value([*sampled(chosen, n, samples, seed), *data.contexts[:looked]]),
        **(rank_of_features(data, examples) if data.heads else {}),
    )


def rank_of_features(data: AttentionData, examples: int | None = None) -> dict[str, Any]:
    """The rank of Z on stored floats, and beside it what Theorem 1 promises and the ceiling."""
    layer = stored_layer(data, examples)
    rank = layer.feature_rank()
    return {
        "examples": layer.T,
        "feature_rank_lower": rank.lower,
        "feature_rank_upper": rank.upper,
        "theorem_1": theorem_1_bound(layer.n, layer.d_h, layer.H),
        "shared_bound": layer.H * (layer.n - 1) + 1,
    }


def stored_layer(data: AttentionData, examples: int | None = None) -> MultiHead:
    """The layer on stored floats, read as dyadic rationals."""
    T, n, _ = data.shape
    wanted = examples or len(data.heads) * (n - 1) + 21
    used = min(T, wanted)
    heads = [ContextHead(dyadic_matrix(W_K), dyadic_matrix(W_Q)) for W_K, W_Q in data.heads]
    return multi_head(
        [dyadic_matrix(data.contexts[t]) for t in range(used)],
        dyadic_matrix(data.queries[:used]),
        heads,
        data.scale,
    )


def sampled_share(vectors: NDArray[np.float32], k: int, samples: int, seed: int) -> float:
    """The published test: the share of random sets of k vectors whose float32 rank is k."""
    sets = sampled(vectors, k, samples, seed)
    return sum(int(np.linalg.matrix_rank(M) == k) for M in sets) / samples


def sampled(vectors: Array, k: int, samples: int, seed: int) -> list[Array]:
    """Random sets of k vectors; all of them, once, where there are not more than k."""
    if k >= len(vectors):
        return [vectors]
    draw = np.random.default_rng(seed)
    return [vectors[draw.choice(len(vectors), size=k, replace=False)] for _ in range(samples)]


def _least_singular_value(matrices: Sequence[Array]) -> float:
    values = [np.linalg.svd(np.asarray(M, np.float64), compute_uv=False)[-1] for M in matrices]
    return float(min(values))


def _repeated(contexts: Array) -> int:
    """How many tokens of different contexts equal an earlier one: then no general position."""
    different = {E.tobytes(): E for E in np.ascontiguousarray(contexts)}.values()
    tokens = [row.tobytes() for E in different for row in np.ascontiguousarray(E)]
    return len(tokens) - len(set(tokens))
