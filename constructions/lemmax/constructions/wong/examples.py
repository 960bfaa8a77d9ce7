r"""The databases and the layer that Wong (2025) writes out: Figure 1 and Examples 2.2, 2.4, 3.3."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flint import fmpq

from lemmax.constructions.refuting import sorted_tensor, witness
from lemmax.theory.certificates.writing import Certificate, number
from lemmax.theory.facts.database import Database
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Tensor = list[list[list[fmpq]]]


def figure_1() -> Database:
    """Two tables about three people and two countries: eight facts.

    >>> figure_1()["Astrid", "born_in"]
    'Singapore'
    """
    return Database.from_tables(
        {
            "Astrid": {"born_in": "Singapore", "lives_in": "Malaysia"},
            "Bernard": {"born_in": "Singapore", "lives_in": "Singapore"},
            "Colin": {"born_in": "Malaysia", "lives_in": "Malaysia"},
        },
        {"Malaysia": {"currency": "Ringgit"}, "Singapore": {"currency": "Dollar"}},
    )


def example_2_2() -> Database:
    """Figure 1 with the abbreviations of Example 2.2.

    >>> db = example_2_2()
    >>> len(db), db.slice_rank_bound
    (8, 6)
    """
    short = {"born_in": "β", "lives_in": "λ", "currency": "κ"}

    def letter(token: object) -> str:
        return short.get(str(token), str(token)[0].lower())

    return Database.from_triples([(letter(k), letter(q), letter(v)) for k, q, v in figure_1()])


def example_2_4() -> Database:
    """Five facts with different keys and queries and one value: rank 5, effective rank 1.

    >>> len(example_2_4().tokens)
    11
    """
    return Database.from_triples([(f"k{i}", f"q{i}", "v") for i in range(1, 6)])


@dataclass(frozen=True)
class Example33(Typeset):
    """One head of Example 3.3: its circuits, its tensors A¹, V¹, A¹V¹, and a layer with them.

    The tensors have the shapes K × Q × (K ∪ Q), (K ∪ Q) × Q × V and K × Q × V, in the paper's
    order of tokens: a, b, c; β, λ; m, s.

    >>> example_3_3().certificate()["kind"]
    'witness'
    """

    database: Database
    layer: AttentionLayer

    @cached_property
    def readers(self) -> tuple[str, ...]:
        """K ∪ Q, the tokens that are read."""
        return ("a", "b", "c", "β", "λ")

    @cached_property
    def W_QK(self) -> Matrix:
        """The query-key circuit, rows Q and columns K ∪ Q: all ones."""
        index = self.layer.index
        return self.layer.W_QK(0)[
            [index[q] for q in self.database.queries], [index[t] for t in self.readers]
        ]

    @cached_property
    def W_VO(self) -> Matrix:
        """The value-output circuit, rows K ∪ Q and columns V."""
        index = self.layer.index
        return self.layer.W_VO(0)[[index[t] for t in self.readers], [index[v] for v in "ms"]]

    @cached_property
    def A(self) -> Tensor:
        """A¹ of equation (5): one half on the key and one half on the query."""
        half, none = fmpq(1, 2), fmpq(0)
        return [
            [[half if t in (k, q) else none for t in self.readers] for q in self.database.queries]
            for k in self.database.keys
        ]

    @cached_property
    def V(self) -> Tensor:
        """V¹ of equation (4): the same slice for both queries."""
        return [[list(row), list(row)] for row in self.W_VO.flint.tolist()]

    @cached_property
    def AV(self) -> Tensor:
        """The product (6)."""
        return [
            [
                [sum((a * self.V[t][q][v] for t, a in enumerate(line)), fmpq(0)) for v in range(2)]
                for q, line in enumerate(lines)
            ]
            for lines in self.A
        ]

    def argmax(self) -> list[list[list[int]]]:
        """argmax of the fibres of A¹V¹: the slices of β and λ in Example 2.2, columns m and s."""
        return [[[int(x == max(fibre)) for x in fibre] for fibre in line] for line in self.AV]

    @cached_property
    def silent(self) -> AttentionLayer:
        """The layer with W_Q = 0, so that W_QK = 0."""
        (head,) = self.layer.heads
        zero = Head(Matrix.zeros(*head.W_Q.shape), head.W_K, head.W_V, head.W_O)
        return AttentionLayer(self.layer.tokens, self.layer.W_E, self.layer.W_U, (zero,))

    def certificate(self) -> Certificate:
        """A ``witness`` of all that the example says, with the layer and the one without scores."""
        return witness("wong/example-3.3", L=self.layer, M=self.silent, D=self.database)

    @property
    def claim(self) -> str:
        """The claim that this witnesses."""
        return "wong/example-3.3"

    def formula(self) -> str:
        """The two circuits."""
        return rf"W_{{QK}}^1 = {self.W_QK.formula()}, \quad W_{{VO}}^1 = {self.W_VO.formula()}"

    def to_sympy(self) -> dict[str, Any]:
        """The weights of the layer for sympy."""
        return self.layer.to_sympy()

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """The weights of the layer."""
        return self.layer.to_numpy()


def example_3_3() -> Example33:
    """One head of d_vo = 2 that answers two queries of Figure 1.

    The paper gives circuits; the weights here have these circuits. Coordinates 0 and 1 are read by
    the head, 2 and 3 are written by it and unembedded, 4 is constant and makes all scores equal.

    >>> example = example_3_3()
    >>> example.W_VO
    Matrix([['0', '0'], ['0', '4'], ['4', '0'], ['0', '2'], ['2', '0']])
    >>> example.layer.last_logits(("a", "β")).argmax() == (example.layer.index["s"],)
    True
    """
    full = example_2_2()
    facts = [(k, q, v) for k, q, v in full if q in ("β", "λ")]
    database = Database.from_triples(sorted(facts, key=lambda f: (str(f[0]), str(f[1]))))
    read = {"a": (0, 0), "b": (0, 4), "c": (4, 0), "β": (0, 2), "λ": (2, 0)}
    tokens = (*read, "m", "s")
    W_E = [[*read.get(t, (0, 0)), 0, 0, 1] for t in tokens]
    W_U = [[int((i, t) in ((2, "m"), (3, "s"))) for t in tokens] for i in range(5)]
    # The other tokens have logit 0 and tie with a loser, never with the winner.
    head = Head(
        Matrix([[0], [0], [0], [0], [1]]),
        Matrix([[0, 0, 0, 0, 1]]),
        Matrix([[1, 0], [0, 1], [0, 0], [0, 0], [0, 0]]),
        Matrix([[0, 0, 1, 0, 0], [0, 0, 0, 1, 0]]),
    )
    return Example33(database, AttentionLayer(tokens, Matrix(W_E), Matrix(W_U), (head,)))


# -- certificates ----------------------------------------------------------------------------------


def example_2_2_witness() -> Certificate:
    """Eight facts, bound 6, rank 5."""
    return witness("wong/example-2.2", D=example_2_2(), evidence=[_rank(example_2_2())])


def remark_2_3_witness() -> Certificate:
    """The same facts: rank 5 below the sums 8 and 6 of the ranks of slices."""
    return witness("wong/remark-2.3", D=example_2_2(), evidence=[_rank(example_2_2())])


def example_2_4_witness() -> Certificate:
    """Rank 5, and the tensor of ones represents the database with rank 1."""
    ones = [[["1"]] * 5] * 5
    return witness("wong/example-2.4", D=example_2_4(), X=ones)


def rank_of_product_witness() -> Certificate:
    """A¹ of rank 4, V¹ of rank 2 and their product of rank 3 (Example 3.3)."""
    example = example_3_3()
    return witness("wong/rank-of-product", A=_plain(example.A), B=_plain(example.V))


def _rank(db: Database) -> Certificate:
    """The rank of a database over the reals, certified."""
    from lemmax.theory.tensors.ranks import tensor_rank

    return tensor_rank(sorted_tensor(db), "R").certificate()


def _plain(tensor: Tensor) -> list[list[list[str]]]:
    """A tensor as certificates write it."""
    return [[[number(x) for x in fibre] for fibre in line] for line in tensor]
