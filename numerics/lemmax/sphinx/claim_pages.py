"""The page of one claim: statement, verdict, all evidence, what it rests on."""

from __future__ import annotations

import html
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from lemmax.sphinx.bonds import earned, formally, repaired
from lemmax.sphinx.checking import button
from lemmax.sphinx.markup import markdown
from lemmax.sphinx.sites import Site
from lemmax.sphinx.words import DIRECTIONS, ORPHAN, SOURCES, Entry, badge, docname, heading
from lemmax.theory.ledger import coq as kernel
from lemmax.theory.ledger.claims import KINDS


def claim_page(site: Site, entry: Entry) -> str:
    """The page of one claim in Markdown."""
    origin = docname(entry["id"])
    paper = site.papers[entry["paper"]]
    mark = ", kernel-checked" if entry["kernel_checked"] else ""
    grade = f" by {entry['grade']}{mark} evidence" if entry["grade"] else ""
    lines = [
        *ORPHAN,
        f"# {markdown(heading(entry))}",
        "",
        f'<p class="lx-verdict">{badge(entry["verdict"])}{grade}</p>',
        "",
        '<dl class="lx-facts">',
        f"<div><dt>claim</dt><dd><code>{entry['id']}</code></dd></div>",
        f"<div><dt>kind</dt><dd>{KINDS[entry['kind']]}</dd></div>",
        f"<div><dt>paper</dt><dd>{html.escape(paper['authors'])}, "
        f"<em>{html.escape(paper['title'])}</em> ({paper['year']})</dd></div>",
        f"<div><dt>place</dt><dd>{html.escape(entry['place'])}</dd></div>",
        f"<div><dt>source</dt><dd>{SOURCES.get(entry['source'], entry['source'])}</dd></div>",
        "</dl>",
        "",
        "## Statement",
        "",
        ":::{container} lx-statement",
        markdown(entry["statement"]),
        ":::",
        "",
    ]
    lines += readings(site, entry, origin)
    if entry["verdict"] == "stale":
        lines += ["The statement changed after the ledger was written: its verdict is due.", ""]
    lines += [*formally(site, entry, origin), *repaired(site, entry, origin)]
    if entry["kind"] != "D":
        lines += ["## Evidence", "", *_evidence(site, entry, origin)]
    for title, key in (("Rests on", "uses"), ("Used by", "used_by")):
        if entry[key]:
            lines += [f"## {title}", ""]
            lines += [
                f"- {site.link(i, origin, heading(site.entries[i]))} <code>{i}</code>"
                for i in entry[key]
            ]
            lines += [""]
    up = posixpath.relpath(site.page("graph"), posixpath.dirname(origin))
    lines += [
        f'<p><a class="lx-graph-link" href="{up}#{entry["id"]}">What this rests on, as a graph</a>'
        f" · <code>lemmax claims {entry['id']}</code></p>",
        "",
    ]
    return "\n".join(lines)


def readings(site: Site, entry: Entry, origin: str) -> list[str]:
    """How a statement was read, and what the text says where our reading is sharper."""
    lines: list[str] = []
    if entry["reading"]:
        lines += [f"**Reading.** {markdown(entry['reading'].strip())}", ""]
    if entry["sharpens"]:
        softer = site.link(entry["sharpens"], origin, heading(site.entries[entry["sharpens"]]))
        lines += [f"This is our sharp reading; what the text says is {softer}.", ""]
    return lines


def _evidence(site: Site, entry: Entry, origin: str) -> Iterator[str]:
    if entry["waits"]:
        yield f"**Why it is open.** {markdown(entry['waits'].strip())}"
        yield ""
    elif not entry["evidence"]:
        yield "No evidence yet: the claim is open."
        yield ""
    for item in entry["evidence"]:
        proof = site.proof_page(item["test"])
        outcome = "" if item["outcome"] == "passed" else f" ({item['outcome']})"
        mark = ", kernel-checked" if item.get("kernel_checked") else ""
        shows = DIRECTIONS[item["direction"]]
        if item.get("measured") == "open":
            shows = "does not decide"
        title = f"{item['grade'].capitalize()}{mark}, {shows}{outcome}"
        yield f"### {title}"
        yield ""
        if "scope" in item:
            yield f"Scope: {markdown(item['scope'])}."
            yield ""
        yield from earned(item)
        if "measured" in item or "details" in item:
            told = ", ".join(str(item[k]) for k in ("measured", "details") if k in item)
            yield f"{markdown(told)}"
            yield ""
        if proof is not None:
            target = posixpath.relpath(proof, posixpath.dirname(origin))
            if (site.docs / proof).exists():
                yield f"A written proof, each step with what stands behind it: [read it]({target})."
                yield ""
        else:
            yield f'`pytest "{item["test"]}"`{{.lx-test}}'
            yield ""
            if item["grade"] == "kernel":
                yield from formal_statements(entry["id"])
            yield from folded_source(site, item["test"])
        for name in item.get("certificates", ()):
            yield from _certificate(site, name.removesuffix(".json"), origin)
            if name in item.get("kernel_checked", ()):
                yield "Coq's kernel has checked it, as a theorem that `lemmax prove` writes."
                yield ""


def folded_source(site: Site, test: str) -> Iterator[str]:
    text = site.source_of(test)
    if text is None:
        return
    yield '<details class="lx-source"><summary>The test</summary>'
    yield ""
    yield "```python"
    yield text
    yield "```"
    yield ""
    yield "</details>"
    yield ""


def formal_statements(claim: str) -> Iterator[str]:
    """The theorems that the headers of the Coq sources name for a claim, as they are stated."""
    for file, text in kernel.formal_sources().items():
        stated = kernel.theorem_statements(text)
        for proved in kernel.header(text):
            if proved.claim != claim:
                continue
            yield f"Proved in Coq (`theory/formal/{file}.v`), closed under the global context:"
            yield ""
            yield "```text"
            for name in proved.theorems:
                yield stated[name]
            yield "```"
            yield ""


def _certificate(site: Site, name: str, origin: str) -> Iterator[str]:
    if name not in site.certificates:
        return
    told = site.checked(name)
    href = posixpath.relpath(f"certificates/{name}.json", posixpath.dirname(origin))
    tool = posixpath.relpath("certificates/checker.pyz", posixpath.dirname(origin))
    file = name.rpartition("/")[2]
    yield (
        f'<p class="lx-certificate"><a download href="{href}">{file}.json</a> '
        f"<small>certificate, {told['kind']}, {told['bytes']:,} bytes, "
        f"sha256 <code>{told['sha256'][:16]}…</code></small> {button(site, name, origin)}</p>"
    )
    yield ""
    yield f'The <a download href="{tool}">checker</a> says:'
    yield ""
    yield "```text"
    steps = told["steps"]
    shown = steps if len(steps) <= 12 else [*steps[:5], f"… {len(steps) - 8} more …", *steps[-3:]]
    for step in shown:
        yield step if len(step) <= 400 else step[:400] + " …"
    yield "```"
    yield ""


def paper_index(site: Site, key: str, paper: Mapping[str, Any]) -> str:
    """The claims of a paper as a plain list."""
    return "\n".join(
        [
            *ORPHAN,
            f"# Claims: {markdown(paper['title'])}",
            "",
            f"The statements of {markdown(paper['authors'])} ({paper['year']}), one page each.",
            "",
            *(
                f"- {site.link(e['id'], f'claims/{key}/index', heading(e))}"
                for e in site.entries.values()
                if e["paper"] == key
            ),
            "",
        ]
    )
