"""Spans of slices that their matrices of rank one do not fill."""

from collections.abc import Mapping
from typing import Any

from ..arithmetic import Table, bits_of, cleared, image, integer_rank, rank_mod
from ..limits import keep, refuse, spend
from ..reading import items, numbers, prime, wholes
from ..tensors import Cube, flattening, lower_rank, slices_of
from .quadrics import slices
from .rule import Bound, mode_and_prime, two_modes


def by_contraction(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R >= m + 1: contracting all rank-one matrices in the span L of the m slices gives zero.

    With h a functional and G the span of the vectors Mh, M in L, a matrix x⊗y in L has h(y) = 0 or
    x in G. If Mh = 0 on L ∩ (G⊗C), that is dim(L + G⊗C) = dim(L + G⊗ker h) + dim G, then L is not
    spanned by matrices of rank one.
    """
    mode, other = two_modes(step, where)
    p = prime(step["prime"], f"{where}.prime")
    X = slices_of(T, mode)
    if other > 3 - mode - other:  # rows of each matrix belong to the mode of the columns
        X = [[list(row) for row in zip(*part, strict=True)] for part in X]
    m, b, c = len(X), len(X[0]), len(X[0][0])
    h = wholes(step["functional"], where, c)
    G = Table(wholes(row, f"{where}.basis", b) for row in items(step["basis"], f"{where}.basis"))
    images = [image(Table(part), h) for part in X]
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
    tall = list(map(list, zip(*L, *zero, strict=True)))
    holds = rank_mod([*L, *both], p) == integer_rank(tall, where) + len(G)
    text = f"R >= {m + 1}: the rank-one matrices in the span vanish on h"
    return (m + 1 if holds else -1), T, text


def by_square(step: Mapping[str, Any], T: Cube, field: str, where: str) -> Bound:
    """R >= m + 1 if the square of a form on the span L of the m slices is a sum of minors.

    With z the coordinates of L, a form whose square is a combination of the 2 x 2 minors of
    Σ z_i X_i vanishes on the matrices of rank one in L, so they do not span it.
    """
    mode, p = mode_and_prime(step, where)
    span = slices(slices_of(T, mode))
    m, form = len(span.X), wholes(step["form"], where, len(span.X))
    minors = span.places(items(step["minors"], f"{where}.minors"), f"{where}.minors")
    if len(minors) != len(items(step["weights"], f"{where}.weights")):
        refuse(where, "needs a weight for each minor")
    factors, scale = cleared(numbers(step["weights"], f"{where}.weights"))
    if lower_rank(T, mode, p) < m or not any(form):
        return -1, T, "the slices are dependent, or the form is zero"
    long = max(bits_of([factors]), scale.bit_length())
    total = [[0] * m for _ in range(m)]
    for place, factor in zip(minors, factors, strict=True):
        M = span.minor(*place)
        spend("The square", 3 * m * m, 2 * span.bits, long)
        for i, row in enumerate(total):
            for j in range(m):
                row[j] += factor * (M[i][j] + M[j][i])
    spend("The square", 3 * m * m, bits_of([form]), bits_of([form]) + long)
    holds = all(
        row == [2 * scale * x * y for y in form] for x, row in zip(form, total, strict=True)
    )
    return (m + 1 if holds else -1), T, f"R >= {m + 1}: the rank-one matrices lie in a hyperplane"
