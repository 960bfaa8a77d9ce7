"""``lemmax init``: a project to begin with."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from lemmax.cli.terminal import AsJson

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
        typer.Option(help="What the ids of the claims begin with; the folder's name if free."),
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
