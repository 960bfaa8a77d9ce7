"""The certificates that ship with lemmax, one file for each decided instance."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import lemmax.theory.ledger
from lemmax import checker
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError

LEDGER = Path(lemmax.theory.ledger.__file__).with_name("ledger.json")
FOLDER = Path(__file__).parent / "certificates"


def names(folder: Path = FOLDER) -> list[str]:
    """The names of all certificates of a folder, such as ``wong/argmax-rank-one``.

    >>> "wong/argmax-rank-one" in names()
    True
    """
    return sorted(p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.json"))


def path(name: str, folder: Path = FOLDER) -> Path:
    """The file of a shipped certificate."""
    if name not in names(folder):
        raise LemmaxError(f"There is no shipped certificate {name!r}.")
    return folder / f"{name}.json"


def load(name: str, folder: Path = FOLDER) -> Certificate:
    """A shipped certificate, read.

    >>> load("wong/argmax-rank-one")["kind"]
    'refutation'
    """
    text = path(name, folder).read_text(encoding="utf-8")
    return Certificate(json.loads(text), _claims().get(name) if folder == FOLDER else None)


@cache
def _claims() -> dict[str, str]:
    """The claim that each shipped certificate is evidence about, as the ledger has it."""
    claims = json.loads(LEDGER.read_text(encoding="utf-8"))["claims"]
    return {claim["id"]: claim["id"] for claim in claims} | {
        name.removesuffix(".json"): claim["id"]
        for claim in claims
        for item in claim["evidence"]
        for name in item.get("certificates", ())
    }


def verify_all(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """Give every certificate of a folder to the independent checker."""
    return [_verify(name, folder / f"{name}.json") for name in names(folder)]


def _verify(name: str, file: Path) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": name,
        "kind": "?",
        "holds": False,
        "reason": "",
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }
    try:
        verdict = checker.check_file(file)
    except checker.NotACertificate as error:
        return row | {"reason": f"not a certificate: {error}"}
    reason = "" if verdict.holds else verdict.steps[-1]
    return row | {"kind": verdict.kind, "holds": verdict.holds, "reason": reason}
