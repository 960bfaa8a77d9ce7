r"""|Q| heads, d_qk = 1, d_vo = m: a key carries the codes of its values, each head reads one.

Coordinates are (h, j) for head h and j = 1, …, m, and a marker z (sometimes a second, z₂).

* Key k has the code of D(k, h) in block h, zero where the fact is missing, and zero at the markers.
* Predicate i has ``scale`` at z, 1 at z₂ and 1 at its hot coordinate t_i.
* Head h scores 0 at a key; at the predicate itself -g if it is predicate h, else +g. So head q
  reads block q of the key, and every other head h reads block h of the predicate, which is zero.
* Outputs are coordinates where predicates are zero, so the last position holds the code there.
* The column of v in W_U is 2c_v on the outputs and -‖c_v‖² on the markers: the codebook lemma.

Where m ≥ 2 and |Q| ≥ 2 the outputs are (1,1) and (2,2), …, (2,m), the hot coordinates (1,2) and
(i,1), so that only z is added. Otherwise the output is block 1, predicate 1 has no hot coordinate,
and what needs two weights for ‖c‖² gets z₂. Every number is dyadic and held exactly by float64,
the carrier of the arrays.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lemmax.constructions.compiler.coded import joined, unmarked
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.codes import Code, Integers
from lemmax.constructions.compiler.coded.envelopes import ladder
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head

Floats: TypeAlias = NDArray[np.float64]

GAIN = 128
"""g: exp(-128) is zero in every format up to float32, and below 2^-184 over the reals."""

WIDE_GAIN = 1024
"""g where codes use all exponents: over the reals 2^-1472 is left, small beside any number."""

LARGEST_EXACT = 4_000_000
"""Entries of W_E up to which the layer is also written with rational matrices."""


@dataclass(frozen=True)
class Layout:
    """Where things stand in the d_model coordinates of a layer by codes.

    >>> Layout.of(queries=3, coordinates=2, intercepts=2)
    Layout(width=7, outputs=(0, 3), hot=(1, 2, 4), markers=(6,))
    """

    width: int
    outputs: tuple[int, ...]
    hot: tuple[int | None, ...]
    markers: tuple[int, ...]

    @property
    def heated(self) -> list[int]:
        """The hot coordinates that there are."""
        return [t for t in self.hot if t is not None]

    @classmethod
    def of(
        cls, queries: int, coordinates: int, intercepts: int, shared: int | None = None
    ) -> Layout:
        """The layout for so many predicates, coordinates of a code and weights for ‖c‖².

        Lines, where ``shared`` is given, write each of their numbers to two outputs: block 1 or
        the first shared coordinate, and one that is zero in W_E.
        """
        if shared is not None:
            second = queries + (-(-queries // shared) if shared else 0)
            outputs = (0, second, queries, second + 1) if shared else (0, second)
            width = second + coordinates + intercepts
            hots: tuple[int | None, ...] = (None, *range(1, queries))
            return cls(width, outputs, hots, tuple(range(second + coordinates, width)))
        m, blocks = coordinates, queries * coordinates
        hot: tuple[int | None, ...] = tuple(i * m for i in range(1, queries))
        if m == 1 or queries == 1:
            markers = tuple(range(blocks, blocks + intercepts))
            return cls(blocks + intercepts, tuple(range(m)), (None, *hot), markers)
        return cls(blocks + 1, (0, *range(m + 1, 2 * m)), (1, *hot), (blocks,))


@dataclass(frozen=True, eq=False)
class CodedLayer:
    """A layer by codes as arrays, with the arithmetic that it is made for.

    ``W_E`` is tokens × d_model, ``W_U`` d_model × tokens, the heads' matrices are stacked.
    ``queries`` are the numbers of the predicates, in the order of the heads.
    """

    tokens: tuple[Hashable, ...]
    queries: tuple[int, ...]
    arithmetic: Arithmetic
    code: Code
    unembedding_scale: int
    W_E: Floats
    W_U: Floats
    W_Q: Floats
    W_K: Floats
    W_V: Floats
    W_O: Floats

    @property
    def layout(self) -> Layout:
        """Where outputs, markers and hot coordinates stand."""
        return layout_of(self.code, len(self.queries))

    def weights(self) -> dict[str, Floats]:
        """The six arrays by name."""
        return {name: getattr(self, name) for name in ("W_E", "W_U", "W_Q", "W_K", "W_V", "W_O")}

    @cached_property
    def layer(self) -> AttentionLayer:
        """The same layer with rational matrices."""
        if self.W_E.size > LARGEST_EXACT:
            raise LemmaxError(
                f"A layer of {self.W_E.shape[0]} tokens and d_model {self.W_E.shape[1]} is kept "
                "as arrays: rational matrices of this size are not made."
            )
        heads = [
            Head(*(Matrix(w, floats=True) for w in weights))
            for weights in zip(self.W_Q, self.W_K, self.W_V, self.W_O, strict=True)
        ]
        embedding, unembedding = (Matrix(w, floats=True) for w in (self.W_E, self.W_U))
        return AttentionLayer(self.tokens, embedding, unembedding, heads)


def layout_of(code: Code, queries: int) -> Layout:
    """The layout that a code asks for."""
    if code.family == "joined":
        m = code.coordinates
        first = queries * (m + 1)
        hot = tuple(range(queries * m, first))
        return Layout(first + m + 1, tuple(range(first, first + m)), hot, (first + m,))
    if code.family == "unmarked":  # what is left of ‖c‖² stands where markers would
        m = code.coordinates
        outputs, rest = (0, *range(m + 1, 2 * m)), tuple(range(2 * m + 1, queries * m, m))
        return Layout(queries * m, outputs, (1, *range(m, queries * m, m)), rest)
    shared = code.shared if code.family == "envelope" else None
    return Layout.of(queries, code.coordinates, code.intercepts, shared)


def fact_numbers(db: Database) -> Integers:
    """The facts as rows of token numbers."""
    index = dict(zip(db.tokens, range(len(db.tokens)), strict=True))
    numbers = np.empty((len(db), 3), dtype=np.int64)
    for part, (tokens, own) in enumerate(db.columns):
        numbered = np.fromiter(map(index.__getitem__, tokens), dtype=np.int64, count=len(tokens))
        numbers[:, part] = numbered[np.frombuffer(own, dtype=np.int64)]
    return numbers


def by_codes(
    db: Database,
    code: Code,
    arithmetic: Arithmetic,
    unembedding_scale: int = 1,
    facts: Integers | None = None,
) -> CodedLayer:
    """The layer that holds a database in a code; subjects and predicates must be disjoint.

    W_U is multiplied by ``unembedding_scale``, a power of two. Cost: linear in the weights.

    >>> db = Database.from_triples([("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y")])
    >>> arithmetic = Arithmetic.named("bfloat16")
    >>> layer = by_codes(db, Code("integers", 1, 2, mantissas=(-1, 0)), arithmetic)
    >>> layer.W_E.tolist()[:2]
    [[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    both = set(db.queries).intersection(db.keys)
    if both and code.family != "joined":
        raise LemmaxError(
            f"These codes need subjects and predicates to be disjoint, and "
            f"{min(map(str, both))!r} is both."
        )
    numbers = fact_numbers(db) if facts is None else facts
    size, m = len(db.tokens), code.coordinates
    layout = layout_of(code, len(db.queries))
    place = dict(zip(db.tokens, range(size), strict=True))
    queries, values = (list(map(place.__getitem__, part)) for part in (db.queries, db.values))
    head, value = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    head[queries], value[values] = np.arange(len(queries)), np.arange(len(values))
    keys, asked, told = numbers[:, 0], head[numbers[:, 1]], value[numbers[:, 2]]

    W_E = np.zeros((size, layout.width))
    W_U = np.zeros((layout.width, size))
    if code.family == "envelope":
        rungs = ladder(code.shared)
        sign, octave, step = rungs.values(len(values))
        whole = np.zeros(len(numbers), dtype=np.int64)
        if code.shared:
            group, place_in = np.divmod(asked, code.shared)
            bits = np.zeros((size, -(-len(queries) // code.shared)), dtype=np.int64)
            np.add.at(bits, (keys, group), (step[told] & 1) << place_in)
            W_E[:, len(queries) : len(queries) + bits.shape[1]] = bits
            whole = bits[keys, group] >> place_in
        W_E[keys, asked] = rungs.codes(sign[told], octave[told], step[told], whole)
        rows = [*layout.outputs, *layout.markers]
        W_U[np.ix_(rows, values)] = rungs.columns(sign, octave, step, code.intercepts)
    else:
        mantissas, exponents = code.table(len(values))
        codes = np.ldexp(mantissas.astype(np.float64), exponents[:, None])
        for j in range(m):
            W_E[keys, asked * m + j] = codes[told, j]
        if code.zero:  # tokens outside V lie below the code 0
            at = layout.heated if code.family == "unmarked" else [layout.markers[0]]
            W_U[at] = -1 / code.scale
        W_U[:, values] = _codebook(mantissas, exponents, code, layout, arithmetic)
    outputs = list(layout.outputs)
    if code.family == "joined":
        joined.take_back(W_E, queries, m, outputs)
        sums, stored = arithmetic.accumulate, arithmetic.weights
        largest = min(1 << sums.significand, int(stored.largest))
        heads = joined.heads(len(queries), m, layout.width, outputs, largest)
    elif code.family == "unmarked":
        unmarked.mark(W_E, queries, layout.heated, m, code.scale)
        heads = unmarked.heads(layout.heated, outputs, m)
    else:
        for row, hot in zip(queries, layout.hot, strict=True):
            W_E[row, layout.markers] = (code.scale, *[1] * (len(layout.markers) - 1))
            if hot is not None:
                W_E[row, hot] = 1
        heads = _heads(layout, code)
    W_U *= unembedding_scale
    return CodedLayer(
        db.tokens, tuple(queries), arithmetic, code, unembedding_scale, W_E, W_U, *heads
    )


def split_square(square: Integers, p: int, scale: int = 1) -> tuple[Integers, Integers]:
    """‖a‖² = hi + lo, hi rounded to p bits and to a multiple of ``scale``, a power of two.

    >>> hi, lo = split_square(np.array([255 * 255, 3]), 8)
    >>> hi.tolist(), lo.tolist()
    ([65024, 3], [1, 0])
    """
    length = np.frexp(square.astype(np.float64))[1].astype(np.int64)  # squares are below 2^53
    shift = np.maximum(length - p, scale.bit_length() - 1)
    half = np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)
    hi = ((square + half) >> shift) << shift
    return hi, square - hi


def _codebook(
    mantissas: Integers, exponents: Integers, code: Code, layout: Layout, arithmetic: Arithmetic
) -> Floats:
    """The values' columns of W_U: 2c on the outputs, -hi and -lo on the markers."""
    columns = np.zeros((layout.width, len(mantissas)))
    columns[list(layout.outputs)] = np.ldexp(2.0 * mantissas, exponents[:, None]).T
    square, p = (mantissas**2).sum(axis=1), arithmetic.weights.significand
    if code.family == "unmarked":
        first, second = split_square(square, p)
        columns[layout.heated] = -first / code.scale
        columns[list(layout.markers)] = -second / code.scale
        return columns + 0.0
    hi, lo = split_square(square, p, code.scale)
    columns[layout.markers[0]] = np.ldexp(-hi / code.scale, 2 * exponents)
    low = np.ldexp(-lo.astype(np.float64), 2 * exponents)
    if len(layout.markers) == 2:
        columns[layout.markers[1]] = low
    elif low.any() and None in layout.hot:  # no second coordinate that every predicate has
        raise LemmaxError(f"{arithmetic.weights.name} does not hold |c|² in one weight.")
    elif low.any():
        columns[layout.heated] = low
    return columns + 0.0  # no -0


def _heads(layout: Layout, code: Code) -> tuple[Floats, Floats, Floats, Floats]:
    """W_Q, W_K, W_V, W_O of all heads, stacked."""
    H, d, m, z = len(layout.hot), layout.width, code.coordinates, layout.markers[0]
    W_Q, W_K = np.zeros((H, d, 1)), np.zeros((H, 1, d))
    W_V, W_O = np.zeros((H, d, m)), np.zeros((H, m, d))
    W_K[:, 0, z] = 1 / code.scale
    lines = code.family == "envelope"
    gain = WIDE_GAIN if lines else GAIN
    for h, hot in enumerate(layout.hot):
        if hot is None:
            W_Q[h, z] = -gain / code.scale
            W_Q[h, layout.heated] = 2 * gain
        else:
            W_Q[h, z] = gain / code.scale
            W_Q[h, hot] = -2 * gain
        if lines:
            W_V[h, h, 0] = W_O[h, 0, layout.outputs[0]] = W_O[h, 0, layout.outputs[1]] = 1
        else:
            W_V[h, range(h * m, h * m + m), range(m)] = 1
            W_O[h, range(m), layout.outputs] = 1
        if code.shared:
            W_V[h, H + h // code.shared, 1] = 1
            W_O[h, 1, layout.outputs[2:]] = 2.0 ** -(h % code.shared)
    return W_Q, W_K, W_V, W_O
