"""What is mutated, and the tests that may kill its mutants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """Folders of sources, and the tests that are run against their mutants."""

    targets: tuple[str, ...]
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()  # tests in which another program does the work


ROOMS = {
    "checker": Room(
        ("theory/lemmax/checker",),
        (
            "tests/checker/test_adversarial_certificates.py",
            "tests/checker/test_checker_command.py",
            "tests/checker/test_edges.py",
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
            "tests/tensors/test_bounds_from_spans.py",
            "tests/tensors/test_chains.py",
            "tests/compiler/test_envelopes.py",
            "tests/compiler/test_joined_layers.py",
            "tests/compiler/test_coded_layers.py",
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
            "tests/ledger/test_claims_files.py",
            "tests/ledger/test_coq_proofs.py",
            "tests/ledger/test_misuse.py",
            "tests/ledger/test_projects.py",
            "tests/ledger/test_rechecking.py",
            "tests/ledger/test_verdicts.py",
            "tests/numbers",
            "tests/certificates",
            "theory/lemmax/theory/ledger",
            "theory/lemmax/theory/numbers",
            "theory/lemmax/theory/certificates",
            "theory/lemmax/pytest_plugin",
        ),
        (
            "tests/ledger/test_coq_proofs.py::test_every_formal_source_is_accepted",
            "tests/ledger/test_coq_proofs.py::test_theorems_prove_what_the_header_says",
        ),
    ),
}
