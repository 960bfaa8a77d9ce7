"""The ledger as a site: one page per claim, a table, a graph, errata, all from ``ledger.json``.

Nothing here knows a verdict or a count: statements come from the claims files, verdicts and
evidence from the ledger, what a certificate shows from the independent checker. Directives::

    {ledger-table}          every claim, with filters
    {ledger-graph}          what rests on what
    {ledger-summary}        how many claims of each paper have which verdict
    {paper-claims} wong     the statements of one paper, in order
    {errata} wong           what an author would want to know
    {certificate-kinds}     the fields of every kind, from the schemas
    {vocabulary}            the words of the language of statements, from the checker
    {checker-modules}       the modules of the checker, and how many lines they have
    {grades}                how many claims each grade decides
    {formal-proofs}         which theorems of Coq prove which claims
    {proof-list}            every proof page

The page of a claim has the stable address ``claims/PAPER/NAME.html``.
"""

from __future__ import annotations

import ast
import hashlib
import html
import inspect
import json
import posixpath
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from markup import docstring_lines, markdown, proof_page
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

import lemmax.checker as checker
from lemmax.constructions import shipped
from lemmax.theory.certificates.archive import FOLDER, checker_sources, write_checker
from lemmax.theory.ledger import coq as kernel
from lemmax.theory.ledger import entries as shipped_ledger
from lemmax.theory.ledger.claims import BUILT_IN, KINDS, load_claims
from lemmax.theory.ledger.proofs import read_proof
from lemmax.theory.ledger.verdicts import GRADES

DOCS = Path(__file__).parent.parent
ROOT = DOCS.parent
SCHEMAS = ROOT / "theory" / "lemmax" / "theory" / "certificates" / "schemas"

# A sign beside the colour, so that no reader depends on colour alone.
SIGNS = {
    "holds": "✓",
    "refuted": "✗",
    "repaired": "⟲",
    "supported": "≈",
    "open": "?",
    "reproduced": "✓",
    "not-reproduced": "✗",
    "recipe-dependent": "±",
    "stale": "!",
    "conflict": "!",
    "definition": "≔",
}
SOURCES = {
    "text": "read in the paper",
    "summary": "read in a summary of the paper, not in the paper itself",
    "reconstruction": "reconstructed: the paper leans on it without stating it",
    "lemmax": "stated by lemmax",
}
DIRECTIONS = {"for": "supports", "against": "refutes", "gap": "shows a gap in the printed proof"}

# Hundreds of pages in the sidebar of every page would help nobody and slow the build.
ORPHAN = ("---", "orphan: true", "---", "")

Entry = Mapping[str, Any]


@cache
def entries() -> dict[str, dict[str, Any]]:
    """Every claim with its verdict and evidence."""
    return shipped_ledger.entries()


@cache
def papers() -> dict[str, dict[str, Any]]:
    """The papers, ours last."""
    found = {key: dict(paper) for key, paper in load_claims().papers.items()}
    return dict(sorted(found.items(), key=lambda pair: (pair[0] == "lemmax", pair[0])))


@cache
def checked(name: str) -> dict[str, Any]:
    """What the independent checker says of a shipped certificate, remembered by its digest."""
    file = shipped.path(name)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    rules = hashlib.sha256(b"".join(p.read_bytes() for p in checker_sources())).hexdigest()
    memory = DOCS / "_build" / "checked" / f"{digest[:24]}-{rules[:12]}.json"
    if memory.exists():
        return json.loads(memory.read_text(encoding="utf-8"))
    verdict = checker.check_file(file)
    if not verdict.holds:
        raise RuntimeError(f"The shipped certificate {name} does not hold: {verdict.steps[-1]}")
    found = {
        "kind": verdict.kind,
        "steps": list(verdict.steps),
        "sha256": digest,
        "bytes": file.stat().st_size,
    }
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
    return found


# -- words -------------------------------------------------------------------------------------


def badge(verdict: str) -> str:
    """A verdict as a coloured label with a sign."""
    sign = f'<span aria-hidden="true">{SIGNS.get(verdict, "")}</span>'
    return f'<span class="lx-badge lx-{verdict}">{sign} {verdict}</span>'


def heading(entry: Entry) -> str:
    """The number of the statement, where it has one, and its title."""
    title = entry["title"][:1].upper() + entry["title"][1:]
    return title if entry["number"] in ("text", "new") else f"{entry['number']}: {title}"


def docname(identifier: str) -> str:
    """The page of a claim."""
    return f"claims/{identifier}"


def link(identifier: str, origin: str, text: str | None = None, mark: bool = True) -> str:
    """A Markdown link from the document ``origin`` to a claim, with its verdict."""
    target = posixpath.relpath(f"{docname(identifier)}.md", posixpath.dirname(origin) or ".")
    after = f" {badge(entries()[identifier]['verdict'])}" if mark else ""
    return f"[{markdown(text or identifier)}]({target}){after}"


def _function(test: str) -> tuple[Path, ast.FunctionDef] | None:
    """The function of a test, and where it stands."""
    file, _, function = test.partition("::")
    path = ROOT / file
    if not function or path.suffix != ".py" or not path.is_file():
        return None
    name = function.rpartition("::")[2].partition("[")[0]
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return path, node
    return None


def source_of(test: str) -> str | None:
    """The text of a test function, decorators included."""
    found = _function(test)
    if found is None:
        return None
    path, node = found
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[first - 1 : node.end_lineno])


def words_of(test: str) -> str:
    """What a test says of itself."""
    found = _function(test)
    return " ".join((ast.get_docstring(found[1]) or "").split()) if found else ""


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


# -- the page of a claim -----------------------------------------------------------------------


def claim_page(entry: Entry) -> str:
    """The page of one claim in Markdown."""
    origin = docname(entry["id"])
    paper = papers()[entry["paper"]]
    grade = f" by {entry['grade']} evidence" if entry["grade"] else ""
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
    if entry["reading"]:
        lines += [f"**Reading.** {markdown(entry['reading'].strip())}", ""]
    if entry["verdict"] == "stale":
        lines += ["The statement changed after the ledger was written: its verdict is due.", ""]
    if entry["repaired_by"]:
        repair = entries()[entry["repaired_by"]]
        lines += [
            "## Repair",
            "",
            link(repair["id"], origin, heading(repair)),
            "",
            ":::{container} lx-statement",
            markdown(repair["statement"]),
            ":::",
            "",
        ]
    if entry["kind"] != "D":
        lines += ["## Evidence", "", *_evidence(entry, origin)]
    for title, key in (("Rests on", "uses"), ("Used by", "used_by")):
        if entry[key]:
            lines += [f"## {title}", ""]
            lines += [
                f"- {link(i, origin, heading(entries()[i]))} <code>{i}</code>" for i in entry[key]
            ]
            lines += [""]
    up = posixpath.relpath("graph.html", posixpath.dirname(origin))
    lines += [
        f'<p><a class="lx-graph-link" href="{up}#{entry["id"]}">What this rests on, as a graph</a>'
        f" · <code>lemmax claims {entry['id']}</code></p>",
        "",
    ]
    return "\n".join(lines)


def _evidence(entry: Entry, origin: str) -> Iterator[str]:
    if not entry["evidence"]:
        yield "No evidence yet: the claim is open."
        yield ""
    for item in entry["evidence"]:
        proof = item["test"].startswith("docs/proofs/")
        outcome = "" if item["outcome"] == "passed" else f" ({item['outcome']})"
        title = f"{item['grade'].capitalize()}, {DIRECTIONS[item['direction']]}{outcome}"
        yield f"### {title}"
        yield ""
        if "scope" in item:
            yield f"Scope: {markdown(item['scope'])}."
            yield ""
        if "measured" in item or "details" in item:
            told = ", ".join(str(item[k]) for k in ("measured", "details") if k in item)
            yield f"{markdown(told)}"
            yield ""
        if proof:
            page = item["test"].removeprefix("docs/")
            target = posixpath.relpath(page, posixpath.dirname(origin))
            if (DOCS / page).exists():
                yield f"A written proof, each step with what stands behind it: [read it]({target})."
                yield ""
        else:
            yield f'`pytest "{item["test"]}"`{{.lx-test}}'
            yield ""
            if item["grade"] == "kernel":
                yield from _formal_statements(entry["id"])
            yield from _folded_source(item["test"])
        for name in item.get("certificates", ()):
            yield from _certificate(name.removesuffix(".json"), origin)


def _folded_source(test: str) -> Iterator[str]:
    text = source_of(test)
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


def _formal_statements(claim: str) -> Iterator[str]:
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


def _certificate(name: str, origin: str) -> Iterator[str]:
    if name not in shipped.names():
        return
    told = checked(name)
    href = posixpath.relpath(f"certificates/{name}.json", posixpath.dirname(origin))
    tool = posixpath.relpath("certificates/checker.pyz", posixpath.dirname(origin))
    file = name.rpartition("/")[2]
    yield (
        f'<p class="lx-certificate"><a download href="{href}">{file}.json</a> '
        f"<small>certificate, {told['kind']}, {told['bytes']:,} bytes, "
        f"sha256 <code>{told['sha256'][:16]}…</code></small></p>"
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


def write_claim_pages(app: Sphinx) -> None:
    """Write the pages as Markdown before Sphinx looks for documents; unchanged ones are kept."""
    folder = DOCS / "claims"
    wanted = {folder / f"{i}.md": claim_page(e) for i, e in entries().items()}
    for key, paper in papers().items():
        wanted[folder / key / "index.md"] = paper_index(key, paper)
    if folder.exists():
        for path in set(folder.rglob("*.md")) - set(wanted):
            path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def paper_index(key: str, paper: Mapping[str, Any]) -> str:
    """The claims of a paper as a plain list."""
    return "\n".join(
        [
            *ORPHAN,
            f"# Claims: {markdown(paper['title'])}",
            "",
            f"The statements of {markdown(paper['authors'])} ({paper['year']}), one page each.",
            "",
            *(
                f"- {link(e['id'], f'claims/{key}/index', heading(e))}"
                for e in entries().values()
                if e["paper"] == key
            ),
            "",
        ]
    )


# -- directives --------------------------------------------------------------------------------


def depend(env: BuildEnvironment, document: str) -> None:
    """A page that shows verdicts is out of date when the ledger, a claims file or this file is."""
    for path in (shipped_ledger.LEDGER, Path(__file__), *sorted(BUILT_IN.glob("*.toml"))):
        env.note_dependency(str(path), docname=document)


class Generated(SphinxDirective):
    """A directive whose content is Markdown or HTML made from the ledger."""

    has_content = False
    optional_arguments = 1

    def markdown(self) -> str:
        """The content as Markdown."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        depend(self.env, self.env.docname)
        return list(self.parse_text_to_nodes(self.markdown(), allow_section_headings=True))


class RawHtml(SphinxDirective):
    """A directive whose content is HTML made from the ledger."""

    optional_arguments = 1

    def html(self) -> str:
        """The content as HTML."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        depend(self.env, self.env.docname)
        return [nodes.raw("", self.html(), format="html")]

    def href(self, target: str) -> str:
        """A relative address from this page."""
        return posixpath.relpath(target, posixpath.dirname(self.env.docname) or ".")


def _options(name: str, label: str, values: Iterable[tuple[str, str]]) -> str:
    choices = "".join(f'<option value="{v}">{html.escape(t)}</option>' for v, t in values)
    return (
        f'<label>{label}<select name="{name}"><option value="">all</option>{choices}</select>'
        "</label>"
    )


class LedgerTable(RawHtml):
    """Every claim that can have a verdict, with filters that also live in the address."""

    def html(self) -> str:
        rows = [e for e in entries().values() if e["kind"] != "D"]
        verdicts = Counter(e["verdict"] for e in rows)
        grades = [g for g in GRADES if any(e["grade"] == g for e in rows)]
        body = "".join(self.row(e) for e in rows)
        form = (
            _options("paper", "Paper", ((k, k) for k in papers()))
            + _options("kind", "Kind", ((k, v) for k, v in KINDS.items() if k != "D"))
            + _options("verdict", "Verdict", ((v, f"{v} ({n})") for v, n in verdicts.most_common()))
            + _options("grade", "Grade", ((g, g) for g in grades))
            + '<label class="lx-search">Words<input type="search" name="q" autocomplete="off">'
            "</label>"
            '<button type="reset">Reset</button>'
        )
        return (
            f'<form class="lx-filter" role="search" aria-label="Filter the claims">{form}</form>'
            f'<p class="lx-count" role="status" aria-live="polite">{len(rows)} claims</p>'
            '<div class="lx-scroll"><table role="table" class="lx-table"><thead><tr role="row">'
            '<th scope="col">Claim</th><th scope="col">Kind</th><th scope="col">Verdict</th>'
            '<th scope="col">Grade</th><th scope="col">Source</th></tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
            '<p class="lx-none" hidden>No claim fits this filter.</p>'
        )

    def row(self, e: Entry) -> str:
        """One claim."""
        return (
            f'<tr role="row" data-paper="{e["paper"]}" data-kind="{e["kind"]}" '
            f'data-verdict="{e["verdict"]}" data-grade="{e["grade"] or ""}">'
            f'<th role="rowheader" scope="row"><a href="{self.href(docname(e["id"]) + ".html")}">'
            f"{html.escape(heading(e))}</a> <code>{e['id']}</code></th>"
            f'<td role="cell" data-label="Kind">{KINDS[e["kind"]]}</td>'
            f'<td role="cell" data-label="Verdict">{badge(e["verdict"])}</td>'
            f'<td role="cell" data-label="Grade">{e["grade"] or "–"}</td>'
            f'<td role="cell" data-label="Source">{e["source"]}</td></tr>'
        )


class LedgerSummary(RawHtml):
    """Papers by verdicts, each number a link into the table."""

    def html(self) -> str:
        rows = [e for e in entries().values() if e["kind"] != "D"]
        verdicts = [v for v, _ in Counter(e["verdict"] for e in rows).most_common()]
        head = "".join(f'<th scope="col">{badge(v)}</th>' for v in verdicts)
        body = ""
        for key, paper in papers().items():
            counts = Counter(e["verdict"] for e in rows if e["paper"] == key)
            cells = "".join(
                f'<td role="cell" class="lx-{v}" data-label="{v}">'
                f'<a href="{self.href("ledger.html")}#paper={key}&amp;verdict={v}" '
                f'aria-label="{counts[v]} claims of {key}: {v}">{counts[v]}</a></td>'
                if counts[v]
                else '<td role="cell" class="lx-zero">·</td>'
                for v in verdicts
            )
            name = paper["authors"].split(",")[0].split(" and ")[0].split()[-1]
            label = "lemmax" if key == "lemmax" else f"{name} {paper['year']}"
            body += (
                f'<tr role="row"><th role="rowheader" scope="row">'
                f'<a href="{self.href(f"papers/{key}.html")}">{label}</a></th>'
                f'{cells}<td role="cell" data-label="all">{sum(counts.values())}</td></tr>'
            )
        return (
            '<div class="lx-scroll"><table role="table" class="lx-summary"><thead><tr><td></td>'
            f'{head}<th scope="col">all</th></tr></thead><tbody>{body}</tbody></table></div>'
        )


class LedgerGraph(RawHtml):
    """The graph: drawn by graph.js from the data in the page, a list without JavaScript."""

    def html(self) -> str:
        data = {
            "signs": SIGNS,
            "base": self.href("claims"),
            "claims": [
                {
                    "id": e["id"],
                    "kind": e["kind"],
                    "title": heading(e),
                    "verdict": e["verdict"],
                    "uses": [*e["uses"], *([e["repaired_by"]] if e["repaired_by"] else [])],
                    "repair": e["repaired_by"],
                }
                for e in entries().values()
            ],
        }
        text = json.dumps(data, ensure_ascii=False).replace("</", "<\\/")
        used = sorted({e["verdict"] for e in entries().values()}, key=list(SIGNS).index)
        legend = " ".join(badge(v) for v in used)
        options = "".join(
            f'<option value="{i}">{html.escape(heading(e))}</option>' for i, e in entries().items()
        )
        return (
            f'<p class="lx-legend">{legend}</p>'
            '<form class="lx-graph-form" aria-label="What the graph shows">'
            '<label>Focus<input name="focus" list="lx-claims" placeholder="wong/proposition-3.6" '
            'autocomplete="off" spellcheck="false"></label>'
            f'<datalist id="lx-claims">{options}</datalist>'
            '<label class="lx-check"><input type="checkbox" name="definitions"> definitions</label>'
            '<button type="submit">Show</button><button type="reset">All claims</button></form>'
            '<p class="lx-graph-status" role="status" aria-live="polite"></p>'
            '<div class="lx-graph" tabindex="0" role="group" aria-label="Dependency graph"></div>'
            "<noscript><p>The graph is drawn with JavaScript; the page of each claim lists what "
            "it rests on.</p></noscript>"
            f'<script type="application/json" id="lx-graph-data">{text}</script>'
        )


class PaperClaims(Generated):
    """The statements of one paper in the order of the claims file."""

    required_arguments = 1
    optional_arguments = 0

    def markdown(self) -> str:
        key, origin = self.arguments[0], self.env.docname
        lines: list[str] = []
        for e in entries().values():
            if e["paper"] != key or e["kind"] == "D":
                continue
            lines += [
                f"## {markdown(heading(e))}",
                "",
                f"{link(e['id'], origin)} {e['grade'] or ''} · {KINDS[e['kind']]} · "
                f"{markdown(e['place'])}",
                "",
                ":::{container} lx-statement",
                markdown(e["statement"]),
                ":::",
                "",
            ]
            if e["repaired_by"]:
                repair = entries()[e["repaired_by"]]
                lines += [f"Repair: {link(repair['id'], origin, heading(repair))}", ""]
        defined = [e for e in entries().values() if e["paper"] == key and e["kind"] == "D"]
        if defined:
            lines += ["## Definitions and assumptions", ""]
            lines += [f"- {link(e['id'], origin, heading(e), mark=False)}" for e in defined]
        return "\n".join(lines)


class Errata(Generated):
    """Refuted and repaired statements of one paper, in a form that could be sent to an author."""

    required_arguments = 1
    optional_arguments = 0

    def markdown(self) -> str:
        key, origin = self.arguments[0], self.env.docname
        lines: list[str] = []
        for e in entries().values():
            if e["paper"] == key and e["verdict"] in ("refuted", "repaired"):
                lines += _erratum(e, origin)
        if not lines:
            return "Nothing of this paper is refuted at present."
        return "\n".join(lines)


def _erratum(entry: Entry, origin: str) -> list[str]:
    against = [
        i
        for i in entry["evidence"]
        if i["direction"] in ("against", "gap") and i["outcome"] == "passed"
    ]
    gap = not any(i["direction"] == "against" for i in against)
    where = f"{entry['place']}; {SOURCES.get(entry['source'], entry['source'])}"
    lines = [
        f"### {markdown(heading(entry))}",
        "",
        f"{link(entry['id'], origin)} · {where}",
        "",
        "**Statement.**",
        "",
        ":::{container} lx-statement",
        markdown(entry["statement"]),
        ":::",
        "",
    ]
    if gap:
        lines += ["**The printed proof has a gap**; the statement itself is not refuted.", ""]
    for item in against:
        if item["test"].startswith("docs/proofs/"):
            target = posixpath.relpath(
                item["test"].removeprefix("docs/"), posixpath.dirname(origin) or "."
            )
            lines += [f"**Why.** [A written argument]({target}), step by step.", ""]
        elif not item.get("certificates"):
            lines += [
                f"**Counterexample** ({item['grade']}). {markdown(words_of(item['test']))}",
                "",
            ]
            if item["grade"] == "kernel":
                lines += _formal_statements(entry["id"])
            lines += _folded_source(item["test"])
        for name in item.get("certificates", ()):
            short = name.removesuffix(".json")
            if short not in shipped.names():
                continue
            href = posixpath.relpath(f"certificates/{name}", posixpath.dirname(origin) or ".")
            steps = checked(short)["steps"]
            lines += [
                f'**Counterexample** (<a download href="{href}">{html.escape(short)}.json</a>). '
                "The checker says:",
                "",
                "```text",
                *(step[:300] for step in steps[-6:]),
                "```",
                "",
                f"Re-check: `python3 -I checker.pyz {short.rpartition('/')[2]}.json`",
                "",
            ]
    if not any(i.get("certificates") for i in against):
        tests = [i["test"] for i in against if "::" in i["test"]]
        proofs = [ROOT / i["test"] for i in against if i["test"].startswith("docs/proofs/")]
        steps = [t for path in proofs if path.exists() for t in read_proof(path).tests]
        pages = [path.relative_to(ROOT).as_posix() for path in proofs if path.exists()]
        named = tests[:1] or list(dict.fromkeys(steps))[:3] or pages[:1]
        if named:
            lines += [f"Re-check: `pytest {' '.join(named)}`", ""]
    if entry["repaired_by"]:
        repair = entries()[entry["repaired_by"]]
        lines += [
            f"**Repair.** {link(repair['id'], origin, heading(repair))}",
            "",
            ":::{container} lx-statement",
            markdown(repair["statement"]),
            ":::",
            "",
        ]
    return lines


class CertificateKinds(Generated):
    """One section a kind, drawn from its JSON Schema and a shipped example."""

    def markdown(self) -> str:
        origin = posixpath.dirname(self.env.docname) or "."
        lines: list[str] = []
        for path in sorted(SCHEMAS.glob("*.schema.json")):
            schema = json.loads(path.read_text(encoding="utf-8"))
            kind = path.name.removesuffix(".schema.json")
            href = posixpath.relpath(f"certificates/schemas/{path.name}", origin)
            lines += [
                f"## {kind}",
                "",
                f"{markdown(schema.get('description', ''))} "
                f'<a download href="{href}">JSON Schema</a>',
                "",
                *_rule(kind),
                "| field | needed | content |",
                "|---|---|---|",
            ]
            for name, field in schema["properties"].items():
                if name in ("format", "version", "kind", "note"):
                    continue
                needed = "yes" if name in schema.get("required", ()) else "no"
                lines.append(f"| `{name}` | {needed} | {_describe(field, schema)} |")
            lines += [""]
            example = next((n for n in shipped.names() if checked(n)["kind"] == kind), None)
            if example:
                href = posixpath.relpath(f"certificates/{example}.json", origin)
                lines += [f'A shipped one: <a download href="{href}">{example}.json</a>', ""]
        return "\n".join(lines)


class Vocabulary(Generated):
    """The words of the checker's language, from its own table."""

    def markdown(self) -> str:
        lines = ["| word | meaning |", "|---|---|"]
        for words in checker.VOCABULARY.values():
            for word in words:
                meaning = word.meaning.replace("|", "\\|")
                lines.append(f"| `{word.call}` | {meaning} |")
        return "\n".join(lines)


class CheckerModules(Generated):
    """What a referee reads, counted."""

    def markdown(self) -> str:
        lines, total = ["| module | lines | |", "|---|---|---|"], 0
        for path in checker_sources():
            text = path.read_text(encoding="utf-8")
            total += (count := text.count("\n"))
            told = ast.get_docstring(ast.parse(text)) if path.suffix == ".py" else ""
            first = (told or "What the claims of the papers say.").partition("\n")[0]
            name = path.relative_to(FOLDER).as_posix()
            lines.append(f"| `{name}` | {count} | {first} |")
        return "\n".join([*lines, f"| all | {total:,} | |"])


def _rule(kind: str) -> list[str]:
    """What the checker's own function says about a kind."""
    told = inspect.getdoc(checker.KINDS[kind]) if kind in checker.KINDS else None
    if not told:
        return []
    body = " ".join(told.split())
    return [f"**Checked.** {markdown(body)}", ""]


def _describe(field: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 0) -> str:
    """A JSON Schema in a few words."""
    if depth > 6:
        return "…"
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        target = schema.get("$defs", {}).get(name, {})
        if target.get("type") == "object" and "properties" in target:
            return _describe(target, schema, depth + 1)
        return name
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return " or ".join(f"`{json.dumps(v)}`" for v in field["enum"])
    for key in ("oneOf", "anyOf"):
        if key in field:
            return "; or ".join(_describe(f, schema, depth + 1) for f in field[key])
    if "properties" in field:
        inner = (
            f"`{name}`: {_describe(f, schema, depth + 1)}"
            for name, f in field["properties"].items()
        )
        return "{ " + ", ".join(inner) + " }"
    if field.get("type") == "array":
        items = field.get("items", field.get("prefixItems"))
        if isinstance(items, dict):
            return f"list of {_describe(items, schema, depth + 1)}"
        return "list"
    if isinstance(field.get("additionalProperties"), dict):
        return f"names with {_describe(field['additionalProperties'], schema, depth + 1)}"
    if "description" in field:
        return markdown(str(field["description"]))
    return str(field.get("type", "as the method needs"))


class ProofList(Generated):
    """Every proof page, by paper."""

    def markdown(self) -> str:
        lines: list[str] = []
        folder = DOCS / "proofs"
        for key in papers():
            pages = sorted((folder / key).glob("*.md"))
            if pages:
                lines += [f"## {papers()[key]['title']}", ""]
            for path in pages:
                proof = read_proof(path)
                word = {"for": "", "against": " (refutation)", "gap": " (gap)"}[proof.direction]
                lines.append(
                    f"- [{markdown(proof.title, escape=False)}]({key}/{path.name}){word}: "
                    f"{link(proof.claim, self.env.docname)}"
                )
            lines.append("")
        return "\n".join(lines)


class Grades(Generated):
    """How many claims each grade decides now."""

    def markdown(self) -> str:
        counts = Counter(e["grade"] for e in entries().values() if e["grade"])
        lines = ["| grade | claims whose verdict rests on it |", "|---|---|"]
        lines += [f"| {grade} | {counts[grade]} |" for grade in GRADES]
        return "\n".join(lines)


class FormalProofs(Generated):
    """What the headers of the Coq sources say that they prove."""

    def markdown(self) -> str:
        lines = ["| file | proves | by | controls |", "|---|---|---|---|"]
        for file, text in kernel.formal_sources().items():
            told = kernel.header(text)
            controls = " ".join(f"`{t}`" for p in told if p.claim is None for t in p.theorems)
            name = f"`{file}.v`"
            for proved in told:
                if proved.claim is None:
                    continue
                what = link(proved.claim, self.env.docname)
                what = f"against {what}" if proved.direction == "against" else what
                scope = f" ({markdown(proved.scope)})" if proved.scope else ""
                theorems = " ".join(f"`{t}`" for t in proved.theorems)
                lines.append(f"| {name} | {what}{scope} | {theorems} | {controls} |")
                name = controls = ""
        return "\n".join(lines)


# -- proofs, docstrings, files -----------------------------------------------------------------


def read_source(app: Sphinx, document: str, source: list[str]) -> None:
    """Proof pages get their formulas, their labels and a header that names the claim."""
    if not document.startswith("proofs/") or document == "proofs/index":
        return
    depend(app.env, document)
    front = source[0].split("---")[1] if source[0].startswith("---") else ""
    fields = dict(line.split(":", 1) for line in front.strip().splitlines())
    claim, direction = fields["claim"].strip(), fields["direction"].strip()
    word = {"for": "A proof of", "against": "A refutation of", "gap": "A gap in the proof of"}
    header = f"{word[direction]} {link(claim, document)}"
    page = proof_page(source[0], header, lambda identifier: link(identifier, document))
    source[0] = "\n".join((*ORPHAN, page))


def read_docstring(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings write formulas like everything else."""
    docstring_lines(lines)


def copy_certificates(app: Sphinx, error: Exception | None) -> None:
    """Put the certificates, the schemas and the checker beside the pages."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir) / "certificates"
    shutil.copytree(shipped.FOLDER, out, dirs_exist_ok=True)
    shutil.copytree(SCHEMAS, out / "schemas", dirs_exist_ok=True)
    write_checker(out / "checker.pyz")
    shutil.copy(shipped_ledger.LEDGER, out / "ledger.json")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register everything."""
    app.connect("builder-inited", write_claim_pages)
    app.connect("source-read", read_source)
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("build-finished", copy_certificates)
    app.add_directive("ledger-table", LedgerTable)
    app.add_directive("ledger-summary", LedgerSummary)
    app.add_directive("ledger-graph", LedgerGraph)
    app.add_directive("paper-claims", PaperClaims)
    app.add_directive("errata", Errata)
    app.add_directive("certificate-kinds", CertificateKinds)
    app.add_directive("vocabulary", Vocabulary)
    app.add_directive("checker-modules", CheckerModules)
    app.add_directive("grades", Grades)
    app.add_directive("formal-proofs", FormalProofs)
    app.add_directive("proof-list", ProofList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
