"""Trained layers certified: floats in, exact weights and a proof of every fact they know out.

A float is a dyadic rational, so a trained layer of Wong's is an exact layer as it stands; rounded
to a common denominator it becomes a short one. Either way each fact is decided exactly, over the
whole vocabulary: a fact whose logit ties with another one is not memorized.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmax.numerics.twins.weights import Weights, exact_floats, read_weights
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.transformer import AoT, AoTHead, TokenSequence
from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head
from lemmax.theory.wong.memorization import Fact, Memorization, memorizes

_HEAD = ("W_Q", "W_K", "W_V", "W_O")
_NAMED = re.compile(r"heads\.(0|[1-9][0-9]*)\.W_[QKVO]")


@dataclass(frozen=True)
class CertifiedLayer(Typeset):
    """An exact layer, the facts that it provably memorizes, and those that it does not."""

    layer: AttentionLayer
    known: tuple[Fact, ...]
    missed: tuple[Fact, ...]
    tau: fmpq | None

    @property
    def share(self) -> Fraction:
        """The share of certified facts."""
        return Fraction(len(self.known), len(self.known) + len(self.missed))

    def formula(self) -> str:
        """The weights, as exact as they are."""
        return self.layer.formula()

    def certificate(self) -> Certificate:
        """A ``memorization`` certificate: the layer with the facts that it knows."""
        if not self.known:
            raise LemmaxError("The layer knows none of the facts: there is nothing to certify.")
        return Memorization(self.layer, self.known, self.tau, ()).certificate()


def certify_layer(
    weights: Weights | str | Path,
    facts: Iterable[Fact],
    *,
    tokens: Sequence[Hashable] | None = None,
    denominator: int | None = None,
    tau: Any | None = None,
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
    layer = exact_layer(arrays, tokens, denominator)
    listed = tuple((k, q, v) for k, q, v in facts)
    decision = memorizes(layer, listed, tau)
    lost = set(decision.missed)
    known = tuple(fact for fact in listed if fact not in lost)
    return CertifiedLayer(layer, known, decision.missed, decision.tau)


def exact_layer(
    weights: Weights, tokens: Sequence[Hashable] | None = None, denominator: int | None = None
) -> AttentionLayer:
    """The exact layer of floating-point weights in Wong's shapes.

    Heads are stacked in front of W_Q (h × d_model × d_qk), W_K, W_V and W_O, or each matrix has a
    name of its own such as ``heads.0.W_Q``.
    """
    if denominator is not None and denominator < 1:
        raise LemmaxError(f"The common denominator is at least 1, not {denominator}.")
    arrays = {name: exact_floats(name, value) for name, value in weights.items()}
    stacked = any(name in arrays for name in _HEAD)
    numbers = {match[1] for name in arrays if (match := _NAMED.fullmatch(name))}
    of_heads = _HEAD if stacked else [f"heads.{h}.{n}" for h in range(len(numbers)) for n in _HEAD]
    _refuse_unknown(arrays, ("W_E", "W_U", *of_heads), "W_E, W_U and heads of W_Q, W_K, W_V, W_O")

    def matrix(name: str, head: int | None = None) -> Matrix:
        array = arrays[name] if head is None else arrays[name][head]
        if array.ndim != 2:
            raise ShapeError(f"{name} has {array.ndim} dimensions, not 2.")
        return exact_matrix(array, denominator)

    if stacked:
        sizes = {arrays[name].shape[:1] for name in _HEAD}
        if len(sizes) != 1 or () in sizes:
            raise ShapeError("W_Q, W_K, W_V and W_O must be stacks of equally many heads.")
        heads = [[matrix(name, h) for name in _HEAD] for h in range(*sizes.pop())]
    else:
        heads = [[matrix(f"heads.{h}.{name}") for name in _HEAD] for h in range(len(numbers))]
    embedding = matrix("W_E")
    names = tuple(range(embedding.shape[0])) if tokens is None else tuple(tokens)
    return AttentionLayer(names, embedding, matrix("W_U"), [Head(*head) for head in heads])


def _refuse_unknown(arrays: Weights, names: Sequence[str], described: str) -> None:
    """Refuse arrays that are missing, and those that would be left out: they may decide."""
    lacking = next((name for name in names if name not in arrays), None)
    unknown = next((name for name in arrays if name not in names), None)
    if unknown is not None:
        raise LemmaxError(f"The weights hold {unknown!r}, but a layer here has only {described}.")
    if lacking is not None:
        raise LemmaxError(f"The weights lack {lacking}; they are {', '.join(arrays)}.")


def exact_transformer(weights: Weights, denominator: int | None = None) -> AoT:
    """The exact twin of Dana's transformer with maps of each head's own; tokens are numbers.

    >>> weights = {"e": [[1.0], [2.0]], "pos": [[0.0]] * 2, "W_U": [[1.0], [-1.0]]}
    >>> heads = {name: np.zeros((0, 1, 1)) for name in ("W_Q", "W_K", "W_V", "W_O")}
    >>> known_pairs(exact_transformer(weights | heads), {(0, 1): 0, (1, 0): 1})
    [(0, 1)]
    """
    w = {name: exact_floats(name, value) for name, value in weights.items()}
    _refuse_unknown(w, ("e", "pos", "W_U", *_HEAD), "e, pos, W_U and heads of W_Q, W_K, W_V, W_O")
    heads = [
        AoTHead(*(exact_matrix(w[name][h], denominator) for name in _HEAD))
        for h in range(len(w["W_Q"]))
    ]
    e, pos, W_U = (exact_matrix(w[name], denominator) for name in ("e", "pos", "W_U"))
    return AoT(tuple(range(e.shape[0])), e, pos, W_U, tuple(heads))


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


def exact_matrix(array: NDArray[np.float64], denominator: int | None = None) -> Matrix:
    """A matrix of floats as rationals, rounded to multiples of 1/denominator if one is given.

    >>> exact_matrix(np.array([[0.3, -1.5]]), 4)
    Matrix([['1/4', '-3/2']])
    """
    if denominator is None:
        return Matrix(array, floats=True)
    numerators = rounded(array, denominator)
    rows, columns = array.shape
    return Matrix(
        [
            [Fraction(numerators[i * columns + j], denominator) for j in range(columns)]
            for i in range(rows)
        ]
    )


def rounded(array: NDArray[Any], denominator: int) -> list[int]:
    """The nearest multiples of 1/denominator of all entries in turn, as numerators.

    The product is exact, so that a power of two and a decimal are rounded alike.

    >>> rounded(np.array([[0.3, -1.5], [2.0, 0.1]]), 10)
    [3, -15, 20, 1]
    """
    floats = exact_floats("The array", array)
    return [round(Fraction(x) * denominator) for x in floats.ravel().tolist()]


def kept_by_bits(weights: Weights, facts: Sequence[Fact], most: int) -> tuple[list[int], int]:
    """How many of the facts are certified at 0, 1, …, most fractional bits, and where it is safe.

    The second number is the least b such that at b, …, most bits every fact stays certified that
    the unrounded weights know; ``most`` + 1 if there is none. Cost: ``most`` + 2 decisions.

    >>> weights = {"W_E": [[0.3], [-0.6]], "W_U": [[1.0, -1.0]]}
    >>> kept_by_bits(weights, [(0, 0, 0), (0, 1, 1)], most=4)
    ([1, 2, 2, 2, 2], 1)
    """
    known = certify_layer(weights, facts).known
    counts, safe = [], most + 1
    for bits in range(most, -1, -1):
        kept = set(certify_layer(weights, facts, denominator=2**bits).known)
        counts.append(len(kept))
        if safe == bits + 1 and kept.issuperset(known):
            safe = bits
    return counts[::-1], safe
