"""Two papers, paragraph by paragraph: every claim has its place, and every gap a reason."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from lemmax.theory.ledger.claims import load_claims

PAPERS = ("wong", "dana")


@pytest.fixture(scope="module")
def listed() -> ModuleType:
    path = Path(__file__).parent.parent.parent / "docs" / "_ext" / "paragraphs.py"
    spec = importlib.util.spec_from_file_location("paragraphs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_read_in_the_paper_covers_a_paragraph(listed: ModuleType, paper: str) -> None:
    catalogue = load_claims()
    named = {claim for p in listed.paragraphs(paper) for claim in p.claims}
    assert named <= set(catalogue.claims)
    read = {c.id for c in catalogue if c.paper == paper and c.source == "text"}
    assert read - named == set()


@pytest.mark.parametrize(("paper", "gaps"), [("wong", 6), ("dana", 8)])
def test_a_paragraph_without_claims_says_why(listed: ModuleType, paper: str, gaps: int) -> None:
    undecided = 0
    for paragraph in listed.paragraphs(paper):
        assert bool(paragraph.claims) != bool(paragraph.reason), paragraph
        if paragraph.reason:
            word, _, why = paragraph.reason.partition(": ")
            assert word in listed.REASONS, paragraph
            assert bool(why) == (word == "undecided"), paragraph
            undecided += word == "undecided"
    assert undecided == gaps
