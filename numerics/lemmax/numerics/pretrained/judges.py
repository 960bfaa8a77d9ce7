"""What pretrained models say about the claims of Mahdavi et al., by the criterion of all judges.

Ranks are exact facts about stored floats, so an answer has no interval, but for Kruskal ranks that
are only bounded. A model is a setting: what holds in one and fails in another depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.statistics import Estimate
from lemmax.numerics.experiments.studies import Judgement
from lemmax.numerics.pretrained.assumptions import AssumptionReport
from lemmax.theory.errors import LemmaxError

MARGIN = 1e-4  # of a singular value: far above the errors of a forward pass and of float32
EMBEDDED = ("MiniLM",)  # models whose first layer reads a table of embeddings


def kruskal_beyond(layers: Sequence[AssumptionReport]) -> Estimate:
    """The least Kruskal rank of some layers' queries, less n: Assumption 1 says at least zero."""
    low = min(layer.kruskal_lower - layer.n for layer in layers)
    return Estimate(low, low, min(layer.kruskal_upper - layer.n for layer in layers))


def judge_assumptions(models: Mapping[str, Sequence[AssumptionReport]]) -> list[Judgement]:
    """Both assumptions in every layer after the first; equal vectors among the embeddings.

    A singular value below ``MARGIN`` would leave it open, since rounding alone gives floats full
    rank, and so would embeddings without repetition. A network whose first layer reads what
    convolutions made has no embeddings, and is not asked about them.
    """
    asked, told = {}, []
    for model, layers in models.items():
        first, later = layers[0], layers[1:]
        if not later or any(layer.d >= layer.T for layer in layers):
            raise LemmaxError(f"{model}: give layers after the first, and more windows than d.")
        full, checked = (
            sum(getattr(layer, name) for layer in later)
            for name in ("contexts_full_rank", "contexts_checked")
        )
        least = min(layer.float64_least_singular_value for layer in later)
        asked[model] = [
            Asked("Kruskal rank less n", kruskal_beyond(later), low=0.0),
            Asked("contexts of rank below n", _exactly(checked - full), high=0.0),
            Asked("singular value", criteria.between(least, -math.inf, MARGIN), low=MARGIN),
        ]
        ranks = ", ".join(str(layer.kruskal_lower) for layer in later)
        told.append(
            f"{model}, {first.T} examples of n = {first.n} tokens, more than d = {first.d}; stored "
            f"float32 inputs of {_named(later)}: {full} of {checked} contexts of rank n, Kruskal "
            f"ranks of the {first.T} queries {ranks}, least singular value of a context or of "
            f"random sets of n queries {least:.1e}; {first.repeated_tokens} repeated tokens among "
            f"what enters the first layer, of Kruskal rank {first.kruskal_lower}"
        )
        if model in EMBEDDED:
            repeated = first.repeated_tokens
            ends = Estimate(repeated, repeated, max(repeated, 1))
            asked[model].append(Asked("repeated embeddings", ends, low=1.0))
    sentence = f"{'. '.join(told)}."
    return [criteria.judged("mahdavi/assumptions-in-practice", asked, sentence, None)]


def judge_raised(
    layers: Sequence[AssumptionReport], independent: Sequence[bool | None]
) -> list[Judgement]:
    """Assumption 1 fails before MiniLM's first layer and holds after it, in real arithmetic too.

    ``independent`` says of examples whether balls prove that the vectors after layer 1 are.
    """
    before, after = layers[:2]
    proved = bool(independent) and all(one is True for one in independent)
    asked = [
        Asked("Kruskal rank less n before layer 1", kruskal_beyond([before]), high=-1.0),
        Asked("Kruskal rank less n after layer 1", kruskal_beyond([after]), low=0.0),
        Asked("proved by balls", Estimate(proved, proved, 1.0), low=1.0),
    ]
    sentence = (
        f"MiniLM, {before.T} windows of n = {before.n} tokens: the first position has Kruskal rank "
        f"{before.kruskal_upper} before layer 1 and {after.kruskal_lower} after it; all "
        f"{len(independent)} vectors after layer 1 are independent in real arithmetic: "
        f"{'proved by balls' if proved else 'not proved'}."
    )
    return [criteria.judged("mahdavi/attention-raises-kruskal", {"MiniLM": asked}, sentence, None)]


def _exactly(number: int) -> Estimate:
    return Estimate(number, number, number)


def _named(layers: Sequence[AssumptionReport]) -> str:
    if len(layers) == 1:
        return layers[0].name
    return f"{layers[0].name} to {layers[-1].name.removeprefix('layer ')}"
