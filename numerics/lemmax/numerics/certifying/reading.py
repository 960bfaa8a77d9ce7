"""Reading transformers: arrays by name, files, torch modules and TransformerLens bridges."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from lemmax.numerics.certifying.modules import told_beside, told_by
from lemmax.numerics.certifying.naming import (
    CONVENTIONS,
    Parts,
    convention_of,
    is_causal_mask,
    is_filler,
)
from lemmax.numerics.certifying.transformer import Step, Transformer, sinusoidal
from lemmax.numerics.twins.exact_layers import names_of_layer, positive, wong_arrays
from lemmax.numerics.twins.weights import Weights, exact_floats, read_weights
from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.numbers.matrices import parsed

ACTIVATIONS = ("relu", "gelu", "gelu-tanh", "silu")
NORMS = ("none", "layer", "rms")


@dataclass(frozen=True)
class Architecture:
    """What arrays cannot tell; None: not said, and asked for where it matters.

    Attributes
    ----------
    heads
        How many heads there are, where their matrices stand side by side.
    activation
        ``relu``, ``gelu``, ``gelu-tanh`` (called gelu_new elsewhere) or ``silu``.
    scale
        What multiplies the scores: a positive number or ``"1/sqrt(d)"``, which is the default; for
        a layer with Wong's names it is 1.
    norm, eps
        ``layer``, ``rms`` or ``none``; where a norm has a bias it is a LayerNorm. The default of
        eps is 1e-5. With norm="layer" and no arrays there is a norm without gain and bias.
    mask
        ``causal`` (the default) or ``none``.
    tied
        W_U is the transpose of W_E; by default that is so only where W_U is missing and GPT-2's
        names are used.
    norm_first
        Whether norms stand before attention and MLP (the default) or after their sum with the
        stream; asked for with the names of ``torch.nn.TransformerEncoderLayer``.
    positions
        ``"sinusoidal"`` adds the usual table, of ``places`` rows.
    layout
        For a layer with Wong's names: see
        :data:`~lemmax.numerics.twins.exact_layers.LAYOUTS`.
    """

    heads: int | None = None
    activation: str | None = None
    scale: Any = None
    norm: str | None = None
    eps: Any = None
    mask: str | None = None
    tied: bool | None = None
    norm_first: bool | None = None
    positions: str | None = None
    places: int = 512
    layout: str | None = None

    def __post_init__(self) -> None:
        for name, options in (
            ("activation", ACTIVATIONS),
            ("norm", NORMS),
            ("mask", ("causal", "none")),
            ("positions", ("sinusoidal",)),
        ):
            value = getattr(self, name)
            if value is not None and value not in options:
                raise LemmaxError(f"The {name} is one of {', '.join(options)}, not {value!r}.")
        if self.heads is not None and (not isinstance(self.heads, int) or self.heads < 1):
            raise LemmaxError(f"The number of heads is at least 1, not {self.heads!r}.")

    def given(self) -> dict[str, Any]:
        """What was said."""
        silent = Architecture()
        return {k: v for k, v in vars(self).items() if v != getattr(silent, k)}


def read_transformer(
    source: Any, architecture: Architecture | None = None, ignore: Collection[str] = ()
) -> Transformer:
    """A transformer from a path, arrays by name, a torch module or a TransformerLens bridge.

    Parameters
    ----------
    source
        A ``Transformer`` (returned as it is); a file that
        :func:`~lemmax.numerics.twins.weights.read_weights` reads; a mapping of names to arrays or
        tensors; or something with a ``state_dict``. A bridge says its architecture itself, and so
        does the ``config.json`` beside a file of GPT-2.
    ignore
        Names of arrays to leave out; the certificate names them.

    Notes
    -----
    Names are those of TransformerLens (hooked or bridge), of GPT-2, of
    ``torch.nn.TransformerEncoderLayer`` or of a layer of Wong's. Cost: that of reading.
    """
    said = architecture or Architecture()
    if isinstance(source, Transformer):
        return source
    if isinstance(source, (str, Path)):
        said = replace(Architecture(**told_beside(Path(source))), **said.given())
        arrays: Weights = read_weights(source, skip=is_filler)
    elif hasattr(source, "state_dict"):
        bridge = hasattr(source, "original_model")
        told = _bridge(source.cfg) if bridge else Architecture(**told_by(source))
        said = replace(told, **said.given())
        arrays = _of_bridge(source) if bridge else source.state_dict()
    elif isinstance(source, Mapping):
        arrays = source
    else:
        raise LemmaxError(
            f"A {type(source).__name__} is no model: give a file, arrays or a module."
        )
    for name in ignore:
        if name not in arrays:
            raise LemmaxError(f"To ignore it, it must be there: no array is called {name!r}.")
    left = {name: value for name, value in arrays.items() if name not in ignore}
    if "W_E" in left and not any("." in n and not n.startswith("heads.") for n in left):
        model = _wong(left, said)
    else:
        model = _named(left, said)
    return replace(model, ignored=tuple(ignore))


def _wong(arrays: Weights, said: Architecture) -> Transformer:
    """One layer with Wong's names, perhaps with positions and biases b_U."""
    extra = {name: exact_floats(name, arrays[name]) for name in ("W_pos", "b_U") if name in arrays}
    core = {name: value for name, value in arrays.items() if name not in extra}
    flat = wong_arrays(core, said.layout, bool(said.tied))
    count = (len(names_of_layer(flat)) - 2) // 4
    parts: Parts = {"W_E": flat["W_E"]} | extra | ({} if said.tied else {"W_U": flat["W_U"]})
    for letter in "QKVO" if count else "":
        matrices = [flat[f"heads.{h}.W_{letter}"] for h in range(count)]
        matrices = [M.T for M in matrices] if letter == "K" else matrices
        if len({M.shape for M in matrices}) > 1:
            raise ShapeError(f"The heads have W_{letter} of different shapes.")
        parts[f"0.attn.W_{letter}"] = np.concatenate(matrices, axis=0 if letter == "O" else 1)
    scale = 1 if said.scale is None else said.scale
    return _assembled(
        parts, replace(said, heads=count or None, scale=scale, norm=said.norm or "none")
    )


def _named(arrays: Weights, said: Architecture) -> Transformer:
    convention = convention_of(tuple(map(str, arrays)))
    if convention is None:
        raise LemmaxError(f"No array has a name that is known here: {', '.join(arrays) or 'none'}.")
    parts: Parts = {}
    heads = set[int]()
    for name, value in arrays.items():
        rule = next((r for r in CONVENTIONS[convention] if r.pattern.fullmatch(name)), None)
        if rule is None:
            if is_filler(name) or is_causal_mask(name, exact_floats(name, value)):
                continue
            raise LemmaxError(
                f"The weights hold {name!r}, which has no place among the names of {convention}: "
                "rename it, or leave it out with ignore=."
            )
        array = exact_floats(name, value)
        if name.endswith("attn.W_Q") and array.ndim == 3:
            heads.add(len(array))
        for part, piece in rule.parts(name, array).items():
            if part in parts and not np.array_equal(parts[part], piece):
                raise LemmaxError(f"{name!r} and another array both give {part}.")
            parts[part] = piece
    if len(heads) == 1 and said.heads is None:
        said = replace(said, heads=heads.pop())
    if convention == "gpt2":
        said = replace(
            said,
            activation=said.activation or "gelu-tanh",
            tied="W_U" not in parts if said.tied is None else said.tied,
        )
    if convention == "torch" and said.norm_first is None:
        raise LemmaxError("Do norms stand before attention and MLP? Say norm_first=True or False.")
    return _assembled(parts, said)


def _assembled(parts: Parts, said: Architecture) -> Transformer:
    """The steps in their order; asks for what the arrays do not say, and refuses what is left."""
    left, arrays, steps = dict(parts), Parts(), list[Step]()
    tied = bool(said.tied)
    if "W_E" not in left or (not tied and "W_U" not in left):
        lacking = "W_E" if "W_E" not in left else "W_U (tied=True takes the transpose of W_E)"
        raise LemmaxError(f"The weights lack {lacking}; they are {', '.join(parts)}.")
    for name in ("W_E", "W_pos", "W_U", "b_U"):
        if name in left:
            arrays[name] = left.pop(name)
    if tied and "W_U" in arrays and not np.array_equal(arrays.pop("W_U"), arrays["W_E"].T):
        raise LemmaxError("W_U is not the transpose of W_E, so the two are not tied.")
    for name in arrays:
        if arrays[name].ndim != (1 if name == "b_U" else 2):
            raise ShapeError(f"{name} has {arrays[name].ndim} dimensions.")
    d = arrays["W_E"].shape[1]
    if said.positions == "sinusoidal":
        if "W_pos" in arrays:
            raise LemmaxError("There are learned positions, and sinusoidal ones are asked for.")
        arrays["W_pos"] = sinusoidal(said.places, d)

    def add(step: Step, place: str, norm: str) -> None:
        at = f"steps.{len(steps)}"
        for name in [n for n in left if n.rpartition(".")[0] == place and place]:
            arrays[f"{at}.{name.rpartition('.')[2]}"] = left.pop(name)
        steps.append(step | _norm(left, arrays, at, norm, said))

    first = said.norm_first is not False
    numbers = sorted({int(n.partition(".")[0]) for n in left if n.partition(".")[0].isdigit()})
    if numbers != list(range(len(numbers))):
        raise LemmaxError(
            f"The blocks are numbered {', '.join(map(str, numbers))}: some are missing."
        )
    for block in numbers:
        for place, norm in (("attn", "norm1"), ("mlp", "norm2")):
            if any(n.startswith(f"{block}.{place}.") for n in left):
                step = _attention(left, block, said) if place == "attn" else _mlp(said)
                add(step, f"{block}.{place}", f"{block}.{norm}" if first else "")
                if not first:
                    add({"type": "norm"}, "", f"{block}.{norm}")
    if numbers and (said.norm_first is not False or any(n.startswith("final.") for n in left)):
        add({"type": "norm"}, "", "final")
        if steps[-1]["norm"] == "none":
            steps.pop()
    if left:
        raise LemmaxError(
            f"The weights hold {next(iter(left))!r}, which has no place in the model."
        )
    model = Transformer(arrays, tuple(steps), said.mask or "causal", tied)
    _shapes(model)
    return model


def _norm(left: Parts, arrays: Parts, at: str, name: str, said: Architecture) -> Step:
    """The norm of this name: its arrays, its kind and its eps."""
    own = {x: left.pop(f"{name}.{x}") for x in ("gain", "bias") if f"{name}.{x}" in left}
    kind = said.norm
    if own and "bias" in own:
        if kind in ("rms", "none"):
            raise LemmaxError(f"{name} has a bias, so it is a LayerNorm and not {kind}.")
        kind = "layer"
    elif own and kind in (None, "none"):
        raise LemmaxError(f"{name} has a gain and no bias: say norm='layer' or norm='rms'.")
    kind = kind if name and kind else "none"
    for x, array in own.items():
        arrays[f"{at}.{x}"] = array
    eps = Fraction("1e-5") if said.eps is None else _small(said.eps)
    return {"norm": kind, "eps": str(eps)}


def _small(eps: Any) -> Fraction:
    """An exact eps: of a float the short decimal that it prints as, which is what was meant."""
    try:
        exact = parsed(repr(eps) if isinstance(eps, float) else eps)
    except (TypeError, ValueError):
        exact = Fraction(-1)
    if not 0 <= exact <= 1:
        raise LemmaxError(f"eps lies between 0 and 1, unlike {eps!r}.")
    return exact


def _attention(left: Parts, block: int, said: Architecture) -> Step:
    for letter in "QKVO":
        if f"{block}.attn.W_{letter}" not in left:
            raise LemmaxError(f"Block {block} lacks W_{letter}.")
    if said.heads is None:
        raise LemmaxError("How many heads are there? The arrays do not say: heads=.")
    width, rest = divmod(left[f"{block}.attn.W_Q"].shape[-1], said.heads)
    if rest:
        raise ShapeError(f"W_Q of block {block} has columns that {said.heads} heads do not share.")
    scale = "1/sqrt(d)" if said.scale is None else said.scale
    square = Fraction(1, width) if scale == "1/sqrt(d)" else positive("The scale", scale) ** 2
    return {"type": "attention", "heads": said.heads, "scale_squared": str(square)}


def _mlp(said: Architecture) -> Step:
    if said.activation is None:
        raise LemmaxError(
            f"Which activation has the MLP? Say activation=: {', '.join(ACTIVATIONS)}."
        )
    return {"type": "mlp", "activation": said.activation}


def _shapes(model: Transformer) -> None:
    """Refuse arrays whose shapes do not fit, by name."""
    a = model.arrays
    size, d = a["W_E"].shape
    wanted: dict[str, tuple[int, ...]] = {"W_U": (d, size), "b_U": (size,)}
    if "W_pos" in a:
        wanted["W_pos"] = (len(a["W_pos"]), d)
    for i, step in enumerate(model.steps):
        at = f"steps.{i}"
        wanted |= {f"{at}.gain": (d,), f"{at}.bias": (d,)}
        inner, outer = ("in", "out") if step["type"] == "mlp" else ("V", "O")
        for first, last in ((inner, outer), ("Q", "K")):
            if f"{at}.W_{first}" in a:
                m = a[f"{at}.W_{first}"].shape[-1]
                wanted |= {f"{at}.W_{first}": (d, m), f"{at}.b_{first}": (m,)}
                back = (d, m) if last == "K" else (m, d)
                wanted |= {f"{at}.W_{last}": back, f"{at}.b_{last}": (back[1],)}
        if step["type"] == "mlp" and not {f"{at}.W_in", f"{at}.W_out"} <= set(a):
            raise LemmaxError(f"An MLP lacks W_in or W_out ({at}).")
        if step["type"] == "attention" and a[f"{at}.W_V"].shape[-1] % step["heads"]:
            raise ShapeError(f"{at}.W_V has columns that {step['heads']} heads do not share.")
    for name, array in a.items():
        if name != "W_E" and array.shape != wanted[name]:
            raise ShapeError(f"{name} has shape {array.shape}, but the model needs {wanted[name]}.")


def _of_bridge(bridge: Any) -> dict[str, Any]:
    """The arrays of a bridge in TransformerLens' shapes, whichever way its modules keep them."""
    state = bridge.state_dict()
    rules = CONVENTIONS["bridge"]
    unknown = next((n for n in state if not any(r.pattern.fullmatch(n) for r in rules)), None)
    if unknown is not None:
        raise LemmaxError(f"The bridge holds {unknown!r}, which has no place in a model here.")
    arrays = {"W_E": bridge.W_E, "W_pos": bridge.W_pos, "W_U": bridge.W_U, "b_U": bridge.b_U}
    parts = {f"attn.{letter}_{x}": f"{letter}_{x}" for letter in "Wb" for x in "QKVO"}
    if any(".mlp." in name for name in state):
        parts |= {f"mlp.{x}": x for x in ("W_in", "b_in", "W_out", "b_out")}
    for part, name in parts.items():
        for number, array in enumerate(getattr(bridge, name)):
            arrays[f"blocks.{number}.{part}"] = array
    for name, array in state.items():
        if name.startswith("ln_final.") or ".ln1." in name or ".ln2." in name:
            arrays[name.removesuffix("eight").removesuffix("ias")] = array
    return arrays


def _bridge(cfg: Any) -> Architecture:
    """What the configuration of a TransformerLens bridge says, or why it is not certified."""

    def asked(name: str, default: Any = None) -> Any:
        value = getattr(cfg, name, default)
        return default if value is None else value

    lacking = {
        f"{asked('positional_embedding_type')} positions": asked(
            "positional_embedding_type", "standard"
        )
        != "standard",
        "gated MLPs": asked("gated_mlp", False),
        "parallel attention and MLP": asked("parallel_attn_mlp", False),
        "grouped queries": asked("n_key_value_heads", cfg.n_heads) != cfg.n_heads,
        "capped scores": asked("attn_scores_soft_cap", -1) > 0,
        "capped logits": asked("output_logits_soft_cap", -1) > 0,
    }
    for what, there in lacking.items():
        if there:
            raise LemmaxError(f"The model has {what}, and no such operation is certified here.")
    norms = {None: "none", "LN": "layer", "LNPre": "layer", "RMS": "rms", "RMSPre": "rms"}
    activations = {"gelu_new": "gelu-tanh", "gelu": "gelu", "relu": "relu", "silu": "silu"}
    act, norm = asked("act_fn"), getattr(cfg, "normalization_type", None)
    if norm not in norms:
        raise LemmaxError(
            f"The model has the norm {norm}, and no such operation is certified here."
        )
    if not asked("attn_only", False) and act not in activations:
        raise LemmaxError(f"The model has the activation {act}, which is not certified here.")
    divisor = asked("attn_scale", -1.0)
    scaled = asked("use_attn_scale", True) and divisor > 0
    return Architecture(
        heads=cfg.n_heads,
        activation=activations.get(act),
        scale=1 / Fraction(divisor) if scaled else "1/sqrt(d)",
        norm=norms[norm],
        eps=asked("eps", 1e-5),
        mask="causal" if asked("attention_dir", "causal") == "causal" else "none",
    )
