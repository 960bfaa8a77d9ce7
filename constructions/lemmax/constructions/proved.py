"""Which shipped certificates are also Coq theorems, as recorded by the last run of the kernel.

``proved.json`` beside this module has for each certificate the SHA-256 of the Coq text that was
proved, and its seconds, or the sentence that says why there is none. A record counts only while
the text written today, with the formal sources it stands on, has the recorded digest.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lemmax.constructions import shipped
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_text
from lemmax.theory.proving import running, theorem, translations

_HEADER = re.compile(r"\A\s*\(\*.*?\*\)\s*", re.DOTALL)
RECORD = Path(__file__).with_name("proved.json")
SLOW: dict[str, str] = {}
"""Certificates that have a translation but are not proved with the others, and why."""


@dataclass(frozen=True)
class Proved:
    """A shipped certificate that is a theorem: the SHA-256 of its Coq text, and the seconds."""

    name: str
    sha256: str
    seconds: float


@cache
def records() -> dict[str, dict[str, Any]]:
    """What is recorded of each shipped certificate."""
    found: dict[str, dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


@cache
def _sources() -> str:
    """Without the comments at their heads, which say for which words of a claim they were made."""
    sources = running.required_sources().items()
    return running.digest_of("", {name: _HEADER.sub("", text) for name, text in sources})


def digest(name: str) -> str:
    """The SHA-256 of the Coq text of a shipped certificate and of the sources it stands on."""
    text = translations.file_of({name: dict(shipped.load(name))})
    return hashlib.sha256(f"{_sources()}\0{text}".encode()).hexdigest()


def proved(name: str) -> Proved | None:
    """The proof of a shipped certificate, or None where none is recorded.

    >>> proved("dana/any-dimension") is None
    True
    """
    record = records().get(name, {})
    if not record.get("proved"):
        return None
    return Proved(name, record["sha256"], record["seconds"])


def reason(name: str) -> str:
    """Why a shipped certificate is not proved with the others; empty if it is."""
    if name in SLOW:
        return SLOW[name]
    try:
        translations.file_of({name: dict(shipped.load(name))})
    except theorem.NotTranslated as error:
        return str(error)
    return ""


def stale() -> list[str]:
    """The certificates whose record is not about what would be written today."""
    found = []
    for name in shipped.names():
        record = records().get(name)
        why = reason(name)
        if record is None or (why if why else digest(name)) != record.get(
            "reason" if why else "sha256"
        ):
            found.append(name)
    return found


def record(timeout: float = 1800) -> dict[str, dict[str, Any]]:
    """Prove all shipped certificates in one file, and write down what became of each."""
    found: dict[str, dict[str, Any]] = {}
    certificates: dict[str, Any] = {}
    for name in shipped.names():
        why = reason(name)
        if why:
            found[name] = {"proved": False, "reason": why}
        else:
            certificates[name] = dict(shipped.load(name))
    run = running.prove(translations.file_of(certificates), len(certificates), timeout)
    if not run.proved:
        raise LemmaxError(f"Coq did not accept the proofs: {run.message}.")
    for name in certificates:
        seconds = run.modules.get(theorem.module_name(name), 0.0)
        found[name] = {"proved": True, "seconds": seconds, "sha256": digest(name)}
    write_text(RECORD, json.dumps(dict(sorted(found.items())), indent=1) + "\n")
    records.cache_clear()
    return found
