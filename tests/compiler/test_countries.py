"""The README's example: the countries of the world in one head of dimension three."""

from __future__ import annotations

from collections.abc import Callable

from lemmax import checker
from lemmax.constructions import compile_database
from lemmax.constructions.countries import countries

Certify = Callable[..., checker.Verdict]


def test_every_country_in_one_head(certify: Certify) -> None:
    db = countries()
    assert (len(db), len(db.tokens)) == (749, 653)
    compiled = compile_database(db, "99/100")
    sizes = compiled.dims
    assert (sizes.d_model, sizes.heads, sizes.d_vo, sizes.d_qk) == (3, 1, 1, 2)
    assert sizes.parameters == 18
    certify(compiled.certificate())
