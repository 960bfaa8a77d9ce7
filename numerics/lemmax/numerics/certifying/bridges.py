"""TransformerLens bridges (version 4): their arrays, and what their configuration says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from lemmax.numerics.certifying.architecture import Architecture
from lemmax.numerics.certifying.naming import CONVENTIONS
from lemmax.theory.errors import LemmaxError


def arrays_of_bridge(bridge: Any) -> dict[str, Any]:
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


def told_by_bridge(cfg: Any) -> Architecture:
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
