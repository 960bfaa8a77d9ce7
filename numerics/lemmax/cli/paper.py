"""``lemmax paper``: statements from LaTeX to the claims file, verdicts back into the PDF."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from lemmax.cli.terminal import AsJson
from lemmax.theory.errors import LemmaxError


def paper(
    main: Annotated[Path, typer.Argument(metavar="MAIN.TEX", help="The main file of a paper.")],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; status 1 if something is out of step.")
    ] = False,
    sty: Annotated[
        bool, typer.Option("--sty", help="Put lemmax.sty and its data beside the paper.")
    ] = False,
    claims: Annotated[
        Path | None, typer.Option(help="The claims file; claims.toml beside the paper if free.")
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
