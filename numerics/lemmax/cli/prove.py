"""``lemmax prove``: a certificate becomes a Coq theorem, and Coq's kernel checks it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def prove(
    certificate: Annotated[Path, typer.Argument(help="A certificate file.", metavar="CERT")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The Coq file to write.", metavar="NAME.v")
    ] = None,
    run: Annotated[bool, typer.Option("--run", help="Compile it with coqc.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Write a certificate as a Coq theorem; with --run have Coq's kernel check it.

    The certificate is checked first, and the written file is read back and compared with it. Status
    0: written (with --run: proved, and closed under the global context). Status 1: Coq did not
    accept the proof. Status 2: not a certificate, one that does not hold, or one without a
    translation.

    Examples: `lemmax prove rank.json`, `lemmax prove rank.json -o rank.v --run`
    """
    from lemmax import checker
    from lemmax.theory.errors import LemmaxError
    from lemmax.theory.files import write_text
    from lemmax.theory.proving import running, theorem, translations

    try:
        checker.check_file(certificate)  # refuses what is no certificate, with its own sentences
    except checker.NotACertificate as error:
        raise LemmaxError(f"{certificate} is not a certificate: {error}") from None
    data = json.loads(certificate.read_text(encoding="utf-8"))
    text = translations.file_of({certificate.stem: data})
    if run:
        running.coqc_or_refuse()
    target = output or Path(f"{theorem.module_name(certificate.stem)}.v")
    write_text(target, text)
    result = running.prove(text, 1) if run else None
    said: dict[str, object] = {"file": str(target), "proved": result and result.proved}
    if result is not None:
        said |= {"seconds": result.seconds, "sha256": result.digest}
    if as_json:
        typer.echo(json.dumps(said))
    elif result is None:
        typer.echo(f"{target}: written and compared with the certificate; --run compiles it.")
    elif result.proved:
        typer.echo(f"{target}: proved in {result.seconds:.1f} s, closed under the global context.")
    else:
        typer.echo(f"{target}: Coq did not accept the proof. {result.message}", err=True)
    if result is not None and not result.proved:
        raise typer.Exit(1)
