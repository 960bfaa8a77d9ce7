"""Layers for TransformerLens, where interpretability researchers look at them."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.wong.layer import AttentionLayer

if TYPE_CHECKING:
    import torch


def to_transformer_lens(
    layer: AttentionLayer, n_ctx: int = 2, dtype: torch.dtype | None = None
) -> Any:
    r"""The layer as a ``TransformerBridge`` of TransformerLens 4, with all its hooks.

    The native model of TransformerLens has one width for queries, keys and values, positions,
    biases, and divides scores by the square root of the width. So heads are padded with zeros to a
    width that is a perfect square, W_Q is multiplied by its root (an integer, exact), and positions
    and biases are zero; there is no normalisation and no MLP. Its logits are those of
    ``layer.to_torch(dtype)`` up to rounding.

    Parameters
    ----------
    layer
        Any layer: compiled, trained or written by hand.
    n_ctx
        The longest sequence; facts need two tokens.
    dtype
        float64 unless told otherwise.

    Notes
    -----
    Tokens are numbers there: token i is ``layer.tokens[i]``. Needs the extra ``interop``.
    Cost: that of copying the weights.

    Examples
    --------
    >>> from lemmax.constructions import compile_database
    >>> from lemmax.theory import Database
    >>> layer = compile_database(Database.from_triples([("a", "f", "x"), ("b", "f", "y")])).layer
    >>> bridge = to_transformer_lens(layer)  # doctest: +SKIP
    >>> logits, cache = bridge.run_with_cache(tokens)  # doctest: +SKIP
    """
    try:
        import torch

        lens: Any = import_module("transformer_lens")
    except ImportError:
        raise LemmaxError("TransformerLens needs the extra lemmax[interop].") from None
    if not layer.heads:
        raise LemmaxError("TransformerLens has no layers without heads.")
    kind = dtype or torch.float64
    arrays = {name: torch.from_numpy(a).to(kind) for name, a in layer.to_numpy().items()}
    root = math.isqrt(max(layer.d_qk, layer.d_vo) - 1) + 1
    d_head, heads, d_model = root * root, len(layer.heads), layer.d_model
    config = lens.TransformerBridgeConfig(
        d_model=d_model,
        d_head=d_head,
        n_heads=heads,
        n_layers=1,
        n_ctx=n_ctx,
        d_vocab=len(layer.tokens),
        attn_only=True,
        normalization_type=None,
        act_fn="relu",
        positional_embedding_type="standard",
        dtype=kind,
    )
    bridge = lens.TransformerBridge.boot_native(config, dtype=kind, device="cpu")
    model = bridge.original_model
    attention = model.layers[0].attn
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        _weight(model.tok_embed).copy_(arrays["W_E"])
        _weight(model.head).copy_(arrays["W_U"].T)
        for h in range(heads):
            at = slice(h * d_head, h * d_head + layer.heads[h].d_qk)
            to = slice(h * d_head, h * d_head + layer.heads[h].d_vo)
            _weight(attention.q)[at] = root * arrays[f"heads.{h}.W_Q"].T
            _weight(attention.k)[at] = arrays[f"heads.{h}.W_K"]
            _weight(attention.v)[to] = arrays[f"heads.{h}.W_V"].T
            _weight(attention.o)[:, to] = arrays[f"heads.{h}.W_O"].T
    return bridge


def _weight(component: Any) -> Any:
    """The weight of a module, or of the module that a bridge component wraps."""
    return getattr(component, "original_component", component).weight
