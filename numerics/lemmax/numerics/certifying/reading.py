"""Reading transformers: arrays by name, files, torch modules and TransformerLens bridges."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from lemmax.numerics.certifying.architecture import (
    ACTIVATIONS,
    Architecture,
    Settled,
    settled,
    small,
)
from lemmax.numerics.certifying.bridges import arrays_of_bridge, told_by_bridge
from lemmax.numerics.certifying.configs import told_beside
from lemmax.numerics.certifying.modules import is_module, told_by, unsaved
from lemmax.numerics.certifying.naming import (
    CONVENTIONS,
    Parts,
    convention_of,
    is_causal_mask,
    is_filler,
    renamed,
)
from lemmax.numerics.certifying.transformer import Step, Transformer, sinusoidal
from lemmax.numerics.twins.exact_layers import names_of_layer, positive, wong_arrays
from lemmax.numerics.twins.weights import Weights, exact_floats, read_weights
from lemmax.theory.errors import LemmaxError, ShapeError


def read_transformer(
    source: Any,
    architecture: Architecture | None = None,
    ignore: Collection[str] = (),
    names: Mapping[str, str] | None = None,
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
    names
        What arrays with other names are, ``{"theirs": "ours"}``; a * in both stands for the number
        of a block.

    Notes
    -----
    Names are those of TransformerLens (hooked or bridge), of GPT-2 or nanoGPT, of
    ``torch.nn.TransformerEncoderLayer`` or of a layer of Wong's. What neither an array nor an
    option says is asked for, or stands in ``assumed``. Cost: that of reading.
    """
    said = architecture or Architecture()
    if isinstance(source, Transformer):
        if said.given() or ignore or names:
            raise LemmaxError("This transformer was read already: give options where it is read.")
        return source
    runs, assumed = is_module(source), tuple[str, ...]()
    if isinstance(source, (str, Path)):
        told, assumed = told_beside(Path(source))
        said = replace(Architecture(**told), **said.given())
        arrays: Weights = read_weights(source, skip=is_filler)
    elif hasattr(source, "original_model"):
        said = replace(told_by_bridge(source.cfg), **said.given())
        arrays = arrays_of_bridge(source)
    elif hasattr(source, "state_dict"):
        arrays = (unsaved(source, names or {}) if runs else {}) | dict(source.state_dict())
    elif isinstance(source, Mapping):
        arrays = source
    else:
        raise LemmaxError(
            f"A {type(source).__name__} is no model: give a file, arrays or a module."
        )
    for name in ignore:
        if name not in arrays:
            raise LemmaxError(f"To ignore it, it must be there: no array is called {name!r}.")
    kept = [str(name) for name in arrays if name not in ignore]
    own = renamed(kept, names or {})
    if runs and not hasattr(source, "original_model"):
        told = told_by(source, lambda name: own.get(name, name))
        said = replace(Architecture(**told), **said.given())
    left = {own[name]: arrays[name] for name in kept}
    if "W_E" in left and not any("." in n and not n.startswith("heads.") for n in left):
        model = _wong(left, said, runs)
    else:
        model = _named(left, said, runs)
    return replace(model, ignored=tuple(ignore), assumed=assumed + model.assumed)


def _wong(arrays: Weights, said: Architecture, runs: bool) -> Transformer:
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
    said = _with_heads(said, {count} if count else set())
    return _assembled(parts, settled(said, parts, "wong", runs))


def _with_heads(said: Architecture, found: Collection[int]) -> Architecture:
    """The number of heads that arrays say, each matrix of a head standing by itself."""
    if len(found) > 1:
        one, other, *_ = found
        raise LemmaxError(f"There are {one} heads in one block and {other} in another.")
    for heads in found:
        if said.heads not in (None, heads):
            raise LemmaxError(f"The arrays have {heads} heads, and {said.heads} are asked for.")
        return replace(said, heads=heads)
    return said


def _named(arrays: Weights, said: Architecture, runs: bool) -> Transformer:
    convention = convention_of(arrays)
    if convention is None:
        raise LemmaxError(
            f"No array has a name that is known here: {', '.join(arrays) or 'none'}; say what each "
            "is, with names=."
        )
    parts: Parts = {}
    heads = dict[int, None]()  # in their order
    for name, value in arrays.items():
        rule = next((r for r in CONVENTIONS[convention] if r.pattern.fullmatch(name)), None)
        if rule is None:
            if is_filler(name):
                continue
            if is_causal_mask(name, exact_floats(name, value)):
                if said.mask == "none":
                    raise LemmaxError(f"{name!r} is a causal mask, and none is asked for.")
                said = replace(said, mask="causal")
                continue
            raise LemmaxError(
                f"The weights hold {name!r}, which has no place among the names of {convention}: "
                "say what it is with names=, or leave it out with ignore=."
            )
        array = exact_floats(name, value)
        if name.endswith("attn.W_Q") and array.ndim == 3:
            heads[len(array)] = None
        for part, piece in rule.parts(name, array).items():
            if part in parts and not np.array_equal(parts[part], piece):
                raise LemmaxError(f"{name!r} and another array both give {part}.")
            parts[part] = piece
    return _assembled(parts, settled(_with_heads(said, heads), parts, convention, runs))


def _assembled(parts: Parts, all_said: Settled) -> Transformer:
    """The steps in their order; asks for what the arrays do not say, and refuses what is left."""
    left, arrays, steps = dict(parts), Parts(), list[Step]()
    said = all_said.said
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
    if said.positions is not None and "W_pos" in arrays:
        raise LemmaxError("There are learned positions, and others, or none, are asked for.")
    if said.positions == "sinusoidal":
        arrays["W_pos"] = sinusoidal(said.places, d)

    def add(step: Step, place: str, norm: str) -> None:
        at = f"steps.{len(steps)}"
        for name in [n for n in left if n.rpartition(".")[0] == place and place]:
            arrays[f"{at}.{name.rpartition('.')[2]}"] = left.pop(name)
        normed = norm in all_said.normed
        steps.append(step | (_norm(left, arrays, at, norm, said) if normed else dict(_BARE)))

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
                if not first and f"{block}.{norm}" in all_said.normed:
                    add({"type": "norm"}, "", f"{block}.{norm}")
    if "final" in all_said.normed:
        add({"type": "norm"}, "", "final")
    if left:
        raise LemmaxError(
            f"The weights hold {next(iter(left))!r}, which has no place in the model."
        )
    mask = said.mask or "causal"
    model = Transformer(arrays, tuple(steps), mask, tied, assumed=all_said.assumed)
    _shapes(model)
    return model


_BARE: Step = {"norm": "none", "eps": "1/100000"}  # the eps of no norm changes nothing


def _norm(left: Parts, arrays: Parts, at: str, name: str, said: Architecture) -> Step:
    """The norm of this name: its arrays, its kind and its eps."""
    own = {x: left.pop(f"{name}.{x}") for x in ("gain", "bias") if f"{name}.{x}" in left}
    kind = said.norm
    if "bias" in own:
        if kind in ("rms", "none"):
            raise LemmaxError(f"{name} has a bias, so it is a LayerNorm and not {kind}.")
        kind = "layer"
    elif kind in (None, "none"):
        raise LemmaxError(f"{name} has no bias: say norm='layer' or norm='rms'.")
    for x, array in own.items():
        arrays[f"{at}.{x}"] = array
    eps = said.eps.get(name, "1e-5") if isinstance(said.eps, Mapping) else said.eps
    return {"norm": kind, "eps": str(small(eps))}


def _attention(left: Parts, block: int, said: Architecture) -> Step:
    for letter in "QKVO":
        if f"{block}.attn.W_{letter}" not in left:
            raise LemmaxError(f"Block {block} lacks W_{letter}.")
    if said.heads is None:
        raise LemmaxError("How many heads are there? The arrays do not say: heads=.")
    width, rest = divmod(left[f"{block}.attn.W_Q"].shape[-1], said.heads)
    if rest:
        raise ShapeError(f"W_Q of block {block} has columns that {said.heads} heads do not share.")
    rooted = said.scale == "1/sqrt(d)"
    square = Fraction(1, width) if rooted else positive("The scale", said.scale) ** 2
    square /= (block + 1) ** 2 if said.by_block else 1
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
