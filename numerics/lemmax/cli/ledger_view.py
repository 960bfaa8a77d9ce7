"""The ledger as people see it: a table of all claims, and one claim with everything about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lemmax.cli.plain_text import plain_text
from lemmax.theory.ledger.claims import KINDS

COLOURS = {
    "holds": "green",
    "repaired": "cyan",
    "refuted": "red",
    "supported": "yellow",
    "reproduced": "green",
    "not-reproduced": "red",
    "recipe-dependent": "yellow",
    "stale": "magenta",
}


def show_all(entries: Sequence[dict[str, Any]], console: Console) -> None:
    """The table, and how many claims have which verdict."""
    table = Table(box=None, pad_edge=False)
    for name in ("id", "kind", "verdict", "grade"):  # never cut: a reader copies them
        cells = [_grade(row) if name == "grade" else row[name] or "-" for row in entries]
        longest = max(map(len, cells), default=1)
        table.add_column(name, no_wrap=True, min_width=longest)
    table.add_column("source", no_wrap=True)
    table.add_column("what", no_wrap=True, overflow="ellipsis")
    for row in entries:
        table.add_row(
            Text(row["id"]),
            row["kind"],
            Text(row["verdict"], COLOURS.get(row["verdict"], "")),
            Text(_grade(row)),
            Text(row["source"]),
            Text(row["title"]),
        )
    console.print(table)
    counts = Counter(row["verdict"] for row in entries)
    told = ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common())
    kinds = ", ".join(f"{letter} {name}" for letter, name in KINDS.items() if letter != "D")
    console.print(f"{len(entries)} claims: {told}. Kinds: {kinds}.")


def _grade(entry: dict[str, Any]) -> str:
    """The grade, and whether Coq's kernel has checked the certificate too."""
    mark = ", kernel-checked" if entry.get("kernel_checked") else ""
    return f"{entry['grade'] or '-'}{mark}"


def show_one(entry: dict[str, Any], console: Console) -> None:
    """One claim as a page of text."""
    console.print(Text(f"{entry['id']}  ({entry['number']}, {entry['place']})", "bold"))
    console.print(Text(plain_text(entry["statement"])))
    if entry["reading"]:
        console.print(Text(f"Reading: {plain_text(entry['reading'])}"))
    if entry["sharpens"]:
        console.print(Text(f"Our sharp reading of: {entry['sharpens']}"))
    for label, key in (
        ("Formally", "formal"),
        ("A consequence of it only", "consequence"),
        ("A formula that proves it", "formula"),
        ("A formula that refutes it", "counterformula"),
        ("Its symbols", "symbols"),
        ("Informal", "informal"),
    ):
        if entry[key]:
            console.print(Text(f"{label}: {' '.join(entry[key].split())}"))
    if entry["theorems"]:
        console.print(Text(f"Theorems in Coq: {', '.join(entry['theorems'])}"))
    verdict = Text("verdict: ")
    verdict.append(entry["verdict"], COLOURS.get(entry["verdict"], ""))
    verdict.append(f"  grade: {_grade(entry)}  source: {entry['source']}")
    console.print(verdict)
    if entry["waits"]:
        console.print(Text(f"Why it is open: {plain_text(entry['waits']).strip()}"))
    if entry["repaired_by"]:
        reason = f" ({plain_text(entry['repair']).strip()})" if entry["repair"] else ""
        console.print(Text(f"repaired by: {entry['repaired_by']}{reason}"))
    for item in entry["evidence"]:
        scope = f"  [{item['scope']}]" if "scope" in item else ""
        direction = "" if item["direction"] == "for" else f" {item['direction']}"
        if item.get("measured") == "open":
            direction = ", does not decide"
        mark = ", kernel-checked" if item.get("kernel_checked") else ""
        line = f"  {item['outcome']}: {item['grade']}{mark}{direction}  {item['test']}{scope}"
        console.print(Text(line))
        for name in item.get("certificates", ()):
            console.print(Text(f"    certificate: {name}"))
        for name in item.get("theorems", ()):
            console.print(Text(f"    theorem: {name}"))
        if "formula" in item:
            console.print(Text(f"    for all {', '.join(item['symbols'])}: {item['formula']}"))
        if "count" in item:
            console.print(Text(f"    {item['count']} different instances decided"))
        if "predicate" in item:
            console.print(Text(f"    predicate: {item['predicate']}"))
        if "details" in item:
            console.print(Text(f"    {item['details']}"))
    for label, key in (
        ("the consequence leans on", "consequence_uses"),
        ("rests on", "uses"),
        ("used by", "used_by"),
    ):
        if entry[key]:
            console.print(Text(f"{label}: {', '.join(entry[key])}"))
    console.print(Text(f"digest of the statement: {entry['digest']}"))
