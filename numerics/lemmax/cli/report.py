"""``lemmax report``: the ledger as a folder of pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from lemmax.cli.ledger import LedgerFile, project_of
from lemmax.cli.terminal import AsJson, working
from lemmax.theory.errors import LemmaxError


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
