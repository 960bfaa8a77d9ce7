r"""The inductive proof of Mahdavi et al.'s Theorem 1 as a program: saturated and tuned heads.

Head h has the matrix :math:`M_h = v\,(c\,w + u)^\top`, of rank one whatever the head dimension.
Examples come in groups: n for the first head, n - 1 for each further one. For the group of head h,
w is orthogonal to its queries and to no earlier query, so that with growing c all earlier ("old")
examples attend to a single token, while the new ones see only u. In the limit the new rows of Z
can be tuned one by one out of the span of everything before; a determinant that is not zero in
the limit is not zero for all large c.

Weaker than Assumption 1 is enough: each group of queries is independent, and no older query lies
in its span. Both are checked, and what is violated is named.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flint import arb, fmpz_mat, nmod_mat

from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.latex import Typeset
from lemmax.theory.mahdavi.contexts import group_contexts
from lemmax.theory.mahdavi.layer import ContextHead, MultiHead
from lemmax.theory.mahdavi.ranks import attention_modulo
from lemmax.theory.numbers.matrices import Matrix, MatrixLike, integer_matrix
from lemmax.theory.numbers.primes import MERSENNE_61
from lemmax.theory.numbers.rank import certified_rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_POINT = 987_654_321_987_654_321
_TRIES = 200
SATURATED = arb("0.99")
"""From this attention weight on, an example counts as saturated."""


class AssumptionViolated(LemmaxError):
    """The data do not satisfy what the construction needs; the sentence names the culprits."""


@dataclass(frozen=True)
class Stage:
    """One head of the induction.

    ``limit_rank`` is the rank of Z on old and new examples at c = ∞, ``rank`` that at the ``c``
    that was chosen; both are attained modulo a prime, hence lower bounds, and equal to the number
    of examples. ``saturation`` is the least attention that an old example pays to one token.
    """

    old: tuple[int, ...]
    new: tuple[int, ...]
    w: tuple[int, ...]
    u: tuple[int, ...]
    c: int
    limit_rank: int
    rank: int
    saturation: float | None


@dataclass(frozen=True)
class SaturationHeads(Typeset):
    """Weights under which Z has full row rank, with the stages that led to them.

    >>> built = saturation_heads([[1, 0], [0, 1]], [[1, 0], [1, 1]], H=1)
    >>> [stage.rank for stage in built.stages]
    [2]
    """

    layer: MultiHead
    v: tuple[int, ...]
    stages: tuple[Stage, ...]

    def certificate(self) -> Certificate:
        """A ``multi-head`` certificate: the rank of Z is the number of examples."""
        return self.layer.feature_rank().certificate()

    def picture(self) -> str:
        """One line per head: ``#`` a saturated example, ``o`` a free one, ``.`` one to come."""
        T = self.layer.T
        lines = []
        for number, stage in enumerate(self.stages, 1):
            marks = ["."] * T
            for t in stage.old:
                marks[t] = "#"
            for t in stage.new:
                marks[t] = "o"
            lines.append(f"head {number:>2}  {''.join(marks)}  rank {stage.rank}")
        return "\n".join(lines)

    @property
    def claim(self) -> str:
        """The claim that this witnesses."""
        return "mahdavi/theorem-1"

    def formula(self) -> str:
        """The stages as an array: who is saturated, who is free, and the rank."""
        rows = [
            rf"{number} & {len(stage.old)} & {len(stage.new)} & {stage.c} & {stage.rank} \\"
            for number, stage in enumerate(self.stages, 1)
        ]
        head = r"h & \text{saturated} & \text{free} & c & \operatorname{rank} Z \\ \hline"
        return "\n".join([r"\begin{array}{rrrrr}", head, *rows, r"\end{array}"])

    def to_sympy(self) -> dict[str, Any]:
        """Contexts, queries and weights for sympy."""
        return self.layer.to_sympy()

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """Contexts, queries and weights as float64."""
        return self.layer.to_numpy()


def saturation_heads(
    contexts: Any,
    queries: MatrixLike,
    H: int,
    d_h: int = 1,
    *,
    k: int | None = None,
    v: Sequence[int] | None = None,
    seed: int = 0,
) -> SaturationHeads:
    """Weights with rank Z = T for T <= H(k - 1) + 1 examples, by saturation.

    Parameters
    ----------
    contexts
        One n × d matrix shared by all, or one matrix per example; each of rank n.
    queries
        One row per example.
    H, d_h
        The number of heads and their dimension; one dimension is used, the others are zero.
    k
        The Kruskal rank of the queries that is used, at most n; n unless it is given.
    v
        The direction along which tokens are told apart; chosen when it is not given.

    Raises
    ------
    AssumptionViolated
        A context of rank below n, dependent queries, a query in the span of a later group, or a
        ``v`` that does not tell two tokens of a context apart.

    Notes
    -----
    Cost: for each head a linear system of size k - 1, and the certified rank of Z for each scale
    that is tried, which doubles until the examples of earlier heads are saturated enough.

    Examples
    --------
    >>> moment = [[x**i for i in range(4)] for x in range(1, 8)]
    >>> E = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    >>> built = saturation_heads(E, moment, H=3)
    >>> print(built.picture())
    head  1  ooo....  rank 3
    head  2  ###oo..  rank 5
    head  3  #####oo  rank 7
    >>> built.layer.feature_rank().rank
    7
    """
    query_matrix = queries if isinstance(queries, Matrix) else Matrix(queries)
    T = query_matrix.shape[0]
    kept, context_of = group_contexts(contexts, T)
    if len({E.shape for E in kept}) != 1:
        raise ShapeError("All contexts must have one shape.")
    n, d = kept[0].shape
    if H < 1 or d_h < 1:
        raise LemmaxError("There must be at least one head, of dimension one or more.")
    if query_matrix.shape[1] != d:
        raise ShapeError(f"Queries have dimension {query_matrix.shape[1]} and tokens {d}.")
    if n > d:
        raise AssumptionViolated(
            f"Assumption 2 needs n <= d: {n} tokens of dimension {d} are dependent."
        )
    k = n if k is None else k
    if not 1 <= k <= n:
        raise LemmaxError(f"The Kruskal rank that is used lies between 1 and n = {n}, not {k}.")
    most = H * (k - 1) + 1
    if most < T:
        raise LemmaxError(f"{H} heads with {k} new examples at first guarantee {most}, not {T}.")
    for number, E in enumerate(kept):
        rank = certified_rank(E).rank
        if rank < n:
            t = context_of.index(number)
            raise AssumptionViolated(f"The context of example {t} has rank {rank}, not n = {n}.")
    generator = random.Random(seed)
    direction = _direction(kept, context_of, v, generator)
    rows = integer_matrix(query_matrix).tolist()
    integer_queries = [[int(x) for x in row] for row in rows]

    heads: list[ContextHead] = []
    stages: list[Stage] = []
    done = 0
    for number in range(H):
        size = k if number == 0 else k - 1
        old = tuple(range(done))
        new = tuple(range(done, min(T, done + size)))
        w = _freezing_direction(integer_queries, old, new, d, generator)
        head, stage = _tuned_head(
            (kept, context_of, query_matrix), heads, direction, w, old, new, d_h, generator
        )
        heads.append(head)
        stages.append(stage)
        done += len(new)
    layer = MultiHead(kept, context_of, query_matrix, tuple(heads))
    return SaturationHeads(layer, tuple(direction), tuple(stages))


def _direction(
    contexts: Sequence[Matrix],
    context_of: Sequence[int],
    given: Sequence[int] | None,
    generator: random.Random,
) -> list[int]:
    """A vector v such that E v has distinct entries for every context E."""
    d = contexts[0].shape[1]
    bound = 1
    for _ in range(_TRIES):
        v = (
            list(given)
            if given is not None
            else [generator.randint(-bound, bound) for _ in range(d)]
        )
        tie = next(((c, tie) for c, E in enumerate(contexts) if (tie := _tie(E, v))), None)
        if tie is None:
            return v
        if given is not None:
            t = context_of.index(tie[0])
            raise AssumptionViolated(
                f"Tokens {tie[1][0]} and {tie[1][1]} of the context of example {t} are tied: "
                "v gives them the same score, and saturation would share the attention."
            )
        bound += 1
    raise LemmaxError("No small integer vector tells all tokens apart.")


def _tie(E: Matrix, v: Sequence[int]) -> tuple[int, int] | None:
    scores = (E @ Matrix([[x] for x in v])).flint.entries()
    seen: dict[Any, int] = {}
    for j, score in enumerate(scores):
        if score in seen:
            return seen[score], j
        seen[score] = j
    return None


def _freezing_direction(
    queries: list[list[int]],
    old: tuple[int, ...],
    new: tuple[int, ...],
    d: int,
    generator: random.Random,
) -> list[int]:
    """w orthogonal to the new queries and to none of the old ones."""
    if new and certified_rank(fmpz_mat([queries[s] for s in new])).rank < len(new):
        raise AssumptionViolated(f"The queries {list(new)} are linearly dependent.")
    if not old:
        return [0] * d
    basis = _orthogonal_lattice([queries[s] for s in new], d)
    for t in old:
        if not any(_dot(b, queries[t]) for b in basis):
            raise AssumptionViolated(
                f"Query {t} lies in the span of the queries {list(new)}: their Kruskal rank is "
                f"at most {len(new)}."
            )
    bound = 1
    for _ in range(_TRIES):
        factors = [generator.randint(-bound, bound) for _ in basis]
        w = [sum(f * b[i] for f, b in zip(factors, basis, strict=True)) for i in range(d)]
        if all(_dot(w, queries[t]) for t in old):
            return w
        bound += 1
    raise LemmaxError("No small combination avoids all old queries.")


def _orthogonal_lattice(vectors: list[list[int]], d: int) -> list[list[int]]:
    """A short integer basis of the vectors orthogonal to all the given ones."""
    if not vectors:
        return [[int(i == j) for j in range(d)] for i in range(d)]
    null_space, nullity = fmpz_mat(vectors).nullspace()
    columns = [[int(null_space[i, j]) for i in range(d)] for j in range(nullity)]
    return [[int(x) for x in row] for row in fmpz_mat(columns).lll().tolist()]


def _dot(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _rank_one(v: Sequence[int], u: Sequence[int], d_h: int) -> ContextHead:
    padding = [0] * (d_h - 1)
    return ContextHead(Matrix([[x, *padding] for x in v]), Matrix([[x, *padding] for x in u]))


def _tuned_head(
    data: tuple[tuple[Matrix, ...], tuple[int, ...], Matrix],
    before: list[ContextHead],
    v: list[int],
    w: list[int],
    old: tuple[int, ...],
    new: tuple[int, ...],
    d_h: int,
    generator: random.Random,
) -> tuple[ContextHead, Stage]:
    """Choose u until the rank is full at c = ∞, then the first c that saturates and keeps it."""
    contexts, context_of, queries = data
    chosen = (*old, *new)
    d = len(v)

    def layer(head: ContextHead) -> MultiHead:
        return MultiHead(
            contexts,
            tuple(context_of[t] for t in chosen),
            queries[chosen, range(queries.shape[1])],
            (*before, head),
        )

    bound = 1
    for _ in range(_TRIES):
        u = [generator.randint(-bound, bound) for _ in range(d)]
        bound += 1
        limit = _limit_rank(layer(_rank_one(v, u, 1)), layer(_rank_one(v, w, 1)), len(old))
        if limit < len(chosen):
            continue
        c = 1
        for _ in range(64):
            head = _rank_one(v, [c * a + b for a, b in zip(w, u, strict=True)], d_h)
            made = layer(head)
            saturation = _saturation(made, len(old))
            if saturation is None or saturation > SATURATED:
                rank = made.feature_rank().lower
                if rank == len(chosen):
                    least = None if saturation is None else float(saturation.mid())
                    return head, Stage(old, new, tuple(w), tuple(u), c, limit, rank, least)
            c *= 2
    raise LemmaxError("No small integer weights reach the rank; is Assumption 1 satisfied?")


def _saturation(layer: MultiHead, old: int) -> arb | None:
    """The least, over the old examples, of the largest attention weight of the last head."""
    if not old:
        return None
    theta = layer.balls(64)[-1]
    tops = []
    for t in range(old):
        row = [theta[t, j] for j in range(layer.n)]
        tops.append(max(row, key=lambda x: float(x.mid())))
    return min(tops, key=lambda x: float(x.mid()))


def _limit_rank(free: MultiHead, frozen: MultiHead, old: int) -> int:
    """rank Z at c = ∞ modulo a prime: old examples of the last head are one-hot, new ones see u.

    ``free`` has the last head v uᵀ and ``frozen`` the last head v wᵀ. The limit is a further
    specialisation (z^-c to 0), so this is a lower bound of the rank for all large c.
    """
    weights = attention_modulo(free, MERSENNE_61, _POINT)
    if weights is None:
        return 0
    scores = frozen.exponents[0][-1]
    for t in range(old):
        top = max(scores[t])
        if scores[t].count(top) > 1:
            raise AssumptionViolated(f"The scores of example {t} are tied.")
        weights[-1][t] = [int(x == top) for x in scores[t]]
    tokens = [nmod_mat(integer_matrix(E), MERSENNE_61) for E in free.contexts]
    rows = [
        (nmod_mat([theta[t] for theta in weights], MERSENNE_61) * tokens[context]).entries()
        for t, context in enumerate(free.context_of)
    ]
    return int(nmod_mat([[int(x) for x in row] for row in rows], MERSENNE_61).rank())
