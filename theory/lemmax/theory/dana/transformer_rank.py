r"""The rank of attention before output, for given weights and for generic ones.

For sequences t of a set 𝒯 of size T₀ let X_S, A and A' = [X_S; A] be the matrices with one column a
sequence (here: one row), and W_V A' = [X_S; W_V^h A^h]: the skip rows are not compressed.

*Given weights.* Attention weights lie in Q(z) with z = e^{1/q} transcendental, so one evaluation
z → z₀ modulo a prime bounds the real rank from below. From above: a bound that holds for all
weights (:func:`rank_bound`), or the exact rank at one integer z₀ beyond Cauchy's bound on the
roots of every minor.

*All weights.* For F ⊂ 𝒯 let K(F) be the number of last tokens, r_D(F) the rank of the formal
differences ε_{t_s} - ε_{t_S} + π_s - π_S, and α(F) the dimension of the additive functions
Σ_s g_s(t_s) on F, summed over its last-token classes. Then

.. math:: \operatorname{rank} W_V A' \le |𝒯∖F| + \min\big\{\min(d, K) + H \min(d_h, d, r_D),\;
          K + H\min(d_h, d, α - K)\big\}.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat, nmod_mat
from numpy.typing import NDArray

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.matroid_union import matroid_union
from lemmax.theory.dana.transformer import AoT, AoTHead, token_sequences
from lemmax.theory.errors import LemmaxError, NotExact
from lemmax.theory.latex import Typeset, between
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.numbers.rank import certified_rank, pivots_modulo

Which: TypeAlias = Literal["A", "A'", "W_V A'"]

# Products of residues fit in 62 bits, so numpy does the arithmetic. Modulo 2^31 - 1 the number 2
# has order 31 only, which would spoil transformers in units of ln 2.
PRIME = 2**31 - 19
_POINTS = (1_234_567_891, 987_654_321, 271_828_182, 314_159_265)
_BUDGET_BITS = 4_000_000


@dataclass(frozen=True)
class AoTRank(Typeset):
    """Bounds for the real rank of A, A' or W_V A'; ``method`` says what bounds it from above."""

    model: AoT
    sequences: tuple[tuple[Hashable, ...], ...]
    matrix: Which
    lower: int
    upper: int
    method: str
    point: int

    @property
    def rank(self) -> int | None:
        """The rank, or None while the bounds differ."""
        return self.lower if self.lower == self.upper else None

    def certificate(self) -> Certificate:
        """An ``aot-rank`` certificate: the rank is at least ``lower``."""
        indices = self.model.indices(self.sequences)
        for point in (self.point,) if self.model.unit == "ln2" else (self.point, *range(2, 99)):
            table = residues(self.model, indices, self.matrix, point)
            rows, columns = pivots_modulo(_nmod(table))
            if len(rows) == self.lower:
                break
        else:
            raise LemmaxError(f"No minor of order {self.lower} is nonzero modulo {PRIME}.")
        return certificates.certificate(
            "aot-rank",
            {
                **self.model.certificate_fields(),
                "sequences": [list(t) for t in indices],
                "matrix": self.matrix,
                "at_least": self.lower,
                "prime": str(PRIME),
                "point": str(point),
                "rows": rows,
                "columns": columns,
            },
        )

    def formula(self) -> str:
        """The rank as an equation, or the bounds as inequalities."""
        return between(self.lower, rf"\operatorname{{rank}} {self.matrix}", self.upper)


def aot_rank(
    model: AoT, sequences: Sequence[Sequence[Hashable]], matrix: Which = "W_V A'"
) -> AoTRank:
    """The rank of attention before output on a set of sequences, bounded from both sides.

    Cost: one vectorised evaluation and one elimination modulo p below; above, ranks of incidence
    matrices, and for small cases an exact elimination with long integers.

    Examples
    --------
    >>> model = generic_aot(N=2, S=2, d=2, d_h=1, H=1)
    >>> aot_rank(model, [(0, 0), (1, 0), (0, 1)]).rank
    3
    >>> aot_rank(generic_aot(N=2, S=1, d=1, d_h=1, H=2), [(0,), (1,)], "A").rank  # Lemma 2 says 2
    1
    """
    if matrix not in ("A", "A'", "W_V A'"):
        raise LemmaxError(f"The matrix is A, A' or W_V A', not {matrix!r}.")
    if matrix == "A" and not model.heads:
        raise LemmaxError("Without heads there is no attention before output.")
    checked = tuple(token_sequences(sequences))
    indices = model.indices(checked)
    points = (2,) if model.unit == "ln2" else _POINTS
    lower, point = -1, 0
    bound = rank_bound(checked, model.d, [h.d_h for h in model.heads], matrix)
    upper, method = bound
    for candidate in points:
        table = residues(model, indices, matrix, candidate)
        found = _nmod(table).rank()
        if found > lower:
            lower, point = found, candidate
        if lower == upper:
            break
    if lower < upper:
        exact = _exact_rank(model, indices, matrix, lower)
        if exact is not None:
            # should every modular point have been unlucky, the exact value still is the rank
            lower, upper, method = exact, exact, "exact value"
    return AoTRank(model, checked, matrix, lower, upper, method, point)


# --- below: arithmetic modulo p, for all sequences at once ---------------------------------------


def _nmod(residues: NDArray[np.int64]) -> nmod_mat:
    rows, columns = residues.shape
    return nmod_mat(rows, columns, residues.ravel().tolist(), PRIME)


def _reduced(matrix: Any, modulus: int) -> NDArray[np.int64]:
    return np.array([[int(x) % modulus for x in row] for row in matrix.tolist()], dtype=np.int64)


def _product(a: NDArray[np.int64], b: NDArray[np.int64], modulus: int) -> NDArray[np.int64]:
    """a · b modulo a number below 2^31, the last axis of a against the first of b."""
    total = np.zeros((*a.shape[:-1], b.shape[1]), dtype=np.int64)
    for k in range(b.shape[0]):
        total = (total + a[..., k, None] * b[k]) % modulus
    return total


def _power(base: NDArray[np.int64], exponent: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """Entrywise powers modulo p by repeated squaring."""
    result = np.ones(np.broadcast(base, exponent).shape, dtype=np.int64)
    bits = np.broadcast_to(np.asarray(exponent, dtype=np.int64), result.shape)
    square = base.copy()
    for shift in range(31):
        odd = (bits >> shift) & 1
        result = np.where(odd == 1, result * square % PRIME, result)
        square = square * square % PRIME
    return result


def residues(
    model: AoT, indices: list[tuple[int, ...]], matrix: Which, point: int
) -> NDArray[np.int64]:
    """The matrix (one row a sequence) at z = point modulo p, rows and columns scaled at will."""
    e, pos, circuits, q, _ = model.integer_form()
    if model.unit == "ln2" and q != 1:
        raise NotExact("In units of ln 2 the attention scores must be integers.")
    tokens = np.array(indices)
    vectors = (_reduced(e, PRIME)[tokens] + _reduced(pos, PRIME)) % PRIME
    # exponents matter modulo p - 1 only, and are computed there
    order = PRIME - 1
    formal = (_reduced(e, order)[tokens] + _reduced(pos, order)) % order
    blocks = [] if matrix == "A" else [vectors[:, -1, :]]
    base = np.array(point, dtype=np.int64)
    for head, circuit in zip(model.heads, circuits, strict=True):
        queries = _product(formal[:, -1, :], _reduced(circuit, order), order)
        scores = np.zeros(tokens.shape, dtype=np.int64)
        for k in range(model.d):
            scores = (scores + queries[:, None, k] * formal[:, :, k]) % order
        weights = _power(np.broadcast_to(base, scores.shape), scores)
        total = np.zeros(len(indices), dtype=np.int64)
        output = np.zeros((len(indices), model.d), dtype=np.int64)
        for s in range(model.S):
            total = (total + weights[:, s]) % PRIME
            output = (output + weights[:, s, None] * vectors[:, s, :]) % PRIME
        if not total.all():
            # a vanishing normaliser: this point says nothing about this head
            return np.zeros((len(indices), 1), dtype=np.int64)
        output = output * _power(total, PRIME - 2)[:, None] % PRIME
        if matrix == "W_V A'":
            values = head.W_V.flint.numer_denom()[0].transpose()
            output = _product(output, _reduced(values, PRIME), PRIME)
        blocks.append(output)
    return np.concatenate(blocks, axis=1)


# --- above ----------------------------------------------------------------------------------------


def _exact_rank(
    model: AoT, indices: list[tuple[int, ...]], matrix: Which, lower: int
) -> int | None:
    """The rank over Q(z), at an integer beyond Cauchy's bound; None where that is too large.

    Row t times Π_h Z_t^h has integer polynomials in z as entries whose coefficients add up to at
    most S^H Y in absolute value, Y the largest entry of X or W_V X; so the coefficients of an
    (r+1)-minor are at most B = (r+1)! (S^H Y)^{r+1}, and it vanishes at B + 2 only if it is zero.
    """
    e, pos, circuits, q, _ = model.integer_form()
    if model.unit == "ln2" and q != 1:
        return None
    embedding, positions = e.tolist(), pos.tolist()
    values = [head.W_V.flint.numer_denom()[0] for head in model.heads]
    largest_vector = 1
    tables = []
    for t in indices:
        x = [
            [int(a) + int(b) for a, b in zip(embedding[i], p, strict=True)]
            for i, p in zip(t, positions, strict=True)
        ]
        heads = []
        for circuit, value in zip(circuits, values, strict=True):
            rows = circuit.tolist()
            query = [
                sum(x[-1][i] * int(rows[i][j]) for i in range(model.d)) for j in range(model.d)
            ]
            scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in x]
            outputs = x
            if matrix == "W_V A'":
                outputs = [
                    [
                        sum(int(v) * b for v, b in zip(row, key, strict=True))
                        for row in value.tolist()
                    ]
                    for key in x
                ]
            least = min(scores)
            heads.append(([score - least for score in scores], outputs))
            largest_vector = max(largest_vector, *(abs(v) for row in outputs for v in row))
        largest_vector = max(largest_vector, *(abs(v) for v in x[-1]))
        tables.append((x, heads))
    highest = max((s for _, heads in tables for scores, _ in heads for s in scores), default=0)
    coefficient = model.S**model.H * largest_vector
    rank = lower
    while True:
        z = math.factorial(rank + 1) * coefficient ** (rank + 1) + 2
        if model.unit == "ln2":
            z = 2
        width = (model.H + 1) * max(model.d, model.d_h)
        if highest * z.bit_length() * len(indices) * width > _BUDGET_BITS:
            return None
        table: list[list[fmpq]] = []
        for x, heads in tables:
            row: list[fmpq] = [] if matrix == "A" else [fmpq(v) for v in x[-1]]
            for scores, outputs in heads:
                weights = [z**score for score in scores]
                total = sum(weights)
                row += [
                    fmpq(sum(w * v for w, v in zip(weights, column, strict=True)), total)
                    for column in zip(*outputs, strict=True)
                ]
            table.append(row)
        found = certified_rank(fmpq_mat(table)).rank
        if model.unit == "ln2" or found == rank:
            return found
        rank = found


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
    found = token_sequences(sequences)
    inner = [d_h] * (H or 0) if isinstance(d_h, int) else list(d_h)
    if matrix != "W_V A'":
        inner = [d] * len(inner)
    candidates: list[list[tuple[Hashable, ...]]] = [found]
    candidates += last_token_classes(found)
    candidates.append([t for t in found if len(set(t)) == 1])
    if len(found[0]) == 2 <= d and matrix != "A" and len(set(inner)) == 1 and len(found) <= 300:
        candidates.append(list(bigram_rank(found, d, inner[0], len(inner)).tight))
    size = len(found)
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
    table = np.zeros((len(list(rows := list(rows))), columns), dtype=np.int64)
    for i, row in enumerate(rows):
        for j, value in row:
            table[i, j] = value
    return certified_rank(table).rank if table.size else 0


# --- generic weights ------------------------------------------------------------------------------


def generic_rank(T0: int, K: int, d: int, H: int) -> int:
    """min(T₀, H + min(d, K)): the generic rank of W_V A' for d_h = 1, S ≥ 2 and d ≥ 2.

    For d_h ≥ 2 it is a lower bound only: two more sequences may fit through one head.
    """
    return min(T0, H + min(d, K))


@dataclass(frozen=True)
class BigramRank(Typeset):
    """The generic rank of W_V A' on a set of bigrams (S = 2), by matroid union.

    ``tight`` is a set F that attains the minimum of |𝒯∖F| + min(d, K(F)) + H·min(d_h, r_δ(F)).
    """

    bigrams: tuple[tuple[Hashable, ...], ...]
    d: int
    d_h: int
    H: int
    rank: int
    tight: tuple[tuple[Hashable, ...], ...]

    @property
    def solvable(self) -> bool:
        """Whether the linear system of the construction can be solved for every target."""
        return self.rank == len(self.bigrams)

    @property
    def inequality(self) -> str:
        """The inequality at ``tight``, for instance "4 > min(2, 1) + 1·min(2, 2) = 3"."""
        size = len(self.tight)
        K = len(last_token_classes(self.tight))
        r = min(self.d, difference_rank(list(self.tight))) if self.tight else 0
        value = min(self.d, K) + self.H * min(self.d_h, r)
        sign = ">" if size > value else "="
        return f"{size} {sign} min({self.d}, {K}) + {self.H}·min({self.d_h}, {r}) = {value}"

    def certificate(self, seed: int = 0) -> Certificate:
        """An ``aot-rank`` certificate: integer weights whose features have this rank.

        That no weights have more is the easy half of the formula, for the set ``tight``.
        """
        names = {
            token: i for i, token in enumerate(dict.fromkeys(x for t in self.bigrams for x in t))
        }
        pairs = [tuple(names[token] for token in t) for t in self.bigrams]
        for attempt in range(seed, seed + 5):
            model = generic_aot(len(names), 2, self.d, self.d_h, self.H, attempt)
            found = aot_rank(model, pairs)
            if found.lower == self.rank:
                return found.certificate()
        raise LemmaxError("Five random transformers fell short of the generic rank.")

    @property
    def claim(self) -> str:
        """The claim that this witnesses."""
        return "lemmax/bigram-rank-matroid"

    def formula(self) -> str:
        """The generic rank, with the set that attains the minimum."""
        return rf"\operatorname{{rank}} W_V A' = {self.rank}, \quad |F| = {len(self.tight)}"


def bigram_rank(bigrams: Sequence[Sequence[Hashable]], d: int, d_h: int, H: int) -> BigramRank:
    r"""The generic rank of W_V A' for S = 2 and d ≥ 2, in polynomial time.

    .. math:: \min_{F ⊂ 𝒯}\; |𝒯∖F| + \min(d, K(F)) + H·\min(d_h, r_δ(F)),

    the rank of the union of one partition matroid (distinct last tokens) truncated at d and H
    copies of the lift matroid of the vectors ε_i - ε_j + ε_0 truncated at min(d, d_h). Cost: at
    most \(|𝒯|\) augmentations, each a search through \((H+1)|𝒯|\) exchanges.

    >>> bigram_rank([(0, 0), (1, 1), (2, 2), (3, 3)], d=2, d_h=2, H=1).rank
    3
    """
    found = token_sequences(bigrams)
    if len(found[0]) != 2:
        raise LemmaxError("The matroid union decides sequences of length 2 only.")
    if d < 2:
        raise LemmaxError("The matroid union needs an embedding dimension of at least 2.")
    most = min(d, d_h)

    def skip(part: Sequence[int]) -> bool:
        return len(part) <= d and len({found[i][1] for i in part}) == len(part)

    def head(part: Sequence[int]) -> bool:
        return len(part) <= most and lift_independent([(found[i][0], found[i][1]) for i in part])

    union = matroid_union(len(found), [skip] + [head] * H)
    tight = tuple(found[i] for i in sorted(union.tight))
    return BigramRank(tuple(found), d, d_h, H, union.rank, tight)


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


def generic_aot(
    N: int,
    S: int,
    d: int,
    d_h: int,
    H: int,
    seed: int = 0,
    *,
    rank_one: bool = True,
    size: int = 999,
) -> AoT:
    """A transformer with random integer weights; W_QK of rank one unless told otherwise.

    Small entries give accidental deficits (a repeated or zero W_QK), hence the wide range. W_O and
    W_U are zero: only the attention before output is meant.
    """
    source = random.Random(seed)

    def table(rows: int, columns: int) -> Matrix:
        return Matrix([[source.randint(-size, size) for _ in range(columns)] for _ in range(rows)])

    def factor() -> Matrix:
        rows = table(d_h, d).flint.tolist()
        return Matrix(rows[:1] + [[0] * d] * (d_h - 1)) if rank_one else Matrix(rows)

    heads = tuple(
        AoTHead(factor(), factor(), table(d_h, d), Matrix.zeros(d, d_h)) for _ in range(H)
    )
    e, pos = table(N, d), table(S, d)
    return AoT(tuple(range(N)), e, pos, Matrix.zeros(N, d), heads)
