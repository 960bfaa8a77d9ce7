"""Models whose arrays have other names: a table says what each is."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lemmax import checker
from lemmax.numerics import CertifiedShare, certify
from lemmax.theory.errors import LemmaxError

PROMPTS = [[a, b, (a + b) % 7] for a in range(7) for b in range(7)]


class Block(nn.Module):
    """Attention and an MLP as one writes them by hand, each map a Linear of its own."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(d, eps=1e-3), nn.LayerNorm(d)
        self.wq, self.wk, self.wv = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.wo, self.up, self.down = nn.Linear(d, d), nn.Linear(d, 3 * d), nn.Linear(3 * d, d)

    def forward(self, x: Tensor) -> Tensor:
        n, d = x.shape[-2:]
        y = self.before(x)
        q, k, v = (
            w(y).view(-1, n, self.heads, d // self.heads).transpose(1, 2)
            for w in (self.wq, self.wk, self.wv)
        )
        scores = q @ k.transpose(-1, -2) / math.sqrt(d // self.heads)
        later = torch.ones(n, n, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(later, -math.inf).softmax(-1) @ v
        x = x + self.wo(mixed.transpose(1, 2).reshape(-1, n, d))
        return x + self.down(nn.functional.gelu(self.up(self.between(x))))


class Own(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.place = nn.Embedding(7, 8), nn.Parameter(torch.randn(3, 8))
        self.stack = nn.ModuleList([Block(8, 2), Block(8, 2)])
        self.last, self.read = nn.LayerNorm(8), nn.Linear(8, 7, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.table(tokens) + self.place[: tokens.shape[1]]
        for block in self.stack:
            x = block(x)
        logits: Tensor = self.read(self.last(x))
        return logits


NAMES = {
    "table.weight": "embed.weight",
    "place": "pos_embed.weight",
    "read.weight": "unembed.weight",
    "last.weight": "ln_final.weight",
    "last.bias": "ln_final.bias",
    **{f"stack.*.w{x}.weight": f"blocks.*.attn.{x}.weight" for x in "qkvo"},
    "stack.*.wo.bias": "blocks.*.attn.o.bias",
    **{
        f"stack.*.{theirs}.{kind}": f"blocks.*.{ours}.{kind}"
        for theirs, ours in zip(
            ("before", "between", "up", "down"), ("ln1", "ln2", "mlp.in", "mlp.out"), strict=True
        )
        for kind in ("weight", "bias")
    },
}


def made() -> tuple[Own, list[tuple[list[int], int]]]:
    torch.manual_seed(3)
    module = Own()
    with torch.no_grad():
        said = module(torch.tensor(PROMPTS))[:, -1].argmax(-1).tolist()
    return module, list(zip(PROMPTS, said, strict=True))


def test_a_table_of_names_says_what_each_array_is() -> None:
    module, facts = made()
    with pytest.raises(LemmaxError, match=r"No array has a name that is known.*with names="):
        certify(module, facts)
    result = certify(module, facts, names=NAMES, heads=2, activation="gelu")
    assert result.share == 1
    assert result.model.steps[0]["eps"] == "1/1000"
    assert result.model.steps[1]["eps"] == "1/100000"
    assert not result.model.assumed
    assert checker.check(result.certificate()).holds
    watch = CertifiedShare(facts, names=NAMES, heads=2, activation="gelu")
    seen = watch(0, module)
    assert seen is not None
    assert seen.bounded == 1
    said: dict[str, Any] = {
        "heads": 2,
        "activation": "gelu",
        "eps": {"0.norm1": 1e-3, "1.norm1": 1e-3},
    }
    arrays = certify(module.state_dict(), facts, names=NAMES, **said)
    assert [o.low for o in arrays.outcomes] == [o.low for o in result.outcomes]
    assert arrays.model.assumed == (
        "scale 1/sqrt(d)",
        "mask causal",
        "eps 1/100000 at 0.norm2, 1.norm2, final",
    )


def test_wrong_names_of_a_module_are_noticed() -> None:
    module, facts = made()
    swapped = NAMES | {"stack.*.wq.weight": NAMES["stack.*.wv.weight"]}
    swapped["stack.*.wv.weight"] = NAMES["stack.*.wq.weight"]
    with pytest.raises(LemmaxError, match="other logits"):
        certify(module, facts, names=swapped, heads=2, activation="gelu")


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ({"nobody": "embed.weight"}, "no array is called 'nobody'"),
        ({"stack.*.wq.weight": "blocks.0.attn.q.weight"}, "one \\* each, or none"),
        ({"read.weight": "embed.weight", "table.weight": "embed.weight"}, "would both be called"),
        ({"read.weight": 3}, "given as texts"),
        ({"stack.*.wq.weight": "blocks.*.attn.query"}, "has no place among the names"),
    ],
)
def test_tables_that_make_no_sense_are_one_sentence(names: Any, sentence: str) -> None:
    module, facts = made()
    with pytest.raises(LemmaxError, match=sentence):
        certify(module, facts, names=NAMES | names, heads=2, activation="gelu")
