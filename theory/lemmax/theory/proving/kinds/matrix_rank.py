r"""matrix-rank: ``\rank (qmx F m n d M) = r`` over every numerical field, with M / d the matrix."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lemmax.theory.proving import literals, numbers
from lemmax.theory.proving.theorem import Parsed, Theorem

_STATEMENT = re.compile(r"\(F : numFieldType\) : \\rank \(qmx F (\d+) (\d+) d M\) = (\d+)%N")


def rank_proof(rows: list[list[int]], r: int, size: bool) -> str:
    """The arguments of a rank check after the matrix: modulus, minor, inverse, upper bound."""
    exact = numbers.over(1, rows)
    chosen, columns = numbers.pivots(exact)
    p, inverse = numbers.small_inverse([[rows[i][j] for j in columns] for i in chosen])
    above = "BySize"
    if not size:
        left, right = numbers.factors(exact)
        d, whole = numbers.cleared(left)
        turned = [[int(row[j]) for row in right] for j in range(len(rows[0]))]
        factors = f"({literals.write(whole)}%bZ) ({literals.write(turned)}%bZ)"
        above = f"(ByFactors {d}%bZ {factors})"
    return (
        f"{p}%bZ ({literals.write(chosen)}%N) ({literals.write(columns)}%N) "
        f"({literals.write(inverse)}%bZ) {above}"
    )


def translate(certificate: Mapping[str, Any]) -> Theorem:
    """The theorem of a matrix-rank certificate."""
    matrix, r = numbers.rows_of(certificate["matrix"]), certificate["rank"]
    m, n = len(matrix), len(matrix[0])
    d, rows = numbers.cleared(matrix)
    proof = rank_proof(rows, r, r in (m, n))
    return Theorem(
        {"d": ("Z", d), "M": ("seq (seq Z)", rows)},
        f"(F : numFieldType) : \\rank (qmx F {m} {n} d M) = {r}%N",
        literals.folded(f"refine (@rank_sound F {m}%N {n}%N {r}%N d M {proof} _).")
        + "\nvm_cast_no_check (erefl true).",
    )


def read_back(parsed: Parsed) -> Any:
    """What the written theorem says: the matrix and its rank."""
    match = _STATEMENT.fullmatch(parsed.statement)
    if match is None or set(parsed.data) != {"d", "M"}:
        return None
    m, n, r = map(int, match.groups())
    rows: Any = parsed.data["M"]
    if len(rows) != m or any(len(row) != n for row in rows):
        return None
    d: Any = parsed.data["d"]
    return numbers.over(d, rows), r


def meant(certificate: Mapping[str, Any]) -> Any:
    """The same of the certificate."""
    return numbers.rows_of(certificate["matrix"]), certificate["rank"]
