"""``lemmax hunt``: the smallest counterexample to a statement, found and certified."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lemmax.cli.terminal import AsJson, console, working
from lemmax.theory.errors import LemmaxError

if TYPE_CHECKING:
    from lemmax.theory.hunting import Sharp


def hunt(
    statement: Annotated[
        str, typer.Argument(metavar="ID|STATEMENT", help="A claim, or given ...; conclude ...")
    ],
    seconds: Annotated[float, typer.Option(help="How long to hunt at most.")] = 60.0,
    size: Annotated[
        int | None, typer.Option(help="Stop when all up to this size are done.")
    ] = None,
    sharp: Annotated[
        bool, typer.Option("--sharp", help="Where is each inequality of the conclusion attained?")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the certificate to this file.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed tries the same instances.")] = 0,
    workers: Annotated[int, typer.Option(help="Processes.")] = 1,
    state: Annotated[
        Path | None, typer.Option(help="A file to go on from after an interruption.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look for an instance that satisfies the assumptions of a statement and breaks its conclusion.

    All instances are looked at in the order of their size, as far as time goes, beside random draws
    and walks. What is caught is made small, and the independent checker
    has accepted its certificate. Status 0: caught; 1: nothing was caught; 2: bad input.

    Examples: `lemmax hunt wong/argmax-rank-one`,
    `lemmax hunt "given M: matrix; conclude rank(argmax(M)) <= rank(M) + 1" -o caught.json`
    """
    from lemmax.constructions.hunting import evidence
    from lemmax.theory.certificates.writing import write_certificate
    from lemmax.theory.hunting import hunt as hunting
    from lemmax.theory.hunting import sharpness
    from lemmax.theory.ledger.statements import refutable

    if workers < 1:
        raise LemmaxError("At least one process has to hunt.")
    named = not statement.lstrip().startswith("given ")
    text = refutable(statement) if named else statement
    options: dict[str, Any] = {"claim": statement} if named else {}
    if sharp:
        if output is not None or state is not None or size is not None or workers > 1:
            raise LemmaxError("With --sharp only --seconds, --seed and --json are of use.")
        with working("hunting"):
            bounds = sharpness(text, **options, seconds=seconds, seed=seed)
        say_sharp(bounds, as_json)
        return
    with working("hunting") as status:
        caught = hunting(
            text,
            **options,
            seconds=seconds,
            largest=size,
            seed=seed,
            workers=workers,
            state=state,
            evidence=evidence,
            progress=status.update,
        )
    if output is not None and caught.instance is not None:
        write_certificate(output, caught.certificate())
    if as_json:
        told = {
            "statement": caught.statement,
            "instance": caught.instance,
            "size": caught.size,
            "smallest": caught.smallest,
            "exhausted_below": caught.exhausted,
            "instances_below": caught.looked,
            "satisfying_below": caught.satisfied,
            "tried": caught.tried,
            "satisfying": caught.met,
            "undecided": caught.open,
            "gap": None if caught.gap is None else str(caught.gap),
            "tight": caught.tight,
            "certificate": None if caught.instance is None else caught.certificate(),
        }
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        out = console()
        out.print(caught.sentence(), markup=False)
        for name, value in (caught.instance or {}).items():
            out.print(f"  {name} = {shown(value)}", markup=False)
        if output is not None and caught.instance is not None:
            out.print(f"Certificate: {output}; `lemmax export {output}` gives LaTeX.", markup=False)
    if caught.instance is None:
        raise typer.Exit(1)


def say_sharp(bounds: Sequence[Sharp], as_json: bool) -> None:
    """Each inequality, with the least gap that was seen and a small instance of it."""
    if as_json:
        rows = [
            {
                "bound": b.bound,
                "gap": None if b.gap is None else str(b.gap),
                "instance": b.instance,
                "tried": b.tried,
                "broken": b.broken,
            }
            for b in bounds
        ]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    out = console()
    for b in bounds:
        if b.broken:
            told = "is broken: hunt without --sharp for the certificate"
        elif b.gap is None:
            told = "had exact values on both sides nowhere"
        elif b.attained:
            told = "is attained, for example at"
        else:
            told = f"was never nearer than {b.gap}, which is so at"
        out.print(f"{b.bound} {told} ({b.tried:,} instances)", markup=False)
        for name, value in (b.instance or {}).items():
            out.print(f"  {name} = {shown(value)}", markup=False)


def shown(value: Any) -> str:
    """An instance as one writes it: numbers without quotes.

    >>> shown([["1", "-1/2"]])
    '[[1, -1/2]]'
    """
    return json.dumps(value, ensure_ascii=False).replace('"', "")
