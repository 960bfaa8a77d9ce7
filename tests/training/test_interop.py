"""Layers opened in TransformerLens answer as they do here.

The package is in the extra ``interop``, which ``make test`` installs. Without it the tests are
skipped, and say so; where CI is set they fail instead.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import pytest
import torch

from lemmax.constructions import compile_database
from lemmax.numerics.engines.trained import train
from lemmax.numerics.training.configurations import Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.models import WongLayer
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.twins.transformer_lens import to_transformer_lens
from lemmax.theory import AttentionLayer, Database, Matrix
from lemmax.theory.errors import LemmaxError

ONE_HEAD = Database.from_triples(
    [(f"k{i}", f"q{j}", f"v{(3 * i + j) % 5}") for i in range(4) for j in range(4)]
)
TWO_HEADS = Database.from_triples(
    [("a", "a", "same"), ("b", "b", "same"), ("a", "b", "other"), ("b", "a", "other")]
)


@pytest.fixture
def lens() -> None:
    """The real package."""
    if find_spec("transformer_lens") is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("TransformerLens is not installed: it is in the extra interop")


@pytest.mark.usefixtures("lens")
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("db", [ONE_HEAD, TWO_HEADS], ids=["one head", "two heads"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_logits_and_patterns_agree(db: Database, precision: str) -> None:
    dtype = getattr(torch, precision)
    compiled = compile_database(db)
    layer = compiled.layer
    index = {token: i for i, token in enumerate(layer.tokens)}
    asked = torch.tensor([[index[k], index[q]] for k, q, _ in db])
    bridge = to_transformer_lens(layer, dtype=dtype)
    with torch.no_grad():
        theirs, cache = bridge.run_with_cache(asked)
        ours = layer.to_torch(dtype)(asked)
    assert theirs.dtype == dtype
    scale = ours.abs().max()
    assert (theirs - ours).abs().max() <= 64 * torch.finfo(dtype).eps * scale
    answers = [layer.tokens[i] for i in theirs[:, -1].argmax(-1)]
    assert answers == [v for _, _, v in db]
    pattern = cache["blocks.0.attn.hook_pattern"]
    exact = layer.attention(tuple(next(iter(db))[:2]))
    for h, head in enumerate(exact):
        for j in range(2):
            assert abs(float(pattern[0, h, 1, j]) - float(head[1, j])) < 1e-4


def test_without_transformer_lens_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformer_lens", None)
    with pytest.raises(LemmaxError, match=r"lemmax\[interop\]"):
        to_transformer_lens(compile_database(TWO_HEADS).layer)


@pytest.mark.usefixtures("lens")
@pytest.mark.filterwarnings("default")
def test_a_trained_layer_opens_too() -> None:
    """Two heads whose query and value dimensions differ, so that both are padded."""
    facts = tuple((i, 4 + j, 6 + (i + j) % 3) for i in range(4) for j in range(2))
    job = Job(Wong(d_model=3, d_vo=2, d_qk=1, heads=2, database=facts))
    short = recipe("wong-guess").changed(steps=60, dtype="float64")
    (trained,) = train([job], short, backend="reference")
    module = trained.model()
    assert isinstance(module, WongLayer)
    asked = torch.tensor([[k, q] for k, q, _ in facts])
    with torch.no_grad():
        theirs = to_transformer_lens(module.to_exact())(asked)
        ours = module(asked)
    assert theirs.shape == ours.shape
    assert (theirs - ours).abs().max() <= 64 * torch.finfo(torch.float64).eps * ours.abs().max()


@pytest.mark.usefixtures("lens")
@pytest.mark.filterwarnings("default")
def test_a_layer_without_heads_is_refused() -> None:
    layer = AttentionLayer(("a", "b"), Matrix([[1], [2]]), Matrix([[1, 2]]), ())
    with pytest.raises(LemmaxError, match="without heads"):
        to_transformer_lens(layer)
