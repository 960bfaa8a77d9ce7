r"""Multi-head attention on contexts and queries (Mahdavi, Liao and Thrampoulidis 2024), exactly.

Example t has a context :math:`E^{(t)}` (n × d, its rows are the tokens) and a query
:math:`e^{(t)}`. Head h attends with

.. math:: \theta_h^{(t)} = \operatorname{softmax}(E^{(t)} W_K^h {W_Q^h}^\top e^{(t)} \cdot s),

where s > 0 is one common scale: 1, :math:`1/\sqrt N`, or ln 2. The feature matrix Z has the rows
:math:`[\theta_1^\top E, \dots, \theta_H^\top E]`, and the layer's outputs are linear in them.

With rational data and weights every logit is an integer multiple of s/q, so every entry of Z is a
rational function of :math:`z = e^{s/q}`; what follows for ranks is in
:mod:`lemmax.theory.mahdavi.ranks`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz, fmpz_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError, NotExact, ShapeError
from lemmax.theory.latex import Typeset, weights
from lemmax.theory.mahdavi.contexts import SQUARE_ROOT, Scale, group_contexts, scale_ball
from lemmax.theory.mahdavi.heads import ContextHead as ContextHead
from lemmax.theory.numbers.matrices import Matrix, MatrixLike
from lemmax.theory.sympified import symbolic_array, symbolic_weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lemmax.theory.mahdavi.ranks import FeatureRank, JacobianRank


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

    def __post_init__(self) -> None:
        if not self.contexts:
            raise ShapeError("There must be at least one context.")
        if len({context.shape for context in self.contexts}) != 1:
            shapes = sorted({context.shape for context in self.contexts})
            raise ShapeError(f"All contexts must have one shape, not {shapes[0]} and {shapes[1]}.")
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
        if self.scale not in ("1", "ln2") and not SQUARE_ROOT.fullmatch(self.scale):
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
        tokens, token_den = self.integer_contexts
        queries, query_den = self.queries.flint.numer_denom()
        groups = self._groups
        by_head: list[list[list[int]]] = []
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
            by_head.append(logits)
            denominators.append(int(token_den * query_den * key_den * map_den))
        q = math.lcm(*denominators)
        scaled = [
            logits if q == den else [[x * (q // den) for x in row] for row in logits]
            for logits, den in zip(by_head, denominators, strict=True)
        ]
        common = math.gcd(q, *(x for logits in scaled for row in logits for x in row))
        if common > 1:
            scaled = [[[x // common for x in row] for row in logits] for logits in scaled]
        q //= common
        if self.scale == "ln2" and q != 1:
            raise NotExact("In units of ln 2 the attention logits must be integers.")
        return scaled, q

    @cached_property
    def integer_contexts(self) -> tuple[list[fmpz_mat], int]:
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

    def feature_rank(self) -> FeatureRank:
        """The exact rank of Z for these weights, or bounds for it."""
        from lemmax.theory.mahdavi.ranks import feature_rank

        return feature_rank(self)

    def jacobian_rank(self) -> JacobianRank:
        """The rank of the Jacobian of the T outputs (d_out = 1) in all the weights."""
        from lemmax.theory.mahdavi.ranks import jacobian_rank

        return jacobian_rank(self)

    def balls(self, precision: int = 128) -> list[arb_mat]:
        """The attention θ of every head as T × n balls."""
        exponents, q = self.exponents
        with ctx.workprec(precision):
            unit = scale_ball(self.scale) / q
            attention = []
            for logits in exponents:
                rows = []
                for row in logits:
                    top = max(row)
                    powers = [(unit * arb(x - top)).exp() for x in row]
                    total = sum(powers, arb(0))
                    rows.append([x / total for x in powers])
                attention.append(arb_mat(rows))
            return attention

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

    def to_sympy(self) -> dict[str, Any]:
        """Contexts, queries and weights for sympy, under the names of ``to_numpy``."""
        contexts = symbolic_array([self.contexts[c].tolist() for c in self.context_of])
        first = {"contexts": contexts, "queries": self.queries.to_sympy()}
        return symbolic_weights(first, self.heads, self.scale)

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


def multi_head(
    contexts: Any,
    queries: MatrixLike,
    heads: Sequence[ContextHead],
    scale: Scale = "1",
    *,
    floats: bool = False,
) -> MultiHead:
    """A :class:`MultiHead` from one shared context or from one context per example.

    Parameters
    ----------
    contexts
        An n × d matrix, shared by all examples, or a sequence of T such matrices; equal ones are
        recognised.
    queries
        One row per example.
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
