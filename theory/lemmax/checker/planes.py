"""Points in a plane: the two coordinates that show it, and their convex hull."""

from collections.abc import Iterable, Sequence

from .arithmetic import Rows, bits_of
from .limits import keep, spend


def plane(points: Rows, what: str) -> tuple[int, int] | None:
    """Two coordinates in which the affine hull of the points is seen as it is.

    None where the hull has more than two dimensions. With o, o + a and o + b spanning it and
    D = a_i b_j - a_j b_i not zero, w = o + ((w_i b_j - w_j b_i) a + (a_i w_j - a_j w_i) b) / D.
    """
    o, bits, a, b, i, j, D = points[0], bits_of(points), None, None, 0, 0, 0
    for point in points:
        spend(what, 8 * len(o), 3 * bits, bits)
        w = [x - y for x, y in zip(point, o, strict=True)]
        if a is None:
            if any(w):
                a, i = w, next(i for i, x in enumerate(w) if x)
                j = i
        elif b is None:
            other = next((j for j, x in enumerate(w) if a[i] * x != a[j] * w[i]), None)
            if other is not None:
                b, j = w, other
                D = a[i] * b[j] - a[j] * b[i]
        else:
            x, y = w[i] * b[j] - w[j] * b[i], a[i] * w[j] - a[j] * w[i]
            if any(D * z != x * p + y * q for z, p, q in zip(w, a, b, strict=True)):
                return None
    return i, j


def hull(points: Sequence[tuple[int, int]], what: str) -> dict[int, list[int]]:
    """The vertices of the convex hull of distinct points, and the neighbours of each.

    A linear form that is larger at a vertex than at its neighbours is larger there than at any
    other point, and at a point that is no vertex it is never strictly largest.

    >>> hull([(0, 0), (2, 0), (1, 1), (1, 0), (0, 2), (2, 2)], "")
    {0: [4, 1], 1: [0, 5], 5: [1, 4], 4: [5, 0]}
    """
    bits = bits_of(points)
    spend(what, 4 * len(points) * len(points).bit_length(), bits, bits)
    keep(what, 4 * len(points))
    order = sorted(range(len(points)), key=points.__getitem__)

    def chain(way: Iterable[int]) -> list[int]:
        corners: list[int] = []
        for t in way:
            x, y = points[t]
            while len(corners) > 1:
                (p, q), (u, v) = points[corners[-2]], points[corners[-1]]
                if (u - p) * (y - q) > (v - q) * (x - p):
                    break
                corners.pop()
            corners.append(t)
        return corners[:-1]

    ring = [*chain(order), *chain(reversed(order))] or order
    if len(ring) < 3:
        return {t: [u for u in ring if u != t] for t in ring}
    return {t: [ring[n - 1], ring[(n + 1) % len(ring)]] for n, t in enumerate(ring)}
