"""The fixtures that earn grades: each does the deciding itself and says what it saw."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sized
from pathlib import Path
from typing import Any, cast

import pytest

from lemmax.checker import Verdict as Checked
from lemmax.pytest_plugin.earnings import earn, fail, marked_claims
from lemmax.pytest_plugin.gatherer import NAME, Gatherer
from lemmax.pytest_plugin.symbolic import Symbolic
from lemmax.theory.certificates.writing import Certificate, sha256, to_json, write_certificate
from lemmax.theory.ledger.coq import formal_sources, header
from lemmax.theory.ledger.earning import Earned, carries
from lemmax.theory.ledger.theorems import read_theorems, record_theorem
from lemmax.theory.ledger.verdicts import Verdict

CHECKER = Path(__file__).resolve().parent.parent / "checker"
_MEASURABLE: tuple[Verdict, ...] = ("reproduced", "not-reproduced", "recipe-dependent")


def _gatherer(request: pytest.FixtureRequest) -> Gatherer:
    return cast(Gatherer, request.config.pluginmanager.get_plugin(NAME))


@pytest.fixture
def certify(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Checked]:
    """Give a certificate to the independent checker; the test fails unless it holds.

    It earns ``certified`` for the claim that it names if it is a refutation (or, for what exists
    and for instances, a witness) that carries the claim's formal statement. Any other certificate
    is checked and shipped, and earns nothing. The checker runs as it is on disk, in a process of
    its own. ``certify(certificate, ship_as="wong/argmax-rank-one")`` also compares it with the
    shipped file of that name (and writes that file under ``--write-certificates``).
    """
    places, catalogue = _gatherer(request).places, _gatherer(request).catalogue
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

    gatherer = _gatherer(request)
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
        recorded = read_theorems(places.theorems)
        for theorem in theorems:
            known = {t.name: t for t in report[name].theorems}.get(theorem)
            if known is None or not known.closed:
                fail(item, f"{name}.v does not prove {theorem}.")
            if request.config.getoption("--write-theorems"):
                record_theorem(places.theorems, f"{name}.{theorem}", known.printed)
            elif recorded.get(f"{name}.{theorem}") != known.printed:
                fail(
                    item,
                    f"{name}.{theorem} states {known.printed}, which is not what "
                    f"{places.theorems.name} records: read it, and run with --write-theorems.",
                )
        for proved in header(formal_sources(places.formal)[name]):
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
    return Symbolic(cast(pytest.Item, request.node))


@pytest.fixture
def exhaust(request: pytest.FixtureRequest) -> Callable[..., int]:
    """``exhaust(instances, predicate)``: the predicate is True on all of them; returns how many.

    A tuple is passed as several arguments. Where all of them are integers, the scope is computed:
    the range of each argument.
    """
    item = cast(pytest.Item, request.node)

    def run(instances: Iterable[Any], predicate: Callable[..., bool]) -> int:
        names = list(inspect.signature(predicate).parameters)
        ranges: list[tuple[int, int]] | None = []
        count = 0
        for instance in instances:
            arguments = instance if type(instance) is tuple else (instance,)
            verdict = predicate(*arguments)
            if verdict is not True:
                fail(item, f"The predicate says {verdict!r} of {instance!r}.")
            count += 1
            if ranges is not None and all(type(a) is int for a in arguments):
                known = ranges or [(a, a) for a in arguments]
                ranges = [
                    (min(low, a), max(high, a))
                    for (low, high), a in zip(known, arguments, strict=True)
                ]
            else:
                ranges = None
        if not count:
            fail(item, "There was no instance to decide.")
        scope = None
        if ranges:
            told = (f"{n} = {a}..{b}" for n, (a, b) in zip(names, ranges, strict=False))
            scope = f"{count} instances, {', '.join(told)}"
        earn(item, Earned("universal", count=count, scope=scope))
        return count

    return run


class Sample:
    """The fixture ``sample``: ``sample(condition)`` fails unless it is True, and counts."""

    def __init__(self, gatherer: Gatherer) -> None:
        self._gatherer = gatherer

    def __call__(self, condition: Any, about: object = None) -> None:
        """One example is decided; ``about`` is shown where it fails."""
        item = self._gatherer.running
        if item is None:
            raise RuntimeError("An example is decided inside of a test.")
        # numpy has a bool of its own
        decided = condition.item() if hasattr(condition, "item") else condition
        if decided is not True:
            told = f" for {about!r}" if about is not None else ""
            fail(item, f"The property is {condition!r}{told}.")
        earn(item, Earned("property", count=1))


@pytest.fixture(scope="session")
def sample(request: pytest.FixtureRequest) -> Sample:
    """Decide examples: ``sample(condition)`` inside of a test of hypothesis, or of a loop.

    The examples that were really decided are counted; those that were assumed away are not.
    """
    return Sample(_gatherer(request))


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``measure(judge, data)``: what a judge says of recorded data about the marked claim.

    ``judge(data)`` returns judgements, each with ``claim``, ``verdict`` and ``sentence``; the
    outcome is computed from the data and never typed.
    """
    item = cast(pytest.Item, request.node)

    def record(judge: Callable[[Any], Iterable[Any]], data: Any) -> None:
        if not callable(judge):
            fail(item, f"measure takes a judge and its data, not {judge!r}.")
        if not isinstance(data, Sized) or not len(data):
            fail(item, "There are no data to judge.")
        judgements = [j for j in judge(data) if j.claim in marked_claims(item)]
        if not judgements:
            fail(item, "The judge says nothing about the marked claim.")
        for judgement in judgements:
            if judgement.verdict not in _MEASURABLE:
                fail(item, f"{judgement.claim} is not decided: {judgement.sentence}")
            earn(
                item,
                Earned(
                    "empirical",
                    about=judgement.claim,
                    measured=judgement.verdict,
                    details=judgement.sentence,
                ),
            )

    return record
