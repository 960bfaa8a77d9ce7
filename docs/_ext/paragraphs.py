"""``{paragraphs} wong``: a paper, paragraph by paragraph, with the claims that cover each.

The lists are ``papers/NAME-paragraphs.toml``: for each section rows of what a paragraph says, in
our words, and the ids of claims, or ``-- reason`` where there is none.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

from sphinx.application import Sphinx

from lemmax.sphinx.bases import Generated
from lemmax.sphinx.markup import markdown

PAPERS = Path(__file__).parent.parent / "papers"
REASONS = ("background", "motivation", "outlook", "undecided")


class Paragraph(NamedTuple):
    """What a paragraph says, the claims that cover it, or the reason why none does."""

    section: str
    says: str
    claims: tuple[str, ...]
    reason: str = ""


def paragraphs(paper: str) -> list[Paragraph]:
    """The paragraphs of a paper, in its order."""
    text = (PAPERS / f"{paper}-paragraphs.toml").read_text(encoding="utf-8")
    listed = []
    for section, table in tomllib.loads(text).items():
        for says, covers in table["rows"]:
            if covers.startswith("-- "):
                listed.append(Paragraph(section, says, (), covers.removeprefix("-- ")))
            else:
                listed.append(Paragraph(section, says, tuple(covers.split())))
    return listed


class Paragraphs(Generated):
    """The paragraphs of a paper as tables, one per section, with verdicts."""

    required_arguments = 1
    optional_arguments = 0

    def markdown(self) -> str:
        paper = self.arguments[0]
        self.env.note_dependency(str(PAPERS / f"{paper}-paragraphs.toml"))
        every = paragraphs(paper)
        undecided = sum(p.reason.startswith("undecided") for p in every)
        lines = [
            f"{len(every)} paragraphs, {sum(bool(p.claims) for p in every)} of them covered by "
            f"claims; {undecided} assertions are stated by none, and say why.",
            "",
        ]
        section = ""
        for paragraph in every:
            if paragraph.section != section:
                section = paragraph.section
                lines += ["", f"## {section}", "", "| what it says | claims |", "|---|---|"]
            links = (
                self.site.link(claim, self.env.docname, mark=True) for claim in paragraph.claims
            )
            covers = "<br>".join(links) or f"*{markdown(paragraph.reason)}*"
            says = markdown(paragraph.says).replace("|", "\\|")
            lines.append(f"| {says} | {covers} |")
        return "\n".join(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("paragraphs", Paragraphs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
