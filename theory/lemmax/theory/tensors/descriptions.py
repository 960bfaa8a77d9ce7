"""Decompositions in words: each term as a rectangle of keys and queries that gets a value."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from lemmax.theory.shown import counted
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.decompositions import Bundle, Decomposition, Residues, Vector

Names = Sequence[Hashable]

_FACTS = 4  # that are named of a term


def combination(vector: Vector, names: Names) -> str:
    """A vector of ones as a set, another one as a sum.

    >>> from flint import fmpq
    >>> combination((fmpq(1), fmpq(1)), ["a", "b"]), combination((fmpq(1), fmpq(-2)), ["a", "b"])
    ('{a, b}', '(a - 2·b)')
    """
    used = [(x, str(name)) for x, name in zip(vector, names, strict=True) if x]
    if all(x == 1 for x, _ in used):
        return used[0][1] if len(used) == 1 else "{" + ", ".join(name for _, name in used) + "}"
    text = ""
    for x, name in sorted(used, key=lambda pair: pair[0] < 0):
        size = f"{name}" if abs(x) == 1 else f"{abs(x)}·{name}"
        text += (" - " if x < 0 else " + ") + size
    text = text.removeprefix(" + ")
    if text.startswith(" - "):
        text = "-" + text[3:]
    return text if len(used) == 1 else f"({text})"


def in_words(decomposition: Decomposition, names: Sequence[Names]) -> list[str]:
    """One line per term, such as ``{b, c} × {born_in, lives_in} → Singapore``.

    A line reads: where a key and a query are both named, the cell gets the value; lines add up.
    """
    keys, queries, values = names
    lines = [
        f"{combination(u, keys)} × {combination(v, queries)} → {combination(w, values)}"
        for u, v, w in decomposition.terms
    ]
    for family in decomposition.families:
        modulus = str(family.modulus).replace("x", "θ")
        many = f"one term for each of the {len(family)} roots of {modulus}"
        where = f"at one root θ of {modulus}" if isinstance(family, Bundle) else many
        for term in family.written:
            left, right, third = map(_in_a_root, term, names)
            lines.append(f"{left} × {right} → {third}, {where}")
    return lines


def _in_a_root(vector: Residues, names: Names) -> str:
    """A vector of residues as a sum in θ."""
    used = [
        (str(x).replace("x", "θ"), str(name)) for x, name in zip(vector, names, strict=True) if x
    ]
    return "(" + " + ".join(n if x == "1" else f"({x})·{n}" for x, n in used) + ")"


def places(decomposition: Decomposition) -> list[Array]:
    """For each term the cells it adds to, as a table of truth values; conjugate terms have one.

    >>> from flint import fmpq
    >>> one, zero = fmpq(1), fmpq(0)
    >>> places(Decomposition((2, 1, 1), (((one, zero), (one,), (one,)),)))[0].tolist()
    [[True], [False]]
    """
    terms = [*decomposition.terms, *(t for f in decomposition.families for t in f.written)]
    return [np.outer(*(np.array([bool(x) for x in part]) for part in term[:2])) for term in terms]


def sharing(decomposition: Decomposition, array: Array, names: Sequence[Names]) -> Iterator[str]:
    """Which facts share a term, and what happens where several terms meet, in plain sentences.

    Cost: one pass over the table for each term.

    >>> from flint import fmpq
    >>> ones = (fmpq(1), fmpq(1))
    >>> term = Decomposition((2, 2, 1), ((ones, ones, (fmpq(1),)),))
    >>> print(*sharing(term, np.ones((2, 2, 1), dtype=int), ("ab", "fg", "x")), sep="\\n")
    Which facts share a term: 4 of the 4 facts. The widest term is at 4 of them: a f, a g, b f, b g.
    """
    filled = array.any(axis=2)
    used = places(decomposition)
    at_facts = [cells & filled for cells in used]
    shared = np.zeros_like(filled)
    for cells in at_facts:
        if cells.sum() > 1:
            shared |= cells
    facts, many = int(filled.sum()), int(shared.sum())
    if not many:
        yield f"Which facts share a term: none, each of the {facts} has one of its own."
        return
    widest = max(at_facts, key=lambda cells: int(cells.sum()))
    found = [f"{names[0][i]} {names[1][j]}" for i, j in zip(*widest.nonzero(), strict=True)]
    more = f" and {len(found) - _FACTS} more" if len(found) > _FACTS else ""
    alone = facts - many
    own = f"; {counted(alone, 'fact')} {'has a term' if alone == 1 else 'have terms'} of their own"
    own = own.replace("their", "its") if alone == 1 else own if alone else ""
    yield (
        f"Which facts share a term: {many} of the {facts} facts{own}. The widest term is at "
        f"{len(found)} of them: {', '.join(found[:_FACTS])}{more}."
    )
    meeting = int((np.sum(used, axis=0) > 1).sum())
    if meeting:
        empty = int((np.any(used, axis=0) & ~filled).sum())
        nothing = f"; at {counted(empty, 'cell')} without a fact they cancel" if empty else ""
        yield (
            f"Where terms meet, at {counted(meeting, 'cell')}, the value is the sum of what they "
            f"add: what one has too much another takes away{nothing}."
        )
