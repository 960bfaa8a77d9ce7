"""Statements of Wong (2025) that one exact instance refutes, each with a shipped certificate."""

import json
from collections.abc import Callable

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions.wong import counterexamples
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.theory import certified_rank, memorizes
from lemmax.theory.certificates.writing import Certificate, to_json
from lemmax.theory.ledger.claims import BUILT_IN
from lemmax.theory.wong.layer_tensors import flattening_ranks, layer_tensor

Certify = Callable[..., checker.Verdict]
FORMAL = checker.formal_statements([BUILT_IN])

ALL: dict[str, Callable[[], Certificate]] = {
    "wong/equation-5-diagonal": counterexamples.equation_5_diagonal,
    "wong/proposition-3.1": counterexamples.logits_off_the_domain,
    "wong/remark-3.4": counterexamples.larger_rank_no_solution,
    "wong/equation-9": counterexamples.estimate_with_one_query,
    "wong/rank-hypothesis": counterexamples.zero_layer_for_one_fact,
    "wong/proposition-3.6-proof": counterexamples.coincident_span,
    "wong/precision": counterexamples.moderate_magnitudes,
    "wong/rank-conditions": counterexamples.enough_rank_wrong_answers,
    "wong/threshold-largest": counterexamples.tie_at_one_half,
    "wong/tau-memorizes": counterexamples.threshold_off_the_domain,
    "wong/equation-15": counterexamples.enough_thresholded_rank_wrong_answers,
    "wong/large-tau-large-c": counterexamples.modest_scale,
    "wong/tau-monotone": counterexamples.rank_rises_with_tau,
    "wong/tau-one": counterexamples.one_value_at_tau_one,
    "wong/figure-3-tau-99": counterexamples.small_layer_at_tau_99,
}


@pytest.mark.claim(
    "wong/equation-5-diagonal", grade="certified", direction="against", statement="2eb76364bd5ba29b"
)
def test_equation_5_on_the_diagonal_refuted(certify: Certify) -> None:
    certify(counterexamples.equation_5_diagonal(), ship_as="wong/equation-5-diagonal")


@pytest.mark.claim(
    "wong/proposition-3.1", grade="certified", direction="against", statement="81da4d2713501a39"
)
def test_proposition_3_1_refuted_off_the_domain(certify: Certify) -> None:
    certify(counterexamples.logits_off_the_domain(), ship_as="wong/proposition-3.1")


@pytest.mark.claim(
    "wong/remark-3.4", grade="certified", direction="against", statement="c738600ff70f052e"
)
def test_remark_3_4_instance(certify: Certify) -> None:
    certify(counterexamples.larger_rank_no_solution(), ship_as="wong/remark-3.4")


@pytest.mark.claim(
    "wong/equation-9", grade="certified", direction="against", statement="6b944ab80633c9fc"
)
def test_equation_9_fails_for_one_fact(certify: Certify) -> None:
    certify(counterexamples.estimate_with_one_query(), ship_as="wong/equation-9")


@pytest.mark.claim(
    "wong/rank-hypothesis", grade="certified", direction="against", statement="ecabca15f1f65912"
)
def test_rank_hypothesis_refuted_by_one_fact(certify: Certify) -> None:
    certify(counterexamples.zero_layer_for_one_fact(), ship_as="wong/rank-hypothesis")


def test_rank_hypothesis_fails_by_an_unbounded_factor() -> None:
    """N facts a query: the database has rank at least N, the layer at most 2 + 1·1·2."""
    for size in (5, 12):
        db, layer = counterexamples.cyclic_shift(size), counterexamples.cyclic_shift_layer(size)
        assert memorizes(layer, db).holds
        assert (layer.d_model, len(layer.heads), layer.d_vo, layer.d_qk) == (2, 1, 1, 1)
        assert max(flattening_ranks(db.tensor().tolist())) == size > 4


@pytest.mark.claim(
    "wong/proposition-3.6-proof",
    grade="certified",
    direction="against",
    statement="db9b78d8e2b8c8fb",
)
@pytest.mark.claim(
    "wong/proposition-3.6", grade="certified", direction="gap", statement="bc8e838935c56900"
)
@pytest.mark.claim(
    "wong/proposition-3.7", grade="certified", direction="gap", statement="828fc98e934b307e"
)
def test_proposition_3_6_proof_needs_spanning_points(certify: Certify) -> None:
    certify(counterexamples.coincident_span(), ship_as="wong/proposition-3.6-proof")


@pytest.mark.claim(
    "wong/precision", grade="certified", direction="against", statement="fdd04219042e9973"
)
def test_precision_is_moderate(certify: Certify) -> None:
    certify(counterexamples.moderate_magnitudes(), ship_as="wong/precision")


@pytest.mark.claim(
    "wong/rank-conditions", grade="certified", direction="against", statement="c662944281fa1401"
)
def test_rank_conditions_do_not_suffice(certify: Certify) -> None:
    certify(counterexamples.enough_rank_wrong_answers(), ship_as="wong/rank-conditions")


def test_rank_conditions_are_not_necessary_either() -> None:
    """The layer of two facts with one value memorizes D, of rank 2, with argmax(L) of rank 1."""
    db = counterexamples.diagonal_pair()
    layer = counterexamples.line_layer({"a": 0, "b": 0, "f": 1, "g": 1, "v": 0}, {"v": 1})
    assert memorizes(layer, db).holds
    assert flattening_ranks(layer_tensor(layer, db).argmax()) == (1, 1, 1)
    assert certified_rank(db.slice_v("v")).rank == 2


@pytest.mark.claim(
    "wong/threshold-largest", grade="certified", direction="against", statement="761a639c48964f2d"
)
def test_threshold_one_half_allows_a_tie(certify: Certify) -> None:
    certify(counterexamples.tie_at_one_half(), ship_as="wong/threshold-largest")


@pytest.mark.claim(
    "wong/tau-memorizes", grade="certified", direction="against", statement="d489cff110220829"
)
def test_tau_memorizing_says_nothing_off_the_domain(certify: Certify) -> None:
    certify(counterexamples.threshold_off_the_domain(), ship_as="wong/tau-memorizes")


@pytest.mark.claim(
    "wong/equation-15", grade="certified", direction="against", statement="55d57598079fae8a"
)
def test_equation_15_does_not_suffice(certify: Certify) -> None:
    certify(counterexamples.enough_thresholded_rank_wrong_answers(), ship_as="wong/equation-15")


@pytest.mark.claim(
    "wong/large-tau-large-c", grade="certified", direction="against", statement="4bc2a5d470859af8"
)
def test_large_tau_needs_no_large_scale(certify: Certify) -> None:
    certify(counterexamples.modest_scale(), ship_as="wong/large-tau-large-c")


@pytest.mark.claim(
    "wong/tau-monotone", grade="certified", direction="against", statement="2e90c714a5eb59d7"
)
def test_thresholded_rank_rises_with_tau(certify: Certify) -> None:
    certify(counterexamples.rank_rises_with_tau(), ship_as="wong/tau-monotone")


def test_thresholded_rank_rises_and_falls() -> None:
    layer, db = counterexamples.uniform_layer()
    ranks = []
    for tau in ("1/2", "3/4", "19/20", "99/100"):
        marked = layer_tensor(layer, db).threshold(tau)
        ranks.append(max(flattening_ranks(marked)))
    assert ranks == [1, 2, 1, 0]


@pytest.mark.claim(
    "wong/tau-one", grade="certified", direction="against", statement="73fdff01c1865203"
)
def test_tau_one_with_a_single_value(certify: Certify) -> None:
    certify(counterexamples.one_value_at_tau_one(), ship_as="wong/tau-one")


@pytest.mark.claim(
    "wong/figure-3-tau-99", grade="certified", direction="against", statement="9fd5b1e2d4bc69c2"
)
def test_two_hundred_facts_at_tau_99(certify: Certify) -> None:
    certify(counterexamples.small_layer_at_tau_99(), ship_as="wong/figure-3-tau-99")


@pytest.mark.parametrize("claim", sorted(ALL))
def test_each_statement_of_the_catalogue_is_the_one_refuted(claim: str) -> None:
    """A certificate of one claim, relabelled as any other, is not accepted."""
    certificate = json.loads(to_json(ALL[claim]()))
    assert checker.check(certificate, FORMAL).holds
    for other in ALL:
        if other == claim:
            continue
        assert not checker.check(certificate | {"claim": other}, FORMAL).holds


def test_refutations_break_when_their_instance_is_repaired() -> None:
    """The same statements with harmless instances: every certificate must be rejected."""
    for claim, build in ALL.items():
        certificate = json.loads(to_json(build()))
        instance = certificate["instance"]
        if "tau" in instance and claim in ("wong/tau-monotone", "wong/threshold-largest"):
            instance["tau"] = "1"
        elif claim == "wong/equation-5-diagonal":
            instance["S"] = [["0", "1"]]
        elif claim == "wong/proposition-3.6-proof":
            instance["P"] = [["1", "0"], ["0", "1"]]
        elif claim == "wong/precision":
            instance["M"] = [["9", "8", "1"], ["8", "9", "8"], ["0", "0", "1/9"]]
        elif claim == "wong/large-tau-large-c":
            instance["c"] = "4"
        elif claim == "wong/figure-3-tau-99":
            instance["D"]["facts"] = instance["D"]["facts"][:2]
        elif claim == "wong/rank-hypothesis":
            instance["L"]["layer"] |= {"W_E": [["0"], ["1"], ["0"]], "W_U": [["0", "0", "1"]]}
        elif "L" in instance and claim != "wong/tau-memorizes":
            instance["D"]["facts"] = [[f[0], f[1], f[2]] for f in instance["D"]["facts"]][:1]
            if claim in ("wong/equation-9", "wong/tau-one"):
                continue
        else:
            instance["D"]["facts"] = instance["D"]["facts"][:1]
        assert not checker.check(certificate).holds, claim


INSTANCES: dict[str, tuple[str, Callable[[], Certificate]]] = {
    "wong/remark-3.4-argmax": ("against", counterexamples.larger_rank_no_argmax),
    "wong/equation-15-dimensions": ("against", counterexamples.enough_marks_no_weights),
    "wong/raise-vo-lower-qk": ("against", counterexamples.value_dimension_is_no_substitute),
    "wong/span-intersection-possible": ("for", counterexamples.independent_spans),
    "wong/rank-hypothesis-partly": ("for", counterexamples.memorized_below_the_rank),
    "wong/tau-below-layer-rank": ("for", counterexamples.nothing_marked),
}


@pytest.mark.parametrize(
    ("claim", "make"),
    [
        pytest.param(claim, make, id=claim, marks=pytest.mark.claim(claim, direction=direction))
        for claim, (direction, make) in INSTANCES.items()
    ],
)
def test_statements_and_readings_with_an_instance(
    claim: str, make: Callable[[], Certificate], certify: Certify
) -> None:
    certify(make(), ship_as=claim)


@given(row=st.lists(st.integers(-9, 9), min_size=3, max_size=5, unique=True), s=st.integers(-9, 9))
def test_a_multiple_of_a_row_has_its_maximum_at_an_end(row: list[int], s: int) -> None:
    """Strict maxima of s u are at the maximum or the minimum of u, and there is none for s = 0."""
    values = [s * x for x in row]
    strict = [
        i for i, x in enumerate(values) if values.count(max(values)) == 1 and x == max(values)
    ]
    assert set(strict) <= {row.index(max(row)), row.index(min(row))}
    assert bool(strict) == (s != 0)


@given(
    basis=st.lists(st.lists(st.integers(-1, 1), min_size=6, max_size=6), min_size=2, max_size=2),
    weights=st.lists(st.lists(st.integers(-1, 1), min_size=2, max_size=2), min_size=9, max_size=9),
)
def test_few_rows_at_limited_precision(basis: list[list[int]], weights: list[list[int]]) -> None:
    """Integer rows of rank r with entries within ±B: at most (2B + 1)^r different ones."""
    rows = [
        [sum(w * b[j] for w, b in zip(ws, basis, strict=True)) for j in range(6)] for ws in weights
    ]
    rank, B = certified_rank(rows).rank, max(1, max(abs(x) for row in rows for x in row))
    marked = [[int(x == max(row)) for x in row] for row in rows]
    distinct = len({tuple(row) for row in rows})
    assert certified_rank(marked).rank <= distinct <= (2 * B + 1) ** rank


def test_scales_that_a_threshold_needs() -> None:
    """p <= 1/(1 + e^(-c range)): the log-odds of the largest probability are at most c range."""
    for row in ([3, 1, 0], [5, 5, -2], [0, -7]):
        for c in (fmpq(1, 3), fmpq(2), fmpq(9)):
            powers = [arb(c * x).exp() for x in row]
            p = max(row.index(max(row)), 0)
            odds = powers[p] / sum((y for i, y in enumerate(powers) if i != p), arb(0))
            assert odds.log() <= arb(c * (max(row) - min(row))) + arb("1e-12")


@pytest.mark.claim("wong/threshold-largest-weak", statement="f03f22c87ea98849")
def test_a_probability_above_one_half_is_a_largest_one(symbolic: Symbolic) -> None:
    """p_t, p_s and what the others have together are free, and so is the threshold."""
    symbolic.decide("wong/threshold-largest-weak")
