"""Torch modules, their files and TransformerLens bridges, certified as they are."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from lemmax import checker
from lemmax.numerics import certify
from lemmax.theory.errors import LemmaxError

PROMPTS = [[1, 2], [3, 4, 5], [0, 1, 2], [7, 7, 7], [9, 0, 3, 4]]


class Encoder(nn.Module):
    """What one writes with torch.nn alone: two layers, learned positions, a causal mask."""

    def __init__(self, norm_first: bool, causal: bool = True) -> None:
        super().__init__()
        self.causal = causal
        self.embed, self.pos_emb = nn.Embedding(11, 8), nn.Embedding(6, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=norm_first)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(8, 11)

    def forward(self, tokens: Tensor) -> Tensor:
        n = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(n) if self.causal else None
        x = self.embed(tokens) + self.pos_emb(torch.arange(n))
        logits: Tensor = self.head(self.encoder(x, mask=mask))
        return logits


def answered(module: Any) -> list[tuple[list[int], int]]:
    """The prompts, with what the module says after each."""
    module.eval()
    with torch.no_grad():
        said = [module(torch.tensor([p])) for p in PROMPTS]
    return [
        (p, int(getattr(z, "logits", z)[0, -1].argmax()))
        for p, z in zip(PROMPTS, said, strict=True)
    ]


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_module_of_torch_says_what_it_is(norm_first: bool) -> None:
    torch.manual_seed(1)
    module = Encoder(norm_first)
    facts = answered(module)
    result = certify(module, facts)
    assert result.share == 1
    assert checker.check(result.certificate()).holds
    assert len(result.model.steps) == (4 if norm_first else 8)
    assert "MLP of width 16, relu" in result.model.summary()
    with pytest.raises(LemmaxError, match=r"other logits than the model that its weights were"):
        certify(module, facts, activation="gelu")
    with pytest.raises(LemmaxError, match="other logits"):
        certify(module, facts, norm_first=not norm_first)


def test_a_mask_that_the_arrays_do_not_show_is_noticed() -> None:
    torch.manual_seed(1)
    module = Encoder(True, causal=False)
    facts = answered(module)
    with pytest.raises(LemmaxError, match="other logits"):
        certify(module, facts)
    assert certify(module, facts, mask="none").share == 1


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_files_of_short_floats_are_read_exactly(dtype: torch.dtype, tmp_path: Path) -> None:
    torch.manual_seed(2)
    module = Encoder(True).to(dtype)
    save_file(module.state_dict(), tmp_path / "model.safetensors")
    options: dict[str, Any] = {"heads": 2, "activation": "relu", "norm_first": True, "mask": "none"}
    facts = [(p, 3) for p in PROMPTS]
    from_file = certify(tmp_path / "model.safetensors", facts, **options)
    assert from_file.outcomes == certify(module.state_dict(), facts, **options).outcomes
    for name in options:
        rest = {key: value for key, value in options.items() if key != name}
        with pytest.raises(LemmaxError, match=name.partition("_")[0]):
            certify(tmp_path / "model.safetensors", facts, **rest)


@pytest.fixture
def lens() -> Any:
    """The real package."""
    if find_spec("transformer_lens") is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("TransformerLens is not installed: it is in the extra interop")
    import transformer_lens

    return transformer_lens


def bridge(lens: Any, **changed: Any) -> Any:
    shape = {"d_model": 8, "d_head": 4, "n_heads": 2, "n_layers": 2, "n_ctx": 5, "d_vocab": 11}
    options = {"d_mlp": 16, "normalization_type": "LN", "act_fn": "gelu", "seed": 3}
    positions = {"positional_embedding_type": "standard"}
    config = lens.TransformerBridgeConfig(**(shape | options | positions | changed))
    made = lens.TransformerBridge.boot_native(config, device="cpu")
    torch.manual_seed(4)
    with torch.no_grad():
        for parameter in made.original_model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return made


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"normalization_type": "RMS", "act_fn": "gelu_new", "eps": 1e-3},
        {"normalization_type": "LNPre", "act_fn": "relu"},
        {"normalization_type": None, "attn_only": True},
    ],
    ids=["LN gelu", "RMS gelu_new", "LNPre relu", "attention only"],
)
def test_a_bridge_says_its_architecture_itself(lens: Any, changed: dict[str, Any]) -> None:
    model = bridge(lens, **changed)
    result = certify(model, answered(model))
    assert result.share == 1
    assert checker.check(result.certificate()).holds


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"positional_embedding_type": "rotary"}, "rotary positions"),
        ({"gated_mlp": True, "act_fn": "silu"}, "gated MLPs"),
        ({"act_fn": "solu_ln"}, "activation solu_ln"),
        ({"n_key_value_heads": 1}, "grouped queries"),
        ({"output_logits_soft_cap": 5.0}, "capped logits"),
    ],
)
def test_operations_that_are_not_certified_are_named(
    lens: Any, changed: dict[str, Any], what: str
) -> None:
    with pytest.raises(LemmaxError, match=f"has the {what}|has {what}"):
        certify(bridge(lens, **changed), [([1, 2], 3)])


@pytest.mark.filterwarnings("default")
def test_gpt_2_is_read_from_its_module_and_from_its_bridge(lens: Any, tmp_path: Path) -> None:
    """Its maps stand the other way round than those of torch: a bridge turns them."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=11, n_positions=6, n_embd=8, n_layer=2, n_head=2)
    torch.manual_seed(0)
    module = GPT2LMHeadModel(config)
    facts = answered(module)
    result = certify(module, facts)
    assert result.share == 1
    assert checker.check(result.certificate()).holds
    module.save_pretrained(tmp_path)
    from_file = certify(tmp_path / "model.safetensors", facts)  # config.json says the rest
    assert [o.low for o in from_file.outcomes] == [o.low for o in result.outcomes]
    assert from_file.model.tied
    (tmp_path / "config.json").unlink()
    with pytest.raises(LemmaxError, match="How many heads"):
        certify(tmp_path / "model.safetensors", facts)
    module.config.save_pretrained(tmp_path)
    made = lens.TransformerBridge.boot_transformers(str(tmp_path), hf_model=module, device="cpu")
    assert [o.low for o in certify(made, facts).outcomes] == [o.low for o in result.outcomes]
