"""The certificates that ship with lemmax, one file for each decided instance."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from lemmax import checker
from lemmax.theory.certificates import Certificate
from lemmax.theory.errors import LemmaxError

FOLDER = Path(__file__).parent / "certificates"


def names() -> list[str]:
    """The names of all shipped certificates, such as ``wong/argmax-rank-one``.

    >>> "wong/argmax-rank-one" in names()
    True
    """
    return sorted(p.relative_to(FOLDER).with_suffix("").as_posix() for p in FOLDER.rglob("*.json"))


def path(name: str) -> Path:
    """The file of a shipped certificate."""
    if name not in names():
        raise LemmaxError(f"There is no shipped certificate {name!r}.")
    return FOLDER / f"{name}.json"


def load(name: str) -> Certificate:
    """A shipped certificate, read.

    >>> load("wong/argmax-rank-one")["kind"]
    'refutation'
    """
    found: Certificate = json.loads(path(name).read_text(encoding="utf-8"))
    return found


def verify_all() -> list[dict[str, Any]]:
    """Give every shipped certificate to the independent checker."""
    return [_verify(name) for name in names()]


def _verify(name: str) -> dict[str, Any]:
    file = FOLDER / f"{name}.json"
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
