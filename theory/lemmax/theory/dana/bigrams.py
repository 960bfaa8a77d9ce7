"""The generic rank of attention before output on bigrams (S = 2), by matroid union."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.generic import generic_aot
from lemmax.theory.dana.rank_bounds import (
    bigram_union,
    difference_rank,
    last_token_classes,
)
from lemmax.theory.dana.transformer import token_sequences
from lemmax.theory.dana.transformer_rank import aot_rank
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset


@dataclass(frozen=True)
class BigramRank(Typeset):
    """The generic rank of W_V A' on a set of bigrams (S = 2), by matroid union.

    ``tight`` is a set F that attains the minimum of |𝒯∖F| + min(d, K(F)) + H·min(d_h, r_δ(F)).
    """

    bigrams: tuple[tuple[Hashable, ...], ...]
    d: int
    d_h: int
    H: int
    rank: int
    tight: tuple[tuple[Hashable, ...], ...]

    @property
    def solvable(self) -> bool:
        """Whether the linear system of the construction can be solved for every target."""
        return self.rank == len(self.bigrams)

    @property
    def inequality(self) -> str:
        """The inequality at ``tight``, for instance "4 > min(2, 1) + 1·min(2, 2) = 3"."""
        size = len(self.tight)
        K = len(last_token_classes(self.tight))
        r = min(self.d, difference_rank(list(self.tight))) if self.tight else 0
        value = min(self.d, K) + self.H * min(self.d_h, r)
        sign = ">" if size > value else "="
        return f"{size} {sign} min({self.d}, {K}) + {self.H}·min({self.d_h}, {r}) = {value}"

    def certificate(self, seed: int = 0) -> Certificate:
        """An ``aot-rank`` certificate: integer weights whose features have this rank.

        That no weights have more is the easy half of the formula, for the set ``tight``.
        """
        names = {
            token: i for i, token in enumerate(dict.fromkeys(x for t in self.bigrams for x in t))
        }
        pairs = [tuple(names[token] for token in t) for t in self.bigrams]
        for attempt in range(seed, seed + 5):
            model = generic_aot(len(names), 2, self.d, self.d_h, self.H, attempt)
            reached = aot_rank(model, pairs)
            if reached.lower == self.rank:
                return reached.certificate()
        raise LemmaxError("Five random transformers fell short of the generic rank.")

    @property
    def claim(self) -> str:
        """The claim that this witnesses."""
        return "lemmax/bigram-rank-matroid"

    def to_sympy(self) -> Any:
        """The rank."""
        from sympy import Integer

        return Integer(self.rank)

    def formula(self) -> str:
        """The generic rank, with the set that attains the minimum."""
        return rf"\operatorname{{rank}} W_V A' = {self.rank}, \quad |F| = {len(self.tight)}"


def bigram_rank(bigrams: Sequence[Sequence[Hashable]], d: int, d_h: int, H: int) -> BigramRank:
    r"""The generic rank of W_V A' for S = 2 and d ≥ 2, in polynomial time.

    .. math:: \min_{F ⊂ 𝒯}\; |𝒯∖F| + \min(d, K(F)) + H·\min(d_h, r_δ(F)),

    the rank of the union of one partition matroid (distinct last tokens) truncated at d and H
    copies of the lift matroid of the vectors ε_i - ε_j + ε_0 truncated at min(d, d_h). Cost: at
    most \(|𝒯|\) augmentations, each a search through \((H+1)|𝒯|\) exchanges.

    >>> bigram_rank([(0, 0), (1, 1), (2, 2), (3, 3)], d=2, d_h=2, H=1).rank
    3
    """
    pairs = token_sequences(bigrams)
    if len(pairs[0]) != 2:
        raise LemmaxError("The matroid union decides sequences of length 2 only.")
    if d < 2:
        raise LemmaxError("The matroid union needs an embedding dimension of at least 2.")
    union = bigram_union(pairs, d, d_h, H)
    tight = tuple(pairs[i] for i in sorted(union.tight))
    return BigramRank(tuple(pairs), d, d_h, H, union.rank, tight)
