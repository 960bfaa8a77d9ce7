"""Models whose arrays have other names: a table says what each is."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

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
        after: Tensor = x + self.down(nn.functional.gelu(self.up(self.between(x))))
        return after


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


class Norm(nn.Module):
    """A norm of one's own, since torch's once had no option to leave the bias out."""

    def __init__(self, d: int, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d))
        self.bias = nn.Parameter(torch.randn(d)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


Norm.__name__ = "LayerNorm"


class Attention(nn.Module):
    def __init__(self, d: int, bias: bool) -> None:
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(d, 3 * d, bias=bias), nn.Linear(d, d, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        n, d = x.shape[1:]
        parts = self.c_attn(x).split(d, dim=2)
        q, k, v = (part.view(-1, n, 2, d // 2).transpose(1, 2) for part in parts)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        out: Tensor = self.c_proj(mixed.transpose(1, 2).reshape(-1, n, d))
        return out


class NanoGPT(nn.Module):
    """The names and maps of nanoGPT: those of GPT-2, but for Linear in place of its own maps."""

    def __init__(self, bias: bool, d: int = 8) -> None:
        super().__init__()
        self.config = SimpleNamespace(n_head=2)

        def block() -> nn.ModuleDict:
            mlp = {"c_fc": nn.Linear(d, 4 * d, bias=bias), "gelu": nn.GELU()}
            mlp["c_proj"] = nn.Linear(4 * d, d, bias=bias)
            parts = {"ln_1": Norm(d, bias), "attn": Attention(d, bias), "ln_2": Norm(d, bias)}
            return nn.ModuleDict({**parts, "mlp": nn.ModuleDict(mlp)})

        parts = {"wte": nn.Embedding(7, d), "wpe": nn.Embedding(3, d), "ln_f": Norm(d, bias)}
        stack = nn.ModuleList([block(), block()])
        self.transformer = nn.ModuleDict({**parts, "h": stack})
        self.lm_head = nn.Linear(d, 7, bias=False)
        self.lm_head.weight = cast("nn.Parameter", parts["wte"].weight)

    def forward(self, tokens: Tensor) -> tuple[Tensor, None]:
        t: Any = self.transformer
        x = t["wte"](tokens) + t["wpe"](torch.arange(tokens.shape[1]))
        for block in t["h"]:
            x = x + block["attn"](block["ln_1"](x))
            y = block["ln_2"](x)
            for name in ("c_fc", "gelu", "c_proj"):
                y = block["mlp"][name](y)
            x = x + y
        return self.lm_head(t["ln_f"](x)[:, [-1]]), None


@pytest.mark.parametrize("bias", [True, False])
def test_nanogpt_says_what_it_is(bias: bool) -> None:
    """Its square maps look like those of GPT-2 turned round; its other maps do not."""
    torch.manual_seed(5)
    module = NanoGPT(bias)
    with torch.no_grad():
        said = module(torch.tensor(PROMPTS))[0][:, -1].argmax(-1).tolist()
    facts = list(zip(PROMPTS, said, strict=True))
    result = certify(module, facts)
    assert result.share == 1
    assert result.model.parameters == sum(p.numel() for p in module.parameters())
    assert checker.check(result.certificate()).holds
    options: dict[str, Any] = {"heads": 2} | ({} if bias else {"norm": "layer"})
    with pytest.raises(LemmaxError, match="Which activation"):
        certify(module.state_dict(), facts, **options)
    arrays = certify(module.state_dict(), facts, activation="gelu", **options)
    assert [o.low for o in arrays.outcomes] == [o.low for o in result.outcomes]


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
