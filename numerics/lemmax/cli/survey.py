"""The command about many tables of facts: survey."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from lemmax.cli.terminal import AsJson, console, continued, progress_bar, say
from lemmax.theory.errors import LemmaxError


def survey(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="One database per line, or recorded results."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="The results; else NAME.results.jsonl here."),
    ] = None,
    seconds: Annotated[float, typer.Option(help="The time to search for each database.")] = 60.0,
    field: Annotated[str, typer.Option(help="Q, R or C: the rank depends on it.")] = "R",
    workers: Annotated[int, typer.Option(help="Processes to work in; 0: this one.")] = 0,
    cluster: Annotated[str | None, typer.Option(help="The address of a Dask scheduler.")] = None,
    certify: Annotated[
        int, typer.Option(help="Check so many certificates per regime with the checker.")
    ] = 20,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the bounds (.svg, .pdf, .png) in this file.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="Write the rows of all FILEs, compact, to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The ranks of many databases: a table by regime, and a figure of the bounds.

    A line of FILE is `{"regime": "r", "index": 0, "triples": [["s", "p", "o"], ...]}`; regime and
    index may be left out. An interrupted survey continues from its results. Given results instead,
    it computes nothing: it shows their table and draws their figure; results of different regimes
    may be given together. Status 1 if the independent checker rejects a certificate.

    Examples: `lemmax survey databases.jsonl --seconds 10 --workers 2`,
    `lemmax survey databases.results.jsonl --figure bounds.pdf`
    """
    from lemmax.numerics.figures import figure_path, rank_bounds, write_figure
    from lemmax.numerics.survey import recorded, running
    from lemmax.numerics.survey.databases import read_databases
    from lemmax.numerics.survey.summary import summaries
    from lemmax.theory.files import write_bytes
    from lemmax.theory.shown import counted

    if figure is not None:
        figure_path(figure)
    known = [recorded.is_recorded(file) for file in files]
    if not all(known):
        if len(files) > 1:
            stranger = files[known.index(False)]
            raise LemmaxError(f"Only results are shown together, and {stranger} holds none.")
        output = Path(f"{files[0].stem}.results.jsonl") if output is None else output
        read = read_databases(files[0])
        many = (
            counted(len(read), "database"),
            counted(sum(len(each.triples) for each in read), "fact"),
        )
        say(f"{files[0]}: read as {many[0]} with {many[1]} in all, one database per line.")
        kept = f"What is decided is kept in {output}; the same command continues from there."
        with continued(kept), progress_bar("databases") as tell:
            rows = running.survey(
                files[0],
                output,
                field=field,
                seconds=seconds,
                certify=certify,
                workers=workers,
                cluster=cluster,
                progress=tell,
            )
        files, surveys = [output], [(recorded.read_survey(output)[0], rows)]
    else:
        surveys = [recorded.read_survey(file) for file in files]
        for file, (_, some) in zip(files, surveys, strict=True):
            say(f"{file}: read as recorded results of {counted(len(some), 'database')}.")
        recorded.together(surveys)  # refuses what does not belong together
        rows = [row for _, some in surveys for row in some]
    if figure is not None:
        write_figure(figure, lambda empty: rank_bounds(rows, empty))
    if record is not None:
        write_bytes(record, recorded.compact(surveys).encode())
    regimes = summaries(rows)
    source = ", ".join(map(str, files))
    if as_json:
        answer = {
            "results": source,
            "figure": None if figure is None else str(figure),
            "regimes": [summary.to_json() for summary in regimes],
        }
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        out = console()
        table = Table(*regimes[0].cells(), box=None, pad_edge=False)
        for summary in regimes:
            table.add_row(*(Text(cell) for cell in summary.cells().values()))
        out.print(table)
        out.print(f"{len(rows)} databases, recorded in {source}.", markup=False)
        if figure is not None:
            out.print(f"Drawn in {figure}.", markup=False)
        if record is not None:
            out.print(f"Written together to {record}.", markup=False)
    if any(summary.rejected for summary in regimes):
        raise typer.Exit(1)
