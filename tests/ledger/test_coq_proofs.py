"""The formal sources compile, and their theorems rest on no axiom.

Each source is compiled once and kept in the user's cache folder until it, or what it requires,
changes. Without Coq these tests are skipped, and the reason is shown; in continuous integration
(the environment variable CI is set) its absence is a failure.
"""

import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from lemmax.theory.ledger import coq, coq_cache
from lemmax.theory.ledger.coq import FormalFile
from lemmax.theory.ledger.projects import Project
from lemmax.theory.ledger.theorems import (
    Recorded,
    definitions_digest,
    read_theorems,
    theorems_text,
)

NO_COQ = "Coq is not installed: apt-get install --no-install-recommends coq libcoq-mathcomp-algebra"
SOURCES = coq.formal_sources()


@pytest.fixture(scope="session")
def coqc() -> str:
    path = coq.find_coqc()
    if path is None and os.environ.get("CI"):
        pytest.fail(NO_COQ)
    if path is None:
        pytest.skip(NO_COQ)
    return path


@pytest.mark.parametrize("file", SOURCES)
def test_every_formal_source_is_accepted(coqc: str, file: str) -> None:
    formal = coq_cache.check_formal(wanted=[file], coqc=coqc)[file]
    assert formal.accepted, (formal.name, formal.message, formal.forbidden)
    assert bool(formal.theorems) == bool(formal.claims), formal.name


PROVED = [
    pytest.param(
        file,
        proved.theorems,
        id=proved.claim,
        marks=pytest.mark.claim(proved.claim, grade="kernel", direction=proved.direction),
    )
    for file, text in SOURCES.items()
    for proved in coq.header(text)
    if proved.claim is not None
]


@pytest.mark.parametrize(("file", "theorems"), PROVED)
def test_theorems_prove_what_the_header_says(
    coqc: str, kernel: Callable[..., None], file: str, theorems: tuple[str, ...]
) -> None:
    """The theorems that the header of a source names for a claim are closed."""
    kernel(file, *theorems)


@pytest.mark.parametrize("file", SOURCES)
def test_a_header_names_every_theorem_once(file: str) -> None:
    named = [name for proved in coq.header(SOURCES[file]) for name in proved.theorems]
    assert sorted(named) == sorted(coq.theorem_statements(SOURCES[file]))


def test_every_theorem_about_a_claim_is_recorded_and_no_other() -> None:
    recorded = read_theorems(Project(Path()).theorems)
    named = {
        f"{file}.{name}"
        for file, text in SOURCES.items()
        for proved in coq.header(text)
        if proved.claim is not None
        for name in proved.theorems
    }
    assert set(recorded) == named
    tables = tomllib.loads(theorems_text(recorded))
    assert recorded == {
        f"{file}.{n}": Recorded(**entry)
        for file, table in tables.items()
        for n, entry in table.items()
    }


def test_the_record_has_the_definitions_of_the_sources() -> None:
    """Without Coq: a definition that changed since the record was confirmed is noticed."""
    for key, entry in read_theorems(Project(Path()).theorems).items():
        file, _, theorem = key.partition(".")
        assert entry.definitions == definitions_digest(SOURCES, file, theorem), key


TWO_FILES = {
    "model": """Record pair (R : Type) := Pair { left_one : R; right_one : R }.
Notation "x ~~> y" := (x = y) (at level 70).
Definition twice (n : nat) := n + n.
Definition idle (n : nat) := n.
Lemma helper : 1 = 1. Proof. by []. Qed.""",
    "about": """From lemmax Require Import model.
Definition four := twice 2.
Definition by_tactics : nat. Proof. exact 4. Defined.
Lemma seen : nat. Proof. exact 0. Defined.
Theorem t (p : pair nat) : left_one p ~~> four -> by_tactics + seen = 4. Proof. by []. Qed.""",
}


@pytest.mark.parametrize(
    ("file", "old", "new", "noticed"),
    [
        ("model", "n + n", "n + n + 0", True),  # two steps away, in another file
        ("model", "left_one : R", "left_one : nat", True),  # the field of a record
        ("model", "(x = y)", "(x <> y)", True),  # a notation
        ("about", "twice 2", "twice 3", True),
        ("about", "exact 4. Defined", "exact 5. Defined", True),  # a proof that is a definition
        ("about", "exact 0. Defined", "exact 1. Defined", True),  # also where it is of a lemma
        ("model", "idle (n : nat) := n", "idle (n : nat) := 0", False),
        ("model", "helper : 1 = 1", "helper : 2 = 2", False),
        ("about", "4. Proof. by []. Qed", "4. Proof. done. Qed", False),
        ("about", "Definition four", "(* in words *) Definition   four", False),
    ],
)
def test_a_definition_in_a_statement_is_noticed(
    file: str, old: str, new: str, noticed: bool
) -> None:
    assert old in TWO_FILES[file]
    changed = TWO_FILES | {file: TWO_FILES[file].replace(old, new)}
    before = definitions_digest(TWO_FILES, "about", "t")
    assert (definitions_digest(changed, "about", "t") != before) == noticed


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
    folder = tmp_path / "formal"
    folder.mkdir(exist_ok=True)
    (folder / "example.v").write_text(HEADER + source)
    return coq_cache.check_formal(folder, coqc=coqc, kept=tmp_path / "kept")["example"]


@pytest.mark.parametrize("source", BAD_SOURCES.values(), ids=BAD_SOURCES.keys())
def test_unproved_sources_are_rejected(coqc: str, tmp_path: Path, source: str) -> None:
    formal = check_one(coqc, tmp_path, source)
    assert not formal.accepted
    assert not formal.theorem("t").closed


CLASSICAL = """From Coq Require Import Classical.
Theorem t (P : Prop) : P \\/ ~ P.
Proof. exact (classic P). Qed.
Theorem u : 1 = 1.
Proof. reflexivity. Qed.
"""
NOTATION = 'Notation "@ x" := I (at level 10).\n'


@pytest.mark.parametrize("disguise", ["", NOTATION], ids=["open", "disguised"])
def test_an_axiom_is_seen_where_another_theorem_needs_none(
    coqc: str, tmp_path: Path, disguise: str
) -> None:
    """All theorems are asked about at once; a notation that hides one of them does not help."""
    formal = check_one(coqc, tmp_path, CLASSICAL + disguise)
    assert formal.compiled
    assert not formal.accepted
    assert "classic" in formal.theorem("t").assumptions
    assert formal.theorem("u").closed


def test_a_proved_source_is_accepted(coqc: str, tmp_path: Path) -> None:
    formal = check_one(coqc, tmp_path, "Theorem t : 1 = 1.\nProof. reflexivity. Qed.\n")
    assert formal.accepted
    assert formal.claims == ("lemmax/example",)
    assert formal.theorem("t").statement == "t : 1 = 1"
    assert formal.theorem("t").printed == "t : 1 = 1"


def test_what_is_kept_is_used_until_the_source_changes(coqc: str, tmp_path: Path) -> None:
    first = check_one(coqc, tmp_path, "Theorem t : 1 = 1.\nProof. reflexivity. Qed.\n")
    (report,) = (tmp_path / "kept").glob("*/report.json")
    before = report.stat().st_mtime_ns
    again = check_one(coqc, tmp_path, "Theorem t : 1 = 1.\nProof. reflexivity. Qed.\n")
    assert again == first
    assert report.stat().st_mtime_ns == before
    wrong = check_one(coqc, tmp_path, "Theorem t : 1 = 2.\nProof. reflexivity. Qed.\n")
    assert not wrong.accepted
    assert len(list((tmp_path / "kept").glob("*/report.json"))) == 1  # failures are not kept


def test_forbidden_words_hide_neither_in_comments_nor_from_them() -> None:
    assert coq.forbidden_words("(* Admitted *) Lemma no_admit : True.") == ()
    assert coq.forbidden_words('(* "*)" *) Proof. admit. Admitted.') == ("admit", "Admitted")
    assert coq.forbidden_words("Unset  Guard\n Checking.") == ("Unset Guard Checking",)


def test_sources_in_a_circle_are_refused() -> None:
    circle = {"a": "From lemmax Require Import b.", "b": "From lemmax Require Import a."}
    with pytest.raises(coq.KernelError, match="circle"):
        coq.requirements(circle)


def test_missing_coq_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert coq.find_coqc() is None
    with pytest.raises(coq.KernelError, match="coqc"):
        coq_cache.check_formal(tmp_path)
