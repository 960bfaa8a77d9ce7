"""Layers by codes as TransformerLens computes them, in the formats for which they are proved."""

from __future__ import annotations

import pytest
import torch
import transformer_lens  # noqa: F401  (this file is left out where it is missing)

from lemmax.constructions import compile_database
from lemmax.constructions.capacity import random_table
from lemmax.numerics import to_transformer_lens


@pytest.mark.parametrize(
    ("dtype", "sizes"),
    [("bfloat16", (40, 3, 100)), ("float16", (30, 5, 12)), ("float32", (200, 1, 150))],
)
def test_transformer_lens_recalls_every_fact(dtype: str, sizes: tuple[int, int, int]) -> None:
    """It stores residual stream and logits like the weights, so logits are of the same format."""
    compiled = compile_database(random_table(*sizes), dtype=dtype)
    facts = torch.from_numpy(compiled.facts)
    bridge = to_transformer_lens(compiled.layer, dtype=getattr(torch, dtype))
    top = bridge(facts[:, :2])[:, -1].topk(2, dim=-1)
    assert top.values.dtype == getattr(torch, dtype)
    assert (top.indices[:, 0] == facts[:, 2]).all()
    assert (top.values[:, 0] > top.values[:, 1]).all()
