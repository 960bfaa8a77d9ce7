"""Models that look like another one: each is told apart, asked about or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from lemmax import checker
from lemmax.numerics import CertifiedShare, certify
from lemmax.theory.errors import LemmaxError

PROMPTS = [[a, b] for a in range(6) for b in range(11)]


class Encoder(nn.Module):
    """Torch's encoder with two layers and a norm of its own at the end."""

    def __init__(self, causal: bool = True, last_eps: float = 1e-5) -> None:
        super().__init__()
        self.causal = causal
        self.embed, self.pos_emb = nn.Embedding(11, 8), nn.Embedding(6, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)
        last = nn.LayerNorm(8, eps=last_eps)
        self.encoder = nn.TransformerEncoder(layer, 2, last, enable_nested_tensor=False)
        self.head = nn.Linear(8, 11)

    def forward(self, tokens: Tensor) -> Tensor:
        n = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(n) if self.causal else None
        x = self.embed(tokens) + self.pos_emb(torch.arange(n))
        logits: Tensor = self.head(self.encoder(x, mask=mask))
        return logits


def in_doubles(module: Any) -> Tensor:
    """The module's logits after each prompt, in float64; its weights stay what they were."""
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            logits = module.double().eval()(torch.tensor(PROMPTS))
    finally:
        torch.set_default_dtype(torch.float32)
    last: Tensor = getattr(logits, "logits", logits)[:, -1]
    return last


def answered(module: Any) -> list[tuple[list[int], int]]:
    return [(p, int(z.argmax())) for p, z in zip(PROMPTS, in_doubles(module), strict=True)]


def made(seed: int = 1, **options: Any) -> Encoder:
    torch.manual_seed(seed)
    return Encoder(**options)


@pytest.mark.parametrize("exact", [None, 1])
def test_the_callback_compares_a_module_with_its_reading(exact: int | None) -> None:
    """An encoder without a mask is read as one with a mask: the callback refuses it as well."""
    facts = answered(made(causal=False))
    with pytest.raises(LemmaxError, match="other logits"):
        CertifiedShare(facts, exact=exact)(0, made(causal=False))
    seen = CertifiedShare(facts, exact=exact, mask="none")(0, made(causal=False))
    assert seen is not None
    assert seen.accuracy == seen.bounded == 1


def test_the_callback_notices_a_module_that_becomes_another() -> None:
    module = made()
    watch = CertifiedShare(answered(made()))
    assert watch(0, module) is not None
    module.causal = False
    with pytest.raises(LemmaxError, match="other logits"):
        watch(1, module)


def test_every_norm_has_its_own_eps() -> None:
    """With one eps for all, every margin would be another model's."""
    module = made(last_eps=1e-3)
    facts = answered(made(last_eps=1e-3))
    result = certify(module, facts)
    assert [step["eps"] for step in result.model.steps] == ["1/100000"] * 4 + ["1/1000"]
    assert result.share == 1
    for outcome, row in zip(result.outcomes, in_doubles(module), strict=True):
        lead = row[outcome.answer] - max(z for i, z in enumerate(row) if i != outcome.answer)
        assert outcome.low is not None
        assert float(outcome.low) == pytest.approx(float(lead), abs=1e-12)


def test_modules_are_compared_in_float64() -> None:
    """A difference that rounding to float32 would hide, in one of 66 prompts, is still another."""

    class Slightly(Encoder):
        def forward(self, tokens: Tensor) -> Tensor:
            odd = (tokens[:, -1:] == 7) & (tokens[:, :1] == 3)
            return super().forward(tokens) * (1 + 1e-6 * odd[..., None])

    torch.manual_seed(1)
    module = Slightly()
    with pytest.raises(LemmaxError, match=r"after \[3, 7\] they differ by"):
        certify(module, answered(made()))


def test_norms_without_arrays_are_told_by_a_module() -> None:
    class Bare(Encoder):
        def __init__(self) -> None:
            super().__init__()
            self.encoder.norm = nn.LayerNorm(8, eps=1e-2, elementwise_affine=False)

    torch.manual_seed(1)
    module = Bare()
    torch.manual_seed(1)
    result = certify(module, answered(Bare()))
    assert result.share == 1
    assert [step["norm"] for step in result.model.steps] == ["layer"] * 5
    assert result.model.steps[-1]["eps"] == "1/100"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_module_is_left_as_it_was(dtype: torch.dtype) -> None:
    """Refused or not: its weights, its mode, and the numbers that torch makes."""
    module = made(causal=False).to(dtype)
    module.embed.max_norm = 0.5  # torch shortens rows in place, when it looks them up
    before = {name: value.clone() for name, value in module.state_dict().items()}
    facts = answered(made())
    with pytest.raises(LemmaxError, match="other logits") as refused:
        certify(module, facts)
    assert refused.traceback  # which keeps every frame alive
    assert torch.ones(1).double().float().dtype == torch.zeros(1).dtype == torch.float32
    assert module.training
    for name, value in module.state_dict().items():
        assert value.dtype == dtype
        assert torch.equal(value, before[name])


def test_positions_that_are_not_saved_are_read_off_the_module() -> None:
    """The usual table in float32, which every program rounds in its own way, as a buffer."""

    class Table(nn.Module):
        pe: Tensor

        def __init__(self) -> None:
            super().__init__()
            angles = torch.arange(6)[:, None] * torch.exp(-2.3 * torch.arange(4))
            table = torch.stack((angles.sin(), angles.cos()), -1).reshape(6, 1, 8)
            self.register_buffer("pe", table, persistent=False)
            self.register_buffer("odd", table[:2], persistent=False)  # of no use to anyone

        def forward(self, n: Tensor) -> Tensor:
            return self.pe[n, 0]

    def module() -> Encoder:
        made_so = made()
        made_so.pos_emb = Table()  # type: ignore[assignment]
        return made_so

    result = certify(module(), answered(module()))
    assert result.share == 1
    assert result.model.places == 6
    with pytest.raises(LemmaxError, match="mask="):
        certify(module().state_dict(), [([0, 1], 2)])


def test_a_module_that_cannot_be_run_is_not_certified() -> None:
    class Choosy(Encoder):
        def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
            assert mask is not None
            return super().forward(tokens)

    with pytest.raises(LemmaxError, match="cannot be run in float64 on tokens alone"):
        certify(Choosy(), [([0, 1], 2)])


def test_formats_on_the_way_are_no_other_model() -> None:
    """A norm that is computed in float32, as many are, is the same function over the reals."""

    class Upcast(Encoder):
        def forward(self, tokens: Tensor) -> Tensor:
            n = tokens.shape[1]
            x = (self.embed(tokens) + self.pos_emb(torch.arange(n))).to(torch.float32)
            mask = nn.Transformer.generate_square_subsequent_mask(n, dtype=torch.float32)
            logits: Tensor = self.head(self.encoder(x, mask=mask))
            return logits

    torch.manual_seed(1)
    assert certify(Upcast(), answered(made())).share == 1


def gpt2(folder: Path, **options: Any) -> list[tuple[list[int], int]]:
    """A random GPT-2 in a folder, as transformers saves it; what it says after the prompts."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=11,
        n_positions=6,
        n_embd=8,
        n_layer=3,
        n_head=2,
        initializer_range=1.0,
        **options,
    )
    module = transformers.GPT2LMHeadModel(config)
    module.save_pretrained(folder)
    return answered(module)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "options",
    [
        {"scale_attn_weights": False},
        {"scale_attn_by_inverse_layer_idx": True},
        {"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True},
        {"layer_norm_epsilon": 0.1},
        {},
    ],
    ids=["unscaled", "by layer", "both", "eps", "as usual"],
)
def test_the_configuration_of_gpt_2_is_followed(options: dict[str, Any], tmp_path: Path) -> None:
    facts = gpt2(tmp_path, **options)
    result = certify(tmp_path / "model.safetensors", facts)
    assert result.share == 1
    assert not result.model.assumed
    assert checker.check(result.certificate()).holds


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"rope_theta": 1e4}, "config.json says 'rope_theta'"),
        ({"add_cross_attention": True}, "'add_cross_attention'"),
        ({"model_type": "bloom"}, "of a 'bloom'"),
        ({"activation_function": "tanh"}, "activation is one of"),
        ({"tie_word_embeddings": False}, "lack W_U"),
        (None, "is no JSON"),
    ],
)
def test_what_a_configuration_says_and_nobody_knows_is_refused(
    changed: dict[str, Any] | None, sentence: str, tmp_path: Path
) -> None:
    facts = gpt2(tmp_path)
    file = tmp_path / "config.json"
    config = json.loads(file.read_text(encoding="utf-8"))
    text = "{" if changed is None else json.dumps(config | changed)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LemmaxError, match=sentence):
        certify(tmp_path / "model.safetensors", facts)


@pytest.mark.filterwarnings("default")
def test_an_array_that_is_stored_twice_is_counted_once() -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(vocab_size=11, n_positions=6, n_embd=8, n_layer=1, n_head=2)
    module = transformers.GPT2LMHeadModel(config)
    result = certify(module, [([1, 2], 3)])
    assert result.model.tied
    assert result.model.parameters == sum(p.numel() for p in module.parameters())
    encoder = made()
    encoder.head.weight = encoder.embed.weight
    assert certify(encoder, [([1, 2], 3)]).model.parameters == sum(
        p.numel() for p in encoder.parameters()
    )


def test_where_norms_stand_is_not_asked_without_norms() -> None:
    arrays = {n: a for n, a in made().state_dict().items() if "norm" not in n}
    said: dict[str, Any] = {"heads": 2, "activation": "relu", "mask": "none"}
    model = certify(arrays, [([1, 2], 3)], norm="none", **said).model
    assert [step["norm"] for step in model.steps] == ["none"] * 4
    with pytest.raises(LemmaxError, match="norm_first=True or norm_first=False"):
        certify(arrays, [([1, 2], 3)], norm="layer", **said)
    assert (
        len(certify(arrays, [([1, 2], 3)], norm="layer", norm_first=False, **said).model.steps) == 8
    )


def bare(seed: int = 0) -> dict[str, Any]:
    """TransformerLens' names, without arrays of norms: none, or folded away."""
    rng = np.random.default_rng(seed)
    arrays = {"embed.W_E": rng.normal(size=(11, 8)), "unembed.W_U": rng.normal(size=(8, 11))}
    arrays |= {f"blocks.0.attn.W_{x}": rng.normal(size=(2, 8, 4)) for x in "QKV"}
    return arrays | {"blocks.0.attn.W_O": rng.normal(size=(2, 4, 8))}


def test_norms_without_arrays_are_asked_for() -> None:
    """Weights with a LayerNorm folded into them look like weights without a norm."""
    facts = [(p, 3) for p in PROMPTS]
    with pytest.raises(LemmaxError, match=r"no arrays of norms.*norm='none'.*norm='layer'"):
        certify(bare(), facts)
    none, folded = (certify(bare(), facts, norm=kind) for kind in ("none", "layer"))
    assert none.known != folded.known
    assert len(folded.model.steps) == 2
    assert "assumed: scale 1/sqrt(d), eps 1/100000" in folded.model.summary()


def test_the_mask_of_a_file_of_torch_is_asked_for(tmp_path: Path) -> None:
    """Torch's encoder has no mask unless it is called with one, which no array shows."""
    module = made(6, causal=False)
    file = tmp_path / "model.safetensors"
    save_file(module.state_dict(), file)
    facts = answered(made(6, causal=False))
    said: dict[str, Any] = {"heads": 2, "activation": "relu", "norm_first": True}
    with pytest.raises(LemmaxError, match="mask='causal' or mask='none'"):
        certify(file, facts, **said)
    result = certify(file, facts, mask="none", **said)
    assert result.share == 1
    assert certify(file, facts, mask="causal", **said).share < 1
    assert result.model.assumed == ("eps 1/100000",)
    assert result.certificate()["note"] == "Assumed, since no array says it: eps 1/100000."
    assert not certify(file, facts, mask="none", eps="1e-5", **said).model.assumed
    assert certify(module, facts, mask="none").model.assumed == ()
