"""The page of a claim says what binds its evidence to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lemmax.sphinx.bonds import earned, formally, repaired
from lemmax.sphinx.claim_pages import claim_page
from lemmax.sphinx.sites import Site
from lemmax.theory.ledger import entries
from lemmax.theory.ledger.claims import BUILT_IN

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site() -> Site:
    docs = ROOT / "docs"
    return Site(docs, ROOT, (BUILT_IN,), entries.LEDGER, docs, (docs / "proofs",))


def page(site: Site, name: str, **changes: Any) -> str:
    entry = site.entries[name] | changes
    origin = f"claims/{name}"
    return "\n".join((*formally(site, entry, origin), *repaired(site, entry, origin)))


def test_a_consequence_says_why_and_which_premise_is_missing(site: Site) -> None:
    text = page(site, "dana/corollary-1")
    assert "conclude not parity(a, H)" in text
    assert "A consequence only" in text
    assert "parity of H + 1 bits" in text
    assert "this premise is missing" not in text
    site.entries["lemmax/parity-obstruction"]["verdict"] = "open"
    assert "this premise is missing" in page(site, "dana/corollary-1")


def test_a_repair_says_why(site: Site) -> None:
    assert "**Why it repairs.** Another norm" in page(site, "dana/taylor-kl")
    assert "does not count as a repair" in page(site, "dana/taylor-kl", repair=None)


def test_a_formula_stands_with_what_its_symbols_mean(site: Site) -> None:
    text = page(site, "lemmax/taylor-kl")
    assert "A formula that proves it" in text
    assert "series(log(1 + s*m1" in text
    assert "is the moment" in text
    assert "A formula that refutes it" in page(site, "dana/taylor-kl")


def test_an_open_claim_says_why_and_what_does_not_decide_it(site: Site) -> None:
    item = {
        "grade": "empirical",
        "direction": "for",
        "outcome": "passed",
        "measured": "open",
        "details": "a share near to one half",
        "test": "tests/test_none.py::test_none",
    }
    entry = site.entries["mahdavi/open-question-3"]
    text = claim_page(site, entry | {"evidence": [item]})
    assert "**Why it is open.** Proved for one shared context" in text
    assert "### Empirical, does not decide" in text
    assert "a share near to one half" in text
    assert "supports" not in text
    assert "No evidence yet" not in claim_page(site, entry)
    assert "No evidence yet" in claim_page(site, entry | {"waits": None})


def test_what_was_earned_is_shown() -> None:
    told = "\n".join(
        earned(
            {
                "theorems": ["parity_obstruction.corollary_2_fails"],
                "formula": "given x: real; conclude x*x >= 0",
                "symbols": ["x"],
                "count": 1234,
                "predicate": "def small(n): return n < 9",
            }
        )
    )
    assert "corollary_2_fails : forall" in told
    assert "for all values of x" in told
    assert "1,234 different instances" in told
    assert "def small(n)" in told
