r"""Statements for all sizes, proved in Coq and checked by its kernel.

The sources are the files ``theory/formal/*.v`` of a clone; what they say of their theorems stands
in their headers. :mod:`lemmax.theory.ledger.coq_cache` compiles them and asks Coq for every theorem
what it states and which axioms its proof rests on. A file is accepted iff it compiles, contains no
forbidden word, states at least one theorem (or is a file of definitions, without theorems, that
others use), and every theorem is closed under the global context.

Theorems are what a file introduces with ``Theorem`` or ``Corollary``; lemmas are covered by the
theorems that use them, since Coq follows a proof through everything it depends on.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.proofs import Direction

LOGICAL_NAME = "lemmax"
CLOSED = "Closed under the global context"
QUIET = ("-q", "-w", "-notation-overridden,-ambiguous-paths")

# Words that let a file claim more than it proves; comments and strings are stripped first.
FORBIDDEN = (
    "Admitted",
    "admit",
    "give_up",
    "Axiom",
    "Axioms",
    "Parameter",
    "Parameters",
    "Conjecture",
    "Conjectures",
    "Primitive",
    "Declare ML Module",
    "Redirect",
    "Load",
    "bypass_check",
    "Unset Guard Checking",
    "Unset Positivity Checking",
    "Unset Universe Checking",
    "Type In Type",
)
# Words that are harmless inside a section, where they are discharged, and axioms outside.
SECTION_ONLY = ("Hypothesis", "Hypotheses", "Variable", "Variables", "Context")

_WORDS = re.compile(
    r"(?<![\w.'])(?:" + "|".join(w.replace(" ", r"\s+") for w in FORBIDDEN) + r")(?![\w'])"
)
_SECTIONS = re.compile(
    r"(?<![\w.'])(?:(?P<open>Section)\s+(?P<name>[\w']+)\s*\.(?=\s|$)"
    r"|End\s+(?P<close>[\w']+)\s*\.(?=\s|$)"
    r"|(?P<word>" + "|".join(SECTION_ONLY) + r")(?![\w']))"
)
_THEOREM = re.compile(r"^\s*(?:Theorem|Corollary)\s+([\w']+)(.*?)\.\s+Proof\b", re.MULTILINE | re.S)
_REQUIRE = re.compile(rf"^\s*From\s+{LOGICAL_NAME}\s+Require\s+(?:Import|Export)?([^.]*)\.", re.M)
_HEADER = re.compile(r"\A\s*\(\*")
_PROVED = re.compile(
    r"\s*(?:(?P<word>claim|against):\s+(?P<claim>[\w.\-]+/[\w.\-]*\w)"
    r"(?:@(?P<digest>[0-9a-f]{16}))?(?:\s+\((?P<scope>[^()]*)\))?,\s+by|control:)\s+(?P<theorems>[\w',\s]+)\.(?=\s)"
)


class KernelError(LemmaxError):
    """The formal sources, or Coq, are not there, or the sources require each other in a circle."""


@dataclass(frozen=True)
class Theorem:
    """A theorem of a file: its statement as written there and as Coq prints it, and what its
    proof assumes."""

    name: str
    statement: str
    printed: str
    assumptions: str

    @property
    def closed(self) -> bool:
        """Whether Coq says that the proof rests on no axiom."""
        return self.assumptions == CLOSED


@dataclass(frozen=True)
class FormalFile:
    """What became of one source file."""

    name: str
    claims: tuple[str, ...]
    theorems: tuple[Theorem, ...]
    forbidden: tuple[str, ...]
    compiled: bool
    message: str

    @property
    def accepted(self) -> bool:
        """Compiled, without forbidden words, every theorem closed under the global context."""
        return self.compiled and not self.forbidden and all(t.closed for t in self.theorems)

    def theorem(self, name: str) -> Theorem:
        """The theorem with this name; KeyError if the file does not state it."""
        return {t.name: t for t in self.theorems}[name]


def find_coqc() -> str | None:
    """The path of coqc, or None where Coq is not installed."""
    return shutil.which("coqc")


def formal_folder() -> Path:
    """The folder of the formal sources: theory/formal in a clone, else beside this module."""
    here = Path(__file__).resolve()
    for folder in (here.parents[3] / "formal", here.parents[1] / "formal"):
        if any(folder.glob("*.v")):
            return folder
    raise KernelError(
        "the formal sources are not installed: take them from a clone (theory/formal)."
    )


@cache
def strip_comments(text: str, keep_strings: bool = False) -> str:
    """The source without comments, which nest, and with every string emptied or kept.

    >>> strip_comments('a (* b (* c *) "*)" d *) e "Axiom" f')
    'a   e "" f'
    """
    kept: list[str] = []
    depth, position = 0, 0
    while position < len(text):
        if text.startswith("(*", position):
            depth, position = depth + 1, position + 2
        elif depth and text.startswith("*)", position):
            depth, position = depth - 1, position + 2
            kept.append(" " if depth == 0 else "")
        elif text[position] == '"':
            end = text.find('"', position + 1)
            start, position = position, len(text) if end < 0 else end + 1
            string = text[start:position] if keep_strings else '""'
            kept.append("" if depth else string)
        else:
            kept.append("" if depth else text[position])
            position += 1
    return "".join(kept)


def forbidden_words(text: str) -> tuple[str, ...]:
    """The forbidden words of a source, and hypotheses that stand outside every section.

    >>> forbidden_words("Section S. Variable x : nat. End S. (* Axiom *) Lemma a : True. Admitted.")
    ('Admitted',)
    >>> forbidden_words("Section S. End S. Hypothesis h : False.")
    ('Hypothesis outside a section',)
    """
    stripped = strip_comments(text)
    words = [" ".join(match[0].split()) for match in _WORDS.finditer(stripped)]
    sections: list[str] = []
    for match in _SECTIONS.finditer(stripped):
        if match["open"]:
            sections.append(match["name"])
        elif match["close"]:
            if sections and sections[-1] == match["close"]:
                sections.pop()
        elif not sections:
            words.append(f"{match['word']} outside a section")
    return tuple(words)


def theorem_statements(text: str) -> dict[str, str]:
    """The theorems of a source: name to statement as written, binders included.

    >>> theorem_statements("Theorem a n : n = n. Proof. by []. Qed.")
    {'a': 'a n : n = n'}
    """
    stripped = strip_comments(text)
    return {m[1]: (m[1] + m[2]).strip() for m in _THEOREM.finditer(stripped)}


@dataclass(frozen=True)
class Proved:
    """What the header of a file says of some of its theorems.

    They prove ``claim``, or its negation (``against``), or the part of it that ``scope`` tells; or
    they are a control, that something is sharp or needs its hypotheses, and prove no claim.
    ``digest`` is that of the claim's words for which the theorems were written.
    """

    claim: str | None
    direction: Direction
    theorems: tuple[str, ...]
    scope: str | None = None
    digest: str | None = None


def header(text: str) -> tuple[Proved, ...]:
    """What the first comment of a source says that its theorems prove.

    >>> text = (
    ...     "(* claim: wong/slice-ranks@0123456789abcdef (rows), by rows_k, rows_q.\\n"
    ...     "   control: sharp.\\n *)"
    ... )
    >>> header(text)  # doctest: +NORMALIZE_WHITESPACE
    (Proved(claim='wong/slice-ranks', direction='for', theorems=('rows_k', 'rows_q'), scope='rows',
            digest='0123456789abcdef'),
     Proved(claim=None, direction='for', theorems=('sharp',), scope=None, digest=None))
    """
    start = _HEADER.match(text)
    entries: list[Proved] = []
    match = _PROVED.match(text, start.end()) if start else None
    while match is not None:
        theorems = tuple(name.strip() for name in match["theorems"].split(","))
        scope = " ".join(match["scope"].split()) if match["scope"] else None
        direction: Direction = "against" if match["word"] == "against" else "for"
        entries.append(Proved(match["claim"], direction, theorems, scope, match["digest"]))
        match = _PROVED.match(text, match.end())
    return tuple(entries)


def claims_of(text: str) -> tuple[str, ...]:
    """The claim ids that the header of a source names.

    >>> claims_of("(* claim: lemmax/gram-integers, by gram.\\n against: wong/x-1.2, by y.\\n *)")
    ('lemmax/gram-integers', 'wong/x-1.2')
    """
    return tuple(entry.claim for entry in header(text) if entry.claim is not None)


def formal_sources(folder: Path | None = None) -> dict[str, str]:
    """The formal sources by name."""
    return {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted((folder or formal_folder()).glob("*.v"))
    }


def requirements(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """For every source the sources that it requires, each after those that it requires itself."""
    graph: dict[str, list[str]] = {}
    for name in sorted(sources):
        required = _REQUIRE.findall(strip_comments(sources[name]))
        graph[name] = [r for names in required for r in names.split() if r in sources]
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise KernelError(f"the formal sources require each other in a circle: {circle}.") from None
    return {name: graph[name] for name in order}


def compilation_order(sources: Mapping[str, str]) -> list[str]:
    """The names of the sources, each after those that it requires."""
    return list(requirements(sources))
