r"""The tensor L of an attention layer and a database (Wong, equations 4 to 8), exactly.

For a key k, a query q and a value v the entry is

.. math:: L_{kqv} = (W_{EU})_{qv} + \sum_h \big(\alpha^h_{kq} (W_{VO}^h)_{kv}
          + (1-\alpha^h_{kq}) (W_{VO}^h)_{qv}\big),

the logit of v after the sequence (k, q). Equation (5) sets the attention to zero where the database
has no fact about (k, q); the tensor is then *masked*, and keeps only the term W_EU there. Attention
mass is counted by positions, so that k = q gives mass 1 to the one token.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly, nmod_mat
from numpy.typing import NDArray

from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import NotExact
from lemmax.theory.facts.database import Database, Token
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.matrices import Matrix, rational
from lemmax.theory.numbers.primes import MERSENNE_61
from lemmax.theory.numbers.rank import certified_rank
from lemmax.theory.numbers.row_maps import Unit, softmax_threshold
from lemmax.theory.sympified import symbolic_array
from lemmax.theory.tensors.arrays import flattening
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.logit_rows import LogitRow

Polynomials = tuple[fmpq_poly, ...]
_POINT = 1_000_003


@dataclass(frozen=True)
class LayerTensor(Typeset):
    """L as rational functions of z = e^{1/q} (or 2^{1/q}): one :class:`LogitRow` per fibre.

    >>> layer = AttentionLayer(("a", "f", "x"), [[1], [2], [0]], [[1, 0, 3]])
    >>> tensor = layer_tensor(layer, Database.from_triples([("a", "f", "x")]))
    >>> tensor.shape, tensor.rationals()
    ((1, 1, 1), [[[6]]])
    """

    keys: tuple[Token, ...]
    queries: tuple[Token, ...]
    values: tuple[Token, ...]
    fibres: tuple[tuple[LogitRow, ...], ...]
    unit: Unit

    @property
    def shape(self) -> tuple[int, int, int]:
        """|K|, |Q|, |V|."""
        return len(self.keys), len(self.queries), len(self.values)

    def rationals(self) -> list[list[list[fmpq]]]:
        """The entries as rationals, where attention is rational (scores in ln 2 · Z, or zero)."""
        return [[row.rationals() for row in line] for line in self.fibres]

    def matrix(self) -> Matrix:
        """The fibres L_kq: as rows, pairs (k, q) in lexicographic order."""
        return Matrix([fibre for line in self.rationals() for fibre in line])

    def flattening(self, mode: int) -> Matrix:
        """The slices of a mode (0 keys, 1 queries, 2 values) as rows; needs rational logits."""
        return Matrix(flattening(_array(self.rationals()), mode))

    def certificate(self, mode: int = 0) -> Certificate:
        """A ``matrix-rank`` certificate of a flattening, which bounds rank L from below."""
        return certified_rank(self.flattening(mode)).certificate()

    def formula(self) -> str:
        """The flattening ranks as an equation."""
        return rf"(r_K, r_Q, r_V) = {self.multilinear_ranks()}"

    def to_sympy(self) -> Any:
        """The entries as a K × Q × V array of exact numbers, rational or in e (or roots of 2)."""
        return symbolic_array([[list(row.to_sympy()) for row in line] for line in self.fibres])

    def argmax(self) -> list[list[list[int]]]:
        """argmax of every fibre, ties all marked (equation 11)."""
        return [
            [[int(v in row.argmax()) for v in range(len(self.values))] for row in line]
            for line in self.fibres
        ]

    def threshold(self, tau: Any) -> list[list[list[int]]]:
        """softmax_{≥τ} of every fibre (equation 13); needs rational logits."""
        marked = softmax_threshold(self.matrix(), rational(tau)).flint.tolist()
        width = len(self.queries)
        return [
            [[int(x) for x in marked[k * width + q]] for q in range(width)]
            for k in range(len(self.keys))
        ]

    def multilinear_ranks(self) -> tuple[int, int, int]:
        """(r_K, r_Q, r_V): the ranks of the three flattenings over R, exactly.

        Rational entries are eliminated over Q. Otherwise z is transcendental, so these are ranks
        over Q(z): a minor of polynomials is zero iff it vanishes at more points than its degree.

        >>> from lemmax.theory.wong.layer import AttentionLayer, Head
        >>> db = Database.from_triples([("a", "f", "x"), ("b", "f", "y"), ("a", "g", "y")])
        >>> W_E = [[1, 2], [2, -1], [1, 1], [3, 1], [0, 0], [0, 0]]
        >>> head = Head([[1], [1]], [[1, 0]], [[1], [2]], [[1, 1]])
        >>> W_U = [[0, 0, 0, 0, 1, 2], [0, 0, 0, 0, 3, 1]]
        >>> layer = AttentionLayer(("a", "b", "f", "g", "x", "y"), W_E, W_U, [head])
        >>> layer_tensor(layer, db, masked=False).multilinear_ranks()
        (2, 2, 2)
        """
        try:
            return flattening_ranks(self.rationals())
        except NotExact:
            if self.unit == "ln2":
                raise
        cells = self._over_one_variable()
        K, Q, _ = self.shape
        by_key = [
            [x for q in range(Q) for x in _times(cells[k][q][0], _others(cells[k], q))]
            for k in range(K)
        ]
        columns = [[cells[k][q] for k in range(K)] for q in range(Q)]
        by_query = [
            [x for k in range(K) for x in _times(columns[q][k][0], _others(columns[q], k))]
            for q in range(Q)
        ]
        by_pair = [list(cells[k][q][0]) for k in range(K) for q in range(Q)]
        return (
            rank_over_functions(by_key),
            rank_over_functions(by_query),
            rank_over_functions(by_pair),
        )

    def _over_one_variable(self) -> list[list[tuple[Polynomials, fmpq_poly]]]:
        """Numerators and denominator of every fibre in z = e^{1/q} with one common q."""
        q = math.lcm(*(row.q for line in self.fibres for row in line))
        return [
            [
                (
                    tuple(_stretched(p, q // row.q) for p in row.numerators),
                    _stretched(row.denominator, q // row.q),
                )
                for row in line
            ]
            for line in self.fibres
        ]


def layer_tensor(layer: AttentionLayer, db: Database, masked: bool = True) -> LayerTensor:
    """The tensor L of a layer with respect to a database.

    Parameters
    ----------
    layer, db
        The tokens of the database must be tokens of the layer.
    masked
        As equation (5): no attention where the database has no fact. Without the mask every fibre
        is the logits of its pair, and L does not depend on the facts.

    Notes
    -----
    Cost: |K|·|Q| forward passes.

    Examples
    --------
    >>> layer = AttentionLayer(("a", "f", "x"), [[1], [2], [0]], [[1, 0, 3]])
    >>> layer_tensor(layer, Database.from_triples([("a", "f", "x")])).rationals()
    [[[6]]]
    """
    columns = layer.indices(db.values)
    rows = []
    for k in db.keys:
        line = []
        for q in db.queries:
            if masked and (k, q) not in db:
                embedded = layer.W_EU.flint.tolist()[layer.index[q]]
                numerators = tuple(fmpq_poly([embedded[v]]) for v in columns)
                line.append(LogitRow(numerators, fmpq_poly([1]), 1, layer.unit))
            else:
                row = layer.last_logits((k, q))
                numerators = tuple(row.numerators[v] for v in columns)
                line.append(LogitRow(numerators, row.denominator, row.q, row.unit))
        rows.append(tuple(line))
    return LayerTensor(db.keys, db.queries, db.values, tuple(rows), layer.unit)


def flattening_ranks(tensor: Sequence[Sequence[Sequence[Any]]]) -> tuple[int, int, int]:
    """The ranks of the three flattenings of a rational K × Q × V tensor.

    >>> flattening_ranks([[[1, 0], [0, 1]], [[1, 0], [0, 1]]])
    (1, 2, 2)
    """
    array = _array(tensor)
    r_K, r_Q, r_V = (certified_rank(flattening(array, mode)).rank for mode in range(3))
    return r_K, r_Q, r_V


def _array(tensor: Sequence[Sequence[Sequence[Any]]]) -> NDArray[Any]:
    return np.array(tensor, dtype=object)


def rank_over_functions(rows: list[list[fmpq_poly]]) -> int:
    """The rank over Q(z) of a matrix of polynomials.

    Below, one evaluation modulo a prime. Above, an (r+1)-minor has at most the degree of its r + 1
    largest rows together; where it vanishes at more points than that, it is zero.

    >>> z = fmpq_poly([0, 1])
    >>> rank_over_functions([[z, z * z], [z * z, z * z * z]])
    1
    """
    size = min(len(rows), len(rows[0]))
    rank = _evaluated_modulo(rows).rank()
    degrees = sorted((max(max(p.degree(), 0) for p in row) for row in rows), reverse=True)
    point = 0
    while rank < size and point <= sum(degrees[: rank + 1]):
        point += 1  # all points so far have rank at most ``rank``
        at = fmpq_mat([[p(fmpq(point)) for p in row] for row in rows])
        rank = max(rank, certified_rank(at).rank)
    return rank


def _evaluated_modulo(rows: list[list[fmpq_poly]]) -> nmod_mat:
    # Denominators are cleared row by row, which keeps the rank.
    entries = []
    for row in rows:
        common = math.lcm(*(int(p.denom()) for p in row))
        for p in row:
            value = 0
            for coefficient in reversed(p.coeffs()):
                value = (value * _POINT + int(coefficient * common)) % MERSENNE_61
            entries.append(value)
    return nmod_mat(len(rows), len(rows[0]), entries, MERSENNE_61)


def _stretched(polynomial: fmpq_poly, factor: int) -> fmpq_poly:
    """p(z^factor)."""
    if factor == 1:
        return polynomial
    spread: list[fmpq] = []
    for coefficient in polynomial.coeffs():
        spread += [coefficient] + [fmpq(0)] * (factor - 1)
    return fmpq_poly(spread)


def _others(cells: Sequence[tuple[Polynomials, fmpq_poly]], place: int) -> fmpq_poly:
    """The product of the other denominators, for a row over one common denominator."""
    return math.prod(
        (denominator for i, (_, denominator) in enumerate(cells) if i != place),
        start=fmpq_poly([1]),
    )


def _times(numerators: Polynomials, factor: fmpq_poly) -> list[fmpq_poly]:
    return [p * factor for p in numerators]
