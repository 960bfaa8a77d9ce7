"""The command about bits: what a table holds, and what each construction spends on it."""

from __future__ import annotations

import json

import typer

from lemmax.cli.facts import Facts, Format, read_facts
from lemmax.cli.terminal import AsJson, console, say


def capacity(
    facts: Facts,
    format_: Format = None,
    as_json: AsJson = False,
) -> None:
    """Bits of knowledge per parameter, for every construction and number format.

    Example: `lemmax capacity facts.csv`
    """
    from rich.table import Table

    from lemmax.constructions.capacity import TRAINED, capacities, knowledge
    from lemmax.constructions.capacity.bits import TAU

    db, how = read_facts(facts, format_)
    rows = [row.report() for row in capacities(db)]
    say(how)
    bits = knowledge(len(db), len(db.values))
    if as_json:
        told = {
            "facts": len(db),
            "values": len(db.values),
            "bits": bits,
            "trained": TRAINED,
            "constructions": rows,
        }
        typer.echo(json.dumps(told, indent=2))
        return
    out = console()
    out.print(f"{len(db)} facts over {len(db.values)} values: {bits:.1f} bits.")
    table = Table("construction", "dtype", "logits", "residual", "code", "d_model")
    columns = {
        "parameters": "parameters",
        "without embeddings": "non_embedding_parameters",
        "per parameter": "bits_per_parameter",
        "with τ": "bits_per_parameter_with_tau",
        "per used": "bits_per_used_parameter",
        "per stored bit": "bits_per_stored_bit",
        "limit": "limit",
    }
    for name in columns:
        table.add_column(name, justify="right")
    names = ("construction", "dtype", "logits", "residual", "family", "d_model", *columns.values())
    for row in rows:
        table.add_row(*("" if row[name] is None else str(row[name]) for name in names))
    out.print(table)
    out.print(
        f"Trained language models show about {TRAINED:g} bits per parameter (Allen-Zhu and Li "
        "2024). Used: W_E on subjects and predicates, heads, W_U on values. With τ: bits per "
        f"parameter where every fact has probability {TAU}. Where a dtype is missing the "
        "construction is certified over the reals alone."
    )
