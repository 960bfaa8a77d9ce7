"""The ledger as a table with filters, as numbers by paper, and as a graph."""

from __future__ import annotations

import html
import itertools
import json
from collections import Counter
from collections.abc import Iterable

from lemmax.paper.errata import errata_of
from lemmax.sphinx.bases import Generated, RawHtml
from lemmax.sphinx.markup import markdown
from lemmax.sphinx.words import SIGNS, Entry, badge, docname, heading, short_name
from lemmax.theory.ledger.claims import KINDS
from lemmax.theory.ledger.verdicts import GRADES

OPEN_SHOWN = 4  # on the first page, which is one screen


def _options(name: str, label: str, values: Iterable[tuple[str, str]]) -> str:
    choices = "".join(f'<option value="{v}">{html.escape(t)}</option>' for v, t in values)
    return (
        f'<label>{label}<select name="{name}"><option value="">all</option>{choices}</select>'
        "</label>"
    )


class LedgerTable(RawHtml):
    """Every claim that can have a verdict, with filters that also live in the address."""

    def html(self) -> str:
        site = self.site
        rows = [e for e in site.entries.values() if e["kind"] != "D"]
        verdicts = Counter(e["verdict"] for e in rows)
        grades = [g for g in GRADES if any(e["grade"] == g for e in rows)]
        body = "".join(self.row(e) for e in rows)
        form = (
            _options("paper", "Paper", ((k, k) for k in site.papers))
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
        site = self.site
        rows = [e for e in site.entries.values() if e["kind"] != "D"]
        verdicts = [v for v, _ in Counter(e["verdict"] for e in rows).most_common()]
        head = "".join(f'<th scope="col">{badge(v)}</th>' for v in verdicts)
        body = ""
        for key, paper in site.papers.items():
            counts = Counter(e["verdict"] for e in rows if e["paper"] == key)
            cells = "".join(
                f'<td role="cell" class="lx-{v}" data-label="{v}">'
                f'<a href="{self.href(site.page("ledger"))}#paper={key}&amp;verdict={v}" '
                f'aria-label="{counts[v]} claims of {key}: {v}">{counts[v]}</a></td>'
                if counts[v]
                else '<td role="cell" class="lx-zero">·</td>'
                for v in verdicts
            )
            label = short_name(key, paper)
            body += (
                f'<tr role="row"><th role="rowheader" scope="row">'
                f'<a href="{self.href(site.page(f"papers/{key}"))}">{label}</a></th>'
                f'{cells}<td role="cell" data-label="all">{sum(counts.values())}</td></tr>'
            )
        return (
            '<div class="lx-scroll"><table role="table" class="lx-summary"><thead><tr><td></td>'
            f'{head}<th scope="col">all</th></tr></thead><tbody>{body}</tbody></table></div>'
        )


class RefutedAndOpen(RawHtml):
    """The gravest errata of every paper and some open claims, each a link; links to the others."""

    def html(self) -> str:
        site = self.site
        page, wrong = self.href(site.page("errata")), ""
        for key in site.papers:
            errata = [e for e in errata_of(key, site.claims, site.ledger) if not e.hedged]
            first = [site.entries[e.claim.id] for e in errata[:2]]
            items = "".join(
                f'<li><a href="{page}#{e["id"]}">{html.escape(heading(e))}</a> '
                f"{badge(e['verdict'])}</li>"
                for e in first
            )
            if len(errata) > 2:
                items += f'<li><a href="{page}#{key}">and {len(errata) - 2} more</a></li>'
            wrong += (
                f"<li>{short_name(key, site.papers[key])}<ul>{items}</ul></li>" if items else ""
            )
        undecided = {i: e for i, e in site.entries.items() if e["verdict"] == "open"}
        waiting = "".join(
            f'<li><a href="{self.href(docname(i) + ".html")}">{html.escape(heading(e))}</a> '
            f"<small>{short_name(e['paper'], site.papers[e['paper']])}</small></li>"
            for i, e in itertools.islice(undecided.items(), OPEN_SHOWN)
        )
        if len(undecided) > OPEN_SHOWN:
            rest = f"{self.href(site.page('ledger'))}#verdict=open"
            waiting += f'<li><a href="{rest}">and {len(undecided) - OPEN_SHOWN} more</a></li>'
        return (
            '<div class="lx-headlines">'
            f"<section><p><b>Does not stand as printed</b></p><ul>{wrong}</ul></section>"
            f"<section><p><b>Open</b></p><ul>{waiting}</ul></section></div>"
        )


class LedgerGraph(RawHtml):
    """The graph: drawn by graph.js from the data in the page, a list without JavaScript."""

    def html(self) -> str:
        site = self.site
        names = {key: short_name(key, paper) for key, paper in site.papers.items()}
        data = {
            "signs": SIGNS,
            "base": self.href("claims"),
            "papers": names,
            "claims": [
                {
                    "id": e["id"],
                    "paper": e["paper"],
                    "title": heading(e),
                    "verdict": e["verdict"],
                    "uses": [*e["uses"], *([e["repaired_by"]] if e["repaired_by"] else [])],
                    "repair": e["repaired_by"],
                }
                for e in site.entries.values()
            ],
        }
        text = json.dumps(data, ensure_ascii=False).replace("</", "<\\/")
        used = sorted({e["verdict"] for e in site.entries.values()}, key=list(SIGNS).index)
        legend = " ".join(badge(v) for v in used)
        options = "".join(
            f'<option value="{i}">{html.escape(heading(e))}</option>'
            for i, e in site.entries.items()
        )
        example = html.escape(next(iter(site.entries), ""))
        papers = "".join(
            f'<option value="{html.escape(key)}">{html.escape(name)}</option>'
            for key, name in names.items()
        )
        return (
            f'<p class="lx-legend">{legend}</p>'
            '<form class="lx-graph-form" aria-label="What the graph shows">'
            f'<label>Paper<select name="paper">{papers}<option value="">all</option></select>'
            "</label>"
            f'<label>Focus<input name="focus" list="lx-claims" placeholder="{example}" '
            'autocomplete="off" spellcheck="false"></label>'
            f'<datalist id="lx-claims">{options}</datalist>'
            '<label class="lx-check"><input type="checkbox" name="definitions"> definitions</label>'
            '<button type="submit">Show</button><button type="reset">All claims</button>'
            '<span class="lx-zoom" role="group" aria-label="Zoom">'
            '<button type="button" name="farther" aria-label="Smaller">−</button>'
            '<button type="button" name="nearer" aria-label="Larger">+</button>'
            '<button type="button" name="fit">Fit</button>'
            '<button type="button" name="screen">Full screen</button></span></form>'
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
        site = self.site
        key, origin = self.arguments[0], self.env.docname
        lines: list[str] = []
        for e in site.entries.values():
            if e["paper"] != key or e["kind"] == "D":
                continue
            lines += [
                f"## {markdown(heading(e))}",
                "",
                f"{site.link(e['id'], origin)} {e['grade'] or ''} · {KINDS[e['kind']]} · "
                f"{markdown(e['place'])}",
                "",
                ":::{container} lx-statement",
                markdown(e["statement"]),
                ":::",
                "",
            ]
            if e["repaired_by"]:
                repair = site.entries[e["repaired_by"]]
                lines += [f"Repair: {site.link(repair['id'], origin, heading(repair))}", ""]
        defined = [e for e in site.entries.values() if e["paper"] == key and e["kind"] == "D"]
        if defined:
            lines += ["## Definitions and assumptions", ""]
            lines += [f"- {site.link(e['id'], origin, heading(e), mark=False)}" for e in defined]
        return "\n".join(lines)
