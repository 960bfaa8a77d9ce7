"""Whether a torch module computes what it was read as: floats compare, and can only refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lemmax.numerics.certifying.architecture import ACTIVATIONS
from lemmax.numerics.certifying.configs import gpt2
from lemmax.numerics.certifying.naming import CONVENTIONS, place_of
from lemmax.numerics.certifying.transformer import Transformer
from lemmax.theory.errors import LemmaxError

_TOLERANCE = 1e-9  # of the largest logit: both sides compute in float64


def is_module(source: Any) -> bool:
    """Whether a source can be run: a torch module."""
    if not hasattr(source, "state_dict"):
        return False
    import torch

    return isinstance(source, torch.nn.Module)


def unsaved(module: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """Buffers that a module has and does not save, where their names say what they are."""
    rules = [rule for rules in CONVENTIONS.values() for rule in rules]
    return {
        name: buffer
        for name, buffer in module.named_buffers()
        if name in names or any(rule.pattern.fullmatch(name) for rule in rules)
    }


def told_by(module: Any, renamed: Callable[[str], str] = str) -> dict[str, Any]:
    """What a module's own parts say of its architecture; :func:`same_logits` sees if they lie."""
    config: Any = getattr(module, "config", None)
    if getattr(config, "model_type", None) == "gpt2":  # as transformers has it
        return gpt2(vars(config))
    heads = getattr(config, "n_head", None)
    told: dict[str, Any] = {"heads": heads} if isinstance(heads, int) else {}
    eps: dict[str, Any] = {}
    kinds = set[str]()
    for name, part in module.named_modules():
        kind = type(part).__name__
        if kind == "MultiheadAttention":
            told.setdefault("heads", part.num_heads)
        elif kind == "TransformerEncoderLayer":
            told.setdefault("norm_first", part.norm_first)
            told.setdefault("activation", _activation(part.activation))
        elif kind in _NORMS:
            kinds.add(_NORMS[kind])
            if not hasattr(part, "eps"):
                continue
            if part.eps is None:
                raise LemmaxError(
                    f"The norm {name!r} has no eps, so torch takes one that depends on the format "
                    "of its input: give it one."
                )
            place = place_of(renamed(f"{name}.weight"))
            if place is not None:
                eps[place] = part.eps
        elif _activation(part) is not None:
            told.setdefault("activation", _activation(part))
    if len(kinds) == 1:
        told["norm"] = kinds.pop()
    return told | ({"eps": eps} if eps else {})


_NORMS = {"LayerNorm": "layer", "RMSNorm": "rms"}


def _activation(function: Any) -> str | None:
    """The name that an activation, a function or a module, has here."""
    name = getattr(function, "__name__", type(function).__name__).lower()
    if name == "gelu" and getattr(function, "approximate", "none") == "tanh":
        return "gelu-tanh"
    return name if name in ACTIVATIONS else None


def same_logits(
    module: Any, model: Transformer, prompts: Sequence[Sequence[int]], most: int | None = None
) -> bool:
    """Refuse a module whose logits differ from those of the model that its weights were read as.

    All prompts are run, or ``most`` of them, one by one, in evaluation mode and without gradients,
    with the weights in float64. False: this is no module, and nothing was compared.
    """
    if not is_module(module):
        return False
    if not prompts:
        return True
    some = len(prompts) if most is None else min(most, len(prompts))
    chosen = [list(prompts[i]) for i in np.linspace(0, len(prompts) - 1, some).astype(int)]
    ours = model.float_logits(chosen)
    for prompt, mine, other in zip(chosen, ours, _logits(module, chosen), strict=True):
        if other.shape != mine.shape:
            raise LemmaxError(
                f"The module gives logits of shape {other.shape}, not one per token ({model.size})."
            )
        gap, largest = float(abs(other - mine).max()), max(1.0, float(abs(mine).max()))
        if not gap <= _TOLERANCE * largest:
            raise LemmaxError(
                f"The module computes other logits than the model that its weights were read as: "
                f"after {prompt} they differ by {gap:.3g}. It is not certified; options say what "
                "no array does (mask, scale, activation, positions and so on)."
            )
    return True


def _logits(module: Any, prompts: Sequence[Sequence[int]]) -> list[Any]:
    """What a module says after prompts, its weights and what it makes itself being float64."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Doubles(TorchDispatchMode):  # type: ignore[no-untyped-call]
        """What a forward would round to a shorter format on its way stays float64."""

        def __torch_dispatch__(self, func: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = dict(kwargs or {})
            if kwargs.get("dtype") in (torch.float32, torch.float16, torch.bfloat16):
                kwargs["dtype"] = torch.float64
            return func(*args, **kwargs)

    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    training, before = {m: m.training for m in module.modules()}, torch.get_default_dtype()
    module.eval()
    torch.set_default_dtype(torch.float64)
    try:
        copies = {  # a forward may change what it is given
            name: value.detach().to(torch.float64 if value.is_floating_point() else None, copy=True)
            for name, value in state.items()
        }
        device = next(iter(copies.values())).device
        with torch.no_grad(), Doubles():  # type: ignore[no-untyped-call]
            rows = [torch.tensor([list(prompt)], device=device) for prompt in prompts]
            return [_last(torch.func.functional_call(module, copies, (row,))) for row in rows]
    except Exception as reason:  # whatever the forward of others may raise
        raise LemmaxError(
            "The module cannot be run in float64 on tokens alone, so it is not known to be what "
            f"its weights were read as ({type(reason).__name__}: {str(reason)[:200]}); give its "
            "state_dict and say what it is by options."
        ) from None
    finally:
        torch.set_default_dtype(before)
        for part, was in training.items():
            part.training = was


def _last(output: Any) -> Any:
    """The logits of the last position of the only prompt."""
    output = getattr(output, "logits", output)
    output = output[0] if isinstance(output, tuple) else output
    row = output.detach().double().cpu().numpy()[0]
    return row[-1] if row.ndim == 2 else row
