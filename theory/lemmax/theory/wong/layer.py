r"""Attention layers in Wong's shapes, over the rationals.

A layer is a vocabulary, an embedding W_E (|T| × d_model), an unembedding W_U (d_model × |T|) and
heads with W_Q (d_model × d_qk), W_K (d_qk × d_model), W_V (d_model × d_vo), W_O (d_vo × d_model).
Its logits on a sequence x are, with X the one-hot rows of x (equations 2 and 3),

.. math:: Z(x) = X W_{EU} + \sum_h \triangle(X W_{QK}^h X^\top)\, X W_{VO}^h .

Attention scores are rational multiples of a unit, 1 or ln 2, so every attention weight is a
rational function of z = e^{1/q} (or of z = 2): the forward pass is exact, and a tie between two
logits is decided by comparing polynomials.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_poly

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.latex import Typeset, weights
from lemmax.theory.numbers.matrices import Matrix, MatrixLike
from lemmax.theory.numbers.row_maps import Unit
from lemmax.theory.shown import counted, html_table, shortened
from lemmax.theory.sympified import symbolic_weights
from lemmax.theory.wong.logit_rows import LogitRow

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

UNIT_ROUNDOFF = fmpq(1, 2**53)


@dataclass(frozen=True, init=False)
class Head:
    """One attention head; the shapes are those of the module's first paragraph.

    >>> head = Head(W_Q=[[1], [0]], W_K=[[1, 1]], W_V=[[0, 1], [1, 0]], W_O=[[1, 0], [0, 1]])
    >>> head.d_qk, head.d_vo
    (1, 2)
    """

    W_Q: Matrix
    W_K: Matrix
    W_V: Matrix
    W_O: Matrix

    def __init__(self, W_Q: MatrixLike, W_K: MatrixLike, W_V: MatrixLike, W_O: MatrixLike) -> None:
        for name, value in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V), ("W_O", W_O)):
            object.__setattr__(self, name, _as_matrix(value))
        d = self.W_Q.shape[0]
        expected = {
            "W_K": (self.W_Q.shape[1], d),
            "W_V": (d, self.W_V.shape[1]),
            "W_O": (self.W_V.shape[1], d),
        }
        for name, shape in expected.items():
            given = getattr(self, name).shape
            if given != shape:
                raise ShapeError(f"{name} has shape {given}, but its head needs {shape}.")

    def matrices(self) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        """W_Q, W_K, W_V and W_O."""
        return self.W_Q, self.W_K, self.W_V, self.W_O

    def to_sympy(self) -> dict[str, Any]:
        """The matrices by name, for sympy."""
        return {name: getattr(self, name).to_sympy() for name in ("W_Q", "W_K", "W_V", "W_O")}

    @property
    def d_qk(self) -> int:
        """The query-key dimension."""
        return self.W_Q.shape[1]

    @property
    def d_vo(self) -> int:
        """The value-output dimension."""
        return self.W_V.shape[1]


def _as_matrix(value: MatrixLike) -> Matrix:
    return value if isinstance(value, Matrix) else Matrix(value)


@dataclass(frozen=True, init=False)
class AttentionLayer(Typeset):
    """A single attention layer with exact weights.

    Examples
    --------
    >>> layer = AttentionLayer(("a", "b"), [[1], [2]], [[1, 0]], [Head([[1]], [[1]], [[3]], [[1]])])
    >>> layer.d_model, layer.d_qk, layer.d_vo, layer.parameters
    (1, 1, 1, 4)
    >>> layer.last_logits(("a", "b")).argmax()
    (0,)
    """

    tokens: tuple[Hashable, ...]
    W_E: Matrix
    W_U: Matrix
    heads: tuple[Head, ...]
    unit: Unit
    index: dict[Hashable, int] = field(repr=False, compare=False, hash=False)

    def __init__(
        self,
        tokens: Iterable[Hashable],
        W_E: MatrixLike,
        W_U: MatrixLike,
        heads: Iterable[Head] = (),
        unit: Unit = "1",
    ) -> None:
        object.__setattr__(self, "tokens", tuple(tokens))
        object.__setattr__(self, "W_E", _as_matrix(W_E))
        object.__setattr__(self, "W_U", _as_matrix(W_U))
        object.__setattr__(self, "heads", tuple(heads))
        object.__setattr__(self, "unit", unit)
        object.__setattr__(self, "index", {t: i for i, t in enumerate(self.tokens)})
        if len(self.index) != len(self.tokens):
            raise LemmaxError("The tokens of a layer must be distinct.")
        if self.unit not in ("1", "ln2"):
            raise LemmaxError(f"The unit of attention scores is '1' or 'ln2', not {self.unit!r}.")
        size, d = len(self.tokens), self.W_E.shape[1]
        if self.W_E.shape[0] != size:
            raise ShapeError(f"W_E has {self.W_E.shape[0]} rows for {size} tokens.")
        if self.W_U.shape != (d, size):
            raise ShapeError(f"W_U has shape {self.W_U.shape}, but must be {(d, size)}.")
        for number, head in enumerate(self.heads, 1):
            if head.W_Q.shape[0] != d:
                raise ShapeError(f"Head {number} works in dimension {head.W_Q.shape[0]}, not {d}.")

    @property
    def d_model(self) -> int:
        """The embedding dimension."""
        return self.W_E.shape[1]

    @property
    def d_qk(self) -> int:
        """The largest query-key dimension of a head."""
        return max((head.d_qk for head in self.heads), default=0)

    @property
    def d_vo(self) -> int:
        """The largest value-output dimension of a head."""
        return max((head.d_vo for head in self.heads), default=0)

    @property
    def parameters(self) -> int:
        """Non-embedding parameters: 2·H·d_model·(d_vo + d_qk) when heads are alike."""
        return sum(2 * self.d_model * (head.d_vo + head.d_qk) for head in self.heads)

    @cached_property
    def W_EU(self) -> Matrix:
        """The embed-unembed circuit W_E W_U."""
        return self.W_E @ self.W_U

    def W_QK(self, head: int) -> Matrix:
        """The query-key circuit W_E W_Q W_K W_E^T of a head."""
        h = self.heads[head]
        return (self.W_E @ h.W_Q) @ (h.W_K @ self.W_E.T)

    def W_VO(self, head: int) -> Matrix:
        """The value-output circuit W_E W_V W_O W_U of a head."""
        h = self.heads[head]
        return (self.W_E @ h.W_V) @ (h.W_O @ self.W_U)

    def indices(self, sequence: Sequence[Hashable]) -> list[int]:
        """Token numbers of a sequence; an unknown token is refused by name."""
        if not sequence:
            raise LemmaxError("A sequence needs at least one token.")
        unknown = [token for token in sequence if token not in self.index]
        if unknown:
            raise LemmaxError(f"The token {unknown[0]!r} is unknown to this layer.")
        return [self.index[token] for token in sequence]

    def scores(self, sequence: Sequence[Hashable]) -> list[Matrix]:
        """The matrix X W_QK X^T of every head, in multiples of the unit."""
        X = self.W_E[self.indices(sequence), range(self.d_model)]
        return [(X @ h.W_Q) @ (h.W_K @ X.T) for h in self.heads]

    def attention(self, sequence: Sequence[Hashable], precision: int = 128) -> list[arb_mat]:
        """The masked attention matrix of every head (equation 3), as balls."""
        matrices = []
        with ctx.workprec(precision):
            unit = arb.const_log2() if self.unit == "ln2" else arb(1)
            for scores in self.scores(sequence):
                n = scores.shape[0]
                rows = []
                for i in range(n):
                    top = max(scores[i, j] for j in range(i + 1))
                    weights = [(unit * arb(scores[i, j] - top)).exp() for j in range(i + 1)]
                    total = sum(weights, arb(0))
                    rows.append([w / total for w in weights] + [arb(0)] * (n - i - 1))
                matrices.append(arb_mat(rows))
        return matrices

    def logits(self, sequence: Sequence[Hashable], precision: int = 128) -> arb_mat:
        """Z(x) of equation 2 as balls: one row per position, one column per token."""
        X = self.W_E[self.indices(sequence), range(self.d_model)]
        with ctx.workprec(precision):
            Z = arb_mat((X @ self.W_U).flint)
            for head, attention in zip(
                self.heads, self.attention(sequence, precision), strict=True
            ):
                values = (X @ head.W_V) @ (head.W_O @ self.W_U)
                Z = Z + attention * arb_mat(values.flint)
        return Z

    def last_logits(self, sequence: Sequence[Hashable]) -> LogitRow:
        """The logits of the last position, exactly, as rational functions of z."""
        indices = self.indices(sequence)
        X = self.W_E[indices, range(self.d_model)]
        last = len(indices) - 1
        scores = [s.flint.tolist()[last] for s in self.scores(sequence)]
        q = math.lcm(*(int(score.q) for row in scores for score in row))
        base = (X @ self.W_U).flint.tolist()[last]
        numerators = [fmpq_poly([x]) for x in base]
        denominator = fmpq_poly([1])
        for head, row in zip(self.heads, scores, strict=True):
            exponents = [int(score * q) for score in row]
            least = min(exponents)
            weights = [fmpq_poly([0] * (e - least) + [1]) for e in exponents]
            total = sum(weights, fmpq_poly())
            if len(set(exponents)) == 1:  # uniform attention is rational: keep degrees at zero
                weights = [fmpq_poly([fmpq(1, len(exponents))])] * len(exponents)
                total = fmpq_poly([1])
            values = ((X @ head.W_V) @ (head.W_O @ self.W_U)).flint.tolist()
            numerators = [
                numerator * total
                + denominator * sum((w * values[i][t] for i, w in enumerate(weights)), fmpq_poly())
                for t, numerator in enumerate(numerators)
            ]
            denominator = denominator * total
        return LogitRow(tuple(numerators), denominator, q, self.unit)

    def symbolic_logits(self, sequence: Sequence[Hashable]) -> Any:
        """The logits of the last position as a row of sympy, in exponentials of rational scores.

        Unlike :meth:`last_logits` it stays short where scores have long denominators.
        """
        from sympy import Add, Integer, Matrix, exp

        indices = self.indices(sequence)
        X = self.W_E[indices, range(self.d_model)]
        last = len(indices) - 1
        total = (X @ self.W_U).to_sympy().row(last)
        for head, scores in zip(self.heads, self.scores(sequence), strict=True):
            row = scores.to_sympy().row(last)
            gaps = [[y - x for y in row] for x in row]
            base = Integer(2) if self.unit == "ln2" else exp(1)
            weights = Matrix([[1 / Add(*(base**gap for gap in own)) for own in gaps]])
            total += weights * ((X @ head.W_V) @ (head.W_O @ self.W_U)).to_sympy()
        return total

    def scaled(self, factor: Any) -> AttentionLayer:
        """The layer with W_U times a factor: all logits scale and attention does not change."""
        return AttentionLayer(self.tokens, self.W_E, factor * self.W_U, self.heads, self.unit)

    def certificate_fields(self) -> dict[str, Any]:
        """The layer as certificates carry it; tokens are written as text."""
        names = [str(token) for token in self.tokens]
        clash = (
            next((a for a, b in combinations(sorted(names), 2) if a == b), None)
            if len(set(names)) != len(names)
            else None
        )
        if clash is not None:
            raise LemmaxError(f"Two tokens of the layer are both written {clash!r}.")
        return {
            "tokens": names,
            "unit": self.unit,
            "W_E": certificates.matrix(self.W_E),
            "W_U": certificates.matrix(self.W_U),
            "heads": [
                {
                    name: certificates.matrix(getattr(h, name))
                    for name in ("W_Q", "W_K", "W_V", "W_O")
                }
                for h in self.heads
            ],
        }

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """The weights as float64 arrays; the unit is folded into W_Q."""
        import numpy as np

        scale = np.log(2.0) if self.unit == "ln2" else 1.0
        arrays = {"W_E": self.W_E.to_numpy(), "W_U": self.W_U.to_numpy()}
        for number, head in enumerate(self.heads):
            arrays[f"heads.{number}.W_Q"] = scale * head.W_Q.to_numpy()
            for name in ("W_K", "W_V", "W_O"):
                arrays[f"heads.{number}.{name}"] = getattr(head, name).to_numpy()
        return arrays

    def to_sympy(self) -> dict[str, Any]:
        """The weights for sympy, under the names of ``to_numpy``; the unit is folded into W_Q."""
        first = {"W_E": self.W_E.to_sympy(), "W_U": self.W_U.to_sympy()}
        return symbolic_weights(first, self.heads, self.unit)

    def to_torch(self, dtype: torch.dtype | None = None) -> torch.nn.Module:
        """The same layer as a torch module (float64 unless told otherwise)."""
        from lemmax.numerics.twins.wong import TorchAttentionLayer

        return TorchAttentionLayer.from_exact(self, dtype)

    def float64_error(self, sequence: Sequence[Hashable]) -> arb:
        """A bound for the difference between float64 logits and the true ones.

        Forward error analysis of the order of operations in ``to_torch``: γ_k = ku/(1-ku) for a
        product of length k, a factor e^{±2η} in an attention weight whose scores are off by η.
        It assumes that exp is good to four units in the last place and nothing overflows.
        """
        indices = self.indices(sequence)
        n, d = len(indices), self.d_model
        X = _absolute(self.W_E[indices, range(d)])
        U = _absolute(self.W_U)
        with ctx.workprec(128):
            unit = arb.const_log2() if self.unit == "ln2" else arb(1)
            error = _gamma(d + 4) * _largest((X @ U).flint)
            for head in self.heads:
                W_Q, W_K = _absolute(head.W_Q), _absolute(head.W_K)
                W_V, W_O = _absolute(head.W_V), _absolute(head.W_O)
                largest_score = unit * _largest(((X @ W_Q) @ (W_K @ X.T)).flint)
                slack = _gamma(2 * d + head.d_qk + 10) * largest_score
                slack += 4 * arb(UNIT_ROUNDOFF) * largest_score
                relative = (2 * slack).exp() * (1 + _gamma(n + 16)) - 1
                relative = (1 + relative) * (1 + _gamma(n + 2 * d + head.d_vo + 10)) - 1
                error += relative * n * _largest(((X @ W_V) @ (W_O @ U)).flint)
            total = _largest((X @ U).flint) + sum(
                (
                    n * _largest(((X @ _absolute(h.W_V)) @ (_absolute(h.W_O) @ U)).flint)
                    for h in self.heads
                ),
                arb(0),
            )
            error += _gamma(len(self.heads) + 2) * (total + error)
            return arb(error.upper())

    def __repr__(self) -> str:
        heads = counted(len(self.heads), "head")
        sizes = f"d_model={self.d_model}, d_vo={self.d_vo}, d_qk={self.d_qk}"
        return shortened(self, f"{counted(len(self.tokens), 'token')}, {heads}, {sizes}")

    def _repr_html_(self) -> str:
        matrices = {"W_E": self.W_E, "W_U": self.W_U}
        for number, head in enumerate(self.heads, 1):
            parts = zip(("W_Q", "W_K", "W_V", "W_O"), head.matrices(), strict=True)
            matrices |= {f"{name} of head {number}": matrix for name, matrix in parts}
        rows = [(name, "{} × {}".format(*m.shape)) for name, m in matrices.items()]
        return f"<p>{counted(len(self.tokens), 'token')}</p>{html_table(rows, ('weights', 'size'))}"

    def formula(self) -> str:
        """Every weight matrix as an aligned display."""
        first = [rf"W_E &= {self.W_E.formula()}", rf"W_U &= {self.W_U.formula()}"]
        scale = r"\ln 2 \cdot " if self.unit == "ln2" else ""
        heads = [
            {
                "W_Q": scale + head.W_Q.formula(),
                "W_K": head.W_K.formula(),
                "W_V": head.W_V.formula(),
                "W_O": head.W_O.formula(),
            }
            for head in self.heads
        ]
        return weights(first, heads)


def _absolute(matrix: Matrix) -> Matrix:
    return Matrix([[abs(x) for x in row] for row in matrix.flint.tolist()])


def _largest(matrix: Any) -> arb:
    return arb(max(x for row in matrix.tolist() for x in row))


def _gamma(k: int) -> arb:
    return arb(k * UNIT_ROUNDOFF / (1 - k * UNIT_ROUNDOFF))
