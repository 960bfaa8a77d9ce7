"""The passes of the compiler: choose a construction, build the layer, decide that it knows all."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

from flint import arb, ctx, fmpq

from lemmax.constructions.compiler.answers import Recall, recall
from lemmax.constructions.compiler.by_keys import by_keys
from lemmax.constructions.compiler.by_predicates import by_predicates
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.compiled import CompiledByCodes, compile_by_codes
from lemmax.constructions.compiler.planning import Dimensions, Method, cheapest, lower_bounds
from lemmax.constructions.compiler.two_heads import two_heads
from lemmax.constructions.compiler.two_heads_one_hot import two_heads_one_hot
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError, RoundedWeights
from lemmax.theory.facts.database import Database
from lemmax.theory.formats import FORMATS, number_format
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.balls import ceiling_above
from lemmax.theory.numbers.matrices import decimal
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.memorization import Memorization, memorizes

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from lemmax.constructions.readouts.margin import Margin

BUILDERS: dict[Method, Callable[[Database], AttentionLayer]] = {
    "by-predicates": by_predicates,
    "by-keys": by_keys,
    "two-heads": two_heads,
    "two-heads-one-hot": two_heads_one_hot,
}


@dataclass(frozen=True)
class CompiledDatabase(Typeset):
    """A layer that provably memorizes a database; made by :func:`compile_database`.

    ``memorization`` is the decision that it does, from which the certificate is written. ``margin``
    says, where it was asked for, how wide that of W_U is, and what no W_U exceeds.

    >>> compiled = compile_database(Database.from_triples([("a", "f", "x"), ("b", "f", "y")]))
    >>> compiled.recall("a", "f").answer, compiled.certificate()["kind"]
    ('x', 'memorization')
    """

    database: Database
    method: Method
    memorization: Memorization
    margin: Margin | None = None

    def __repr__(self) -> str:
        told = self.dims
        return f"CompiledDatabase({len(self.database)} facts, {self.method}, {told})"

    def _repr_html_(self) -> str:
        return self.memorization._repr_html_() + self.layer._repr_html_()

    @property
    def layer(self) -> AttentionLayer:
        """The layer with its exact weights."""
        return self.memorization.layer

    @property
    def tau(self) -> fmpq | None:
        """The probability that every fact reaches; None where only the largest logit counts."""
        return self.memorization.tau

    @property
    def dims(self) -> Dimensions:
        """d_model, heads, d_vo and d_qk of the layer."""
        layer = self.layer
        return Dimensions(layer.d_model, len(layer.heads), layer.d_vo, layer.d_qk)

    def recall(self, key: Hashable, query: Hashable) -> Recall:
        """The layer's answer to (key, query), with its probability over the whole vocabulary."""
        return recall(self.layer, key, query)

    def certificate(self) -> Certificate:
        """A ``memorization`` certificate: the layer, every fact, the criterion."""
        return self.memorization.certificate()

    def lower_bounds(self) -> tuple[str, ...]:
        """What no layer can do without, as far as it is known."""
        return lower_bounds(self.database)

    def exact_in(self) -> str:
        """A warning, in a sentence: which formats hold the weights, and that none is certified.

        >>> db = Database.from_triples([("a", "f", "x"), ("b", "f", "y")])
        >>> compile_database(db).exact_in()
        'Every fact is known over the reals; bfloat16, float16, float32, float64 hold ...
        """
        held = ", ".join(self.held_in) or "no number format"
        verb = "hold" if len(self.held_in) > 1 else "holds"
        rounded = ", ".join(name for name in FORMATS if name not in self.held_in)
        lost = f" {rounded} would round them, and facts may be lost." if rounded else ""
        return (
            f"Every fact is known over the reals; {held} {verb} the weights, which need "
            f"{self.significant_bits} bits, and what sums of them round to is certified in none "
            f"(with a dtype it is).{lost}"
        )

    @cached_property
    def held_in(self) -> tuple[str, ...]:
        """The number formats that hold every weight, by bits and by range."""
        weights = [Fraction(int(x.p), int(x.q)) for x in self._weights]
        return tuple(name for name, form in FORMATS.items() if all(form.holds(x) for x in weights))

    @cached_property
    def significant_bits(self) -> int:
        """The bits that hold the odd parts of all weights, or of their numerators over 2^n·odd."""
        return max(_significant_bits(x) for x in self._weights)

    @cached_property
    def _weights(self) -> set[fmpq]:
        layer = self.layer
        matrices = [layer.W_E, layer.W_U]
        for head in layer.heads:
            matrices += [head.W_Q, head.W_K, head.W_V, head.W_O]
        return {x for M in matrices for row in M.flint.tolist() for x in row}

    @property
    def claim(self) -> str | None:
        """The claim that this witnesses; None where a search found it."""
        if self.method in ("found", "no-head"):
            return None
        return f"lemmax/compiler-{self.method.removesuffix('-one-hot')}"

    def formula(self) -> str:
        """The weights as an aligned display."""
        return self.layer.formula()

    def to_sympy(self) -> dict[str, Any]:
        """The weights for sympy."""
        return self.layer.to_sympy()

    def to_numpy(self) -> dict[str, NDArray[np.float64]]:
        """The weights as float64 arrays."""
        return self.layer.to_numpy()

    def to_torch(self, dtype: torch.dtype | None = None) -> torch.nn.Module:
        """The layer as a torch module; warns where the format rounds its weights."""
        form = FORMATS["float64"] if dtype is None else number_format(str(dtype))
        if form.name not in self.held_in:
            warnings.warn(
                f"{form.name} holds {form.significand} bits and the weights need "
                f"{self.significant_bits}, or have a range that it lacks: facts may be lost. "
                "compile_database(…, dtype=…) makes a layer that is exact in a format.",
                RoundedWeights,
                stacklevel=2,
            )
        return self.layer.to_torch(dtype)


@overload
def compile_database(
    db: Any,
    tau: Any | None = None,
    *,
    margin: Literal["widest"] | None = None,
    smallest: bool | float = False,
) -> CompiledDatabase: ...
@overload
def compile_database(
    db: Any,
    tau: Any | None = None,
    *,
    dtype: str,
    accumulate: str = "float32",
    logits: str | None = None,
    residual: str | None = None,
) -> CompiledByCodes: ...


def compile_database(
    db: Any,
    tau: Any | None = None,
    *,
    margin: Literal["widest"] | None = None,
    smallest: bool | float = False,
    dtype: str | None = None,
    accumulate: str = "float32",
    logits: str | None = None,
    residual: str | None = None,
) -> CompiledDatabase | CompiledByCodes:
    """Exact weights of an attention layer that memorizes a database.

    Every fact (k, q, v) gets strictly the largest logit over the whole vocabulary, and with τ a
    probability of at least τ. Among the constructions that apply, the one with the fewest
    non-embedding parameters is taken, then the one with the smallest d_model. Their weights are
    rationals, which number formats round: no recall in floating point is promised. ``db`` is a
    database or whatever :meth:`Database.of` takes, such as a frame.

    With ``margin="widest"`` embedding and heads stay and W_U is replaced by one whose margin in the
    Frobenius norm is about the widest that any W_U reaches for them: a quadratic program over
    facts · tokens demands, for which cvxpy finds weights, and which are then decided exactly as
    ever. ``.margin`` says how wide theirs is and what no W_U exceeds, both proved; where no weights
    are found it ends :class:`~lemmax.theory.errors.Undecided`. Dimensions are equal. In number
    formats the layer usually recalls more, and nothing of that is proved.

    With ``smallest`` further constructions share embeddings where tokens never disagree, and
    smaller layers are searched for: by training, rounding and the same exact decision, for ten
    seconds or as many as ``smallest`` says. :func:`~lemmax.constructions.compile_smallest` has more
    options and can be continued.

    With a ``dtype`` (bfloat16, float16, float32) the layer is made by codes: weights and what is
    stored between the steps are of that format, sums are accumulated in ``accumulate``, logits
    stored in ``logits`` and the residual stream in ``residual`` (as the weights, unless told
    otherwise), and every fact is recalled over
    the reals and in this arithmetic. Of the codes that are proved for it the smallest is taken.

    Cost: |facts| · |tokens| · d_model word operations for the check that is always made; by codes
    it is linear in weights and facts.

    Examples
    --------
    >>> db = Database.from_triples([("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y")])
    >>> compiled = compile_database(db)
    >>> compiled.dims
    Dimensions(d_model=2, heads=1, d_vo=1, d_qk=1)
    >>> compiled.recall("b", "f").answer
    'y'
    >>> compile_database(db, dtype="bfloat16").dims
    Dimensions(d_model=3, heads=2, d_vo=1, d_qk=1)
    >>> compile_database(db, smallest=True).dims.parameters
    4
    """
    threshold = checked_threshold(tau)
    db = Database.of(db)
    if margin not in (None, "widest"):
        raise LemmaxError(f"The margin is 'widest' or none at all, not {margin!r}.")
    if margin is not None and dtype is not None:
        raise LemmaxError("A layer by codes has the logits of its codes: give a dtype or a margin.")
    if smallest is not False and (dtype is not None or margin is not None):
        raise LemmaxError("The smallest layer has weights of its own: give no dtype and no margin.")
    if smallest is not False:
        from lemmax.constructions.compiler.smallest.front import SECONDS, compile_smallest

        return compile_smallest(
            db, threshold, seconds=SECONDS if smallest is True else float(smallest)
        )
    if dtype is not None:
        return compile_by_codes(
            db, Arithmetic.named(dtype, accumulate, logits, residual), threshold
        )
    if (accumulate, logits, residual) != ("float32", None, None):
        raise LemmaxError("Formats of sums, logits and residual stream go with a dtype.")
    method = cheapest(db)
    layer, width = BUILDERS[method](db), None
    if margin is not None:
        from lemmax.constructions.compiler.margins import widest_margin

        layer, width = widest_margin(layer, db)
    return CompiledDatabase(db, method, _decide(layer, db, threshold), width)


def _significant_bits(x: fmpq) -> int:
    """The length of the odd part of a dyadic rational; all its own where it is not dyadic."""
    p = abs(int(x.p))
    return (p // (p & -p)).bit_length() if p else 0


def checked_threshold(tau: Any | None) -> fmpq | None:
    """τ as a rational number; a float means the decimal that it prints.

    >>> checked_threshold(0.99)
    99/100
    """
    threshold = None if tau is None else decimal(tau)
    if threshold is not None and not 0 < threshold < 1:
        raise LemmaxError(f"The threshold must lie strictly between 0 and 1, not {threshold}.")
    return threshold


def _decide(layer: AttentionLayer, db: Database, tau: fmpq | None) -> Memorization:
    """The decision that the layer, scaled until every fact reaches τ, memorizes the database."""
    scales = (None,) if tau is None else _scales(tau, len(layer.tokens))
    missed = None
    for c in scales:
        decision = memorizes(layer if c is None else layer.scaled(c), db, tau)
        if decision.holds:
            return decision
        missed = decision.missed[0]
    raise AssertionError(f"the construction misses {missed}")


def _scales(tau: fmpq, tokens: int) -> Iterator[int]:
    """Factors c of W_U to be tried in turn; with the last every fact reaches probability τ.

    With |s - n| ≤ 1/8 the odds against a fact are at most 2/(e^{3c/8} - 1) from the values, plus
    |T|·e^{-3c} from the other tokens; c = (8/3)·ln(4|T|/(1-τ)) is enough. What the values alone
    ask for is tried first, because it usually is enough too.
    """
    with ctx.workprec(64):
        enough = ceiling_above(8 * (4 * tokens / (1 - arb(tau))).log() / 3)
        values_only = ceiling_above(8 * ((1 + arb(tau)) / (1 - arb(tau))).log() / 3)
    c = max(1, values_only)
    while c < enough:
        yield c
        c = min(enough, 2 * c)
    yield enough
