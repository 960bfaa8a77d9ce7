"""Theory beside training: constructions hold, obstructions bind every recorded model."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lemmax import checker
from lemmax.cli import main
from lemmax.numerics.engines.run import mahdavi_outputs
from lemmax.numerics.experiments.dana import beside as bigrams
from lemmax.numerics.experiments.dana import parity as parity
from lemmax.numerics.experiments.mahdavi import beside as contexts
from lemmax.numerics.experiments.mahdavi import sizes as mahdavi
from lemmax.numerics.experiments.studies import Row, Rows, Study, recorded
from lemmax.numerics.experiments.wong import beside as compiled
from lemmax.numerics.experiments.wong import trained_pairs
from lemmax.numerics.training.configurations import Arrays, Dana, Mahdavi, RandomDatabase, Wong
from lemmax.numerics.twins.certify import certify_layer
from lemmax.theory.errors import LemmaxError


def _rows(*studies: Study) -> Rows:
    return {study.name: recorded(study)[1] for study in studies}


def _checked(files: dict[str, str]) -> int:
    for name, text in files.items():
        assert checker.check(json.loads(text)).holds, name
    return len(files)


# -- Dana et al. -------------------------------------------------------------------------------
def test_all_hundred_bigrams_are_certified_at_49_heads() -> None:
    memory = bigrams.construction(49)
    assert (memory.capacity, memory.model.d, memory.model.H) == (100, 2, 49)
    assert checker.check(json.loads(json.dumps(memory.certificate()))).holds


@pytest.mark.parametrize("H", bigrams.BUILT)
def test_constructions_reach_the_repaired_bound(H: int) -> None:
    assert bigrams.construction(H).capacity == bigrams.repaired(H) == 2 * H + 2
    assert bigrams.constructed(H) >= bigrams.repaired(H) > bigrams.everywhere(H)


def test_trained_models_know_what_their_rows_say_and_more_than_the_repaired_bound() -> None:
    """Float64 sees the same bigrams as exact arithmetic, and training passes the linear system."""
    found = bigrams.by_heads(recorded(bigrams.STUDY)[1])
    for row in recorded(bigrams.STUDY)[1]:
        assert row.inspected == round(100 * row.accuracy)
    assert all(np.mean(found[H]) > bigrams.repaired(H) for H in (1, 2, 4, 8, 16, 24))
    assert np.mean(found[49]) < 100 == bigrams.constructed(49)


# -- Mahdavi et al. ----------------------------------------------------------------------------
def test_constructed_layers_belong_to_the_trained_family() -> None:
    """As a layer with an embedding, d_v = 1 and a readout 2c·y - c², in floats: every class."""
    memory = contexts.construction(8, 2, False, 32)
    full = contexts.config_of(8, 2, False)
    queries, tokens, labels = full.data()
    arrays, d = memory.to_numpy(), full.d
    config = replace(full, T=32)
    w: Arrays = {name: np.zeros(shape) for name, shape in config.shapes().items()}
    w["W_in"], w["W_D"][0] = np.eye(d), 2 * np.arange(config.classes)
    w["b_D"] = -(np.arange(config.classes) ** 2.0)
    for h in range(config.H):
        w["W_Q"][h], w["W_K"][h] = d**0.5 * arrays[f"heads.{h}.W_Q"], arrays[f"heads.{h}.W_K"]
        w["W_V"][h] = arrays[f"heads.{h}.W_V"] @ arrays[f"heads.{h}.W_O"]
        w["W_O"][h, 0, 0] = 1.0
    single = [part[:32].astype(np.float32).astype(np.float64) for part in (queries, tokens)]
    outputs = mahdavi_outputs(config, w, *single)
    assert (outputs.argmax(1) == labels[:32]).all()


def test_the_ceiling_of_rank_is_reached_and_not_passed() -> None:
    for H in contexts.HEADS[:3]:
        assert contexts.constructed(8, H, False) == contexts.rank_ceiling(8, H, False) == 16 * H
    assert [contexts.constructed(n, 4, True) for n in contexts.LENGTHS] == [1, 5, 13, 29]
    with pytest.raises(LemmaxError, match="Z has rank 5 for 6 examples"):
        contexts.construction(2, 4, True, 6)


# -- Wong --------------------------------------------------------------------------------------
def test_zeros_fill_a_compiled_layer_up_to_the_trained_one() -> None:
    rows = recorded(trained_pairs.GUESS)[1]
    pair = next(p for p in map(compiled.pair_of, rows[:300]) if p.possible and not p.whole)
    c, generated = pair.config, pair.config.database
    assert isinstance(generated, RandomDatabase)
    layer = compiled.compiled(generated).layer
    assert compiled.fits(compiled.compiled(generated).dims, c)
    small = layer.to_numpy()
    order = [layer.index[t] for t in range(c.tokens)]
    weights: Arrays = {name: np.zeros(shape) for name, shape in c.shapes().items()}
    weights["W_E"][:, : layer.d_model] = small["W_E"][order]
    weights["W_U"][: layer.d_model] = small["W_U"][:, order]
    for h in range(len(layer.heads)):
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            block = small[f"heads.{h}.{name}"]
            weights[name][h, : block.shape[0], : block.shape[1]] = block
    assert certify_layer(weights, c.facts).share == 1


def test_two_values_on_a_line_bind_every_recorded_layer() -> None:
    thin = [
        row
        for study in (trained_pairs.GUESS, trained_pairs.SLOW)
        for row in recorded(study)[1]
        if isinstance(row.job.config, Wong) and row.job.config.d_model == 1
    ]
    assert len(thin) > 20
    for row in thin:
        assert isinstance(row.job.config, Wong)
        assert round(row.accuracy * row.job.config.samples) <= compiled.most(row.job.config)


# -- what is made up is caught, what is written passes -----------------------------------------
def _is(config: Any, **fields: int) -> bool:
    return all(getattr(config, name) == value for name, value in fields.items())


@pytest.mark.parametrize(
    ("study", "fields", "judge", "change"),
    [
        (bigrams.STUDY, {"H": 0}, lambda r: bigrams.by_heads(r), {"inspected": 31}),
        (contexts.SHARED, {"n": 1}, lambda r: contexts.numbers(r, "n"), {"accuracy": 0.05}),
        (trained_pairs.GUESS, {"d_model": 1}, lambda r: compiled.pairs(r), {"accuracy": 1.0}),
    ],
    ids=["dana", "mahdavi", "wong"],
)
def test_a_record_that_claims_the_impossible_is_refused(
    study: Study,
    fields: dict[str, int],
    judge: Callable[[list[Row]], object],
    change: dict[str, Any],
) -> None:
    row = next(r for r in recorded(study)[1] if _is(r.job.config, **fields))
    judge([row])
    with pytest.raises(LemmaxError, match="damaged or made up"):
        judge([replace(row, **change)])


def test_certificates_written_beside_the_figures_pass_the_checker() -> None:
    assert _checked(contexts.files(_rows(mahdavi.HEADS, contexts.SHARED))) == 4
    some = {trained_pairs.GUESS.name: recorded(trained_pairs.GUESS)[1][:300]}
    assert _checked(compiled.files(some)) == compiled.CERTIFICATES


def test_sentences_follow_the_data() -> None:
    """Training that stays behind the construction is called that."""
    rows = _rows(mahdavi.HEADS, contexts.SHARED)
    assert "knows more at every H" in contexts.judge(rows)[0].sentence
    behind, fewer = [], set()
    for row in rows[mahdavi.HEADS.name]:
        assert isinstance(row.job.config, Mahdavi)
        behind.append(replace(row, accuracy=0.1) if row.job.config.H > 2 else row)
        fewer |= {row.job.config.H} & {*range(3, 9)}
    sentence = contexts.judge({**rows, mahdavi.HEADS.name: behind})[0].sentence
    assert "knows fewer at " + ", ".join(f"H = {H}" for H in sorted(fewer)) in sentence
    found = recorded(bigrams.STUDY)[1]
    none = [replace(row, inspected=min(20, row.inspected)) for row in found]
    told = bigrams.judge({**_rows(parity.STUDY), bigrams.STUDY.name: none})[0].sentence
    assert "all of them at no number of heads" in told
    assert isinstance(found[0].job.config, Dana)


def test_without_options_the_recorded_results_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "dana-parity"])
    assert not stop.value.code
    assert "dana-parity.svg from recorded results." in " ".join(capsys.readouterr().out.split())
    written = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert written == [*(f"{n}-bits.json" for n in (2, 3, 4, 5)), "dana-parity.svg"]
