"""The kinds of certificates that have a translation, and the way from a certificate to a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lemmax import checker
from lemmax.theory.errors import LemmaxError
from lemmax.theory.proving.kinds import (
    kruskal,
    matrix_rank,
    memorization,
    multi_head,
    refutation,
    sequences,
    softmax_rank,
    tensor_rank,
)
from lemmax.theory.proving.theorem import (
    NotTranslated,
    Parsed,
    Theorem,
    file_text,
    module_name,
    module_text,
    parse,
)


@dataclass(frozen=True)
class Translation:
    """From a certificate to its theorem, and what both of them say, for comparison."""

    translate: Callable[[Mapping[str, Any]], Theorem]
    read_back: Callable[[Parsed], Any]
    meant: Callable[[Mapping[str, Any]], Any]


def _of(module: Any) -> Translation:
    return Translation(module.translate, module.read_back, module.meant)


KINDS: dict[str, Translation] = {
    "matrix-rank": _of(matrix_rank),
    "tensor-rank": _of(tensor_rank),
    "kruskal-rank": _of(kruskal),
    "softmax-rank": _of(softmax_rank),
    "memorization": _of(memorization),
    "aot-memorization": _of(sequences),
    "multi-head": _of(multi_head),
    "refutation": _of(refutation),
    "witness": _of(refutation),
}


_WHY = {
    "kl-interval": "a divergence needs logarithms, and its infimum limits",
    "aot-rank": "such a rank is known because e is transcendental, which no file of ours proves",
    "transformer-memorization": "norms and activations are not defined in theory/formal",
    "float-memorization": "the rounding of floating-point formats is not defined in theory/formal",
}


def digest(certificate: Mapping[str, Any]) -> str:
    """The SHA-256 of a certificate's content."""
    text = json.dumps(dict(certificate), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def translation(certificate: Mapping[str, Any]) -> Translation:
    """The translation of this certificate's kind; NotTranslated if there is none."""
    kind = certificate.get("kind")
    if kind not in KINDS:
        why = _WHY.get(str(kind), "theory/formal does not define what they say")
        raise NotTranslated(f"Certificates of kind {kind} have no translation into Coq: {why}.")
    return KINDS[kind]


def write_module(name: str, certificate: Mapping[str, Any]) -> str:
    """The module that states and proves what a certificate says.

    The certificate is checked first: LemmaxError if it does not hold.
    """
    verdict = checker.check(certificate)
    if not verdict.holds:
        raise LemmaxError(f"The certificate does not hold: {verdict.steps[-1]}.")
    theorem = translation(certificate).translate(certificate)
    return module_text(name, theorem, f"kind {certificate['kind']}, sha256 {digest(certificate)}")


def compare(text: str, certificates: Mapping[str, Mapping[str, Any]]) -> None:
    """Read a written file and compare it with the certificates, by the names of its modules.

    Nothing of the writing is trusted: LemmaxError unless the file contains a theorem for each
    certificate, no other, and each says what its certificate says, number by number.
    """
    parsed = parse(text)
    names = [module.name for module in parsed]
    if sorted(names) != sorted(certificates):
        raise LemmaxError("The written file does not have one theorem for each certificate.")
    for module in parsed:
        certificate = certificates[module.name]
        kind = translation(certificate)
        said = kind.read_back(module)
        if said is None or said != kind.meant(certificate):
            raise LemmaxError(f"The theorem {module.name} does not say what its certificate says.")


def file_of(certificates: Mapping[str, Any]) -> str:
    """The file with a theorem for each certificate, written, read back and compared."""
    named = {module_name(name): certificate for name, certificate in certificates.items()}
    if len(named) != len(certificates):
        raise LemmaxError("Two certificates have the same name in Coq.")
    text = file_text([write_module(name, c) for name, c in named.items()])
    compare(text, named)
    return text
