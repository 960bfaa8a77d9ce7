"""The rank of a database as people see it: the interval, what closed it, the terms in words."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from lemmax.theory.shown import counted
from lemmax.theory.tensors.ranks import TensorRank

_TERMS = 40


def report(result: TensorRank) -> dict[str, Any]:
    """Everything about a result that fits into JSON."""
    return {
        "lower": result.lower,
        "upper": result.upper,
        "rank": result.rank,
        "field": result.field,
        "stopped": result.stopped,
        "facts": int((result.array != 0).sum()),
        "shape": list(result.array.shape),
        "lower_by": list(result.bound.lemmas),
        "upper_by": list(result.reasons),
        "cited": [
            {"lower": c.value, "theorem": c.theorem, "hypotheses": c.hypotheses}
            for c in result.cited
        ],
        "terms": result.in_words(),
    }


def show(result: TensorRank, out: Console) -> None:
    """Print the interval, the lemmas behind it, and the decomposition."""
    keys, queries, values = result.array.shape
    facts = int((result.array != 0).sum())
    sizes = (
        counted(keys, "key"),
        counted(queries, "query", "queries"),
        counted(values, "value"),
    )
    out.print(f"{counted(facts, 'fact')}: {', '.join(sizes)}.")
    if result.rank is not None:
        out.print(f"The rank over {result.field} is {result.rank}.", style="green")
    else:
        out.print(
            f"The rank over {result.field} is at least {result.lower} and at most {result.upper}.",
            style="yellow",
        )
    if result.stopped:
        out.print("The time ended the search; with more of it the interval may be narrower.")
    out.print(f"At least {result.lower} by {', '.join(result.bound.lemmas)}.")
    if result.reasons:
        out.print(f"At most {result.upper} by {', '.join(result.reasons)}.")
    for bound in result.cited:
        out.print(
            f"At least {bound.value} by a cited theorem. {bound.theorem}; {bound.hypotheses}."
        )
    lines = result.in_words()
    for line in lines[:_TERMS]:
        out.print(Text(f"  {line}"))
    if len(lines) > _TERMS:
        out.print(f"  and {len(lines) - _TERMS} more terms (--json shows all of them).")
