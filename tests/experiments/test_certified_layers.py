"""Trained layers certified: the recorded weights know what the rows say, and the checker agrees."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lemmax import checker
from lemmax.constructions import compile_database
from lemmax.constructions.exports import write_safetensors
from lemmax.numerics.experiments import studies as frame
from lemmax.numerics.experiments import wong_certified as certified
from lemmax.numerics.experiments.studies import Experiment, Row, Study, recorded
from lemmax.numerics.training.jobs import Job, RandomDatabase, Wong
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.twins.certify import certify_layer, exact_layer, kept_by_bits, read_weights
from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.facts.database import Database

DATABASE = Database.from_triples([("a", "f", 1), ("a", "g", 2), ("b", "f", 3), ("b", "g", 1)])


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    return recorded(certified.STUDY)[1]


def test_every_row_is_decided_again_from_its_weights(rows: tuple[Row, ...]) -> None:
    assert len(rows) == certified.LAYERS
    for row in rows:
        config, said = row.job.config, row.inspected
        assert isinstance(config, Wong)
        found = certified.certify_row(row)
        missed = {config.facts[i] for i in said["missed"]}
        assert set(found.known) >= set(config.facts) - missed
        assert len(found.known) == said["counts"][said["bits"]]
        assert said["safe"] == said["bits"]
        assert config.samples - len(missed) == round(row.accuracy * config.samples)


def test_certificates_of_trained_layers_pass_the_checker(rows: tuple[Row, ...]) -> None:
    files = certified.files({certified.STUDY.name: rows})
    table = files.pop("wong-certified/table.csv").splitlines()
    assert len(table) == len(rows) + 1
    assert len(files) == len(rows)
    for text in files.values():
        assert checker.check(json.loads(text)).holds
    document = json.loads(files["wong-certified/layer-02.json"])
    k, q, v = document["facts"][0]
    document["facts"][0] = [k, q, (v + 1) % len(document["layer"]["tokens"])]
    assert not checker.check(document).holds


def test_a_missed_fact_is_reported_and_in_no_certificate(rows: tuple[Row, ...]) -> None:
    row = next(row for row in rows if row.inspected["missed"])
    assert isinstance(row.job.config, Wong)
    lost = [row.job.config.facts[i] for i in row.inspected["missed"]]
    found = certified.certify_row(row)
    document = found.certificate()
    assert not {tuple(fact) for fact in document["facts"]} & set(found.missed)
    table = certified.files({certified.STUDY.name: [row]})["wong-certified/table.csv"]
    assert " ".join(map(str, lost[0])) in table


def test_weights_that_do_not_fill_the_layer_are_refused(rows: tuple[Row, ...]) -> None:
    longer = rows[0].inspected | {"weights": [*rows[0].inspected["weights"], 0]}
    with pytest.raises(LemmaxError, match="holds 1261 weights, not 1260"):
        certified.weights_of(replace(rows[0], inspected=longer))


# -- a user's own layer ------------------------------------------------------------------------
def test_a_layer_from_a_file_is_certified(tmp_path: Path) -> None:
    layer = compile_database(DATABASE).layer
    arrays = layer.to_numpy()
    np.savez(tmp_path / "layer.npz", allow_pickle=False, **arrays)
    found = certify_layer(tmp_path / "layer.npz", DATABASE, tokens=layer.tokens)
    assert found.share == 1
    assert checker.check(found.certificate()).holds
    assert exact_layer(arrays, layer.tokens, 2**60).W_E == layer.W_E  # dyadic to begin with


def test_a_safetensors_file_is_certified(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    layer = compile_database(DATABASE).layer
    write_safetensors(layer, tmp_path / "layer.safetensors")
    found = certify_layer(tmp_path / "layer.safetensors", DATABASE, tokens=layer.tokens)
    assert found.layer == layer
    assert found.share == 1


def test_ties_are_missed_and_never_certified() -> None:
    """All weights zero: every token ties with every other one."""
    zero = {"W_E": np.zeros((7, 2)), "W_U": np.zeros((2, 7))}
    found = certify_layer(zero, [(0, 1, 2), (3, 4, 5)])
    assert found.missed == ((0, 1, 2), (3, 4, 5))
    assert found.share == 0
    with pytest.raises(LemmaxError, match="knows none of the facts"):
        found.certificate()


def test_coarser_rounding_keeps_fewer_facts_until_it_is_safe() -> None:
    layer = compile_database(DATABASE).layer
    numbered = [tuple(layer.index[t] for t in fact) for fact in DATABASE]
    counts, safe = kept_by_bits(layer.to_numpy(), numbered, 8)  # type: ignore[arg-type]
    assert counts[safe:] == [4] * (9 - safe)
    assert counts[safe - 1] < 4


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ({"W_E": [[1.0]]}, "lack W_U; found are W_E"),
        ({"W_E": [[float("nan")]], "W_U": [[1.0]]}, "W_E has an entry that is not a finite"),
        ({"W_E": [["x"]], "W_U": [[1.0]]}, "W_E is not an array of numbers"),
        ({"W_E": [1.0], "W_U": [[1.0]]}, "W_E has 1 dimensions, not 2"),
        ({"W_E": [[1.0]], "W_U": [[1.0]], "W_Q": [[[1.0]]], "W_K": []}, "equally many heads"),
        ({"W_E": [[1.0]], "W_U": [[1.0]], "heads.0.W_Q": [[1.0]]}, r"lack heads\.0\.W_K"),
    ],
)
def test_bad_weights_are_one_sentence(weights: dict[str, object], sentence: str) -> None:
    with pytest.raises((LemmaxError, ShapeError), match=sentence):
        certify_layer(weights, [(0, 0, 0)])


def test_bad_files_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LemmaxError, match="weights are read from"):
        read_weights(tmp_path / "layer.bin")
    with pytest.raises(LemmaxError, match="cannot be read"):
        read_weights(tmp_path / "missing.npz")
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 cut short")
    with pytest.raises(LemmaxError, match="damaged"):
        read_weights(tmp_path / "cut.npz")
    with pytest.raises(LemmaxError, match="at least 1"):
        exact_layer({"W_E": [[1.0]], "W_U": [[1.0]]}, denominator=0)


def test_what_is_inspected_is_recorded_and_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    jobs = [Job(Wong(2, 1, 1, 1, RandomDatabase(seed, 12))) for seed in range(2)]
    inspect = "lemmax.numerics.experiments.wong_certified:inspect"
    study = Study("tiny", recipe("wong-guess").changed(steps=30), lambda scale: jobs, inspect)
    tiny = Experiment("tiny", "", (study,), lambda rows: [], lambda rows, figure: None)
    first = frame.measure_rows(tiny, "small", tmp_path)
    assert list(first["tiny"]) == frame.rerun(study, first["tiny"])
    assert all(row.inspected["counts"] for row in first["tiny"])
    (tmp_path / "recorded").mkdir()
    assert frame.record(study, tmp_path / "tiny.jsonl", tmp_path / "recorded" / "tiny.jsonl") == 2
    monkeypatch.setattr(frame, "RECORDED", tmp_path / "recorded")
    assert recorded(study)[1] == first["tiny"]
    with pytest.raises(LemmaxError, match="was made with inspect"):
        frame.measure_rows(
            replace(tiny, studies=(replace(study, inspect=None),)), "small", tmp_path
        )
