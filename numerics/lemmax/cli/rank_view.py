"""The rank of a database as people see it: the interval, what closed it, the terms in words.

And without algebra: what the number counts, which facts share a term, why there are not fewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_letters
from typing import Any

from rich.console import Console
from rich.text import Text

from lemmax.theory.shown import counted
from lemmax.theory.tensors.descriptions import places, sharing
from lemmax.theory.tensors.ranks import TensorRank

_TERMS = 40
_ROWS, _COLUMNS, _WIDTH = 16, 10, 14  # of the largest picture, and of a name in it

_WHY = {
    "flattening": (
        "written out as one long row each, {what} are {gain} rows of which none is a sum of "
        "multiples of the others, and a term can make only one of them new"
    ),
    "substitution": (
        "some of {what} can be told from all the others by values or places of their own; each "
        "step takes such ones away, with a term for each, and goes on with the smaller table"
    ),
    "restriction": (
        "rows or columns that follow from others are left out, which needs no term more"
    ),
    "koszul": (
        "a larger table made of the slices has a rank that each term can raise only so much"
    ),
    "transversal": "columns that share no value cannot share a term",
    "jet": (
        "two slices turn into each other in a way that repeats itself, which costs a term more"
    ),
    "eigenvalue": (
        "two slices turn into each other by a rotation that the numbers allowed cannot undo"
    ),
    "quadrics": (
        "the slices contain too few single rectangles to be built of as many as there are slices"
    ),
    "quadric-pencil": (
        "the rectangles that the slices would need have entries that are not allowed"
    ),
    "contraction": (
        "all single rectangles in the slices miss one direction, so another one is needed"
    ),
    "square": ("all single rectangles in the slices miss one direction, so another one is needed"),
    "joint": (
        "keys, queries or values of two kinds are taken away together, with a term for each: "
        "what they share does not hide either of them"
    ),
    "blocks": (
        "the table falls into two parts that share only some of its names; each part needs its own "
        "terms, and a term that serves both saves less than they share"
    ),
    "radical": (
        "part of this multiplication table vanishes when it is multiplied with itself again "
        "and again; it needs two terms for each of its dimensions"
    ),
    "algebra": (
        "this is a multiplication table, with a unit and brackets that do not matter; such a "
        "table needs two terms for each dimension, less one for each independent part of it"
    ),
}
_MODES = ("the keys", "the queries", "the values")


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
        "explanation": list(explained(result)),
        "for_layers": list(for_layers(result)),
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
    for sentence in (*explained(result), *for_layers(result)):
        out.print(sentence)
    for line in picture(result):
        out.print(Text(f"  {line}"))


def explained(result: TensorRank) -> Iterator[str]:
    """What the number means for this table, and why it cannot be smaller, in plain sentences.

    >>> from lemmax.theory import tensor_rank
    >>> print(*explained(tensor_rank([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])), sep="\\n")
    What it means: the table of 4 facts is a sum of 2 terms. A term gives each key, each query and \
each value a weight, and adds the product of the three weights to the cell; facts that share a \
term are not stored one by one.
    Which facts share a term: 4 of the 4 facts. The widest term is at 4 of them: 0 0, 0 1, 1 0, 1 1.
    Where terms meet, at 4 cells, the value is the sum of what they add: what one has too much \
another takes away.
    Why not fewer than 2: written out as one long row each, the keys are 2 rows of which none is a \
sum of multiples of the others, and a term can make only one of them new.
    """
    facts = int((result.array != 0).sum())
    yield (
        f"What it means: the table of {counted(facts, 'fact')} is a sum of "
        f"{counted(result.upper, 'term')}. A term gives each key, each query and each value a "
        "weight, and adds the product of the three weights to the cell; facts that share a term "
        "are not stored one by one."
    )
    if result.real is None:
        names = result.names or tuple(tuple(range(n)) for n in result.array.shape)
        yield from sharing(result.decomposition, result.array, names)
    reasons: dict[str, str] = {}
    for gain, step in zip(result.bound.gains, result.bound.steps, strict=True):
        what = _MODES[step["mode"]] if "mode" in step else "the slices"
        reasons.setdefault(step["lemma"], _WHY[step["lemma"]].format(gain=gain, what=what))
    told = "; ".join(reasons.values())
    yield f"Why not fewer than {result.lower}: {told}."
    if result.rank is None:
        yield (
            f"Between {result.lower} and {result.upper} it is open: no shorter sum is known, and "
            "no reason why there is none."
        )


def for_layers(result: TensorRank) -> Iterator[str]:
    """What the number says about attention layers and what it does not; each with its claim.

    >>> from lemmax.theory import Database, tensor_rank
    >>> db = Database.from_triples([("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y")])
    >>> print(*for_layers(tensor_rank(db)), sep="\\n")
    For a layer whose logits are the table itself: d_model + heads · d_vo · 2 is at least 3, since \
its rank is at most d_model + heads · d_vo · |queries| (wong/proposition-3.5).
    For a layer that only has to answer right the rank is no bound (wong/rank-hypothesis-partly): \
one head with d_model = 2, d_vo = 1, d_qk = 1 has the right answer to every question \
(lemmax/compiler-by-predicates).
    """
    queries = result.array.shape[1]
    if result.field == "Q":
        yield (
            "For layers the rank over R counts (--field R): attention is not rational, and the "
            "rank over Q may be larger."
        )
    else:
        yield (
            f"For a layer whose logits are the table itself: d_model + heads · d_vo · {queries} "
            f"is at least {result.lower}, since its rank is at most d_model + heads · d_vo · "
            "|queries| (wong/proposition-3.5)."
        )
    free = (
        "For a layer that only has to answer right the rank is no bound "
        "(wong/rank-hypothesis-partly)"
    )
    sizes = None if result.names is None else _by_proof(result)
    yield f"{free}." if sizes is None else f"{free}: {sizes}."


def _by_proof(result: TensorRank) -> str | None:
    """The compiler's layer for a table of facts, where a claim covers its size."""
    from lemmax.constructions.compiler.planning import cheapest, dimensions
    from lemmax.theory.facts.database import Database

    if result.names is None or (result.array.sum(axis=2) > 1).any():
        return None
    keys, queries, values = result.names
    db = Database.from_triples(
        (keys[k], queries[q], values[v]) for k, q, v in zip(*result.array.nonzero(), strict=True)
    )
    apart = not set(db.keys) & set(db.queries)
    method = cheapest(db) if apart else "two-heads-one-hot"  # the smaller one has no claim
    if len({"by-predicates": db.queries, "by-keys": db.keys}.get(method, db.tokens)) < 2:
        return None
    dims = dimensions(db, method)
    heads = "one head" if dims.heads == 1 else counted(dims.heads, "head")
    claim = f"lemmax/compiler-{method.removesuffix('-one-hot')}"
    return (
        f"{heads} with d_model = {dims.d_model}, d_vo = {dims.d_vo}, d_qk = {dims.d_qk} "
        f"has the right answer to every question ({claim})"
    )


def picture(result: TensorRank) -> list[str]:
    """The table with a letter for each term at the cells that it adds to.

    Terms that belong together, one for each root of a polynomial, have one letter. Of a large table
    the upper left corner is drawn, and nothing where more terms meet there than there are letters.
    """
    keys, queries, _ = result.names or tuple(tuple(range(n)) for n in result.array.shape)
    hidden = (len(keys) - _ROWS, "key", "keys"), (len(queries) - _COLUMNS, "query", "queries")
    keys, queries = keys[:_ROWS], queries[:_COLUMNS]
    corner = [cells[:_ROWS, :_COLUMNS] for cells in places(result.decomposition)]
    corner = [cells for cells in corner if cells.any()]
    if result.real is not None or len(corner) > len(ascii_letters):
        return []
    cells = [
        [
            "".join(x for x, at in zip(ascii_letters, corner, strict=False) if at[i, j]) or "."
            for j in range(len(queries))
        ]
        for i in range(len(keys))
    ]
    names = [str(key)[:_WIDTH] for key in keys]
    heads = [str(query)[:_WIDTH] for query in queries]
    left = max(map(len, names))
    widths = [max(len(head), *(len(row[j]) for row in cells)) for j, head in enumerate(heads)]
    lines = [
        " ".join(
            [name.ljust(left), *(x.ljust(w) for x, w in zip(row, widths, strict=True))]
        ).rstrip()
        for name, row in zip(["", *names], [heads, *cells], strict=True)
    ]
    more = " and ".join(counted(n, one, many) for n, one, many in hidden if n > 0)
    lines += [f"({more} more)"] if more else []
    return ["Which terms each cell is made of:", *lines]
