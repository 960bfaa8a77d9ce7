"""The assumptions on real attention, and on any model that is given as arrays."""

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lemmax.cli import app, main
from lemmax.numerics.experiments.statistics import share
from lemmax.numerics.pretrained import minilm
from lemmax.numerics.pretrained.assumptions import (
    AssumptionReport,
    AttentionData,
    check_assumptions,
    dyadic_matrix,
)
from lemmax.numerics.pretrained.judges import judge_raised
from lemmax.numerics.pretrained.minilm import MiniLM, WordPiece, rank_of_balls
from lemmax.numerics.pretrained.reports import (
    ModelReport,
    minilm_report,
    read_arrays,
)
from lemmax.theory import Matrix
from lemmax.theory.errors import LemmaxError

Measure = Callable[..., None]
installed = pytest.mark.skipif(
    find_spec(minilm.PACKAGE) is None, reason="the pretrained model is not installed"
)
DATA = Path(__file__).parents[1] / "data"
TEXT = DATA / "gettysburg.txt"


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="module")
def report(model: MiniLM) -> ModelReport:
    """32 windows of 12 tokens; rank Z of layer 2 is left to the command line, which has time."""
    text = TEXT.read_text(encoding="utf-8")
    return minilm_report(text, n=12, examples=32, stride=6, heads=False, balls=32, model=model)


# --- claims -------------------------------------------------------------------------------------


@installed
@pytest.mark.claim(
    "mahdavi/attention-raises-kruskal", grade="empirical", statement="151c787a865da1f9"
)
def test_attention_raises_kruskal(report: ModelReport, measure: Measure) -> None:
    balls = [report.balls_independent] * report.balls_examples
    measure(
        lambda data: judge_raised(data["layers"], data["independent in real arithmetic"]),
        {"layers": [*report.layers], "independent in real arithmetic": balls},
    )


@installed
def test_kruskal_ranks_are_judged_by_their_bounds(report: ModelReport) -> None:
    before, after = report.layers[:2]
    proved = (True,) * 32

    def verdict(*layers: AssumptionReport, balls: tuple[bool | None, ...] = proved) -> str | None:
        (judgement,) = judge_raised(layers, balls)
        return judgement.verdict

    assert verdict(before, after) == "reproduced"
    assert verdict(before, after, balls=(*proved, None)) is None
    assert verdict(before, after, balls=()) is None
    assert verdict(after, after) == "not-reproduced"
    assert verdict(before, before) == "not-reproduced"
    assert verdict(before, replace(after, kruskal_lower=3)) is None


# --- the model ----------------------------------------------------------------------------------


@installed
def test_first_position_is_the_same_vector_before_attention(report: ModelReport) -> None:
    first = report.layers[0]
    assert (first.distinct_queries, first.kruskal_upper) == (1, 1)
    assert first.assumption_1 is False
    assert first.sampled_share_independent == 0


@installed
def test_balls_enclose_the_floats(model: MiniLM) -> None:
    windows = model.windows(TEXT.read_text(encoding="utf-8"), n=6, count=3, stride=9)
    balls = model.certified_first_layer(windows)
    floats = model.hidden(windows)[1][:, 0]
    for t in range(3):
        for j in range(0, model.d, 7):
            assert float(balls[t, j].rad()) < 1e-25
            assert abs(float(balls[t, j].mid()) - floats[t, j]) < 1e-12
    assert rank_of_balls(balls)
    assert not rank_of_balls(type(balls)([balls.tolist()[0], balls.tolist()[0]]))


@installed
def test_tokenizer_gives_the_known_numbers(model: MiniLM) -> None:
    assert model.tokenizer.ids("Hello, world!") == [7592, 1010, 2088, 999]
    assert model.tokenizer.ids("Café naïveté") == model.tokenizer.ids("cafe naivete")
    pieces = {i: piece for piece, i in model.tokenizer.index.items()}
    assert [pieces[i] for i in model.tokenizer.ids("unaffable")] == ["una", "##ffa", "##ble"]
    assert (model.d, model.d_h, len(model.layers)) == (384, 32, 6)


@installed
@pytest.mark.parametrize(
    ("sentence", "similarity"),
    [
        ("That is a happy dog", 0.695),
        ("That is a very happy person", 0.943),
        ("Today is a sunny day", 0.257),
    ],
)
def test_forward_pass_gives_the_published_similarities(
    sentence: str, similarity: float, model: MiniLM
) -> None:
    """The three similarities to one sentence that the model's public page shows."""

    def embedding(text: str) -> Any:
        first, last = model.tokenizer.index["[CLS]"], model.tokenizer.index["[SEP]"]
        tokens = np.array([[first, *model.tokenizer.ids(text), last]])
        mean = model.hidden(tokens)[-1][0].mean(axis=0)
        return mean / np.linalg.norm(mean)

    cosine = float(embedding("That is a happy person") @ embedding(sentence))
    assert abs(cosine - similarity) < 0.001


@installed
def test_trained_heads_exceed_the_bound_of_the_theorem(model: MiniLM) -> None:
    """Layer 2 on windows of four tokens: rank Z = T = 40 > H(n - 1) + 1 = 37, exactly."""
    text = TEXT.read_text(encoding="utf-8")
    decided = minilm_report(text, n=4, examples=40, stride=3, layers=[2], balls=0, model=model)
    (layer,) = decided.layers
    assert (layer.shared_bound, layer.examples) == (37, 40)
    assert layer.feature_rank_lower == layer.feature_rank_upper == 40
    assert decided.balls_independent is None


@installed
def test_short_text_and_wrong_layers_are_refused(model: MiniLM) -> None:
    with pytest.raises(LemmaxError, match="fewer than one window"):
        model.windows("a few words", n=16)
    with pytest.raises(LemmaxError, match="has 6 layers"):
        minilm_report("word " * 50, n=4, layers=[9], model=model)


def test_word_pieces_without_the_model() -> None:
    pieces = WordPiece(["[UNK]", "so", "##ft", "max", ",", "##max"])
    assert pieces.ids("Soft, softmax zzz") == [1, 2, 4, 1, 2, 5, 0]


def test_missing_model_says_which_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(LemmaxError, match=r"lemmax\[pretrained\]"):
        MiniLM()


# --- arrays -------------------------------------------------------------------------------------


def arrays(T: int = 9, n: int = 3, d: int = 4, seed: int = 0) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    return {
        "toy.contexts": draw.normal(size=(T, n, d)),
        "toy.queries": draw.normal(size=(T, d)),
        "toy.heads.0.W_K": draw.normal(size=(d, 2)),
        "toy.heads.0.W_Q": draw.normal(size=(d, 2)),
        "toy.heads.1.W_K": draw.normal(size=(d, 2)),
        "toy.heads.1.W_Q": draw.normal(size=(d, 2)),
        "toy.scale": np.array("1/sqrt(2)"),
    }


def test_arrays_of_any_model_are_decided(tmp_path: Path) -> None:
    path = tmp_path / "toy.npz"
    np.savez(path, **arrays())
    (data,) = read_arrays(path)
    decided = check_assumptions(data)
    assert decided.assumption_1
    assert decided.assumption_2
    assert (decided.kruskal_lower, decided.repeated_tokens) == (4, 0)
    assert decided.feature_rank_lower == decided.feature_rank_upper == 8  # Hd, below T = 9
    assert decided.shared_bound == 5


def test_equal_queries_and_deficient_contexts_are_seen() -> None:
    made = arrays()
    contexts, queries = made["toy.contexts"], made["toy.queries"]
    queries[4] = 2 * queries[1]
    contexts[2, 1] = contexts[2, 0]
    decided = check_assumptions(AttentionData("toy", contexts, queries))
    assert decided.kruskal_upper == 1
    assert decided.assumption_1 is False
    assert decided.contexts_full_rank == 8
    assert decided.repeated_tokens == 1


def test_more_queries_than_can_be_decided_leave_an_interval() -> None:
    draw = np.random.default_rng(3)
    made = AttentionData("many", draw.normal(size=(90, 3, 24)), draw.normal(size=(90, 24)))
    decided = check_assumptions(made)
    assert 3 <= decided.kruskal_lower < decided.kruskal_upper == 24
    assert decided.assumption_1 is True


def test_floats_are_read_bit_by_bit() -> None:
    values = np.array([[0.1, -(2.0**-140)], [3.5, 0.0]])
    assert dyadic_matrix(values) == Matrix(values.tolist(), floats=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"toy.contexts": np.full((9, 3, 4), np.nan)}, "NaN"),
        ({"toy.contexts": np.zeros((9, 3))}, "three dimensions"),
        ({"toy.queries": np.zeros((8, 4))}, "one query per example"),
        ({"toy.heads.0.W_K": np.full((4, 2), np.inf)}, "NaN or infinity"),
        ({"toy.heads.0.W_K": np.ones((3, 2))}, "Head 1 has"),
        ({"toy.scale": np.array("2")}, "scale is"),
    ],
)
def test_bad_arrays_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, **(arrays() | change))
    with pytest.raises(LemmaxError, match=message):
        check_assumptions(read_arrays(path)[0])


def test_command_on_arrays(tmp_path: Path) -> None:
    path = tmp_path / "toy.npz"
    np.savez(path, **arrays())
    chart = tmp_path / "chart.svg"
    result = CliRunner().invoke(
        app, ["assumptions", "--model", str(path), "--figure", str(chart), "--json"]
    )
    assert result.exit_code == 0, result.output
    (layer,) = json.loads(result.output)["layers"]
    assert layer["assumption_1"] is True
    assert chart.read_text(encoding="utf-8").startswith("<?xml")
    told = CliRunner().invoke(app, ["assumptions", "--model", str(path)])
    assert "Exact facts about the stored floats" in told.output
    assert max(map(len, told.output.splitlines()[:2])) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "gpt"], "minilm"),
        (["--model", "minilm"], "--text"),
        (["--model", "minilm", "--text", "no-such-file"], "no-such-file cannot be read"),
        (["--model", "no-such-file.npz"], "no-such-file.npz cannot be read"),
    ],
)
def test_command_refuses_bad_input(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["assumptions", *arguments])
    assert caught.value.code == 2
    told = capsys.readouterr().err
    assert message in told
    assert len(told.strip().splitlines()) == 1


def test_confidence_interval_of_a_share() -> None:
    interval = share(5, 10)
    assert (round(interval.low, 3), round(interval.high, 3)) == (0.187, 0.813)
    assert share(0, 10).low == 0
