"""The command that hands something out: checker, one file that a referee runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from lemmax.cli.terminal import AsJson, console


def checker(
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write it.")] = Path(
        "checker.pyz"
    ),
    as_json: AsJson = False,
) -> None:
    """Write the independent checker as one file, to stand beside a paper.

    It needs Python and nothing else: `python3 -I checker.pyz CERTIFICATE.json`.

    Example: `lemmax checker -o checker.pyz`
    """
    import hashlib

    from lemmax.theory.certificates.archive import write_checker

    data = write_checker(output).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if as_json:
        typer.echo(json.dumps({"output": str(output), "bytes": len(data), "sha256": digest}))
        return
    console().print(f"Written to {output}: {len(data)} bytes, sha256 {digest}.", markup=False)
    console().print(f"A referee runs: python3 -I {output} CERTIFICATE.json", markup=False)
