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
    path = kernel.find_coqc()
    if path is None and os.environ.get("CI"):
        pytest.fail(NO_COQ)
    if path is None:
        pytest.skip(NO_COQ)
    return path


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


SOURCES = kernel.formal_sources()
PROVED = [
    pytest.param(
        file,
        proved.theorems,
        id=proved.claim,
        marks=pytest.mark.claim(
            proved.claim, grade="kernel", direction=proved.direction, scope=proved.scope
        ),
    )
    for file, text in SOURCES.items()
    for proved in kernel.header(text)
    if proved.claim is not None
]


@pytest.mark.parametrize(("file", "theorems"), PROVED)
def test_theorems_prove_what_the_header_says(
    report: Report, file: str, theorems: tuple[str, ...]
) -> None:
    """The theorems that the header of a source names for a claim are closed."""
    assert_proved(report, file, *theorems)


@pytest.mark.parametrize("file", SOURCES)
def test_a_header_names_every_theorem_once(file: str) -> None:
    named = [name for proved in kernel.header(SOURCES[file]) for name in proved.theorems]
    assert sorted(named) == sorted(kernel.theorem_statements(SOURCES[file]))


# --- the tool can fail ----------------------------------------------------------

HEADER = "(* claim: lemmax/example, by t.\n   In words. *)\n"
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
