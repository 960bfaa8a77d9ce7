r"""Whether an attention layer memorizes facts: strict argmax, or probability at least τ.

On the input (k, q) the hidden state of the last position is

.. math:: h = x_q + \sum_h \big(\alpha_h x_k + (1-\alpha_h) x_q\big) W_V^h W_O^h,
          \qquad \alpha_h = \sigma(s_{qk} - s_{qq}),

and the logits are h W_U over the whole vocabulary. The attention weights α are enclosed in balls;
everything after them is integer arithmetic with an error radius carried along, done for all facts
and all tokens at once. A comparison that the radius leaves open is repeated with more bits, and a
tie is decided exactly by :class:`~lemmax.theory.wong.logit_rows.LogitRow`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from lemmax.checker import NotACertificate
from lemmax.checker.planes import hull, plane
from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset, latex_number
from lemmax.theory.numbers.balls import ceiling_above, floor_below, precisions
from lemmax.theory.numbers.matrices import decimal
from lemmax.theory.shown import counted, html_table, shortened
from lemmax.theory.wong.layer import AttentionLayer

Fact: TypeAlias = tuple[Hashable, Hashable, Hashable]

_CHUNK = 4_000_000  # entries of a fact-by-token table held at a time
_INT64 = 2**62  # half of what an int64 holds
_PRECISION = 128
_BUCKETS = 4  # probabilities are first bounded with gaps rounded down to quarters


@dataclass(frozen=True)
class Memorization(Typeset):
    """Which facts a layer memorizes, with what certainty.

    ``missed`` are the facts that fail; ``certificate()`` exists when there are none.

    >>> from lemmax.theory.wong.layer import AttentionLayer
    >>> layer = AttentionLayer(("a", "b"), [[1], [-1]], [[1, -1]])
    >>> memorizes(layer, [("a", "b", "b")]).certificate()["kind"]
    'memorization'
    >>> memorizes(layer, [("a", "b", "a")]).missed
    (('a', 'b', 'a'),)
    """

    layer: AttentionLayer
    facts: tuple[Fact, ...]
    tau: fmpq | None
    missed: tuple[Fact, ...]

    @property
    def holds(self) -> bool:
        """Whether every fact is memorized."""
        return not self.missed

    @property
    def accuracy(self) -> fmpq:
        """The share of memorized facts."""
        return 1 - fmpq(len(self.missed), len(self.facts))

    def __repr__(self) -> str:
        return shortened(self, self._sentence())

    def _sentence(self) -> str:
        at = "" if self.tau is None else f", each with probability at least {self.tau}"
        return f"{len(self.facts) - len(self.missed)} of {counted(len(self.facts), 'fact')}{at}"

    def _repr_html_(self) -> str:
        missed = html_table(self.missed, ("subject", "predicate", "object")) if self.missed else ""
        return f"<p>{'holds' if self.holds else 'fails'}: {self._sentence()}</p>{missed}"

    def formula(self) -> str:
        """How many facts the layer memorizes, and its weights."""
        known = len(self.facts) - len(self.missed)
        wanted = "" if self.tau is None else r"\text{ with probability at least }"
        least = "" if self.tau is None else latex_number(self.tau)
        told = rf"\text{{{known} of {len(self.facts)} facts}} {wanted} {least}"
        return rf"\begin{{gathered}} {told} \\ {self.layer.formula()} \end{{gathered}}"

    def to_sympy(self) -> Any:
        """One row per fact: the logit of its value minus that of each token, exactly.

        A fact is memorized iff its row is positive but for the zero of the value itself. Cost: one
        exact forward pass per fact.
        """
        from sympy import Matrix

        rows = []
        for key, query, value in self.facts:
            logits = self.layer.symbolic_logits((key, query))
            rows.append([logits[self.layer.index[value]] - logit for logit in logits])
        return Matrix(rows)

    def certificate(self) -> Certificate:
        """A ``memorization`` certificate: the layer, the facts, the criterion."""
        if self.missed:
            raise LemmaxError(f"The layer misses {self.missed[0]}: no certificate.")
        index = self.layer.index
        criterion: dict[str, str] = {"type": "argmax"}
        if self.tau is not None:
            criterion = {"type": "probability", "tau": certificates.number(self.tau)}
        return certificates.certificate(
            "memorization",
            {
                "layer": self.layer.certificate_fields(),
                "facts": [[index[k], index[q], index[v]] for k, q, v in self.facts],
                "criterion": criterion,
            },
        )


def memorizes(layer: AttentionLayer, facts: Iterable[Fact], tau: Any | None = None) -> Memorization:
    """Decide which facts (k, q, v) the layer memorizes, over its whole vocabulary.

    Without τ a fact counts when its logit is strictly the largest; with τ when its softmax
    probability is at least τ. Cost: facts × tokens × d_model operations on int64; without τ, and
    with the columns of W_U in a plane (the compiler's are), facts × d_model and one sort.

    >>> from lemmax.theory.wong.layer import AttentionLayer
    >>> layer = AttentionLayer(("a", "b"), [[1], [-1]], [[1, -1]])
    >>> memorizes(layer, [("a", "b", "b"), ("b", "b", "a")]).accuracy
    1/2
    """
    listed = tuple((k, q, v) for k, q, v in facts)
    if not listed:
        raise LemmaxError("There are no facts to memorize.")
    threshold = None if tau is None else decimal(tau)
    if threshold is not None and not 0 < threshold < 1:
        raise LemmaxError(f"The threshold must lie strictly between 0 and 1, not {threshold}.")
    for fact in listed:
        layer.indices(fact)
    if len({(k, q) for k, q, _ in listed}) != len(listed):
        raise LemmaxError("The same subject and predicate occur in two facts.")
    missed = tuple(
        fact
        for fact, known in zip(listed, _decide_all(layer, listed, threshold), strict=True)
        if not known
    )
    return Memorization(layer, listed, threshold, missed)


class HiddenStates:
    """The per-token products that all hidden states of a layer share, computed once."""

    def __init__(self, layer: AttentionLayer) -> None:
        self.unit = layer.unit
        self.embedding = layer.W_E.flint.tolist()
        self.queries = [(layer.W_E @ h.W_Q).flint.tolist() for h in layer.heads]
        self.keys = [(layer.W_E @ h.W_K.T).flint.tolist() for h in layer.heads]
        self.values = [((layer.W_E @ h.W_V) @ h.W_O).flint.tolist() for h in layer.heads]

    def score_gap(self, head: int, k: int, q: int) -> fmpq:
        """s_qk - s_qq, the logit of the attention that q pays to k."""
        query, keys = self.queries[head][q], self.keys[head]
        return sum((a * (b - c) for a, b, c in zip(query, keys[k], keys[q], strict=True)), fmpq(0))

    def tied(self, k: int, q: int, first: list[fmpq], second: list[fmpq]) -> bool:
        """Whether two columns of W_U have exactly equal logits; False where that stays open.

        The difference is c + Σ c_h σ(s_h) with rational c, c_h and s_h. For distinct s > 0 the
        numbers 1 and σ(s) are linearly independent over Q (the reason stands in the checker), and
        σ(-s) = 1 - σ(s), so it is zero iff the collected coefficients are. In units of ln 2 only
        equal columns are told.
        """
        change = [a - b for a, b in zip(first, second, strict=True)]
        if not any(change):
            return True
        if self.unit != "1":
            return False

        def dot(vector: list[fmpq]) -> fmpq:
            return sum((a * b for a, b in zip(vector, change, strict=True)), fmpq(0))

        constant, parts = dot(self.embedding[q]), dict[fmpq, fmpq]()
        for head, values in enumerate(self.values):
            at_query = dot(values[q])
            weight, score = dot(values[k]) - at_query, self.score_gap(head, k, q)
            constant += at_query
            if score == 0:
                constant += weight / 2
            elif score > 0:
                parts[score] = parts.get(score, fmpq(0)) + weight
            else:
                constant += weight
                parts[-score] = parts.get(-score, fmpq(0)) - weight
        return constant == 0 and not any(parts.values())

    def __call__(self, k: int, q: int, precision: int) -> list[arb]:
        with ctx.workprec(precision):
            unit = arb.const_log2() if self.unit == "ln2" else arb(1)
            state = [arb(x) for x in self.embedding[q]]
            for head, values in enumerate(self.values):
                score = self.score_gap(head, k, q)
                small = (-unit * arb(abs(score))).exp()  # of a large number it would overflow
                alpha = (small if score < 0 else 1) / (1 + small)
                state = [
                    h + arb(y) + alpha * arb(x - y)
                    for h, x, y in zip(state, values[k], values[q], strict=True)
                ]
            return state


def _decide_all(layer: AttentionLayer, facts: tuple[Fact, ...], tau: fmpq | None) -> Iterator[bool]:
    states = HiddenStates(layer)
    unembedding, denominator = layer.W_U.flint.numer_denom()
    weights = [[int(x) for x in row] for row in unembedding.tolist()]
    lengths = [sum(abs(row[t]) for row in weights) for t in range(len(layer.tokens))]
    rivals = None if tau is not None else _neighbours(weights)
    columns = cache(lambda: layer.W_U.flint.transpose().tolist())
    step = max(1, _CHUNK // (len(layer.tokens) if rivals is None else 8))
    for start in range(0, len(facts), step):
        chunk = [
            tuple(layer.index[token] for token in fact) for fact in facts[start : start + step]
        ]
        balls = [states(k, q, _PRECISION) for k, q, _ in chunk]
        for number, quick in enumerate(
            _decide_by_int64(balls, chunk, weights, lengths, int(denominator), tau, rivals)
        ):
            v = chunk[number][2]
            faced = None if rivals is None or v in rivals[v] else {int(t) for t in rivals[v]}
            yield quick or _decide_exactly(
                layer, states, facts[start + number], tau, columns(), faced
            )


def _neighbours(weights: list[list[int]]) -> NDArray[np.int64] | None:
    """For each token the two that it has to beat, where the columns of W_U lie in a plane.

    They are its neighbours on the convex hull of the columns. A token that is no vertex, or shares
    its column, is never strictly the largest and is named as its own rival. None: no plane.
    """
    columns = list(zip(*weights, strict=True))
    try:
        seen = plane(columns, "W_U")
    except NotACertificate:  # its entries are too long for that
        return None
    if seen is None:
        return None
    first: dict[tuple[int, int], int] = {}
    rivals = np.repeat(np.arange(len(columns))[:, None], 2, axis=1)
    shared = set()
    for t, u in enumerate(columns):
        if first.setdefault((u[seen[0]], u[seen[1]]), t) != t:
            shared.add(first[u[seen[0]], u[seen[1]]])
    places = list(first.values())
    for n, neighbours in hull(list(first), "W_U").items():
        if neighbours and places[n] not in shared:
            rivals[places[n]] = [places[neighbours[0]], places[neighbours[-1]]]
    return rivals


def _int64_bits(balls: list[list[arb]], lengths: list[int]) -> int:
    """How many fractional bits hidden states may have so that 64-bit products cannot overflow."""
    largest = max(ceiling_above(abs(h)) for state in balls for h in state)
    room = _INT64 // (4 * max(1, max(lengths)) * (largest + 2))
    return min(60, room.bit_length() - 1)


def _decide_by_int64(
    balls: list[list[arb]],
    chunk: list[tuple[int, ...]],
    weights: list[list[int]],
    lengths: list[int],
    denominator: int,
    tau: fmpq | None,
    rivals: NDArray[np.int64] | None = None,
) -> NDArray[np.bool_]:
    """True where 64-bit integers with an error radius prove the fact; False means: not yet.

    A fact competes with all tokens, or with the rivals of its value alone.
    """
    bits = _int64_bits(balls, lengths)
    if bits < 8:
        return np.zeros(len(chunk), dtype=np.bool_)
    # h is within 1 of hidden / 2^bits in every coordinate, so h·w is within Σ|w| of it.
    hidden = np.array([[_floor(h, bits) for h in state] for state in balls], dtype=np.int64)
    table = np.array(weights, dtype=np.int64)
    radius = 2 * np.array(lengths, dtype=np.int64)
    facts = np.arange(len(chunk))
    targets = np.array([v for _, _, v in chunk])
    if rivals is not None:
        faced = rivals[targets]
        own = np.einsum("fd,df->f", hidden, table[:, targets]) - radius[targets]
        others = np.einsum("fd,dfr->fr", hidden, table[:, faced]) + radius[faced]
        beaten: NDArray[np.bool_] = (own[:, None] > others).all(axis=1)
        return beaten
    logits = hidden @ table
    gaps = (logits[facts, targets] - radius[targets])[:, None] - (logits + radius)
    gaps[facts, targets] = np.iinfo(np.int64).max  # a fact does not compete with itself
    if tau is None:
        strict: NDArray[np.bool_] = gaps.min(axis=1) > 0
        return strict
    return _odds_within(gaps, denominator << bits, tau)


def _floor(ball: arb, bits: int) -> int:
    if not ball.rad() < arb(2) ** (-bits - 1):
        raise AssertionError("128 bits enclose a hidden state to better than 60 bits")
    return floor_below(ball, bits)


def _odds_within(gaps: NDArray[np.int64], unit: int, tau: fmpq) -> NDArray[np.bool_]:
    """Whether Σ exp(-gap) ≤ 1/τ - 1, gaps in multiples of 1/unit and rounded down to quarters."""
    most = 4096
    if unit >= _INT64 // (most + 1):
        return np.zeros(len(gaps), dtype=np.bool_)
    quarters = np.clip(gaps // max(1, unit // _BUCKETS + 1), -1, most)
    decided = np.zeros(len(gaps), dtype=np.bool_)
    with ctx.workprec(64):
        allowed = arb(1 / tau - 1)
        powers = [(-arb(j) / _BUCKETS).exp() for j in range(most + 1)]
        for fact, row in enumerate(quarters):
            if (row < 0).any():
                continue
            counts = np.bincount(row, minlength=most + 1)
            counts[most] -= 1  # the target itself
            odds = sum((int(counts[j]) * powers[j] for j in np.flatnonzero(counts)), arb(0))
            decided[fact] = bool(odds < allowed)
    return decided


def _decide_exactly(
    layer: AttentionLayer,
    states: HiddenStates,
    fact: Fact,
    tau: fmpq | None,
    columns: list[list[fmpq]],
    rivals: set[int] | None,
) -> bool:
    """The same in balls, with more and more bits; against the rivals alone where they are given."""
    k, q, v = layer.indices(fact)
    others = [t for t in (range(len(columns)) if rivals is None else sorted(rivals)) if t != v]
    for precision in precisions(_PRECISION, 4096, factor=4):
        state = states(k, q, precision)
        with ctx.workprec(precision):
            gaps = [
                sum(
                    (h * (a - b) for h, a, b in zip(state, columns[v], columns[t], strict=True)),
                    arb(0),
                )
                for t in others
            ]
            if tau is None:
                if all(gap > 0 for gap in gaps):
                    return True
                if any(gap < 0 for gap in gaps):
                    return False
                open_ = [t for t, gap in zip(others, gaps, strict=True) if not gap > 0]
                if any(states.tied(k, q, columns[v], columns[t]) for t in open_):
                    return False
            else:
                odds, allowed = sum(((-gap).exp() for gap in gaps), arb(0)), arb(1 / tau - 1)
                if odds < allowed:
                    return True
                if odds > allowed:
                    return False
    row = layer.last_logits((fact[0], fact[1]))
    if tau is None:
        return row.argmax() == (v,)
    return row.reaches(v, tau)
