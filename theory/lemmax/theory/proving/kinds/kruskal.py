r"""kruskal-rank: ``kruskal_is (qmx F m n d M) k`` where k is the number of rows or of columns."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from typing import Any

from lemmax.theory.proving import literals, numbers
from lemmax.theory.proving.theorem import NotTranslated, Parsed, Theorem

_STATEMENT = re.compile(r"\(F : numFieldType\) : kruskal_is \(qmx F (\d+) (\d+) d M\) (\d+)%N")
SUBSETS = 2000


def translate(certificate: Mapping[str, Any]) -> Theorem:
    """The theorem of a Kruskal rank that is as large as the size allows."""
    vectors, k = numbers.rows_of(certificate["vectors"]), certificate["rank"]
    m, n = len(vectors), len(vectors[0])
    if k not in (m, n) or math.comb(m, k) > SUBSETS:
        raise NotTranslated(
            "Its Kruskal rank is below the size, or there are too many sets of rows to list."
        )
    d, whole = numbers.cleared(vectors)
    sets = [list(rows) for rows in itertools.combinations(range(m), k)]
    columns = [numbers.pivots([vectors[i] for i in rows])[1] for rows in sets]
    minors = [
        [[whole[i][j] for j in chosen] for i in rows]
        for rows, chosen in zip(sets, columns, strict=True)
    ]
    p, inverses = numbers.common_inverses(minors)
    listed = [(a, b, c) for a, b, c in zip(sets, columns, inverses, strict=True)]
    parts = "; ".join(
        f"({literals.write(a)}%N, {literals.write(b)}%N, {literals.write(c)}%bZ)"
        for a, b, c in listed
    )
    check = f"@kruskal_sound F {p}%bZ {m}%N {n}%N {k}%N d M [:: {parts}] ([::], [::])"
    return Theorem(
        {"d": ("Z", d), "M": ("seq (seq Z)", whole)},
        f"(F : numFieldType) : kruskal_is (qmx F {m} {n} d M) {k}%N",
        literals.folded(f"apply: ({check}).") + "\nvm_cast_no_check (erefl true).",
    )


def read_back(parsed: Parsed) -> Any:
    """What the written theorem says: the vectors and their Kruskal rank."""
    match = _STATEMENT.fullmatch(parsed.statement)
    if match is None or set(parsed.data) != {"d", "M"}:
        return None
    m, n, k = map(int, match.groups())
    rows: Any = parsed.data["M"]
    d: Any = parsed.data["d"]
    if len(rows) != m or any(len(row) != n for row in rows):
        return None
    return numbers.over(d, rows), k


def meant(certificate: Mapping[str, Any]) -> Any:
    """The same of the certificate."""
    return numbers.rows_of(certificate["vectors"]), certificate["rank"]
