"""Evidence for the statements of the paper: two certificates, and the sum that the proof needs."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
import sympy

from lemmax.constructions.refuting import plain
from lemmax.theory import AoT, AoTHead
from lemmax.theory.certificates.writing import about_claim
from lemmax.theory.ledger.claims import load_claims, normalised

CLAIMS = load_claims([Path(__file__).parent.parent / "claims.toml"])

XOR = {"associations": [[[a, b, 0], a ^ b] for a, b in product((0, 1), repeat=2)]}


def head(key, output):
    """A head that scores a token by its bit, times ``key``, and writes its share of ones."""
    return AoTHead(W_Q=[[0, 1]], W_K=[[key, 0]], W_V=[[1, 0]], W_O=[[output], [0]])


TWO_HEADS = AoT(
    tokens=(0, 1),
    e=[[0, 1], [1, 1]],
    pos=[[0, 0]] * 3,
    W_U=[[0, 0], [20, -9]],
    heads=(head(1, 5), head(-1, -8)),
    unit="ln2",
)


@pytest.mark.claim("parity/cla-count", direction="against")
def test_the_count_fails_for_one_wide_head(certify):
    claim = CLAIMS["parity/cla-count"]
    instance = plain({"a": XOR, "H": 1, "d_h": 2})
    certificate = about_claim("refutation", claim.id, normalised(claim.formal), instance)
    certify(certificate, ship_as=claim.id)


@pytest.mark.claim("parity/pro-xor")
def test_two_narrow_heads_memorize_exclusive_or(certify):
    claim = CLAIMS["parity/pro-xor"]
    instance = plain({"T": TWO_HEADS, "a": XOR})
    certificate = about_claim("witness", claim.id, normalised(claim.formal), instance)
    certify(certificate, ship_as=claim.id)


def test_the_shares_of_the_two_heads():
    for n, wanted in enumerate((0, sympy.Rational(9, 10), 0)):
        assert sympy.Rational(10 * n, n + 3) - sympy.Rational(8 * n, 6 - n) == wanted


@pytest.mark.parametrize("heads", [1, 2])
def test_the_alternating_sum_vanishes(heads):
    """A product of H sums of functions of one bit each, against the sign of H + 1 bits."""
    total = 0
    for bits in product((0, 1), repeat=heads + 1):
        sign, term = (-1) ** sum(bits), 1
        for h in range(heads):
            term *= sum(sympy.Symbol(f"w_{h}_{s}_{b}") for s, b in enumerate(bits))
        total += sign * term
    assert sympy.expand(total) == 0
