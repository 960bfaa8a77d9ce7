"""What the theorems of Coq state, as Coq prints it, and which definitions that rests on.

Both are recorded in a file that people can read. A theorem whose statement changed, or one of the
definitions that occur in it, is noticed: the record must be confirmed by writing it anew. The
definitions are read off the sources, so that no run of Coq is needed for them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lemmax.theory.files import read_toml, write_text
from lemmax.theory.ledger.coq import requirements, strip_comments, theorem_statements
from lemmax.theory.ledger.verdicts import LedgerError


@dataclass(frozen=True)
class Recorded:
    """What a theorem states, and a fingerprint of the definitions in its statement."""

    states: str
    definitions: str


def read_theorems(path: Path) -> dict[str, Recorded]:
    """The record by ``file.theorem``; empty where there is none yet."""
    if not path.is_file():
        return {}
    document = read_toml(path, LedgerError)
    try:
        return {
            f"{file}.{name}": Recorded(" ".join(entry["states"].split()), str(entry["definitions"]))
            for file, table in document.items()
            for name, entry in table.items()
        }
    except (KeyError, TypeError, AttributeError):
        raise LedgerError(f"{path} is no record of theorems: write it anew.") from None


def theorems_text(recorded: Mapping[str, Recorded]) -> str:
    """The text of the file: one table per source, in a fixed order."""
    lines = ["# What the theorems state, as Coq prints it (pytest --write-theorems).\n"]
    last = ""
    for key, entry in sorted(recorded.items()):
        file, _, name = key.partition(".")
        if file != last:
            lines.append(f"\n[{file}]\n")
            last = file
        # A text of JSON is a text of TOML, but for the escape of a slash, which is not used.
        told = json.dumps(entry.states, ensure_ascii=False)
        lines.append(
            f'{json.dumps(name)} = {{ definitions = "{entry.definitions}", states = {told} }}\n'
        )
    return "".join(lines)


def record_theorem(path: Path, name: str, entry: Recorded) -> None:
    """Write one theorem into the record."""
    recorded = read_theorems(path)
    if recorded.get(name) != entry:
        write_text(path, theorems_text({**recorded, name: entry}))


# --- definitions --------------------------------------------------------------------------------

_PROVED = r"(?:Theorem|Lemma|Corollary|Fact|Remark|Proposition|Example)"
_DEFINED = (
    r"(?:Definition|Fixpoint|CoFixpoint|Inductive|CoInductive|Variant|Record|Structure|Class|Let|"
    r"Instance|Function|Abbreviation)"
)
_PREFIX = r"(?:(?:Local|Global|Program|Polymorphic|#\[[^\]]*\])\s+)*"
_HEAD = re.compile(rf"{_PREFIX}(?P<word>{_PROVED}|{_DEFINED})\s+(?P<name>[\w']+)")
# What says how texts are to be read, or what names stand for inside of a section.
_CONTEXT = re.compile(
    rf"{_PREFIX}(?:Notation|Infix|Reserved|Canonical|Coercion|Variables?|Hypothes[ie]s|Context|"
    r"Open\s+Scope|Close\s+Scope|Arguments|Implicit|Import|Bind|Delimit|Section|End|From)\b"
)
_WITHIN = re.compile(r"[{;|]\s*([\w']+)")  # fields and constructors


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a source without proofs; a definition by tactics comes with its proof."""
    open_proof: list[str] | None = None
    for raw in re.split(r"\.(?=\s|$)", strip_comments(text, keep_strings=True)):
        sentence = " ".join(raw.split())
        if open_proof is not None:
            open_proof.append(sentence)
            if sentence in ("Qed", "Defined"):
                head = _HEAD.match(open_proof[0])
                if sentence == "Defined" or (head and not re.match(_PROVED, head["word"])):
                    yield ". ".join(open_proof)
                open_proof = None
            continue
        head = _HEAD.match(sentence)
        if head and (re.fullmatch(_PROVED, head["word"]) or ":=" not in sentence):
            open_proof = [sentence]
        elif sentence:
            yield sentence


def definitions_digest(sources: Mapping[str, str], file: str, theorem: str) -> str:
    """A fingerprint of all definitions of the sources that the statement of a theorem rests on.

    Those whose names occur in the statement, in these again, and so on, together with the
    notations and sections of the files in which they may stand. Proofs do not matter.

    >>> source = '''Definition two := 2. Definition four := two + two.
    ... Lemma l : 1 = 1. Proof. by []. Qed.
    ... Theorem t : four = 4. Proof. by []. Qed.'''
    >>> one = definitions_digest({"a": source}, "a", "t")
    >>> one == definitions_digest({"a": source.replace("2.", "3.")}, "a", "t")
    False
    >>> one == definitions_digest({"a": source.replace("1 = 1", "2 = 2")}, "a", "t")
    True
    """
    graph = requirements(sources)
    files, waiting = {file}, [file]
    while waiting:
        new = [name for name in graph[waiting.pop()] if name not in files]
        files.update(new)
        waiting += new
    known: dict[str, set[str]] = {}
    kept = set()
    for name in files:
        for sentence in _sentences(sources[name]):
            head = _HEAD.match(sentence)
            if head:
                for word in (head["name"], *_WITHIN.findall(sentence)):
                    known.setdefault(word, set()).add(sentence)
            elif _CONTEXT.match(sentence):
                kept.add(f"{name}: {sentence}")
    texts = [theorem_statements(sources[file])[theorem]]
    seen: set[str] = set()
    while texts:
        for word in re.findall(r"[\w']+", texts.pop()):
            for sentence in known.get(word, set()) - seen:
                seen.add(sentence)
                texts.append(sentence)
    return hashlib.sha256("\n".join(sorted(kept | seen)).encode()).hexdigest()[:16]
