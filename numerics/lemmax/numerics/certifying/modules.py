"""Whether a torch module computes what it was read as: floats compare, and can only refuse."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lemmax.numerics.certifying.transformer import Transformer
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import regular_bytes

_TOLERANCE = {"torch.float64": 1e-8, "torch.float32": 1e-3}  # of the largest logit; others 5 %


_GELUS = {"gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "swish": "silu"}


def _gpt2(config: Mapping[str, Any]) -> dict[str, Any]:
    activation = config.get("activation_function")
    return {
        "heads": config["n_head"],
        "eps": config.get("layer_norm_epsilon"),
        "activation": _GELUS.get(str(activation), activation),
    }


def told_beside(path: Path) -> dict[str, Any]:
    """What config.json beside a file of weights says, where it is about GPT-2."""
    try:
        config = json.loads(regular_bytes(path.parent / "config.json", 2**20))
    except (LemmaxError, ValueError, RecursionError):
        return {}
    if not isinstance(config, dict) or config.get("model_type") != "gpt2":
        return {}
    return _gpt2(config) if isinstance(config.get("n_head"), int) else {}


def told_by(module: Any) -> dict[str, Any]:
    """What a module's own parts say of its architecture; :func:`same_logits` sees if they lie."""
    config: Any = getattr(module, "config", None)
    if hasattr(config, "n_head"):  # GPT-2, as transformers has it
        return _gpt2(vars(config))
    for part in module.modules() if hasattr(module, "modules") else ():
        if type(part).__name__ == "TransformerEncoderLayer":
            activation = getattr(part.activation, "__name__", type(part.activation).__name__)
            return {
                "heads": part.self_attn.num_heads,
                "eps": part.norm1.eps,
                "norm_first": part.norm_first,
                "activation": str(activation).lower(),
            }
    return {}


def same_logits(module: Any, model: Transformer, prompts: Sequence[Sequence[int]]) -> None:
    """Refuse a module whose logits differ from those of the model that its weights were read as.

    A sample of at most 64 prompts is run, in evaluation mode and without gradients. What is no
    module passes.
    """
    if not hasattr(module, "state_dict") or not prompts:
        return
    import torch

    if not isinstance(module, torch.nn.Module):
        return

    chosen = [prompts[i] for i in np.linspace(0, len(prompts) - 1, 64).astype(int)]
    chosen = [list(p) for p in sorted(set(map(tuple, chosen)))]
    ours = model.float_logits(chosen)
    weights = [p for p in module.state_dict().values() if p.is_floating_point()]
    tolerance = max(_TOLERANCE.get(str(w.dtype), 0.05) for w in weights)
    training = module.training
    module.eval()
    try:
        with torch.no_grad():
            device = weights[0].device
            theirs = [_last(module(torch.tensor([p], device=device))) for p in chosen]
    finally:
        module.train(training)
    for prompt, mine, other in zip(chosen, ours, theirs, strict=True):
        if other.shape != mine.shape:
            raise LemmaxError(
                f"The module gives logits of shape {other.shape}, not one per token ({model.size})."
            )
        gap, most = float(abs(other - mine).max()), max(1.0, float(abs(mine).max()))
        if not gap <= tolerance * most:
            raise LemmaxError(
                f"The module computes other logits than the model that its weights were read as: "
                f"after {prompt} they differ by {gap:.3g}. It is not certified."
            )


def _last(output: Any) -> Any:
    """The logits of the last position of the only prompt."""
    output = getattr(output, "logits", output)
    output = output[0] if isinstance(output, tuple) else output
    row = output.detach().double().cpu().numpy()[0]
    return row[-1] if row.ndim == 2 else row
