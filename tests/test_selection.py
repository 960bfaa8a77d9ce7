"""``pytest -k`` and a kind of statement opens few files and misses no test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lemmax.theory.ledger.gathering import base
from lemmax.theory.ledger.proofs import find_proofs

ROOT = Path(__file__).parents[1]


def collected(*arguments: str) -> tuple[set[str], str]:
    """The node ids that pytest collects, and its last line."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--co", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    lines = done.stdout.splitlines()
    return {line for line in lines if "::" in line and " " not in line.partition("::")[0]}, lines[
        -1
    ]


def root_conftest(config: pytest.Config) -> Any:
    return next(
        plugin
        for plugin in config.pluginmanager.get_plugins()
        if getattr(plugin, "__file__", None) == str(ROOT / "conftest.py")
    )


def test_evidence_stands_in_files_that_verify_opens(request: pytest.FixtureRequest) -> None:
    """All that was collected in this run; a file without evidence is left closed."""
    is_evidence = root_conftest(request.config).is_evidence
    for item in request.session.items:
        if item.get_closest_marker("claim") is not None:
            assert is_evidence(item.path, item.path.relative_to(ROOT).as_posix()), item.nodeid
    assert not is_evidence(Path(__file__), "tests/test_selection.py")


@pytest.fixture(scope="module")
def everything(request: pytest.FixtureRequest) -> set[str]:
    """The node ids of all tests: of this run, if nothing is left out, for collecting takes long."""
    config = request.config
    narrowed = any(map(config.getoption, ("keyword", "markexpr", "ignore", "deselect", "evidence")))
    if config.args == config.getini("testpaths") and not narrowed:
        return {item.nodeid for item in request.session.items}
    return collected()[0]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("proposition", ("proposition",)),
        ("lemma or theorem", ("lemma_", "lemma-", "theorem")),
        ("Proposition_3_6", ("proposition_3_6",)),
        ("not proposition", ()),
        ("proposition and wong", ()),
        ("rank", ()),
        ("", ()),
    ],
    ids=range(7),  # names of kinds would be selected by them
)
def test_files_are_left_closed_only_for_kinds_of_statements(
    expression: str, words: tuple[str, ...], pytestconfig: pytest.Config
) -> None:
    conftest = root_conftest(pytestconfig)

    class Config:
        option = SimpleNamespace(keyword=expression)

        def getoption(self, name: str) -> Any:
            return self.option.keyword if name == "keyword" else None

    config = Config()
    conftest.pytest_configure(config)
    assert conftest.sought(config) == words


def test_of_proofs_in_coq_those_of_the_claims_are_meant(pytestconfig: pytest.Config) -> None:
    conftest = root_conftest(pytestconfig)
    proof = f"{conftest.COQ}::{conftest.EVERY_PROOF}"
    assert (Path(ROOT, conftest.COQ).read_text()).count(f"def {conftest.EVERY_PROOF}(") == 1
    assert conftest.is_meant(f"{proof}[dana/theorem-1-parameters]", ("theorem",))
    assert not conftest.is_meant(f"{proof}[wong/slice-ranks]", ("theorem",))
    assert conftest.is_meant("tests/x.py::test_theorem_1[wong/slice-ranks]", ("theorem",))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["proposition", "lemma", "theorem"], ids="PLT")
def test_a_kind_of_statement_is_found_whole(
    kind: str, everything: set[str], pytestconfig: pytest.Config
) -> None:
    few, told = collected("-k", kind)
    words = ("lemma_", "lemma-") if kind == "lemma" else (kind,)
    is_meant = root_conftest(pytestconfig).is_meant
    named = {test for test in everything if any(word in test.lower() for word in words)}
    named = {test for test in named if is_meant(test, words)}
    pages = {test.partition("::")[0] for test in named if test.startswith("docs/")}
    proofs = find_proofs([ROOT / "docs" / "proofs"])
    steps = {
        base(test)
        for proof in proofs
        if proof.path.relative_to(ROOT).as_posix() in pages
        for test in proof.tests
    }
    assert few == named | {test for test in everything if base(test) in steps}
    assert len(named) > 20
    assert not any(test.startswith("tests/proving/test_kernel.py") for test in few)  # minutes
    opened = int(told.split("/")[1].split()[0])
    assert opened < len(everything) / 3
