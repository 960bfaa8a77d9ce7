"""Many small layers trained at once: forward and backward in numpy, Adam, the best are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lemmax.constructions.compiler.planning import Dimensions
from lemmax.theory.facts.database import Database
from lemmax.theory.tensors.search.clock import late

Array = NDArray[np.float64]
Weights = dict[str, Array]

HEAD = ("W_Q", "W_K", "W_V", "W_O")
_BETAS = 0.9, 0.99
_RATE = 0.06


@dataclass(frozen=True)
class Problem:
    """The facts as numbers of tokens and of values; tokens are those that are keys or queries."""

    keys: NDArray[np.int64]
    queries: NDArray[np.int64]
    values: NDArray[np.int64]
    tokens: int
    classes: int

    @classmethod
    def of(cls, db: Database) -> Problem:
        """The facts of a database, its tokens in the order of ``spoken``."""
        place = {t: i for i, t in enumerate(spoken(db))}
        number = {v: i for i, v in enumerate(db.values)}
        k, q, v = np.array([(place[k], place[q], number[v]) for k, q, v in db], dtype=np.int64).T
        return cls(k, q, v, len(place), len(number))


def spoken(db: Database) -> tuple[object, ...]:
    """The tokens that are keys or queries, each once."""
    return tuple(dict.fromkeys((*db.keys, *db.queries)))


def drawn(problem: Problem, dims: Dimensions, restarts: int, seed: int) -> Weights:
    """Normal weights for so many layers, the same for the same seed."""
    random = np.random.default_rng(seed)
    d, H, a, c = dims.d_model, dims.heads, dims.d_qk, dims.d_vo
    shapes = {
        "W_E": (problem.tokens, d),
        "W_U": (problem.classes, d),
        "W_Q": (H, d, a),
        "W_K": (H, d, a),
        "W_V": (H, d, c),
        "W_O": (H, c, d),
    }
    return {name: random.standard_normal((restarts, *shape)) for name, shape in shapes.items()}


def gradient(problem: Problem, w: Weights) -> tuple[Array, Array, Weights]:
    """Cross-entropy, the least gap of a fact in logits, and the gradient, for each layer."""
    E, U = w["W_E"], w["W_U"]
    E_k, E_q = E[:, problem.keys], E[:, problem.queries]
    h, heads = E_q, []
    for i in range(w["W_Q"].shape[1]):
        W_Q, W_K, W_V, W_O = (w[name][:, i] for name in HEAD)
        ask, offer = E_q @ W_Q, (E_k - E_q) @ W_K
        alpha = 1 / (1 + np.exp(-np.clip((ask * offer).sum(-1, keepdims=True), -60, 60)))
        own, gained = E_q @ W_V, (E_k - E_q) @ W_V
        mixed = own + alpha * gained
        h = h + mixed @ W_O
        heads.append((W_Q, W_K, W_V, W_O, ask, offer, alpha, gained, mixed))
    logits = h @ U.swapaxes(1, 2)
    facts = np.arange(len(problem.values))
    right = logits[:, facts, problem.values]
    logits = logits - right[..., None]
    logits[:, facts, problem.values] = -np.inf
    worst = logits.max(-1)
    gap = -worst.max(-1)
    logits[:, facts, problem.values] = 0
    top = np.maximum(worst, 0)[..., None]
    p = np.exp(logits - top)
    total = p.sum(-1, keepdims=True)
    loss = (np.log(total) + top)[..., 0].mean(-1)
    p /= total
    p[:, facts, problem.values] -= 1
    p /= len(facts)
    g_h = p @ U
    g: Weights = {"W_U": p.swapaxes(1, 2) @ h}
    g_q, g_k = g_h, np.zeros_like(g_h)
    parts: dict[str, list[Array]] = {name: [] for name in HEAD}
    E_q_t, E_d_t = E_q.swapaxes(1, 2), (E_k - E_q).swapaxes(1, 2)
    for W_Q, W_K, W_V, W_O, ask, offer, alpha, gained, mixed in heads:
        g_mixed = g_h @ W_O.swapaxes(1, 2)
        g_score = (g_mixed * gained).sum(-1, keepdims=True) * alpha * (1 - alpha)
        g_gained, g_ask, g_offer = alpha * g_mixed, g_score * offer, g_score * ask
        parts["W_O"].append(mixed.swapaxes(1, 2) @ g_h)
        parts["W_V"].append(E_q_t @ g_mixed + E_d_t @ g_gained)
        parts["W_Q"].append(E_q_t @ g_ask)
        parts["W_K"].append(E_d_t @ g_offer)
        from_d = g_gained @ W_V.swapaxes(1, 2) + g_offer @ W_K.swapaxes(1, 2)
        g_k = g_k + from_d
        g_q = g_q + g_mixed @ W_V.swapaxes(1, 2) + g_ask @ W_Q.swapaxes(1, 2) - from_d
    for name, some in parts.items():
        g[name] = np.stack(some, axis=1)
    one_hot = np.eye(problem.tokens)
    g["W_E"] = one_hot[problem.keys].T @ g_k + one_hot[problem.queries].T @ g_q
    return loss, gap, g


@dataclass(frozen=True)
class Trained:
    """What a descent ended with: a layer that knows all facts, if one does, and the least loss."""

    weights: Weights | None
    loss: float


def descend(
    problem: Problem,
    dims: Dimensions,
    *,
    restarts: int,
    steps: int,
    seed: int = 0,
    deadline: float | None = None,
) -> Trained | None:
    """Train many layers and stop at the first that knows all facts; None where the time is over.

    After a tenth of the steps a quarter of the layers goes on, after a third half of those. The
    rate falls to zero as a cosine. Cost: restarts · steps · facts · values · d_model at the worst.
    """
    w = drawn(problem, dims, restarts, seed)
    first: Weights = {name: np.zeros_like(x) for name, x in w.items()}
    second: Weights = {name: np.zeros_like(x) for name, x in w.items()}
    cuts = {steps // 10: restarts // 4, steps // 3: restarts // 8}
    least = np.inf
    for step in range(1, steps + 1):
        if late(deadline):
            return None
        loss, gap, g = gradient(problem, w)
        least = min(least, float(loss.min()))
        best = int(gap.argmax())
        if gap[best] > 1e-2 * float(np.abs(w["W_U"][best]).max()):
            return Trained({name: x[best] for name, x in w.items()}, least)
        rate = _RATE * (0.5 + 0.5 * np.cos(np.pi * step / steps))
        for name, x in w.items():
            m, v = first[name], second[name]
            m += (1 - _BETAS[0]) * (g[name] - m)
            v += (1 - _BETAS[1]) * (g[name] ** 2 - v)
            scale = np.sqrt(v / (1 - _BETAS[1] ** step)) + 1e-9
            x -= rate / (1 - _BETAS[0] ** step) * m / scale
        if kept := cuts.get(step):
            chosen = np.argsort(loss, kind="stable")[:kept]
            w, first, second = (
                {name: x[chosen] for name, x in some.items()} for some in (w, first, second)
            )
    loss, gap, _ = gradient(problem, w)
    best = int(gap.argmax())
    known = {name: x[best] for name, x in w.items()} if gap[best] > 0 else None
    return Trained(known, min(least, float(loss.min())))
