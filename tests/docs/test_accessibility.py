"""axe-core finds no serious fault on any kind of page, light and dark; sizes stay small."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.docs.conftest import Visits

AXE = Path(__file__).parent.parent.parent / "docs" / "_build" / "axe" / "axe.min.js"
RUN = """
async () => {
  const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
  const { violations } = await axe.run(document, { resultTypes: ["violations"], runOnly: rules });
  return violations
    .filter((v) => v.impact === "serious" || v.impact === "critical")
    .map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html).join(" ")}`);
}
"""
# One page of each kind; the colours of every kind are the same in both schemes.
KINDS = [
    "index.html",
    "ledger.html",
    "graph.html",
    "errata.html",
    "check.html",
    "try.html",
    "claims/wong/argmax-rank-one.html",
    "claims/dana/figure-3.html",
    "claims/dana/definition-aot.html",
    "proofs/index.html",
    "proofs/lemmax/compiler-two-heads.html",
    "tutorials/figure-1.html",
    "tutorials/trained.html",  # cells that are folded, figures
    "tutorials/own-paper.html",  # the colours of a terminal
    "experiments.html",
    "papers/index.html",
    "papers/dana-paragraphs.html",
    "certificates.html",
    "glossary.html",
    "command-line.html",
    "bibliography.html",
    "reference/index.html",
    "reference/lemmax.constructions.wong.blowups.html",
    "search.html",
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(visits: Visits, scheme: str) -> None:
    assert AXE.is_file(), "axe-core is fetched by docs/fetched.py"
    faults = {}
    for name in KINDS:
        page = visits(color_scheme=scheme, reduced_motion="reduce").open(name)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        if found := page.evaluate(RUN):
            faults[name] = found
        page.close()
    assert faults == {}


def test_the_site_is_small(site: Path) -> None:
    """Without Pyodide, which is loaded only on demand."""
    sizes = {p: p.stat().st_size for p in site.rglob("*") if p.is_file()}
    pages = {
        p: size
        for p, size in sizes.items()
        if not {"pyodide", ".doctrees"} & set(p.relative_to(site).parts)
    }
    assert sum(pages.values()) < 40_000_000


def test_the_first_page_is_light(visits: Visits, server: str) -> None:
    visit = visits()
    sizes: list[int] = []
    visit.page.on("response", lambda answer: sizes.append(len(answer.body())))
    visit.page.goto(f"{server}/index.html")
    visit.page.wait_for_load_state("networkidle")
    assert len(sizes) > 5
    assert sum(sizes) < 400_000
