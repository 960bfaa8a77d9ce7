"""Surveys of many databases: a kill, processes and clusters change nothing; bad lines are named."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lemmax import checker
from lemmax.cli import main
from lemmax.numerics.experiments.statistics import wilson
from lemmax.numerics.survey import running
from lemmax.numerics.survey.databases import read_databases
from lemmax.numerics.survey.recorded import Row, compact, read_survey
from lemmax.numerics.survey.running import Task, sample, survey
from lemmax.numerics.survey.summary import markdown, summaries
from lemmax.numerics.training import workers
from lemmax.numerics.training.results import ResultsError, read_results
from lemmax.numerics.training.workers import ClusterError, WorkerLost
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.tensors.fields import known_field
from lemmax.theory.tensors.ranks import TensorRank, tensor_rank
from lemmax.theory.tensors.search import clock

FORK = multiprocessing.get_context("fork")


def database(seed: int) -> list[list[str]]:
    """A small random database."""
    chance = random.Random(seed)
    keys, queries, values = (chance.randint(2, 5) for _ in range(3))
    return [
        [f"k{k}", f"q{q}", f"v{chance.randrange(values)}"]
        for k in range(keys)
        for q in range(queries)
        if q == 0 or chance.random() < 0.8
    ]


# databases whose ranks are known at once: a search never lasts until its time is over
CLOSED = (0, 1, 2, 3, 4, 5, 6, 10, 13, 14, 25, 26)
LINES = [
    {"regime": f"regime {place % 3}", "index": place // 3, "triples": database(seed)}
    for place, seed in enumerate(CLOSED)
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "databases.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a survey without interruption."""
    folder = tmp_path_factory.mktemp("undisturbed")
    path = folder / "databases.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    survey(path, folder / "results.jsonl", certify=2)
    return folder / "results.jsonl"


def timeless(path: Path) -> list[dict[str, Any]]:
    """All lines of a results file in their order, without the seconds they took."""
    header, records = read_results(path)
    return [header, *({**record, "seconds": 0} for record in records)]


def lemmax(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["survey", *arguments])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_a_line_says_what_tensor_rank_says(undisturbed: Path) -> None:
    from lemmax.theory import Database, tensor_rank
    from lemmax.theory.certificates.writing import sha256

    _, records = read_results(undisturbed)
    assert [(r["regime"], r["index"]) for r in records] == [
        (line["regime"], line["index"]) for line in LINES
    ]
    for line, record in zip(LINES, records, strict=True):
        db = Database.from_triples((s, p, o) for s, p, o in line["triples"])  # type: ignore[attr-defined]
        result = tensor_rank(db)
        assert record["lower"] == record["upper"] == result.rank
        assert record["certificate"] == sha256(result.certificate())
        assert record["proposition"] == db.slice_rank_bound >= record["upper"]
        assert record["flattening"] <= record["lower"]
        assert record["shape"] == list(db.tensor().shape)
        assert record["facts"] == len(db)
        assert record["lower_by"] == list(result.bound.lemmas)
        assert record["upper_by"] == list(result.reasons)
        assert record["stopped"] is record["cut"] is False
        assert record["fitted"] is None
    checked = [r["regime"] for r in records if r["holds"]]
    assert sorted(checked) == sorted(2 * ["regime 0", "regime 1", "regime 2"])


def _killed_after(file: Path, results: Path, databases: int) -> None:
    """Survey in a process that kills itself when so many databases are finished."""

    def tell(done: int, _: int) -> None:
        if done == databases:
            os.kill(os.getpid(), signal.SIGKILL)

    survey(file, results, certify=2, progress=tell)


def test_the_time_of_a_survey_is_the_processors() -> None:
    """On a busy machine seconds pass in which a search does nothing; they are not counted."""
    with clock.processor_time():
        deadline = clock.now() + 0.2
        time.sleep(0.4)
        assert not clock.late(deadline)
        while not clock.late(deadline):
            pass
    assert clock.late(time.monotonic() - 1)
    assert not clock.late(time.monotonic() + 1)


def test_linear_algebra_takes_one_thread_on_that_clock() -> None:
    """Threads that wait for each other are counted, and wait longer on a busy machine."""
    program = (
        "import numpy\n"
        "from threadpoolctl import threadpool_info\n"
        "from lemmax.numerics.survey.running import Task\n"
        "from lemmax.theory import tensor_rank\n"
        "from lemmax.theory.tensors.search.clock import processor_time\n"
        "def threads():\n"
        "    return [p['num_threads'] for p in threadpool_info() if p['user_api'] == 'blas']\n"
        "Task('r', 0, (('a', 'b', 'c'),), 'R', 1.0).prepare()\n"
        "some = numpy.random.default_rng(1).integers(0, 2, (4, 4, 4))\n"
        "with processor_time():\n"
        "    tensor_rank(some, seconds=0.5)\n"
        "    print(set(threads()))\n"
        "print(set(threads()))\n"
    )
    environment = os.environ | {f"{name}_NUM_THREADS": "2" for name in ("OPENBLAS", "MKL", "OMP")}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["{1}", "{2}"]


def test_searches_of_a_survey_run_on_that_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = []

    def watched(db: Database, field: str, seconds: float) -> TensorRank:
        clocks.append(clock.now() - time.process_time())
        return tensor_rank(db, known_field(field))

    monkeypatch.setattr(running, "tensor_rank", watched)
    Task("r", 0, (("a", "b", "c"),), "R", 1.0).run()
    assert abs(clocks[0]) < 1
    assert abs(clock.now() - time.monotonic()) < 1


def test_a_survey_that_was_killed_continues_to_the_same_results(
    file: Path, tmp_path: Path, undisturbed: Path
) -> None:
    results = tmp_path / "results.jsonl"
    for databases in (0, 1, 5, 11):
        child = FORK.Process(target=_killed_after, args=(file, results, databases))
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL
        assert timeless(results) == timeless(undisturbed)[: databases + 1]
    with open(results, "rb+") as torn:  # a kill in the middle of a line
        torn.truncate(results.stat().st_size - 20)
    told: list[tuple[int, int]] = []
    survey(file, results, certify=2, progress=lambda *numbers: told.append(numbers))
    assert told == [(10, 12), (11, 12), (12, 12)]
    assert timeless(results) == timeless(undisturbed)


def test_what_is_recorded_is_not_computed_again(
    file: Path, tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results.jsonl"
    results.write_bytes(undisturbed.read_bytes())

    def run(task: Task) -> list[dict[str, Any]]:
        raise AssertionError("computed again")

    monkeypatch.setattr(Task, "run", run)
    rows = survey(file, results, certify=2)
    assert rows == read_survey(undisturbed)[1]
    assert results.read_bytes() == undisturbed.read_bytes()
    with file.open("a", encoding="utf-8") as more:
        more.write(json.dumps({"triples": database(99)}) + "\n")
    with pytest.raises(AssertionError, match="computed again"):
        survey(file, results, certify=2)


def test_two_processes_give_the_results_of_one(
    file: Path, tmp_path: Path, undisturbed: Path
) -> None:
    survey(file, tmp_path / "results.jsonl", certify=2, workers=2)
    assert timeless(tmp_path / "results.jsonl") == timeless(undisturbed)


def test_a_lost_process_is_one_sentence_and_loses_nothing(
    file: Path, tmp_path: Path, undisturbed: Path
) -> None:
    chance = random.Random(0)
    slow = [[k, q, chance.randrange(20)] for k in range(40) for q in range(8)]  # over a second
    longer = tmp_path / "longer.jsonl"
    longer.write_text(json.dumps({"triples": slow}) + "\n" + file.read_text(encoding="utf-8"))
    results = tmp_path / "results.jsonl"

    def tell(done: int, _: int) -> None:
        if done == 1:
            for child in multiprocessing.active_children():
                child.kill()

    with pytest.raises(WorkerLost, match=r"what is recorded is kept.*\.$"):
        survey(longer, results, certify=2, workers=2, progress=tell)
    assert 1 <= len(read_results(results)[1]) < 13
    survey(file, results, certify=2)
    assert timeless(results) == timeless(undisturbed)


def test_a_local_cluster_of_two_workers_gives_the_same_results(
    file: Path, tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="a cluster needs Dask")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.chdir(tmp_path)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=True
    ) as cluster:
        survey(file, tmp_path / "r.jsonl", certify=2, cluster=cluster.scheduler_address)
    assert timeless(tmp_path / "r.jsonl") == timeless(undisturbed)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "no://where:1", ""])
def test_a_scheduler_that_does_not_answer_leaves_nothing_behind(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    pytest.importorskip("distributed", reason="a cluster needs Dask")
    monkeypatch.setattr(workers, "CLUSTER_TIMEOUT", 1)
    with pytest.raises(ClusterError, match=f"No Dask scheduler answers at '{address}' "):
        survey(file, tmp_path / "results.jsonl", cluster=address)
    assert list(tmp_path.iterdir()) == [file]


GOOD = json.dumps(LINES[0])


def _with(**fields: Any) -> str:
    return json.dumps(LINES[1] | fields)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no databases"),
        ("\n  \n", "holds no databases"),
        (f"{GOOD}\nno JSON\n", "line 2: not JSON"),
        (f"{GOOD}\n\n{GOOD[:-9]}", "line 3: not JSON"),
        ("[" * 100_000, "line 1: not JSON"),
        (f"{GOOD}\n[1, 2]\n", "line 2: not an object"),
        (f"{GOOD}\n{{}}\n", "line 2: not an object"),
        (f"{GOOD}\n{_with(triples=7)}\n", "line 2: the triples are not a list"),
        (_with(triples=[]), "line 1: A database needs at least one fact"),
        (_with(triples=[["a", "b"]]), 'line 1: ["a", "b"] is not a triple'),
        (_with(triples=[["a", "b", None]]), "is not a triple"),
        (_with(triples=[["a", "b", 0.5]]), "is not a triple"),
        (_with(triples=["abc"]), '"abc" is not a triple'),
        (_with(triples=[["a", "b", "x" * 10_000], 3]), "line 1: 3 is not a triple"),
        (f"{GOOD}\n{_with(triples=[['a', 'b', 'c'], ['a', 'b', 'd']])}", "line 2: 'a' 'b' has two"),
        (_with(regime=3), "line 1: the regime"),
        (_with(regime="two\nlines"), "line 1: the regime"),
        (_with(index=[1]), "line 1: the index"),
        (f"{GOOD}\n{GOOD}\n", "line 2: 0 of the regime 'regime 0' is on line 1 too"),
        (_with(triples=[[i, i, i] for i in range(300)]), "more than 10000000 entries"),
        (f'{GOOD}\n{{"triples": "{"x" * 8_000_000}"}}', "line 2: longer than 8000000 bytes"),
    ],
)
def test_a_bad_file_is_one_sentence_that_names_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf-8")
    status, out, err = lemmax(capsys, str(path), "--out", str(tmp_path / "r.jsonl"))
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert err.endswith((".\n", "…\n"))
    assert len(err) < 400
    assert list(tmp_path.iterdir()) == [path]


def test_bytes_that_are_no_text_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(GOOD.encode() + b"\n\xff\xfe\n")
    with pytest.raises(LemmaxError, match=r"line 2: not UTF-8 text\.$"):
        read_databases(path)
    with pytest.raises(LemmaxError, match="cannot be read"):
        read_databases(tmp_path / "nothing.jsonl")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--field", "F2"], "Q, R or C"),
        (["--seconds", "0"], "not a time to search"),
        (["--seconds", "nan"], "not a time to search"),
        (["--seconds", "1e99"], "not a time to search"),
        (["--workers", "-1"], "cannot be negative"),
        (["--certify", "-1"], "cannot be negative"),
        (["--figure", "bounds.gif"], ".svg, .pdf or .png"),
        (["--figure", "no/such/folder/bounds.svg"], "no folder"),
    ],
)
def test_bad_options_are_one_sentence_before_any_work(
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    words: str,
) -> None:
    status, _, err = lemmax(capsys, str(file), "--out", str(tmp_path / "r.jsonl"), *options)
    assert status == 2
    assert words in err
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"field": "C"}, "field 'R', not 'C'"),
        ({"seconds": 5}, "seconds 60.0, not 5.0"),
        ({"certify": 3}, "certify 2, not 3"),
    ],
)
def test_results_of_another_survey_are_refused_and_left_alone(
    file: Path, tmp_path: Path, undisturbed: Path, options: dict[str, Any], words: str
) -> None:
    results = tmp_path / "results.jsonl"
    results.write_bytes(undisturbed.read_bytes())
    with pytest.raises(ResultsError, match=words):
        survey(file, results, **{"certify": 2, **options})
    assert results.read_bytes() == undisturbed.read_bytes()
    with pytest.raises(ResultsError, match="not a results file"):
        survey(file, file)
    with pytest.raises(ResultsError, match="is a folder"):
        survey(file, tmp_path)
    with pytest.raises(ResultsError, match="cannot be written"):
        survey(file, tmp_path / "no" / "folder.jsonl")
    assert sorted(tmp_path.iterdir()) == [file, results]


def test_the_command_writes_results_table_and_figure(
    file: Path,
    tmp_path: Path,
    undisturbed: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    monkeypatch.chdir(tmp_path)
    status, out, err = lemmax(capsys, str(file), "--certify", "2", "--figure", "bounds.svg")
    assert status == 0
    facts = sum(len(database(seed)) for seed in CLOSED)
    assert f"{file}: read as 12 databases with {facts} facts in all, one database per line." in err
    assert "12/12 databases" in err
    assert "12 databases, recorded in databases.results.jsonl." in out
    assert out.count("2/2") == 3
    assert timeless(tmp_path / "databases.results.jsonl") == timeless(undisturbed)
    drawn = (tmp_path / "bounds.svg").read_bytes()
    assert drawn.startswith(b"<?xml")
    # recorded lines alone give the same table and the same figure
    file.unlink()
    status, again, err = lemmax(capsys, "databases.results.jsonl", "--figure", "again.svg")
    read = "databases.results.jsonl: read as recorded results of 12 databases.\n"
    assert (status, err) == (0, read)
    assert again == out.replace("bounds.svg", "again.svg")
    assert (tmp_path / "again.svg").read_bytes() == drawn
    status, out, _ = lemmax(capsys, "databases.results.jsonl", "--json")
    told = json.loads(out)
    assert [part["databases"] for part in told["regimes"]] == [4, 4, 4]
    assert told["figure"] is None


def test_results_of_different_regimes_are_recorded_together_and_nothing_else_is(
    undisturbed: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, rows = read_survey(undisturbed)
    first = rows[0].regime
    parts = []
    for name, own in (("one", True), ("others", False)):
        parts.append(tmp_path / f"{name}.jsonl")
        some = [row for row in rows if (row.regime == first) is own]
        parts[-1].write_text(compact([(header, some)]), encoding="utf-8")
    target = tmp_path / "together.jsonl"
    status, out, _ = lemmax(capsys, *map(str, parts), "--record", str(target))
    assert status == 0
    assert out.endswith(f"Written together to {target}.\n")
    merged = read_survey(target)[1]
    assert sorted(merged, key=str) == sorted(rows, key=str)
    for bad, words in (
        ([undisturbed, parts[0]], "Only surveys over one field"),
        ([undisturbed, file], f"{file} holds none"),
    ):
        wrong = tmp_path / "wrong.jsonl"
        status, out, err = lemmax(capsys, *map(str, bad), "--record", str(wrong))
        assert (status, out) == (2, "")
        assert words in err
        assert not wrong.exists()


def test_pdf_and_png_are_drawn_too(
    undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    for suffix, begins in (("pdf", b"%PDF"), ("png", b"\x89PNG")):
        path = tmp_path / f"bounds.{suffix}"
        assert lemmax(capsys, str(undisturbed), "--figure", str(path))[0] == 0
        assert path.read_bytes().startswith(begins)


def test_a_rejected_certificate_is_status_1(
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Rejected:
        holds = False

    monkeypatch.setattr(checker, "check", lambda certificate: Rejected())
    results = str(tmp_path / "r.jsonl")
    status, out, _ = lemmax(capsys, str(file), "--out", results, "--certify", "1")
    assert status == 1
    assert out.count("0/1") == 3


def row(lower: int, upper: int, proposition: int, **fields: Any) -> Row:
    sizes = {"keys": 3, "queries": 3, "values": 3, "facts": 9, "flattening": 1}
    known: dict[str, Any] = {
        "regime": "r",
        "index": 0,
        "seconds": 1.0,
        "stopped": False,
        "holds": None,
    }
    return Row(
        **{**sizes, **known, "lower": lower, "upper": upper, "proposition": proposition, **fields}
    )


def test_the_table_counts_what_is_closed_open_and_exact() -> None:
    rows = [
        row(4, 4, 4, holds=True),
        row(4, 4, 8, seconds=3.0),
        row(2, 6, 8, stopped=True, holds=True),
        row(3, 5, 10),
        row(1, 1, 1, regime="other"),
    ]
    first, second = summaries(rows)
    assert (first.regime, first.databases) == ("r", 4)
    assert (first.closed.value, first.exact.value) == (0.5, 0.25)
    assert (first.ratio, first.gap) == (0.625, 3.0)
    assert (first.mean_seconds, first.max_seconds, first.stopped) == (1.5, 3.0, 1)
    assert (first.checked, first.closed_checked, first.rejected) == (2, 1, 0)
    assert (second.regime, second.gap) == ("other", None)
    lines = markdown([first, second]).splitlines()
    assert len(lines) == 4
    assert "0.50 [0.15, 0.85]" in lines[2]
    assert {line.count("|") for line in lines} == {13}


def test_what_stays_open_is_times_or_theorys() -> None:
    rows = [
        row(2, 6, 8, stopped=True, cut=True, fitted=5),
        row(2, 6, 8, stopped=True, cut=True),
        row(2, 6, 8, stopped=True, cut=True),
        row(2, 6, 8, stopped=True, cut=False, fitted=6),  # no fit has fewer terms
        row(2, 6, 8, stopped=True, cut=False, fitted=5),
        row(2, 6, 8, cut=False),
        row(2, 6, 8, cut=False, fitted=6),
        row(4, 4, 4, cut=True, fitted=4),
        row(4, 4, 4, cut=False),
    ]
    (summary,) = summaries(rows)
    assert (summary.by_time, summary.by_theory, summary.unfitted) == (3, 4, 2)
    cells = summary.cells()
    told = [cells[name] for name in ("open by time", "by theory", "no fit below")]
    assert told == ["3", "4", "2"]
    (silent,) = summaries([*rows, row(2, 6, 8, stopped=True)])  # an old row does not say
    assert (silent.by_time, silent.by_theory, silent.unfitted) == (None, None, None)
    assert silent.cells()["open by time"] == "–"
    (closed,) = summaries([row(4, 4, 4)])
    assert (closed.by_time, closed.by_theory, closed.unfitted) == (0, 0, 0)


def test_rows_without_the_later_columns_are_read(undisturbed: Path, tmp_path: Path) -> None:
    header, rows = read_survey(undisturbed)
    assert {row.cut for row in rows} == {False}
    lines = compact([(header, rows)]).splitlines()
    early = [json.dumps(json.loads(line)[:-2]) for line in lines[1:]]
    path = tmp_path / "early.jsonl"
    path.write_text("\n".join([lines[0], *early]), encoding="utf-8")
    assert read_survey(path)[1] == [replace(row, cut=None, fitted=None) for row in rows]


def test_compact_rows_are_read_back(undisturbed: Path, tmp_path: Path) -> None:
    header, rows = read_survey(undisturbed)
    text = compact([(header, rows)])
    path = tmp_path / "compact.jsonl"
    path.write_text(text, encoding="utf-8")
    assert read_survey(path)[1] == rows
    assert set(read_survey(path)[0]["seconds"]) == {row.regime for row in rows}
    assert len(text) < 100 * len(rows) + 500
    assert "k0" not in text


def test_surveys_of_different_regimes_are_put_together(undisturbed: Path, tmp_path: Path) -> None:
    header, rows = read_survey(undisturbed)
    first, *_ = {row.regime for row in rows}
    longer = {**header, "seconds": 60.0}
    parts = [[row for row in rows if (row.regime == first) is own] for own in (True, False)]
    path = tmp_path / "both.jsonl"
    path.write_text(compact([(longer, parts[0]), (header, parts[1])]), encoding="utf-8")
    merged, found = read_survey(path)
    assert found == [*parts[0], *parts[1]]
    assert merged["seconds"].pop(first) == 60.0
    assert set(merged["seconds"].values()) == {header["seconds"]}
    again = tmp_path / "again.jsonl"
    both = [(header, parts[1]), (read_survey(path)[0], parts[0])]
    again.write_text(compact(both), encoding="utf-8")
    assert read_survey(again)[0]["seconds"][first] == 60.0  # of a compact one too
    for bad in ([(header, rows), (header, rows[:1])], [(header, rows), ({"field": "Q"}, [])]):
        with pytest.raises(ResultsError, match=r"^Only surveys over one field.*\.$"):
            compact(bad)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda lines: [*lines[:3], "{}", *lines[3:]], "Line 4"),
        (lambda lines: [*lines[:2], lines[2].replace('"facts"', '"fact"')], "damaged"),
        (lambda lines: [lines[0], lines[1].replace('"lower":', '"lower":9')], "damaged"),
        (lambda lines: lines[:1], "no finished database"),
        (lambda lines: [lines[0].replace("tensor-rank", "other"), *lines[1:]], "not hold"),
        (lambda lines: ['{"lemmax-survey":1}', "[1, 2]"], "damaged"),
        (lambda lines: ['{"lemmax-survey":1}', "7"], "damaged"),
        (lambda lines: [lines[0], lines[1].replace('"cut":false', '"cut":0')], "damaged"),
        (lambda lines: [lines[0], lines[1].replace('"fitted":null', '"fitted":"1"')], "damaged"),
    ],
)
def test_damaged_results_are_one_sentence(
    undisturbed: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Callable[[list[str]], list[str]],
    words: str,
) -> None:
    path = tmp_path / "results.jsonl"
    lines = damage(undisturbed.read_text(encoding="utf-8").splitlines())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    status, _, err = lemmax(capsys, str(path))
    assert status == 2
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_the_sample_does_not_depend_on_the_order_of_the_file() -> None:
    tasks = [Task("r", n, ((n, 0, 0),), "R", 60.0) for n in range(30)]
    chosen = sample(tasks, 5)
    assert len(chosen) == 5
    assert sample(tasks[::-1], 5) == chosen
    assert sample(tasks, 99) == {task.key for task in tasks}


@pytest.mark.parametrize(("successes", "trials"), [(0, 7), (7, 7), (1, 3), (58, 100), (999, 1000)])
def test_the_interval_is_wilsons(successes: int, trials: int) -> None:
    from scipy.stats import binomtest

    theirs = binomtest(successes, trials).proportion_ci(method="wilson")
    ours = wilson(successes, trials)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
    assert ours.low <= ours.value <= ours.high


def test_the_recorded_survey_is_compact_and_consistent() -> None:
    path = Path(__file__).parent.parent.parent / "benchmarks" / "results" / "survey.jsonl"
    _, rows = read_survey(path)
    assert len(rows) >= 50
    assert path.stat().st_size < 100 * len(rows) + 500
    for r in rows:
        assert r.flattening <= r.lower <= r.upper <= r.proposition
        assert r.facts <= r.keys * r.queries
    assert not sum(summary.rejected for summary in summaries(rows))
    assert len({(r.regime, r.index) for r in rows}) == len(rows)


def test_recorded_surveys_do_not_contradict_each_other() -> None:
    """Two intervals of one rank meet; no recorded certificate was rejected."""
    folder = Path(__file__).parents[2] / "benchmarks" / "results"
    before, again, fresh = (
        read_survey(folder / f"survey{name}.jsonl") for name in ("", "-again", "-fresh")
    )
    known = {(row.regime, row.index): row for row in before[1]}
    for row in again[1]:
        old = known[row.regime, row.index]
        assert (row.keys, row.queries, row.values, row.facts) == (
            *(old.keys, old.queries, old.values),
            old.facts,
        )
        assert max(row.lower, old.lower) <= min(row.upper, old.upper)
        assert again[0]["seconds"][row.regime] == before[0]["seconds"][row.regime]
    assert {row.regime for row in again[1]} == {row.regime for row in fresh[1]}
    assert all(row.holds is not False for _, rows in (before, again, fresh) for row in rows)
    assert all(row.cut is not None for _, rows in (again, fresh) for row in rows)
