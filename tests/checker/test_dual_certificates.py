"""The kind kl-interval for a given left factor: nothing false or damaged is accepted."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import arb, ctx, fmpq, fmpq_mat
from jsonschema import Draft202012Validator

from lemmax import checker
from lemmax.constructions.dana.counterexamples import bottleneck_on_a_line
from lemmax.constructions.dana.encoders import kl_certificate
from lemmax.theory.certificates.writing import to_json
from lemmax.theory.dana.encoders import SequenceEncoder, Table, entropy
from lemmax.theory.numbers.balls import rational_above, rational_below
from lemmax.theory.numbers.matrices import Matrix

Certificate = dict[str, Any]
FOLDER = Path(checker.__file__).parents[1] / "theory" / "certificates" / "schemas"
STEP = fmpq(1, 2**30)


def direction(W: Matrix) -> list[fmpq]:
    """c ≠ 0 with Σ c = 0 and Wᵀc = 0, for more than d + 1 tokens."""
    echelon, rank = fmpq_mat([[1] * W.shape[0], *W.T.flint.tolist()]).rref()
    pivots = [next(j for j in range(W.shape[0]) if echelon[i, j] != 0) for i in range(rank)]
    free = next(j for j in range(W.shape[0]) if j not in pivots)
    c = [fmpq(int(j == free)) for j in range(W.shape[0])]
    for i, j in enumerate(pivots):
        c[j] = -echelon[i, free]
    return c


def intervals(seed: int) -> tuple[Certificate, fmpq, fmpq]:
    """A true certificate, a value above what its dual shows, and one above the infimum."""
    rng = random.Random(seed)
    T, d = rng.randint(1, 3), rng.randint(1, 2)
    N = d + rng.randint(2, 3)
    counts = [[rng.randint(1, 9) for _ in range(N)] for _ in range(T)]
    table = Table([[fmpq(x, sum(row)) for x in row] for row in counts])
    W = Matrix([[rng.randint(-3, 3) for _ in range(d)] for _ in range(N)])
    c, dual = direction(W), []
    for row in table.lists:
        most = min(p / abs(x) for p, x in zip(row, c, strict=True) if x)
        options = [fmpq(k, 8) * most for k in range(-8, 9)]
        points = [[p + mu * x for p, x in zip(row, c, strict=True)] for mu in options]
        dual.append(max(points, key=lambda q: float(entropy(q))))
    encoder = SequenceEncoder(W, Matrix([[rng.randint(-2, 2) for _ in range(d)] for _ in dual]))
    with ctx.workprec(128):
        gains = [entropy(q) - entropy(row) for q, row in zip(dual, table.lists, strict=True)]
        gain = sum(gains, arb(0)) / T
        above = rational_above(encoder.divergence(table), 60)
        lower = {"value": str(max(rational_below(gain, 60), fmpq(0))), "dual": text(dual)}
        made = json.loads(to_json(kl_certificate(table, encoder, above, ()))) | {"lower": lower}
        return made, rational_above(gain, 60) + STEP, above + STEP


def text(rows: list[list[fmpq]]) -> list[list[str]]:
    return [[str(x) for x in row] for row in rows]


def lowered(certificate: Certificate, **fields: Any) -> Certificate:
    return certificate | {"lower": certificate["lower"] | fields}


def test_duals_of_given_factors_are_accepted() -> None:
    path = FOLDER / "kl-interval.schema.json"
    schema = Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))
    positive = 0
    for seed in range(60):
        made, _, _ = intervals(seed)
        schema.validate(made)
        verdict = checker.check(made)
        assert verdict.holds, verdict.steps
        assert "for this W" in verdict.steps[-1]
        positive += made["lower"]["value"] != "0"
    assert positive > 40


def test_false_lower_ends_of_given_factors_are_refused() -> None:
    """More than the dual shows, more than an encoder has, and duals of other moments."""
    refused = 0
    for seed in range(60):
        made, unshown, false = intervals(seed)
        rng = random.Random(seed)
        assert not checker.check(lowered(made, value=str(max(unshown, STEP)))).holds
        for _ in range(2):  # whatever the dual is, the value is above the infimum
            weights = [[rng.randint(0, 9) for _ in row] for row in made["table"]]
            some = [[Fraction(x, sum(row) or 1) for x in row] for row in weights]
            unit = [str(int(j == 0)) for j in range(len(some[0]))]
            dual = [[str(x) for x in row] if sum(row) else unit for row in some]
            assert not checker.check(lowered(made, value=str(false), dual=dual)).holds
        refused += 3
    assert refused >= 100


def test_a_dual_of_other_moments_shows_nothing() -> None:
    """The uniform distribution has the largest entropy of all, but not the moments of π."""
    made, _, _ = intervals(0)
    N = len(made["table"][0])
    uniform = [[f"1/{N}"] * N for _ in made["table"]]
    verdict = checker.check(lowered(made, value="0", dual=uniform))
    assert not verdict.holds
    assert "other moments" in verdict.steps[-1]


def test_damaged_duals_are_refused(damages: Any) -> None:
    total = 0
    for seed in range(4):
        for name, damaged in damages(intervals(seed)[0]):
            total += 1
            try:
                assert not checker.check(damaged).holds, name
            except checker.NotACertificate:
                continue
    assert total > 100


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"dual": [["2", "-1"]]}, "lower.dual"),
        ({"blocks": []}, "blocks"),
        ({"value": "0.5"}, "lower.value"),
    ],
)
def test_malformed_duals_get_a_sentence(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(checker.NotACertificate, match=sentence):
        checker.check(lowered(intervals(1)[0], **fields))


def test_a_bound_for_one_factor_is_no_evidence_about_all() -> None:
    """A word about the infimum over every W takes no certificate about one W."""
    claim = json.loads(to_json(bottleneck_on_a_line()))
    assert checker.check(claim).holds
    (entry,) = claim["evidence"]
    entry["lower"] = {"value": "0", "dual": entry["table"]}
    with pytest.raises(checker.NotACertificate, match="must be about every W"):
        checker.check(claim)
