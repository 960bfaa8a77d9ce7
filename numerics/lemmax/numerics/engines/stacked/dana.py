"""Dana's transformers on bigrams in stacked groups, with the gradient written by hand.

The attention of all N² pairs comes from tables; logits are made only for the pairs of the batch,
each once, weighted by how often it occurs. Models may differ in H, d, d_h and width, which are
padded with zeros; N, the maps and the batch size are common.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from lemmax.numerics.engines.run import epoch_of
from lemmax.numerics.engines.stacked.pair_attention import PairAttention
from lemmax.numerics.engines.stacked.stacks import StackedRun
from lemmax.numerics.training.configurations import Arrays, Dana
from lemmax.numerics.training.jobs import batches


class StackedDana(StackedRun):
    """A group of transformers over one vocabulary, with the same maps."""

    def prepare(self) -> None:
        self.configs = [job.config for job in self.jobs if isinstance(job.config, Dana)]
        self.N, self.shared = self.configs[0].N, self.configs[0].maps == "shared"
        self.scaled = self.configs[0].scaled
        self.d = max(c.d for c in self.configs)
        self.d_h = max(c.d_h for c in self.configs)
        self.H = max(c.H for c in self.configs)
        self.width = max(c.width for c in self.configs)
        self.p = self.d_h if self.shared else self.d
        samples = max(c.samples for c in self.configs)
        batch = self.recipe.batch
        self.rows = samples if batch is None else min(samples, batch)
        self.data = [config.data() for config in self.configs]
        self.epoch = -1

    def shapes(self) -> dict[str, tuple[int, ...]]:
        d, p, w = self.d, self.p, self.width
        shapes: dict[str, tuple[int, ...]] = {
            "e": (self.N, d),
            "pos": (2, p),
            "W_QKV": (self.H, p, 3 * self.d_h),
            "W_O": (self.H, self.d_h, p),
            "W_U": (d, self.N),
        }
        if self.shared:
            shapes |= {"W_in": (d, p), "W_out": (p, d)}
        if w:
            shapes |= {"W_1": (d, w), "b_1": (1, w), "W_2": (w, d)}
        return shapes

    def inward(self, number: int, weights: Arrays) -> Arrays:
        config = self.configs[number]
        mixed = np.zeros((config.H, config.inner, 3, self.d_h))
        for place, name in enumerate(("W_Q", "W_K", "W_V")):
            mixed[:, :, place, : config.d_h] = weights[name].transpose(0, 2, 1)
        stacked = {
            "e": weights["e"],
            "pos": weights["pos"],
            "W_QKV": mixed.reshape(config.H, config.inner, 3 * self.d_h),
            "W_O": weights["W_O"].transpose(0, 2, 1),
            "W_U": weights["W_U"].T,
        }
        if self.shared:
            stacked |= {"W_in": weights["W_in"].T, "W_out": weights["W_out"].T}
        if config.width:
            stacked |= {
                "W_1": weights["W_1"].T,
                "b_1": weights["b_1"][None],
                "W_2": weights["W_2"].T,
            }
        return stacked

    def outward(self, number: int, weights: dict[str, Tensor]) -> Arrays:
        c = self.configs[number]
        w = {name: tensor.cpu().numpy() for name, tensor in weights.items()}
        mixed = w["W_QKV"].reshape(self.H, self.p, 3, self.d_h)[: c.H, : c.inner, :, : c.d_h]
        own = {
            "e": w["e"][:, : c.d],
            "pos": w["pos"][:, : c.inner],
            "W_Q": mixed[:, :, 0].transpose(0, 2, 1),
            "W_K": mixed[:, :, 1].transpose(0, 2, 1),
            "W_V": mixed[:, :, 2].transpose(0, 2, 1),
            "W_O": w["W_O"][: c.H, : c.d_h, : c.inner].transpose(0, 2, 1),
            "W_U": w["W_U"][: c.d].T,
        }
        if self.shared:
            own |= {"W_in": w["W_in"][: c.d, : c.d_h].T, "W_out": w["W_out"][: c.d_h, : c.d].T}
        if c.width:
            own |= {"W_1": w["W_1"][: c.d, : c.width].T, "b_1": w["b_1"][0, : c.width]}
            own |= {"W_2": w["W_2"][: c.width, : c.d].T}
        return {name: own[name].copy() for name in c.shapes()}

    def load(self) -> None:
        G = len(self.jobs)
        scale: float | Tensor = 1.0
        if self.scaled:
            scale = self.tensor([1 / math.sqrt(c.d_h) for c in self.configs])[:, None, None, None]
        self.attention = PairAttention(self.d_h, self.N, scale)
        options = {"dtype": self.dtype, "device": self.device}
        self.doutput = torch.zeros(G * self.N * self.N, self.d, **options)
        self.epoch = -1
        if self.recipe.batch is None:
            self._choose(np.stack([np.arange(self.rows)] * G), None)

    def _choose(
        self, samples: np.ndarray[tuple[int, ...], np.dtype[np.int64]], counts: object
    ) -> None:
        """Take the rows of a step: sample numbers (G × rows) and how often each occurs."""
        G, N = len(self.jobs), self.N
        pair, target = np.zeros((G, self.rows), np.int64), np.zeros((G, self.rows), np.int64)
        weight = np.zeros((G, self.rows))
        for g, (sequences, targets) in enumerate(self.data):
            count = len(targets) if counts is None else int((samples[g] >= 0).sum())
            chosen = samples[g, :count]
            pair[g, :count] = sequences[chosen, 0] * N + sequences[chosen, 1]
            pair[g, count:] = pair[g, 0]
            target[g, :count] = targets[chosen]
            if counts is None:
                weight[g, :count] = 1 / count
            elif isinstance(counts, np.ndarray):
                weight[g, :count] = counts[g, :count] / counts[g, :count].sum()
        pair += (N * N * np.arange(G))[:, None]
        self.pair = self.tensor(pair.ravel(), torch.int64)
        self.target = self.tensor(target, torch.int64)[..., None]
        self.weight = self.tensor(weight)[..., None]

    def _batch(self, step: int) -> None:
        if self.recipe.batch is None:
            return
        epoch, number = epoch_of(self.jobs[0], self.recipe, step)
        if epoch != self.epoch:
            self.epoch = epoch
            self.order = [batches(job, self.recipe, epoch) for job in self.jobs]
        samples = np.full((len(self.jobs), self.rows), -1)
        counts = np.zeros((len(self.jobs), self.rows))
        for g, order in enumerate(self.order):
            assert order is not None
            often = np.bincount(order[number])
            present = np.flatnonzero(often)
            samples[g, : len(present)], counts[g, : len(present)] = present, often[present]
        self._choose(samples, counts)

    def gradient(self, step: int) -> None:
        self._batch(step)
        p, g = self.stack.parameters, self.stack.gradients
        G, N, d = len(self.jobs), self.N, self.d
        base = torch.bmm(p["e"], p["W_in"]) if self.shared else p["e"]
        X = (base[:, None] + p["pos"][:, :, None]).flatten(1, 2)  # first tokens, then last ones
        sums, output = self.attention.forward(X, p["W_QKV"], p["W_O"])
        output += sums[:, None, N:]  # G × N × N × p
        flat = output.view(G * N * N, self.p)
        mixed = flat.index_select(0, self.pair).view(G, self.rows, self.p)
        last = (self.pair % N).view(G, self.rows)
        skip = p["e"] if self.scaled else X[:, N:]
        residual = torch.bmm(mixed, p["W_out"]) if self.shared else mixed
        residual = residual + skip.gather(1, last[..., None].expand(-1, -1, d))
        hidden = u = share = residual
        if self.width:
            u = torch.baddbmm(p["b_1"], residual, p["W_1"])
            share = torch.special.ndtr(u)
            hidden = torch.baddbmm(residual, u * share, p["W_2"])
        logits = torch.bmm(hidden, p["W_U"])
        if self.counts:
            right = (logits.argmax(-1, keepdim=True) == self.target).to(self.dtype) * self.weight
            self.note(right.double().sum((1, 2)).tolist())
        error = torch.softmax(logits, -1)
        error.scatter_add_(2, self.target, torch.full_like(self.weight, -1.0))
        dhidden = torch.bmm(error, p["W_U"].transpose(1, 2)).mul_(self.weight)
        torch.bmm((hidden * self.weight).transpose(1, 2), error, out=g["W_U"])
        dresidual = dhidden
        if self.width:
            torch.bmm((u * share).transpose(1, 2), dhidden, out=g["W_2"])
            density = (u * u).mul_(-0.5).exp_().div_(math.sqrt(2 * math.pi))
            du = torch.bmm(dhidden, p["W_2"].transpose(1, 2)).mul_(share + u * density)
            torch.bmm(residual.transpose(1, 2), du, out=g["W_1"])
            g["b_1"].copy_(du.sum(1, keepdim=True))
            dresidual = torch.baddbmm(dhidden, du, p["W_1"].transpose(1, 2))
        dmixed = dresidual
        if self.shared:
            torch.bmm(mixed.transpose(1, 2), dresidual, out=g["W_out"])
            dmixed = torch.bmm(dresidual, p["W_out"].transpose(1, 2))
        # each pair occurs once; padded rows repeat a pair and bring nothing
        doutput = torch.zeros_like(flat).index_add_(0, self.pair, dmixed.view(-1, self.p))
        doutput = doutput.view(G, N, N, self.p)
        dsums = torch.zeros_like(X)
        dsums[:, N:] = doutput.sum(1)
        dX = self.attention.backward(dsums, doutput, g["W_QKV"], g["W_O"])
        if not self.scaled:
            dX[:, N:] += dsums[:, N:]
        dX = dX.view(G, 2, N, self.p)
        g["pos"].copy_(dX.sum(2))
        dbase = dX.sum(1)
        if self.shared:
            torch.bmm(p["e"].transpose(1, 2), dbase, out=g["W_in"])
            torch.bmm(dbase, p["W_in"].transpose(1, 2), out=g["e"])
        else:
            g["e"].copy_(dbase)
        if self.scaled:
            g["e"].scatter_add_(1, last[..., None].expand(-1, -1, d), dresidual)
