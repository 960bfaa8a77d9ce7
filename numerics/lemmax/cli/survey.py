"""The command about many tables of facts: survey."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from lemmax.cli.terminal import AsJson, console, progress_bar


def survey(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A database a line, or recorded results.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="The results; NAME.results.jsonl here if free."),
    ] = None,
    seconds: Annotated[float, typer.Option(help="The time to search for each database.")] = 60.0,
    field: Annotated[str, typer.Option(help="Q, R or C: the rank depends on it.")] = "R",
    workers: Annotated[int, typer.Option(help="Processes to work in; 0: this one.")] = 0,
    cluster: Annotated[str | None, typer.Option(help="The address of a Dask scheduler.")] = None,
    certify: Annotated[
        int, typer.Option(help="Check so many certificates a regime with the checker.")
    ] = 20,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the bounds (.svg, .pdf, .png) in this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The ranks of many databases: a table by regime, and a figure of the bounds.

    A line of FILE is `{"regime": "r", "index": 0, "triples": [["s", "p", "o"], ...]}`; regime and
    index may be left out. An interrupted survey continues from its results. Given results instead,
    it computes nothing: it shows their table and draws their figure. Status 1 if the independent
    checker rejects a certificate.

    Examples: `lemmax survey databases.jsonl --seconds 10 --workers 2`,
    `lemmax survey databases.results.jsonl --figure bounds.pdf`
    """
    from lemmax.numerics import survey as surveys
    from lemmax.numerics.figures import figure_path, rank_bounds, write_figure

    if figure is not None:
        figure_path(figure)
    if surveys.is_recorded(file):
        output = file
        _, rows = surveys.read_survey(file)
    else:
        output = Path(f"{file.stem}.results.jsonl") if output is None else output
        with progress_bar("databases") as tell:
            rows = surveys.survey(
                file,
                output,
                field=field,
                seconds=seconds,
                certify=certify,
                workers=workers,
                cluster=cluster,
                progress=tell,
            )
    if figure is not None:
        write_figure(figure, lambda empty: rank_bounds(rows, empty))
    found = surveys.summaries(rows)
    if as_json:
        answer = {
            "results": str(output),
            "figure": None if figure is None else str(figure),
            "regimes": [summary.to_json() for summary in found],
        }
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        out = console()
        table = Table(*found[0].cells(), box=None, pad_edge=False)
        for summary in found:
            table.add_row(*(Text(cell) for cell in summary.cells().values()))
        out.print(table)
        out.print(f"{len(rows)} databases, recorded in {output}.", markup=False)
        if figure is not None:
            out.print(f"Drawn in {figure}.", markup=False)
    if any(summary.rejected for summary in found):
        raise typer.Exit(1)
