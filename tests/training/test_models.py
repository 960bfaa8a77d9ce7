"""Modules and their exact twins: weights travel both ways, trained facts are certified."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

pytest.importorskip("torch", reason="the models are torch modules")
pytest.importorskip("numba", reason="one test fine-tunes with the compiled engine")

import torch

from lemmax.checker import check
from lemmax.numerics.engines.trained import train
from lemmax.numerics.training.configurations import Dana, Mahdavi, RandomDatabase, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.models import AoTModel, MultiHeadModel, WongLayer, model_of
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.twins.certify import certify_layer
from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head
from lemmax.theory.wong.memorization import memorizes

pytestmark = pytest.mark.training

FACTS = ((0, 3, 5), (0, 4, 6), (1, 3, 6), (1, 4, 5), (2, 3, 5), (2, 4, 5))


def _wong(steps: int = 600, dtype: str = "float32") -> WongLayer:
    job = Job(Wong(4, 3, 2, 2, FACTS), 1)
    (result,) = train([job], recipe("wong-guess").changed(steps=steps, dtype=dtype), "torch")
    return cast(WongLayer, result.model())


def test_the_layer_and_its_exact_twin_have_the_same_logits() -> None:
    layer = _wong(steps=50, dtype="float64")
    exact = layer.to_exact()
    logits = layer(torch.tensor(FACTS)[:, :2]).detach().numpy()
    for fact, rows in zip(FACTS, logits, strict=True):
        balls = exact.logits(fact[:2])
        for i in range(2):
            for t in range(exact.W_U.shape[1]):
                assert abs(float(balls[i, t].mid()) - rows[i, t]) < 1e-12


def test_trained_facts_are_certified_after_rounding() -> None:
    layer = _wong()
    names = [f"token {n}" for n in range(7)]
    exact = layer.to_exact(names, denominator=1 << 10)
    facts = [tuple(names[n] for n in fact) for fact in FACTS]
    found = memorizes(exact, cast(Any, facts), tau="9/10")
    assert found.holds
    assert check(found.certificate()).holds


def test_an_exact_layer_is_loaded_fine_tuned_and_its_padding_stays_zero() -> None:
    one, two = Matrix([[1], [1]]), Matrix([[1, 0], [0, 1]])
    narrow = Head(Matrix([[1], [2]]), Matrix([[1, 0]]), one, one.T)
    wide = Head(two, two, two, Matrix([[1, 0], [1, 1]]))
    layer = AttentionLayer(
        ("a", "b", "q", "x", "y"),
        Matrix([[1, 0], [0, 1], [1, 1], [2, 1], [1, 3]]),
        Matrix([[1, 0, 1, 2, 0], [0, 1, 0, 1, 2]]),
        (narrow, wide),
    )
    facts = [("a", "q", "x"), ("b", "q", "y")]
    module = WongLayer.from_exact(layer, facts)
    pair = torch.tensor([[0, 2], [1, 2]])
    theirs = cast(Any, layer.to_torch())(pair)
    assert torch.allclose(module(pair), theirs, atol=1e-12)
    assert module.to_exact(layer.tokens).W_EU == layer.W_EU

    job = Job(module.config, 1)
    chosen = recipe("wong-guess").changed(steps=200, dtype="float64")
    for backend in ("reference", "torch", "numba"):
        (result,) = train([job], chosen, backend, initial=[module.arrays()])
        assert result.measured.accuracy == 1.0
        assert np.count_nonzero(result.weights["W_Q"][0, :, 1:]) == 0
        assert np.count_nonzero(result.weights["W_O"][0, 1:]) == 0
        tuned = cast(WongLayer, result.model()).to_exact(layer.tokens)
        assert memorizes(tuned, facts).holds


def test_a_layer_whose_last_token_is_in_no_fact_is_refused() -> None:
    layer = AttentionLayer(("a", "b", "c"), Matrix([[1], [2], [3]]), Matrix([[1, 2, 3]]))
    with pytest.raises(LemmaxError, match="occurs in no fact"):
        WongLayer.from_exact(layer, [("a", "b", "a")])


@pytest.mark.parametrize(("maps", "d_h"), [("per-head", 2), ("shared", 2), ("direct", 3)])
def test_the_transformer_and_its_exact_twin_have_the_same_logits(maps: Any, d_h: int) -> None:
    job = Job(Dana(N=4, d=3, d_h=d_h, H=2, maps=maps), 2)
    (result,) = train([job], recipe("dana-full").changed(steps=60, dtype="float64"), "torch")
    model = cast(AoTModel, result.model())
    sequences, _ = cast(Dana, job.config).data()
    logits = model(torch.from_numpy(sequences)).detach().numpy()
    balls = model.to_exact().logits([tuple(int(x) for x in t) for t in sequences])
    for row, exact in zip(logits, balls, strict=True):
        assert [float(x.mid()) for x in exact] == pytest.approx(row, abs=1e-10)


def test_trained_associations_are_certified_and_a_loaded_transformer_keeps_them() -> None:
    job = Job(Dana(N=4, d=4, d_h=3, H=4, maps="per-head"), 1)
    (result,) = train([job], recipe("dana-full").changed(steps=800), "torch")
    sequences, targets = cast(Dana, job.config).data()
    pairs: dict[tuple[Any, ...], Any] = {
        tuple(int(x) for x in t): int(y) for t, y in zip(sequences, targets, strict=True)
    }
    exact = cast(AoTModel, result.model()).to_exact(denominator=1 << 12)
    assert exact.memorizes(pairs)
    loaded = AoTModel.from_exact(exact, pairs)
    assert (loaded(torch.from_numpy(sequences)).argmax(-1).numpy() == targets).all()
    (again,) = train(
        [Job(loaded.config, 1)],
        recipe("dana-full").changed(steps=5, learning_rate=1e-6),
        "numba",
        initial=[loaded.arrays()],
    )
    assert again.measured.accuracy == 1.0


def test_an_mlp_has_no_exact_twin() -> None:
    job = Job(Dana(N=3, d=2, d_h=2, H=1, width=3), 1)
    model = model_of(job.config, job.initial(recipe("dana-full")))
    with pytest.raises(LemmaxError, match="GELU"):
        cast(AoTModel, model).to_exact()


@pytest.mark.parametrize("embedding", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_the_multi_head_layer_and_its_exact_twin_have_the_same_outputs(
    embedding: bool, shared: bool
) -> None:
    config = Mahdavi(4, 3, 2, 5, classes=3, d_h=2, shared_context=shared, embedding=embedding)
    (result,) = train([Job(config, 1)], recipe("mahdavi-full").changed(steps=40), "torch")
    model = cast(MultiHeadModel, result.model()).double()
    queries, contexts, _ = config.data()
    outputs = model(torch.from_numpy(queries), torch.from_numpy(contexts)).detach().numpy()
    exact = model.to_exact(queries, contexts)
    balls = exact.outputs()
    for t in range(5):
        for y in range(3):
            assert float(balls[t, y].mid()) == pytest.approx(outputs[t, y], abs=1e-11)
    if not embedding:
        loaded = MultiHeadModel.from_exact(_without_constant(model, queries, contexts))
        again = loaded(torch.from_numpy(queries), torch.from_numpy(contexts)).detach().numpy()
        assert again == pytest.approx(outputs, abs=1e-11)


def _without_constant(model: MultiHeadModel, queries: Any, contexts: Any) -> Any:
    """The exact twin on bare tokens, as a construction would give it."""
    from lemmax.theory.mahdavi.layer import ContextHead, multi_head

    w = model.arrays()
    heads = [
        ContextHead(
            Matrix(w["W_K"][h], floats=True),
            Matrix(w["W_Q"][h], floats=True),
            Matrix(w["W_V"][h], floats=True),
            Matrix(w["W_O"][h] @ w["W_D"], floats=True),
        )
        for h in range(model.config.H)
    ]
    data = contexts[0] if len(contexts) == 1 else list(contexts)
    return multi_head(data, queries, heads, f"1/sqrt({model.config.d})", floats=True)


def test_weights_of_a_wrong_shape_are_refused() -> None:
    job = Job(Wong(2, 1, 1, 1, RandomDatabase(0, 9)), 1)
    weights = job.initial(recipe("wong-guess")) | {"W_O": np.zeros((1, 2, 2))}
    with pytest.raises(ShapeError, match="W_O has shape"):
        model_of(job.config, weights)


def test_a_state_dict_and_its_file_are_certified_alike(tmp_path: Path) -> None:
    facts = ((0, 2, 3), (1, 2, 4), (0, 5, 4))
    job = Job(Wong(3, 1, 1, 2, facts), 1)
    (trained,) = train([job], recipe("wong-guess").changed(steps=300), "reference")
    module = trained.model()
    torch.save(module.state_dict(), tmp_path / "layer.pt")
    found = certify_layer(module.state_dict(), facts)
    assert found.known == facts
    assert certify_layer(tmp_path / "layer.pt", facts).layer == found.layer
    assert isinstance(module, WongLayer)
    assert module.to_exact() == found.layer
