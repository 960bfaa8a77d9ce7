"""Refutations of claims: the instance is given here, the statement is read where it stands."""

from __future__ import annotations

from typing import Any

from lemmax.theory.certificates.writing import Certificate, refutation
from lemmax.theory.facts.database import Database
from lemmax.theory.ledger.statements import statement_of
from lemmax.theory.mahdavi.layer import MultiHead
from lemmax.theory.wong.layer import AttentionLayer


def refute(claim: str, **instance: Any) -> Certificate:
    """A ``refutation`` of a claim by the named objects of an instance.

    The hypotheses and the conclusion are those of the claim; whether the instance satisfies the
    ones and not the other is for the checker to say. Cost: writing the instance down.

    >>> from lemmax.theory import Matrix
    >>> certificate = refute("wong/argmax-rank-one", M=Matrix([[1, 0, -1], [-1, 0, 1], [0, 0, 0]]))
    >>> certificate["statement"]["conclusion"]
    'rank(argmax(M)) <= 2'
    """
    hypotheses, conclusion = statement_of(claim)
    plain = {name: _plain(value) for name, value in instance.items()}
    return refutation(claim, plain, hypotheses, conclusion)


def _plain(value: Any) -> Any:
    """Layers and facts as certificates write them; numbers and matrices are written later."""
    if isinstance(value, AttentionLayer):
        return {"layer": value.certificate_fields()}
    if isinstance(value, MultiHead):
        return {"multi-head": value.certificate_fields(values=False)}
    if isinstance(value, Database):
        return {"facts": [[str(token) for token in fact] for fact in value]}
    return value
