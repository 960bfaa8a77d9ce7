"""What config.json beside a file of GPT-2 says: followed, known to change nothing, or refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import regular_bytes

_GELUS = {"gelu_new": "gelu-tanh", "gelu_pytorch_tanh": "gelu-tanh", "swish": "silu"}

_FOLLOWED = {
    "model_type", "n_head", "layer_norm_epsilon", "activation_function", "scale_attn_weights",
    "scale_attn_by_inverse_layer_idx", "tie_word_embeddings",
    # shapes, which the arrays have too
    "n_embd", "n_layer", "n_inner", "n_positions", "n_ctx", "vocab_size",
}  # fmt: skip
# What leaves the function from prompts to logits over the reals as it is: training, generation,
# labels, formats of numbers and of answers.
_HARMLESS = {
    "attn_pdrop", "resid_pdrop", "embd_pdrop", "initializer_range", "use_cache", "dtype",
    "torch_dtype", "transformers_version", "architectures", "task_specific_params",
    "predict_special_tokens",
    "reorder_and_upcast_attn", "gradient_checkpointing", "bos_token_id", "eos_token_id",
    "pad_token_id", "sep_token_id", "decoder_start_token_id", "return_dict", "torchscript",
    "finetuning_task", "id2label", "label2id", "num_labels", "problem_type", "tokenizer_class",
    "prefix", "do_sample", "early_stopping", "max_length", "min_length", "num_beams",
    "num_beam_groups", "num_return_sequences", "temperature", "top_k", "top_p", "typical_p",
    "length_penalty", "repetition_penalty", "diversity_penalty", "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size", "bad_words_ids", "remove_invalid_values",
    "forced_bos_token_id", "forced_eos_token_id", "exponential_decay_length_penalty",
    "suppress_tokens", "begin_suppress_tokens", "chunk_size_feed_forward",
}  # fmt: skip
_BEGIN_HARMLESS = ("_", "summary_", "output_")


def gpt2(config: Mapping[str, Any]) -> dict[str, Any]:
    """The architecture that a configuration of GPT-2 describes."""
    activation = config.get("activation_function", "gelu_new")
    return {
        "heads": config["n_head"],
        "eps": config.get("layer_norm_epsilon", 1e-5),
        "activation": _GELUS.get(str(activation), activation),
        "scale": "1/sqrt(d)" if config.get("scale_attn_weights", True) else 1,
        "by_block": bool(config.get("scale_attn_by_inverse_layer_idx", False)),
        "mask": "causal",
    }


def told_beside(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What config.json beside a file of weights says, and what has to be assumed of it.

    Raises LemmaxError where it describes another model than GPT-2, or says something that may
    change the function and is not known here.
    """
    file = path.parent / "config.json"
    if not file.exists():
        return {}, ()
    data = regular_bytes(file, 2**20)
    try:
        config = json.loads(data)
    except (ValueError, RecursionError):
        raise LemmaxError(f"{file}, which should describe {path.name}, is no JSON.") from None
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind is None:
        return {}, ("config.json, which names no model_type, says nothing of the model",)
    elsewhere = "move the weights elsewhere and say what they are by options"
    if kind != "gpt2":
        raise LemmaxError(
            f"{file} is that of a {kind!r}, and only gpt2 is known here: {elsewhere}."
        )
    if not isinstance(config.get("n_head"), int):
        raise LemmaxError(f"{file} does not say how many heads there are (n_head).")
    for name, value in config.items():
        known = name in _FOLLOWED | _HARMLESS or name.startswith(_BEGIN_HARMLESS)
        if not known and value not in (None, False, {}, []):
            raise LemmaxError(
                f"{file.name} says {name!r}, which may change the model and is not known here: "
                f"{elsewhere}."
            )
    return gpt2(config) | {"tied": bool(config.get("tie_word_embeddings", True))}, ()
