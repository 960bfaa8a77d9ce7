r"""Multi-head attention on contexts and queries (Mahdavi, Liao and Thrampoulidis 2024), exactly.

Example t has a context :math:`E^{(t)}` (n × d, its rows are the tokens) and a query
:math:`e^{(t)}`. Head h attends with

.. math:: \theta_h^{(t)} = \operatorname{softmax}(E^{(t)} W_K^h {W_Q^h}^\top e^{(t)} \cdot s),

where s > 0 is one common scale: 1, :math:`1/\sqrt N`, or ln 2. The feature matrix Z has the rows
:math:`[\theta_1^\top E, \dots, \theta_H^\top E]`, and the layer's outputs are linear in them.

With rational data and weights every logit is an integer multiple of s/q, so every entry of Z is a
rational function of :math:`z = e^{s/q}`, which is transcendental (Lindemann) for the scales 1 and
:math:`1/\sqrt N`: a minor of Z vanishes iff it vanishes identically. One evaluation of z modulo a
prime therefore bounds the real rank from below, and so it does for the Jacobian of the outputs
in the weights. In units of ln 2 with integer logits z is the number 2 itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz, fmpz_mat, nmod, nmod_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError, NotExact, ShapeError
from lemmax.theory.latex import Typeset, between, weights
from lemmax.theory.mahdavi.ceilings import (
    CeilingBound,
    dimension_ceiling,
    feature_rank_ceiling,
)
from lemmax.theory.numbers.matrices import Matrix, MatrixLike, integer_matrix
from lemmax.theory.numbers.primes import MERSENNE_61, primes
from lemmax.theory.numbers.rank import certified_rank, pivots_modulo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Scale: TypeAlias = str
"""``"1"``, ``"ln2"`` or ``"1/sqrt(N)"`` with a positive integer N."""

_SQRT = re.compile(r"1/sqrt\(([1-9][0-9]{0,8})\)")
_POINT = 1_234_567_890_123_456_789  # any residue would do; a fixed one makes certificates stable
_ATTEMPTS = 4  # points that are tried before a modular rank below the ceiling is reported


@dataclass(frozen=True, init=False)
class ContextHead:
    """One head: W_K (d × d_h), W_Q (d_q × d_h) and, where outputs matter, W_V and W_O.

    W_V is d × d_v and W_O is d_v × d_out. Queries may live in a space of another dimension d_q
    than the tokens: a bias of the query map is one more coordinate, equal to 1, of the queries.

    >>> ContextHead([[0], [1], [2]], [[1], [0], [0]]).W_K.shape
    (3, 1)
    """

    W_K: Matrix
    W_Q: Matrix
    W_V: Matrix | None
    W_O: Matrix | None

    def __init__(
        self,
        W_K: MatrixLike,
        W_Q: MatrixLike,
        W_V: MatrixLike | None = None,
        W_O: MatrixLike | None = None,
    ) -> None:
        for name, value in (("W_K", W_K), ("W_Q", W_Q), ("W_V", W_V), ("W_O", W_O)):
            if value is not None and not isinstance(value, Matrix):
                value = Matrix(value)
            object.__setattr__(self, name, value)
        self._check_shapes()

    def _check_shapes(self) -> None:
        if self.W_K.shape[1] != self.W_Q.shape[1]:
            raise ShapeError(
                f"W_K has {self.W_K.shape[1]} columns and W_Q {self.W_Q.shape[1]}: "
                "both must be the head dimension."
            )
        if (self.W_V is None) != (self.W_O is None):
            raise ShapeError("A head needs both W_V and W_O, or neither.")
        if self.W_V is not None and self.W_O is not None:
            if self.W_V.shape[0] != self.W_K.shape[0]:
                raise ShapeError(
                    f"W_V has {self.W_V.shape[0]} rows for tokens of dimension {self.W_K.shape[0]}."
                )
            if self.W_V.shape[1] != self.W_O.shape[0]:
                raise ShapeError(
                    f"W_V has {self.W_V.shape[1]} columns and W_O {self.W_O.shape[0]} rows."
                )

    @property
    def d_h(self) -> int:
        """The head dimension."""
        return self.W_K.shape[1]

    @cached_property
    def values(self) -> Matrix | None:
        """W_V W_O (d × d_out): what the head adds to the output, per coordinate of its feature."""
        return None if self.W_V is None or self.W_O is None else self.W_V @ self.W_O


@dataclass(frozen=True)
class MultiHead(Typeset):
    """Contexts, queries and heads; build it with :func:`multi_head`.

    ``contexts`` are the different contexts and ``context_of[t]`` is that of example t.

    Examples
    --------
    One head of dimension one on three multiples of one query: the rows of attention are
    (1, z^t, z^2t) up to scale, a Vandermonde matrix.

    >>> E = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> head = ContextHead([[0], [1], [2]], [[1], [0], [0]])
    >>> A = multi_head(E, [[1, 0, 0], [2, 0, 0], [3, 0, 0]], [head])
    >>> A.feature_rank().rank, A.d_h
    (3, 1)
    """

    contexts: tuple[Matrix, ...]
    context_of: tuple[int, ...]
    queries: Matrix
    heads: tuple[ContextHead, ...]
    scale: Scale = "1"
    _cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.contexts:
            raise ShapeError("There must be at least one context.")
        if len({context.shape for context in self.contexts}) != 1:
            shapes = sorted({context.shape for context in self.contexts})
            raise ShapeError(f"All contexts must have one shape; found {shapes[0]}, {shapes[1]}.")
        if self.queries.shape[0] != len(self.context_of):
            raise ShapeError(
                f"There are {self.queries.shape[0]} queries for {len(self.context_of)} contexts."
            )
        if any(not 0 <= c < len(self.contexts) for c in self.context_of):
            raise ShapeError("An example names a context that does not exist.")
        if not self.heads:
            raise ShapeError("There must be at least one head.")
        for number, head in enumerate(self.heads, 1):
            if head.W_K.shape[0] != self.d or head.W_Q.shape[0] != self.queries.shape[1]:
                raise ShapeError(
                    f"Head {number} has W_K {head.W_K.shape} and W_Q {head.W_Q.shape}, but tokens "
                    f"have dimension {self.d} and queries {self.queries.shape[1]}."
                )
        if self.scale not in ("1", "ln2") and not _SQRT.fullmatch(self.scale):
            raise LemmaxError(f"The scale is '1', 'ln2' or '1/sqrt(N)', not {self.scale!r}.")

    @property
    def T(self) -> int:
        """The number of examples."""
        return len(self.context_of)

    @property
    def n(self) -> int:
        """The length of the contexts."""
        return self.contexts[0].shape[0]

    @property
    def d(self) -> int:
        """The dimension of the tokens."""
        return self.contexts[0].shape[1]

    @property
    def H(self) -> int:
        """The number of heads."""
        return len(self.heads)

    @property
    def d_h(self) -> int:
        """The largest head dimension."""
        return max(head.d_h for head in self.heads)

    @property
    def shared(self) -> bool:
        """Whether all examples have one context."""
        return len(set(self.context_of)) == 1

    @cached_property
    def exponents(self) -> tuple[list[list[list[int]]], int]:
        """Integers ``a[h][t][j]`` and q such that the logits are a · scale / q."""
        tokens, token_den = self._integer_contexts
        queries, query_den = self.queries.flint.numer_denom()
        groups = self._groups
        found: list[list[list[int]]] = []
        denominators: list[int] = []
        for head in self.heads:
            keys, key_den = head.W_K.flint.numer_denom()
            maps, map_den = head.W_Q.flint.numer_denom()
            directions = (queries * maps) * keys.transpose()  # row t is W_K W_Qᵀ e
            rows = directions.tolist()
            logits: list[list[int]] = [[]] * self.T
            for context, members in groups.items():
                block = fmpz_mat([rows[t] for t in members]) * tokens[context].transpose()
                for t, row in zip(members, block.tolist(), strict=True):
                    logits[t] = [int(x) for x in row]
            found.append(logits)
            denominators.append(int(token_den * query_den * key_den * map_den))
        q = math.lcm(*denominators)
        scaled = [
            logits if q == den else [[x * (q // den) for x in row] for row in logits]
            for logits, den in zip(found, denominators, strict=True)
        ]
        common = math.gcd(q, *(x for logits in scaled for row in logits for x in row))
        if common > 1:
            scaled = [[[x // common for x in row] for row in logits] for logits in scaled]
        q //= common
        if self.scale == "ln2" and q != 1:
            raise NotExact("In units of ln 2 the attention logits must be integers.")
        return scaled, q

    @cached_property
    def _integer_contexts(self) -> tuple[list[fmpz_mat], int]:
        """All contexts over one common denominator."""
        parts = [context.flint.numer_denom() for context in self.contexts]
        den = math.lcm(*(int(d) for _, d in parts))
        return [numerator * (den // int(d)) for numerator, d in parts], den

    @cached_property
    def _groups(self) -> dict[int, list[int]]:
        groups: dict[int, list[int]] = {}
        for t, context in enumerate(self.context_of):
            groups.setdefault(context, []).append(t)
        return groups

    def attention_modulo(self, prime: int, point: int) -> list[list[list[int]]] | None:
        """θ[h][t][j] at z = point modulo a prime; None where a denominator vanishes there."""
        exponents, _ = self.exponents
        z = nmod(point, prime)  # flint's powers take a tenth of the time of Python's
        weights = []
        for logits in exponents:
            rows = []
            for row in logits:
                least = min(row)
                powers = [int(z ** ((x - least) % (prime - 1))) for x in row]
                total = sum(powers) % prime
                if total == 0:
                    return None
                inverse = pow(total, -1, prime)
                rows.append([x * inverse % prime for x in powers])
            weights.append(rows)
        return weights

    def features_modulo(self, prime: int, point: int) -> nmod_mat | None:
        """Z · (common denominator of the contexts) at z = point modulo a prime."""
        weights = self.attention_modulo(prime, point)
        if weights is None:
            return None
        tokens = [nmod_mat(E, prime) for E in self._integer_contexts[0]]
        rows: list[list[Any]] = []
        for t, context in enumerate(self.context_of):
            block = nmod_mat([theta[t] for theta in weights], prime) * tokens[context]
            rows.append([int(x) for x in block.entries()])
        return nmod_mat(rows, prime)

    def jacobian_modulo(self, prime: int, point: int) -> nmod_mat | None:
        """The Jacobian of the T outputs in (W_K, W_Q, V) of every head, columns scaled.

        With u = E V, g_j = θ_j (u_j - Σ θ u): the derivatives are Σ_j g_j E_ja (W_Qᵀ e)_b,
        Σ_j g_j (E W_K)_jb e_a and (θᵀ E)_a. A common factor s/q of columns is left out.
        """
        weights = self.attention_modulo(prime, point)
        if weights is None:
            return None
        tokens = [nmod_mat(E, prime) for E in self._integer_contexts[0]]
        queries = nmod_mat(self.queries.flint.numer_denom()[0], prime)
        blocks: list[list[list[int]]] = [[] for _ in range(self.T)]
        for head, theta in zip(self.heads, weights, strict=True):
            V = nmod_mat(integer_matrix(self._scalar_values(head)), prime)
            W_K = nmod_mat(integer_matrix(head.W_K), prime)
            projected = (queries * nmod_mat(integer_matrix(head.W_Q), prime)).tolist()
            values = [(E * V).entries() for E in tokens]
            for t, context in enumerate(self.context_of):
                E, u = tokens[context], [int(x) for x in values[context]]
                mean = sum(a * b for a, b in zip(theta[t], u, strict=True))
                g = nmod_mat(
                    [[a * (b - mean) % prime for a, b in zip(theta[t], u, strict=True)]], prime
                )
                gE = [int(x) for x in (g * E).entries()]
                gEK = [int(x) for x in (g * E * W_K).entries()]
                e = [int(queries[t, a]) for a in range(queries.ncols())]
                row = [a * int(b) % prime for a in gE for b in projected[t]]
                row += [a * b % prime for a in e for b in gEK]
                row += [int(x) for x in (nmod_mat([theta[t]], prime) * E).entries()]
                blocks[t].append(row)
        return nmod_mat([[x for part in row for x in part] for row in blocks], prime)

    @staticmethod
    def _scalar_values(head: ContextHead) -> Matrix:
        if head.values is None or head.values.shape[1] != 1:
            raise LemmaxError(
                "The Jacobian is that of one output: give W_V and W_O with d_out = 1."
            )
        return head.values

    def feature_rank(self) -> FeatureRank:
        """The exact rank of Z for these weights, or bounds for it.

        Below: evaluation modulo a prime. Above: the ceiling of
        :func:`~lemmax.theory.mahdavi.ceilings.feature_rank_ceiling`, which no weights exceed.
        """
        lower, prime, point = self._modular_rank("features", None)
        if lower == self.T:  # as many as there are rows: no ceiling is needed
            return FeatureRank(
                self, lower, lower, CeilingBound(lower, (), lower, 0, 0), prime, point
            )
        ceiling = feature_rank_ceiling(self.contexts, self.context_of, self.H)
        if lower < ceiling.value:
            lower, prime, point = self._modular_rank("features", ceiling.value)
        return FeatureRank(self, lower, ceiling.value, ceiling, prime, point)

    def jacobian_rank(self) -> JacobianRank:
        """The rank of the Jacobian of the T outputs in all the weights.

        Rank T certifies that an open set of label vectors is memorized. Above it is bounded by T
        and, for a shared context, by the dimension ceiling D.
        """
        upper, method = self.T, "size"
        if self.shared:
            shared = self.contexts[self.context_of[0]]
            ceiling = dimension_ceiling(shared, self.queries, self.H, self.d_h)
            if ceiling < upper:
                upper, method = ceiling, "dimension"
        lower, prime, point = self._modular_rank("jacobian", upper)
        return JacobianRank(self, lower, upper, method, prime, point)

    def _modular_rank(
        self, what: Literal["features", "jacobian"], upper: int | None
    ) -> tuple[int, int, int]:
        """The largest rank at a few points, or at the first usable one without an upper bound."""
        best = (-1, 0, 0)
        for attempt, prime in zip(range(_ATTEMPTS), primes(), strict=False):
            point = 2 if self.scale == "ln2" else _POINT + attempt
            made = (
                self.features_modulo(prime, point)
                if what == "features"
                else self.jacobian_modulo(prime, point)
            )
            if made is None:
                continue
            rank = made.rank()
            if rank > best[0]:
                best = (rank, prime, point)
            if upper is None or rank == upper:
                break
        if best[0] < 0:
            raise LemmaxError("Every prime that was tried divides a softmax denominator.")
        return best

    def balls(self, precision: int = 128) -> list[arb_mat]:
        """The attention θ of every head as T × n balls."""
        exponents, q = self.exponents
        with ctx.workprec(precision):
            unit = scale_ball(self.scale) / q
            found = []
            for logits in exponents:
                rows = []
                for row in logits:
                    top = max(row)
                    powers = [(unit * arb(x - top)).exp() for x in row]
                    total = sum(powers, arb(0))
                    rows.append([x / total for x in powers])
                found.append(arb_mat(rows))
            return found

    def features(self, precision: int = 128) -> arb_mat:
        """Z as balls (T × Hd)."""
        weights = self.balls(precision)
        with ctx.workprec(precision):
            tokens = [arb_mat(E.flint) for E in self.contexts]
            rows: list[list[arb]] = []
            for t, context in enumerate(self.context_of):
                block = arb_mat([[w[t, j] for j in range(self.n)] for w in weights])
                rows.append((block * tokens[context]).entries())
            return arb_mat(rows)

    def exact_features(self) -> Matrix:
        """Z itself, over Q: possible in units of ln 2 with integer logits.

        >>> A = multi_head([[1, 0], [0, 1]], [[1, 0]], [ContextHead([[1], [0]], [[1], [0]])], "ln2")
        >>> A.exact_features()
        Matrix([['2/3', '1/3']])
        """
        if self.scale != "ln2":
            raise NotExact("Z is rational only in units of ln 2.")
        exponents, _ = self.exponents
        rows: list[list[Any]] = []
        for t, context in enumerate(self.context_of):
            block = []
            for logits in exponents:
                least = min(logits[t])
                powers = [fmpz(2) ** (x - least) for x in logits[t]]
                block.append([fmpq(x, sum(powers, fmpz(0))) for x in powers])
            rows.append((fmpq_mat(block) * self.contexts[context].flint).entries())
        return Matrix(fmpq_mat(rows))

    def outputs(self, precision: int = 128) -> arb_mat:
        """Σ_h θ_hᵀ E W_V W_O as balls (T × d_out)."""
        values = [head.values for head in self.heads]
        stacked: list[list[Any]] = []
        for value in values:
            if value is None:
                raise LemmaxError("Outputs need W_V and W_O in every head.")
            stacked += value.flint.tolist()
        with ctx.workprec(precision):
            return self.features(precision) * arb_mat(fmpq_mat(stacked))

    def certificate_fields(self, values: bool) -> dict[str, Any]:
        """The layer as ``multi-head`` certificates carry it."""
        heads = []
        for head in self.heads:
            fields = {"W_K": certificates.matrix(head.W_K), "W_Q": certificates.matrix(head.W_Q)}
            if values:
                if head.values is None:
                    raise LemmaxError("This certificate needs W_V and W_O in every head.")
                fields["V"] = certificates.matrix(head.values)
            heads.append(fields)
        return {
            "contexts": [certificates.matrix(E) for E in self.contexts],
            "context_of": list(self.context_of),
            "queries": certificates.matrix(self.queries),
            "scale": self.scale,
            "heads": heads,
        }

    def certificate(self) -> Certificate:
        """The certificate of the rank of Z."""
        return self.feature_rank().certificate()

    def output_certificate(self, labels: MatrixLike, error: Any) -> Certificate:
        """A certificate that every output is within ``error`` of its label (T × d_out)."""
        from lemmax.theory.numbers.matrices import rational

        return certificates.certificate(
            "multi-head",
            {
                **self.certificate_fields(values=True),
                "assertion": {
                    "type": "outputs",
                    "labels": certificates.matrix(Matrix(labels)),
                    "error": certificates.number(rational(error)),
                },
            },
        )

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """Contexts (T × n × d), queries and weights as float64; the scale is folded into W_Q."""
        import numpy as np

        factor = float(scale_ball(self.scale).mid())
        contexts = [E.to_numpy() for E in self.contexts]
        arrays = {
            "contexts": np.stack([contexts[c] for c in self.context_of]),
            "queries": self.queries.to_numpy(),
        }
        for number, head in enumerate(self.heads):
            arrays[f"heads.{number}.W_K"] = head.W_K.to_numpy()
            arrays[f"heads.{number}.W_Q"] = factor * head.W_Q.to_numpy()
            if head.W_V is not None and head.W_O is not None:
                arrays[f"heads.{number}.W_V"] = head.W_V.to_numpy()
                arrays[f"heads.{number}.W_O"] = head.W_O.to_numpy()
        return arrays

    def formula(self) -> str:
        """Every weight matrix as an aligned display."""
        heads = [
            {
                name: value.formula()
                for name in ("W_K", "W_Q", "W_V", "W_O")
                if (value := getattr(head, name)) is not None
            }
            for head in self.heads
        ]
        return weights([], heads)


def scale_ball(scale: Scale) -> arb:
    """The scale as a ball at the working precision.

    >>> scale_ball("1/sqrt(4)")
    0.500000000000000
    """
    if scale == "1":
        return arb(1)
    if scale == "ln2":
        return arb.const_log2()
    found = _SQRT.fullmatch(scale)
    if found is None:
        raise LemmaxError(f"The scale is '1', 'ln2' or '1/sqrt(N)', not {scale!r}.")
    return 1 / arb(int(found[1])).sqrt()


def multi_head(
    contexts: Any,
    queries: MatrixLike,
    heads: Sequence[ContextHead],
    scale: Scale = "1",
    *,
    floats: bool = False,
) -> MultiHead:
    """A :class:`MultiHead` from one shared context or from one context an example.

    Parameters
    ----------
    contexts
        An n × d matrix, shared by all examples, or a sequence of T such matrices; equal ones are
        recognised.
    queries
        One row an example.
    heads
        The heads; all of them see the same scale.
    floats
        Read floats as the dyadic rationals that they are.

    Raises
    ------
    ShapeError
        Ragged contexts, or weights whose sizes do not fit.
    NotExact
        A float without ``floats=True``, a NaN or an infinity.

    Notes
    -----
    Cost: that of reading the entries; ranks are computed when they are asked for.

    Examples
    --------
    >>> head = ContextHead([[0], [1]], [[1], [0]])
    >>> multi_head([[1, 0], [0, 1]], [[1, 0], [2, 0]], [head]).feature_rank().rank
    2
    """
    query_matrix = queries if isinstance(queries, Matrix) else Matrix(queries, floats=floats)
    kept, context_of = group_contexts(contexts, query_matrix.shape[0], floats=floats)
    return MultiHead(kept, context_of, query_matrix, tuple(heads), scale)


def group_contexts(
    contexts: Any, examples: int, *, floats: bool = False
) -> tuple[tuple[Matrix, ...], tuple[int, ...]]:
    """The different contexts, and which of them each example has.

    >>> kept, which = group_contexts([[[1, 2]], [[3, 4]], [[1, 2]]], 3)
    >>> len(kept), which
    (2, (0, 1, 0))
    """
    if isinstance(contexts, Matrix):
        return (contexts,), (0,) * examples
    if _depth(contexts) == 2:
        return (Matrix(contexts, floats=floats),), (0,) * examples
    matrices = [c if isinstance(c, Matrix) else Matrix(c, floats=floats) for c in contexts]
    if len(matrices) != examples:
        raise ShapeError(f"There are {len(matrices)} contexts for {examples} queries.")
    places: dict[tuple[Any, ...], int] = {}
    kept: list[Matrix] = []
    which = []
    for context in matrices:
        numerators, denominator = context.flint.numer_denom()
        key = (context.shape, int(denominator), *map(int, numerators.entries()))
        place = places.setdefault(key, len(kept))
        if place == len(kept):
            kept.append(context)
        which.append(place)
    return tuple(kept), tuple(which)


def _depth(contexts: Any) -> int:
    """2 for one matrix, 3 for a sequence of matrices."""
    depth = 0
    while isinstance(contexts, (list, tuple)):
        depth += 1
        if not contexts:
            raise ShapeError("A context needs at least one token.")
        contexts = contexts[0]
    if isinstance(contexts, (Matrix, fmpz_mat, fmpq_mat)):
        return depth + 2
    return depth + int(getattr(contexts, "ndim", 0))


@dataclass(frozen=True)
class FeatureRank(Typeset):
    """Bounds for rank Z; ``lower`` is attained modulo ``prime`` at z = ``point``."""

    layer: MultiHead
    lower: int
    upper: int
    ceiling: CeilingBound
    prime: int
    point: int

    @property
    def rank(self) -> int | None:
        """The rank, or None while the bounds differ."""
        return self.lower if self.lower == self.upper else None

    def certificate(self) -> Certificate:
        """A ``multi-head`` certificate for lower <= rank Z <= upper."""
        matrix = self.layer.features_modulo(self.prime, self.point)
        assert matrix is not None, "the point was tried before"
        rows, columns = pivots_modulo(matrix)
        return _rank_certificate(
            self.layer,
            "feature-rank",
            {"bound": self.lower, **_minor(self, rows, columns)},
            {"bound": self.upper, "method": "contexts", "contexts": list(self.ceiling.contexts)},
        )

    def formula(self) -> str:
        """The rank as an equation, or the bounds as inequalities."""
        return _equation("Z", self.lower, self.upper)


@dataclass(frozen=True)
class JacobianRank(Typeset):
    """Bounds for the rank of the Jacobian of the outputs in the weights."""

    layer: MultiHead
    lower: int
    upper: int
    method: str
    prime: int
    point: int

    @property
    def rank(self) -> int | None:
        """The rank, or None while the bounds differ."""
        return self.lower if self.lower == self.upper else None

    def certificate(self) -> Certificate:
        """A ``multi-head`` certificate for lower <= rank of the Jacobian <= upper."""
        matrix = self.layer.jacobian_modulo(self.prime, self.point)
        assert matrix is not None, "the point was tried before"
        rows, columns = pivots_modulo(matrix)
        return _rank_certificate(
            self.layer,
            "jacobian-rank",
            {"bound": self.lower, **_minor(self, rows, columns)},
            {"bound": self.upper, "method": self.method},
        )

    def formula(self) -> str:
        """The rank as an equation, or the bounds as inequalities."""
        return _equation("J", self.lower, self.upper)


def _minor(
    found: FeatureRank | JacobianRank, rows: list[int], columns: list[int]
) -> dict[str, object]:
    minor: dict[str, object] = {"prime": str(found.prime), "rows": rows, "columns": columns}
    if found.layer.scale != "ln2":
        minor["point"] = str(found.point)
    return minor


def _rank_certificate(
    layer: MultiHead, kind: str, lower: dict[str, Any], upper: dict[str, Any]
) -> Certificate:
    return certificates.certificate(
        "multi-head",
        {
            **layer.certificate_fields(values=kind == "jacobian-rank"),
            "assertion": {"type": kind, "lower": lower, "upper": upper},
        },
    )


def _equation(symbol: str, lower: int, upper: int) -> str:
    return between(lower, rf"\operatorname{{rank}} {symbol}", upper)


def context_ranks(contexts: Sequence[Matrix]) -> list[int]:
    """The exact rank of every context: Assumption 2 asks that each is n."""
    return [certified_rank(E).rank for E in contexts]


__all__ = [
    "MERSENNE_61",
    "ContextHead",
    "FeatureRank",
    "JacobianRank",
    "MultiHead",
    "context_ranks",
    "group_contexts",
    "multi_head",
    "scale_ball",
]
