"""The command line: one module per family of commands, and beside them how results are shown.

A command reads its arguments, asks the package that knows, and prints; nothing here decides,
trains or measures, and a command imports what it needs when it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import typer

from lemmax.cli import capacity, errata, experiments, facts, ledger, machine, paper, prove, survey
from lemmax.theory.errors import LemmaxError

COMMANDS: dict[str, Callable[..., None]] = {
    "check": ledger.check,
    "claims": ledger.claims,
    "verify": ledger.verify,
    "prove": prove.prove,
    "compile": facts.compile_,
    "recall": facts.recall,
    "rank": facts.rank,
    "capacity": capacity.capacity,
    "survey": survey.survey,
    "assumptions": experiments.assumptions,
    "export": ledger.export,
    "paper": paper.paper,
    "errata": errata.errata,
    "reproduce": experiments.reproduce,
    "doctor": machine.doctor,
}
"""The commands in the order of the help."""

app = typer.Typer(
    name="lemmax",
    help="What attention layers can memorize, decided exactly and with certificates.\n\n"
    "Examples: `lemmax claims`, `lemmax compile facts.csv -o layer.json`, `lemmax doctor`",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for _name, _command in COMMANDS.items():
    app.command(name=_name)(_command)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; bad input is one sentence on stderr and status 2."""
    try:
        app(args=None if argv is None else list(argv), standalone_mode=True)
    except LemmaxError as error:
        print(f"lemmax: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        raise SystemExit(0) from None
