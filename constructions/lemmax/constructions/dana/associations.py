r"""Associative memory in an attention-only transformer: frozen exact weights, certified margins.

The construction behind Dana et al. (2024), Corollary 1, where it works. With the unembedding
\(W_j = (j, j^2)\) the embedding \((2g, -1)\) has logits \(2gj - j^2 = g^2 - (j-g)^2\), largest at
j = g by at least 1. Random rational embeddings, value maps and query-key matrices of rank one make
the features \([x(t,S); W_V^h A^h(t)]\), and a linear system sends them to the wanted embeddings:
\(M_0 x(t,S) + \sum_h O_h W_V^h A^h(t) = (2g(t), -1)\). Then W_U = W M_0 and
W_O^h = M_0^{-1} O_h are rounded to dyadic numbers, and the margins of the rounded weights are
enclosed in balls.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.bigrams import bigram_rank
from lemmax.theory.dana.encoders import SequenceEncoder
from lemmax.theory.dana.rank_bounds import last_token_classes, rank_bound
from lemmax.theory.dana.transformer import (
    AoT,
    AoTHead,
    TokenSequence,
    associations,
    token_sequences,
)
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.balls import midpoint, rational_below
from lemmax.theory.numbers.matrices import Matrix, rational

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

_GRID = 64  # denominators of the random weights
_PRECISIONS = (192, 448, 1024, 2304)


class ConstructionObstructed(LemmaxError):
    """The rank formula forbids the linear system; other weights may still memorize the pairs."""


class NotFound(LemmaxError):
    """No weights were found, and no obstruction is proved."""


@dataclass(frozen=True)
class AssociativeMemory(Typeset):
    """A transformer that memorizes ``pairs``; ``margin`` is a proved lower bound of all margins.

    >>> memory = associative_memory({"ab": "b", "ba": "a"}, H=1, d_h=1)
    >>> memory.recall("ba"), memory.margin > 0
    ('a', True)
    """

    model: AoT
    pairs: dict[TokenSequence, Hashable]
    margin: fmpq

    @property
    def capacity(self) -> int:
        """The number of associations."""
        return len(self.pairs)

    def recall(self, sequence: Sequence[Hashable]) -> Hashable:
        """The token of largest logit."""
        return self.model.predict(sequence)

    def certificate(self) -> Certificate:
        """An ``aot-memorization`` certificate."""
        return self.model.memorization_certificate(self.pairs)

    @property
    def claim(self) -> str:
        """The claim that this witnesses."""
        return "lemmax/repaired-corollary-1"

    def formula(self) -> str:
        """The weights."""
        return self.model.formula()

    def to_sympy(self) -> dict[str, Any]:
        """The weights for sympy."""
        return self.model.to_sympy()

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """The weights as floats."""
        return self.model.to_numpy()

    def to_torch(self, dtype: torch.dtype | None = None) -> torch.nn.Module:
        """The transformer as a torch module."""
        return self.model.to_torch(dtype)


def associative_memory(
    pairs: Any,
    H: int,
    d_h: int,
    d: int = 2,
    *,
    tokens: Iterable[Hashable] | None = None,
    seed: int = 0,
) -> AssociativeMemory:
    """Frozen exact weights that memorize the given sequence–token pairs.

    Parameters
    ----------
    pairs
        A mapping, or pairs (sequence, token); sequences of one length S.
    H, d_h, d
        Heads, their inner dimension, and the embedding dimension, at least 2.
    tokens
        The dictionary; by default the tokens that occur.

    Raises
    ------
    ConstructionObstructed
        The linear system cannot be solved for all targets, whatever the weights; the sentence names
        the inequality. That obstructs this construction, not memorization.
    NotFound
        Neither weights nor an obstruction were found.

    Notes
    -----
    By ``lemmax/aot-rank`` H + min(d, K) associations always fit (S ≥ 2), K being the number of last
    tokens; for S = 2 the matroid union decides exactly what else does. The cost is one linear
    system of size T₀ in 200 bits or more, and T₀·H·S exponentials, twice.

    Examples
    --------
    >>> memory = associative_memory({"ab": "b", "ba": "a", "aa": "b"}, H=1, d_h=1)
    >>> [memory.recall(t) for t in ("ab", "ba", "aa")], memory.margin > 0
    (['b', 'a', 'b'], True)
    >>> associative_memory({"aaa": "a", "aba": "b", "baa": "b", "bba": "a"}, H=1, d_h=2)
    Traceback (most recent call last):
    ...
    lemmax.constructions.dana.associations.ConstructionObstructed: The features of these ...
    """
    table = associations(pairs)
    if H < 0 or d_h < 1 or d < 2:
        raise LemmaxError("The construction needs H ≥ 0, d_h ≥ 1 and d ≥ 2.")
    occurring = dict.fromkeys([x for t in table for x in t] + list(table.values()))
    names = tuple(occurring if tokens is None else dict.fromkeys(tokens))
    for token in occurring:
        if token not in names:
            raise LemmaxError(f"The token {token!r} is not in the dictionary.")
    if len(names) < 2:
        raise LemmaxError("With a single token there is nothing to tell apart.")
    place = {token: i - len(names) // 2 for i, token in enumerate(names)}
    unembedding = [[place[token], place[token] ** 2] + [0] * (d - 2) for token in names]
    wanted = [[2 * place[g], -1] + [0] * (d - 2) for g in table.values()]
    if all(len({table[t] for t in part}) == 1 for part in last_token_classes(table)):
        model = _by_embedding(table, names, place, unembedding, H, d_h, d)
        return AssociativeMemory(model, table, _margin(model, table))
    _refuse_if_obstructed(table, H, d_h, d)
    for attempt in range(3):
        base = _random_model(names, len(next(iter(table))), H, d_h, d, seed + attempt)
        for precision in _PRECISIONS:
            solved = _solve(base, table, unembedding, wanted, precision)
            if solved is None:
                continue
            margins = solved.margins(table, 96)
            if all(margin > 0 for margin in margins):
                return AssociativeMemory(solved, table, _margin(solved, table, margins))
    raise NotFound(
        f"No weights were found for these {len(table)} associations, and no obstruction is proved."
    )


def _margin(
    model: AoT, pairs: dict[TokenSequence, Hashable], margins: list[arb] | None = None
) -> fmpq:
    """A rational number below every margin."""
    balls = model.margins(pairs) if margins is None else margins
    lowest = min(rational_below(ball, 20) for ball in balls)
    if lowest <= 0:
        raise NotFound("The margins are positive but too small to be of use.")
    return lowest


def _by_embedding(
    table: dict[TokenSequence, Hashable],
    names: tuple[Hashable, ...],
    place: dict[Hashable, int],
    unembedding: list[list[int]],
    H: int,
    d_h: int,
    d: int,
) -> AoT:
    """Targets that depend on the last token only are written into the embedding."""
    answer = {t[-1]: g for t, g in table.items()}
    rows = [[2 * place[answer.get(token, token)], -1] + [0] * (d - 2) for token in names]
    S = len(next(iter(table)))
    zero = Matrix.zeros(d_h, d)
    idle = AoTHead(zero, zero, zero, zero.T)
    return AoT(names, Matrix(rows), Matrix.zeros(S, d), Matrix(unembedding), (idle,) * H)


def _refuse_if_obstructed(table: Mapping[TokenSequence, Any], H: int, d_h: int, d: int) -> None:
    sequences = list(table)
    advice = "an obstruction to this construction, not to memorization"
    if len(sequences[0]) == 2:
        union = bigram_rank(sequences, d, d_h, H)
        if not union.solvable:
            raise ConstructionObstructed(
                f"The features of these {len(table)} bigrams have rank at most {union.rank} for "
                f"all weights, since {union.inequality}: {advice}."
            )
        return
    bound, reason = rank_bound(sequences, d, d_h, "W_V A'", H)
    if bound < len(table):
        raise ConstructionObstructed(
            f"The features of these {len(table)} sequences have rank at most {bound} for all "
            f"weights, since {reason}: {advice}."
        )


def _random_model(names: tuple[Hashable, ...], S: int, H: int, d_h: int, d: int, seed: int) -> AoT:
    """Random rational weights; W_QK has rank one and scores of moderate size."""
    source = random.Random(seed)

    def grid(rows: int, columns: int, spread: int) -> Matrix:
        size = spread * _GRID
        return Matrix(
            [
                [fmpq(source.randint(-size, size), _GRID) for _ in range(columns)]
                for _ in range(rows)
            ]
        )

    def query_or_key() -> Matrix:
        return Matrix(grid(1, d, 2).flint.tolist() + [[0] * d] * (d_h - 1))

    heads = tuple(
        AoTHead(query_or_key(), query_or_key(), grid(d_h, d, 1), Matrix.zeros(d, d_h))
        for _ in range(H)
    )
    e, pos = grid(len(names), d, 1), grid(S, d, 1)
    return AoT(names, e, pos, Matrix.zeros(len(names), d), heads)


def _solve(
    base: AoT,
    table: Mapping[TokenSequence, Any],
    unembedding: list[list[Any]],
    wanted: list[list[Any]],
    precision: int,
    more: int = 4,
) -> AoT | None:
    """Weights M_0 and O_h of least norm, rounded; None where the system looks singular."""
    d, inner = base.d, [head.d_h for head in base.heads]
    with ctx.workprec(precision):
        last, outputs = base.attention_before_output(list(table), precision)
        blocks = [last.tolist()] + [
            (output * arb_mat(head.W_V.T.flint)).tolist()
            for head, output in zip(base.heads, outputs, strict=True)
        ]
        features = arb_mat([[x for block in blocks for x in block[t]] for t in range(len(table))])
        try:
            if features.nrows() == features.ncols():
                solution = features.solve(arb_mat(wanted), algorithm="approx")
            else:
                transposed = features.transpose()
                gram = features * transposed
                solution = transposed * gram.solve(arb_mat(wanted), algorithm="approx")
        except ZeroDivisionError:
            return None
        rows = solution.mid().tolist()
        mixing = _rounded([list(c) for c in zip(*rows[:d], strict=True)], 36 + more)
        if mixing.det() == 0:
            mixing = mixing + fmpq_mat(
                d, d, [fmpq(int(i == j), 2 ** (26 + more)) for i in range(d) for j in range(d)]
            )
        if mixing.det() == 0:
            return None
        W_U = fmpq_mat(unembedding) * mixing
        inverse = arb_mat(mixing.inv())
        largest = max(abs(x) for row in W_U.tolist() for x in row)
        # an error of 2^-bits in W_O moves a logit by less than 1/16 of the margin
        bits = int(largest * 64 * d * (1 + sum(inner)) * d).bit_length() + more
        heads, start = [], d
        for head, size in zip(base.heads, inner, strict=True):
            block = arb_mat(rows[start : start + size]).transpose()
            heads.append(
                AoTHead(
                    head.W_Q, head.W_K, head.W_V, Matrix(_rounded((inverse * block).tolist(), bits))
                )
            )
            start += size
    return AoT(base.tokens, base.e, base.pos, Matrix(W_U), tuple(heads))


def _rounded(rows: list[list[arb]], bits: int) -> fmpq_mat:
    """The nearest multiples of 2^-bits."""

    def nearest(x: arb) -> fmpq:
        return fmpq((midpoint(x) * 2**bits + fmpq(1, 2)).floor(), 2**bits)

    return fmpq_mat([[nearest(x) for x in row] for row in rows])


def realise_encoder(
    encoder: SequenceEncoder,
    sequences: Sequence[Sequence[Hashable]],
    H: int,
    d_h: int,
    *,
    tokens: Iterable[Hashable],
    error: Any = "1/1000000",
    seed: int = 0,
) -> AoT:
    """A transformer whose logits on the sequences are those of an encoder, up to ``error``.

    The repaired Theorem 1: with T₀ ≤ H + min(d, K) such a transformer exists, whatever the encoder.

    Examples
    --------
    >>> encoder = SequenceEncoder([[0, 0], [1, 0], [0, 1]], [[1, 2], ["-1/2", 3], [0, 5]])
    >>> model = realise_encoder(encoder, ["ab", "ba", "aa"], 1, 1, tokens="abc")
    >>> model.H, model.d
    (1, 2)
    """
    listed = token_sequences(sequences)
    names = tuple(tokens)
    if encoder.E.shape[0] != len(listed) or encoder.W.shape[0] != len(names):
        raise LemmaxError("The encoder must have one row of E per sequence and one of W per token.")
    most = rational(error)
    _refuse_if_obstructed(dict.fromkeys(listed), H, d_h, encoder.d)
    wanted = encoder.logits.flint.tolist()
    for attempt in range(3):
        base = _random_model(names, len(listed[0]), H, d_h, encoder.d, seed + attempt)
        for precision in _PRECISIONS:
            model = _solve(
                base,
                dict.fromkeys(listed),
                encoder.W.flint.tolist(),
                encoder.E.flint.tolist(),
                precision,
                int(1 / most).bit_length(),
            )
            if model is None:
                continue
            rows = model.logits(listed, 128)
            with ctx.workprec(160):
                gaps = [
                    abs(a - b)
                    for row, line in zip(rows, wanted, strict=True)
                    for a, b in zip(row, line, strict=True)
                ]
            if all(gap < most for gap in gaps):
                return model
    raise NotFound("No weights were found for this encoder, and no obstruction is proved.")
