r"""The attention features of Dana's Lemma 2 with all weights free: determinants, generic ranks.

A head's weight of token i at position s, seen from the last token j, is a positive number
\(w_{jis}\) that depends on the triple only. With embeddings, positions and these numbers as
symbols, and each sequence times its normalisers, the features are polynomials. Numbers that come
from query-key matrices are special values of the symbols, so the generic rank here is at least the
largest rank of any weights: where it is below \(\min(T_0,Hd)\), the lemma fails for all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lemmax.theory.dana.transformer import TokenSequence, token_sequences
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.families.ranks import GenericRank, generic_rank


@dataclass(frozen=True)
class AttentionFeatures(Typeset):
    """A (or A', with the skip connection) on some sequences: one row per sequence.

    >>> family = attention_features(["ab", "ba"], d=1, H=2)
    >>> family.to_sympy().shape, family.rank
    ((2, 2), 2)
    >>> attention_features(["aa", "bb", "cc", "dd"], d=2, H=2).determinant
    0
    """

    sequences: tuple[TokenSequence, ...]
    d: int
    H: int
    skip: bool

    @cached_property
    def tokens(self) -> tuple[Hashable, ...]:
        """The tokens in the order in which they occur."""
        return tuple(dict.fromkeys(token for t in self.sequences for token in t))

    def embedding(self, token: int, position: int) -> list[Any]:
        """x(t, s) = e + pos as symbols; tokens and positions are numbered from 1."""
        from sympy import Symbol

        return [
            Symbol(f"e{token}_{k}", real=True) + Symbol(f"p{position}_{k}", real=True)
            for k in range(1, self.d + 1)
        ]

    def weight(self, head: int, last: int, token: int, position: int) -> Any:
        """The unnormalised attention, a positive symbol."""
        from sympy import Symbol

        return Symbol(f"w{head}_{last}_{token}_{position}", positive=True)

    @cached_property
    def _rows(self) -> list[list[Any]]:
        from sympy import Integer, Mul

        number = {token: i for i, token in enumerate(self.tokens, 1)}
        rows = []
        for sequence in self.sequences:
            t = [number[token] for token in sequence]
            x = [self.embedding(token, s) for s, token in enumerate(t, 1)]
            weights = [
                [self.weight(h, t[-1], token, s) for s, token in enumerate(t, 1)]
                for h in range(1, self.H + 1)
            ]
            totals = [sum(w) for w in weights]
            row = [entry * Mul(*totals) for entry in x[-1]] if self.skip else []
            for h, w in enumerate(weights):
                others = Mul(Integer(1), *totals[:h], *totals[h + 1 :])
                row += [
                    others * sum(a * y[k] for a, y in zip(w, x, strict=True)) for k in range(self.d)
                ]
            rows.append(row)
        return rows

    def to_sympy(self) -> Any:
        """The features, each sequence times its normalisers; polynomials."""
        from sympy import Matrix

        return Matrix(self._rows)

    @cached_property
    def generic(self) -> GenericRank:
        """The generic rank with a minor that is not the zero polynomial, and a certificate."""
        return generic_rank(self.to_sympy())

    @property
    def rank(self) -> int:
        """The generic rank, which no weights exceed."""
        return self.generic.rank

    @property
    def determinant(self) -> Any:
        """The determinant, factored, up to its sign; the features must be square."""
        from sympy import Integer

        rows, columns = len(self._rows), len(self._rows[0])
        if rows != columns:
            raise LemmaxError(f"The features are a {rows} × {columns} matrix: no determinant.")
        return self.generic.minor if self.rank == rows else Integer(0)

    @property
    def claim(self) -> str:
        """The claim that this is about."""
        return "dana/lemma-2"

    def formula(self) -> str:
        """The generic rank beside what the lemma promises."""
        name = "A'" if self.skip else "A"
        wide = self.H * self.d + self.d * self.skip
        promised = min(len(self.sequences), wide)
        sign = "=" if self.rank == promised else "<"
        return (
            rf"\max \operatorname{{rank}} {name} \le {self.rank} {sign} "
            rf"\min({len(self.sequences)}, {wide})"
        )


def attention_features(
    sequences: Sequence[Sequence[Hashable]], d: int, H: int, skip: bool = False
) -> AttentionFeatures:
    """The features of Lemma 2 on some sequences with every weight a symbol.

    Cost: elimination over a polynomial ring with one variable per coordinate of an embedding and
    one per weight; a handful of sequences.

    Examples
    --------
    >>> attention_features(["aa", "bb"], d=1, H=1).rank
    1
    """
    if d < 1 or H < 1:
        raise LemmaxError("There must be at least one head and one dimension.")
    return AttentionFeatures(tuple(token_sequences(sequences)), d, H, skip)
