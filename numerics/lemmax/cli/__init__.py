"""The command line: one module per family of commands, and beside them how results are shown.

A command reads its arguments, asks the package that knows, and prints; nothing here decides,
trains or measures, and a command imports what it needs when it runs.
"""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from lemmax.cli import (
    capacity,
    experiments,
    facts,
    hunt,
    ledger,
    machine,
    models,
    paper,
    prove,
    survey,
)
from lemmax.cli.terminal import visible
from lemmax.theory.errors import LemmaxError

COMMANDS: dict[str, Callable[..., None]] = {
    "check": ledger.check,
    "checker": ledger.checker,
    "claims": ledger.claims,
    "verify": ledger.verify,
    "hunt": hunt.hunt,
    "prove": prove.prove,
    "compile": facts.compile_,
    "recall": facts.recall,
    "rank": facts.rank,
    "certify": models.certify,
    "capacity": capacity.capacity,
    "survey": survey.survey,
    "assumptions": experiments.assumptions,
    "export": ledger.export,
    "init": paper.init,
    "paper": paper.paper,
    "errata": paper.errata,
    "report": paper.report,
    "reproduce": experiments.reproduce,
    "doctor": machine.doctor,
}
"""The commands in the order of the help."""

app = typer.Typer(
    name="lemmax",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        from lemmax.theory.version import __version__

        typer.echo(f"lemmax {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_version),
    ] = False,
) -> None:
    """What attention layers can memorize, decided exactly and with certificates.

    Examples: `lemmax claims`, `lemmax compile facts.csv -o layer.json`, `lemmax doctor`
    """


for _name, _command in COMMANDS.items():
    app.command(name=_name)(_command)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Letters that an output lacks, as JSON spells them: results stay readable by programs."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4)), error.end


def _print_anywhere() -> None:
    """An output without the letters of mathematics, such as ASCII, is no reason to stop."""
    codecs.register_error("lemmax", _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="lemmax")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; bad input is one sentence on stderr and status 2."""
    _print_anywhere()
    try:
        app(args=None if argv is None else list(argv), standalone_mode=True)
    except LemmaxError as error:
        print(f"lemmax: {visible(str(error))}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        raise SystemExit(0) from None
