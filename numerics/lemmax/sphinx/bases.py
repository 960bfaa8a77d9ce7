"""What directives have in common: the site that they draw, and when their pages are out of date."""

from __future__ import annotations

import posixpath
from pathlib import Path

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from lemmax.sphinx.sites import Site, site_of


def depend(env: BuildEnvironment, document: str) -> None:
    """A page that shows verdicts is out of date when the ledger, a claims file or this room is."""
    site = site_of(env.config, env.srcdir)
    code = sorted(Path(__file__).parent.glob("*.py"))
    for path in (site.ledger, *code, *site.claims_files()):
        env.note_dependency(str(path), docname=document)


class Generated(SphinxDirective):
    """A directive whose content is Markdown or HTML made from the ledger."""

    has_content = False
    optional_arguments = 1

    def markdown(self) -> str:
        """The content as Markdown."""
        raise NotImplementedError

    @property
    def site(self) -> Site:
        """The ledger that this build shows."""
        return site_of(self.config, self.env.srcdir)

    def run(self) -> list[nodes.Node]:
        depend(self.env, self.env.docname)
        return list(self.parse_text_to_nodes(self.markdown(), allow_section_headings=True))


class RawHtml(SphinxDirective):
    """A directive whose content is HTML made from the ledger."""

    optional_arguments = 1

    def html(self) -> str:
        """The content as HTML."""
        raise NotImplementedError

    @property
    def site(self) -> Site:
        """The ledger that this build shows."""
        return site_of(self.config, self.env.srcdir)

    def run(self) -> list[nodes.Node]:
        depend(self.env, self.env.docname)
        return [nodes.raw("", self.html(), format="html")]

    def href(self, target: str) -> str:
        """A relative address from this page."""
        return posixpath.relpath(target, posixpath.dirname(self.env.docname) or ".")
