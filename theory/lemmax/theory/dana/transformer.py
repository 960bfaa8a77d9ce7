r"""The attention-only transformer of Dana, Pydi and Chevaleyre (2024), over the rationals.

Tokens 0, …, N-1 are embedded by the rows of ``e`` (N × d), positions by the rows of ``pos``
(S × d); the vector of a sequence t at position s is \(x(t,s) = e(t_s) + pos_s\). A head has
W_Q, W_K, W_V (d_h × d) and W_O (d × d_h), and with \(W_{QK} = W_Q^\top W_K\) (equations 1 and 2)

.. math:: A^h(t) = \sum_s a^h_s(t)\,x(t,s), \quad
          a^h(t) = \operatorname{softmax}_s\big(x(t,S)^\top W^h_{QK}\, x(t,s)\big),
.. math:: \mathcal{T}(t) = W_U\Big(x(t,S) + \sum_h W^h_O W^h_V A^h(t)\Big), \quad W_U: N × d.

There is no mask and no causal order: only the last position is read. Scores are rational multiples
of a unit, 1 or ln 2, so every attention weight is a rational function of one number z, namely
\(z = e^{1/q}\) (transcendental) or z = 2.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import arb, arb_mat, ctx, fmpq, fmpz_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError, ShapeError, Undecided
from lemmax.theory.latex import Typeset, weights
from lemmax.theory.numbers.balls import precisions
from lemmax.theory.numbers.matrices import Matrix, MatrixLike
from lemmax.theory.numbers.row_maps import Unit
from lemmax.theory.sympified import symbolic_weights

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

TokenSequence: TypeAlias = tuple[Hashable, ...]

_MOST_BITS = 1 << 14


def _matrix(value: MatrixLike) -> Matrix:
    return value if isinstance(value, Matrix) else Matrix(value)


@dataclass(frozen=True)
class AoTHead:
    """One head in the shapes of the paper: W_Q, W_K, W_V are d_h × d and W_O is d × d_h.

    >>> head = AoTHead(*(Matrix([[1, 2]]) for _ in range(3)), Matrix([[1], [0]]))
    >>> head.W_QK  # W_Qᵀ W_K
    Matrix([['1', '2'], ['2', '4']])
    """

    W_Q: Matrix
    W_K: Matrix
    W_V: Matrix
    W_O: Matrix

    def __post_init__(self) -> None:
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            object.__setattr__(self, name, _matrix(getattr(self, name)))
        d_h, d = self.W_V.shape
        wanted = {"W_Q": (d_h, d), "W_K": (d_h, d), "W_O": (d, d_h)}
        for name, shape in wanted.items():
            given = getattr(self, name).shape
            if given != shape:
                raise ShapeError(f"{name} has shape {given}, but its head needs {shape}.")

    @property
    def d_h(self) -> int:
        """The inner dimension of the head."""
        return self.W_V.shape[0]

    def to_sympy(self) -> dict[str, Any]:
        """The matrices by name, for sympy."""
        return {name: getattr(self, name).to_sympy() for name in _HEAD}

    @cached_property
    def W_QK(self) -> Matrix:
        """W_Qᵀ W_K, of rank at most min(d, d_h)."""
        return self.W_Q.T @ self.W_K


@dataclass(frozen=True)
class AoT(Typeset):
    """An attention-only transformer with exact weights.

    Examples
    --------
    >>> model = AoT("ab", e=[[1], [2]], pos=[[0], [0]], W_U=[[1], [-1]])
    >>> model.N, model.S, model.d, model.H, model.parameters
    (2, 2, 1, 0, 6)
    >>> model.predict("ab")
    'a'
    """

    tokens: tuple[Hashable, ...]
    e: Matrix
    pos: Matrix
    W_U: Matrix
    heads: tuple[AoTHead, ...] = ()
    unit: Unit = "1"
    index: Mapping[Hashable, int] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tuple(self.tokens))
        object.__setattr__(self, "heads", tuple(self.heads))
        for name in ("e", "pos", "W_U"):
            object.__setattr__(self, name, _matrix(getattr(self, name)))
        object.__setattr__(self, "index", {t: i for i, t in enumerate(self.tokens)})
        if len(self.index) != len(self.tokens):
            raise LemmaxError("The tokens of a transformer must be distinct.")
        if self.unit not in ("1", "ln2"):
            raise LemmaxError(f"The unit of attention scores is '1' or 'ln2', not {self.unit!r}.")
        d = self.pos.shape[1]
        for name in ("e", "W_U"):
            if getattr(self, name).shape != (len(self.tokens), d):
                raise ShapeError(
                    f"{name} has shape {getattr(self, name).shape}, "
                    f"but {len(self.tokens)} tokens in dimension {d} need {(len(self.tokens), d)}."
                )
        for number, head in enumerate(self.heads, 1):
            if head.W_V.shape[1] != d:
                raise ShapeError(f"Head {number} works in dimension {head.W_V.shape[1]}, not {d}.")

    @property
    def N(self) -> int:
        """The size of the dictionary."""
        return len(self.tokens)

    @property
    def S(self) -> int:
        """The length of the sequences."""
        return self.pos.shape[0]

    @property
    def d(self) -> int:
        """The embedding dimension."""
        return self.pos.shape[1]

    @property
    def H(self) -> int:
        """The number of heads."""
        return len(self.heads)

    @property
    def d_h(self) -> int:
        """The largest inner dimension of a head; it may exceed d."""
        return max((head.d_h for head in self.heads), default=0)

    @property
    def effective_d_h(self) -> int:
        """min(d, d_h): a larger inner dimension gives the same functions (footnote 1)."""
        return min(self.d, self.d_h)

    @property
    def parameters(self) -> int:
        """All parameters: d(S + 2N + 4 d_h H) when the heads are alike (Theorem 1)."""
        return self.d * (self.S + 2 * self.N + 4 * sum(head.d_h for head in self.heads))

    def indices(self, sequences: Sequence[Sequence[Hashable]]) -> list[tuple[int, ...]]:
        """Token numbers of the sequences, which must be distinct and of length S."""
        checked = token_sequences(sequences)
        if len(checked[0]) != self.S:
            raise LemmaxError(f"The sequences have length {len(checked[0])}, not S = {self.S}.")
        for token in (token for t in checked for token in t if token not in self.index):
            raise LemmaxError(f"The token {token!r} is unknown to this transformer.")
        return [tuple(self.index[token] for token in t) for t in checked]

    @cached_property
    def _rows(self) -> tuple[list[list[fmpq]], list[list[fmpq]]]:
        return self.e.flint.tolist(), self.pos.flint.tolist()

    def attention_before_output(
        self, sequences: Sequence[Sequence[Hashable]], precision: int = 128
    ) -> tuple[arb_mat, list[arb_mat]]:
        """X_S (T₀ × d) and A^h (T₀ × d for each head) as balls; sequences are rows here."""
        indices = self.indices(sequences)
        e, pos = self._rows
        vectors = [Matrix([[a + b for a, b in zip(x, p, strict=True)] for x in e]) for p in pos]
        exact = [x.flint.tolist() for x in vectors]
        # what a head does with token i at position s depends on (last token, i, s) only
        needed = sorted({(t[-1], i, s) for t in indices for s, i in enumerate(t)})
        with ctx.workprec(precision + 32):
            unit = arb.const_log2() if self.unit == "ln2" else arb(1)
            balls = [[[arb(v) for v in row] for row in x] for x in exact]
            last = arb_mat([balls[-1][t[-1]] for t in indices])
            outputs = []
            for head in self.heads:
                queries = vectors[-1] @ head.W_QK
                scores = [(queries @ x.T).flint for x in vectors]
                weights = {(j, i, s): (unit * arb(scores[s][j, i])).exp() for j, i, s in needed}
                rows = []
                for t in indices:
                    parts = [(weights[t[-1], i, s], balls[s][i]) for s, i in enumerate(t)]
                    total = sum((w for w, _ in parts), arb(0))
                    rows.append(
                        [sum((w * x[k] for w, x in parts), arb(0)) / total for k in range(self.d)]
                    )
                outputs.append(arb_mat(rows))
        return last, outputs

    def logits(
        self, sequences: Sequence[Sequence[Hashable]], precision: int = 128
    ) -> list[list[arb]]:
        """The logits 𝒯(t) over the whole dictionary as balls, one row per sequence."""
        last, outputs = self.attention_before_output(sequences, precision)
        with ctx.workprec(precision + 32):
            for head, output in zip(self.heads, outputs, strict=True):
                last = last + output * arb_mat((head.W_O @ head.W_V).T.flint)
            table: list[list[arb]] = (last * arb_mat(self.W_U.T.flint)).tolist()
        return table

    def margins(self, pairs: Mapping[TokenSequence, Hashable], precision: int = 128) -> list[arb]:
        """For each pair, the target's logit minus the largest other logit, as a ball."""
        for token in (token for token in pairs.values() if token not in self.index):
            raise LemmaxError(f"The token {token!r} is unknown to this transformer.")
        rows = self.logits(list(pairs), precision)
        targets = [self.index[token] for token in pairs.values()]
        with ctx.workprec(precision + 32):
            return [
                row[g] - _maximum([x for j, x in enumerate(row) if j != g])
                for row, g in zip(rows, targets, strict=True)
            ]

    def memorizes(self, pairs: Mapping[TokenSequence, Hashable]) -> bool:
        """Whether every target's logit is strictly the largest.

        Ties count as failures (with them W_U = 0 would memorize everything). A margin that cannot
        be told from zero at 2^14 bits raises :class:`Undecided`.
        """
        for precision in precisions(most=_MOST_BITS, factor=4):
            margins = self.margins(pairs, precision)
            if any(margin < 0 for margin in margins):
                return False
            if all(margin > 0 for margin in margins):
                return True
        raise Undecided("A margin cannot be told from zero: it may be a tie.")

    def predict(self, sequence: Sequence[Hashable]) -> Hashable:
        """The token of largest logit, where balls of 256 bits can tell which it is."""
        row = self.logits([sequence], 256)[0]
        best = max(range(self.N), key=lambda j: float(row[j].mid()))
        if not all(row[j] < row[best] for j in range(self.N) if j != best):
            raise Undecided("The two largest logits cannot be told apart: it may be a tie.")
        return self.tokens[best]

    def certificate_fields(self) -> dict[str, Any]:
        """The transformer as certificates carry it: a layer in Wong's shapes, and the positions."""
        names = [str(token) for token in self.tokens]
        if len(set(names)) != len(names):
            raise LemmaxError("Two tokens of the transformer are written alike.")
        return {
            "layer": {
                "tokens": names,
                "unit": self.unit,
                "W_E": certificates.matrix(self.e),
                "W_U": certificates.matrix(self.W_U.T),
                "heads": [
                    {
                        "W_Q": certificates.matrix(head.W_Q.T),
                        "W_K": certificates.matrix(head.W_K),
                        "W_V": certificates.matrix(head.W_V.T),
                        "W_O": certificates.matrix(head.W_O.T),
                    }
                    for head in self.heads
                ],
            },
            "pos": certificates.matrix(self.pos),
        }

    def memorization_certificate(self, pairs: Mapping[TokenSequence, Hashable]) -> Certificate:
        """An ``aot-memorization`` certificate: the weights and the pairs."""
        if not self.memorizes(pairs):
            raise LemmaxError("The transformer misses one of the associations: no certificate.")
        sequences = self.indices(list(pairs))
        targets = [self.index[token] for token in pairs.values()]
        return certificates.certificate(
            "aot-memorization",
            {
                **self.certificate_fields(),
                "pairs": [[list(t), g] for t, g in zip(sequences, targets, strict=True)],
            },
        )

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """The weights as float64 arrays; the unit is folded into W_Q."""
        import numpy as np

        scale = float(np.log(2.0)) if self.unit == "ln2" else 1.0
        arrays = {name: getattr(self, name).to_numpy() for name in ("e", "pos", "W_U")}
        for number, head in enumerate(self.heads):
            for name in _HEAD:
                factor = scale if name == "W_Q" else 1.0
                arrays[f"heads.{number}.{name}"] = factor * getattr(head, name).to_numpy()
        return arrays

    def to_sympy(self) -> dict[str, Any]:
        """The weights for sympy, under the names of ``to_numpy``; the unit is folded into W_Q."""
        first = {name: getattr(self, name).to_sympy() for name in ("e", "pos", "W_U")}
        return symbolic_weights(first, self.heads, self.unit)

    def to_torch(self, dtype: torch.dtype | None = None) -> torch.nn.Module:
        """The same transformer as a torch module (float64 unless told otherwise)."""
        from lemmax.numerics.twins.dana import TorchAoT

        return TorchAoT.from_exact(self, dtype)

    def formula(self) -> str:
        """Every weight matrix as an aligned display."""
        first = [
            rf"e &= {self.e.formula()}",
            rf"\mathrm{{pos}} &= {self.pos.formula()}",
            rf"W_U &= {self.W_U.formula()}",
        ]
        scale = {"W_Q": r"\ln 2 \cdot "} if self.unit == "ln2" else {}
        heads = [
            {name: scale.get(name, "") + getattr(head, name).formula() for name in _HEAD}
            for head in self.heads
        ]
        return weights(first, heads)

    def integer_form(self) -> tuple[fmpz_mat, fmpz_mat, list[fmpz_mat], int, int]:
        """Integers e', pos', W'_h and q, m with x = x'/m and scores x'ᵀ W' x' / q."""
        m = math.lcm(int(self.e.flint.numer_denom()[1]), int(self.pos.flint.numer_denom()[1]))
        circuits = [head.W_QK.flint.numer_denom() for head in self.heads]
        common = math.lcm(1, *(int(denominator) for _, denominator in circuits))
        return (
            (m * self.e).flint.numer_denom()[0],
            (m * self.pos).flint.numer_denom()[0],
            [numerator * (common // int(denominator)) for numerator, denominator in circuits],
            m * m * common,
            m,
        )


_HEAD = ("W_Q", "W_K", "W_V", "W_O")


def _maximum(balls: list[arb]) -> arb:
    if not balls:
        raise LemmaxError("With a single token there is no other logit to compare with.")
    top = balls[0]
    for ball in balls[1:]:
        top = top.max(ball)
    return top


def token_sequences(sequences: Sequence[Sequence[Hashable]]) -> list[TokenSequence]:
    """The sequences as tuples; they must be distinct, nonempty and of one length.

    >>> token_sequences(["ab", "abc"])
    Traceback (most recent call last):
    ...
    lemmax.theory.errors.LemmaxError: Sequences must all have the same length, not 2 and 3.
    """
    listed = [tuple(t) for t in sequences]
    if not listed:
        raise LemmaxError("There must be at least one sequence: T₀ = 0 leaves nothing to memorize.")
    lengths = sorted({len(t) for t in listed})
    if lengths[0] == 0:
        raise LemmaxError("A sequence needs at least one token.")
    if len(lengths) > 1:
        raise LemmaxError(
            f"Sequences must all have the same length, not {lengths[0]} and {lengths[1]}."
        )
    if len(set(listed)) != len(listed):
        seen: set[TokenSequence] = set()
        for t in listed:
            if t in seen:
                raise LemmaxError(f"The sequence {t!r} occurs twice.")
            seen.add(t)
    return listed


def associations(pairs: Any) -> dict[TokenSequence, Hashable]:
    """Sequence–token pairs as a dictionary; contradictory pairs are refused by name.

    >>> associations([("ab", "c"), ("ab", "d")])
    Traceback (most recent call last):
    ...
    lemmax.theory.errors.LemmaxError: The sequence ('a', 'b') has two targets, 'c' and 'd'.
    """
    items = list(pairs.items()) if isinstance(pairs, Mapping) else list(pairs)
    table: dict[TokenSequence, Hashable] = {}
    for item in items:
        try:
            sequence, target = item
        except (TypeError, ValueError):
            raise LemmaxError("An association is a pair of a sequence and a token.") from None
        key = tuple(sequence)
        if key in table and table[key] != target:
            raise LemmaxError(
                f"The sequence {key!r} has two targets, {table[key]!r} and {target!r}."
            )
        table[key] = target
    token_sequences(list(table))
    return table
