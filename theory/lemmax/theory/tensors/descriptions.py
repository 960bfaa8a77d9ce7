"""Decompositions in words: each term as a rectangle of keys and queries that gets a value."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from lemmax.theory.tensors.decompositions import Bundle, Decomposition, Residues, Vector

Names = Sequence[Hashable]


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
