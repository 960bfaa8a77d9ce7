r"""What the rank of attention before output cannot exceed, whatever the weights.

For F ⊂ 𝒯 let K(F) be the number of last tokens, r_D(F) the rank of the formal differences
ε_{t_s} - ε_{t_S} + π_s - π_S, and α(F) the dimension of the additive functions Σ_s g_s(t_s) on F,
summed over its last-token classes. Then

.. math:: \operatorname{rank} W_V A' \le |𝒯∖F| + \min\big\{\min(d, K) + H \min(d_h, d, r_D),\;
          K + H\min(d_h, d, α - K)\big\}.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from lemmax.theory.dana.matroid_union import MatroidUnion, matroid_union
from lemmax.theory.dana.transformer import token_sequences
from lemmax.theory.numbers.rank import certified_rank

Which: TypeAlias = Literal["A", "A'", "W_V A'"]


def rank_bound(
    sequences: Sequence[Sequence[Hashable]],
    d: int,
    d_h: int | Sequence[int],
    matrix: Which = "W_V A'",
    H: int | None = None,
) -> tuple[int, str]:
    """An upper bound for the rank that holds for all weights, and the obstruction that gives it.

    ``d_h`` is one inner dimension (then ``H`` heads) or the list of them. The sets F of the
    module's formula that are tried: all sequences, those with one last token, the constant
    sequences, and for S = 2 the set that the matroid union finds.

    >>> rank_bound([(0, 0), (1, 1), (2, 2), (3, 3)], d=2, d_h=2, matrix="A", H=2)
    (3, '4 sequences have differences of rank 1')
    """
    given = token_sequences(sequences)
    inner = [d_h] * (H or 0) if isinstance(d_h, int) else list(d_h)
    if matrix != "W_V A'":
        inner = [d] * len(inner)
    candidates: list[list[tuple[Hashable, ...]]] = [given]
    candidates += last_token_classes(given)
    candidates.append([t for t in given if len(set(t)) == 1])
    if len(given[0]) == 2 <= d and matrix != "A" and len(set(inner)) == 1 and len(given) <= 300:
        tight = bigram_union(given, d, inner[0], len(inner)).tight
        candidates.append([given[i] for i in sorted(tight)])
    size = len(given)
    best, why = size, f"there are {size} sequences"
    for F in candidates:
        if not F:
            continue
        bound, reason = _bound_on(F, d, inner, matrix)
        if size - len(F) + bound < best:
            best, why = size - len(F) + bound, reason
    return best, why


def _bound_on(
    F: list[tuple[Hashable, ...]], d: int, inner: list[int], matrix: Which
) -> tuple[int, str]:
    """The bound for the columns of F alone."""
    K = len(last_token_classes(F))
    differences = difference_rank(F)
    free = additive_dimension(F) - K
    many = f"{len(F)} sequences have"
    options = [
        (K + sum(min(k, d, free) for k in inner), f"{many} {free} additive functions to spare")
    ]
    if matrix == "A":
        first = min(d, difference_rank(F, lifted=True))
        rest = sum(min(k, d, differences) for k in inner[1:])
        options.append((first + rest, f"{many} differences of rank {differences}"))
    else:
        heads = sum(min(k, d, differences) for k in inner)
        what = f"{K} last tokens" if d > K else f"dimension {d}"
        options.append((min(d, K) + heads, f"{many} {what} and differences of rank {differences}"))
    return min(options)


def last_token_classes(
    sequences: Iterable[tuple[Hashable, ...]],
) -> list[list[tuple[Hashable, ...]]]:
    """The sequences grouped by their last token.

    >>> [len(c) for c in last_token_classes([(0, 1), (1, 1), (0, 0)])]
    [2, 1]
    """
    classes: dict[Hashable, list[tuple[Hashable, ...]]] = {}
    for t in sequences:
        classes.setdefault(t[-1], []).append(t)
    return list(classes.values())


def difference_rank(sequences: Sequence[tuple[Hashable, ...]], *, lifted: bool = False) -> int:
    """The rank of ε_{t_s} - ε_{t_S} + π_s - π_S over all t and s < S (lifted: of ε_{t_s} + π_s).

    >>> difference_rank([(0, 0), (1, 1)]), difference_rank([(0, 0), (1, 1)], lifted=True)
    (1, 3)
    """
    tokens = {token: i for i, token in enumerate(dict.fromkeys(x for t in sequences for x in t))}
    S = len(sequences[0])
    rows: set[tuple[tuple[int, int], ...]] = set()
    for t in sequences:
        for s in range(S if lifted else S - 1):
            entries: dict[int, int] = {}
            terms = [(tokens[t[s]], 1), (len(tokens) + s, 1)]
            if not lifted:
                terms += [(tokens[t[-1]], -1), (len(tokens) + S - 1, -1)]
            for place, sign in terms:
                entries[place] = entries.get(place, 0) + sign
            rows.add(tuple(sorted((k, v) for k, v in entries.items() if v)))
    return _sparse_rank(rows, len(tokens) + S)


def additive_dimension(sequences: Iterable[tuple[Hashable, ...]]) -> int:
    """α: the dimension of the functions Σ_s g_s(t_s), summed over the last-token classes.

    >>> additive_dimension([(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)])  # XOR is not among them
    3
    """
    total = 0
    for part in last_token_classes(sequences):
        places: dict[tuple[int, Hashable], int] = {}
        for t in part:
            for place in enumerate(t):
                places.setdefault(place, len(places))
        rows = {tuple(sorted((places[place], 1) for place in enumerate(t))) for t in part}
        total += _sparse_rank(rows, len(places))
    return total


def _sparse_rank(rows: Iterable[tuple[tuple[int, int], ...]], columns: int) -> int:
    listed = list(rows)
    table = np.zeros((len(listed), columns), dtype=np.int64)
    for i, row in enumerate(listed):
        for j, value in row:
            table[i, j] = value
    return certified_rank(table).rank if table.size else 0


def lift_independent(edges: Sequence[tuple[Hashable, Hashable]]) -> bool:
    """Whether the vectors ε_i - ε_j + ε_0 of the edges (i, j) are linearly independent.

    A forest is; one cycle more is allowed if going round it adds up to a nonzero multiple of ε_0.

    >>> lift_independent([(0, 0)]), lift_independent([(0, 0), (1, 1)])
    (True, False)
    """
    root: dict[Hashable, Hashable] = {}
    height: dict[Hashable, int] = {}

    def find(i: Hashable) -> tuple[Hashable, int]:
        total = 0
        while root.setdefault(i, i) != i:
            total += height[i]
            i = root[i]
        return i, total

    lifted = False
    for i, j in edges:
        (a, up), (b, down) = find(i), find(j)
        if a != b:
            root[a], height[a] = b, down + 1 - up
        elif up - down == 1 or lifted:
            return False
        else:
            lifted = True
    return True


def bigram_union(bigrams: Sequence[tuple[Hashable, ...]], d: int, d_h: int, H: int) -> MatroidUnion:
    """The matroid union that gives the generic rank of W_V A' on bigrams, d ≥ 2.

    Its matroids: the partition matroid of distinct last tokens, truncated at d, and H copies of the
    lift matroid of the vectors ε_i - ε_j + ε_0, truncated at min(d, d_h). The set ``tight``
    attains the minimum over F of the module's first bound.
    """
    most = min(d, d_h)

    def skip(part: Sequence[int]) -> bool:
        return len(part) <= d and len({bigrams[i][1] for i in part}) == len(part)

    def head(part: Sequence[int]) -> bool:
        return len(part) <= most and lift_independent(
            [(bigrams[i][0], bigrams[i][1]) for i in part]
        )

    return matroid_union(len(bigrams), [skip] + [head] * H)
