"""What binds evidence to a claim, on its page: formal statement, formulas, repair, what was earned.

Each part says why it is there, so that a reader can judge whether the evidence is about the words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lemmax.sphinx.markup import markdown
from lemmax.sphinx.sites import Site
from lemmax.sphinx.words import Entry, badge, heading
from lemmax.theory.ledger import coq as kernel
from lemmax.theory.ledger.projects import Project
from lemmax.theory.ledger.theorems import read_theorems


def formally(site: Site, entry: Entry, origin: str) -> Iterator[str]:
    """The formal statement, the formulas, and what they are to the claim; or why there are none."""
    if entry["formal"]:
        yield from ("## Formally", "", *_block(entry["formal"]))
        if entry["consequence"]:
            told = markdown(entry["consequence"].strip())
            yield from (f"**A consequence only, not the whole claim.** {told}", "")
        if entry["consequence_uses"]:
            yield from ("This consequence leans on:", "")
            yield from (f"- {_premise(site, name, origin)}" for name in entry["consequence_uses"])
            yield ""
    for key, title in (("formula", "proves"), ("counterformula", "refutes")):
        if entry[key]:
            yield from (f"## A formula that {title} it", "", *_block(entry[key]))
            yield from (markdown(entry["symbols"].strip()), "")
    if entry["informal"]:
        yield from (f"**Not formal.** {markdown(entry['informal'].strip())}", "")


def repaired(site: Site, entry: Entry, origin: str) -> Iterator[str]:
    """The claim that repairs this one, and why it does."""
    if not entry["repaired_by"]:
        return
    repair = site.entries[entry["repaired_by"]]
    yield from ("## Repair", "", site.link(repair["id"], origin, heading(repair)), "")
    if entry["repair"]:
        yield from (f"**Why it repairs.** {markdown(entry['repair'].strip())}", "")
    else:
        yield from ("Why it repairs is not said, so that it does not count as a repair.", "")
    yield from (":::{container} lx-statement", markdown(repair["statement"]), ":::", "")


def earned(item: dict[str, Any]) -> Iterator[str]:
    """What the fixture that earned the grade saw: theorems, formula, predicate, count."""
    recorded = read_theorems(Project(root=kernel.formal_folder()).theorems)
    stated = [recorded[name].states for name in item.get("theorems", ()) if name in recorded]
    if stated:
        yield from ("As Coq prints what it checked, closed under the global context:", "")
        yield from _block("\n".join(stated))
    if "formula" in item:
        yield from (f"Decided for all values of {', '.join(item['symbols'])}:", "")
        yield from _block(item["formula"])
    if "count" in item:
        yield from (f"{item['count']:,} different instances were decided.", "")
    if "predicate" in item:
        yield from ("The predicate, which is False of a control:", "", *_block(item["predicate"]))


def _premise(site: Site, name: str, origin: str) -> str:
    premise = site.entries[name]
    verdict = premise["verdict"]
    missing = "" if verdict in ("holds", "repaired") else ": this premise is missing"
    return f"{site.link(name, origin, heading(premise))} {badge(verdict)}{missing}"


def _block(text: str) -> list[str]:
    return ["```text", text.strip(), "```", ""]
