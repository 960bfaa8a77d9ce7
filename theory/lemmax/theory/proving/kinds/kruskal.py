"""kruskal-rank: ``kruskal_is (qmx F m n d M) k``, by the sets of k rows and k + 1 dependent."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

from lemmax.theory.proving import literals, numbers
from lemmax.theory.proving.numbers import Rows
from lemmax.theory.proving.theorem import NotTranslated, Parsed, Theorem

_STATEMENT = re.compile(r"\(F : numFieldType\) : kruskal_is \(qmx F (\d+) (\d+) d M\) (\d+)%N")
SUBSETS = 2000


def kruskal_arguments(vectors: Rows, k: int) -> tuple[str, str]:
    """A modulus, and the minors of all sets of k rows with k + 1 dependent rows, if there are."""
    m, n = len(vectors), len(vectors[0])
    sets = [list(rows) for rows in itertools.combinations(range(m), k)]
    if len(sets) > SUBSETS:
        raise NotTranslated("There are too many sets of rows to list.")
    _, whole = numbers.cleared(vectors)
    columns = [numbers.pivots([vectors[i] for i in rows])[1] for rows in sets]
    minors = [
        [[whole[i][j] for j in chosen] for i in rows]
        for rows, chosen in zip(sets, columns, strict=True)
    ]
    p, inverses = numbers.common_inverses(minors)
    parts = "; ".join(
        f"({literals.write(a)}%N, {literals.write(b)}%N, {literals.write(c)}%bZ)"
        for a, b, c in zip(sets, columns, inverses, strict=True)
    )
    dependent = "([::], [::])"
    if k < min(m, n):
        for rows in itertools.combinations(range(m), k + 1):
            found = numbers.relation([vectors[i] for i in rows])
            if found is not None:
                full = [0] * m
                for i, x in zip(rows, found, strict=True):
                    full[i] = x
                dependent = f"({literals.write(list(rows))}%N, {literals.write(full)}%bZ)"
                break
    return f"{p}%bZ", f"[:: {parts}] {dependent}"


def translate(certificate: Mapping[str, Any]) -> Theorem:
    """The theorem of a Kruskal rank."""
    vectors, k = numbers.rows_of(certificate["vectors"]), certificate["rank"]
    m, n = len(vectors), len(vectors[0])
    p, hints = kruskal_arguments(vectors, k)
    d, whole = numbers.cleared(vectors)
    check = f"@kruskal_sound F {p} {m}%N {n}%N {k}%N d M {hints}"
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
