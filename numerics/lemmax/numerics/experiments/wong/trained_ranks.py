"""The rank of trained layers: is equation (9) likely?

A trained layer's tensor L is bounded from below by its flattenings, exactly: the rounded weights of
the study of certified layers are dyadic, so the attention lies in the field of a transcendental
number z = e^(1/q), and a rank after putting a residue for z is a lower bound of the real one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq, nmod_mat

from lemmax.numerics.experiments import criteria
from lemmax.numerics.experiments.criteria import Asked
from lemmax.numerics.experiments.statistics import Estimate, share
from lemmax.numerics.experiments.studies import Judgement, Row
from lemmax.numerics.experiments.wong.trained_pairs import GUESS
from lemmax.numerics.training.configurations import Triple, Wong
from lemmax.theory.errors import NotExact
from lemmax.theory.numbers.primes import MERSENNE_61
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.layer_ranks import LayerShape, rank_ceiling

POINT = 1234567890123456789  # the residue that stands for z


def rank_below(layer: AttentionLayer, facts: Sequence[Triple]) -> int:
    """The largest flattening rank of L on a database, exactly or from below.

    Cost: three eliminations modulo a prime.
    """
    p, place = MERSENNE_61, {token: i for i, token in enumerate(layer.tokens)}
    keys, queries, values = (sorted({place[fact[i]] for fact in facts}) for i in range(3))
    domain = {(place[k], place[q]) for k, q, _ in facts}
    direct = _residues(layer.W_EU.flint.tolist())
    heads = [
        (layer.W_QK(h).flint.tolist(), _residues(layer.W_VO(h).flint.tolist()))
        for h in range(len(layer.heads))
    ]
    # one residue stands for one number, so all heads have one scale; denominators are powers of two
    scale = max(int(x.q) for scores, _ in heads for row in scores for x in row)
    tensor = np.zeros((len(keys), len(queries), len(values)), dtype=object)
    for a, k in enumerate(keys):
        for b, q in enumerate(queries):
            row = [direct[q][v] for v in values]
            for scores, written in heads if (k, q) in domain else ():
                to_key = _attention(scores[q][k] - scores[q][q], scale) if k != q else 0
                for c, v in enumerate(values):
                    row[c] += to_key * written[k][v] + (1 - to_key) * written[q][v]
            tensor[a, b] = [x % p for x in row]
    flat = (np.moveaxis(tensor, mode, 0).reshape(tensor.shape[mode], -1) for mode in range(3))
    return max(nmod_mat([[int(x) for x in row] for row in m], p).rank() for m in flat)


def _residues(rows: Sequence[Sequence[fmpq]]) -> list[list[int]]:
    p = MERSENNE_61
    return [[int(x.p) * pow(int(x.q), -1, p) % p for x in row] for row in rows]


def _attention(gap: fmpq, scale: int) -> int:
    """σ(gap) where e^(1/scale) is replaced by the residue; its powers have period p - 1."""
    p = MERSENNE_61
    exponent = gap * scale
    if exponent.q != 1:
        raise NotExact("A score has a larger denominator than the scale.")
    power = pow(POINT, int(exponent.p) % (p - 1), p)
    if (1 + power) % p == 0:
        raise NotExact("A denominator vanishes at the residue; take another.")
    return power * pow(1 + power, -1, p) % p


def judge_likely(layers: Sequence[AttentionLayer], rows: Sequence[Row]) -> Judgement:
    """Likely: (9) holds for more than half of the trained layers.

    A layer whose lower bound reaches (9) has it; one whose ceiling for all weights is below (9) has
    it not; any other may or may not.
    """
    yes = no = 0
    for layer, row in zip(layers, rows, strict=True):
        c = row.job.config
        assert isinstance(c, Wong)
        shape = LayerShape(c.d_model, c.d_vo, c.d_qk, c.heads)
        printed = c.d_model + c.heads * c.d_vo
        sizes = (len({fact[i] for fact in c.facts}) for i in range(3))
        if rank_ceiling(shape, *sizes) < printed:
            no += 1
        elif rank_below(layer, c.facts) >= printed:
            yes += 1
    total = len(rows)
    estimate = Estimate(yes / total, share(yes, total).low, share(total - no, total).high)
    sentence = (
        f"Of {total} trained layers, with rounded weights, {yes} have a tensor of rank d_model + "
        f"H d_vo or more on their database, by exact lower bounds, and {no} cannot have one, by "
        f"the ceiling for all weights: a share {estimate}."
    )
    asked = {GUESS.recipe.name: [Asked("share", estimate, low=0.5)]}
    return criteria.judged("wong/equation-9-likely", asked, sentence, None)
