"""What the arrays of a transformer cannot tell: said, asked for, or assumed and written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from lemmax.numerics.certifying.naming import Parts
from lemmax.theory.errors import LemmaxError
from lemmax.theory.numbers.matrices import parsed

ACTIVATIONS = ("relu", "gelu", "gelu-tanh", "silu")
NORMS = ("none", "layer", "rms")


@dataclass(frozen=True)
class Architecture:
    """What arrays cannot tell; None: not said, and asked for where it matters.

    Attributes
    ----------
    heads
        How many heads there are, where their matrices stand side by side.
    activation
        ``relu``, ``gelu``, ``gelu-tanh`` (called gelu_new elsewhere) or ``silu``; with GPT-2's
        names gelu-tanh is assumed.
    scale, by_block
        What multiplies the scores: a positive number or ``"1/sqrt(d)"``, which is assumed; for a
        layer with Wong's names 1 is. With by_block the scores of block i are divided by i + 1 too.
    norm
        ``layer``, ``rms`` or ``none``; where a norm has a bias it is a LayerNorm. Asked for where
        no norm has arrays, since norms can be folded into the weights: with ``"layer"`` there is
        then one without gain and bias before attention, MLP and unembedding.
    eps
        Of the norms, 1e-5 is assumed; or one for each place, such as ``{"0.norm1": 1e-6}``.
    mask
        ``causal``, which is assumed, or ``none``; asked for with the names of torch. It does not
        matter where only one step is attention.
    tied
        W_U is the transpose of W_E; assumed only where W_U is missing and GPT-2's names are used.
    norm_first
        Whether norms stand before attention and MLP (the default) or after their sum with the
        stream; asked for with the names of ``torch.nn.TransformerEncoderLayer``.
    positions, places
        ``"sinusoidal"`` adds the usual table, of ``places`` rows; ``"none"``: there are none, which
        is assumed where there is no array of them.
    layout
        For a layer with Wong's names: see
        :data:`~lemmax.numerics.twins.exact_layers.LAYOUTS`.
    """

    heads: int | None = None
    activation: str | None = None
    scale: Any = None
    by_block: bool | None = None
    norm: str | None = None
    eps: Any = None
    mask: str | None = None
    tied: bool | None = None
    norm_first: bool | None = None
    positions: str | None = None
    places: int = 512
    layout: str | None = None

    def __post_init__(self) -> None:
        for name, options in (
            ("activation", ACTIVATIONS),
            ("norm", NORMS),
            ("mask", ("causal", "none")),
            ("positions", ("sinusoidal", "none")),
        ):
            value = getattr(self, name)
            if value is not None and value not in options:
                raise LemmaxError(f"The {name} is one of {', '.join(options)}, not {value!r}.")
        if self.heads is not None and (not isinstance(self.heads, int) or self.heads < 1):
            raise LemmaxError(f"The number of heads is at least 1, not {self.heads!r}.")

        for eps in self.eps.values() if isinstance(self.eps, Mapping) else (self.eps,):
            if eps is not None:
                small(eps)

    def given(self) -> dict[str, Any]:
        """What was said."""
        silent = Architecture()
        return {k: v for k, v in vars(self).items() if v != getattr(silent, k)}


def small(eps: Any) -> Fraction:
    """An exact eps: of a float the short decimal that it prints as, which is what was meant."""
    try:
        exact = parsed(repr(eps) if isinstance(eps, float) else eps)
    except (TypeError, ValueError):
        exact = Fraction(-1)
    if not 0 <= exact <= 1:
        raise LemmaxError(f"eps lies between 0 and 1, unlike {eps!r}.")
    return exact


class Settled(NamedTuple):
    """An architecture in which nothing is open but heads and activation of a step.

    ``normed`` are the places of the norms, ``assumed`` says what was neither told nor in an array.
    """

    said: Architecture
    normed: frozenset[str]
    assumed: tuple[str, ...]


def settled(said: Architecture, parts: Parts, convention: str, runs: bool) -> Settled:
    """What was said, completed: by questions where a guess is likely wrong, else by assumptions.

    A source that ``runs`` is compared with what it is read as, so it is not asked.
    """
    blocks = {name.rpartition(".")[0] for name in parts if name[0].isdigit()}
    attentions = sum(place.endswith(".attn") for place in blocks)
    chosen: dict[str, Any] = {}
    assumed: list[str] = []

    def default(name: str, value: Any, words: str = "") -> None:
        if getattr(said, name) is None:
            chosen[name] = value
            if words:
                assumed.append(words)

    scale = 1 if convention == "wong" else "1/sqrt(d)"
    if attentions:
        default("scale", scale, "" if convention == "torch" else f"scale {scale}")
    if attentions > 1 and convention == "torch" and said.mask is None and not runs:
        raise LemmaxError(
            "May a position read later ones? No array says it: mask='causal' or mask='none'."
        )
    default("mask", "causal", "mask causal" if attentions > 1 else "")
    with_arrays = {name.rpartition(".")[0] for name in parts if name.endswith((".gain", ".bias"))}
    if not with_arrays and said.norm is None:
        if convention != "wong" and not runs:
            raise LemmaxError(
                "There are no arrays of norms: say norm='none', or norm='layer' or norm='rms' "
                "where their gains and biases were folded into other weights."
            )
        default("norm", "none", "no norms")
    if with_arrays or said.norm in ("layer", "rms"):
        if convention == "torch" and said.norm_first is None:
            raise LemmaxError(
                "Do norms stand before attention and MLP? Say norm_first=True or norm_first=False."
            )
        default("eps", Fraction("1e-5"), "eps 1/100000")
    places = sorted(
        place.replace("attn", "norm1").replace("mlp", "norm2")
        for place in blocks
        if place.endswith((".attn", ".mlp"))
    )
    places += ["final"]
    told = said.eps if isinstance(said.eps, Mapping) else {}
    if with_arrays or told:
        normed = with_arrays | {place for place in places if place in told}
    else:
        normed = {p for p in places if said.norm_first is not False or p != "final"}
        normed = normed if said.norm in ("layer", "rms") else set()
    if normed:
        assumed += [f"no norm at {place}" for place in places if place not in normed]
    if told and normed - set(told):
        assumed.append(f"eps 1/100000 at {', '.join(sorted(normed - set(told)))}")
    if attentions and "W_pos" not in parts:
        default("positions", "none", "no positions")
    if convention == "gpt2" and any(place.endswith(".mlp") for place in blocks):
        default("activation", "gelu-tanh", "activation gelu-tanh")
    if convention == "gpt2" and "W_U" not in parts:
        default("tied", True, "W_U tied to W_E")
    if convention != "wong" and {"W_E", "W_U"} <= set(parts):
        default("tied", np.array_equal(parts["W_U"], parts["W_E"].T))  # one array, stored twice
    return Settled(replace(said, **chosen), frozenset(normed), tuple(assumed))
