"""``lemmax errata``: what does not stand in a paper, as a letter to its authors."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lemmax.cli.ledger import LedgerFile, project_of
from lemmax.cli.terminal import AsJson


class LetterFormat(StrEnum):
    """What ``lemmax errata`` writes."""

    latex = "latex"
    html = "html"


def errata(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="A paper, such as dana.")],
    format_: Annotated[
        LetterFormat, typer.Option("--format", "-f", help="What to write.")
    ] = LetterFormat.latex,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A file; stdout without it.")
    ] = None,
    mathjax: Annotated[
        str | None, typer.Option(help="The address of MathJax, to set the formulas of the page.")
    ] = None,
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """The errata of a paper as a letter to its authors, the gravest first.

    Only statements that were read in the paper itself are addressed to its authors. Their words
    stand in the claims file: quote, counterexample, hedge, holds_as, repair.

    Examples: `lemmax errata dana -o letter.tex`, `lemmax errata wong --format html -o letter.html`
    """
    from lemmax.constructions.exports import write_bytes
    from lemmax.paper.errata import read_letter
    from lemmax.paper.letter_files import letter_html, letter_latex

    places = project_of(ledger)
    letter = read_letter(paper, places.claims, places.ledger)
    if as_json:
        entries = [
            {
                "claim": e.claim.id,
                "quote": e.claim.quote,
                "hedge": e.claim.hedge,
                "statement": e.claim.statement.strip(),
                "reading": e.claim.reading,
                "counterexample": (e.claim.counterexample or "").strip(),
                "holds": [c.id for c in e.holds],
                "repair": e.claim.repair,
                "grade": e.grade,
                "commands": list(e.commands),
            }
            for e in letter.errata
        ]
        text = json.dumps(entries, ensure_ascii=False, indent=2) + "\n"
    elif format_ is LetterFormat.latex:
        text = letter_latex(letter)
    else:
        text = letter_html(letter, mathjax)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_bytes(output, text.encode())
