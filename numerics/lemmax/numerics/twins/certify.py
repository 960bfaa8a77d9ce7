"""Trained layers certified: floats in, exact weights and a proof of every fact they know out.

A float is a dyadic rational, so a trained layer of Wong's is an exact layer as it stands; rounded
to a common denominator it becomes a short one. Either way each fact is decided exactly, over the
whole vocabulary: a fact whose logit ties with another one is not memorized.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import fmpq

from lemmax.numerics.twins.exact_layers import exact_layer, names_of_layer, without
from lemmax.numerics.twins.weights import Weights, read_weights
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.transformer import AoT, TokenSequence
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset
from lemmax.theory.shown import counted, html_table, shortened
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.memorization import Fact, Memorization, memorizes


@dataclass(frozen=True, repr=False)
class CertifiedLayer(Typeset):
    """An exact layer, the facts that it provably memorizes, and those that it does not."""

    layer: AttentionLayer
    known: tuple[Fact, ...]
    missed: tuple[Fact, ...]
    tau: fmpq | None
    ignored: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return shortened(self, self._sentence())

    def _sentence(self) -> str:
        count = len(self.known) + len(self.missed)
        return f"{len(self.known)} of {counted(count, 'fact')} certified"

    def _repr_html_(self) -> str:
        """What is missed, for notebooks."""
        missed = html_table(self.missed, ("subject", "predicate", "object")) if self.missed else ""
        return f"<p>{self._sentence()}{'; missed:' if missed else ''}</p>{missed}"

    @property
    def share(self) -> Fraction:
        """The share of certified facts."""
        return Fraction(len(self.known), len(self.known) + len(self.missed))

    def formula(self) -> str:
        """The weights, as exact as they are."""
        return self.layer.formula()

    def to_sympy(self) -> dict[str, Any]:
        """The weights for sympy."""
        return self.layer.to_sympy()

    def certificate(self) -> Certificate:
        """A ``memorization`` certificate: the layer with the facts that it knows.

        Its note names the arrays that were left out of the model.
        """
        if not self.known:
            raise LemmaxError("The layer knows none of the facts: there is nothing to certify.")
        certificate = Memorization(self.layer, self.known, self.tau, ()).certificate()
        if self.ignored:
            certificate["note"] = f"Left out of the model: {', '.join(self.ignored)}."[:2000]
        return certificate


def certify_layer(
    weights: Weights | str | Path,
    facts: Iterable[Fact],
    *,
    tokens: Sequence[Hashable] | None = None,
    denominator: int | None = None,
    tau: Any | None = None,
    layout: str | None = None,
    scale: Any = 1,
    tied: bool = False,
    ignore: Collection[str] = (),
) -> CertifiedLayer:
    """Decide exactly which facts a trained layer memorizes, and certify those.

    Parameters
    ----------
    weights
        The matrices by name, as arrays or tensors (a ``state_dict`` will do), or the path of a
        file that :func:`~lemmax.numerics.twins.weights.read_weights` reads. What float64 does not
        hold exactly is refused, and so is an array that a layer has no place for.
    facts
        Triples of tokens (subject, predicate, object), or a ``Database``.
    tokens
        The name of each row of W_E; without them tokens are their numbers 0, 1, 2, …
    denominator
        Round the weights to multiples of one over it first; without it floats are read as the
        dyadic rationals they are.
    tau
        Ask for a probability of at least τ instead of the strictly largest logit.
    layout
        ``"wong"``, ``"transformer-lens"`` or ``"linear"``: which matrices stand transposed
        (:data:`~lemmax.numerics.twins.exact_layers.LAYOUTS`). Where it is not said the shapes
        decide, and shapes that fit in two ways are asked about.
    scale
        What multiplies the attention scores, such as ``"1/8"``, or ``"1/sqrt(d)"``.
    tied
        W_U is the transpose of W_E.
    ignore
        Names of arrays to leave out, although they may decide. Result and certificate name them.

    Notes
    -----
    Cost: that of :func:`~lemmax.theory.wong.memorization.memorizes`, facts × tokens × d_model.

    Examples
    --------
    A layer whose every dimension is one, on the exclusive or:

    >>> weights = {
    ...     "W_E": [[0.0], [-6.0], [3.167], [-0.833]],
    ...     "W_U": [[1.0, -1.0, 0.0, 0.0]],
    ...     "W_Q": [[[0.167]]],
    ...     "W_K": [[[1.0]]],
    ...     "W_V": [[[-1.167]]],
    ...     "W_O": [[[1.0]]],
    ... }
    >>> facts = [("a", "f", "a"), ("a", "g", "b"), ("b", "f", "b"), ("b", "g", "a")]
    >>> certify_layer(weights, facts, tokens="abfg", denominator=64).share
    Fraction(1, 1)
    >>> certify_layer(weights, facts, tokens="abfg", denominator=1).missed
    (('b', 'f', 'b'),)
    """
    arrays = read_weights(weights) if isinstance(weights, (str, Path)) else weights
    left = without(arrays, ignore, names_of_layer(arrays, tied))
    layer = exact_layer(left, tokens, denominator, layout=layout, scale=scale, tied=tied)
    listed = tuple((k, q, v) for k, q, v in facts)
    decision = memorizes(layer, listed, tau)
    lost = set(decision.missed)
    known = tuple(fact for fact in listed if fact not in lost)
    return CertifiedLayer(layer, known, decision.missed, decision.tau, tuple(ignore))


def known_pairs(model: AoT, pairs: Mapping[Any, Hashable]) -> list[TokenSequence]:
    """The sequences whose target provably has the largest logit, strictly.

    What 512 bits cannot tell from a tie counts as not known.
    """
    known, left = set[TokenSequence](), dict(pairs)
    for precision in (64, 512):
        if not left:
            break
        margins = dict(zip(left, model.margins(left, precision), strict=True))
        known |= {t for t, margin in margins.items() if margin > 0}
        left = {t: left[t] for t, margin in margins.items() if not (margin > 0 or margin < 0)}
    return [t for t in pairs if t in known]


def kept_by_bits(
    weights: Weights, facts: Sequence[Fact], most: int, layout: str | None = None
) -> tuple[list[int], int]:
    """How many of the facts are certified at 0, 1, …, most fractional bits, and where it is safe.

    The second number is the least b such that at b, …, most bits every fact stays certified that
    the unrounded weights know; ``most`` + 1 if there is none. Cost: ``most`` + 2 decisions.

    >>> weights = {"W_E": [[0.3], [-0.6]], "W_U": [[1.0, -1.0]]}
    >>> kept_by_bits(weights, [(0, 0, 0), (0, 1, 1)], most=4)
    ([1, 2, 2, 2, 2], 1)
    """
    known = certify_layer(weights, facts, layout=layout).known
    counts, safe = [], most + 1
    for bits in range(most, -1, -1):
        kept = set(certify_layer(weights, facts, denominator=2**bits, layout=layout).known)
        counts.append(len(kept))
        if safe == bits + 1 and kept.issuperset(known):
            safe = bits
    return counts[::-1], safe
