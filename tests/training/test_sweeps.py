"""Sweeps survive SIGKILL, torn lines, a full disk and the wrong file; workers change nothing."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="sweeps are tested with the stacked engine")

from lemmax.numerics.engines.register import plan, start
from lemmax.numerics.training import workers
from lemmax.numerics.training.configurations import Dana, RandomDatabase, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.recipes import Recipe, recipe
from lemmax.numerics.training.results import ResultsError, read_results
from lemmax.numerics.training.streams import canonical
from lemmax.numerics.training.sweeps import ClusterError, Progress, Task, restore, save, sweep
from lemmax.theory.errors import LemmaxError

pytestmark = pytest.mark.training

RECIPE = recipe("wong-guess").changed(steps=120)
JOBS = [Job(Wong(1 + s % 4, 1, 1, 1 + s % 2, RandomDatabase(s, 20 + s)), seed=s) for s in range(12)]
FORK = multiprocessing.get_context("fork")


def _sweep(path: Path, jobs: list[Job] = JOBS, **options: Any) -> list[dict[str, Any]]:
    given: dict[str, Any] = {"backend": "torch", "group": 3, "checkpoint_seconds": 0.02}
    given |= options
    return sweep(jobs, given.pop("recipe", RECIPE), path, **given)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file that a sweep without interruption writes."""
    path = tmp_path_factory.mktemp("undisturbed") / "results.jsonl"
    _sweep(path)
    return path.read_bytes()


def test_a_sweep_killed_at_random_moments_ends_with_the_same_bytes(
    tmp_path: Path, undisturbed: bytes
) -> None:
    path, moments = tmp_path / "results.jsonl", random.Random(5)
    began = time.monotonic()
    _child(path, None)
    whole = time.monotonic() - began  # so that the kills fit a machine of any speed
    kills, inside, finished = 0, 0, 0
    path.unlink()
    for _ in range(300):
        if _child(path, moments.uniform(0, whole / 3)):
            kills += 1
            size = path.stat().st_size if path.exists() else 0
            inside += bool(size and 0 < len(read_results(path)[1]) < len(JOBS))
        else:
            finished += 1
            assert path.read_bytes() == undisturbed
            assert not path.with_name(path.name + ".checkpoints").exists()
            if kills >= 12 and inside >= 3:
                break
            path.unlink()
    assert kills >= 12
    assert inside >= 3  # killed with some results recorded, and not all
    assert finished


def _child(path: Path, seconds: float | None) -> bool:
    """Sweep in a forked process; whether it had to be killed after that many seconds."""
    child = FORK.Process(target=_sweep, args=(path,))
    child.start()
    child.join(seconds)
    if not child.is_alive():
        assert child.exitcode == 0
        return False
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    return child.exitcode == -signal.SIGKILL


def test_a_group_continues_from_its_checkpoint(tmp_path: Path) -> None:
    members = plan(JOBS, RECIPE, "torch", 4)[0]
    texts = tuple(canonical(JOBS[n].to_json()) for n in members)
    path = tmp_path / "group.npz"
    task = Task(texts, RECIPE, "torch", None, str(path), 1e9)
    whole = task.run()
    half = start([JOBS[n] for n in members], RECIPE, "torch")
    half.advance(70)
    save(half, path, task.key)
    again = start([JOBS[n] for n in members], RECIPE, "torch")
    assert restore(again, path, task.key)
    assert again.step == 70
    assert task.run() == whole
    assert not restore(again, path, "another key")
    path.write_bytes(path.read_bytes()[:100])
    assert not restore(again, path, task.key)
    assert task.run() == whole


def test_results_do_not_depend_on_workers(tmp_path: Path, undisturbed: bytes) -> None:
    path = tmp_path / "results.jsonl"
    seen: list[Progress] = []
    _sweep(path, workers=2, progress=seen.append)
    assert path.read_bytes() == undisturbed
    assert seen[-1].jobs == len(JOBS)
    assert seen[-1].work == seen[-1].all_work
    assert [p.work for p in seen] == sorted(p.work for p in seen)


def test_a_local_cluster_of_two_workers_gives_the_same_bytes(
    tmp_path: Path, undisturbed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="a cluster needs Dask")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "results.jsonl"
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=True
    ) as cluster:
        _sweep(path, cluster=cluster.scheduler_address)
    assert path.read_bytes() == undisturbed


def test_a_scheduler_that_does_not_answer_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="a cluster needs Dask")
    monkeypatch.setattr(workers, "CLUSTER_TIMEOUT", 1)
    with pytest.raises(ClusterError, match=r"No Dask scheduler answers at 'tcp://127\.0\.0\.1:9"):
        _sweep(tmp_path / "results.jsonl", cluster="tcp://127.0.0.1:9")


def test_finished_jobs_are_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.jsonl"
    first = _sweep(path)
    trained: list[Task] = []

    def run(task: Task) -> list[dict[str, Any]]:
        trained.append(task)
        return []

    monkeypatch.setattr(Task, "run", run)
    assert _sweep(path) == first
    assert not trained


def test_a_torn_last_line_is_dropped_and_made_again(tmp_path: Path, undisturbed: bytes) -> None:
    path = tmp_path / "results.jsonl"
    lines = undisturbed.splitlines(keepends=True)
    for cut in (1, len(lines[5]) - 1):
        path.write_bytes(b"".join(lines[:5]) + lines[5][:cut])
        assert len(read_results(path)[1]) == 4
        _sweep(path)
        assert path.read_bytes() == undisturbed
    path.write_bytes(lines[0][:20])
    _sweep(path)
    assert path.read_bytes() == undisturbed


def _changed(undisturbed: bytes, **fields: Any) -> bytes:
    header, rest = undisturbed.split(b"\n", 1)
    return canonical(json.loads(header) | fields).encode() + b"\n" + rest


@pytest.mark.parametrize(
    ("damage", "options", "words"),
    [
        (lambda data: data, {"recipe": RECIPE.changed(learning_rate=0.5)}, "learning_rate"),
        (lambda data: data, {"backend": "reference", "group": None}, "backend 'torch'"),
        (lambda data: data, {"group": 2}, "groups"),
        (lambda data: data, {"group": 1}, "groups"),
        (lambda data: _changed(data, **{"lemmax-results": 2}), {}, "version 2"),
        (lambda data: b"step,loss\n1,2\n", {}, "not a results file"),
        (lambda data: b"{}\n", {}, "not a results file"),
        (lambda data: data.replace(b'"loss"', b'"lo\nss"', 1), {}, "Line 2"),
        (lambda data: data + b'{"no":"key"}\n', {}, "Line 14"),
        (
            lambda data: data + data.splitlines()[3].replace(b'"steps":120', b'"steps":9') + b"\n",
            {},
            "contradicts",
        ),
    ],
)
def test_a_file_that_cannot_be_continued_is_refused_and_left_alone(
    tmp_path: Path,
    undisturbed: bytes,
    damage: Callable[[bytes], bytes],
    options: dict[str, Any],
    words: str,
) -> None:
    path = tmp_path / "results.jsonl"
    data = damage(undisturbed)
    path.write_bytes(data)
    with pytest.raises(ResultsError, match=r"\.$") as caught:
        _sweep(path, **options)
    assert words in str(caught.value)
    assert path.read_bytes() == data


def _limited(path: Path, size: int, report: Any) -> None:
    """Sweep in a process that may not write files longer than some size."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        _sweep(path, checkpoint_seconds=1e9)
    except ResultsError as error:
        report.send(str(error))


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path: Path, undisturbed: bytes) -> None:
    path = tmp_path / "results.jsonl"
    lines = undisturbed.splitlines(keepends=True)
    room = sum(len(line) for line in lines[:9]) + 40  # in the middle of a line
    here, there = FORK.Pipe()
    child = FORK.Process(target=_limited, args=(path, room, there))
    child.start()
    child.join()
    assert child.exitcode == 0
    message = here.recv()
    assert message.endswith(".")
    assert "are safe" in message
    _, records = read_results(path)
    assert 0 < len(records) < 9
    assert path.read_bytes().endswith(b"\n")
    _sweep(path)  # there is room again
    assert path.read_bytes() == undisturbed


def test_two_sweeps_do_not_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"

    def again(_: Progress) -> None:
        with pytest.raises(ResultsError, match="Another sweep"):
            _sweep(path)

    _sweep(path, progress=again)


def test_bad_arguments_are_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with pytest.raises(LemmaxError, match="twice"):
        _sweep(path, [JOBS[0], JOBS[0]])
    with pytest.raises(LemmaxError, match="negative"):
        _sweep(path, workers=-1)
    with pytest.raises(ResultsError, match="cannot be written"):
        _sweep(tmp_path / "no" / "such" / "folder.jsonl")
    assert not path.exists()


def test_new_jobs_are_added_where_results_do_not_depend_on_companions(tmp_path: Path) -> None:
    path, chosen = tmp_path / "results.jsonl", recipe("dana-full").changed(steps=20)
    jobs = [Job(Dana(4, 2, 2, h), 1) for h in range(4)]
    few = sweep(jobs[1:3], chosen, path, backend="reference")
    many = sweep(jobs, chosen, path, backend="reference")
    assert many[1:3] == few
    keys = [record["key"] for record in read_results(path)[1]]
    assert keys == [job.key(chosen) for job in jobs]


def test_the_time_left_comes_from_the_work_of_this_session() -> None:
    progress = Progress(jobs=3, all_jobs=9, work=600, all_work=1000, seconds=20.0, worked=200)
    assert progress.eta == pytest.approx(40.0)
    assert str(progress) == "3/9 jobs, 60 % of the work, 40 s left"
    assert Progress(0, 9, 0, 1000, 0.0, 0).eta is None


def test_a_record_carries_the_job_and_the_numbers_of_its_recipe(tmp_path: Path) -> None:
    chosen: Recipe = recipe("dana-code").changed(steps=64, batch=32, pool=256, last_batches=10)
    (record,) = sweep([Job(Dana(4, 2, 2, 2), 7)], chosen, tmp_path / "r.jsonl", backend="torch")
    header, records = read_results(tmp_path / "r.jsonl")
    assert records == [record]
    assert header["recipe"] == chosen.to_json()
    assert record["job"]["seed"] == 7
    assert {"accuracy", "recent", "loss", "steps", "reached"} <= set(record)
