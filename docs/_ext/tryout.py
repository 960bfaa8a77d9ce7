"""``{try-it}``: a table of facts is compiled in the page, by lemmax itself.

The site carries lemmax's sources as one archive. They need python-flint, of which docs/fetched.py
brings the build for Pyodide; of numpy there is none, and the compiler of small tables needs none.
"""

from __future__ import annotations

import html
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

DOCS = Path(__file__).parent.parent
SUFFIXES = (".py", ".pyi", ".txt")


def sources() -> dict[str, Path]:
    """The files of lemmax that the page needs, and of the one small package that they lean on."""
    found = {}
    for room in ("theory", "constructions"):
        base = DOCS.parent / room
        found |= {p.relative_to(base).as_posix(): p for p in (base / "lemmax").rglob("*")}
    spec = find_spec("lazy_loader")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    found |= {f"lazy_loader/{p.relative_to(package).as_posix()}": p for p in package.rglob("*")}
    return {name: p for name, p in sorted(found.items()) if p.suffix in SUFFIXES}


def write_sources(app: Sphinx, error: Exception | None) -> None:
    """Put the archive beside the pages."""
    if error is not None or app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / "lemmax.zip"
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for name, path in sources().items():
            archive.writestr(name, path.read_bytes())


class TryIt(SphinxDirective):
    """The form; try.js does the rest."""

    def run(self) -> list[nodes.Node]:
        table = (DOCS / "examples" / "figure1.csv").read_text(encoding="utf-8")
        text = (
            '<p class="lx-no-checker">This needs JavaScript, and a site that was built with '
            "Pyodide and python-flint; <code>lemmax compile</code> does the same.</p>"
            '<form class="lx-checker lx-try" hidden><label>Facts, one per line: subject, '
            'predicate, object<textarea name="text" rows="10" spellcheck="false" '
            f'wrap="off">{html.escape(table)}</textarea></label>'
            "<label>Least probability of every fact, such as 99/100; empty: the largest logit wins"
            '<input name="tau" size="12" autocomplete="off"></label>'
            '<p><button type="submit">Compile</button></p>'
            '<div class="lx-checked" role="status"></div></form>'
            '<script defer src="_static/try.js"></script>'
        )
        return [nodes.raw("", text, format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("try-it", TryIt)
    app.connect("build-finished", write_sources)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
