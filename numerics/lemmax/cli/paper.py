"""The commands about a paper of one's own: init, paper, errata, report."""

from __future__ import annotations

import json
import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lemmax.cli.ledger import LedgerFile, project_of
from lemmax.cli.terminal import AsJson, working
from lemmax.theory.errors import LemmaxError

NEXT = (
    "pytest --ledger ledger.json",
    "lemmax paper main.tex",
    "pdflatex main && pdflatex main",
)


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where; this folder without it.")
    ] = Path(),
    key: Annotated[
        str | None,
        typer.Option(help="What the ids of the claims begin with; else the folder's name."),
    ] = None,
    title: Annotated[str, typer.Option(help="The title of the paper.")] = "Sums and ranks",
    author: Annotated[str, typer.Option(help="Its author.")] = "A. Author",
    as_json: AsJson = False,
) -> None:
    """Begin a project: a paper, its claims, evidence of every grade, and a workflow for CI.

    What is written passes: `pytest --ledger ledger.json` decides the claims, and
    `lemmax paper main.tex` puts the verdicts into the PDF. Nothing is overwritten.

    Examples: `lemmax init`, `lemmax init my-paper --title "Parity and heads"`
    """
    from lemmax.starting.projects import key_of, new_project

    written = new_project(folder, key or key_of(folder), title, author)
    if as_json:
        typer.echo(json.dumps([str(path) for path in written], ensure_ascii=False, indent=2))
        return
    for path in written:
        typer.echo(path.relative_to(folder).as_posix())
    typer.echo()
    if folder.resolve() != Path.cwd():
        typer.echo(f"cd {shlex.quote(str(folder))}")
    for command in NEXT:
        typer.echo(command)


def paper(
    main: Annotated[Path, typer.Argument(metavar="MAIN.TEX", help="The main file of a paper.")],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; status 1 if something is out of step.")
    ] = False,
    sty: Annotated[
        bool, typer.Option("--sty", help="Put lemmax.sty and its data beside the paper.")
    ] = False,
    claims: Annotated[
        Path | None, typer.Option(help="The claims file; else claims.toml beside the paper.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="What the ids of a new claims file begin with.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Bring the claims file in step with a paper in LaTeX, and the verdicts into its PDF.

    Every theorem with a label becomes a claim; fields that you added to claims.toml are kept. Where
    lemmax.sty lies beside the paper, lemmax-data.tex is written with the verdicts of the ledger.
    With --check nothing is written: status 1 on a theorem without a claim, a claim without a
    theorem, a statement that changed, or a file that is out of date.

    Examples: `lemmax paper main.tex`, `lemmax paper main.tex --sty`,
    `lemmax paper main.tex --check`
    """
    try:
        from lemmax.paper.papers import read_paper
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pylatexenc", "tomlkit"):
            raise
        raise LemmaxError("Reading a paper needs the extra lemmax[paper].") from None

    read = read_paper(main, claims, key, sty)
    drifts = read.drifts()
    written = [] if check else read.write()
    if as_json:
        answer = {
            "paper": read.update.key,
            "claims": str(read.settings.claims),
            "statements": len(read.update.ids),
            "drifts": [{"what": d.what, "claim": d.claim, "says": d.sentence} for d in drifts],
            "notes": list(read.notes),
            "written": [str(path) for path in written],
        }
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        for note in read.notes:
            typer.echo(note, err=True)
        # What writing settles is only said by --check; the rest needs the author.
        for drift in drifts:
            if check or drift.what in ("orphan", "unlabelled"):
                typer.echo(drift, err=not check)
        count = len(read.update.ids)
        if check:
            typer.echo(f"{count} statements, {len(drifts)} out of step.")
        else:
            told = ", ".join(path.name for path in written) or "nothing: all is in step"
            typer.echo(f"{count} statements. Written: {told}.")
    if check and drifts:
        raise typer.Exit(1)


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


def report(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The folder; an earlier report is replaced.")
    ] = Path("report"),
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Write the ledger as a folder of pages: table, claims, graph, errata, certificates.

    The pages need no network and no server: open report/index.html, or send the folder.

    Examples: `lemmax report`, `lemmax report -o public`
    """
    try:
        from lemmax.sphinx.reports import write_report
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("sphinx", "docutils"):
            raise
        raise LemmaxError("Writing a report needs the extra lemmax[site].") from None

    with working("writing the pages"):
        written = write_report(project_of(ledger), output)
    for note in written.notes:
        typer.echo(note, err=True)
    if as_json:
        typer.echo(json.dumps({"folder": str(output), "pages": written.pages}, ensure_ascii=False))
    else:
        typer.echo(f"{written.pages} pages: {output / 'index.html'}")
