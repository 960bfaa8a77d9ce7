r"""The rank of attention before output, for given weights.

For sequences t of a set 𝒯 of size T₀ let X_S, A and A' = [X_S; A] be the matrices with one column
per sequence (here: one row), and W_V A' = [X_S; W_V^h A^h]: the skip rows are not compressed.

Attention weights lie in Q(z) with z = e^{1/q} transcendental, so one evaluation z → z₀ modulo a
prime bounds the real rank from below. From above: a bound that holds for all weights
(:func:`~lemmax.theory.dana.rank_bounds.rank_bound`), or the exact rank at one integer z₀ beyond
Cauchy's bound on the roots of every minor.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.attention_modulo import features_modulo
from lemmax.theory.dana.rank_bounds import (
    Which,
    rank_bound,
)
from lemmax.theory.dana.transformer import AoT, token_sequences
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset, between
from lemmax.theory.numbers.interval import Interval
from lemmax.theory.numbers.primes import POWERS_OF_TWO_31
from lemmax.theory.numbers.rank import certified_rank, pivots_modulo
from lemmax.theory.numbers.residues import flint_modulo

_POINTS = (1_234_567_891, 987_654_321, 271_828_182, 314_159_265)
_BUDGET_BITS = 4_000_000


@dataclass(frozen=True)
class AoTRank(Interval, Typeset):
    """Bounds for the real rank of A, A' or W_V A'; ``method`` says what bounds it from above."""

    model: AoT
    sequences: tuple[tuple[Hashable, ...], ...]
    matrix: Which
    lower: int
    upper: int
    method: str
    point: int

    def certificate(self) -> Certificate:
        """An ``aot-rank`` certificate: the rank is at least ``lower``."""
        indices = self.model.indices(self.sequences)
        for point in (self.point,) if self.model.unit == "ln2" else (self.point, *range(2, 99)):
            table = features_modulo(self.model, indices, self.matrix, point)
            rows, columns = pivots_modulo(flint_modulo(table, POWERS_OF_TWO_31))
            if len(rows) == self.lower:
                break
        else:
            raise LemmaxError(
                f"No minor of order {self.lower} is nonzero modulo {POWERS_OF_TWO_31}."
            )
        return certificates.certificate(
            "aot-rank",
            {
                **self.model.certificate_fields(),
                "sequences": [list(t) for t in indices],
                "matrix": self.matrix,
                "at_least": self.lower,
                "prime": str(POWERS_OF_TWO_31),
                "point": str(point),
                "rows": rows,
                "columns": columns,
            },
        )

    def formula(self) -> str:
        """The rank as an equation, or the bounds as inequalities."""
        return between(self.lower, rf"\operatorname{{rank}} {self.matrix}", self.upper)


def aot_rank(
    model: AoT, sequences: Sequence[Sequence[Hashable]], matrix: Which = "W_V A'"
) -> AoTRank:
    """The rank of attention before output on a set of sequences, bounded from both sides.

    Cost: one vectorised evaluation and one elimination modulo p below; above, ranks of incidence
    matrices, and for small cases an exact elimination with long integers.

    Examples
    --------
    >>> from lemmax.theory.dana.generic import generic_aot
    >>> model = generic_aot(N=2, S=2, d=2, d_h=1, H=1)
    >>> aot_rank(model, [(0, 0), (1, 0), (0, 1)]).rank
    3
    >>> aot_rank(generic_aot(N=2, S=1, d=1, d_h=1, H=2), [(0,), (1,)], "A").rank  # Lemma 2 says 2
    1
    """
    if matrix not in ("A", "A'", "W_V A'"):
        raise LemmaxError(f"The matrix is A, A' or W_V A', not {matrix!r}.")
    if matrix == "A" and not model.heads:
        raise LemmaxError("Without heads there is no attention before output.")
    checked = tuple(token_sequences(sequences))
    indices = model.indices(checked)
    points = (2,) if model.unit == "ln2" else _POINTS
    lower, point = -1, 0
    bound = rank_bound(checked, model.d, [h.d_h for h in model.heads], matrix)
    upper, method = bound
    for candidate in points:
        table = features_modulo(model, indices, matrix, candidate)
        rank = flint_modulo(table, POWERS_OF_TWO_31).rank()
        if rank > lower:
            lower, point = rank, candidate
        if lower == upper:
            break
    if lower < upper:
        exact = _exact_rank(model, indices, matrix, lower)
        if exact is not None:
            # should every modular point have been unlucky, the exact value still is the rank
            lower, upper, method = exact, exact, "exact value"
    return AoTRank(model, checked, matrix, lower, upper, method, point)


# --- below: arithmetic modulo p, for all sequences at once ---------------------------------------


# --- above ----------------------------------------------------------------------------------------


def _exact_rank(
    model: AoT, indices: list[tuple[int, ...]], matrix: Which, lower: int
) -> int | None:
    """The rank over Q(z), at an integer beyond Cauchy's bound; None where that is too large.

    Row t times Π_h Z_t^h has integer polynomials in z as entries whose coefficients add up to at
    most S^H Y in absolute value, Y the largest entry of X or W_V X; so the coefficients of an
    (r+1)-minor are at most B = (r+1)! (S^H Y)^{r+1}, and it vanishes at B + 2 only if it is zero.
    """
    e, pos, circuits, q, _ = model.integer_form()
    if model.unit == "ln2" and q != 1:
        return None
    embedding, positions = e.tolist(), pos.tolist()
    values = [head.W_V.flint.numer_denom()[0] for head in model.heads]
    largest_vector = 1
    tables = []
    for t in indices:
        x = [
            [int(a) + int(b) for a, b in zip(embedding[i], p, strict=True)]
            for i, p in zip(t, positions, strict=True)
        ]
        heads = []
        for circuit, value in zip(circuits, values, strict=True):
            rows = circuit.tolist()
            query = [
                sum(x[-1][i] * int(rows[i][j]) for i in range(model.d)) for j in range(model.d)
            ]
            scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in x]
            outputs = x
            if matrix == "W_V A'":
                outputs = [
                    [
                        sum(int(v) * b for v, b in zip(row, key, strict=True))
                        for row in value.tolist()
                    ]
                    for key in x
                ]
            least = min(scores)
            heads.append(([score - least for score in scores], outputs))
            largest_vector = max(largest_vector, *(abs(v) for row in outputs for v in row))
        largest_vector = max(largest_vector, *(abs(v) for v in x[-1]))
        tables.append((x, heads))
    highest = max((s for _, heads in tables for scores, _ in heads for s in scores), default=0)
    coefficient = model.S**model.H * largest_vector
    rank = lower
    while True:
        z = math.factorial(rank + 1) * coefficient ** (rank + 1) + 2
        if model.unit == "ln2":
            z = 2
        width = (model.H + 1) * max(model.d, model.d_h)
        if highest * z.bit_length() * len(indices) * width > _BUDGET_BITS:
            return None
        table: list[list[fmpq]] = []
        for x, heads in tables:
            row: list[fmpq] = [] if matrix == "A" else [fmpq(v) for v in x[-1]]
            for scores, outputs in heads:
                weights = [z**score for score in scores]
                total = sum(weights)
                row += [
                    fmpq(sum(w * v for w, v in zip(weights, column, strict=True)), total)
                    for column in zip(*outputs, strict=True)
                ]
            table.append(row)
        exact = certified_rank(fmpq_mat(table)).rank
        if model.unit == "ln2" or exact == rank:
            return exact
        rank = exact


# --- generic weights ------------------------------------------------------------------------------
