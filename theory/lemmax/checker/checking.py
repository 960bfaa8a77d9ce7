"""Checking a certificate: what surrounds it, its kind, and its steps, within the limits."""

import html
import importlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .files import beside, read
from .limits import NotACertificate, Undecided, brief, metered, refuse
from .reading import choice, screen
from .steps import Step

KINDS = (  # each is a module of ``kinds``, imported when a certificate needs it
    "matrix-rank",
    "softmax-rank",
    "memorization",
    "refutation",
    "witness",
    "tensor-rank",
    "aot-memorization",
    "aot-rank",
    "kl-interval",
    "multi-head",
    "kruskal-rank",
    "float-memorization",
    "transformer-memorization",
    "readout",
)


@dataclass(frozen=True)
class Verdict:
    """What the checker found: ``steps`` ends with the step that failed if ``holds`` is false."""

    kind: str
    holds: bool
    steps: tuple[str, ...]
    claim: str = ""  # the id that a refutation or a witness names
    statement: str = ""  # whose statement was checked: "the claim's", ... or "" for other kinds

    def _repr_html_(self) -> str:
        """The steps as a list, for notebooks."""
        head = f"{self.kind} {self.claim}: {'holds' if self.holds else 'does not hold'}"
        steps = "".join(f"<li>{html.escape(step)}</li>" for step in self.steps)
        return f"<p>{html.escape(head)}</p><ol>{steps}</ol>"


def rule_of(kind: str) -> Callable[[Mapping[str, Any]], Iterator[Step]]:
    """The function that checks a kind; its docstring says what a certificate shows, and how."""
    module = importlib.import_module(f".kinds.{kind.replace('-', '_')}", __package__)
    rule: Callable[[Mapping[str, Any]], Iterator[Step]] = module.check
    return rule


def check(certificate: object, formal: Mapping[str, str] | None = None) -> Verdict:
    """Check a certificate, read from JSON; raise NotACertificate if it is malformed.

    With the formal statements of claims (from :func:`formal_statements`), a certificate about a
    claim has to carry that claim's own.

    >>> check({"format": "lemmax-certificate", "version": 1, "kind": "matrix-rank",
    ...        "matrix": [["1", "2"], ["3", "4"]], "rank": 2, "upper": {"method": "size"},
    ...        "lower": {"prime": "7", "rows": [0, 1], "columns": [0, 1]}}).holds
    True
    """
    if isinstance(certificate, dict):  # also one that knows how to print itself
        certificate = dict(certificate)
    try:
        with metered():
            return _checked(certificate, formal)
    except (RecursionError, MemoryError, OverflowError) as error:
        raise NotACertificate(f"The certificate is too large: {type(error).__name__}.") from None


def _checked(certificate: object, formal: Mapping[str, str] | None) -> Verdict:
    screen(certificate)
    if type(certificate) is not dict:
        refuse("A certificate", f"is an object, not {brief(certificate)}")
    data: dict[str, Any] = dict(certificate)
    if data.pop("format", None) != "lemmax-certificate":
        refuse("format", "must be 'lemmax-certificate'")
    version = data.pop("version", None)
    kind = choice(data.pop("kind", None), "kind", KINDS)
    about = kind in ("refutation", "witness")
    wanted = 2 if kind == "witness" or (about and type(data.get("statement")) is str) else 1
    if type(version) is not int or version != wanted:
        refuse("version", f"must be {wanted}")
    note = data.pop("note", "")
    if type(note) is not str or len(note) > 2000:
        refuse("note", "must be a string of at most 2000 characters")
    claim, source, bonds = "", "", list[Step]()
    if about:  # the language of statements is imported for these kinds alone
        from .language.claims import bonded

        claim, source, bonds = bonded(data, wanted, formal)
    steps: list[str] = []
    try:
        for step in itertools.chain(bonds, rule_of(kind)(data)):
            steps.append(step.text)
            if not step.ok:
                return Verdict(kind, False, tuple(steps), claim, source)
    except Undecided as reason:
        return Verdict(kind, False, (*steps, f"undecided: {reason}"), claim, source)
    return Verdict(kind, bool(steps), tuple(steps), claim, source)


def check_file(path: str | os.PathLike[str], formal: Mapping[str, str] | None = None) -> Verdict:
    """Check the certificate in a file; raise NotACertificate if there is none."""
    with beside(path):
        return check(read(path), formal)
