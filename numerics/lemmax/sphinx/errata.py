"""What an author would want to know: refuted and repaired statements, the gravest first."""

from __future__ import annotations

import html
import posixpath
from collections.abc import Iterator

from lemmax.paper.errata import Erratum, errata_of
from lemmax.sphinx.bases import Generated
from lemmax.sphinx.checking import button
from lemmax.sphinx.claim_pages import folded_source, formal_statements
from lemmax.sphinx.markup import markdown
from lemmax.sphinx.sites import Site
from lemmax.sphinx.words import SOURCES, heading, short_name
from lemmax.theory.ledger.proofs import read_proof

HEDGED = (
    "*The paper hedges the sentences below, as a guess, an expectation or an observation. It does "
    "not assert them in the form that is decided here; a reader may.*"
)
ELSEWHERE = (
    "*The statements below were not read in the paper itself. They may differ from what it says "
    "and are addressed to nobody.*"
)


def _groups(site: Site, key: str) -> tuple[tuple[str, list[Erratum]], ...]:
    """The errata of a paper by what may be said to its authors, each group the gravest first."""
    errata = errata_of(key, site.claims, site.ledger)
    read = [e for e in errata if e.addressed or e.claim.source == key]
    return (
        ("", [e for e in read if not e.hedged]),
        (HEDGED, [e for e in read if e.hedged]),
        (ELSEWHERE, [e for e in errata if e not in read]),
    )


class ErrataSummary(Generated):
    """Every erratum in one table: what is wrong with it, how surely, and what holds instead."""

    def markdown(self) -> str:
        site, origin = self.site, self.env.docname
        lines = [
            "| statement | what is wrong | what holds |",
            "|---|---|---|",
        ]
        groups = {key: _groups(site, key) for key in site.papers}
        for number, word in enumerate(("", "hedged", "not read in the paper")):
            for key, grouped in groups.items():
                name = short_name(key, site.papers[key])
                for erratum in grouped[number][1]:
                    entry = site.entries[erratum.claim.id]
                    wrong = "gap in the proof" if erratum.gap else "false"
                    holds = "<br>".join(
                        site.link(c.id, origin, heading(site.entries[c.id]), mark=False)
                        for c in erratum.holds
                    )
                    title = f'<a href="#{erratum.claim.id}">{markdown(heading(entry))}</a>'
                    note = f"{wrong}; {word}" if word else wrong
                    lines.append(
                        f"| {title}<br>{name} | {note}<br>{erratum.grade} | {holds or '–'} |"
                    )
        return "\n".join([":::{container} lx-errata-table", "", *lines, ":::"])


class Errata(Generated):
    """Refuted and repaired statements of one paper, in a form that could be sent to an author."""

    required_arguments = 1
    optional_arguments = 0

    def markdown(self) -> str:
        site = self.site
        key, origin = self.arguments[0], self.env.docname
        groups = _groups(site, key)
        if not any(group for _, group in groups):
            return "Nothing of this paper is refuted at present."
        lines = [f'<span id="{html.escape(key)}"></span>', ""]
        for told, group in groups:
            lines += [told, ""] if told and group else []
            for erratum in group:
                lines += _erratum(site, erratum, origin)
        return "\n".join(lines)


def _erratum(site: Site, erratum: Erratum, origin: str) -> Iterator[str]:
    claim, entry = erratum.claim, site.entries[erratum.claim.id]
    where = f"{claim.place}; {SOURCES.get(claim.source, claim.source)}"
    yield f'<span id="{html.escape(claim.id)}"></span>'
    yield ""
    yield f"### {markdown(heading(entry))}"
    yield ""
    link = f'<a href="#{html.escape(claim.id)}">link to this</a>'
    yield f"{site.link(claim.id, origin)} · {markdown(where)} · {link}"
    yield ""
    if claim.quote:
        yield from _said("In print", f"“{claim.quote.strip()}”", "lx-quote")
    if claim.hedge:
        yield f"**The paper's caution.** {markdown(claim.hedge.strip())}"
        yield ""
    yield from _said("As we read it", claim.statement, "lx-statement")
    if claim.reading:
        yield f"**On this reading.** {markdown(claim.reading.strip())}"
        yield ""
    if claim.sharpens:
        softer = site.link(claim.sharpens, origin, heading(site.entries[claim.sharpens]))
        yield f"What the text says is a claim of its own: {softer}."
        yield ""
    if erratum.gap:
        yield "**The printed proof has a gap**; the statement itself is not refuted."
        yield ""
    if claim.counterexample:
        word = "The gap" if erratum.gap else "Why not"
        yield f"**{word}.** {markdown(claim.counterexample.strip())}"
        yield ""
    yield from _shown(site, erratum, origin)
    for holding in erratum.holds:
        repair = holding.id == claim.repaired_by
        link = site.link(holding.id, origin, heading(site.entries[holding.id]))
        yield f"**{'Repair' if repair else 'What holds'}.** {link}"
        yield ""
        yield ":::{container} lx-statement"
        yield markdown(holding.statement.strip())
        yield ":::"
        yield ""
        if repair and claim.repair:
            yield f"What the repair changes: {markdown(claim.repair.strip())}"
            yield ""


def _said(word: str, text: str, style: str) -> Iterator[str]:
    yield from (f"**{word}.**", "", f":::{{container}} {style}", markdown(text.strip()), ":::", "")


def _shown(site: Site, erratum: Erratum, origin: str) -> Iterator[str]:
    """The evidence: what the checker says, a written argument, or the test; and how to run it."""
    here = posixpath.dirname(origin) or "."
    proofs = []
    for item in erratum.evidence:
        proof = site.proof_page(item["test"])
        if proof is not None:
            proofs.append(site.root / item["test"])
            target = posixpath.relpath(proof, here)
            yield f"**In full.** [A written argument]({target}), step by step."
            yield ""
        elif not item.get("certificates"):
            if not erratum.claim.counterexample:
                words = markdown(site.words_of(item["test"]))
                yield f"**Counterexample** ({item['grade']}). {words}"
                yield ""
            if item["grade"] == "kernel":
                yield from formal_statements(erratum.claim.id)
            yield from folded_source(site, item["test"])
    shipped = [name for name in erratum.certificates if name in site.certificates]
    for name in shipped:
        href = posixpath.relpath(f"certificates/{name}.json", here)
        yield (
            '<p class="lx-certificate"><b>Certificate</b> '
            f'<a download href="{href}">{html.escape(name)}.json</a> '
            f"{button(site, name, origin)}</p>"
        )
        yield ""
        yield "The checker says:"
        yield ""
        yield "```text"
        yield from (step[:300] for step in site.checked(name)["steps"][-6:])
        yield "```"
        yield ""
        yield f"Re-check: `python3 -I checker.pyz {name.rpartition('/')[2]}.json`"
        yield ""
    if not shipped:
        tests = [i["test"] for i in erratum.evidence if "::" in i["test"]]
        steps = [t for path in proofs if path.exists() for t in read_proof(path).tests]
        pages = [path.relative_to(site.root).as_posix() for path in proofs if path.exists()]
        named = tests[:1] or list(dict.fromkeys(steps))[:3] or pages[:1]
        if named:
            yield f"Re-check: `pytest {' '.join(named)}`"
            yield ""
