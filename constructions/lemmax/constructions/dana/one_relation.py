r"""Associations with one last token: one more than the features have rank, in exact arithmetic.

Sequences with one last token have features of rank \(T_0-1\) where Corollary 1 of Dana et al.
(2024) promises \(T_0\) associations. Integer weights in units of ln 2 make all features rational.
If the one relation between them suits the labels (:mod:`lemmax.theory.dana.relations`), points with
that relation are solved for, and every weight of the transformer is a rational number.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from lemmax.constructions.dana.associations import AssociativeMemory, NotFound
from lemmax.theory.dana.relations import encode, suits
from lemmax.theory.dana.transformer import AoT, AoTHead, TokenSequence, associations
from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.balls import rational_below
from lemmax.theory.numbers.matrices import Matrix

_SIZES = (1, 2, 2, 3, 3)  # integer weights, tried from small to large


@dataclass(frozen=True)
class RelationMemory(AssociativeMemory):
    """A transformer with rational weights that memorizes one association more than its rank."""

    @property
    def claim(self) -> str:
        """The claim that this witnesses."""
        narrow = self.model.d_h == 1
        return f"lemmax/corollary-1-{'narrow-heads' if narrow else 'two-tokens'}"


def rational_features(model: AoT, sequences: Sequence[TokenSequence]) -> fmpq_mat:
    """The columns [x(t, S); W_V^h A^h(t)] for integer scores in units of ln 2, as rows.

    >>> model = AoT("ab", [[1, 0], [0, 1]], [[0, 0], [1, 1]], [[0, 0], [0, 0]], unit="ln2")
    >>> rational_features(model, [("a", "b")])
    [1, 2]
    """
    e, pos = model.e.flint.tolist(), model.pos.flint.tolist()
    circuits = [(head.W_QK.flint.tolist(), head.W_V.flint.tolist()) for head in model.heads]
    rows = []
    for t in model.indices(sequences):
        x = [[a + b for a, b in zip(e[i], p, strict=True)] for i, p in zip(t, pos, strict=True)]
        row = list(x[-1])
        for W, V in circuits:
            query = [
                sum((a * w for a, w in zip(x[-1], column, strict=True)), fmpq(0))
                for column in zip(*W, strict=True)
            ]
            scores = [sum((a * b for a, b in zip(query, key, strict=True)), fmpq(0)) for key in x]
            if any(score.q != 1 for score in scores):
                raise LemmaxError("In units of ln 2 the attention scores must be integers.")
            weights = [fmpq(2) ** int(score.p) for score in scores]
            total = sum(weights, fmpq(0))
            mean = [
                sum((w * key[k] for w, key in zip(weights, x, strict=True)), fmpq(0)) / total
                for k in range(model.d)
            ]
            row += [sum((a * b for a, b in zip(v, mean, strict=True)), fmpq(0)) for v in V]
        rows.append(row)
    return fmpq_mat(rows)


def one_relation(features: fmpq_mat) -> list[fmpq] | None:
    """The relation between the rows, if there is one up to a factor and it adds up to zero."""
    reduced, rank = features.transpose().rref()
    T0 = features.nrows()
    if rank != T0 - 1:
        return None
    pivots = [next(j for j in range(T0) if reduced[i, j] != 0) for i in range(rank)]
    free = next(j for j in range(T0) if j not in pivots)
    v = [fmpq(0)] * T0
    v[free] = fmpq(1)
    for i, j in enumerate(pivots):
        v[j] = -reduced[i, free]
    return v if sum(v, fmpq(0)) == 0 else None


def relation_memory(
    pairs: object, H: int, d_h: int, *, seed: int = 0, attempts: int = 400
) -> RelationMemory:
    """Rational weights for associations with one last token: T₀ = H d_h + 2 with d = 2.

    For d_h = 1 and H ≥ 1 such weights exist (``lemmax/corollary-1-narrow-heads``), and for d_h = 2
    and two tokens if H ≥ 2 (``lemmax/corollary-1-two-tokens``). The cost is one exact elimination
    of order T₀ per attempt.

    Raises
    ------
    NotFound
        No attempt gave features whose relation suits the labels; that proves nothing.

    Examples
    --------
    Three sequences with one last token, one head of dimension one:

    >>> memory = relation_memory({"aa": "a", "ba": "b", "ca": "a"}, H=1, d_h=1)
    >>> [memory.recall(t) for t in ("aa", "ba", "ca")], memory.margin > 0
    (['a', 'b', 'a'], True)
    """
    table = associations(pairs)
    if len({t[-1] for t in table}) != 1:
        raise LemmaxError("This construction is for sequences with one last token.")
    if len(table) != H * d_h + 2 or d_h not in (1, 2):
        raise LemmaxError("This construction needs T₀ = H d_h + 2 associations and d_h ≤ 2.")
    names = tuple(dict.fromkeys([x for t in table for x in t] + list(table.values())))
    labels = list(table.values())
    for base in _integer_models(names, len(next(iter(table))), H, d_h, seed, attempts):
        features = rational_features(base, list(table))
        v = one_relation(features)
        if v is None or not suits(v, labels):
            continue
        places, points = encode(v, labels)
        for model in _with_outputs(base, features, names, places, points):
            if model.memorizes(table):
                lowest = min(rational_below(ball, 20) for ball in model.margins(table))
                return RelationMemory(model, table, lowest)
    raise NotFound(f"No attempt of {attempts} gave a relation that suits these labels.")


def _integer_models(
    names: tuple[Hashable, ...], S: int, H: int, d_h: int, seed: int, attempts: int
) -> Iterator[AoT]:
    source = random.Random(seed)
    for attempt in range(attempts):
        size = _SIZES[min(attempt // 40, len(_SIZES) - 1)]

        def table(rows: int, columns: int, size: int = size) -> Matrix:
            return Matrix(
                [[source.randint(-size, size) for _ in range(columns)] for _ in range(rows)]
            )

        heads = tuple(
            AoTHead(table(d_h, 2), table(d_h, 2), table(d_h, 2), Matrix.zeros(2, d_h))
            for _ in range(H)
        )
        e, pos = table(len(names), 2), table(S, 2)
        yield AoT(names, e, pos, Matrix.zeros(len(names), 2), heads, "ln2")


def _with_outputs(
    base: AoT,
    features: fmpq_mat,
    names: tuple[Hashable, ...],
    places: Mapping[Hashable, int],
    points: Sequence[tuple[fmpq, fmpq]],
) -> Iterator[AoT]:
    """W_U and W_O that send the features to the points, with M_0 moved less and less by η I."""
    columns = features.ncols()
    rows = zip(features.tolist(), points, strict=True)
    reduced, rank = fmpq_mat([[*row, *E] for row, E in rows]).rref()
    solution = [[fmpq(0)] * 2 for _ in range(columns)]
    for i in range(rank):
        pivot = next(j for j in range(columns) if reduced[i, j] != 0)
        solution[pivot] = [reduced[i, columns], reduced[i, columns + 1]]
    free = (n for n in range(len(names) + len(places)) if n not in places.values())
    number = {token: places[token] if token in places else next(free) for token in names}
    W = fmpq_mat([[number[token], number[token] ** 2] for token in names])
    M = fmpq_mat([[solution[k][i] for k in range(2)] for i in range(2)])
    for bits in (0, 8, 16, 32, 64):
        moved = M + fmpq_mat([[fmpq(1, 2**bits), 0], [0, fmpq(1, 2**bits)]])
        if bits == 0:
            moved = M
        if moved.det() == 0:
            continue
        heads, start = [], 2
        for head in base.heads:
            out = fmpq_mat([[solution[start + k][i] for k in range(head.d_h)] for i in range(2)])
            heads.append(AoTHead(head.W_Q, head.W_K, head.W_V, Matrix(moved.inv() * out)))
            start += head.d_h
        yield AoT(names, base.e, base.pos, Matrix(W * moved), tuple(heads), "ln2")
