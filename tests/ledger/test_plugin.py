"""The plugin in small made-up projects: another paper's claims, and everything that goes wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from lemmax.theory.ledger.claims import Claim, load_claims
from lemmax.theory.ledger.entries import LEDGER

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent.parent.parent

CLAIMS = """
[paper]
key = "euler"
title = "Sums"

[[claim]]
id = "euler/definition-sum"
kind = "D"
number = "Definition 1"
title = "sums"
statement = '''$s_n = 1 + \\dots + n$'''
place = "Section 1"
source = "text"

[[claim]]
id = "euler/theorem-1"
kind = "A"
number = "Theorem 1"
title = "the sum of the first integers"
statement = '''$2 s_n = n(n+1)$'''
place = "Section 1"
source = "text"
uses = ["euler/definition-sum"]

[[claim]]
id = "euler/rank-bound"
kind = "A"
number = "Remark 2"
title = "rank of argmax"
statement = '''rank argmax M is at most rank M'''
place = "Section 2"
source = "text"
formal = "given M: matrix; conclude rank(argmax(M)) <= rank(M)"
repaired_by = "euler/theorem-1"
repair = "it speaks of sums instead"
"""

SUM, BOUND = (
    Claim("euler/theorem-1", "A", "", "", "$2 s_n = n(n+1)$", "", "").digest,
    Claim(
        "euler/rank-bound",
        "A",
        "",
        "",
        "rank argmax M is at most rank M",
        "",
        "",
        formal="given M: matrix; conclude rank(argmax(M)) <= rank(M)",
    ).digest,
)

INI = """
[pytest]
lemmax_claims = claims.toml
lemmax_proofs = proofs
lemmax_certificates = certificates
"""

TESTS = f"""
import pytest
from hypothesis import given, strategies as st
from lemmax.strategies import integer_matrices
from lemmax.theory import Matrix, argmax, certified_rank
from lemmax.theory.certificates.writing import refutation


def is_the_sum(n, total):
    return sum(range(n + 1)) == total


@pytest.mark.claim("euler/theorem-1", scope="n <= 1000", statement="{SUM}")
@given(st.integers(0, 1000))
def test_theorem_1_on_samples(sample, n):
    sample(is_the_sum, n, n * (n + 1) // 2, control=(3, 5))


def test_induction_step():
    import sympy
    n = sympy.symbols("n")
    assert sympy.expand((n + 1) * (n + 2) - n * (n + 1) - 2 * (n + 1)) == 0


@pytest.mark.claim("euler/rank-bound", direction="against")
def test_rank_bound_fails(certify):
    M = Matrix([[1, 0, -1], [-1, 0, 1], [0, 0, 0]])
    certify(refutation("euler/rank-bound", {{"M": M}}, [], "rank(argmax(M)) <= rank(M)"))
"""

PROOF = f"""---
claim: euler/theorem-1
direction: for
statement: {SUM}
---
# By induction
1. For n = 0 both sides vanish. {{by hand}}
2. The step. {{test: test_sums.py::test_induction_step}}
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Path:
    folder = pytester.path
    (folder / "claims.toml").write_text(CLAIMS)
    (folder / "pytest.ini").write_text(INI)
    (folder / "test_sums.py").write_text(TESTS)
    (folder / "proofs").mkdir()
    (folder / "proofs" / "theorem-1.md").write_text(PROOF)
    return folder


class Done(NamedTuple):
    """How a run ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


PLAIN = ("-q", "-p", "no:cacheprovider", "-p", "no:randomly")
Run = Callable[..., Done]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """pytest in the project's folder and in this process, which is faster than a new one."""

    def inside(*arguments: str) -> Done:
        done = pytester.runpytest_inprocess(*PLAIN, *arguments)
        return Done(int(done.ret), done.stdout.str(), done.stderr.str())

    return inside


def verdicts(project: Path) -> dict[str, tuple[str, str | None]]:
    document = json.loads((project / "ledger.json").read_text())
    return {c["id"]: (c["verdict"], c["grade"]) for c in document["claims"]}


def test_another_paper_uses_the_same_ledger(project: Path, run: Run) -> None:
    done = run("--ledger", "ledger.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert verdicts(project) == {
        "euler/definition-sum": ("definition", None),
        "euler/theorem-1": ("holds", "argued"),
        "euler/rank-bound": ("repaired", "certified"),
    }
    assert "euler/theorem-1" in done.stdout.partition("ledger")[2]
    assert run("--ledger-against", "ledger.json").returncode == 0


def test_workers_in_parallel_give_the_same_ledger(project: Path, run: Run) -> None:
    run("--ledger", "ledger.json")
    alone = (project / "ledger.json").read_text()
    done = run("--ledger", "ledger.json", "-n", "2")
    assert done.returncode == 0, done.stdout
    assert (project / "ledger.json").read_text() == alone


def test_without_its_proof_a_sampled_statement_is_only_supported(project: Path, run: Run) -> None:
    (project / "proofs" / "theorem-1.md").unlink()
    run("--ledger", "ledger.json")
    assert verdicts(project)["euler/theorem-1"] == ("supported", "property")
    assert verdicts(project)["euler/rank-bound"] == ("refuted", "certified")


def test_k_selects_by_name_and_a_proof_brings_its_step_tests(project: Path, run: Run) -> None:
    done = run("-k", "theorem", "--ledger", "ledger.json")
    assert done.returncode == 0, done.stdout
    assert verdicts(project)["euler/theorem-1"] == ("holds", "argued")
    assert verdicts(project)["euler/rank-bound"] == ("open", None)
    assert "euler/rank-bound" not in done.stdout
    done = run("-k", "samples", "--ledger", "ledger.json")
    assert verdicts(project)["euler/theorem-1"] == ("supported", "property")


def line_of(claim: str, text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(claim))


def test_a_partial_run_reads_the_rest_in_the_committed_ledger(project: Path, run: Run) -> None:
    alone = run("-k", "samples").stdout
    assert "supported" in line_of("euler/theorem-1", alone)
    assert "left out" in line_of("euler/theorem-1", alone)
    run("--ledger", "ledger.json")
    done = run("-k", "samples")
    assert "holds" in line_of("euler/theorem-1", done.stdout)
    assert "recorded" in line_of("euler/theorem-1", done.stdout)
    assert "recorded" not in run().stdout
    # what is recorded counts for the words that it was recorded for, and while its test exists
    (project / "claims.toml").write_text(CLAIMS.replace("2 s_n", "3 s_n"))
    assert "holds" not in line_of("euler/theorem-1", run("-k", "samples").stdout)
    (project / "claims.toml").write_text(CLAIMS)
    (project / "proofs" / "theorem-1.md").unlink()
    assert "holds" not in line_of("euler/theorem-1", run("-k", "samples").stdout)


def test_a_partial_run_never_writes_what_did_not_run(project: Path, run: Run) -> None:
    run("--ledger", "ledger.json")
    run("-k", "samples", "--ledger", "ledger.json")
    assert verdicts(project)["euler/theorem-1"] == ("supported", "property")


def test_claims_without_evidence_are_listed(project: Path, run: Run) -> None:
    bare = """
[[claim]]
id = "euler/bare"
kind = "A"
number = "Remark 3"
title = "bare"
statement = "nothing"
place = "Section 2"
source = "text"
"""
    (project / "claims.toml").write_text(CLAIMS + bare)
    assert "without evidence: euler/bare" in run().stdout


LEANING = PROOF.replace("{by hand}", "{claim: lemmax:wong/proposition-2.1}")


def test_a_proof_leans_on_a_claim_that_lemmax_ships(project: Path, run: Run) -> None:
    page = project / "proofs" / "theorem-1.md"
    page.write_text(LEANING)
    run("--ledger", "ledger.json")
    assert verdicts(project)["euler/theorem-1"] == ("holds", "argued")
    page.write_text(LEANING.replace("lemmax:", "lemmax-0.0.0:"))
    done = run("--ledger", "ledger.json")
    assert verdicts(project)["euler/theorem-1"] == ("supported", "property")
    assert "leans on lemmax-0.0.0:wong/proposition-2.1" in done.stdout
    page.write_text(LEANING.replace("proposition-2.1", "argmax-rank-one-of-none"))
    assert run().returncode == 4


def test_evidence_only(project: Path, run: Run) -> None:
    (project / "test_other.py").write_text("def test_other():\n    assert False\n")
    done = run("--evidence")
    assert done.returncode == 0, done.stdout


def test_a_failing_step_breaks_the_proof(project: Path, run: Run) -> None:
    text = TESTS.replace("- 2 * (n + 1)) == 0", "- 3 * (n + 1)) == 0")
    (project / "test_sums.py").write_text(text)
    done = run("--ledger", "ledger.json")
    assert done.returncode != 0
    assert verdicts(project)["euler/theorem-1"] == ("supported", "property")
    assert "test_induction_step is failed" in done.stdout


def test_a_missing_step_breaks_the_proof(project: Path, run: Run) -> None:
    (project / "proofs" / "theorem-1.md").write_text(PROOF.replace("induction_step", "no_step"))
    done = run("--ledger", "ledger.json")
    assert done.returncode != 0
    assert "test_no_step" in done.stdout
    assert "does not exist" in done.stdout
    assert verdicts(project)["euler/theorem-1"] == ("supported", "property")


def test_a_skipped_step_leaves_the_proof_out(project: Path, run: Run) -> None:
    text = TESTS.replace("import sympy\n", "import pytest; pytest.skip('no algebra')\n")
    (project / "test_sums.py").write_text(text)
    run("--ledger", "ledger.json")
    assert verdicts(project)["euler/theorem-1"] == ("supported", "property")


def test_evidence_both_ways_fails_the_run_and_names_both(project: Path, run: Run) -> None:
    extra = """
@pytest.mark.claim("euler/theorem-1", grade="certified", direction="against")
def test_theorem_1_is_refuted(certify):
    M = Matrix([[1, 0, -1], [-1, 0, 1], [0, 0, 0]])
    certify(refutation("euler/theorem-1", {"M": M}, [], "rank(argmax(M)) <= rank(M)"))
"""
    formal = 'formal = "given M: matrix; conclude rank(argmax(M)) <= rank(M)"\nuses'
    claims = CLAIMS.replace("uses", formal)
    (project / "claims.toml").write_text(claims)
    digest = load_claims([project / "claims.toml"])["euler/theorem-1"].digest
    (project / "test_sums.py").write_text((TESTS + extra).replace(SUM, digest))
    (project / "proofs" / "theorem-1.md").write_text(PROOF.replace(SUM, digest))
    done = run("--ledger", "ledger.json")
    assert done.returncode == 1
    assert verdicts(project)["euler/theorem-1"] == ("conflict", None)
    assert "test_theorem_1_is_refuted says refuted" in done.stdout
    assert "proofs/theorem-1.md says holds" in done.stdout


def test_certified_without_a_certificate_is_found_out(project: Path, run: Run) -> None:
    text = TESTS.replace("    certify(refutation", "    dict(x=refutation")
    (project / "test_sums.py").write_text(text)
    done = run("--ledger", "ledger.json")
    assert done.returncode == 1
    assert "certifies nothing" in done.stdout
    assert verdicts(project)["euler/rank-bound"] == ("open", None)


def test_a_certificate_that_does_not_hold_fails_its_test(project: Path, run: Run) -> None:
    (project / "test_sums.py").write_text(TESTS.replace('<= rank(M)"', '<= 3"'))
    done = run()
    assert done.returncode == 1


def test_shipped_certificates_are_compared(project: Path, run: Run) -> None:
    text = TESTS.replace(
        '"rank(argmax(M)) <= rank(M)"))', '"rank(argmax(M)) <= rank(M)"), ship_as="euler/bound")'
    )
    (project / "test_sums.py").write_text(text)
    assert "is not shipped" in run().stdout
    assert run("--write-certificates").returncode == 0
    assert run().returncode == 0
    file = project / "certificates" / "euler" / "bound.json"
    file.write_text(file.read_text().replace("-1", "-2", 1))
    assert "is out of date" in run().stdout


def test_a_committed_ledger_that_disagrees_fails(project: Path, run: Run) -> None:
    run("--ledger", "ledger.json")
    text = (project / "ledger.json").read_text()
    (project / "ledger.json").write_text(
        text.replace('"verdict": "repaired"', '"verdict": "holds"')
    )
    done = run("--ledger-against", "ledger.json")
    assert done.returncode == 1
    assert "its own evidence" in done.stdout


@pytest.mark.parametrize(
    ("option", "file", "sentence"),
    [
        ("--ledger", "no/such/folder.json", "there is no folder no/such."),
        ("--ledger", "proofs", "this is a folder, not a file."),
        ("--ledger-against", "none.json", "none.json: pytest --ledger none.json writes one."),
        ("--ledger-against", "claims.toml", "claims.toml is not a lemmax ledger."),
        ("--ledger-against", "other.json", "the ledger of another project"),
    ],
    ids=["no folder", "a folder", "no ledger", "something else", "lemmax"],
)
def test_a_ledger_that_cannot_be_written_or_compared_is_told_before_the_run(
    option: str, file: str, sentence: str, project: Path, run: Run
) -> None:
    """One sentence and no test: it would be a pity after an hour."""
    (project / "other.json").write_bytes(LEDGER.read_bytes())
    done = run(option, file)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert sentence in done.stderr
    assert "passed" not in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


BAD_MARKERS = [
    ('"euler/none", grade="kernel"', "unknown claim 'euler/none'"),
    ('"euler/theorem-1", grade="certain"', "unknown grade 'certain'"),
    ('"euler/theorem-1", grade="argued"', "an argued proof is a page"),
    ('"euler/theorem-1"', "asks for 0 deciding fixtures instead of one"),
    ('"euler/theorem-1", grade="kernel", statement=1', "the statement is a text"),
    ('"euler/theorem-1", grade="kernel", direction="up"', "the direction is"),
    ('"euler/theorem-1", grade="property"', "needs a scope"),
    (
        '"euler/theorem-1", grade="kernel", verdict="holds"',
        "takes id, grade, direction, scope and statement",
    ),
]


@pytest.mark.parametrize(("marker", "sentence"), BAD_MARKERS, ids=[bad[1] for bad in BAD_MARKERS])
def test_bad_markers_are_one_sentence_with_their_place(
    project: Path, run: Run, marker: str, sentence: str
) -> None:
    extra = f"\n@pytest.mark.claim({marker})\ndef test_bad():\n    pass\n"
    (project / "test_sums.py").write_text(TESTS + extra)
    done = run()
    assert done.returncode == 4
    assert sentence in done.stdout + done.stderr
    assert "test_sums.py::test_bad" in done.stdout + done.stderr


BAD_PAGES = [
    ("claim: euler/theorem-1", "claim: euler/none", "no claim 'euler/none'"),
    ("direction: for", "direction: up", "for, against or gap"),
    ("{by hand}", "", "0 tags instead of one"),
    ("2. The", "3. The", "step 3 stands where step 2"),
    ("---\nclaim", "claim", "no front matter"),
    ("# By induction", "", "no title"),
    ("{by hand}", "{test:}", "not well formed"),
]


@pytest.mark.parametrize(("old", "new", "sentence"), BAD_PAGES, ids=[bad[2] for bad in BAD_PAGES])
def test_bad_proof_pages_are_one_sentence(
    project: Path, run: Run, old: str, new: str, sentence: str
) -> None:
    (project / "proofs" / "theorem-1.md").write_text(PROOF.replace(old, new, 1))
    done = run()
    assert done.returncode == 4
    assert sentence in done.stdout + done.stderr
    assert "theorem-1.md" in done.stdout + done.stderr


@pytest.mark.slow
def test_another_paper_with_an_installed_wheel(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    site = folder / "site"
    wheel = next(folder.glob("lemmax-*.whl"))
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--target",
            str(site),
            str(wheel),
        ],
        check=True,
        capture_output=True,
    )
    assert (site / "lemmax" / "theory" / "ledger" / "catalogue" / "wong.toml").is_file()
    assert (site / "lemmax" / "theory" / "ledger" / "ledger.json").is_file()
    import os

    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    environment["PYTHONPATH"] = str(site)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
            "--ledger",
            "ledger.json",
        ],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert verdicts(project)["euler/theorem-1"] == ("holds", "argued")
