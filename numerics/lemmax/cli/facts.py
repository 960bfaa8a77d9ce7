"""The commands about one table of facts: compile, recall, rank."""

from __future__ import annotations

import contextlib
import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lemmax.cli.terminal import AsJson, console, continued, say, stopwatch, visible
from lemmax.theory.errors import LemmaxError
from lemmax.theory.shown import counted

if TYPE_CHECKING:
    from lemmax.theory.facts.database import Database

Facts = Annotated[
    Path, typer.Argument(metavar="FACTS", help="A .csv, .tsv, .jsonl, .nt or .ttl file.")
]


class FactsFormat(StrEnum):
    """What the rows of a file of facts are, where they can be read in two ways."""

    triples = "triples"
    headed_triples = "headed-triples"
    table = "table"


Format = Annotated[
    FactsFormat | None,
    typer.Option("--format", help="triples, headed-triples, or table: one column per predicate."),
]


def read_facts(path: Path, format_: FactsFormat | None) -> tuple[Database, str]:
    """The database of a file, and how it was read: a line for stderr beside the result."""
    from lemmax.theory.facts.database import Database

    return Database.read_aloud(path, None if format_ is None else format_.value)


def compile_(
    facts: Facts,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="LAYER.json or LAYER.safetensors.")
    ],
    tau: Annotated[str | None, typer.Option(help="Wanted probability, such as 99/100.")] = None,
    format_: Format = None,
    dtype: Annotated[
        str | None, typer.Option(help="bfloat16, float16 or float32: recall in it is proved.")
    ] = None,
    accumulate: Annotated[str, typer.Option(help="The format of sums, with --dtype.")] = "float32",
    logits: Annotated[
        str | None, typer.Option(help="The format of logits, with --dtype; else the same.")
    ] = None,
    residual: Annotated[
        str | None, typer.Option(help="The format of the residual stream; else the same.")
    ] = None,
    smallest: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Search for a smaller layer for so many seconds."),
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(help="widest: the W_U of widest margin at equal dimensions; needs cvxpy."),
    ] = None,
    processes: Annotated[int, typer.Option(help="Processes of the search.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the search.")] = 0,
    state: Annotated[
        Path | None,
        typer.Option(help="The file that continues the search; else LAYER.search.json."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile a table of facts into attention weights that provably know every fact.

    LAYER.json is the layer and its certificate in one file: `lemmax check LAYER.json` re-checks it.
    With a dtype the arrays stand beside it, in LAYER.safetensors.

    Examples: `lemmax compile facts.csv -o layer.json --tau 99/100`,
    `lemmax compile facts.csv -o layer.json --dtype bfloat16`,
    `lemmax compile facts.csv -o layer.json --margin widest`,
    `lemmax compile facts.csv -o layer.json --smallest 60 --processes 2`
    """
    from lemmax.constructions import compile_smallest
    from lemmax.constructions.compiler import (
        CompiledByCodes,
        CompiledDatabase,
        checked_threshold,
        compile_database,
        save,
    )
    from lemmax.constructions.compiler.smallest.needed import needed
    from lemmax.theory.tensors.search.clock import usable_seconds

    if output.suffix not in (".json", ".safetensors"):
        raise LemmaxError(f"{output}: a layer is written as .json or .safetensors.")
    writable(output)
    threshold = checked_threshold(tau)
    if dtype is None and (accumulate, logits, residual) != ("float32", None, None):
        raise LemmaxError("--accumulate, --logits and --residual go with --dtype.")
    if smallest is not None and dtype is not None:
        raise LemmaxError("The smallest layer has weights of its own: give no --dtype with it.")
    if margin not in (None, "widest"):
        raise LemmaxError(f"The margin is 'widest' or none at all, not {margin!r}.")
    if margin is not None and (dtype, smallest) != (None, None):
        raise LemmaxError("--margin goes neither with --dtype nor with --smallest.")
    if smallest is not None:
        usable_seconds(smallest)
    db, how = read_facts(facts, format_)
    kept = output.with_suffix(".search.json") if state is None else state
    compiled: CompiledDatabase | CompiledByCodes
    with contextlib.ExitStack() as around:
        if smallest is not None:
            around.enter_context(
                continued(f"The search is kept in {kept}; the same command continues from there.")
            )
        around.enter_context(stopwatch(f"Compiling {counted(len(db), 'fact')}", smallest))
        if smallest is not None:
            compiled = compile_smallest(
                db,
                threshold,
                seconds=smallest,
                seed=seed,
                processes=processes,
                state=kept,
                progress=say,
            )
        elif dtype is None:
            compiled = compile_database(db, threshold, margin=None if margin is None else "widest")
        else:
            compiled = compile_database(
                db,
                threshold,
                dtype=dtype,
                accumulate=accumulate,
                logits=logits,
                residual=residual,
            )
        save(compiled, output)
    say(how)
    dims = compiled.dims
    width = compiled.margin if isinstance(compiled, CompiledDatabase) else None
    least = None if smallest is None else needed(db)
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
                    "least_parameters": None if least is None else least.parameters,
                    "margin": None if width is None else str(width),
                    "exact_in": compiled.exact_in(),
                    "output": str(output),
                }
            )
        )
        return
    out = console()
    heads = {0: "no head", 1: "one head"}.get(dims.heads, f"{dims.heads} heads")
    out.print(f"{len(db)} facts over {len(db.tokens)} tokens, every one certified.")
    out.print(
        f"{heads}, d_model = {dims.d_model}, d_vo = {dims.d_vo}, d_qk = {dims.d_qk}: "
        f"{dims.parameters} non-embedding parameters ({compiled.method})."
    )
    if width is not None:
        out.print(f"Margin of W_U: {width}.")
    out.print(compiled.exact_in())
    for bound in compiled.lower_bounds():
        out.print(f"Known to be needed: {bound}")
    if least is not None:
        out.print(f"No layer has fewer than {least.parameters} of them. {' '.join(least.reasons)}")
    out.print(f"Written to {output}.")


def writable(path: Path) -> None:
    """Refuse a file that cannot be written before anything is computed for it."""
    try:
        folder, there = path.is_dir(), path.absolute().parent.is_dir()
    except OSError as error:  # a folder that may not be searched
        raise LemmaxError(f"{path} cannot be written: {error.strerror}.") from None
    if folder:
        raise LemmaxError(f"{path} is a folder, not a file.")
    if not there:
        raise LemmaxError(f"{path}: there is no folder {path.absolute().parent}.")


def recall(
    layer: Annotated[Path, typer.Argument(metavar="LAYER", help="A layer.json of lemmax compile.")],
    key: Annotated[str, typer.Argument(metavar="KEY")],
    query: Annotated[str, typer.Argument(metavar="QUERY")],
    as_json: AsJson = False,
) -> None:
    """Ask a compiled layer: the answer, its probability as an interval, the runner-up.

    A layer answers every question; where the table has no such fact, a line on stderr says so.

    Example: `lemmax recall layer.json Astrid born_in`
    """
    from lemmax.constructions.compiler.files import ask_file

    recalled, is_fact = ask_file(layer, key, query)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "answer": recalled.answer,
                    "probability": recalled.interval(),
                    "runner_up": recalled.runner_up,
                    "is_fact": is_fact,
                },
                ensure_ascii=False,
            )
        )
        return
    typer.echo(visible(f"{recalled.answer}"))
    runner_up = visible(f"{recalled.runner_up}")
    typer.echo(f"probability in {recalled.interval()}, runner-up {runner_up}")
    if not is_fact:
        say(f"The table has no fact about {key!r} {query!r}: nothing is certified of this answer.")


def rank(
    facts: Facts,
    field: Annotated[str, typer.Option(help="Q, R or C: the rank depends on it.")] = "R",
    format_: Format = None,
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
    from lemmax.theory.tensors.fields import known_field
    from lemmax.theory.tensors.files import read_decomposition, write_decomposition
    from lemmax.theory.tensors.ranks import tensor_rank
    from lemmax.theory.tensors.search.clock import usable_seconds

    for path in (*(write or ()), *([] if certificate is None else [certificate])):
        writable(path)
    over, limit = known_field(field), None if seconds is None else usable_seconds(seconds)
    given = None if decomposition is None else read_decomposition(decomposition)
    db, how = read_facts(facts, format_)
    stop = "" if limit else " (--seconds N stops with the best so far)"
    with stopwatch(f"Bounding the rank of {counted(len(db), 'fact')}{stop}", limit):
        result = tensor_rank(db, over, seconds=limit)
    if given is not None:
        result = result.with_decomposition(given)
    say(how)
    if write is not None:
        write_decomposition(result.decomposition, write)
    if certificate is not None:
        write_certificate(certificate, result.certificate())
    if as_json:
        more = {} if given is None else {"given": len(given)}
        typer.echo(json.dumps(rank_view.report(result) | more, ensure_ascii=False, indent=2))
        return
    out = console()
    rank_view.show(result, out)
    if given is not None:
        out.print(f"The given decomposition adds up: {len(given)} terms.")
