"""The example paper on the site: its PDF where LaTeX set it, and its sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PDF = Path(__file__).parent.parent / "_static" / "parity.pdf"


class ExamplePaper(SphinxDirective):
    """``{example-paper}``: a link to the PDF, or a sentence that says why there is none."""

    def run(self) -> list[nodes.Node]:
        self.env.note_reread()  # whether there is a PDF is no matter of this page
        if PDF.is_file():
            text = '<p><a href="_static/parity.pdf">Heads are not dimensions</a> (PDF, 2 pages)</p>'
        else:
            text = "<p>The PDF was not built: there was no pdflatex.</p>"
        return [nodes.raw("", text, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("example-paper", ExamplePaper)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
