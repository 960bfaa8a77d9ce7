"""The smallest layers, recorded: `python benchmarks/smallest.py` writes results/smallest.json.

Each row has the non-embedding parameters of the compiler, of the smallest construction and of what
a search of so many waves found, what no layer can do without, and whether the independent checker
accepts the certificate. The random tables are drawn here, from seeds. Rows that are there already
are kept: a run that was ended continues.

With the file of a survey (JSON lines with ``regime``, ``index`` and ``triples``) as argument
results/smallest-survey.json is written instead: how many of its databases have a smaller layer by
construction alone, and rows, with their facts, of the first two databases of each regime for which
the compiler takes 32 parameters or more.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lemmax.checker import check
from lemmax.constructions import compile_smallest, figure_1
from lemmax.constructions.compiler.planning import cheapest, dimensions
from lemmax.constructions.compiler.smallest.choosing import constructed
from lemmax.constructions.compiler.smallest.needed import needed
from lemmax.constructions.countries import countries
from lemmax.numerics.survey.databases import read_databases
from lemmax.theory import Database, memorizes
from lemmax.theory.files import write_text

RESULTS = Path(__file__).parent / "results" / "smallest.json"
SURVEYED = RESULTS.with_name("smallest-survey.json")
WAVES = 2
LARGE, FIRST = 32, 2  # parameters of the compiler; databases of a regime


def group(n: int, shared: bool) -> Database:
    """The table of addition modulo n."""
    key, query = ("t", "t") if shared else ("k", "q")
    return Database.from_triples(
        (f"{key}{i}", f"{query}{j}", f"v{(i + j) % n}") for i in range(n) for j in range(n)
    )


def dense(seed: int, keys: int, queries: int, values: int, share: float = 1.0) -> Database:
    """A random table, of which a share of the cells is there."""
    draw = random.Random(seed)
    return Database.from_triples(
        (f"k{i}", f"q{j}", f"v{draw.randrange(values)}")
        for i in range(keys)
        for j in range(queries)
        if draw.random() < share
    )


def private(seed: int, keys: int, queries: int, values: int) -> Database:
    """A random table whose columns have values of their own."""
    draw = random.Random(seed)
    return Database.from_triples(
        (f"k{i}", f"q{j}", f"v{j}.{draw.randrange(values)}")
        for i in range(keys)
        for j in range(queries)
    )


def several(seed: int, tables: int, keys: int, queries: int) -> Database:
    """Tables with subjects and predicates of their own; each refers to the next, like figure 1."""
    draw = random.Random(seed)
    return Database.from_triples(
        (f"k{t}.{i}", f"q{t}.{j}", f"k{t + 1}.{draw.randrange(keys)}")
        for t in range(tables)
        for i in range(keys)
        for j in range(queries)
    )


DATABASES: dict[str, Callable[[], Database]] = {
    "figure 1": figure_1,
    "countries": countries,
    **{f"Z{n}": partial(group, n, False) for n in (3, 4, 5, 6, 7, 8, 13, 31)},
    **{f"Z{n}, shared tokens": partial(group, n, True) for n in (3, 5, 7)},
    **{f"dense {s}": partial(dense, s, 9, 4, 6) for s in range(3)},
    **{f"dense, few values {s}": partial(dense, s, 12, 5, 3) for s in range(3)},
    **{f"sparse {s}": partial(dense, s, 12, 7, 8, 0.4) for s in range(3)},
    **{f"private columns {s}": partial(private, s, 10, 5, 3) for s in range(3)},
    **{f"several tables {s}": partial(several, s, 3, 4, 2 + s) for s in range(3)},
    "dense, 13 by 13": partial(dense, 0, 13, 13, 13),
}


def row(name: str, db: Database) -> dict[str, Any]:
    """What is known of one database."""
    began = time.perf_counter()
    compiler, own, least = dimensions(db, cheapest(db)), constructed(db), needed(db)
    waves = WAVES if len(db) <= 100 else 1
    compiled = compile_smallest(db, seconds=None, waves=waves)
    dims = compiled.dims
    return {
        "name": name,
        "facts": len(db),
        "keys": len(db.keys),
        "queries": len(db.queries),
        "values": len(db.values),
        "compiler": compiler.parameters,
        "constructed": own.dims.parameters,
        "construction": own.method,
        "found": dims.parameters,
        "method": compiled.method,
        "d_model": dims.d_model,
        "heads": dims.heads,
        "d_vo": dims.d_vo,
        "d_qk": dims.d_qk,
        "bits": compiled.significant_bits,
        "least": least.parameters,
        "waves": waves,
        "checked": check(json.loads(json.dumps(compiled.certificate()))).holds,
        "seconds": round(time.perf_counter() - began, 1),
    }


def record() -> None:
    """Make the rows that are missing, and write each when it is there."""
    recorded(RESULTS, {"waves": WAVES}, DATABASES)


def recorded(
    path: Path,
    header: dict[str, Any],
    databases: Mapping[str, Callable[[], Database]],
    *,
    facts: bool = False,
) -> None:
    """Make the rows that a file does not have, with their facts or without."""
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    known = {row["name"]: row for row in rows}
    for number, (name, make) in enumerate(databases.items(), 1):
        if name not in known:
            db = make()
            known[name] = row(name, db) | ({"triples": list(db)} if facts else {})
            kept = [known[name] for name in databases if name in known]
            text = ",\n".join(json.dumps(row, ensure_ascii=False) for row in kept)
            head = json.dumps(header, ensure_ascii=False)[1:-1]
            write_text(path, f'{{{head}, "rows": [\n{text}\n]}}\n')
        told = {name: value for name, value in known[name].items() if name != "triples"}
        print(f"{number} of {len(databases)}: {told}", flush=True)


def surveyed(path: str) -> None:
    """The databases of a survey: counted by construction alone, and some searched."""
    counts: dict[str, Counter[str]] = {}
    chosen: dict[str, Callable[[], Database]] = {}
    for entry in read_databases(path):
        db = Database.from_triples(entry.triples)
        before, own = dimensions(db, cheapest(db)).parameters, constructed(db)
        if not memorizes(own.build(), db).holds:
            raise AssertionError(f"{entry.regime} {entry.index} is not memorized")
        after = own.dims.parameters
        line = counts.setdefault(entry.regime, Counter())
        line["all"] += 1
        line["smaller"] += after < before
        line["large"] += before >= LARGE
        line["large, halved"] += before >= LARGE and 2 * after <= before
        if before >= LARGE and line["large"] <= FIRST:
            chosen[f"{entry.regime} {entry.index}"] = partial(Database.from_triples, entry.triples)
    header = {"waves": WAVES, "by construction": {regime: dict(c) for regime, c in counts.items()}}
    recorded(SURVEYED, header, chosen, facts=True)


if __name__ == "__main__":
    surveyed(sys.argv[1]) if len(sys.argv) > 1 else record()
