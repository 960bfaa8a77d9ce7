"""What the theorems of Coq state, as Coq prints it, recorded in a file that people can read.

A theorem whose statement changed is noticed: the record must be confirmed by writing it anew.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from lemmax.theory.files import write_text
from lemmax.theory.ledger.verdicts import LedgerError


def read_theorems(path: Path) -> dict[str, str]:
    """The recorded statements by ``file.theorem``; none where there is no record yet."""
    if not path.is_file():
        return {}
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LedgerError(f"{path} is not a TOML file: {error}.") from None
    return {
        f"{file}.{name}": " ".join(str(text).split())
        for file, table in document.items()
        for name, text in table.items()
    }


def theorems_text(recorded: Mapping[str, str]) -> str:
    """The text of the file: one table per source, in a fixed order."""
    lines = ["# What the theorems state, as Coq prints it (pytest --write-theorems).\n"]
    last = ""
    for key, statement in sorted(recorded.items()):
        file, _, name = key.partition(".")
        if file != last:
            lines.append(f"\n[{file}]\n")
            last = file
        # A text of JSON is a text of TOML, but for the escape of a slash, which is not used.
        lines.append(f"{json.dumps(name)} = {json.dumps(statement, ensure_ascii=False)}\n")
    return "".join(lines)


def record_theorem(path: Path, name: str, statement: str) -> None:
    """Write the statement of one theorem into the record."""
    recorded = read_theorems(path)
    if recorded.get(name) != statement:
        write_text(path, theorems_text({**recorded, name: statement}))
