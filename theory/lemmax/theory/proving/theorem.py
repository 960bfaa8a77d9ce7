r"""A theorem about one certificate, as the text of a Coq file and read back from it.

A file has a fixed head, and for each certificate one module with the data that the statement names,
the statement and its proof. :func:`parse` accepts nothing else: no notation, no further definition
and no forbidden word, so that what the statement says is what the definitions of ``theory/formal``
and the data make of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.coq import forbidden_words, strip_comments
from lemmax.theory.proving import literals
from lemmax.theory.proving.literals import Value

HEAD = """\
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From lemmax Require Import tensor database row_argmax row_threshold attention_layer.
From lemmax Require Import probable_memorization matrix_words.
From lemmax Require attention_only_transformer multi_head_attention.
From lemmax Require Import reflect_integers reflect_rank reflect_reals reflect_matrices.
From lemmax Require Import reflect_tensor_rank reflect_memorization reflect_features.
From lemmax Require Import reflect_sequences reflect_words.
From lemmax Require Import independent_rows reflect_independence.
From lemmax Require Import layer_words reflect_layer_words.
From lemmax Require Import tensor_words reflect_tensors reflect_layer_tensors.
From lemmax Require Import context_words reflect_contexts.
From lemmax Require Import association_words reflect_associations.
Set Implicit Arguments.
Unset Strict Implicit.
Import Order.TTheory GRing.Theory Num.Theory.
Delimit Scope nat_scope with N.
Delimit Scope Z_scope with bZ.
Delimit Scope Q_scope with bQ.
Local Open Scope nat_scope.
Local Open Scope ring_scope.
"""
TYPES = {
    "Z": "bZ",
    "positive": "positive",
    "seq Z": "bZ",
    "seq (seq Z)": "bZ",
    "cube": "bZ",
    "seq cube": "bZ",
    "seq nat": "N",
    "seq (nat * nat * nat)": "N",
    "seq (seq nat * nat)": "N",
    "decomposition": "bZ",
}
_MODULE = re.compile(
    r"Module (?P<name>\w+)\.\n(?P<data>.*?)Theorem holds (?P<statement>.*?)\.\nProof\.\n"
    r"(?P<proof>.*?)\nQed\.\nEnd (?P=name)\.\nPrint Assumptions (?P=name)\.holds\.\n",
    re.DOTALL,
)
_DEFINITION = re.compile(r"Definition (\w+) : ([^:=]+?) :=\s+(.*?)\.(?:\n|$)", re.DOTALL)


class NotTranslated(LemmaxError):
    """This certificate has no translation into Coq; the sentence says why."""


@dataclass(frozen=True)
class Theorem:
    """Named data, a statement that names them, and its proof; the binders belong to the statement.

    ``data`` maps each name to its type (a key of :data:`TYPES`) and its value.
    """

    data: Mapping[str, tuple[str, Value]]
    statement: str
    proof: str


@dataclass(frozen=True)
class Parsed:
    """What was read from a module of a file: data by name, and the statement on one line."""

    name: str
    data: Mapping[str, Value]
    statement: str


def module_name(name: str) -> str:
    """A name for Coq.

    >>> module_name("wong/example-3.3")
    'wong_example_3_3'
    """
    word = re.sub(r"\W+", "_", name).strip("_")
    return word if word[:1].isalpha() else f"c_{word}"


def module_text(name: str, theorem: Theorem, remark: str = "") -> str:
    """The module of one certificate."""
    lines = [f"Module {name}."]
    if remark:
        lines.append(f"(* {remark} *)")
    for word, (kind, value) in theorem.data.items():
        text = literals.folded(f"{literals.write(value)}%{TYPES[kind]}.")
        lines.append(f"Definition {word} : {kind} :=\n  {text}")
    lines += [f"Theorem holds {theorem.statement}.", "Proof.", theorem.proof, "Qed."]
    lines += [f"End {name}.", f"Print Assumptions {name}.holds."]
    return "\n".join(lines) + "\n"


def file_text(modules: Sequence[str]) -> str:
    """A file with these modules."""
    return HEAD + "".join("\n" + module for module in modules)


def parse(text: str) -> list[Parsed]:
    """The modules of a file; LemmaxError if anything else stands in it.

    >>> theorem = Theorem({"d": ("Z", 3)}, ": d = d", "by [].")
    >>> [m.data for m in parse(file_text([module_text("a", theorem)]))]
    [{'d': 3}]
    """
    bare = strip_comments(text)
    if words := forbidden_words(bare):
        raise LemmaxError(f"The file contains the forbidden word {words[0]!r}.")
    if not bare.startswith(HEAD):
        raise LemmaxError("The file does not begin as a proof of lemmax does.")
    rest, found = re.sub(r"\n *\n", "\n", bare[len(HEAD) :]).lstrip("\n"), []
    while rest.strip():
        match = _MODULE.match(rest)
        if match is None:
            raise LemmaxError(f"The file has something else than modules: {rest[:40]!r}.")
        found.append(_module(match))
        rest = rest[match.end() :].lstrip("\n")
    return found


def _module(match: re.Match[str]) -> Parsed:
    data: dict[str, Value] = {}
    position, text = 0, match["data"]
    while text[position:].strip():
        definition = _DEFINITION.match(text, position)
        if definition is None or definition[2] not in TYPES:
            raise LemmaxError(f"A definition of {match['name']} is not one of data.")
        if definition[1] in data:
            raise LemmaxError(f"{match['name']} defines {definition[1]} twice.")
        scope = definition[3].rpartition("%")[2]
        if scope != TYPES[definition[2]]:
            raise LemmaxError(f"{definition[1]} of {match['name']} is read in the wrong scope.")
        data[definition[1]] = literals.read(definition[3])
        position = definition.end()
    for word in ("Theorem", "Lemma", "Definition", "Notation", "Proof", "Qed", "Module"):
        if re.search(rf"\b{word}\b", match["proof"] + match["statement"]):
            raise LemmaxError(f"The proof of {match['name']} contains the word {word}.")
    return Parsed(match["name"], data, " ".join(match["statement"].split()))
