"""Small counterexamples to statements of Dana, Pydi and Chevaleyre (2024), as refutations.

Each function returns a certificate: an instance, the hypotheses, and a conclusion that fails. Where
the printed claim speaks of all weights at once the counterexample is a proof page instead.
"""

from __future__ import annotations

from flint import fmpq

from lemmax.constructions.refuting import refute
from lemmax.theory.certificates.writing import Certificate, certificate
from lemmax.theory.numbers.matrices import Matrix


def likely_sequences() -> Certificate:
    """Uniform prior on two sequences, ε = 1/2: two are needed for more than 1/2, not ⌈1⌉ = 1."""
    return refute("dana/t-epsilon", P=Matrix([["1/2", "1/2"]]), eps=fmpq(1, 2))


def spanning_unit_matrices() -> Certificate:
    """The unit matrices span R^{2×2} and have rank one: a spanning head need not add rank 2."""
    units = [
        [[str(int((i, j) == (k, m))) for m in range(2)] for k in range(2)]
        for i in range(2)
        for j in range(2)
    ]
    return refute("dana/lemma-2-increment", F=units)


def attention_to_a_longer_vector() -> Certificate:
    """d = 1, x(t, 1) = 2 and x(t, 2) = 1: W_QK = λ attends to the first position."""
    return refute("dana/skip-as-head", X=Matrix([[2], [1]]))


def orthogonal_value_map() -> Certificate:
    """One head, one sequence: a value map of full rank that is orthogonal to what it reads."""
    return refute("dana/value-map-keeps-rank", W=Matrix([[0, 1]]), X=Matrix([[1], [0]]))


def figure_4_bound() -> Certificate:
    """At d = 2, d_h = 5, H = 20 the formula of Corollary 2 gives 509/500, not 1."""
    return refute("dana/figure-4-bound", N=10, T=100, d=2, d_h=5, H=20)


def identity_table_on_a_line() -> Certificate:
    """N = 3, d = 1, π_t = δ_t for three sequences: the infimum over all encoders is at least .2121.

    For each direction c with Σ c = 0 one token's row is moved along it: three leaves, each with
    Ent(q) ≥ Ent(1/3, 2/3), prove it for every W and E at once. (The infimum is (log 2)/3.)
    """
    two_thirds = "2/3"
    nodes: list[object] = [
        [0, 1],  # the cone of (1, 0, -1) and (0, -1, 1) is bisected at (1/2, -1/2, 0)
        {"mu": ["0", two_thirds, "0"]},
        {"mu": ["-2/3", "0", "0"]},
        {"mu": ["0", "0", "1/2"]},  # the cone of (1, 0, -1) and (0, 1, -1)
    ]
    return certificate(
        "kl-interval",
        {
            "prior": ["1/3"] * 3,
            "table": [[str(int(i == j)) for j in range(3)] for i in range(3)],
            "d": 1,
            "upper": {
                "value": "367/1000",
                "W": [["-1"], ["0"], ["1"]],
                "E": [["-40"], ["0"], ["40"]],
            },
            "lower": {"value": "2121/10000", "blocks": [{"tokens": [0, 1, 2], "nodes": nodes}]},
        },
    )
