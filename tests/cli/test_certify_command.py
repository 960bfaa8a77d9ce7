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


def test_what_is_assumed_is_said_and_written(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(files, *PROMPT, "--json", "-o", str(files / "out.json"))
    assert json.loads(capsys.readouterr().out)["assumed"] == ["scale 1/sqrt(d)", "no positions"]
    note = json.loads((files / "out.json").read_text(encoding="utf-8"))["note"]
    assert note == "Assumed, since no array says it: scale 1/sqrt(d), no positions."
    run(files, *PROMPT)
    assert "assumed: scale 1/sqrt(d), no positions" in capsys.readouterr().out
    run(files, *PROMPT, "--scale", "1/sqrt(d)", "--no-sinusoidal")
    assert "assumed" not in capsys.readouterr().out


def test_arrays_with_names_of_ones_own(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with np.load(files / "model.npz") as stored:
        own: dict[str, Any] = {n.replace("blocks.0", "part.0"): stored[n] for n in stored.files}
    np.savez(files / "model.npz", allow_pickle=False, **own)
    run(files, *PROMPT, status=2)
    told = capsys.readouterr().err
    assert "say what it is with --names, or leave it out with --ignore" in told
    names = {f"part.*.attn.W_{x}": f"blocks.*.attn.W_{x}" for x in "QKVO"}
    names |= {f"part.*.mlp.W_{x}": f"blocks.*.mlp.W_{x}" for x in ("in", "out")}
    table = files / "names.json"
    table.write_text(json.dumps(names), encoding="utf-8")
    run(files, *PROMPT, "--names", str(table))
    assert "1 of 2 facts certified" in capsys.readouterr().out
    for text in ("[1]", "{", '{"part.*.attn.W_Q": 3}'):
        table.write_text(text, encoding="utf-8")
        run(files, *PROMPT, "--names", str(table), status=2)
        assert "names.json is not a JSON object of names" in capsys.readouterr().err


def test_questions_are_asked_in_the_words_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answering one question after the other, with what it says, ends with a result."""
    rng = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {"embed.weight": (6, 4)}
    for at in ("layers.0", "layers.1"):
        shapes |= {f"{at}.self_attn.in_proj_weight": (12, 4), f"{at}.linear1.weight": (5, 4)}
        shapes |= {f"{at}.self_attn.out_proj.weight": (4, 4), f"{at}.linear2.weight": (4, 5)}
        shapes |= {f"{at}.norm1.weight": (4,), f"{at}.norm2.weight": (4,)}
    arrays: dict[str, Any] = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    model, facts, tokens = (tmp_path / name for name in ("model.npz", "facts.csv", "tokens.txt"))
    np.savez(model, allow_pickle=False, **arrays)
    tokens.write_text("\n".join(WORDS), encoding="utf-8")
    facts.write_text("prompt,answer\n<s> Rome,Italy", encoding="utf-8")
    words = ["certify", str(model), str(facts), "--tokens", str(tokens)]
    for question, *answer in (
        ("--mask causal or --mask none", "--mask", "none"),
        ("Say --norm-first or --no-norm-first", "--no-norm-first"),
        ("--tied takes the transpose", "--tied"),
        ("How many heads are there? The arrays do not say: --heads.", "--heads", "2"),
        ("say --norm layer or --norm rms", "--norm", "rms"),
        ("Say --activation: relu,", "--activation", "silu"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        asked = " ".join(capsys.readouterr().err.split())
        assert question in asked
        assert "=" not in asked
        words += answer
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    assert "of 1 fact certified" in capsys.readouterr().out


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
