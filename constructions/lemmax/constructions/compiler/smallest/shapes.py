"""The sizes of layers that a search tries, in waves: few at first, all of them in the end."""

from __future__ import annotations

from itertools import product

from lemmax.constructions.compiler.planning import Dimensions

_WIDEST, _MOST_HEADS, _LARGEST_HEAD = 12, 8, 2
_AT_ONCE = 10  # sizes in a wave


def shapes(least: int, below: int, narrowest: int) -> list[Dimensions]:
    """Sizes with at least ``least`` and fewer than ``below`` parameters, the smallest first.

    Heads have d_qk and d_vo of one or two, and no more than d_model, which is at least
    ``narrowest``.

    >>> [d.parameters for d in shapes(8, 17, 2)]
    [8, 12, 12, 12, 16, 16, 16]
    """
    some = (
        Dimensions(d, heads, d_vo, d_qk)
        for d, heads, d_vo, d_qk in product(
            range(narrowest, _WIDEST + 1),
            range(1, _MOST_HEADS + 1),
            range(1, _LARGEST_HEAD + 1),
            range(1, _LARGEST_HEAD + 1),
        )
        if max(d_vo, d_qk) <= d
    )
    kept = (dims for dims in some if least <= dims.parameters < below)
    return sorted(kept, key=lambda x: (x.parameters, x.d_model, x.heads, x.d_vo))


def wave(number: int, least: int, below: int, narrowest: int) -> list[Dimensions]:
    """The sizes of one wave: likely ones at first, then every so many of all of them in turn.

    Likely are heads with d_qk = d_vo = 1, about as many as half of d_model to all of it.

    >>> [d.parameters for d in wave(0, 8, 50, 2)]
    [8, 12, 16, 24, 32, 36, 40, 48]
    >>> len(shapes(8, 200, 2)) > 100, len(wave(1, 8, 200, 2))
    (True, 10)
    """
    some = shapes(least, below, narrowest)
    likely = [
        dims
        for dims in some
        if dims.d_vo == dims.d_qk == 1 and dims.heads <= dims.d_model <= 2 * dims.heads + 1
    ]
    if number == 0 and likely:
        return likely
    stride = -(-len(some) // _AT_ONCE) or 1
    return some[number % stride :: stride]
