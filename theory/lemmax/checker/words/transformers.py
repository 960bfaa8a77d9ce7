"""The words about attention-only transformers on sequences (Dana, Pydi and Chevaleyre 2024)."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..arithmetic import rank
from ..kinds.aot_memorization import answers
from ..language.sorts import Associations, AttentionOnly, Sequences
from ..limits import Undecided, refuse, released, spend
from ..reading import Matrix
from ..transformers import Transformer
from .layers import head_parameters
from .matrices import whole


def known(T: AttentionOnly, a: Associations) -> list[bool | None]:
    """For each association whether its target has strictly the largest logit."""
    net = Transformer(T.data, [list(t) for t in a.sequences])
    if max(a.targets) >= len(T.layer.tokens):
        refuse("A target", "is no token of the transformer")
    found = []
    for t, g in zip(a.sequences, a.targets, strict=True):
        with released():
            found.append(answers(net, t, g))
    return found


def memorized(T: AttentionOnly, a: Associations) -> int:
    found = known(T, a)
    if None in found:
        raise Undecided("an association stays undecided at the largest precision")
    return sum(x is True for x in found)


def memorizes_associations(T: AttentionOnly, a: Associations) -> bool:
    found = known(T, a)
    if None in found and False not in found:
        raise Undecided("an association stays undecided at the largest precision")
    return all(found)


def parity(a: Associations, H: Fraction) -> bool:
    """All sequences of H + 1 bits (two tokens), then one token; two targets, by the parity."""
    bits = whole(H, "parity(...)", 64) + 1
    length = len(a.sequences[0])
    if length < bits + 1 or len(a.targets) != 1 << bits:
        return False
    spend("parity(...)", 20 * len(a.targets) * length)
    tokens = {i for t in a.sequences for i in t[:bits]}
    if len(tokens) != 2 or len({i for t in a.sequences for i in t[bits:]}) != 1:
        return False
    one, target = max(tokens), dict(zip(a.sequences, a.targets, strict=True))
    sides: tuple[set[int], set[int]] = set(), set()
    for t, g in target.items():
        sides[sum(i == one for i in t[:bits]) % 2].add(g)
    return len(sides[0]) == len(sides[1]) == 1 and sides[0] != sides[1]


def all_pairs(a: Associations, T: AttentionOnly) -> bool:
    """Every sequence of the transformer's length, once."""
    S, N = len(T.pos), len(T.layer.tokens)
    return len(a.sequences[0]) == S and len(a.targets) == N**S and max(map(max, a.sequences)) < N


def last_tokens(t: Sequences) -> int:
    return len({row[-1] for row in t})


def last_embeddings(T: AttentionOnly, t: Sequences) -> Matrix:
    """One row e(t_S) + pos_S per sequence."""
    W_E, pos = T.layer.W_E, T.pos[-1]
    if max(map(max, t)) >= len(W_E):
        refuse("A token", "of a sequence is none of the transformer")
    spend("last_embeddings(...)", 20 * len(t) * len(pos), W_E.bits, T.pos.bits)
    return Matrix(tuple(x + y for x, y in zip(W_E[row[-1]], pos, strict=True)) for row in t)


def inner(T: AttentionOnly) -> set[tuple[int, int]]:
    return {(len(head.W_K), len(head.W_O)) for head in T.layer.heads}


def uniform_heads(T: AttentionOnly) -> bool:
    return len({n for pair in inner(T) for n in pair}) == 1


def d_h(T: AttentionOnly) -> int:
    return max([0, *(n for pair in inner(T) for n in pair)])


def parameters(T: AttentionOnly) -> int:
    """The entries of e, pos, W_U and of all W_Q, W_K, W_V, W_O."""
    L = T.layer
    return len(L.W_E[0]) * (len(T.pos) + 2 * len(L.tokens)) + head_parameters(L)


def least_value_rank(T: AttentionOnly) -> int:
    if not T.layer.heads:
        refuse("least_value_rank(...)", "needs a head")
    return min(rank(head.W_V) for head in T.layer.heads)


def constant(t: Sequences) -> bool:
    return all(len(set(row)) == 1 for row in t)


WORDS: dict[str, Callable[..., Any]] = {
    "tokens(transformer)  N, the size of the vocabulary": lambda T: len(T.layer.tokens),
    "d_model(transformer)  d, the dimension of the embedding": lambda T: len(T.layer.W_E[0]),
    "heads(transformer)  H, the number of heads": lambda T: len(T.layer.heads),
    "d_h(transformer)  the largest head dimension": d_h,
    "positions(transformer)  S, the number of positions": lambda T: len(T.pos),
    "uniform_heads(transformer)  all heads have one head dimension": uniform_heads,
    "parameters(transformer)  the number of entries of e, pos, W_U and the heads": parameters,
    "least_value_rank(transformer)  the least rank of a W_V": least_value_rank,
    "memorizes_associations(transformer, associations)  each target's logit is the largest": (
        memorizes_associations
    ),
    "memorized(transformer, associations)  the number of targets with the largest logit": memorized,
    "parity(associations, rational)  all H + 1 bits, then one token; targets by parity": parity,
    "all_pairs(associations, transformer)  every sequence of its length": all_pairs,
    "count(associations)  the number of associations": lambda a: len(a.targets),
    "count(sequences)  the number of sequences": len,
    "length(associations)  S, the length of a sequence": lambda a: len(a.sequences[0]),
    "length(sequences)  S, the length of a sequence": lambda t: len(t[0]),
    "sequences(associations)  without the targets": lambda a: a.sequences,
    "last_tokens(sequences)  how many different tokens stand last": last_tokens,
    "last_tokens(associations)  how many different tokens stand last": lambda a: last_tokens(
        a.sequences
    ),
    "last_embeddings(transformer, sequences)  one row e(t_S) + pos_S each": last_embeddings,
    "constant(sequences)  each sequence repeats one token": constant,
}
