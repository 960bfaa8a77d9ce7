r"""Sequences with one last token whose features satisfy one linear relation.

Let d = 2, let T₀ sequences have one last token, and let the columns of W_V A' satisfy one relation
:math:`\sum_t v_t\,(W_VA')_t = 0`, v ≠ 0, and no other. Points E(t) of the plane are then realized
by some output matrices iff :math:`\sum_t v_t E(t) = 0` (``lemmax/one-relation``).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from flint import fmpq

from lemmax.theory.errors import LemmaxError

Point = tuple[fmpq, fmpq]


def suits(v: Sequence[fmpq | int], labels: Sequence[Hashable]) -> bool:
    """Whether some points in the cones of the labels satisfy the relation v.

    They do not iff v vanishes outside of two classes and has one sign on each of them.

    >>> suits([1, -1, -1, 1], "abba"), suits([1, -1, -1, 1], "aabb"), suits([1, 1, -2], "abc")
    (False, True, True)
    """
    signs = list(_signs(v, labels).values())
    if len(signs) >= 3 or any(len(s) == 2 for s in signs):
        return True
    return len(signs) == 2 and signs[0] == signs[1]


def encode(
    v: Sequence[fmpq | int], labels: Sequence[Hashable]
) -> tuple[dict[Hashable, int], list[Point]]:
    r"""Numbers a and points E(t) with :math:`\sum_t v_t E(t) = 0` that tell the labels apart.

    With the rows :math:`W_j = (a_j, a_j^2)` the largest of :math:`W_j \cdot E(t)`, over the labels
    and over all further integers, is that of the label of t alone.

    >>> places, points = encode([1, 1, -2], "abc")
    >>> places, [tuple(map(int, E)) for E in points]
    ({'a': 0, 'c': 1, 'b': 2}, [(0, -1), (4, -1), (2, -1)])
    """
    values = [fmpq(x) for x in v]
    if not any(values) or sum(values, fmpq(0)) != 0:
        raise LemmaxError("A relation is not zero, and its entries add up to zero.")
    signs = _signs(values, labels)
    mixed = next((label for label, s in signs.items() if len(s) == 2), None)
    if not suits(values, labels):
        raise LemmaxError("This relation has one sign on each of two classes of labels.")
    three = [] if mixed is not None else _middle_first(signs)
    places = {label: a for a, label in enumerate(dict.fromkeys([*three, *labels]))}
    if mixed is not None:
        return places, _with_a_mixed_class(values, labels, places, mixed)
    return places, _with_three_classes(values, labels, places, three)


def _signs(v: Sequence[fmpq | int], labels: Sequence[Hashable]) -> dict[Hashable, set[bool]]:
    """For each label the signs that occur, where any does."""
    if len(v) != len(labels):
        raise LemmaxError(f"{len(v)} entries of a relation for {len(labels)} labels.")
    signs: dict[Hashable, set[bool]] = {}
    for x, label in zip(v, labels, strict=True):
        if x != 0:
            signs.setdefault(label, set()).add(x > 0)
    return signs


def _middle_first(signs: dict[Hashable, set[bool]]) -> list[Hashable]:
    """Two labels of one sign with one of the other sign in between."""
    for sign in (True, False):
        same = [label for label, s in signs.items() if s == {sign}]
        other = [label for label, s in signs.items() if s == {not sign}]
        if len(same) >= 2 and other:
            return [same[0], other[0], same[1]]
    raise LemmaxError("A relation has entries of both signs.")


def _with_a_mixed_class(
    v: list[fmpq], labels: Sequence[Hashable], places: dict[Hashable, int], mixed: Hashable
) -> list[Point]:
    """Start with (2a, -1); two examples of one class with opposite signs take up the rest."""
    points = [(fmpq(2 * places[label]), fmpq(-1)) for label in labels]
    inside = [t for t, label in enumerate(labels) if label == mixed]
    up = next(t for t in inside if v[t] > 0)
    down = next(t for t in inside if v[t] < 0)
    rest = sum((x * E[0] for x, E in zip(v, points, strict=True)), fmpq(0))
    a = fmpq(2 * places[mixed])
    scale = 1 + 2 * abs(rest / v[up])
    other = 1 + (1 - scale) * v[up] / v[down]  # keeps the sums as they were, and is positive
    points[up] = (a * scale - rest / v[up], -scale)
    points[down] = (a * other, -other)
    return points


def _with_three_classes(
    v: list[fmpq],
    labels: Sequence[Hashable],
    places: dict[Hashable, int],
    three: list[Hashable],
) -> list[Point]:
    """Points μ (2a, -1), one factor μ > 0 for each class: the places 0, 1, 2 balance the others."""
    weight: dict[Hashable, fmpq] = dict.fromkeys(labels, fmpq(0))
    for x, label in zip(v, labels, strict=True):
        weight[label] += x
    others = [(w, places[label]) for label, w in weight.items() if label not in three]
    total = sum((w for w, _ in others), fmpq(0))
    moment = sum((w * a for w, a in others), fmpq(0))
    # w_0 + w_1 + w_2 = -total and w_1 + 2 w_2 = -moment, and then (L, -2L, L) is added
    right = -moment / 2
    left = -total - right
    sign = 1 if weight[three[0]] > 0 else -1
    far = sign * (1 + abs(left) + abs(right))
    made = dict(zip(three, (left + far, -2 * far, right + far), strict=True))
    factor = {label: made.get(label, w) / w if w else fmpq(1) for label, w in weight.items()}
    return [(2 * places[label] * factor[label], -factor[label]) for label in labels]
