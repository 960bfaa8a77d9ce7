"""Layers by codes as TransformerLens computes them, in bfloat16."""

from __future__ import annotations

import torch
import transformer_lens  # noqa: F401  (this file is left out where it is missing)

from lemmax.constructions import compile_database
from lemmax.constructions.capacity import random_table
from lemmax.numerics import to_transformer_lens


def test_transformer_lens_recalls_every_fact() -> None:
    compiled = compile_database(random_table(40, 3, 100), dtype="bfloat16")
    facts = torch.from_numpy(compiled.facts)
    bridge = to_transformer_lens(compiled.layer, dtype=torch.bfloat16)
    top = bridge(facts[:, :2])[:, -1].topk(2, dim=-1)
    assert (top.indices[:, 0] == facts[:, 2]).all()
    assert (top.values[:, 0] > top.values[:, 1]).all()
