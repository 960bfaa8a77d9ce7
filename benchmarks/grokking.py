"""A small study of grokking: `python benchmarks/grokking.py` writes results/grokking.jsonl.

A transformer of one's own (one layer of attention, an MLP) learns some of the table of addition
modulo P. Every so many steps its accuracy on the facts it was shown and on the others is taken, and
now and then all of them are decided exactly. It takes some minutes on one core.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lemmax.numerics import CertifiedShare, Job, Own, train
from lemmax.numerics.engines.trained import Trained
from lemmax.numerics.training.recipes import Recipe
from lemmax.theory.files import write_text

RESULTS = Path(__file__).parent / "results" / "grokking.jsonl"
P, SHOWN, SEEDS = 23, 0.6, 2
EVERY, EXACT = 50, 150  # steps between two looks, and between two exact ones
RECIPE = Recipe(
    "grokking",
    "own",
    steps=3000,
    learning_rate=3e-3,
    weight_decay=1.0,
    beta2=0.98,
    schedule="warmup",
    warmup=0.01,
    start_factor=0.1,
)


class Attention(nn.Module):
    """Heads as TransformerLens names them, with scores over the square root of their width."""

    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        width = d // heads
        self.W_Q, self.W_K, self.W_V = (
            nn.Parameter(torch.randn(heads, d, width) / d**0.5) for _ in range(3)
        )
        self.W_O = nn.Parameter(torch.randn(heads, width, d) / d**0.5)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (torch.einsum("bsd,hdw->bhsw", x, W) for W in (self.W_Q, self.W_K, self.W_V))
        scores = q @ k.transpose(-1, -2) / self.W_Q.shape[2] ** 0.5
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        mixed = scores.masked_fill(future, -torch.inf).softmax(-1) @ v
        return torch.einsum("bhsw,hwd->bsd", mixed, self.W_O)


class MLP(nn.Module):
    """A hidden layer of rectified neurons."""

    def __init__(self, d: int, width: int) -> None:
        super().__init__()
        self.W_in = nn.Parameter(torch.randn(d, width) / d**0.5)
        self.b_in = nn.Parameter(torch.zeros(width))
        self.W_out = nn.Parameter(torch.randn(width, d) / width**0.5)
        self.b_out = nn.Parameter(torch.zeros(d))

    def forward(self, x: Tensor) -> Tensor:
        return (x @ self.W_in + self.b_in).relu() @ self.W_out + self.b_out


class Block(nn.Module):
    """Attention, then the MLP, each added to the stream."""

    def __init__(self, d: int, heads: int, width: int) -> None:
        super().__init__()
        self.attn, self.mlp = Attention(d, heads), MLP(d, width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(x)
        added: Tensor = x + self.mlp(x)
        return added


class Transformer(nn.Module):
    """One layer; the logits at the last position. Weights have the names of TransformerLens."""

    def __init__(self, tokens: int, d: int, heads: int, width: int) -> None:
        super().__init__()
        self.embed = nn.ParameterDict({"W_E": torch.randn(tokens, d) / d**0.5})
        self.pos_embed = nn.ParameterDict({"W_pos": torch.randn(2, d) / d**0.5})
        self.blocks = nn.ModuleList([Block(d, heads, width)])
        self.unembed = nn.ParameterDict({"W_U": torch.randn(d, tokens) / d**0.5})

    def forward(self, pairs: Tensor) -> Tensor:
        x = self.embed["W_E"][pairs] + self.pos_embed["W_pos"]
        for block in self.blocks:
            x = block(x)
        logits: Tensor = x[:, -1] @ self.unembed["W_U"]
        return logits


def facts(p: int = P, shown: float = SHOWN) -> tuple[list[Any], list[Any]]:
    """The facts (a, b, a + b mod p) that are shown in training, and the others."""
    table = [(a, b, (a + b) % p) for a in range(p) for b in range(p)]
    random.Random(0).shuffle(table)
    count = round(shown * len(table))
    return table[:count], table[count:]


def shown(p: int = P) -> tuple[Tensor, Tensor]:
    """What the module is trained on."""
    rows = torch.tensor(facts(p)[0])
    return rows[:, :2], rows[:, 2]


MODEL = Own(Transformer, shown, {"tokens": P, "d": 48, "heads": 4, "width": 96})


def watched(jobs: list[Job], recipe: Recipe) -> list[dict[str, Any]]:
    """Train, and look every so many steps: accuracy, what bounds ensure, what is certified."""
    looks = {
        part: [
            CertifiedShare(some, exact=EXACT, heads=4, activation="relu", norm="none") for _ in jobs
        ]
        for part, some in zip(("shown", "others"), facts(), strict=True)
    }
    rows: list[dict[str, Any]] = []

    def watch(now: list[Trained]) -> None:
        for number, trained in enumerate(now):
            row: dict[str, Any] = {"seed": trained.job.seed, "step": trained.measured.steps}
            for part, look in looks.items():
                seen = look[number](row["step"], trained.weights)
                assert seen is not None
                row[part] = {"accuracy": seen.accuracy, "bounded": seen.bounded}
                if seen.certified is not None:
                    row[part]["certified"] = float(seen.certified)
            rows.append(row | {"loss": trained.measured.loss})

    train(jobs, recipe, every=EVERY, watch=watch)
    return rows


def record() -> None:
    """Train all seeds and write what was seen."""
    rows = watched([Job(MODEL, seed) for seed in range(SEEDS)], RECIPE)
    header = {"p": P, "shown": SHOWN, "recipe": RECIPE.to_json(), "model": dict(MODEL.options)}
    write_text(RESULTS, "".join(json.dumps(row) + "\n" for row in (header, *rows)))


if __name__ == "__main__":
    record()
