"""Refutations and witnesses of claims: the instance is given here, the statement stands there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lemmax.theory.certificates.writing import Certificate, about_claim
from lemmax.theory.dana.transformer import AoT
from lemmax.theory.facts.database import Database
from lemmax.theory.ledger.statements import statement_of
from lemmax.theory.mahdavi.layer import MultiHead
from lemmax.theory.wong.layer import AttentionLayer


def refute(claim: str, evidence: Iterable[Mapping[str, Any]] = (), **instance: Any) -> Certificate:
    """A ``refutation`` of a claim by the named objects of an instance.

    The statement is the claim's own; whether the instance satisfies its assumptions and not its
    conclusion is for the checker to say. ``evidence`` are certificates of bounds for numbers that
    the checker only encloses. Cost: writing the instance down.

    >>> from lemmax.theory import Matrix
    >>> certificate = refute("wong/argmax-rank-one", M=Matrix([[1, 0, -1], [-1, 0, 1], [0, 0, 0]]))
    >>> certificate["statement"]
    'given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2'
    """
    return about_claim("refutation", claim, statement_of(claim), plain(instance), evidence)


def witness(claim: str, evidence: Iterable[Mapping[str, Any]] = (), **instance: Any) -> Certificate:
    """A ``witness`` of a claim: the instance satisfies its assumptions and its conclusion.

    >>> from lemmax.theory import Database
    >>> path = [("a", "f", "x"), ("b", "f", "y"), ("a", "g", "y"), ("b", "g", "x")]
    >>> witness("wong/proposition-2.1", D=Database.from_triples(path))["kind"]
    'witness'
    """
    return about_claim("witness", claim, statement_of(claim), plain(instance), evidence)


def plain(instance: Mapping[str, Any]) -> dict[str, Any]:
    """Layers, contexts, transformers and facts as certificates write them, by name."""
    return {name: _plain(value) for name, value in instance.items()}


def _plain(value: Any) -> Any:
    """One object; numbers and matrices are written later."""
    if isinstance(value, AttentionLayer):
        return {"layer": value.certificate_fields()}
    if isinstance(value, MultiHead):
        return {"multi-head": value.certificate_fields(values=False)}
    if isinstance(value, AoT):
        return {"transformer": value.certificate_fields()}
    if isinstance(value, Database):
        return {"facts": [[str(token) for token in fact] for fact in value]}
    return value


def sorted_tensor(db: Database) -> list[list[list[int]]]:
    """The tensor of a database as the checker reads it: tokens sorted by their names.

    Evidence about the rank of a database has to be about this very tensor.

    >>> sorted_tensor(Database.from_triples([("b", "f", "x"), ("a", "f", "y")]))
    [[[0, 1]], [[1, 0]]]
    """
    present = {(str(k), str(q), str(v)) for k, q, v in db}
    keys, queries, values = (sorted(set(names)) for names in zip(*present, strict=True))
    return [[[int((k, q, v) in present) for v in values] for q in queries] for k in keys]
