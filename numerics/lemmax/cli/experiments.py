"""The commands about trained and pretrained models: reproduce, assumptions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from lemmax.cli.terminal import AsJson, console, continued, working
from lemmax.theory.errors import LemmaxError


def assumptions(
    model: Annotated[
        str,
        typer.Option(help="minilm, or a .npz file of contexts, queries and heads."),
    ] = "minilm",
    text: Annotated[Path | None, typer.Option(help="A text file, for minilm.")] = None,
    tokens: Annotated[int, typer.Option(help="Tokens in a window, the context length n.")] = 16,
    examples: Annotated[
        int | None, typer.Option(help="Windows (minilm), or examples of Z; else enough of them.")
    ] = None,
    layer: Annotated[list[int] | None, typer.Option(help="Only these layers, from 1.")] = None,
    balls: Annotated[int, typer.Option(help="Windows in real arithmetic through layer 1.")] = 48,
    figure: Annotated[Path | None, typer.Option(help="Write a bar chart to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Decide whether the assumptions of Mahdavi et al. hold on a real model, exactly.

    Ranks are exact facts about the stored floats; the report says what balls prove beyond that,
    and what float32 and random subsets would have said. A .npz file has for each layer, under any
    NAME, the arrays NAME.contexts (examples × tokens × d), NAME.queries (examples × d),
    NAME.heads.0.W_K, NAME.heads.0.W_Q and so on, and perhaps NAME.scale, a string such as 1/8.

    Example: `lemmax assumptions --model minilm --text essay.txt --layer 1 --layer 2`
    """
    from lemmax.numerics.pretrained.reports import arrays_report, minilm_report
    from lemmax.theory.files import regular_text

    if model == "minilm":
        if text is None:
            raise LemmaxError("Name a text with --text FILE.")
        content = regular_text(text, 2**28)
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


def reproduce(
    name: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="Such as wong-fig3.")],
    scale: Annotated[
        str | None,
        typer.Option(help="Train: small (minutes to hours), the default, or paper."),
    ] = None,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Train nothing: use the results that ship.")
    ] = False,
    folder: Annotated[
        Path, typer.Option(help="Where results files are kept, to continue from.")
    ] = Path(),
    figure: Annotated[
        Path | None,
        typer.Option(help="The figure (.svg, .pdf, .png); else EXPERIMENT.svg in the folder."),
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes to train in; 0: this one.")] = 0,
    cluster: Annotated[str | None, typer.Option(help="The address of a Dask scheduler.")] = None,
    device: Annotated[str | None, typer.Option(help="A torch device, such as cuda.")] = None,
    record: Annotated[
        Path | None, typer.Option(help="Write what was trained, STUDY.jsonl, compact, in a folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw the figure of an experiment and say what the data say, from results or trained anew.

    Nothing is trained unless an option says how (--scale, --workers, --cluster, --device or
    --folder): the results that ship with lemmax are used. An interrupted run continues from the
    results files in the folder; a figure that is there already is drawn anew. With `--record` the
    results are also written in the compact form in which they ship.

    Examples: `lemmax reproduce wong-fig3 --workers 2`, `lemmax reproduce wong-fig4 --recorded`
    """
    from lemmax.numerics.experiments import experiment, studies

    chosen = experiment(name)
    path = folder / f"{name}.svg" if figure is None else figure
    trained = bool(scale or cluster or device or workers or folder != Path())
    if record is not None:
        if recorded or not trained or device not in (None, "cpu"):
            raise LemmaxError("Only results that are trained now, on the CPU, can be recorded.")
        if not record.is_dir():
            raise LemmaxError(f"There is no folder {record}.")
        if record.resolve() == folder.resolve():
            raise LemmaxError("Results are recorded in another folder than their own.")
    if recorded or not trained:
        rows = studies.recorded_rows(chosen)
    else:
        kept = (
            f"Finished jobs are kept in {folder.absolute()}, and what was in progress up to its "
            "last checkpoint; the same command continues from there."
        )
        with continued(kept), working("preparing") as status:
            rows = studies.measure_rows(
                chosen,
                scale or "small",
                folder,
                workers=workers,
                cluster=cluster,
                device=device,
                progress=status.update,
            )
    judgements = chosen.judge(rows)
    studies.draw(chosen, rows, path)
    written = studies.write_files(chosen, rows, path.parent)
    if record is not None:
        for study in chosen.studies:
            file = f"{study.name}.jsonl"
            studies.record(study, folder / file, record / file)
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
    if record is not None:
        out.print(f"Recorded in {record}: {', '.join(study.name for study in chosen.studies)}.")
    if written:
        out.print(f"Written beside it: {len(written)} files, the first of them {written[0]}.")
