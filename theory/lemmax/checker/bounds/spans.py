"""Spans of slices that their matrices of rank one do not fill, as quadrics or functionals show."""

import itertools
from collections.abc import Mapping
from typing import Any

from ..arithmetic import Table, bits_of, cleared, dot, image, integer_rank, rank_mod
from ..limits import keep, refuse, spend
from ..reading import exactly, integer, items, numbers, prime, variant, wholes
from ..tensors import (
    Bound,
    Integral,
    flattening,
    length_of,
    lower_rank,
    mode_and_prime,
    sizes,
    turned,
    two_modes,
)
from . import pencils

Place = tuple[int, ...]


def minor(X: Integral, place: Place, bits: int) -> list[list[int]]:
    """The 2 x 2 minor of Σ z_i X_i in rows u, v and columns w, x, as a form in z."""
    u, v, w, x = place
    spend("A minor", 3 * len(X) ** 2, bits, bits)
    return [[P[u][w] * N[v][x] - P[u][x] * N[v][w] for N in X] for P in X]


def places(value: object, X: Integral, where: str, least: int = 0) -> list[Place]:
    """Two rows and two columns for each minor."""
    _, b, c = sizes(X)
    return [
        tuple(
            integer(e, f"{where}[{n}]", size)
            for e, size in zip(exactly(4, entry, f"{where}[{n}]"), (b, b, c, c), strict=True)
        )
        for n, entry in enumerate(items(value, where, least))
    ]


def quadrics(step: Mapping[str, Any], T: Integral, where: str) -> tuple[Integral, int]:
    """The slices of a mode, and at most how many dimensions their quadrics have.

    These are the symmetric Z with Σ z_ij (X_i[u][w] X_j[v][x] - X_i[u][x] X_j[v][w]) = 0 always.
    The X_i are independent. If R = m then they span the same space as m matrices of rank one, whose
    coordinate vectors y give the Z = y y^T; these are independent, so the Z have at least m
    dimensions.
    """
    mode, p = mode_and_prime(step, where)
    X = turned(T, mode)
    m = len(X)
    if lower_rank(T, mode, p) < m:
        refuse(where, "needs slices that are independent mod the prime")
    small = [[[x % p for x in row] for row in part] for part in X]
    bits, chosen = length_of(small), places(step["minors"], X, f"{where}.minors")
    keep("The quadrics", len(chosen) * m * m, 2 * bits)
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    forms = (minor(small, place, bits) for place in chosen)
    rows = [[M[i][j] + M[j][i] if i < j else M[i][i] for i, j in pairs] for M in forms]
    return X, len(pairs) - rank_mod(rows, p)


def by_quadrics(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """R >= m + 1 if the quadrics have fewer than m dimensions."""
    X, most = quadrics(step, T, where)
    m = len(X)
    shown = f"R >= {m + 1}: at most {most} dimensions of quadrics for {m} slices"
    return (m + 1 if most < m else -1), T, shown


def by_quadric_pencil(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """R >= m + 1 if the quadrics have m dimensions and two of them form a pencil of rank > m.

    If R = m they are the Σ λ_i y_i y_i^T, and two of them would form a pencil of rank at most m.
    """
    X, most = quadrics(step, T, where)
    m, b, c = sizes(X)
    pair = [
        [wholes(row, where, m) for row in exactly(m, Z, where)]
        for Z in exactly(2, step["kernel"], f"{where}.kernel")
    ]
    bits = length_of(X)
    spend("The minors", b * b * c * c * (m * m + 4) // 2, length_of(pair), 2 * bits)
    minors = (
        minor(X, (*rows, *columns), bits)
        for rows in itertools.combinations(range(b), 2)
        for columns in itertools.combinations(range(c), 2)
    )
    inside = all(list(map(list, zip(*Z, strict=True))) == Z for Z in pair)
    inside = inside and not any(sum(map(dot, Z, M)) for M in minors for Z in pair)
    if most > m or not inside:
        return -1, T, "the two matrices, or the minors, are not what the lemma needs"
    shared = "mode prime order modulus left pivots "
    options = {"jet": shared + "jet", "eigenvalue": shared + "outside"}
    name = variant(step["pencil"], f"{where}.pencil", "lemma", options)
    rule = pencils.by_jet if name == "jet" else pencils.by_eigenvalue
    bound, _, text = rule(step["pencil"], pair, field, f"{where}.pencil")
    return (m + 1 if bound > m else -1), T, f"R >= {m + 1}: two quadrics with {text}"


def by_square(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """R >= m + 1 if the square of a form on the span L of the m slices is a sum of minors.

    With z the coordinates of L, a form whose square is a combination of the 2 x 2 minors of
    Σ z_i X_i vanishes on the matrices of rank one in L, so they do not span it.
    """
    mode, p = mode_and_prime(step, where)
    X = turned(T, mode)
    m, form = len(X), wholes(step["form"], where, len(X))
    chosen = places(step["minors"], X, f"{where}.minors", 1)
    if len(chosen) != len(items(step["weights"], f"{where}.weights")):
        refuse(where, "needs a weight for each minor")
    factors, scale = cleared(numbers(step["weights"], f"{where}.weights"))
    if lower_rank(T, mode, p) < m or not any(form):
        return -1, T, "the slices are dependent, or the form is zero"
    bits, long = length_of(X), max(bits_of([factors]), scale.bit_length())
    total = [[0] * m for _ in range(m)]
    for place, factor in zip(chosen, factors, strict=True):
        M = minor(X, place, bits)
        spend("The square", 3 * m * m, 2 * bits, long)
        for i, row in enumerate(total):
            for j in range(m):
                row[j] += factor * (M[i][j] + M[j][i])
    spend("The square", 3 * m * m, bits_of([form]), bits_of([form]) + long)
    holds = total == [[2 * scale * x * y for y in form] for x in form]
    return (m + 1 if holds else -1), T, f"R >= {m + 1}: the rank-one matrices lie in a hyperplane"


def by_contraction(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """R >= m + 1: contracting all rank-one matrices in the span L of the m slices gives zero.

    With h a functional and G the span of the vectors Mh, M in L, a matrix x⊗y in L has h(y) = 0 or
    x in G. If Mh = 0 on L ∩ (G⊗C), that is dim(L + G⊗C) = dim(L + G⊗ker h) + dim G, then L is not
    spanned by matrices of rank one.
    """
    mode, other = two_modes(step, where)
    p = prime(step["prime"], f"{where}.prime")
    X = turned(T, mode)
    if other > 3 - mode - other:  # rows of each matrix belong to the mode of the columns
        X = [list(zip(*part, strict=True)) for part in X]
    m, b, c = sizes(X)
    h = wholes(step["functional"], where, c)
    G = Table(wholes(row, f"{where}.basis", b) for row in items(step["basis"], f"{where}.basis"))
    images = [image(Table(map(list, part)), h) for part in X]
    if lower_rank(T, mode, p) < m or not any(map(any, images)):
        return -1, T, "the slices are dependent, or the contraction is zero"
    if rank_mod(G, p) < len(G) or integer_rank([*G, *images], f"{where}.basis") > len(G):
        return -1, T, "the basis is not one of the contracted matrices"
    lead = next(j for j, x in enumerate(h) if x)
    units = [[int(i == j) for i in range(c)] for j in range(c)]
    kernel = [
        [h[lead] * x - h[j] * y for x, y in zip(units[j], units[lead], strict=True)]
        for j in range(c)
        if j != lead
    ]
    L, bits = flattening(X, 0), bits_of([h])
    spend("The contraction", 4 * (len(G) * c + m) * b * c, G.bits, bits)
    keep("The contraction", 3 * (len(G) * c + m) * b * c, G.bits + bits)
    both, zero = ([[x * y for x in g for y in u] for g in G for u in U] for U in (units, kernel))
    tall = list(zip(*L, *zero, strict=True))
    holds = rank_mod([*L, *both], p) == integer_rank(tall, where) + len(G)
    text = f"R >= {m + 1}: the rank-one matrices in the span vanish on h"
    return (m + 1 if holds else -1), T, text
