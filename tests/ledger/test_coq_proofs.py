"""The formal sources compile, and their theorems rest on no axiom.

Coq compiles theory/formal once a run, in one process, whatever the number of workers.
Without Coq these tests are skipped, and the reason is shown; in continuous integration (the
environment variable CI is set) its absence is a failure.
"""

import fcntl
import os
import pickle
from pathlib import Path

import pytest

from lemmax.theory.ledger import coq as kernel
from lemmax.theory.ledger.coq import FormalFile

Report = dict[str, FormalFile]
NO_COQ = "Coq is not installed: apt-get install --no-install-recommends coq libcoq-mathcomp-algebra"


@pytest.fixture(scope="session")
def coqc() -> str:
    found = kernel.find_coqc()
    if found is None and os.environ.get("CI"):
        pytest.fail(NO_COQ)
    if found is None:
        pytest.skip(NO_COQ)
    return found


@pytest.fixture(scope="session")
def report(coqc: str, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """What became of every source; the first worker compiles, the others wait and read."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    work = shared / "formal"
    with (shared / "formal.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stored = shared / "formal.pickle"
        if not stored.exists():
            work.mkdir(exist_ok=True)
            stored.write_bytes(pickle.dumps(kernel.check_formal(work, coqc=coqc)))
        result: Report = pickle.loads(stored.read_bytes())
    return result


def assert_proved(report: Report, file: str, *theorems: str) -> None:
    formal = report[file]
    assert formal.compiled, formal.message
    assert not formal.forbidden
    for name in theorems:
        assert formal.theorem(name).closed, formal.theorem(name).assumptions
    assert formal.accepted


def test_every_formal_source_is_accepted(report: Report) -> None:
    for formal in report.values():
        assert formal.accepted, (formal.name, formal.message, formal.forbidden)
        assert bool(formal.theorems) == bool(formal.claims), formal.name


# --- Wong 2025 ------------------------------------------------------------------


@pytest.mark.claim("wong/proposition-2.1", grade="kernel", direction="for")
def test_proposition_2_1_for_all_databases(report: Report) -> None:
    assert_proved(report, "proposition_2_1", "proposition_2_1", "slice_sums_at_most_triples")


@pytest.mark.claim("wong/slice-ranks", grade="kernel", direction="for")
def test_slice_ranks_count_values(report: Report) -> None:
    assert_proved(report, "proposition_2_1", "slice_rank_k", "slice_rank_q")


def test_proposition_2_1_is_sharp_and_can_be_loose(report: Report) -> None:
    assert_proved(report, "proposition_2_1", "proposition_2_1_sharp", "proposition_2_1_loose")


@pytest.mark.claim("lemmax/value-slice-sum", grade="kernel", direction="for")
def test_value_slice_sum_for_all_databases(report: Report) -> None:
    assert_proved(report, "value_slice_sum", "value_slice_sum")


def test_value_slice_sum_gains_on_constant_tables_and_needs_a_function(report: Report) -> None:
    assert_proved(
        report, "value_slice_sum", "value_slice_sum_constant", "value_slice_sum_needs_function"
    )


@pytest.mark.claim("wong/circuit-ranks", grade="kernel", direction="for")
def test_circuit_ranks_for_all_weights(report: Report) -> None:
    assert_proved(report, "logits_on_domain", "circuit_ranks")


@pytest.mark.claim("lemmax/attention-by-position", grade="kernel", direction="for")
def test_attention_by_position_for_all_weights(report: Report) -> None:
    assert_proved(report, "logits_on_domain", "attention_by_position")


@pytest.mark.claim("lemmax/logits-on-domain", grade="kernel", direction="for")
def test_logits_on_domain_for_all_weights(report: Report) -> None:
    assert_proved(report, "logits_on_domain", "logits_on_domain")


@pytest.mark.claim("wong/proposition-3.1", grade="kernel", direction="against")
def test_proposition_3_1_fails_off_the_domain(report: Report) -> None:
    assert_proved(report, "logits_on_domain", "proposition_3_1_fails")


@pytest.mark.claim("wong/proposition-3.5", grade="kernel", direction="for")
def test_proposition_3_5_for_all_weights(report: Report) -> None:
    assert_proved(report, "proposition_3_5", "proposition_3_5", "proposition_3_5_model")


@pytest.mark.claim("lemmax/layer-rank-ceiling", grade="kernel", direction="for")
def test_layer_rank_ceiling_for_all_weights(report: Report) -> None:
    assert_proved(
        report,
        "layer_rank_ceiling",
        "layer_rank_ceiling",
        "layer_rank_ceiling_printed",
        "layer_rank_ceiling_model",
    )


def test_proposition_3_5_is_never_attained_and_the_ceiling_is(report: Report) -> None:
    assert_proved(
        report,
        "layer_rank_ceiling",
        "proposition_3_5_never_attained",
        "proposition_3_5_needs_Q",
        "layer_rank_ceiling_attained",
    )


@pytest.mark.claim("wong/proposition-3.6", grade="kernel", direction="for")
def test_proposition_3_6_for_all_sizes(report: Report) -> None:
    assert_proved(report, "gram_integers", "proposition_3_6")


@pytest.mark.claim("lemmax/gram-integers", grade="kernel", direction="for")
def test_gram_integers_for_all_sizes(report: Report) -> None:
    assert_proved(report, "gram_integers", "gram_integers", "gram_entries")


@pytest.mark.claim("wong/proposition-3.6-proof", grade="kernel", direction="against")
def test_proposition_3_6_needs_spanning_points(report: Report) -> None:
    assert_proved(report, "gram_integers", "distinct_points_can_have_low_rank")


@pytest.mark.claim("lemmax/argmax-rank-one-sharp", grade="kernel", direction="for")
def test_argmax_rank_one_is_at_most_three_and_when(report: Report) -> None:
    assert_proved(
        report, "argmax_rank_one_sharp", "argmax_rank_one_sharp", "argmax_rank_one_equality"
    )


@pytest.mark.claim("wong/argmax-rank-one", grade="kernel", direction="against")
def test_argmax_rank_one_can_be_three(report: Report) -> None:
    assert_proved(report, "argmax_rank_one_sharp", "argmax_rank_one_three")


@pytest.mark.claim("lemmax/uniform-attention-no-xor", grade="kernel", direction="for")
def test_uniform_attention_memorizes_no_exclusive_or(report: Report) -> None:
    assert_proved(report, "uniform_attention_no_xor", "uniform_attention_no_xor")


def test_attention_that_is_not_uniform_memorizes_exclusive_or(report: Report) -> None:
    assert_proved(report, "uniform_attention_no_xor", "attention_memorizes_xor")


@pytest.mark.claim("lemmax/equality-table-needs-two-heads", grade="kernel", direction="for")
def test_equality_table_is_memorized_by_no_single_head(report: Report) -> None:
    assert_proved(report, "equality_table_needs_two_heads", "equality_table_needs_two_heads")


def test_equality_table_is_memorized_by_two_heads(report: Report) -> None:
    assert_proved(report, "equality_table_needs_two_heads", "two_heads_memorize_equality")


@pytest.mark.claim("wong/equation-10", grade="kernel", direction="against")
def test_equation_10_holds_of_a_table_that_no_layer_memorizes(report: Report) -> None:
    assert_proved(report, "equality_table_needs_two_heads", "equation_10_fails")


# --- tensor rank ------------------------------------------------------------------


@pytest.mark.claim("lemmax/spanning-tree-bound", grade="kernel", direction="for")
def test_spanning_tree_bound_for_all_tensors(report: Report) -> None:
    assert_proved(
        report,
        "spanning_tree_bound",
        "spanning_tree_bound",
        "minimum_spanning_tree_bound",
        "spanning_tree_bound_q",
        "spanning_tree_bound_v",
    )


def test_spanning_tree_bound_gains_on_equal_slices_and_needs_a_tree(report: Report) -> None:
    assert_proved(
        report, "spanning_tree_bound", "spanning_tree_equal_slices", "spanning_tree_needs_tree"
    )


@pytest.mark.claim("lemmax/domain-pivot", grade="kernel", direction="for")
def test_domain_pivot_for_all_databases(report: Report) -> None:
    assert_proved(report, "domain_pivot", "domain_pivot", "domain_pivot_at")


def test_domain_pivot_is_sharp_on_constant_tables(report: Report) -> None:
    assert_proved(report, "domain_pivot", "domain_pivot_constant")


@pytest.mark.claim("lemmax/column-pivot", grade="kernel", direction="for")
def test_column_pivot_for_all_databases(report: Report) -> None:
    assert_proved(report, "column_pivot", "column_pivot", "row_pivot")


def test_column_pivot_is_sharp_on_constant_tables(report: Report) -> None:
    assert_proved(report, "column_pivot", "column_pivot_constant")


@pytest.mark.claim("lemmax/effective-rank-block", grade="kernel", direction="for")
def test_effective_rank_block_for_all_databases(report: Report) -> None:
    assert_proved(
        report,
        "effective_rank_block",
        "effective_rank_block",
        "effective_rank_block_rank",
        "effective_rank_values",
    )


def test_effective_rank_block_must_lie_in_the_domain(report: Report) -> None:
    assert_proved(report, "effective_rank_block", "effective_rank_diagonal")


@pytest.mark.claim("lemmax/substitution-with-restriction", grade="kernel", direction="for")
def test_substitution_with_restriction_for_all_tensors(report: Report) -> None:
    assert_proved(
        report,
        "substitution_with_restriction",
        "substitution_with_restriction",
        "substitution_with_restriction_rank",
        "substitution_with_restriction_v",
    )


def test_substitution_with_restriction_needs_its_subtrahend(report: Report) -> None:
    assert_proved(report, "substitution_with_restriction", "substitution_needs_subtraction")


@pytest.mark.claim("lemmax/private-column", grade="kernel", direction="for")
def test_private_column_adds_exactly(report: Report) -> None:
    assert_proved(report, "private_column", "private_column", "private_row")


def test_private_column_needs_privacy(report: Report) -> None:
    assert_proved(report, "private_column", "private_column_needs_privacy")


@pytest.mark.claim("lemmax/saturated-table", grade="kernel", direction="for")
def test_saturated_table_for_all_fields(report: Report) -> None:
    assert_proved(
        report,
        "saturated_table",
        "saturated_table",
        "mu_is_transversal",
        "saturated_table_common_value",
    )


def test_saturated_tables_exist_and_saturation_is_needed(report: Report) -> None:
    assert_proved(report, "saturated_table", "saturated_column", "saturation_needed")


# --- Dana, Pydi, Chevaleyre 2024 ---------------------------------------------------


@pytest.mark.claim("lemmax/parity-obstruction", grade="kernel", direction="for")
def test_parity_obstruction_for_all_heads_and_dimensions(report: Report) -> None:
    assert_proved(report, "parity_obstruction", "parity_obstruction", "associations_not_memorized")


def test_parity_obstruction_is_sharp(report: Report) -> None:
    assert_proved(report, "parity_obstruction", "parity_of_H_bits_memorized")


def test_theorem_1_promises_more_than_is_memorized(report: Report) -> None:
    assert_proved(report, "parity_obstruction", "theorem_1_memorization_fails")


@pytest.mark.claim(
    "dana/corollary-1",
    grade="kernel",
    direction="against",
    scope="H = 0 with two associations; H = 1, d_h = 2 with four",
)
def test_corollary_1_fails_without_heads_and_with_one(report: Report) -> None:
    assert_proved(
        report,
        "parity_obstruction",
        "corollary_1_fails_without_heads",
        "corollary_1_fails_with_one_head",
    )


# --- Mahdavi, Liao, Thrampoulidis 2024 -------------------------------------------


@pytest.mark.claim("mahdavi/tightness-rank", grade="kernel", direction="for")
def test_tightness_rank_for_all_weights(report: Report) -> None:
    assert_proved(report, "tightness_rank", "tightness_rank")


@pytest.mark.claim("lemmax/feature-rank-ceiling", grade="kernel", direction="for")
def test_feature_rank_ceiling_for_all_data(report: Report) -> None:
    assert_proved(
        report, "feature_rank_ceiling", "feature_rank_ceiling", "feature_rank_ceiling_all"
    )


def test_tightness_rank_and_feature_rank_ceiling_are_attained(report: Report) -> None:
    assert_proved(
        report, "tightness_rank", "tightness_rank_attained", "feature_rank_ceiling_attained"
    )


# --- the tool can fail ----------------------------------------------------------

HEADER = "(* claim: lemmax/example *)\n"
BAD_SOURCES = {
    "admitted": "Theorem t : 1 = 2.\nProof.\nAdmitted.\n",
    "axiom": "Axiom a : 1 = 2.\nTheorem t : 1 = 2.\nProof. exact a. Qed.\n",
    "variable": "Variable a : 1 = 2.\nTheorem t : 1 = 2.\nProof. exact a. Qed.\n",
    "guard": (
        "Unset Guard Checking.\nFixpoint f (n : nat) : 1 = 2 := f n.\nSet Guard Checking.\n"
        "Theorem t : 1 = 2.\nProof. exact (f 0). Qed.\n"
    ),
    "wrong": "Theorem t : 1 = 2.\nProof. reflexivity. Qed.\n",
}


def check_one(coqc: str, tmp_path: Path, source: str) -> FormalFile:
    folder, work = tmp_path / "formal", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    (folder / "example.v").write_text(HEADER + source)
    return kernel.check_formal(work, folder, coqc)["example"]


@pytest.mark.parametrize("source", BAD_SOURCES.values(), ids=BAD_SOURCES.keys())
def test_unproved_sources_are_rejected(coqc: str, tmp_path: Path, source: str) -> None:
    formal = check_one(coqc, tmp_path, source)
    assert not formal.accepted
    assert not formal.theorem("t").closed


def test_a_proved_source_is_accepted(coqc: str, tmp_path: Path) -> None:
    formal = check_one(coqc, tmp_path, "Theorem t : 1 = 1.\nProof. reflexivity. Qed.\n")
    assert formal.accepted
    assert formal.claims == ("lemmax/example",)
    assert formal.theorem("t").statement == "t : 1 = 1"


def test_forbidden_words_hide_neither_in_comments_nor_from_them() -> None:
    assert kernel.forbidden_words("(* Admitted *) Lemma no_admit : True.") == ()
    assert kernel.forbidden_words('(* "*)" *) Proof. admit. Admitted.') == ("admit", "Admitted")
    assert kernel.forbidden_words("Unset  Guard\n Checking.") == ("Unset Guard Checking",)


def test_sources_in_a_circle_are_refused() -> None:
    circle = {"a": "From lemmax Require Import b.", "b": "From lemmax Require Import a."}
    with pytest.raises(kernel.KernelError, match="circle"):
        kernel.compilation_order(circle)


def test_missing_coq_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert kernel.find_coqc() is None
    with pytest.raises(kernel.KernelError, match="coqc"):
        kernel.check_formal(tmp_path)
