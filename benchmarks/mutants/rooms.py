"""What is mutated, and the tests that may kill its mutants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """Folders of sources, and the tests that are run against their mutants."""

    targets: tuple[str, ...]
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()  # tests in which something else does the work
    slowest: float = 1.5  # seconds of processor time of a test that is used


ROOMS = {
    "checker": Room(
        ("theory/lemmax/checker",),
        (
            "tests/checker/test_adversarial_certificates.py",
            "tests/checker/test_checker_command.py",
            "tests/checker/test_corpus.py",
            "tests/checker/test_edges.py",
            "tests/checker/test_every_word.py",
            "tests/checker/test_small_worlds.py",
            "tests/checker/test_dual_certificates.py",
            "tests/checker/test_formal_statements.py",
            "tests/checker/test_hulls.py",
            "tests/checker/test_kinds_about_transformers.py",
            "tests/checker/test_language.py",
            "tests/checker/test_matrix_rank_certificates.py",
            "tests/checker/test_memorization_certificates.py",
            "tests/checker/test_numbers.py",
            "tests/checker/test_readout_certificates.py",
            "tests/checker/test_refutation_certificates.py",
            "tests/checker/test_softmax_rank_certificates.py",
            "tests/checker/test_trained_transformers.py",
            "tests/checker/test_words_about_layers.py",
            "tests/checker/test_words_about_objects.py",
            "tests/certificates",
            "tests/mahdavi/test_context_certificates.py",
            "tests/numbers/test_kruskal_rank.py",
            "tests/tensors/test_tensor_rank_certificates.py",
            "tests/tensors/test_joint_substitution.py",
            "tests/tensors/test_two_blocks.py",
            "tests/tensors/test_bounds_from_spans.py",
            "tests/tensors/test_chains.py",
            "tests/compiler/test_envelopes.py",
            "tests/compiler/test_joined_layers.py",
            "tests/compiler/test_coded_layers.py",
            "tests/compiler/test_codes.py",
            "tests/compiler/test_unmarked_layers.py",
            "tests/tensors/test_algebras.py",
            "tests/tensors/test_division_algebras.py",
            "tests/tensors/test_terms_at_a_root.py",
            "tests/tensors/test_real_decompositions.py",
        ),
    ),
    "keeping": Room(
        (
            "theory/lemmax/theory/ledger",
            "theory/lemmax/theory/numbers",
            "theory/lemmax/theory/certificates",
            "theory/lemmax/pytest_plugin",
        ),
        (
            "tests/ledger",
            "tests/numbers",
            "tests/certificates",
            "theory/lemmax/theory/ledger",
            "theory/lemmax/theory/numbers",
            "theory/lemmax/theory/certificates",
            "theory/lemmax/pytest_plugin",
            "theory/lemmax/theory/tensors",
            "tests/checker/test_dual_certificates.py",
            "tests/checker/test_matrix_rank_certificates.py",
            "tests/checker/test_softmax_rank_certificates.py",
            "tests/compiler/test_compiler.py",
            "tests/compiler/test_layer_files.py",
            "tests/constructions/test_exports.py",
            "tests/constructions/test_families_with_symbols.py",
            "tests/constructions/test_objects_in_sympy.py",
            "tests/dana/test_attention_rank.py",
            "tests/dana/test_counterexamples.py",
            "tests/dana/test_encoders.py",
            "tests/dana/test_parity.py",
            "tests/hunting/test_exhaustion.py",
            "tests/mahdavi/test_all_labels.py",
            "tests/mahdavi/test_encodings.py",
            "tests/mahdavi/test_saturation.py",
            "tests/paper/test_claims_files.py",
            "tests/paper/test_letters.py",
            "tests/tensors/test_algebras.py",
            "tests/tensors/test_bounds_by_substitution.py",
            "tests/tensors/test_bounds_from_slices.py",
            "tests/tensors/test_joint_substitution.py",
            "tests/tensors/test_pencil_ranks.py",
            "tests/tensors/test_terms_at_a_root.py",
            "tests/wong/test_obstructions.py",
            "tests/wong/test_refutations.py",
        ),
        (
            "tests/ledger/test_coq_proofs.py::test_every_formal_source_is_accepted",
            "tests/ledger/test_coq_proofs.py::test_theorems_prove_what_the_header_says",
            "tests/ledger/test_formal_statements.py::test_no_random_instance_refutes",
        ),
        slowest=4.0,
    ),
}
