"""The words of a page about a claim: verdicts as badges, headings, addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Entry = Mapping[str, Any]

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


def badge(verdict: str) -> str:
    """A verdict as a coloured label with a sign."""
    sign = f'<span aria-hidden="true">{SIGNS.get(verdict, "")}</span>'
    return f'<span class="lx-badge lx-{verdict}">{sign} {verdict}</span>'


def heading(entry: Entry) -> str:
    """The number of the statement, where it has one, and its title."""
    title = entry["title"][:1].upper() + entry["title"][1:]
    return title if entry["number"] in ("text", "new") else f"{entry['number']}: {title}"


def short_name(key: str, paper: Mapping[str, Any]) -> str:
    """The first author and the year, where they are known.

    >>> short_name("wong", {"authors": "Liang Ze Wong", "year": 2025})
    'Wong 2025'
    """
    first = paper["authors"].split(",")[0].split(" and ")[0].split()
    return f"{first[-1]} {paper['year']}" if key != "lemmax" and first else key


def docname(identifier: str) -> str:
    """The page of a claim."""
    return f"claims/{identifier}"
