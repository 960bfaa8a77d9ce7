"""The frame: recorded results are those of a re-run, bad input is a sentence, runs continue."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lemmax.cli import main
from lemmax.numerics.experiments import EXPERIMENTS, experiment
from lemmax.numerics.experiments import studies as frame
from lemmax.numerics.experiments.mahdavi import sizes
from lemmax.numerics.experiments.studies import Experiment, Row, Study, machine, recorded, rerun
from lemmax.numerics.training.configurations import RandomDatabase, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.training.results import read_results
from lemmax.theory.errors import LemmaxError


def lemmax(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.mark.slow
def test_recorded_results_are_those_of_a_rerun(studies: dict[str, Study]) -> None:
    """Bit for bit where processor and compiler are the same; in the mean elsewhere."""
    pytest.importorskip("numba", reason="recorded results were compiled")
    for study in studies.values():
        made_on, rows = recorded(study)
        again = rerun(study, some := _some(study, rows))
        if some[0].loss is None:  # another loss was recorded, and its header says which
            again = [replace(row, loss=None) for row in again]
        if made_on == machine():
            assert again == some, study.name
        else:
            mean = np.mean([a.accuracy - b.accuracy for a, b in zip(again, some, strict=True)])
            assert abs(mean) < 0.1, study.name


def _some(study: Study, rows: Sequence[Row]) -> list[Row]:
    """A few rows: of Wong's six throughout, of the slower studies two of the cheaper ones."""
    if study.recipe.family == "wong":
        return [rows[i] for i in np.linspace(1, len(rows) - 2, 6).astype(int)]
    cheap = sorted(rows, key=lambda row: row.job.work(study.recipe))
    return [cheap[1], cheap[len(rows) // 4]]


OURS = ("-beside", "-parity", "-certified", "-capacity", "-thresholds", "readouts")
PAPERS = [n for n in EXPERIMENTS if not n.endswith(OURS)]


def test_an_unknown_experiment_lists_the_thirteen_of_the_papers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, _, err = lemmax(capsys, "reproduce", "nothing")
    assert len(PAPERS) == 13
    assert all(name in err for name in PAPERS)


def test_recorded_results_are_compact(studies: dict[str, Study]) -> None:
    files = list(Path(str(frame.RECORDED)).glob("*.jsonl"))
    assert {path.stem for path in files} == set(studies)
    assert sum(path.stat().st_size for path in files) < 2_000_000


def test_a_recorded_loss_that_the_recipe_does_not_train_is_not_shown(
    studies: dict[str, Study],
) -> None:
    """Only the files that say so have one, and they are those with an untrained position."""
    for study in studies.values():
        text = (frame.RECORDED / f"{study.name}.jsonl").read_text(encoding="utf-8")
        other = "loss" in json.loads(text.partition("\n")[0])
        assert other is not study.recipe.both_positions, study.name
        assert all((row.loss is None) is other for row in recorded(study)[1])


def test_compact_text_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = _tiny()
    rows = [
        Row(job, 3, 0.5, 1 / facts, dict.fromkeys(("0.5", "0.75", "0.95", "0.99"), 0.0), 0.25)
        for job in study.jobs("small")
        for facts in [job.config.samples]
    ]
    text = frame.compact(study, rows, machine())
    (tmp_path / "tiny.jsonl").write_text(text, encoding="utf-8")
    monkeypatch.setattr(frame, "RECORDED", tmp_path)
    assert recorded(study) == (machine(), tuple(rows))
    other = replace(study, recipe=study.recipe.changed(steps=9))
    with pytest.raises(LemmaxError, match="another recipe"):
        recorded(other)
    fewer = replace(study, jobs=lambda scale: study.jobs(scale)[:1])
    with pytest.raises(LemmaxError, match="belongs to no job"):
        recorded(fewer)


def _tiny() -> Study:
    jobs = [Job(Wong(2, 1, 1, 1, RandomDatabase(seed, 12))) for seed in range(3)]
    return Study("tiny", recipe("wong-guess").changed(steps=30), lambda scale: jobs)


def test_a_run_continues_from_its_files(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    study = _tiny()
    small = Experiment("tiny", "", (study,), lambda rows: [], lambda rows, figure: None)
    told: list[str] = []
    first = frame.measure_rows(small, "small", tmp_path, progress=told.append)
    assert told[-1].startswith("tiny: 3/3 jobs, 100 % of the work")
    assert list(first["tiny"]) == rerun(study, first["tiny"])
    again: list[str] = []
    assert frame.measure_rows(small, "small", tmp_path, progress=again.append) == first
    assert not again  # nothing was left to train
    target = tmp_path / "recorded.jsonl"
    assert frame.record(study, tmp_path / "tiny.jsonl", target) == 3


def test_the_command_records_what_it_has_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numba")
    pytest.importorskip("matplotlib")
    study = _tiny()
    small = Experiment("tiny", "", (study,), lambda rows: [], lambda rows, figure: None)
    monkeypatch.setattr("lemmax.numerics.experiments.experiment", lambda name: small)
    target = tmp_path / "recorded"
    target.mkdir()
    asked = ("reproduce", "tiny", "--folder", str(tmp_path), "--record", str(target))
    status, out, _ = lemmax(capsys, *asked)
    assert status == 0
    assert f"Recorded in {target}: tiny." in out
    monkeypatch.setattr(frame, "RECORDED", target)
    made_on, rows = recorded(study)
    assert made_on == machine()
    assert list(rows) == rerun(study, rows)


@pytest.mark.parametrize("workers", [0, 2])
def test_an_interrupted_command_says_how_it_goes_on(tmp_path: Path, workers: int) -> None:
    """Ctrl-C: one sentence, the status of an interrupted program, and nothing lost."""
    pytest.importorskip("numba")
    pytest.importorskip("matplotlib")
    told = tmp_path / "stderr"
    command = [sys.executable, "-m", "lemmax", "reproduce", "wong-fig3", "--folder", str(tmp_path)]
    with told.open("wb") as err:
        child = subprocess.Popen(
            [*command, "--workers", str(workers)], stderr=err, start_new_session=True
        )
    results = tmp_path / "wong-guess.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if results.exists() and results.read_bytes().count(b"\n") > 3:
            break
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does
    assert child.wait(timeout=60) == 130
    sentence = told.read_text(encoding="utf-8")
    assert "the same command continues from there" in sentence
    assert "Traceback" not in sentence
    assert len(read_results(results)[1]) >= 3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["wong-fig9"], "known are wong-fig2, wong-fig3"),
        (["wong-fig3", "--scale", "huge"], "small or paper, not 'huge'"),
        (["wong-fig3", "--folder", "nowhere"], "no folder nowhere"),
        (["wong-fig3", "--workers", "-1"], "cannot be negative"),
        (["wong-fig2", "--figure", "figure.doc"], ".svg, .pdf or .png"),
        (["wong-fig3", "--device", "abacus"], "'abacus'"),
        (["dana-fig3", "--device", "cuda:99"], "'cuda:99'"),
        (["wong-fig3", "--record", "."], "trained now, on the CPU"),
        (["wong-fig3", "--recorded", "--record", "."], "trained now, on the CPU"),
        (["wong-fig3", "--scale", "small", "--device", "cuda", "--record", "."], "on the CPU"),
        (["wong-fig3", "--scale", "small", "--record", "nowhere"], "no folder nowhere"),
        (["wong-fig3", "--scale", "small", "--record", "."], "another folder than their own"),
        (["mahdavi-dh", "--cluster", "tcp://127.0.0.1:1"], "No Dask scheduler answers at"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "--cluster" in arguments:
        pytest.importorskip("distributed")
        monkeypatch.setattr("lemmax.numerics.training.workers.CLUSTER_TIMEOUT", 0.3)
    monkeypatch.chdir(tmp_path)
    status, out, err = lemmax(capsys, "reproduce", *arguments)
    assert (status, out) == (2, "")
    assert not list(tmp_path.glob("*.svg"))
    assert sentence in err
    assert err.startswith("lemmax: ")
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("name", [n for n in PAPERS if not n.startswith("wong")])
def test_the_small_scale_is_judged_and_drawn(name: str, tmp_path: Path) -> None:
    """With the few repetitions of the small scale, of which some studies have but one."""
    pytest.importorskip("matplotlib")
    found = experiment(name)
    rows = {}
    for study in found.studies:
        small = set(study.jobs("small"))
        rows[study.name] = [row for row in recorded(study)[1] if row.job in small]
        assert len(rows[study.name]) == len(small)
    assert all(judgement.sentence for judgement in found.judge(rows))
    frame.draw(found, rows, tmp_path / "figure.svg")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_figures_are_drawn_from_recorded_results(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"{name}.svg"
    asked = ("reproduce", name, "--recorded", "--figure", str(path), "--json")
    status, out, _ = lemmax(capsys, *asked)
    told = json.loads(out)
    assert status == 0
    assert told["experiment"] == name
    assert all(claim["says"] for claim in told["claims"])
    drawn = path.read_bytes()
    assert b"<svg" in drawn
    if name != "wong-fig3":  # the same again, where that is quick
        assert lemmax(capsys, *asked)[1] == out
        assert path.read_bytes() == drawn


@pytest.mark.parametrize("name", ["dana-fig1a", "dana-fig1b", "dana-fig2a", "dana-fig2b"])
def test_every_setting_that_is_judged_is_drawn(name: str) -> None:
    """The legend names the settings, and each of them has data."""
    figures = pytest.importorskip("matplotlib.figure")
    found, figure = experiment(name), figures.Figure()
    rows = frame.recorded_rows(found)
    found.draw(rows, figure)
    (axes,) = figure.axes
    drawn = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    for setting in found.judge(rows)[0].asked:
        x = drawn[setting].lines[0].get_xdata()
        assert len(x) >= 5, setting


@pytest.mark.parametrize(
    ("name", "study", "along"),
    [("mahdavi-heads", "mahdavi-heads-again", "H"), ("mahdavi-dh", "mahdavi-dh-again", "d_h")],
)
def test_the_repetitions_that_are_judged_are_drawn(name: str, study: str, along: str) -> None:
    figures = pytest.importorskip("matplotlib.figure")
    found, figure = experiment(name), figures.Figure()
    rows = frame.recorded_rows(found)
    found.draw(rows, figure)
    (axes,) = figure.axes
    drawn = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    heights = drawn["mean, 95 % interval"].lines[0].get_ydata()
    x, y = sizes.curve(rows[study], along)
    assert heights == pytest.approx(sizes.T * sizes.means(x, y)[1])
