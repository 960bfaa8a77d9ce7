r"""Sequence encoders f_{W,E}(t) = W E(t) and the divergence of a table of distributions from them.

A :class:`Table` is a prior over T sequences and a next-token distribution π_t for each, all
rational. An encoder has an unembedding W (N × d) and one row of E (T × d) per sequence; what the
sequences are made of plays no role here (Dana, Pydi and Chevaleyre 2024, Definition 1). Entropies
and divergences are enclosed in balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flint import arb, ctx, fmpq

from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.matrices import Matrix, MatrixLike, rational
from lemmax.theory.sympified import symbolic_vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PRECISION = 128


@dataclass(frozen=True)
class Table:
    """A prior (uniform unless given) and one distribution over N tokens for each sequence.

    Examples
    --------
    >>> table = Table([["4/5", "1/10", "1/10"], ["1/10", "4/5", "1/10"]])
    >>> table.T, table.N, table.prior
    (2, 3, (1/2, 1/2))
    >>> Table([[1, 1]])
    Traceback (most recent call last):
    ...
    lemmax.theory.errors.LemmaxError: The probabilities of row 0 sum to 2, not to 1.
    """

    rows: Matrix
    prior: tuple[fmpq, ...]

    def __init__(self, rows: MatrixLike, prior: Sequence[Any] | None = None) -> None:
        table = Matrix(rows)
        T = table.shape[0]
        weights = [fmpq(1, T)] * T if prior is None else [rational(p) for p in prior]
        if len(weights) != T:
            raise ShapeError(f"The prior has {len(weights)} entries for {T} sequences.")
        for name, line in (
            ("the prior", weights),
            *((f"row {i}", row) for i, row in enumerate(table.flint.tolist())),
        ):
            if min(line) < 0:
                raise LemmaxError(f"A probability of {name} is negative.")
            total = sum(line, fmpq(0))
            if total != 1:
                raise LemmaxError(f"The probabilities of {name} sum to {total}, not to 1.")
        object.__setattr__(self, "rows", table)
        object.__setattr__(self, "prior", tuple(weights))

    @property
    def T(self) -> int:
        """The number of sequences."""
        return self.rows.shape[0]

    @property
    def N(self) -> int:
        """The number of tokens."""
        return self.rows.shape[1]

    @property
    def lists(self) -> list[list[fmpq]]:
        """The rows as lists of rationals."""
        table: list[list[fmpq]] = self.rows.flint.tolist()
        return table

    def entropies(self, precision: int = PRECISION) -> list[arb]:
        """The entropy of every π_t, in nats."""
        return [entropy(row, precision) for row in self.lists]

    def to_numpy(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The prior and the rows as floats."""
        import numpy as np

        return np.array([float(p.p) / float(p.q) for p in self.prior]), self.rows.to_numpy()

    def to_sympy(self) -> tuple[Any, Any]:
        """The prior as a column, and the rows, for sympy."""
        return symbolic_vector(self.prior), self.rows.to_sympy()


@dataclass(frozen=True)
class SequenceEncoder(Typeset):
    """f_{W,E}: the logits of sequence t are W E_t.

    Examples
    --------
    >>> encoder = SequenceEncoder([[0], [1]], [[0]])
    >>> encoder.divergence(Table([["1/2", "1/2"]])).contains(0)
    True
    """

    W: Matrix
    E: Matrix

    def __post_init__(self) -> None:
        for name in ("W", "E"):
            value = getattr(self, name)
            object.__setattr__(self, name, value if isinstance(value, Matrix) else Matrix(value))
        if self.W.shape[1] != self.E.shape[1]:
            raise ShapeError(
                f"W has {self.W.shape[1]} columns and E has {self.E.shape[1]}: both must have d."
            )

    @property
    def d(self) -> int:
        """The embedding dimension."""
        return self.W.shape[1]

    @property
    def logits(self) -> Matrix:
        """W E_t, one row per sequence."""
        return self.E @ self.W.T

    def divergence(self, table: Table, precision: int = PRECISION) -> arb:
        """d_KL(π, f), as a ball."""
        if (self.E.shape[0], self.W.shape[0]) != (table.T, table.N):
            raise ShapeError(
                f"The encoder is for {self.E.shape[0]} sequences and {self.W.shape[0]} tokens, "
                f"the table for {table.T} and {table.N}."
            )
        with ctx.workprec(precision):
            return sum(
                (
                    arb(p) * divergence(row, z, precision)
                    for p, row, z in zip(
                        table.prior, table.lists, self.logits.flint.tolist(), strict=True
                    )
                ),
                arb(0),
            )

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """W and E as floats."""
        return {"W": self.W.to_numpy(), "E": self.E.to_numpy()}

    def to_sympy(self) -> dict[str, Any]:
        """W and E for sympy."""
        return {"W": self.W.to_sympy(), "E": self.E.to_sympy()}

    def symbolic_divergence(self, table: Table) -> Any:
        """d_KL(π, f) itself, in exponentials and logarithms of rationals.

        >>> SequenceEncoder([[0], [1]], [[1]]).symbolic_divergence(Table([["1/2", "1/2"]]))
        -log(2) - 1/2 + log(1 + E)
        """
        from sympy import Add, exp, log

        prior, rows = table.to_sympy()
        logits = self.logits.to_sympy()
        if logits.shape != rows.shape:
            raise ShapeError(f"The logits are {logits.shape} and the table is {rows.shape}.")
        total = []
        for t, p in enumerate(prior):
            pairs = list(zip(rows.row(t), logits.row(t), strict=True))
            normaliser = log(Add(*(exp(z) for _, z in pairs)))
            total.append(p * (normaliser + Add(*(x * (log(x) - z) for x, z in pairs if x != 0))))
        return Add(*total)

    def formula(self) -> str:
        """W and E as an aligned display."""
        return (
            "\\begin{aligned}\n"
            rf"W &= {self.W.formula()} \\" + "\n" + rf"E^\top &= {self.E.T.formula()}"
            "\n\\end{aligned}"
        )


def entropy(p: Sequence[fmpq], precision: int = PRECISION) -> arb:
    """-Σ p log p in nats, 0 log 0 = 0.

    >>> abs(entropy([fmpq(1, 2), fmpq(1, 2)]) - arb.const_log2()) < 1e-9
    True
    """
    with ctx.workprec(precision):
        return -sum((arb(x) * arb(x).log() for x in p if x != 0), arb(0))


def divergence(p: Sequence[fmpq], logits: Sequence[fmpq], precision: int = PRECISION) -> arb:
    """KL(p || softmax(logits)) = log Σ e^z - Σ p z - Ent(p)."""
    with ctx.workprec(precision):
        top = max(logits)
        normaliser = sum(((arb(z - top)).exp() for z in logits), arb(0)).log()
        mean = sum((x * (top - z) for x, z in zip(p, logits, strict=True)), fmpq(0))
        return normaliser + arb(mean) - entropy(p, precision)


def johnson_lindenstrauss_constant(N: int, d: int, precision: int = PRECISION) -> arb:
    """C = √(32 log(N+1)/d) of Theorem 2; the bound says something only if 2C < 1."""
    with ctx.workprec(precision):
        return (32 * arb(N + 1).log() / d).sqrt()


def random_sign_constant(N: int, d: int, precision: int = PRECISION) -> arb:
    """C = 2√(log N/d): the coherence that random signs reach; it is below 1 iff d > 4 log N."""
    with ctx.workprec(precision):
        return 2 * (arb(N).log() / d).sqrt()


def phi(h: arb, N: int) -> arb:
    """φ(h) = log((N-1)/(e^h - 1)), decreasing and convex on (0, log N]; φ(log N) = 0."""
    return (arb(N - 1) / (h.exp() - 1)).log()


def lookup_bound(table: Table, targets: Sequence[int], C: arb, precision: int = PRECISION) -> arb:
    r"""\((1+C)/(1-C)\;\mathbb{E}[(1-π_t(g(t)))\,φ(h_t)]\), the bound of the random-sign encoder."""
    with ctx.workprec(precision):
        total = arb(0)
        for p, row, g, h in zip(
            table.prior, table.lists, targets, table.entropies(precision), strict=True
        ):
            if row[g] != 1:
                total += arb(p) * arb(1 - row[g]) * phi(h, table.N)
        return (1 + C) / (1 - C) * total


def theorem_2_bound(
    table: Table, targets: Sequence[int], d: int, precision: int = PRECISION
) -> arb:
    """The right-hand side of Theorem 2 (Dana et al. 2024); negative unless d > 128 log(N+1)."""
    with ctx.workprec(precision):
        C = johnson_lindenstrauss_constant(table.N, d, precision)
        total = arb(0)
        for p, row, g, h in zip(
            table.prior, table.lists, targets, table.entropies(precision), strict=True
        ):
            rest = 1 - row[g]
            if rest == 0:
                continue
            others = [x / rest for j, x in enumerate(row) if j != g]
            variation = sum((abs(x - fmpq(1, table.N - 1)) for x in others), fmpq(0)) / 2
            factor = (1 + 2 * C + C * arb(variation)) / (1 - 2 * C)
            total += arb(p) * arb(rest) * phi(h, table.N) * factor
        return total


def theorem_2_simple_bound(
    table: Table, targets: Sequence[int], d: int, precision: int = PRECISION
) -> arb:
    """The "simpler bound" after Theorem 2, with the mean entropy inside φ."""
    with ctx.workprec(precision):
        C = johnson_lindenstrauss_constant(table.N, d, precision)
        lists = table.lists
        wrong = sum(
            (p * (1 - row[g]) for p, row, g in zip(table.prior, lists, targets, strict=True)),
            fmpq(0),
        )
        mean = sum(
            (arb(p) * h for p, h in zip(table.prior, table.entropies(precision), strict=True)),
            arb(0),
        )
        return (1 + 4 * C) / (1 - 2 * C) * arb(wrong) * phi(mean, table.N)


def coherence(W: Matrix) -> fmpq:
    """The largest |W_i · W_j|, i ≠ j, exactly; W has unit rows.

    >>> coherence(Matrix([["3/5", "4/5"], [1, 0]]))
    3/5
    """
    gram = (W @ W.T).flint.tolist()
    if any(gram[i][i] != 1 for i in range(len(gram))):
        raise LemmaxError("Coherence is for rows of length one.")
    return max(abs(gram[i][j]) for i in range(len(gram)) for j in range(i))
