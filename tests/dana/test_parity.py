"""H heads cannot memorize parity of H + 1 bits, and what follows for Theorem 1 and its corollaries.

The last token is fixed, so a head's weight of (position s, bit b) is one positive number w and its
contribution to a difference of two logits one number u: the normaliser Z_h is Σ_s w[h, s, b_s] and
the numerator N_h is Σ_s w[h, s, b_s] u[h, s, b_s]. Both are additive in the bits, whatever d, d_h.
"""

import random
from itertools import product
from typing import Any

import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.polys.domains import ZZ
from sympy.polys.rings import ring

from lemmax.constructions import parity_identity
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.theory.dana.encoders import divergence, entropy
from lemmax.theory.dana.transformer import AoT, AoTHead
from lemmax.theory.numbers.matrices import Matrix


def cube(n: int) -> list[tuple[int, ...]]:
    return list(product((0, 1), repeat=n))


@pytest.mark.claim(
    "lemmax/parity-obstruction",
    grade="symbolic",
    scope="H = 1, 2, 3; all weights are free symbols",
    statement="70f1c1a461038561",
)
@pytest.mark.parametrize("H", [1, 2, 3])
def test_parity_alternating_sum_is_zero(H: int, symbolic: Symbolic) -> None:
    """If f had the sign of parity everywhere, every term would be positive: the sum is zero."""
    symbolic.identity(*parity_identity(H).sums)


@pytest.mark.parametrize("H", [1, 2])
def test_parity_alternating_sum_needs_the_extra_bit(H: int) -> None:
    """Over H bits only the sum is not zero: the identity is not vacuous."""
    even, odd = parity_identity(H, bits=H).sums
    assert even != odd


@pytest.mark.claim(
    "dana/corollary-1", grade="symbolic", direction="against", statement="14f0e7127168b46b"
)
def test_corollary_1_fails_for_exclusive_or_at_one_head(symbolic: Symbolic) -> None:
    """H = 1, d = d_h = 2, N = 2, S = 3: four associations (a, b, 0) → a xor b are promised.

    f Z is an additive function g of the two bits (all weights are free, Z > 0), and no additive
    function has the signs of exclusive or.
    """
    symbolic.decide("dana/corollary-1")


def test_corollary_1_and_corollary_2_fail_without_heads() -> None:
    """H = 0, d = 2, N = S = 2: logits W_U (e_j + pos_2) depend on the last token only.

    Corollary 1 promises the two associations (0, 0) → 0, (1, 0) → 1. On all four pairs with
    target = first token Corollary 2 promises accuracy 3/4; at most one of two pairs with the same
    last token can be right, so it is at most 1/2.
    """
    names = "e00 e01 e10 e11 p00 p01 p10 p11 u00 u01 u10 u11"
    R, *s = ring(names, ZZ)
    e, pos, W_U = ([[s[k], s[k + 1]], [s[k + 2], s[k + 3]]] for k in (0, 4, 8))

    def logits(first: int, last: int) -> list[Any]:
        del first  # without heads the first token is not read
        return [
            sum((W_U[j][i] * (e[last][i] + pos[1][i]) for i in range(2)), R(0)) for j in range(2)
        ]

    for last in (0, 1):
        gaps = [logits(first, last)[0] - logits(first, last)[1] for first in (0, 1)]
        assert gaps[0] == gaps[1]  # first token 0 needs gap > 0, first token 1 needs gap < 0
    N, H, d_h, d, T0 = 2, 0, 1, 2, 4
    promised = fmpq(1, N) + (1 - fmpq(1, N)) * fmpq(H * d_h + d, T0)
    assert promised == fmpq(3, 4) > fmpq(1, 2)


small = st.integers(-3, 3)


def tables(rows: int, columns: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(
        st.lists(small, min_size=columns, max_size=columns), min_size=rows, max_size=rows
    )


def head(d: int) -> st.SearchStrategy[AoTHead]:
    return st.builds(AoTHead, tables(d, d), tables(d, d), tables(d, d), tables(d, d))


@given(
    data=st.data(),
    H=st.integers(1, 2),
    d=st.integers(1, 2),
)
@settings(max_examples=40)
def test_parity_sum_vanishes_for_transformers(data: st.DataObject, H: int, d: int) -> None:
    """The additive form is that of the model: balls of the cleared sum contain 0, at 400 bits."""
    model = AoT(
        (0, 1),
        Matrix(data.draw(tables(2, d))),
        Matrix(data.draw(tables(H + 2, d))),
        Matrix(data.draw(tables(2, d))),
        tuple(data.draw(head(d)) for _ in range(H)),
    )
    sequences = [(*b, 0) for b in cube(H + 1)]
    logits = model.logits(sequences, 400)
    e, pos = model.e.flint.tolist(), model.pos.flint.tolist()
    total, size = arb(0), arb(0)
    for t, row in zip(sequences, logits, strict=True):
        x = [[a + b for a, b in zip(e[i], p, strict=True)] for i, p in zip(t, pos, strict=True)]
        Z = arb(1)
        for part in model.heads:
            query = (Matrix([x[-1]]) @ part.W_QK).flint.tolist()[0]
            scores = [sum((a * b for a, b in zip(query, key, strict=True)), fmpq(0)) for key in x]
            Z *= sum((arb(score).exp() for score in scores), arb(0))
        total += (-1) ** sum(t[:-1]) * (row[0] - row[1]) * Z
        size += abs((row[0] - row[1]) * Z)
    assert total.contains(0)
    assert total.rad() < 1e-6 * (1 + size.mid())  # default precision of the products


@pytest.mark.parametrize("H", [0, 1, 2, 5])
def test_theorem_1_dimensions_of_the_parity_counterexample(H: int) -> None:
    """N = 2, S = H + 2, d_h = 1, d = 2^(H+1) - H: the hypotheses of Theorem 1 are satisfied."""
    T0, d_h, d, N = 2 ** (H + 1), 1, 2 ** (H + 1) - H, 2
    assert d_h * H + d == T0
    assert 1 <= d_h <= d
    assert d >= N - 1  # so the encoders' infimum is zero (Proposition 2)


@pytest.mark.parametrize("H", [0, 1, 2])
def test_theorem_1_divergence_of_parity(H: int) -> None:
    """One sequence is answered wrongly or with a tie: its divergence is at least log 2 - h(η)."""
    eta = fmpq(1, 10)
    right, wrong = [1 - eta, eta], [eta, 1 - eta]
    least = arb.const_log2() - entropy(right)
    # KL((1-η, η) || softmax z) for z_0 <= z_1 is least at a tie (it decreases in z_0 - z_1 there)
    for gap in (0, 1, 2, 5):
        assert divergence(right, [fmpq(-gap), fmpq(0)]) >= least - arb("1e-12")
        assert divergence(wrong, [fmpq(0), fmpq(-gap)]) >= least - arb("1e-12")
    assert least / 2 ** (H + 1) > 0
    if H == 1:
        assert least / 4 > arb("0.0920")


@pytest.mark.parametrize("H", range(5))
def test_corollary_2_promises_everything_for_parity(H: int) -> None:
    """All 2^(H+2) sequences, target the parity of the first H+1 bits, d_h = 1, d = 2^(H+2) - H."""
    N, T0, d_h = 2, 2 ** (H + 2), 1
    d = T0 - H
    assert H * d_h + d <= T0
    promised = fmpq(1, N) + (1 - fmpq(1, N)) * fmpq(H * d_h + d, T0)
    possible = 1 - fmpq(2, T0)  # at least one error for each of the two last tokens
    assert promised == 1 > possible


def right_answers(model: AoT, target: dict[tuple[int, ...], int]) -> int:
    """How many sequences surely get their target as the strict maximum."""
    rows = model.logits(list(target), 256)
    return sum(row[g] > row[1 - g] for row, g in zip(rows, target.values(), strict=True))


def parity(H: int, bits: int) -> dict[tuple[int, ...], int]:
    """All sequences of H + 2 bits, with the parity of the first ``bits`` of them."""
    return {t: sum(t[:bits]) % 2 for t in cube(H + 2)}


def reading_one_bit(place: int, gain: int = 100) -> AoT:
    """H = 1, S = 3: attention 2^5 : 1 : 1 on one place, so that its bit decides."""
    pos = [[0, 5 * int(s == place) if s < 2 else 1] for s in range(3)]
    score, value, signs = Matrix([[0, 1]]), Matrix([[1, 0]]), Matrix([[-1, 0], [1, 0]])
    head = AoTHead(score, score, value, Matrix([[gain], [0]]))
    return AoT((0, 1), signs, Matrix(pos), signs, (head,), "ln2")


@pytest.mark.parametrize("H", [0, 1, 2])
def test_corollary_2_misses_one_sequence_per_last_token(H: int) -> None:
    """The accuracy is at most 1 - 2^-(H+1), transformers of all the dimensions that are tried.

    On the parity of H bits instead, one head is right everywhere: the extra bit is what fails.
    """
    target = parity(H, H + 1)
    draw = random.Random(H)

    def table(rows: int, columns: int, size: int) -> Matrix:
        return Matrix([[draw.randint(-size, size) for _ in range(columns)] for _ in range(rows)])

    best = 0
    for _ in range(60):
        d, d_h, size = draw.randint(1, 4), draw.randint(1, 2), draw.choice((1, 2, 5))
        heads = tuple(
            AoTHead(
                table(d_h, d, size), table(d_h, d, size), table(d_h, d, size), table(d, d_h, size)
            )
            for _ in range(H)
        )
        model = AoT(
            (0, 1), table(2, d, size), table(H + 2, d, size), table(2, d, size), heads, "ln2"
        )
        for last in (0, 1):
            part = {t: g for t, g in target.items() if t[-1] == last}
            assert right_answers(model, part) < len(part)
        best = max(best, right_answers(model, target))
    assert fmpq(best, len(target)) <= 1 - fmpq(1, 2 ** (H + 1))
    assert best >= len(target) // 2
    if H == 1:
        assert right_answers(reading_one_bit(0), parity(1, 1)) == len(target)
        assert right_answers(reading_one_bit(0), target) == len(target) // 2
