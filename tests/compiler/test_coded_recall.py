"""What layers by codes answer, also where they are too large for rational matrices."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from lemmax.constructions import compile_database
from lemmax.constructions.capacity import random_table
from lemmax.constructions.compiler import load_layer, recall, save
from lemmax.constructions.compiler.coded.files import load_coded
from lemmax.theory.errors import LemmaxError


@pytest.mark.parametrize(
    ("dtype", "logits"), [("bfloat16", None), ("bfloat16", "float32"), ("float32", None)]
)
def test_large_layers_answer_as_small_ones(
    dtype: str, logits: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From few tokens in balls and floats for the others: the same answer, an interval around it.

    From memory and from the files; what is no fact has an answer too, or ties, which is said.
    """
    db = random_table(60, 3, 40, gaps=2)
    compiled = compile_database(db, dtype=dtype, logits=logits)
    save(compiled, tmp_path / "layer.json")
    stored = load_coded(tmp_path / "layer.json")
    monkeypatch.setattr("lemmax.constructions.compiler.coded.recalling.FEW", 20)
    outside = 0
    for key, query, _ in list(db)[::9]:
        whole = recall(compiled.layer, key, query)
        assert stored.is_fact(str(key), str(query))
        for told in (compiled.recall(key, query), stored.recall(str(key), str(query))):
            assert (told.answer, told.runner_up) == (whole.answer, whole.runner_up)
            assert told.probability.contains(whole.probability.mid())
            assert told.runner_up_probability is not None
            assert whole.runner_up_probability is not None
            assert told.runner_up_probability.contains(whole.runner_up_probability.mid())
            outside += told.probability.rad() > whole.probability.rad()
    assert outside  # the bound of the others took part
    assert not stored.is_fact("k0", "q0")
    outcomes = []
    for ask in (partial(recall, compiled.layer), compiled.recall, stored.recall):
        try:
            outcomes.append(ask("k0", "q0").answer)
        except LemmaxError as error:
            outcomes.append("apart" in str(error))
    assert len(set(outcomes)) == 1
    assert False not in outcomes
    with pytest.raises(LemmaxError, match="'nobody' is unknown"):
        stored.recall("nobody", "q0")


def test_a_layer_beyond_rational_matrices_is_asked_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lemmax.cli import main

    monkeypatch.setattr("lemmax.constructions.compiler.coded.files.LARGEST_EXACT", 100)
    db = random_table(60, 3, 90)
    save(compile_database(db, dtype="bfloat16"), tmp_path / "layer.json")
    with pytest.raises(LemmaxError, match="too large for rational matrices"):
        load_layer(tmp_path / "layer.json")
    with pytest.raises(SystemExit) as done:
        main(["recall", str(tmp_path / "layer.json"), "k7", "q1"])
    assert done.value.code == 0
    assert capsys.readouterr().out.startswith(f"{db['k7', 'q1']}\nprobability in [")
    with pytest.raises(SystemExit) as done:
        main(["recall", str(tmp_path / "layer.json"), "q1", "k7"])
    assert done.value.code == 0
    assert "no fact about 'q1' 'k7'" in capsys.readouterr().err


def test_a_layer_shows_itself_in_one_line() -> None:
    compiled = compile_database(random_table(60, 3, 90), dtype="bfloat16")
    assert repr(compiled) == (
        "CompiledByCodes(180 facts, one-rounding, Dimensions(d_model=4, heads=3, d_vo=1, d_qk=1), "
        "bfloat16 weights, float32 accumulation, bfloat16 logits)"
    )
