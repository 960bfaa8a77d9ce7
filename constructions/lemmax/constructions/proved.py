"""Which shipped certificates are also Coq theorems, as recorded by the last run of the kernel.

``proved.json`` beside this module has for each certificate its SHA-256 and that of the Coq text
that was proved, or the sentence that says why there is none. A record counts only while the text
written today, with the formal sources it stands on, has the recorded digest.

``python -m lemmax.constructions.proved`` gives the kernel what it has not seen on this machine, and
with ``--changed`` only what the record does not know; with ``--record`` it also writes the record,
with ``--checker`` coqchk checks everything again.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lemmax.constructions import shipped
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_text
from lemmax.theory.ledger.coq import find_coqc
from lemmax.theory.proving import running, theorem, translations

_HEADER = re.compile(r"\A\s*\(\*.*?\*\)\s*", re.DOTALL)
RECORD = Path(__file__).with_name("proved.json")


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


@cache
def modules() -> dict[str, str]:
    """The Coq module of each shipped certificate that has a translation, compared with it."""
    return {name: text for name in shipped.names() if (text := _written(name)[0])}


@cache
def _written(name: str) -> tuple[str, str]:
    """The module of a certificate, or "" and the sentence that says why there is none."""
    try:
        text = translations.file_of({name: dict(shipped.load(name))})
    except theorem.NotTranslated as error:
        return "", str(error)
    return text.removeprefix(theorem.HEAD).lstrip("\n"), ""


def digest(name: str) -> str:
    """The SHA-256 of the Coq module of a shipped certificate and of the sources it stands on."""
    return hashlib.sha256(f"{_sources()}\0{modules()[name]}".encode()).hexdigest()


def proved(name: str) -> bool:
    """Whether a proof of a shipped certificate is recorded.

    >>> proved("dana/any-dimension")
    False
    """
    return bool(records().get(name, {}).get("proved"))


def _today(name: str) -> dict[str, Any]:
    """The record of a certificate, were it proved now."""
    if why := _written(name)[1]:
        return {"proved": False, "reason": why}
    own = hashlib.sha256(shipped.path(name).read_bytes()).hexdigest()
    return {"proved": True, "certificate": own, "sha256": digest(name)}


def stale() -> list[str]:
    """The certificates whose record is not about what would be written today."""
    known = set(records()) - set(shipped.names())
    return sorted(known | {n for n in shipped.names() if records().get(n) != _today(n)})


def prove(timeout: float = 3600, *, changed: bool = False) -> int:
    """Prove all that have a translation, and say how many the kernel had not seen on this machine.

    With ``changed`` only those whose record is stale. LemmaxError if Coq does not accept one of
    them, or is not there.
    """
    late = set(stale()) if changed else set(modules())
    wanted = {name: text for name, text in modules().items() if name in late}
    return running.prove_modules(wanted, timeout) if wanted else 0


def record(timeout: float = 3600) -> dict[str, dict[str, Any]]:
    """Prove all that have a translation, and write down what became of each certificate."""
    prove(timeout)
    found = {name: _today(name) for name in shipped.names()}
    write_text(RECORD, json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    records.cache_clear()
    return found


def main(arguments: Sequence[str]) -> int:
    """Prove what is new, and print what is known."""
    if find_coqc() is None:
        print(f"The theorems about certificates were not proved again: {running.INSTALL}")
        return 0
    try:
        new = prove(changed="--changed" in arguments)
        if "--record" in arguments:
            record()
        if "--checker" in arguments:
            print(running.check_modules(modules()))
    except LemmaxError as error:
        print(error, file=sys.stderr)
        return 1
    print(
        f"{len(modules())} of {len(shipped.names())} shipped certificates are theorems of Coq, "
        f"closed under the global context; {new} were proved now, the others before."
    )
    if late := stale():
        print(f"The record is not of today: {', '.join(late)}.", file=sys.stderr)
    return bool(late)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
