"""The recorded table of smallest layers: its rows are made again, and what they say is decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.smallest import DATABASES, RESULTS, SURVEYED, row

from lemmax.checker import check
from lemmax.constructions import compile_smallest
from lemmax.constructions.compiler.planning import Dimensions, cheapest, dimensions
from lemmax.constructions.compiler.smallest.choosing import constructed
from lemmax.constructions.compiler.smallest.needed import needed
from lemmax.theory import Database

QUICK = 4.0  # seconds of a recorded search that is made again


def recorded(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return rows


def database(row: dict[str, Any]) -> Database:
    return Database.from_triples(row["triples"]) if "triples" in row else DATABASES[row["name"]]()


ROWS = [*recorded(RESULTS), *recorded(SURVEYED)]


def test_every_database_of_the_benchmark_is_recorded() -> None:
    assert [row["name"] for row in recorded(RESULTS)] == list(DATABASES)
    assert len(recorded(SURVEYED)) >= 10


@pytest.mark.parametrize("old", ROWS, ids=lambda row: row["name"])
def test_what_is_recorded_without_a_search_is_computed_again(old: dict[str, Any]) -> None:
    """The sizes of the compiler and of the certified construction, and the lower bound."""
    db = database(old)
    own, least = constructed(db), needed(db)
    assert len(db) == old["facts"]
    assert dimensions(db, cheapest(db)).parameters == old["compiler"]
    assert (own.dims.parameters, own.method) == (old["constructed"], old["construction"])
    assert least.parameters == old["least"]
    sizes = Dimensions(old["d_model"], old["heads"], old["d_vo"], old["d_qk"])
    assert least.parameters <= sizes.parameters == old["found"] <= old["constructed"]
    if len(db) <= 100:
        compiled = compile_smallest(db, waves=0)
        assert compiled.dims == own.dims
        assert check(json.loads(json.dumps(compiled.certificate()))).holds


@pytest.mark.parametrize(
    "old",
    [row for row in ROWS if row["method"] == "found" and row["seconds"] <= QUICK],
    ids=lambda row: row["name"],
)
def test_quick_searches_find_what_is_recorded(old: dict[str, Any]) -> None:
    """From the same seed, certified by the independent checker again.

    The last bits of training are the machine's, so weights may differ where sizes do not.
    """
    new = row(old["name"], database(old))
    same = ("facts", "keys", "queries", "values", "compiler", "constructed", "found", "least")
    assert new["checked"]
    assert {name: new[name] for name in same} == {name: old[name] for name in same}
