"""lemmax certify: a file of weights and a table of facts in, margins and a certificate out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lemmax import checker
from lemmax.cli import main
from lemmax.numerics.certifying.architecture import Architecture
from lemmax.numerics.certifying.reading import read_transformer

WORDS = ["<s>", "Rome", "Oslo", "capital-of", "Italy", "Norway"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A random model of one layer and an MLP, its tokens, and two facts of which it says one."""
    rng = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {"W_E": (6, 4), "W_U": (4, 6)}
    shapes |= {f"blocks.0.attn.W_{x}": (2, 4, 3) for x in "QKV"}
    shapes |= {"blocks.0.attn.W_O": (2, 3, 4), "blocks.0.mlp.W_in": (4, 5)}
    shapes |= {"blocks.0.mlp.W_out": (5, 4)}
    arrays: dict[str, Any] = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    np.savez(tmp_path / "model.npz", allow_pickle=False, **arrays)
    (tmp_path / "tokens.txt").write_text("\n".join(WORDS), encoding="utf-8")
    model = read_transformer(arrays, Architecture(activation="relu", norm="none"))
    said = WORDS[int(model.float_logits([[0, 1, 3]])[0].argmax())]
    other = WORDS[int(model.float_logits([[0, 2, 3]])[0].argmin())]
    rows = ["subject,predicate,object", f"Rome,capital-of,{said}", f"Oslo,capital-of,{other}"]
    (tmp_path / "facts.csv").write_text("\n".join(rows), encoding="utf-8")
    pairs = ["prompt,answer", f"<s> Rome capital-of,{said}"]
    (tmp_path / "prompts.csv").write_text("\n".join(pairs), encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str, facts: str = "facts.csv", status: int = 0) -> None:
    words = [str(folder / "model.npz"), str(folder / facts), "--tokens", str(folder / "tokens.txt")]
    words += ["--norm", "none"]
    with pytest.raises(SystemExit) as ended:
        main(["certify", *words, *arguments])
    assert ended.value.code == status


PROMPT = ("--prompt", "<s> {subject} {predicate}", "--activation", "relu")


def test_json_certificate_and_figure(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate, figure = files / "out.json", files / "margins.svg"
    run(files, *PROMPT, "--json", "-o", str(certificate), "--figure", str(figure))
    told = json.loads(capsys.readouterr().out)
    assert (told["facts"], told["known"], told["share"]) == (2, 1, 0.5)
    assert [o["known"] for o in told["outcomes"]] == [True, False]
    assert told["outcomes"][0]["margin"] == told["least_margin"] > 0 > told["outcomes"][1]["margin"]
    assert "has the larger logit" in told["outcomes"][1]["reason"]
    assert told["written"] == [str(certificate), str(figure)]
    assert checker.check_file(certificate).holds
    drawn = figure.read_text(encoding="utf-8")
    assert "certified: 1" in drawn
    assert "not known: 1" in drawn


def test_words_say_what_the_model_is_taken_to_be(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(files, *PROMPT, "--scale", "1/2")
    out = capsys.readouterr().out
    assert "attention, 2 heads of width 3, scale 1/2" in out
    assert "MLP of width 5, relu" in out
    assert "Oslo capital-of" in out
    assert "1 of 2 facts certified; the least margin is" in out
    run(files, "--activation", "relu", facts="prompts.csv")
    assert "1 of 1 fact certified" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--prompt", "<s> {subject}"), "Which activation has the MLP?"),
        ((*PROMPT, "-o", "out.txt"), "a certificate is written as .json"),
        ((*PROMPT, "--figure", "out.txt"), "a figure is written as .svg"),
        ((*PROMPT, "--margin", "-1"), "margin is a positive number"),
        ((*PROMPT, "--ignore", "b_U"), "no array is called 'b_U'"),
        (("--prompt", "<z> {subject}", "--activation", "relu"), "no token '<z>'"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    before = sorted(files.iterdir())
    run(files, *arguments, status=2)
    assert sentence in capsys.readouterr().err
    assert sorted(files.iterdir()) == before
