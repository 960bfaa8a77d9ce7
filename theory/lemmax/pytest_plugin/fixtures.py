"""The fixtures ``certify``, ``kernel`` and ``symbolic``: each does the deciding itself."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from lemmax.checker import Verdict as Checked
from lemmax.pytest_plugin.earnings import earn, fail, marked_claims
from lemmax.pytest_plugin.gatherer import gatherer_of
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.theory.certificates.writing import Certificate, sha256, to_json, write_certificate
from lemmax.theory.ledger.coq import formal_sources, header
from lemmax.theory.ledger.earning import Earned, carries
from lemmax.theory.ledger.theorems import (
    Recorded,
    definitions_digest,
    read_theorems,
    record_theorem,
)

CHECKER = Path(__file__).resolve().parent.parent / "checker"


@pytest.fixture
def certify(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Checked]:
    """Give a certificate to the independent checker; the test fails unless it holds.

    It earns ``certified`` for the claim that it names if it is a refutation (or, for what exists
    and for instances, a witness) that carries the claim's formal statement. Any other certificate
    is checked and shipped, and earns nothing. The checker runs as it is on disk, in a process of
    its own. ``certify(certificate, ship_as="wong/argmax-rank-one")`` also compares it with the
    shipped file of that name (and writes that file under ``--write-certificates``).
    """
    places, catalogue = gatherer_of(request).places, gatherer_of(request).catalogue
    item = cast(pytest.Item, request.node)

    def accept(certificate: Certificate, ship_as: str | None = None) -> Checked:
        file = tmp_path / "certificate.json"
        file.write_text(to_json(certificate), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-I", str(CHECKER), "--json", "--", str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            (entry,) = json.loads(done.stdout)
        except ValueError:
            fail(item, f"The checker did not answer: {done.stderr.strip()}")
        if done.returncode != 0 or entry["status"] != "holds":
            fail(item, "\n".join(entry.get("steps", [entry.get("error", "")])))
        if ship_as is not None:
            if places.certificates is None:
                fail(item, "The setting lemmax_certificates names no folder to ship from.")
            path = places.certificates / f"{ship_as}.json"
            if request.config.getoption("--write-certificates"):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_certificate(path, certificate)
            if not path.is_file():
                fail(item, f"{path} is not shipped: run with --write-certificates")
            if path.read_text(encoding="utf-8") != to_json(certificate):
                fail(item, f"{path} is out of date")
        about, kind = certificate.get("claim"), entry["kind"]
        known = isinstance(about, str) and about in catalogue
        shows = {"refutation": "against", "witness": "for"}
        earn(
            item,
            Earned(
                "certified",
                about=str(about) if about is not None else None,
                shows=shows.get(kind),
                bound=known and carries(certificate, catalogue[str(about)]),
                certificates=(f"{ship_as}.json",) if ship_as else (),
                sha256=(sha256(certificate),) if ship_as else (),
            ),
        )
        return Checked(kind, True, tuple(entry["steps"]), str(about or ""))

    return accept


@pytest.fixture
def kernel(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``kernel("file", "theorem", …)``: Coq compiles the file, and the theorems rest on no axiom.

    The header of the file says which claim they prove and for which digest of its words. What
    they state, as Coq prints it, must be what is recorded (``--write-theorems`` records it).
    """
    from lemmax.theory.ledger.coq_cache import check_formal

    gatherer = gatherer_of(request)
    item = cast(pytest.Item, request.node)
    places = gatherer.places

    def prove(file: str, *theorems: str) -> None:
        name = file.removesuffix(".v")
        if not theorems:
            fail(item, f"{name}.v: name at least one theorem.")
        report = check_formal(places.formal, [name])
        for formal in report.values():
            if not formal.accepted:
                fail(item, f"{formal.name}.v is not accepted: {formal.message or formal.forbidden}")
        recorded, sources = read_theorems(places.theorems), formal_sources(places.formal)
        for theorem in theorems:
            known = {t.name: t for t in report[name].theorems}.get(theorem)
            if known is None or not known.closed:
                fail(item, f"{name}.v does not prove {theorem}.")
            now = Recorded(known.printed, definitions_digest(sources, name, theorem))
            was = recorded.get(f"{name}.{theorem}")
            if request.config.getoption("--write-theorems"):
                record_theorem(places.theorems, f"{name}.{theorem}", now)
            elif was is None or was.states != now.states:
                fail(
                    item,
                    f"{name}.{theorem} states {known.printed}, which is not what "
                    f"{places.theorems.name} records: read it, and run with --write-theorems.",
                )
            elif was.definitions != now.definitions:
                fail(
                    item,
                    f"{name}.{theorem} reads as before, but a definition in it changed since "
                    f"{places.theorems.name} was written: read it, and run with --write-theorems.",
                )
        for proved in header(sources[name]):
            if proved.claim in marked_claims(item) and set(theorems) <= set(proved.theorems):
                allowed = gatherer.catalogue[proved.claim].theorems
                if allowed and not {f"{name}.{t}" for t in theorems} <= set(allowed):
                    fail(item, f"{proved.claim} does not list the theorems {', '.join(theorems)}.")
                earn(
                    item,
                    Earned(
                        "kernel",
                        about=proved.claim,
                        shows=proved.direction,
                        statement=proved.digest,
                        scope=proved.scope,
                        theorems=tuple(f"{name}.{t}" for t in theorems),
                    ),
                )

    return prove


@pytest.fixture
def symbolic(request: pytest.FixtureRequest) -> Symbolic:
    """Formulas with free symbols, decided by z3 or sympy: see :class:`Symbolic`."""
    return Symbolic(cast(pytest.Item, request.node), gatherer_of(request).catalogue)
