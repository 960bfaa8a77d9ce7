"""Certificates: JSON objects that carry a result together with what re-establishes it.

A certificate is a dictionary ready for JSON. Exact numbers are strings (the format is described in
``docs/certificates.md`` and by one JSON Schema per kind); whoever doubts a result gives the file to
``lemmax/checker``, which uses nothing of lemmax.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from lemmax.theory.files import write_text
from lemmax.theory.latex import Typeset
from lemmax.theory.sympified import symbolic_array


@runtime_checkable
class HasFlint(Protocol):
    """A matrix over Q that holds a flint matrix, as :class:`~lemmax.theory.Matrix` does."""

    @property
    def flint(self) -> fmpq_mat:
        """The flint matrix."""
        ...


class Certificate(dict[str, Any], Typeset):
    """A dictionary ready for JSON, which can also print itself for a paper.

    ``claim`` is the claim that a refutation names, or the one that it was given with.
    """

    def __init__(self, fields: Mapping[str, Any], claim: str | None = None) -> None:
        super().__init__(fields)
        self._claim = claim

    @property
    def claim(self) -> str | None:
        """The id of the claim that this is evidence about, where one is known."""
        return self.get("claim", self._claim)

    def formula(self) -> str:
        """The objects of the certificate, shortened where they are large."""
        from lemmax.theory.certificates.formulas import certificate_formula

        return certificate_formula(self)

    def to_sympy(self) -> dict[str, Any]:
        """The numbers, matrices and tensors that it is about, by name; not what proves bounds."""
        from sympy import Matrix

        from lemmax.theory.certificates.arrays import shape, short_name, shown

        named = {}
        for path, array in shown(self).items():
            value = symbolic_array(array)
            named[short_name(path)] = Matrix(value) if len(shape(array)) == 2 else value
        return named

    def comments(self) -> tuple[str, ...]:
        """What it is, its digest, and how a reader re-checks it."""
        return (
            f"kind {self.get('kind')}, sha256 {sha256(self)}",
            "re-check it with: python3 -I checker.pyz CERTIFICATE.json",
        )


_LONGEST_DECIMAL = 10**3900


def number(value: fmpq | fmpz | int) -> str:
    """An exact number as certificates write it: decimal, fraction, or hex where it is long.

    >>> number(fmpq(-3, 4)), number(2**20)
    ('-3/4', '1048576')
    >>> number(2**20000 + 1)[:4]
    '0x10'
    """
    exact = fmpq(value)
    p, q = int(exact.p), int(exact.q)
    if abs(p) < _LONGEST_DECIMAL and q < _LONGEST_DECIMAL:
        return str(p) if q == 1 else f"{p}/{q}"
    if q & (q - 1) == 0:
        return hex(p) if q == 1 else f"{p:#x}p-{q.bit_length() - 1}"
    raise ValueError(
        "A fraction this long has no certificate form: its denominator is no power of two."
    )


def matrix(value: HasFlint | fmpz_mat | fmpq_mat) -> list[list[str]]:
    """The entries of a matrix as certificate numbers."""
    flint = value if isinstance(value, (fmpz_mat, fmpq_mat)) else value.flint
    return [[number(x) for x in row] for row in flint.tolist()]


def certificate(kind: str, fields: Mapping[str, Any]) -> Certificate:
    """The envelope around the fields of one kind."""
    return Certificate({"format": "lemmax-certificate", "version": 1, "kind": kind, **fields})


def refutation(
    claim: str,
    instance: Mapping[str, Any],
    hypotheses: Sequence[str],
    conclusion: str,
) -> Certificate:
    """An instance that satisfies every hypothesis of a claim and not its conclusion.

    The comparisons are written in the checker's small language, for instance
    ``rank(argmax(M)) <= 2``; matrices of the instance are given as :class:`Matrix`.
    """
    return certificate(
        "refutation",
        {
            "claim": claim,
            "statement": {"hypotheses": list(hypotheses), "conclusion": conclusion},
            "instance": {name: _plain(value) for name, value in instance.items()},
        },
    )


def about_claim(
    kind: Literal["refutation", "witness"],
    claim: str,
    statement: str,
    instance: Mapping[str, Any],
    evidence: Iterable[Mapping[str, Any]] = (),
) -> Certificate:
    """An instance of which a claim's formal statement fails (refutation) or holds (witness).

    ``evidence`` are certificates that bound numbers which the checker itself only encloses; each
    has to be about the very objects of the statement.
    """
    inner = [{k: v for k, v in c.items() if k not in ("format", "version")} for c in evidence]
    fields = {
        "claim": claim,
        "statement": statement,
        "instance": {name: _plain(value) for name, value in instance.items()},
        **({"evidence": inner} if inner else {}),
    }
    return Certificate({**certificate(kind, fields), "version": 2})


def _plain(value: Any) -> Any:
    if isinstance(value, HasFlint):
        return matrix(value)
    if isinstance(value, Fraction):
        return number(fmpq(value.numerator, value.denominator))
    if isinstance(value, (fmpq, fmpz, int)):
        return number(value)
    return value


def to_json(value: Mapping[str, Any]) -> str:
    """The text of a certificate file: stable under re-generation, a final newline."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n"


def sha256(value: Mapping[str, Any]) -> str:
    """The digest of the certificate's text."""
    return hashlib.sha256(to_json(value).encode()).hexdigest()


def write_certificate(path: str | Path, value: Mapping[str, Any]) -> None:
    """Write a certificate file whole or not at all."""
    write_text(path, to_json(value))
