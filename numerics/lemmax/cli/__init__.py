"""The command line. Each command imports what it needs when it runs."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from lemmax.theory.errors import LemmaxError

app = typer.Typer(
    name="lemmax",
    help="What attention layers can memorize, decided exactly and with certificates.\n\n"
    "Examples: `lemmax claims`, `lemmax compile facts.csv -o layer.json`, `lemmax doctor`",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def console() -> Console:
    """Colours and widths of the terminal on stdout; plain text elsewhere."""
    plain = not sys.stdout.isatty()
    return Console(highlight=False, soft_wrap=plain, width=160 if plain else None)


def working(what: str) -> Status:
    """Say on a terminal what takes so long; say nothing elsewhere."""
    return Status(what, console=Console(stderr=True))


@app.command()
def check(
    certificates: Annotated[
        list[str], typer.Argument(help="Certificate files.", metavar="CERT...")
    ],
    as_json: AsJson = False,
) -> None:
    """Re-check certificates with the independent checker.

    Status 0: all hold. Status 1: one does not, and the failing step is named. Status 2: a file is
    not a certificate.

    Examples: `lemmax check layer.json`, `lemmax check --json certificates/*.json`
    """
    from lemmax import checker

    raise typer.Exit(checker.main([*(["--json"] if as_json else []), "--", *certificates]))


@app.command()
def claims(
    identifier: Annotated[str | None, typer.Argument(metavar="ID", help="One claim.")] = None,
    paper: Annotated[str | None, typer.Option(help="Only the claims of one paper.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the ledger: every claim with its verdict, or one claim with its evidence.

    Examples: `lemmax claims`, `lemmax claims wong/proposition-3.6`, `lemmax claims --paper dana`
    """
    from lemmax.cli import ledger_view

    if identifier is not None:
        entry = ledger_view.one(identifier)
        if as_json:
            typer.echo(json.dumps(entry, ensure_ascii=False, indent=2))
        else:
            ledger_view.show_one(entry, console())
        return
    entries = ledger_view.listed(paper)
    if as_json:
        typer.echo(json.dumps(entries, ensure_ascii=False, indent=2))
        return
    ledger_view.show_all(entries, console())


@app.command()
def verify(as_json: AsJson = False) -> None:
    """Re-check every shipped certificate with the independent checker, and print its SHA-256.

    Status 1 if one does not hold.

    Examples: `lemmax verify`, `lemmax verify --json`
    """
    from lemmax.constructions.shipped import verify_all

    with working("checking the shipped certificates"):
        results = verify_all()
    if as_json:
        typer.echo(json.dumps(results, indent=2))
    else:
        table = Table("certificate", "kind", "verdict", "sha256", box=None, pad_edge=False)
        for row in results:
            colour = "green" if row["holds"] else "red"
            verdict = "holds" if row["holds"] else row["reason"]
            table.add_row(row["name"], row["kind"], f"[{colour}]{verdict}[/]", row["sha256"][:16])
        console().print(table)
        console().print(f"{sum(r['holds'] for r in results)} of {len(results)} certificates hold.")
    if not all(row["holds"] for row in results):
        raise typer.Exit(1)


@app.command(name="compile")
def compile_(
    facts: Annotated[Path, typer.Argument(metavar="FACTS", help="A .csv, .tsv, .nt or .ttl file.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="LAYER.json or LAYER.safetensors.")
    ],
    tau: Annotated[str | None, typer.Option(help="Wanted probability, such as 99/100.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compile a table of facts into attention weights that provably know every fact.

    LAYER.json is the layer and its certificate in one file: `lemmax check LAYER.json` re-checks it.

    Example: `lemmax compile facts.csv -o layer.json --tau 99/100`
    """
    from lemmax.constructions.compiler import compile_database, save
    from lemmax.theory.facts.database import Database

    if output.suffix not in (".json", ".safetensors"):
        raise LemmaxError(f"{output}: a layer is written as .json or .safetensors.")
    if not output.absolute().parent.is_dir():
        raise LemmaxError(f"{output}: there is no folder {output.absolute().parent}.")
    db = Database.read(facts)
    with working(f"compiling {len(db)} facts"):
        compiled = compile_database(db, tau)
        save(compiled, output)
    dims = compiled.dims
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "facts": len(db),
                    "tokens": len(db.tokens),
                    "method": compiled.method,
                    "d_model": dims.d_model,
                    "heads": dims.heads,
                    "d_vo": dims.d_vo,
                    "d_qk": dims.d_qk,
                    "parameters": dims.parameters,
                    "tau": None if compiled.tau is None else str(compiled.tau),
                    "lower_bounds": compiled.lower_bounds(),
                    "output": str(output),
                }
            )
        )
        return
    out = console()
    heads = "one head" if dims.heads == 1 else f"{dims.heads} heads"
    out.print(f"{len(db)} facts over {len(db.tokens)} tokens, every one certified.")
    out.print(
        f"{heads}, d_model = {dims.d_model}, d_vo = {dims.d_vo}, d_qk = {dims.d_qk}: "
        f"{dims.parameters} non-embedding parameters ({compiled.method})."
    )
    for bound in compiled.lower_bounds():
        out.print(f"Known to be needed: {bound}")
    out.print(f"Written to {output}.")


@app.command()
def recall(
    layer: Annotated[Path, typer.Argument(metavar="LAYER", help="A layer.json of lemmax compile.")],
    key: Annotated[str, typer.Argument(metavar="KEY")],
    query: Annotated[str, typer.Argument(metavar="QUERY")],
    as_json: AsJson = False,
) -> None:
    """Ask a compiled layer: the answer, its probability as an interval, the runner-up.

    Example: `lemmax recall layer.json Astrid born_in`
    """
    from lemmax.constructions.compiler import load_layer
    from lemmax.constructions.compiler import recall as ask

    found = ask(load_layer(layer), key, query)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "answer": found.answer,
                    "probability": found.interval(),
                    "runner_up": found.runner_up,
                },
                ensure_ascii=False,
            )
        )
        return
    typer.echo(f"{found.answer}")
    typer.echo(f"probability in {found.interval()}, runner-up {found.runner_up}")


@app.command()
def rank(
    facts: Annotated[Path, typer.Argument(metavar="FACTS", help="A .csv, .tsv, .nt or .ttl file.")],
    field: Annotated[str, typer.Option(help="Q, R or C: the rank depends on it.")] = "R",
    decomposition: Annotated[
        tuple[Path, Path, Path] | None,
        typer.Option(metavar="L R P", help="Check a decomposition made elsewhere, SMS files."),
    ] = None,
    write: Annotated[
        tuple[Path, Path, Path] | None,
        typer.Option(metavar="L R P", help="Write the decomposition to three SMS files."),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the certificate to this file.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after this time with the best interval so far.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The tensor rank of a database, from below and from above, and the terms in words.

    Examples: `lemmax rank facts.csv`, `lemmax rank facts.csv --field C --certificate rank.json`
    """
    from lemmax.cli import rank_view
    from lemmax.theory.certificates.writing import write_certificate
    from lemmax.theory.facts.database import Database
    from lemmax.theory.tensors.fields import known_field
    from lemmax.theory.tensors.files import read_decomposition, write_decomposition
    from lemmax.theory.tensors.ranks import tensor_rank

    given = None if decomposition is None else read_decomposition(decomposition)
    result = tensor_rank(Database.read(facts), known_field(field), seconds=seconds)
    if given is not None:
        result = result.with_decomposition(given)
    if write is not None:
        write_decomposition(result.decomposition, write)
    if certificate is not None:
        if not certificate.absolute().parent.is_dir():
            raise LemmaxError(f"{certificate}: there is no folder {certificate.parent}.")
        write_certificate(certificate, result.certificate())
    if as_json:
        more = {} if given is None else {"given": len(given)}
        typer.echo(json.dumps(rank_view.report(result) | more, ensure_ascii=False, indent=2))
        return
    out = console()
    rank_view.show(result, out)
    if given is not None:
        out.print(f"The given decomposition adds up: {len(given)} terms.")


@app.command()
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


@contextlib.contextmanager
def progress_bar(unit: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with how much is done of how much; it shows a bar and the time left."""
    from rich import progress

    columns = (
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn(unit),
        progress.TimeElapsedColumn(),
        progress.TextColumn("elapsed,"),
        progress.TimeRemainingColumn(),
        progress.TextColumn("left"),
    )
    bar = progress.Progress(*columns, console=Console(stderr=True))

    def tell(done: int, total: int) -> None:
        if not bar.task_ids:  # what was done before does not count for the speed
            bar.add_task(unit, total=total, completed=done)
            bar.start()
        bar.update(bar.task_ids[0], completed=done)

    try:
        yield tell
    finally:
        if bar.task_ids:
            bar.stop()


@app.command()
def assumptions(
    model: Annotated[
        str, typer.Option(help="minilm, or a .npz file of contexts, queries and heads.")
    ] = "minilm",
    text: Annotated[Path | None, typer.Option(help="A text file, for minilm.")] = None,
    tokens: Annotated[int, typer.Option(help="Tokens in a window, the context length n.")] = 16,
    examples: Annotated[int | None, typer.Option(help="Windows to look at; d + 3 if free.")] = None,
    layer: Annotated[list[int] | None, typer.Option(help="Only these layers, from 1.")] = None,
    balls: Annotated[int, typer.Option(help="Windows in real arithmetic through layer 1.")] = 48,
    figure: Annotated[Path | None, typer.Option(help="Write a bar chart to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Decide whether the assumptions of Mahdavi et al. hold on a real model, exactly.

    Ranks are exact facts about the stored floats; the report says what balls prove beyond that,
    and what float32 and random subsets would have said.

    Example: `lemmax assumptions --model minilm --text essay.txt --layer 1 --layer 2`
    """
    from lemmax.numerics.pretrained.assumptions import arrays_report, minilm_report

    if model == "minilm":
        if text is None:
            raise LemmaxError("Name a text with --text FILE.")
        try:
            content = text.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise LemmaxError(f"{text} is not a readable text file.") from None
        with working("running the model and deciding ranks"):
            report = minilm_report(content, n=tokens, examples=examples, layers=layer, balls=balls)
    elif model.endswith(".npz"):
        report = arrays_report(Path(model), examples=examples)
    else:
        raise LemmaxError(f"The model is 'minilm' or a .npz file, not {model!r}.")
    if figure is not None:
        report.figure(figure)
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=2))
        return
    out = console()
    out.print(report.table())
    for sentence in report.sentences():
        out.print(sentence)


class ExportFormat(StrEnum):
    """What ``lemmax export`` writes."""

    latex = "latex"
    json = "json"
    npz = "npz"
    safetensors = "safetensors"
    sympy = "sympy"
    bibtex = "bibtex"


@app.command()
def export(
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="A claim, a shipped certificate, or a .json file.")
    ],
    format_: Annotated[
        ExportFormat, typer.Option("--format", "-f", help="What to write.")
    ] = ExportFormat.latex,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A file; text goes to stdout without it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the construction behind a claim for a paper or another program.

    Examples: `lemmax export wong/argmax-rank-one`,
    `lemmax export layer.json --format npz -o layer.npz`
    """
    from lemmax.cli.exporting import find_certificate
    from lemmax.constructions import exports
    from lemmax.theory.certificates.writing import to_json

    name, certificate = find_certificate(identifier)
    data: str | bytes
    match ExportFormat.json if as_json else format_:
        case ExportFormat.latex:
            data = certificate.to_latex(f"lemmax:{name}")
        case ExportFormat.json:
            data = to_json(certificate).rstrip("\n")
        case ExportFormat.sympy:
            data = exports.certificate_sympy(certificate)
        case ExportFormat.npz:
            data = exports.certificate_npz(certificate)
        case ExportFormat.safetensors:
            data = exports.certificate_safetensors(certificate)
        case ExportFormat.bibtex:
            data = exports.bibtex(*bibtex_keys(name))
    if output is not None:
        exports.write_bytes(output, data if isinstance(data, bytes) else f"{data}\n".encode())
    elif isinstance(data, bytes):
        raise LemmaxError(f"The format {format_.value} is not text: name a file with -o.")
    else:
        typer.echo(data)


def bibtex_keys(name: str) -> list[str]:
    """The BibTeX keys of a claim's paper and of lemmax."""
    from lemmax.theory.ledger.claims import load_claims

    paper = load_claims().papers.get(name.partition("/")[0], {})
    return list(dict.fromkeys([*filter(None, (paper.get("bibtex_key"),)), "lemmax"]))


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="Such as wong-fig3.")],
    scale: Annotated[
        str | None, typer.Option(help="Train: small (minutes; the default if trained) or paper.")
    ] = None,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Train nothing: use the results that ship.")
    ] = False,
    folder: Annotated[
        Path, typer.Option(help="Where results files are kept, to continue from.")
    ] = Path(),
    figure: Annotated[
        Path | None, typer.Option(help="The figure (.svg, .pdf, .png); EXPERIMENT.svg if free.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes to train in; 0: this one.")] = 0,
    cluster: Annotated[str | None, typer.Option(help="The address of a Dask scheduler.")] = None,
    device: Annotated[str | None, typer.Option(help="A torch device, such as cuda.")] = None,
    as_json: AsJson = False,
) -> None:
    """Draw the figure of an experiment and say what the data say, from results or trained anew.

    The results that ship with lemmax are used unless an option says how to train. An interrupted
    run continues from the results files in the folder.

    Examples: `lemmax reproduce wong-fig3 --workers 2`, `lemmax reproduce wong-fig4 --recorded`
    """
    from lemmax.numerics.experiments import experiment
    from lemmax.numerics.experiments.studies import draw, measure_rows, recorded_rows, write_files

    found = experiment(name)
    path = folder / f"{name}.svg" if figure is None else figure
    trained = bool(scale or cluster or device or workers or folder != Path())
    if recorded or not trained:
        rows = recorded_rows(found)
    else:
        with working("preparing") as status:
            rows = measure_rows(
                found,
                scale or "small",
                folder,
                workers=workers,
                cluster=cluster,
                device=device,
                progress=status.update,
            )
    judgements = found.judge(rows)
    draw(found, rows, path)
    written = write_files(found, rows, path.parent)
    if as_json:
        told = [{"claim": j.claim, "verdict": j.verdict, "says": j.sentence} for j in judgements]
        jobs = {study: len(some) for study, some in rows.items()}
        answer = {"experiment": name, "jobs": jobs, "claims": told, "figure": str(path)}
        if written:
            answer["files"] = [str(file) for file in written]
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
        return
    out = console()
    for judgement in judgements:
        out.print(f"{judgement.sentence}", markup=False)
        if judgement.claim:
            out.print(f"{judgement.claim}: {judgement.verdict or 'not decided by these data'}")
    source = "trained results" if trained and not recorded else "recorded results"
    out.print(f"Drawn in {path} from {source}.")
    if written:
        out.print(f"Written beside it: {len(written)} files, the first of them {written[0]}.")


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say which extras and programs are installed, and what each enables.

    Nothing is wrong when an extra is missing: the core needs none of them.

    Examples: `lemmax doctor`, `lemmax doctor --json`
    """
    from lemmax.cli.installation import examine

    parts = examine()
    if as_json:
        typer.echo(json.dumps(parts, indent=2))
        return
    table = Table("part", "state", "enables", box=None, pad_edge=False)
    for part in parts:
        good = not part["missing"]
        lacks = ", ".join(part["missing"])
        state = Text(part["version"] or "ready", "green") if good else Text(f"lacks {lacks}", "red")
        table.add_row(part["name"], state, part["enables"])
    console().print(table)
    console().print("An extra is installed with: pip install -c constraints.txt -e '.[EXTRA]'")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; bad input is one sentence on stderr and status 2."""
    try:
        app(args=None if argv is None else list(argv), standalone_mode=True)
    except LemmaxError as error:
        print(f"lemmax: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        raise SystemExit(0) from None


if __name__ == "__main__":
    main()
