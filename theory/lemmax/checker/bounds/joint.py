"""Substitution in two modes at once."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..arithmetic import Table, bits_of, dot, multiplied, rank_mod
from ..limits import keep, refuse, spend
from ..reading import exactly, fields, items, prime, wholes
from ..tensors import Bound, Integral, length_of, restricted, sizes, turned, two_modes

Rows = Sequence[Sequence[int]]
Images = list[list[list[int]]]


def rows_of(value: object, where: str, width: int) -> list[list[int]]:
    """Rows of integers of one length, possibly none."""
    return [wholes(row, where, width) for row in items(value, where, 0)]


def contracted(X: Integral, rows: Rows, place: int) -> Images:
    """The slices Σ_i u_i X_i for the rows u, of the first (0) or of the second (1) mode."""
    slices: Any = X if place == 0 else [[part[j] for part in X] for j in range(len(X[0]))]
    height, width = len(slices[0]), len(slices[0][0])
    if not rows:
        return []
    flat = Table([x for row in part for x in row] for part in slices)
    combined = multiplied(Table(map(list, rows)), flat)
    return [[row[i * width : (i + 1) * width] for i in range(height)] for row in combined]


def shrunk(
    given: object, basis: Rows, images: Images, functionals: Rows, p: int, where: str
) -> list[list[int]] | None:
    """A basis of the part of a space that all the functionals kill, or None if it is not shown.

    The rows given are coordinates in the old basis. They are killed, and independent; as many
    dimensions as the rank mod p of the other values are lost, at least, so there are no more.
    """
    alpha = rows_of(given, where, len(basis))
    if not basis:
        return []
    count = len(images[0]) * len(functionals)
    long = bits_of(row for part in images for row in part) + bits_of(functionals)
    spend("The values", len(basis) * (count + 1) * (len(functionals[0]) + len(alpha)), long, long)
    keep("The values", len(basis) * count, long)
    values = [[dot(form, row) for row in part for form in functionals] for part in images]
    kept = multiplied(Table(alpha), Table(values)) if alpha else []
    if any(map(any, kept)) or (alpha and rank_mod(alpha, p) < len(alpha)):
        return None
    if rank_mod(values, p) + len(alpha) < len(basis):
        return None
    return [list(row) for row in multiplied(Table(alpha), Table(map(list, basis)))] if alpha else []


def by_joint(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """R(φ) >= dim U + dim V + R(φ modulo U, V, φ(U, B) and φ(A, V)), φ: A x B -> C.

    The condition is that no U' in U, V' in V, not both 0, have φ(U', B) and φ(A, V') in the span of
    φ(U', V'). Each level shows smaller spaces in which they would lie: some functionals vanish on
    φ of the spaces before, so they vanish on φ(U', B) and φ(A, V'). The last level leaves nothing.
    """
    mode, other = two_modes(step, where)
    p = prime(step["prime"], f"{where}.prime")
    X: Integral = turned(T, mode)
    if other > 3 - mode - other:  # rows of each matrix belong to the mode of the columns
        X = [list(zip(*part, strict=True)) for part in X]
    a, b, c = sizes(X)
    U, V = rows_of(step["first"], where, a), rows_of(step["second"], where, b)
    gain = len(U) + len(V)
    maps = exactly(3, step["maps"], f"{where}.maps")
    last = rows_of(maps[3 - mode - other], f"{where}.maps", c)
    if not last or not U or not V:
        refuse(where, "needs two spaces, and functionals on the third mode")
    spend("The spaces", 4 * (len(U) + len(V) + len(last)) * a * b * c, length_of(X), 64)
    over_u, over_v = contracted(X, U, 0), contracted(X, V, 1)
    left = (row for part in (*over_u, *over_v) for row in part)
    killed = not any(dot(form, row) for row in left for form in last)
    if not killed or rank_mod(U, p) < len(U) or rank_mod(V, p) < len(V):
        return -1, T, "the spaces are dependent, or a functional does not vanish on their products"
    for i, value in enumerate(items(step["levels"], f"{where}.levels")):
        at = f"{where}.levels[{i}]"
        level = fields(value, at, "functionals first second")
        forms = rows_of(level["functionals"], at, c)
        products = [row for part in contracted(over_u, V, 1) for row in part] if U and V else []
        if not forms or any(dot(form, row) for row in products for form in forms):
            return -1, T, "a functional does not vanish on the products of the spaces"
        first = shrunk(level["first"], U, over_u, forms, p, at)
        second = shrunk(level["second"], V, over_v, forms, p, at)
        if first is None or second is None:
            return -1, T, "the smaller spaces are not what is left"
        U, V = first, second
        over_u, over_v = contracted(X, U, 0), contracted(X, V, 1)
    if U or V:
        return -1, T, "the levels leave something"
    rest = restricted(maps, T, where)
    shape = " x ".join(map(str, sizes(rest)))
    return gain, rest, f"R >= {gain}, in two modes at once, + R of a {shape} restriction"
