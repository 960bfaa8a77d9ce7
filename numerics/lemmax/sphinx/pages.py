"""When pages are written and files are copied: the events of a build."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from lemmax.sphinx.bases import depend
from lemmax.sphinx.checking import has_pyodide
from lemmax.sphinx.claim_pages import claim_page, paper_index
from lemmax.sphinx.markup import docstring_lines, proof_page
from lemmax.sphinx.sites import SCHEMAS, Site, site_of
from lemmax.sphinx.words import ORPHAN, heading, short_name
from lemmax.theory.certificates.archive import write_checker

STATIC = Path(__file__).parent / "static"
_MARKDOWN = ("dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline")
_ROLES = {  # what Sphinx, its theme and its extensions write, and what axe-core finds no fault with
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    'role="doc-biblioentry"': 'role="listitem"',
    '<summary aria-label="Toggle hidden content">': "<summary>",
}
_PROOFS = {"for": "A proof of", "against": "A refutation of", "gap": "A gap in the proof of"}


def connect(app: Sphinx) -> None:
    """Listen to the build, and bring the styles and scripts of the pages."""
    app.connect("config-inited", _settings, priority=400)
    app.connect("builder-inited", write_claim_pages)
    app.connect("source-read", read_source)
    app.connect("build-finished", copy_certificates)
    if "sphinx.ext.autodoc" in app.config.extensions:
        app.setup_extension("sphinx.ext.autodoc")
        app.connect("autodoc-process-docstring", read_docstring)
    raw = app.config._raw_config
    if "html_theme" not in raw and find_spec("furo"):
        raw["html_theme"] = "furo"  # for a phone, for the dark
    app.add_css_file("lemmax.css", priority=800)  # after the theme
    if raw.get("html_theme") == "furo":
        app.add_css_file("dark.css", priority=801)
    app.add_js_file("ledger.js", priority=800, defer="defer")
    app.add_js_file("graph.js", priority=800, defer="defer")
    app.add_js_file("search.js", priority=800, defer="defer")
    app.add_js_file("scrolling.js", priority=800, defer="defer")
    app.connect("html-page-context", _roles, priority=900)  # after the theme


def _settings(app: Sphinx, config: Config) -> None:
    """The pages of claims are written in Markdown with formulas; styles lie in this package."""
    config.html_static_path = [*config.html_static_path, str(STATIC)]
    enabled = set(config.myst_enable_extensions)
    config.myst_enable_extensions = enabled | set(_MARKDOWN)
    if has_pyodide(app):
        app.add_js_file("check.js", priority=800, defer="defer")


def _roles(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """What a screen reader is told: levels of headings, lists, names as they are shown."""
    for key in ("furo_navigation_tree", "body"):
        if isinstance(text := context.get(key), str):
            for said, better in _ROLES.items():
                text = text.replace(said, better)
            context[key] = text


def write_claim_pages(app: Sphinx) -> None:
    """Write the pages as Markdown before Sphinx looks for documents; unchanged ones are kept."""
    site = site_of(app.config, app.srcdir)
    folder = site.docs / "claims"
    copies = {site.docs / page: path for page, path in site.foreign_proofs().items()}
    written = {page: _proof(site, page, path) for page, path in copies.items()}
    _write(written)  # before the claims, which link to them
    wanted = {folder / f"{i}.md": claim_page(site, e) for i, e in site.entries.items()}
    for key, paper in site.papers.items():
        wanted[folder / key / "index.md"] = paper_index(site, key, paper)
    if not (site.docs / "ledger.md").exists():
        wanted[folder / "index.md"] = ledger_page(site)
    if folder.exists():
        for path in set(folder.rglob("*.md")) - set(wanted) - set(written):
            path.unlink()
    _write(wanted)


def _write(pages: Mapping[Path, str]) -> None:
    for path, text in pages.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def ledger_page(site: Site) -> str:
    """Table, graph and errata on one page, for a project that has no pages for them."""
    lines = [*ORPHAN, "# The ledger", "", "```{ledger-table}", "```", ""]
    lines += ["## What rests on what", "", "```{ledger-graph}", "```", ""]
    for key in site.papers:
        lines += [f"## Errata: {key}", "", f"```{{errata}} {key}", "```", ""]
    return "\n".join(lines)


def _proof(site: Site, page: Path, path: Path) -> str:
    document = page.relative_to(site.docs).with_suffix("").as_posix()
    return _readable(site, document, path.read_text(encoding="utf-8"))


def _readable(site: Site, document: str, text: str) -> str:
    """A proof page with formulas, labels, and a header that names the claim."""
    front = text.split("---")[1] if text.startswith("---") else ""
    fields = dict(line.split(":", 1) for line in front.strip().splitlines())
    claim, direction = fields["claim"].strip(), fields["direction"].strip()
    header = f"{_PROOFS[direction]} {site.link(claim, document)}"
    page = proof_page(text, header, lambda identifier: site.reference(identifier, document))
    return "\n".join((*ORPHAN, page))


def read_source(app: Sphinx, document: str, source: list[str]) -> None:
    """Proof pages among the pages are written for pytest, and shown for readers."""
    if not document.startswith("proofs/") or document == "proofs/index":
        return
    depend(app.env, document)
    source[0] = _readable(site_of(app.config, app.srcdir), document, source[0])


def read_docstring(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings write formulas like everything else."""
    docstring_lines(lines)


def copy_certificates(app: Sphinx, error: Exception | None) -> None:
    """Put the certificates, the schemas and the checker beside the pages."""
    if error is not None or app.builder.format != "html":
        return
    site = site_of(app.config, app.srcdir)
    out = Path(app.outdir) / "certificates"
    if site.folder.is_dir():
        shutil.copytree(site.folder, out, dirs_exist_ok=True)
    shutil.copytree(SCHEMAS, out / "schemas", dirs_exist_ok=True)
    write_checker(out / "checker.pyz")
    shutil.copy(site.ledger, out / "ledger.json")
    (Path(app.outdir) / "_static" / "claims.js").write_text(claims_script(site), encoding="utf-8")


def claims_script(site: Site) -> str:
    """What search.js knows of every claim, as a script: a page opened as a file loads no data."""
    claims = [
        {
            "id": identifier,
            "number": "" if entry["number"] in ("text", "new") else entry["number"],
            "title": heading(entry),
            "paper": short_name(entry["paper"], site.papers[entry["paper"]]),
            "place": entry["place"],
            "verdict": entry["verdict"],
            "text": _plain(f"{entry['statement']} {entry['reading'] or ''} {entry['place']}"),
        }
        for identifier, entry in site.entries.items()
    ]
    return f"window.lemmaxClaims = {json.dumps(claims, ensure_ascii=False)};\n"


def _plain(text: str) -> str:
    r"""The words of a text, formulas included, without the signs of TeX.

    >>> _plain(r"\(\operatorname{rank}M\le2\)")
    'rank M le 2'
    """
    named = re.sub(r"\\(?:operatorname|math[a-z]+|text[a-z]*)|[()\[\]{}$&_^~]", " ", text)
    return " ".join(re.sub(r"\\([A-Za-z]*)", r" \1 ", named).split())
