r"""softmax-rank: ``\rank (softmax exp (qmx R m n d M)) = r``, r the number of rows or columns.

From below an approximate inverse makes a minor diagonally dominant; no transcendence is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lemmax.theory.proving import literals, numbers
from lemmax.theory.proving.kinds.multi_head import independent
from lemmax.theory.proving.softmax import scaled_inverse, softmax
from lemmax.theory.proving.theorem import NotTranslated, Parsed, Theorem

_STATEMENT = re.compile(
    r"\(R : realFieldType\) \(exp : R -> R\) : natural_exponential exp -> "
    r"\\rank \(softmax exp \(qmx R (\d+) (\d+) \(Zpos d\) M\)\) = (\d+)%N"
)


def translate(certificate: Mapping[str, Any]) -> Theorem:
    """The theorem of a softmax-rank certificate in unit 1 whose rank is full."""
    logits, r = numbers.rows_of(certificate["logits"]), certificate["rank"]
    m, n = len(logits), len(logits[0])
    if certificate["unit"] != "1" or r not in (m, n):
        raise NotTranslated("An upper bound of a softmax rank below the size has no proof in Coq.")
    d, whole = numbers.cleared(logits)
    S = [softmax(row) for row in logits]
    rows, columns, bits = independent(S, r)
    inverse = scaled_inverse([[S[i][j] for j in columns] for i in rows], bits)
    check = (
        f"@softmax_rank_sound R exp ok {2 * bits + 40}%bZ {bits + 12}%N {m}%N {n}%N d M "
        f"({literals.write(rows)}%N) ({literals.write(columns)}%N) ({literals.write(inverse)}%bZ)"
    )
    return Theorem(
        {"d": ("positive", d), "M": ("seq (seq Z)", whole)},
        "(R : realFieldType) (exp : R -> R) : natural_exponential exp ->\n"
        f"  \\rank (softmax exp (qmx R {m} {n} (Zpos d) M)) = {r}%N",
        literals.folded(f"move=> ok; apply: ({check}).") + "\nvm_cast_no_check (erefl true).",
    )


def read_back(parsed: Parsed) -> Any:
    """What the written theorem says: the logits and the rank."""
    match = _STATEMENT.fullmatch(parsed.statement)
    if match is None or set(parsed.data) != {"d", "M"}:
        return None
    m, n, r = map(int, match.groups())
    rows: Any = parsed.data["M"]
    d: Any = parsed.data["d"]
    if len(rows) != m or any(len(row) != n for row in rows):
        return None
    return numbers.over(d, rows), r


def meant(certificate: Mapping[str, Any]) -> Any:
    """The same of the certificate."""
    return numbers.rows_of(certificate["logits"]), certificate["rank"]
