"""The words about attention layers (Wong 2025)."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..arithmetic import dot, height, product
from ..attention import Forward, Layer
from ..language.sorts import Facts
from ..limits import Undecided, brief, keep, refuse, spend
from ..reading import Matrix, Tensor
from .databases import names_of
from .matrices import ZERO, as_index, plus, scale, transpose
from .tensors import mode_product, tensor_plus


def places(L: Layer, D: Facts) -> dict[str, int]:
    place = {token: i for i, token in enumerate(L.tokens)}
    for name in (name for fact in D for name in fact if name not in place):
        refuse(brief(name), "is named by a fact and is no token of the layer")
    return place


def logits_tensor(L: Layer, D: Facts) -> Tensor:
    return layer_tensor(L, D, False)


def layer_tensor(L: Layer, D: Facts, masked: bool = True) -> Tensor:
    """The logits of the values of D after (k, q); masked: without heads where D has no fact."""
    place, (keys, queries, values) = places(L, D), names_of(D)
    forward, known = Forward(L, 0), {(k, q) for k, q, _ in D}
    columns = [forward.columns[forward.column_of[place[v]]] for v in values]

    def fibre(k: str, q: str) -> tuple[Fraction, ...]:
        base, scale = forward.rows[place[q]]
        if not masked or (k, q) in known:
            y = forward.residual(place[k], place[q])
            base, scale = y.base, y.denominator
            if y.deltas:
                refuse("The attention", "of the layer is irrational, so its tensor is not computed")
        scale *= forward.unembedding_scale
        long = height((*base, scale)) + forward.coordinates.bits
        spend("The logits", (len(base) + 20) * len(values), long, long)
        keep("The logits", 3 * len(values), long)
        return tuple(Fraction(dot(base, u), scale) for u in columns)

    return Tensor(Matrix(fibre(k, q) for q in queries) for k in keys)


def answers(
    L: Layer, D: Facts, tau: Fraction | None, values: list[str] | None = None
) -> list[bool | None]:
    """For each fact whether the layer knows it, where all tokens, or these values, compete."""
    place = places(L, D)
    if tau is not None and not 0 < tau <= 1:
        refuse("The threshold", "must lie in (0, 1]")
    number = place
    if values is not None:  # the other columns of W_U are left out
        keep("The unembedding", len(L.W_U) * len(values) // 4)
        columns, number = [place[v] for v in values], {v: i for i, v in enumerate(values)}
        L = replace(L, W_U=Matrix(tuple(row[j] for j in columns) for row in L.W_U))
    forward = Forward(L, len(D))
    return [forward.knows(place[k], place[q], number[v], tau) for k, q, v in D]


def decided(known: list[bool | None], despite: bool = False) -> list[bool | None]:
    """The answers, none of them open, unless another one is false and that is enough."""
    if None in known and not (despite and False in known):
        raise Undecided("a fact of the layer stays undecided at the largest precision")
    return known


def memorizes(L: Layer, D: Facts, tau: Fraction | None = None) -> bool:
    return all(decided(answers(L, D, tau), True))


def accuracy(L: Layer, D: Facts, tau: Fraction | None = None) -> Fraction:
    return Fraction(sum(map(bool, decided(answers(L, D, tau)))), len(D))


def memorizes_values(L: Layer, D: Facts, tau: Fraction | None = None) -> bool:
    """The same where only the values of D compete."""
    places(L, D)
    return all(decided(answers(L, D, tau, names_of(D)[2]), True))


# --- circuits -----------------------------------------------------------------------------------


def head_of(L: Layer, h: Fraction) -> Any:
    return L.heads[as_index(h, len(L.heads))]


def EU(L: Layer) -> Matrix:
    return product(L.W_E, L.W_U)


def QK(L: Layer, h: Fraction) -> Matrix:
    head = head_of(L, h)
    return product(product(L.W_E, head.W_Q), product(head.W_K, transpose(L.W_E)))


def VO(L: Layer, h: Fraction) -> Matrix:
    head = head_of(L, h)
    return product(product(L.W_E, head.W_V), product(head.W_O, L.W_U))


def at(M: Matrix, L: Layer, rows: list[str], columns: list[str]) -> Matrix:
    """The entries of a circuit at these tokens."""
    if len(M) != len(L.tokens) or len(M[0]) != len(L.tokens):
        refuse("A circuit", "has one row and one column for each token of the layer")
    place = {token: i for i, token in enumerate(L.tokens)}
    return Matrix(tuple(M[place[a]][place[b]] for b in columns) for a in rows)


def block(M: Matrix, L: Layer, D: Facts) -> Matrix:
    places(L, D)
    _, queries, values = names_of(D)
    return at(M, L, queries, values)


def asking(D: Facts) -> list[str]:
    """The keys and the queries, sorted together."""
    return sorted({name for k, q, _ in D for name in (k, q)})


def score_block(L: Layer, D: Facts, h: Fraction) -> Matrix:
    places(L, D)
    return at(QK(L, h), L, names_of(D)[1], asking(D))


def value_block(L: Layer, D: Facts, h: Fraction) -> Matrix:
    places(L, D)
    return at(VO(L, h), L, asking(D), names_of(D)[2])


def attention(L: Layer, D: Facts, h: Fraction, masked: bool = True) -> Tensor:
    """A_kqt over the keys, the queries, and both together, by positions: k = q has mass 1."""
    keys, queries, _ = names_of(D)
    both, known = asking(D), {(k, q) for k, q, _ in D}
    scores = score_block(L, D, h)
    place = {token: i for i, token in enumerate(both)}
    spend("The attention", 20 * len(keys) * len(queries) * len(both))
    keep("The attention", 3 * len(keys) * len(queries) * len(both))

    def line(k: str, q: str, row: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        masses = [ZERO] * len(both)
        if not masked or (k, q) in known:
            share = sigma(row[place[k]] - row[place[q]], L.unit)
            masses[place[k]] += share
            masses[place[q]] += 1 - share
        return tuple(masses)

    rows = list(zip(queries, scores, strict=True))
    return Tensor(Matrix(line(k, q, row) for q, row in rows) for k in keys)


def sigma(s: Fraction, unit: str) -> Fraction:
    """1 / (1 + exp(-s·unit)), where that is rational."""
    if s == 0:
        return Fraction(1, 2)
    if unit != "ln2" or s.denominator != 1 or abs(s) > 256:
        refuse("The attention", "of the layer is irrational, so its tensor is not computed")
    power = Fraction(2) ** int(s)
    return power / (power + 1)


def value_tensor(L: Layer, D: Facts, h: Fraction) -> Tensor:
    """V_tqv = VO_tv over the keys and queries together, the queries, the values."""
    rows, width = value_block(L, D, h), len(names_of(D)[1])
    keep("The value tensor", len(rows) * width)
    return Tensor(Matrix([row] * width) for row in rows)


def unmasked_tensor(L: Layer, D: Facts) -> Tensor:
    """E + Σ_h A V by the circuits, where A is not masked; logits_tensor runs the layer instead."""
    found, (keys, _, _) = block(EU(L), L, D), names_of(D)
    total = Tensor([found] * len(keys))
    for h in range(len(L.heads)):
        A, V = attention(L, D, Fraction(h), False), value_tensor(L, D, Fraction(h))
        total = tensor_plus(total, mode_product(A, V))
    return total


def same_scores(L: Layer, M: Layer) -> bool:
    """The same tokens, unit and number of heads, and the same QK circuit in each head."""
    if (L.tokens, L.unit, len(L.heads)) != (M.tokens, M.unit, len(M.heads)):
        return False
    return all(QK(L, Fraction(h)) == QK(M, Fraction(h)) for h in range(len(L.heads)))


def combines(N: Layer, L: Layer, M: Layer, c: Fraction) -> bool:
    """EU and every VO of N is that of L plus c times that of M."""
    if not (L.tokens == M.tokens == N.tokens and len(L.heads) == len(M.heads) == len(N.heads)):
        return False
    circuits: list[Callable[[Layer], Matrix]] = [EU]
    circuits += [lambda X, h=h: VO(X, Fraction(h)) for h in range(len(L.heads))]  # type: ignore[misc]
    return all(F(N) == plus(F(L), scale(F(M), c)) for F in circuits)


def zero_scores(L: Layer) -> bool:
    return not any(x for h in range(len(L.heads)) for row in QK(L, Fraction(h)) for x in row)


def uniform_heads(L: Layer) -> bool:
    return len({(len(head.W_K), len(head.W_O)) for head in L.heads}) == 1


def head_parameters(L: Layer) -> int:
    d = len(L.W_E[0])
    return sum(2 * d * (len(head.W_K) + len(head.W_O)) for head in L.heads)


def d_qk(L: Layer) -> int:
    return max([0, *(len(head.W_K) for head in L.heads)])


def d_vo(L: Layer) -> int:
    return max([0, *(len(head.W_O) for head in L.heads)])


WORDS: dict[str, Callable[..., Any]] = {
    "tokens(layer)  |T|, the size of the vocabulary": lambda L: len(L.tokens),
    "d_model(layer)  the dimension of the embedding": lambda L: len(L.W_E[0]),
    "heads(layer)  the number of heads": lambda L: len(L.heads),
    "d_qk(layer)  the largest query-key dimension": d_qk,
    "d_vo(layer)  the largest value-output dimension": d_vo,
    "embedding(layer)  W_E": lambda L: L.W_E,
    "uniform_heads(layer)  all heads have the same dimensions": uniform_heads,
    "head_parameters(layer)  the number of entries of all W_Q, W_K, W_V, W_O": head_parameters,
    "zero_scores(layer)  every QK circuit is zero": zero_scores,
    "same_scores(layer, layer)  same tokens, unit and QK circuits": same_scores,
    "combines(layer, layer, layer, rational)  EU and VO: those of the 2nd plus c times the 3rd": (
        combines
    ),
    "layer_tensor(layer, database)  L of Wong 2025, equation 8; no heads off D": layer_tensor,
    "logits_tensor(layer, database)  the logits of the values after every (k, q)": logits_tensor,
    "unmasked_tensor(layer, database)  E + Σ_h A V by the circuits, A without mask": (
        unmasked_tensor
    ),
    "EU(layer)  W_E W_U": EU,
    "QK(layer, rational)  W_E W_Q W_K W_Eᵀ of head h, from 0": QK,
    "VO(layer, rational)  W_E W_V W_O W_U of head h, from 0": VO,
    "block(matrix, layer, database)  a circuit at queries × values, sorted": block,
    "score_block(layer, database, rational)  QK at queries × (keys and queries), sorted": (
        score_block
    ),
    "value_block(layer, database, rational)  VO at (keys and queries) × values, sorted": (
        value_block
    ),
    "attention(layer, database, rational)  A of head h (Wong 2025, equation 5)": attention,
    "value_tensor(layer, database, rational)  V of head h (Wong 2025, equation 4)": value_tensor,
    "memorizes(layer, database)  every fact's value has strictly the largest logit": memorizes,
    "memorizes_at(layer, database, rational)  every fact has probability >= τ": memorizes,
    "memorizes_values(layer, database)  the same among the values of the database": (
        memorizes_values
    ),
    "memorizes_values_at(layer, database, rational)  probability >= τ among the values": (
        memorizes_values
    ),
    "accuracy(layer, database)  the share of memorized facts": accuracy,
    "accuracy_at(layer, database, rational)  of facts with probability >= τ": accuracy,
}
