"""The command about models that were trained elsewhere: certify."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from lemmax.cli.facts import Facts, Format, read_facts, writable
from lemmax.cli.terminal import AsJson, console, progress_bar, say
from lemmax.theory.errors import LemmaxError
from lemmax.theory.shown import counted

_OPTIONS = (
    "heads", "activation", "scale", "norm", "eps", "mask", "norm_first", "tied", "layout", "ignore",
    "names", "bits",
)  # fmt: skip
_SHOWN = 20  # facts that are listed; --json lists all


def certify(
    weights: Annotated[
        Path, typer.Argument(metavar="WEIGHTS", help="A .safetensors, .npz, .pt or .pth file.")
    ],
    facts: Facts,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the certificate, MODEL.json.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the margin of every fact (.svg, .pdf, .png).")
    ] = None,
    prompt: Annotated[
        str, typer.Option(help="The tokens of a prompt, parted by spaces.")
    ] = "{subject} {predicate}",
    tokens: Annotated[
        Path | None, typer.Option(help="Names of the tokens: one per line, or a JSON list.")
    ] = None,
    heads: Annotated[int | None, typer.Option(help="How many, where arrays do not say.")] = None,
    activation: Annotated[
        str | None, typer.Option(help="Of the MLPs: relu, gelu, gelu-tanh, silu.")
    ] = None,
    scale: Annotated[
        str | None, typer.Option(help="Of the scores: a number, or 1/sqrt(d), which is assumed.")
    ] = None,
    norm: Annotated[
        str | None, typer.Option(help="layer, rms or none, where arrays do not say.")
    ] = None,
    eps: Annotated[str | None, typer.Option(help="Of the norms; 1e-5 is assumed.")] = None,
    mask: Annotated[str | None, typer.Option(help="causal or none.")] = None,
    norm_first: Annotated[
        bool | None, typer.Option(help="Norms before attention and MLP, or after their sums.")
    ] = None,
    tied: Annotated[bool | None, typer.Option(help="W_U is the transpose of W_E.")] = None,
    sinusoidal: Annotated[
        bool | None, typer.Option(help="Add the usual table of positions, or there are none.")
    ] = None,
    layout: Annotated[
        str | None, typer.Option(help="Of one layer: wong, transformer-lens, linear.")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="An array to leave out; may be repeated.")
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(help="What arrays with other names are: a JSON object, yours to ours."),
    ] = None,
    margin: Annotated[str, typer.Option(help="How much larger the logit has to be.")] = "0",
    bits: Annotated[int | None, typer.Option(help="Precision; else 96, then more.")] = None,
    format_: Format = None,
    as_json: AsJson = False,
) -> None:
    """Decide which facts a trained transformer provably knows, one by one.

    The weights are taken as they are, and logits are enclosed in balls. FACTS is a table of facts,
    or of prompts and answers (columns prompt and answer). Names of arrays are those of
    TransformerLens, GPT-2, torch.nn.TransformerEncoderLayer or of one attention layer; others are
    given by --names. What no array says is asked for, or assumed and said.

    Examples: `lemmax certify model.safetensors facts.csv --activation gelu -o model.json`,
    `lemmax certify layer.npz facts.csv --figure margins.svg`
    """
    from lemmax.numerics.certifying.certify import certify as decide
    from lemmax.numerics.certifying.prompts import read_names, read_prompts, read_tokens
    from lemmax.numerics.figures import figure_path

    if output is not None:
        if output.suffix != ".json":
            raise LemmaxError(f"{output}: a certificate is written as .json.")
        writable(output)
    if figure is not None:
        figure_path(figure)
    said: dict[str, Any] = {
        "heads": heads,
        "activation": activation,
        "scale": scale,
        "norm": norm,
        "eps": eps,
        "mask": mask,
        "norm_first": norm_first,
        "tied": tied,
        "positions": None if sinusoidal is None else "sinusoidal" if sinusoidal else "none",
        "layout": layout,
    }
    words, renamed = read_tokens(weights, tokens), None if names is None else read_names(names)
    table: Any = read_prompts(facts)
    how = f"{facts}: read as {counted(len(table or ()), 'prompt')} with answers."
    if table is None:
        table, how = read_facts(facts, format_)
    say(how)
    with progress_bar("facts") as tell, _asked_by_options():
        result = decide(
            weights,
            table,
            prompt=prompt,
            tokens=words,
            margin=0 if margin == "0" else margin,
            bits=bits,
            ignore=ignore or (),
            names=renamed,
            progress=tell if sys.stderr.isatty() else None,
            **said,
        )
    report = result.report()
    if result.known and output is not None:
        report["written"] = [str(path) for path in result.save(output)]
    if figure is not None:
        result.figure(figure)
        report.setdefault("written", []).append(str(figure))
    if as_json:
        typer.echo(json.dumps(report, indent=2))
    else:
        _show(result, report)
    if output is not None and not result.known:
        say(f"No fact is known, so {output} is not written.")


@contextlib.contextmanager
def _asked_by_options() -> Iterator[None]:
    """Sentences that name arguments of Python name options of the command line instead."""
    try:
        yield
    except LemmaxError as error:
        raise type(error)(_as_options(str(error))) from None


def _as_options(sentence: str) -> str:
    """The sentence with options in place of arguments.

    >>> _as_options("Say norm_first=True or norm_first=False, norm='rms', or heads=.")
    'Say --norm-first or --no-norm-first, --norm rms, or --heads.'
    """

    def option(match: re.Match[str]) -> str:
        name, value = match[1].replace("_", "-"), match[2].strip("'")
        if value in ("True", "False"):
            return f"--{name}" if value == "True" else f"--no-{name}"
        return f"--{name} {value}".strip()

    return re.sub(rf"\b({'|'.join(_OPTIONS)})=(True|False|'[\w-]+'|\d+|)", option, sentence)


def _show(result: Any, report: dict[str, Any]) -> None:
    out = console()
    out.print(result.model.summary(), markup=False)
    if result.model.ignored:
        out.print(f"left out: {', '.join(result.model.ignored)}", markup=False)
    missed = [outcome for outcome in result.outcomes if not outcome.known]
    if missed:
        table = Table("not known", "why", "margin at least")
        for outcome in missed[:_SHOWN]:
            low = "" if outcome.low is None else f"{float(outcome.low):.3g}"
            table.add_row(Text(_words(outcome.fact)), Text(outcome.reason), low)
        out.print(table)
        if len(missed) > _SHOWN:
            out.print(f"and {len(missed) - _SHOWN} more (--json lists all)")
    least = report["least_margin"]
    margin = "" if least is None else f"; the least margin is {least:.3g}"
    out.print(f"{report['known']} of {counted(report['facts'], 'fact')} certified{margin}.")
    for path in report.get("written", ()):
        out.print(f"written to {path}", markup=False)


def _words(fact: tuple[Any, ...]) -> str:
    """A fact on one line; a prompt as its tokens."""
    return " ".join(
        " ".join(map(str, part)) if isinstance(part, (list, tuple)) else str(part) for part in fact
    )
