"""Small counterexamples to statements of Dana, Pydi and Chevaleyre (2024), as refutations.

Each function returns a certificate: an instance, the assumptions, and a conclusion that fails.
Where a printed claim speaks of all weights at once, its formal statement is a consequence in which
the weights no longer occur, or the counterexample is a proof page instead.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from flint import fmpq

from lemmax.constructions.dana.associations import AssociativeMemory, associative_memory
from lemmax.constructions.refuting import refute, witness
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
    return refute("dana/lemma-2-increment", F=units, B=Matrix([[0, 0]]))


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
    Ent(q) ≥ Ent(1/3, 2/3), prove it for every W and E at once. The infimum is (log 2)/3 = .23104…;
    this certificate, written by hand, leaves [.2121, .367], and ``best_encoder`` leaves 10⁻⁵.
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


def equal_blocks_at_one_position() -> Certificate:
    """S = 1, d = 1, two sequences and two heads of one block each: rank at most 1, not 2."""
    return refute("dana/lemma-2", N=2, d=1, H=2)


def short_sequences_have_no_determinant() -> Certificate:
    """S = 1 < d = 2: a 2 × 2 product through one dimension is singular."""
    return refute("dana/lemma-2-determinant", S=1, d=2)


def heads_on_a_hyperplane() -> Certificate:
    """S = 1, d = 1, two sequences: the matrices of all heads are equal, and R² has lines."""
    return refute("dana/lemma-2-hyperplane", T=2, S=1, d=1)


def constant_pairs() -> Certificate:
    """S = d = d_h = H = 2 on four constant sequences: rank A is at most 3, not 4."""
    return refute("dana/comparison-mahdavi", N=4, S=2, d=2, d_h=2, H=2)


def parity(H: int) -> dict[str, Any]:
    """All H + 1 bits, then the token 0; the target is their parity."""
    rows = product((0, 1), repeat=H + 1)
    return {"associations": [[[*bits, 0], sum(bits) % 2] for bits in rows]}


def parity_of_two_bits() -> Certificate:
    """One head with d = d_h = 2 should memorize four associations, and no head does."""
    return refute("dana/corollary-1", a=parity(1), H=1, d_h=2)


def parity_of_one_bit() -> Certificate:
    """Without heads, d = 2 promises accuracy 1 on two associations with one last token."""
    return refute("dana/corollary-2", a=parity(0), d=2, d_h=1, H=0)


def headline_for_exclusive_or() -> Certificate:
    """One head with d_h = 1 and d = 3 should memorize four associations, and no head does."""
    return refute("dana/headline", a=parity(1), d=3, d_h=1, H=1)


def capacity_without_the_skip() -> Certificate:
    """Two heads of dimension 4 should memorize eight associations: not the parity of three bits."""
    return refute("dana/comparison-mahdavi-memorization", a=parity(2), d=4, d_h=4, H=2)


def uniform_prior_on_two() -> Certificate:
    """Uniform prior on two sequences, ε = 1/2: T_ε = 2, not ⌈1⌉."""
    return refute("dana/t-epsilon-uniform", P=Matrix([["1/2", "1/2"]]), eps=fmpq(1, 2))


def heads_rounded_up() -> Certificate:
    """d = d_h = 2 and T₀ = 3: one head, of which the count sees only half."""
    return refute("dana/parameters-rounded", T=3, d=2, d_h=2, H=1)


def too_few_sequences() -> Certificate:
    """One token, one position, two heads of d = 1: there is one sequence, and two are wanted."""
    return refute("dana/dummy-examples", N=1, H=2, d=1)


def constant_of_two_priors() -> Certificate:
    """The features (5, 12): B is 5/13 or 12/13, by the likelier sequence."""
    return refute("dana/constant-depends-on-attention", X=Matrix([[5, 12]]))


def printed_constant() -> Certificate:
    """Features (1, 3), log-odds -ln 100 and ln 8: fitted to the first, -ln 10⁶ is at the second."""
    a, p, s = fmpq(1, 101), fmpq(8, 9), fmpq(1, 10**6 + 1)
    return refute("dana/theorem-1-epsilon-features", x=1, y=3, a=a, p=p, s=s)


def divergence_above_the_logits() -> Certificate:
    """Log-odds -ln 15 and ln 11224: a divergence over 8.50924, logits less than 8.50923 apart."""
    return refute("dana/section-4.1-display", p=fmpq(1, 16), s=fmpq(11224, 11225))


def _on_a_line() -> dict[str, Any]:
    """The table, its dimension 1 and the bounds of the infimum, as an instance with evidence."""
    bounds = identity_table_on_a_line()
    p = {"distribution": {"prior": bounds["prior"], "table": bounds["table"]}}
    return {"p": p, "d": bounds["d"], "evidence": [bounds]}


def any_dimension_fails_on_a_line() -> Certificate:
    """Associations that fit in no encoder of dimension one."""
    return refute("dana/any-dimension", **_on_a_line())


def bottleneck_on_a_line() -> Certificate:
    """A distribution with a positive infimum at d = 1 < N - 1 = 2."""
    return witness("dana/proposition-2-converse", **_on_a_line())


def last_token_memory(N: int) -> AssociativeMemory:
    """No head, d = 2, all N² pairs of tokens, with the target 3j + 1 mod N of the last token j."""
    pairs = {(i, j): (3 * j + 1) % N for i, j in product(range(N), repeat=2)}
    return associative_memory(pairs, H=0, d_h=1, d=2)


def constant_memory(d: int) -> dict[str, Any]:
    """No head, two tokens, embeddings zero, and a last position that answers 0."""
    zeros = [["0"] * d] * 2
    layer = {
        "tokens": ["0", "1"],
        "unit": "1",
        "W_E": zeros,
        "W_U": [["1", "0"], *[["0", "0"]] * (d - 1)],
        "heads": [],
    }
    return {"transformer": {"layer": layer, "pos": [["0"] * d, ["1"] + ["0"] * (d - 1)]}}


def more_associations_than_dimensions() -> Certificate:
    """No head, d = 1, and two associations: the last position alone answers both."""
    pairs = {"associations": [[[0, 0], 0], [[1, 0], 0]]}
    return refute("dana/rank-d-stores-d", T=constant_memory(1), a=pairs)


def better_than_chance_without_heads() -> Certificate:
    """N = 2, no head: all four pairs of a table that is constant."""
    pairs = {"associations": [[[i, j], 0] for i, j in product((0, 1), repeat=2)]}
    return refute("dana/random-baseline", T=constant_memory(2), a=pairs)
