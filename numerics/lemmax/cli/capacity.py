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
    table = Table("construction", "dtype", "logits", "code", "d_model", "parameters")
    for name in ("per parameter", "per used", "per stored bit", "limit"):
        table.add_column(name, justify="right")
    for row in rows:
        shown = [row["construction"], row["dtype"], row["logits"], row["family"], row["d_model"]]
        shown += [row["parameters"], row["bits_per_parameter"], row["bits_per_used_parameter"]]
        shown += [row["bits_per_stored_bit"], row["limit"]]
        table.add_row(*("" if cell is None else str(cell) for cell in shown))
    out.print(table)
    out.print(
        f"Trained language models show about {TRAINED:g} bits per parameter (Allen-Zhu and Li "
        "2024). Used: W_E on subjects and predicates, heads, W_U on values. Where a dtype is "
        "missing the construction is certified over the reals alone."
    )
