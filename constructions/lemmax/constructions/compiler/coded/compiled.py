"""The passes of the compiler by codes: choose a code, build the layer, decide that it knows all."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq

from lemmax.constructions.compiler.answers import Recall
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.by_codes import CodedLayer, by_codes, fact_numbers
from lemmax.constructions.compiler.coded.codes import Integers, cheapest_code, joined_code
from lemmax.constructions.compiler.coded.deciding import known, lines, points, scale_for
from lemmax.constructions.compiler.coded.recalling import recall_from_arrays
from lemmax.constructions.compiler.planning import Dimensions, Method, lower_bounds
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.files import refuse_beyond_memory
from lemmax.theory.latex import Typeset
from lemmax.theory.shown import counted
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.memorization import Memorization

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class CompiledByCodes(Typeset):
    """A layer by codes that provably recalls a database, over the reals and in its arithmetic.

    >>> from lemmax.constructions.compiler import compile_database
    >>> db = Database.from_triples([("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y")])
    >>> compiled = compile_database(db, dtype="bfloat16")
    >>> compiled.dims, compiled.answer("b", "f"), compiled.float_certificate()["kind"]
    (Dimensions(d_model=3, heads=2, d_vo=1, d_qk=1), 'y', 'float-memorization')
    """

    database: Database
    coded: CodedLayer
    facts: Integers
    tau: fmpq | None

    def __repr__(self) -> str:
        facts, formats = counted(len(self.facts), "fact"), self.arithmetic
        return f"CompiledByCodes({facts}, {self.coded.code.family}, {self.dims}, {formats})"

    @property
    def method(self) -> Method:
        """The name of the construction."""
        return "by-codes"

    @property
    def arithmetic(self) -> Arithmetic:
        """The formats in which every fact is recalled."""
        return self.coded.arithmetic

    @property
    def layer(self) -> AttentionLayer:
        """The layer with rational matrices; refused where they would be too large."""
        return self.coded.layer

    @cached_property
    def memorization(self) -> Memorization:
        """The decision over the reals, made when the layer was compiled."""
        return Memorization(self.layer, self.database.triples, self.tau, ())

    @property
    def dims(self) -> Dimensions:
        """d_model, heads, d_vo and d_qk of the layer."""
        heads, width, m = self.coded.W_V.shape
        return Dimensions(width, heads, m, self.coded.W_Q.shape[2])

    def answer(self, key: Hashable, query: Hashable) -> Hashable:
        """What the layer answers to a fact of its database, found from the key's code.

        Cost: that of reading one block; the codes are sorted once.
        """
        k, q = (self._position(token) for token in (key, query))
        if q not in self.coded.queries:
            raise LemmaxError(f"{query!r} is not a predicate of this layer.")
        m, head = self.coded.code.coordinates, self.coded.queries.index(q)
        if (key, query) not in self.database:
            raise LemmaxError(f"The layer was not told about {key!r} {query!r}.")
        if self.coded.code.family == "envelope":
            return self.coded.tokens[self._largest(k, head)]
        block = self.coded.W_E[k, head * m : head * m + m]
        value = self._values.get(tuple(2 * self.coded.unembedding_scale * block))
        if value is None:
            raise LemmaxError(f"The layer was not told about {key!r} {query!r}.")
        return self.coded.tokens[value]

    def _largest(self, key: int, head: int) -> int:
        """The token of the largest logit; float64 keeps the order that float32 does."""
        x, y = points(self.coded, np.array([key]), np.array([head]))
        p, q, r = lines(self.coded)
        return int(np.argmax(p * x + q * y - r))

    @cached_property
    def _index(self) -> dict[Hashable, int]:
        return {t: i for i, t in enumerate(self.coded.tokens)}

    @cached_property
    def _values(self) -> dict[tuple[float, ...], int]:
        """The value of each column of W_U, read on the outputs."""
        used = np.unique(self.facts[:, 2])
        columns = self.coded.W_U[list(self.coded.layout.outputs)][:, used].T
        return {tuple(c): v for c, v in zip(columns.tolist(), used.tolist(), strict=True)}

    def _position(self, token: Hashable) -> int:
        if token not in self._index:
            raise LemmaxError(f"The token {token!r} is unknown to this layer.")
        return self._index[token]

    def recall(self, key: Hashable, query: Hashable) -> Recall:
        """The layer's answer over the reals, with its probability over the whole vocabulary.

        Cost: linear in the weights of W_U.
        """
        weights = self.coded.weights()
        return recall_from_arrays(self.coded.tokens, self._index, weights, key, query)

    def certificate(self) -> Certificate:
        """A ``memorization`` certificate: the layer, every fact, the criterion over the reals."""
        return self.memorization.certificate()

    def float_certificate(self) -> Certificate:
        """A ``float-memorization`` certificate, for the formats of the layer, arrays inside."""
        from lemmax.constructions.compiler.coded.files import float_certificate

        return float_certificate(self)

    def lower_bounds(self) -> tuple[str, ...]:
        """What no layer can do without, as far as it is known."""
        return lower_bounds(self.database)

    def exact_in(self) -> str:
        """The arithmetic in which every fact is recalled, in a sentence."""
        return f"Every fact is recalled with {self.arithmetic}, and over the reals."

    @property
    def claim(self) -> str:
        """The claim that this witnesses."""
        other = {
            "joined": "lemmax/compiler-joined",
            "envelope": "lemmax/bits-per-weight",
            "unmarked": "lemmax/compiler-unmarked",
        }
        return other.get(self.coded.code.family, "lemmax/compiler-by-codes")

    def formula(self) -> str:
        """The weights as an aligned display."""
        return self.layer.formula()

    def to_sympy(self) -> dict[str, Any]:
        """The weights for sympy, head by head."""
        return self.layer.to_sympy()

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """The weights as float64 arrays, which hold them exactly; heads are stacked."""
        return self.coded.weights()

    def to_torch(self, dtype: torch.dtype | None = None) -> torch.nn.Module:
        """The layer as a torch module in its own formats, or with weights in a wider one.

        Logits keep the format for which they are proved; a dtype in which the layer is not proved
        is refused.
        """
        from lemmax.numerics.twins.coded import TorchCodedLayer

        return TorchCodedLayer.from_coded(self.coded, dtype)


def compile_by_codes(
    db: Database, arithmetic: Arithmetic, tau: fmpq | None = None
) -> CompiledByCodes:
    """The smallest layer by codes whose evaluation in these formats is proved.

    With τ only integer codes serve: their logits differ by at least 1, and W_U is scaled by a power
    of two until every fact reaches τ over the reals. Cost: linear in weights and facts.
    """
    factor = None if tau is None else scale_for(tau, len(db.tokens))
    both = set(db.queries).intersection(db.keys)
    choose = joined_code if both else cheapest_code
    code = choose(len(db.values), len(db.queries), arithmetic, factor)
    width = code.width(len(db.queries))
    needed = 8 * (4 * len(db.tokens) * width + 8 * len(db))  # two arrays, and one copy of each
    refuse_beyond_memory(f"{len(db)} facts over {len(db.tokens)} tokens", needed)
    facts = fact_numbers(db)
    coded = by_codes(db, code, arithmetic, factor or 1, facts)
    if not known(coded, facts).all():
        raise AssertionError("the construction by codes misses a fact")
    return CompiledByCodes(db, coded, facts, tau)
