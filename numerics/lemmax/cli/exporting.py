"""Find the certificate that ``lemmax export`` is asked for."""

from __future__ import annotations

from pathlib import Path

from lemmax import checker
from lemmax.constructions import shipped
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.entries import certificates_of


def find_certificate(identifier: str) -> tuple[str, Certificate]:
    """The certificate of a claim, of a shipped name or of a file, and the name it goes by.

    >>> name, certificate = find_certificate("wong/argmax-rank-one")
    >>> name, certificate["kind"]
    ('wong/argmax-rank-one', 'refutation')
    """
    if identifier.endswith(".json"):
        return _from_file(Path(identifier))
    if identifier in shipped.names():
        return identifier, shipped.load(identifier)
    if identifier not in load_claims():
        raise LemmaxError(f"There is no claim, certificate or file {identifier!r}.")
    found = [name for name in certificates_of(identifier) if name in shipped.names()]
    if not found:
        raise LemmaxError(f"No shipped certificate is evidence for {identifier}.")
    if len(found) > 1:
        raise LemmaxError(f"{identifier} has several certificates: {', '.join(found)}.")
    return identifier, shipped.load(found[0])


def _from_file(path: Path) -> tuple[str, Certificate]:
    """A certificate file of the user's own, if the checker accepts it."""
    try:
        verdict = checker.check_file(path)
    except checker.NotACertificate as error:
        raise LemmaxError(f"{path} is not a certificate: {error}") from None
    if not verdict.holds:
        raise LemmaxError(f"{path} does not hold: {verdict.steps[-1]}")
    import json

    certificate = Certificate(json.loads(path.read_text(encoding="utf-8")))
    return str(certificate.get("claim", path.stem)), certificate
