"""Exact layers and their torch twins: what floating point makes of exact weights."""

from __future__ import annotations

import torch
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax.constructions import compile_database
from lemmax.constructions.countries import countries
from lemmax.strategies import layers
from lemmax.theory import AttentionLayer


@settings(max_examples=40)
@given(layers(), st.data())
def test_float64_stays_within_the_error_bound(layer: AttentionLayer, data: st.DataObject) -> None:
    drawn = data.draw(st.lists(st.sampled_from(layer.tokens), min_size=1, max_size=4))
    sequence = tuple(drawn)
    bound = layer.float64_error(sequence)
    module = layer.to_torch()
    floats = module(torch.tensor([layer.index[t] for t in sequence])).detach()
    balls = layer.logits(sequence, 200)
    with ctx.workprec(200):
        for i in range(len(sequence)):
            for t in range(len(layer.tokens)):
                assert abs(arb(float(floats[i, t])) - balls[i, t]) <= bound


def test_float32_recalls_every_country() -> None:
    compiled = compile_database(countries())
    index = compiled.layer.index
    pairs = torch.tensor([[index[k], index[q]] for k, q, _ in compiled.database])
    answers = compiled.to_torch(torch.float32)(pairs)[:, -1].argmax(-1)
    expected = torch.tensor([index[v] for _, _, v in compiled.database])
    assert torch.equal(answers, expected)
