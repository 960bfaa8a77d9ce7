r"""What ``lemmax.sty`` prints: one line per statement with its verdict, and the values by name.

The written file needs no program and no network to compile: it is enough for arXiv.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from lemmax.constructions import shipped
from lemmax.paper.errors import PaperError
from lemmax.paper.settings import Settings
from lemmax.paper.statements import Contents, Mention, Statement
from lemmax.paper.values import value_latex
from lemmax.theory.latex import latex_text
from lemmax.theory.ledger.claims import Catalogue, Claim, load_claims
from lemmax.theory.ledger.records import Record, read_ledger, stale
from lemmax.theory.ledger.verdicts import Verdict

STYLE = "lemmax.sty"
DATA = "lemmax-data.tex"
_EMPTY = Record({}, ())


def style() -> str:
    """The text of ``lemmax.sty``."""
    return files("lemmax.paper").joinpath(STYLE).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Badge:
    """What is printed for one label."""

    label: str
    claim: str
    verdict: str
    grade: str
    name: str
    title: str
    command: str
    url: str
    own: bool

    def latex(self) -> str:
        """A line of the data file."""
        fields = (
            self.label,
            self.claim,
            self.verdict,
            self.grade,
            self.name,
            self.title,
            self.command,
            self.url,
        )
        listed = self.own and self.verdict != "definition"
        command = r"\lemmax@claim" if listed else r"\lemmax@other"
        return command + "".join(f"{{{field}}}" for field in fields)


def data_file(
    main: str, contents: Contents, ids: Mapping[str, str], claims: Catalogue, settings: Settings
) -> str:
    """The text of ``lemmax-data.tex``."""
    record = read_ledger(settings.ledger) if settings.ledger.is_file() else _EMPTY
    outdated = set(stale(record, claims)) & record.claims.keys()
    badges = [
        _badge(claims[ids[s.label]], s, record, outdated, settings)
        for s in contents.statements
        if s.label is not None and s.label in ids
    ]
    badges += _others(contents.badges, ids, settings)
    judged = [b for b in badges if b.own and b.verdict != "definition"]
    counts: dict[str, int] = dict.fromkeys((*get_args(Verdict), "stale"), 0)
    counts |= Counter(b.verdict for b in judged) | {"claims": len(judged)}
    lines = [f"% Written by `lemmax paper {main}`: do not edit.", *(b.latex() for b in badges)]
    for name, mention in {m.name: m for m in contents.values}.items():
        formula = value_latex(mention, settings.certificates, counts)
        lines.append(rf"\lemmax@setvalue{{{name}}}{{{formula}}}")
    return "\n".join(lines) + "\n"


def _badge(
    claim: Claim, statement: Statement, record: Record, outdated: set[str], settings: Settings
) -> Badge:
    entry = record.claims.get(claim.id, {})
    verdict = "definition" if claim.kind == "D" else entry.get("verdict", "open")
    if claim.id in outdated and claim.kind != "D":
        verdict = "stale"
    known = verdict not in ("stale", "open", "definition")
    name, title = statement.latex
    return Badge(
        statement.label or "",
        breakable(claim.id),
        verdict,
        (entry.get("grade") or "") if known else "",
        name,
        title if statement.title else "",
        _command(entry, settings) if known else "",
        _address(settings.url, claim.id),
        True,
    )


def _others(
    mentions: Iterable[Mention], ids: Mapping[str, str], settings: Settings
) -> Sequence[Badge]:
    """Badges of claims that lemmax itself decides, named by their ids."""
    wanted = {m.name: m for m in mentions if m.name not in ids}
    if not wanted:
        return []
    catalogue, record = load_claims(), read_ledger(shipped.LEDGER)
    outdated = set(stale(record, catalogue))
    badges = []
    for name, mention in wanted.items():
        if name not in catalogue:
            raise PaperError(
                mention.place,
                f"{name!r} is neither the label of a statement nor a claim of lemmax.",
            )
        claim, entry = catalogue[name], record.claims.get(name, {})
        verdict = "stale" if name in outdated else str(entry["verdict"])
        badges.append(
            Badge(
                name,
                breakable(name),
                verdict,
                entry.get("grade") or "",
                latex_text(claim.number),
                latex_text(claim.title),
                breakable(f"lemmax claims {name}"),
                "",
                False,
            )
        )
    return badges


def _command(entry: Mapping[str, Any], settings: Settings) -> str:
    """How a reader re-checks the evidence that decides a claim."""
    deciding = [
        e
        for e in entry.get("evidence", ())
        if e["outcome"] == "passed" and e["grade"] == entry["grade"]
    ]
    for item in deciding:
        for name in item.get("certificates", ()):
            path = os.path.relpath(settings.certificates / name, settings.root)
            return breakable(f"lemmax check {Path(path).as_posix()}")
    return breakable(f"pytest {deciding[0]['test']}") if deciding else ""


def breakable(text: str) -> str:
    r"""A path or an id as LaTeX that may break where a reader would break it.

    >>> breakable("a/b_c")
    'a/\\lemmax@break b\\_\\lemmax@break c'
    """
    return re.sub(r"(/|::|\\_|\.)(?=\S)", r"\1\\lemmax@break ", latex_text(text))


def _address(url: str | None, identifier: str) -> str:
    if not url:
        return ""
    address = f"{url.rstrip('/')}/claims/{quote(identifier)}.html"
    return re.sub(r"([%#])", r"\\\1", quote(address, safe=":/?#[]@!$&'()*+,;=%~"))
