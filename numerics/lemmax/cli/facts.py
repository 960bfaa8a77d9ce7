"""The commands about one table of facts: compile, recall, rank."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from lemmax.cli.terminal import AsJson, console, working
from lemmax.theory.errors import LemmaxError


def compile_(
    facts: Annotated[Path, typer.Argument(metavar="FACTS", help="A .csv, .tsv, .nt or .ttl file.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="LAYER.json or LAYER.safetensors.")
    ],
    tau: Annotated[str | None, typer.Option(help="Wanted probability, such as 99/100.")] = None,
    dtype: Annotated[
        str | None, typer.Option(help="bfloat16, float16 or float32: recall in it is proved.")
    ] = None,
    accumulate: Annotated[str, typer.Option(help="The format of sums, with --dtype.")] = "float32",
    logits: Annotated[
        str | None, typer.Option(help="The format of logits, with --dtype; else the same.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile a table of facts into attention weights that provably know every fact.

    LAYER.json is the layer and its certificate in one file: `lemmax check LAYER.json` re-checks it.
    With a dtype the arrays stand beside it, in LAYER.safetensors.

    Examples: `lemmax compile facts.csv -o layer.json --tau 99/100`,
    `lemmax compile facts.csv -o layer.json --dtype bfloat16`
    """
    from lemmax.constructions.compiler import (
        CompiledByCodes,
        CompiledDatabase,
        compile_database,
        save,
    )
    from lemmax.theory.facts.database import Database

    if output.suffix not in (".json", ".safetensors"):
        raise LemmaxError(f"{output}: a layer is written as .json or .safetensors.")
    if not output.absolute().parent.is_dir():
        raise LemmaxError(f"{output}: there is no folder {output.absolute().parent}.")
    db = Database.read(facts)
    with working(f"compiling {len(db)} facts"):
        compiled: CompiledDatabase | CompiledByCodes
        if dtype is None:
            compiled = compile_database(db, tau)
        else:
            compiled = compile_database(db, tau, dtype=dtype, accumulate=accumulate, logits=logits)
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
                    "exact_in": compiled.exact_in(),
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
    out.print(compiled.exact_in())
    for bound in compiled.lower_bounds():
        out.print(f"Known to be needed: {bound}")
    out.print(f"Written to {output}.")


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

    recalled = ask(load_layer(layer), key, query)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "answer": recalled.answer,
                    "probability": recalled.interval(),
                    "runner_up": recalled.runner_up,
                },
                ensure_ascii=False,
            )
        )
        return
    typer.echo(f"{recalled.answer}")
    typer.echo(f"probability in {recalled.interval()}, runner-up {recalled.runner_up}")


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
