"""The formal statement of a claim, read where it stands: in the catalogue."""

from functools import cache

from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import Catalogue, load_claims, normalised


@cache
def _built_in() -> Catalogue:
    return load_claims()


def refutable(claim: str) -> str:
    """The same for what one instance can refute; that something exists is not so.

    >>> refutable("wong/tau-below-layer-rank")
    Traceback (most recent call last):
    lemmax.theory.errors.LemmaxError: The claim wong/tau-below-layer-rank says that something ...
    """
    if _built_in()[claim].kind == "E":
        raise LemmaxError(
            f"The claim {claim} says that something exists: an instance that is not so "
            "does not refute it."
        )
    return statement_of(claim)


def statement_of(claim: str) -> str:
    """What a claim of the four shipped catalogues says formally, with single blanks.

    >>> statement_of("wong/argmax-rank-one")
    'given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2'
    """
    formal = _built_in()[claim].formal
    if formal is None:
        raise LemmaxError(f"The claim {claim} carries no formal statement.")
    return normalised(formal)
