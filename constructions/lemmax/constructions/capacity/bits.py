"""Bits per parameter: n·log₂|V| of knowledge over what a layer spends on it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.codes import Code, cheapest_code, joined_code
from lemmax.constructions.compiler.coded.deciding import scale_for
from lemmax.constructions.compiler.planning import Dimensions, applicable, dimensions
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.formats import FORMATS, Format

TRAINED = 2.0
"""Bits per parameter that trained language models show (Allen-Zhu and Li 2024)."""

TAU = fmpq(99, 100)
"""The probability whose price is shown."""

ARITHMETICS = (
    ("bfloat16", "bfloat16", "bfloat16"),
    ("bfloat16", "float32", "bfloat16"),
    ("bfloat16", "float32", "float32"),
    ("float16", "float16", "float16"),
    ("float16", "float32", "float16"),
    ("float32", "float32", "float32"),
)
"""Weights, logits and residual stream of the arithmetics that are compared; sums are float32."""


@dataclass(frozen=True)
class Sizes:
    """A table by its numbers: keys, predicates, values, facts and tokens.

    >>> full = Sizes.full(queries=16, values=2**12, facts=1000 * 2**12)
    >>> full.keys, full.tokens
    (256000, 260112)
    """

    keys: int
    queries: int
    values: int
    facts: int
    tokens: int
    both: int = 0  # tokens that are subjects and predicates

    @classmethod
    def of(cls, db: Database) -> Sizes:
        """The sizes of a database."""
        both = len(set(db.queries).intersection(db.keys))
        return cls(len(db.keys), len(db.queries), len(db.values), len(db), len(db.tokens), both)

    @classmethod
    def full(cls, queries: int, values: int, facts: int) -> Sizes:
        """A full table whose keys, predicates and values are different tokens."""
        keys = facts // queries
        return cls(keys, queries, values, facts, keys + queries + values)


@dataclass(frozen=True)
class Capacity:
    """What one construction spends on a table, and the bits of knowledge that each part carries.

    ``dtype`` is None for constructions whose weights no format holds: they are certified over the
    reals alone, and have no bits of storage. ``likely`` is the shape of the layer of the same
    formats that gives every fact the probability τ = 99/100; None where there is none.
    """

    construction: str
    dtype: str | None
    logits: str | None
    family: str | None
    dims: Dimensions
    sizes: Sizes
    residual: str | None = None
    likely: Dimensions | None = None

    @property
    def bits(self) -> float:
        """Bits of knowledge: n·log₂|V|."""
        return knowledge(self.sizes.facts, self.sizes.values)

    @property
    def embedding(self) -> int:
        """Entries of W_E."""
        return self.dims.d_model * self.sizes.tokens

    @property
    def used(self) -> int:
        """Parameters that answers depend on: W_E on keys and predicates, heads, W_U on values."""
        sizes = self.sizes
        spent = sizes.keys + sizes.queries - sizes.both + sizes.values
        return self.dims.d_model * spent + self.dims.parameters

    @property
    def parameters(self) -> int:
        """All parameters: W_E, W_U and the heads."""
        return 2 * self.embedding + self.dims.parameters

    @property
    def per_key_weight(self) -> float:
        """Bits per weight of a key's row, facts and keys being many."""
        return self.bits / (self.sizes.keys * self.dims.d_model)

    @property
    def per_used(self) -> float:
        """Bits per parameter that answers depend on."""
        return self.bits / self.used

    @property
    def per_parameter(self) -> float:
        """Bits per parameter, embeddings and unembeddings of all tokens included."""
        return self.bits / self.parameters

    @property
    def per_parameter_likely(self) -> float | None:
        """Bits per parameter, over all of them, where every fact has to reach τ."""
        if self.likely is None:
            return None
        return self.bits / (2 * self.likely.d_model * self.sizes.tokens + self.likely.parameters)

    @property
    def per_bit(self) -> float | None:
        """Bits of knowledge per bit of storage, over all parameters."""
        return None if self.dtype is None else self.per_parameter / FORMATS[self.dtype].storage

    @property
    def limit(self) -> float | None:
        """What no layer of this shape exceeds per parameter, over all of them."""
        if self.dtype is None:
            return None
        return counting_bound(self.used, FORMATS[self.dtype]) / self.parameters

    def report(self) -> dict[str, Any]:
        """The row of a table, ready for JSON."""
        return {
            "construction": self.construction,
            "dtype": self.dtype,
            "logits": self.logits,
            "residual": self.residual,
            "family": self.family,
            "d_model": self.dims.d_model,
            "heads": self.dims.heads,
            "non_embedding_parameters": self.dims.parameters,
            "parameters": self.parameters,
            "bits_per_key_weight": _down(self.per_key_weight, 3),
            "bits_per_used_parameter": _down(self.per_used, 3),
            "bits_per_parameter": _down(self.per_parameter, 3),
            "bits_per_parameter_with_tau": _down(self.per_parameter_likely, 3),
            "bits_per_stored_bit": _down(self.per_bit, 4),
            "limit": None if self.limit is None else math.ceil(self.limit * 1000) / 1000,
        }


def _down(bits: float | None, digits: int) -> float | None:
    """What is reached, rounded down.

    >>> _down(15.8279, 2)
    15.82
    """
    return None if bits is None else math.floor(bits * 10**digits) / 10**digits


def knowledge(facts: int, values: int) -> float:
    """n·log₂|V|: the logarithm of the number of tables with these keys, predicates and values.

    >>> knowledge(1000, 4096)
    12000.0
    """
    return facts * math.log2(values)


def counting_bound(parameters: int, format_: Format) -> float:
    """The most bits that so many weights of a format hold: each has one of finitely many values.

    If every table is held by some layer of one shape, there are at most as many tables as layers.
    A single table that happens to be regular is not bounded by this.

    >>> round(counting_bound(1, FORMATS["bfloat16"]), 3)
    15.994
    """
    return parameters * format_.bits


def capacities(db: Database | Sizes) -> Iterator[Capacity]:
    """Every construction that applies to a table, and by codes every arithmetic.

    >>> db = Database.from_triples([("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y")])
    >>> [c.construction for c in capacities(db)][:3]
    ['by-predicates', 'by-keys', 'by-codes']
    """
    sizes = db if isinstance(db, Sizes) else Sizes.of(db)
    disjoint = True
    if isinstance(db, Database):
        disjoint = not set(db.keys) & set(db.queries)
        for method in applicable(db):
            dims = dimensions(db, method)  # a larger W_U gives any probability
            yield Capacity(method, None, None, None, dims, sizes, likely=dims)
    choose = cheapest_code if disjoint else joined_code
    factor = scale_for(TAU, sizes.tokens)
    for dtype, logits, residual in ARITHMETICS:
        arithmetic = Arithmetic.named(dtype, logits=logits, residual=residual)
        try:
            code = choose(sizes.values, sizes.queries, arithmetic)
        except LemmaxError:
            continue
        if residual != dtype and code.family != "unmarked":
            continue  # to others a wider stream is the same
        try:
            likely = _dims(sizes, choose(sizes.values, sizes.queries, arithmetic, factor))
        except LemmaxError:
            likely = None
        dims = _dims(sizes, code)
        yield Capacity("by-codes", dtype, logits, code.family, dims, sizes, residual, likely)


def _dims(sizes: Sizes, code: Code) -> Dimensions:
    """The shape of the layer with this code."""
    d_qk = 2 if code.family == "joined" else 1
    return Dimensions(code.width(sizes.queries), sizes.queries, code.coordinates, d_qk)
