r"""Pairs of sequences that one head of dimension two tells apart (``lemmax/feature-edges``).

The rows \(A_1, A_2\) of one head on a set 𝒯 of sequences make a 2-form \(A_1 \wedge A_2\). An
edge is a pair with \(\varepsilon_t \wedge \varepsilon_{t'}\) in the span U of these forms over all
heads. Features of several heads are independent where the sequences can be matched by edges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from itertools import combinations

TokenSequence = tuple[Hashable, ...]


def related(t: Sequence[Hashable], u: Sequence[Hashable]) -> frozenset[Hashable] | None:
    """{a, b} if the sequences differ, and by the same change of a to b wherever they differ.

    >>> sorted(related("aab", "bbb")), related("ab", "ba"), related("ab", "bc")
    (['a', 'b'], None, None)
    """
    changes = {(a, b) for a, b in zip(t, u, strict=True) if a != b}
    return frozenset(*changes) if len(changes) == 1 else None


def is_edge(t: TokenSequence, u: TokenSequence, sequences: Collection[TokenSequence]) -> bool:
    """Whether a rule makes t, u an edge among ``sequences`` of length S ≥ 3.

    Different last tokens, or no single change of one token; or a change of a to b at positions D
    such that t or u has no other sequence with a change between a and b, or such that D is neither
    one position nor all but the last and no third sequence differs by another token on all of D.

    >>> square = ["aac", "abc", "bac", "bbc"]
    >>> [is_edge(tuple("aac"), tuple(u), [*map(tuple, square)]) for u in square[1:]]
    [False, False, False]
    >>> is_edge(tuple("abc"), tuple("bac"), [*map(tuple, square)])
    True
    """
    if t[-1] != u[-1]:
        return True
    change = related(t, u)
    if change is None:
        return t != u
    same = [x for x in sequences if x[-1] == t[-1]]
    for x in (t, u):
        if sum(related(x, y) == change for y in same) == 1:
            return True
    places = [s for s, (a, b) in enumerate(zip(t, u, strict=True)) if a != b]
    if not 2 <= len(places) < len(t) - 1:
        return False
    return not any(_on_the_line(x, t, places) for x in same if x not in (t, u))


def _on_the_line(x: TokenSequence, t: TokenSequence, places: list[int]) -> bool:
    """Whether x is t with one token at all the places."""
    moved = {x[s] for s in places}
    return len(moved) == 1 and all(
        a == b for s, (a, b) in enumerate(zip(x, t, strict=True)) if s not in places
    )


def is_square(four: Sequence[TokenSequence]) -> bool:
    """Whether four sequences are two pairs with the same two tokens at every position.

    >>> is_square(["aac", "abc", "bac", "bbc"]), is_square(["aac", "abc", "bac", "cbc"])
    (True, False)
    """
    first, *rest = four
    for partner in rest:
        others = [x for x in rest if x != partner]
        columns = zip(first, partner, *others, strict=True)
        if all(Counter((a, b)) == Counter((c, d)) for a, b, c, d in columns):
            return True
    return False


def edges_leaving_four(
    sequences: Collection[TokenSequence],
) -> tuple[list[tuple[TokenSequence, TokenSequence]], tuple[TokenSequence, ...]]:
    """Disjoint edges of at least six sequences with one last token that leave no square.

    Each pair is an edge among the sequences that are left before it is removed. Such edges always
    exist for an even number of sequences of length S ≥ 3.

    >>> cube = [(a, b, c, 0) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    >>> removed, four = edges_leaving_four(cube)
    >>> len(removed), is_square(four)
    (2, False)
    """
    left = list(sequences)
    removed = []
    while len(left) > 4:
        for t, u in combinations(left, 2):
            rest = [x for x in left if x not in (t, u)]
            if is_edge(t, u, left) and (len(rest) > 4 or not is_square(rest)):
                removed.append((t, u))
                left = rest
                break
        else:
            raise AssertionError("A set without such an edge contradicts lemmax/feature-edges.")
    return removed, tuple(left)
