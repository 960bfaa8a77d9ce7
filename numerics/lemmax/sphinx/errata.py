"""What an author would want to know: refuted and repaired statements of one paper."""

from __future__ import annotations

import html
import posixpath

from lemmax.sphinx.bases import Generated
from lemmax.sphinx.claim_pages import folded_source, formal_statements
from lemmax.sphinx.markup import markdown
from lemmax.sphinx.sites import Site
from lemmax.sphinx.words import SOURCES, Entry, heading
from lemmax.theory.ledger.proofs import read_proof


class Errata(Generated):
    """Refuted and repaired statements of one paper, in a form that could be sent to an author."""

    required_arguments = 1
    optional_arguments = 0

    def markdown(self) -> str:
        site = self.site
        key, origin = self.arguments[0], self.env.docname
        lines: list[str] = []
        for e in site.entries.values():
            if e["paper"] == key and e["verdict"] in ("refuted", "repaired"):
                lines += _erratum(site, e, origin)
        if not lines:
            return "Nothing of this paper is refuted at present."
        return "\n".join(lines)


def _erratum(site: Site, entry: Entry, origin: str) -> list[str]:
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
        f"{site.link(entry['id'], origin)} · {where}",
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
        proof = site.proof_page(item["test"])
        if proof is not None:
            target = posixpath.relpath(proof, posixpath.dirname(origin) or ".")
            lines += [f"**Why.** [A written argument]({target}), step by step.", ""]
        elif not item.get("certificates"):
            lines += [
                f"**Counterexample** ({item['grade']}). {markdown(site.words_of(item['test']))}",
                "",
            ]
            if item["grade"] == "kernel":
                lines += formal_statements(entry["id"])
            lines += folded_source(site, item["test"])
        for name in item.get("certificates", ()):
            short = name.removesuffix(".json")
            if short not in site.certificates:
                continue
            href = posixpath.relpath(f"certificates/{name}", posixpath.dirname(origin) or ".")
            steps = site.checked(short)["steps"]
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
        proofs = [site.root / i["test"] for i in against if site.proof_page(i["test"])]
        steps = [t for path in proofs if path.exists() for t in read_proof(path).tests]
        pages = [path.relative_to(site.root).as_posix() for path in proofs if path.exists()]
        named = tests[:1] or list(dict.fromkeys(steps))[:3] or pages[:1]
        if named:
            lines += [f"Re-check: `pytest {' '.join(named)}`", ""]
    if entry["repaired_by"]:
        repair = site.entries[entry["repaired_by"]]
        lines += [
            f"**Repair.** {site.link(repair['id'], origin, heading(repair))}",
            "",
            ":::{container} lx-statement",
            markdown(repair["statement"]),
            ":::",
            "",
        ]
    return lines
