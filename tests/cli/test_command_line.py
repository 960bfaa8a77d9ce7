"""The command line as a user meets it: answers, sentences and exit statuses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from lemmax import checker
from lemmax.cli import app, main

FIGURE_1 = Path(__file__).parent.parent.parent / "docs" / "examples" / "figure1.csv"


def lemmax(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.fixture
def layer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "layer.json"
    assert lemmax(capsys, "compile", str(FIGURE_1), "-o", str(path))[0] == 0
    return path


def test_compile_recall_check(layer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = lemmax(capsys, "recall", str(layer), "Astrid", "born_in")
    assert (status, out.splitlines()[0]) == (0, "Singapore")
    told = out.splitlines()[1].partition(", runner-up")[0]
    assert f"Singapore, {told}" in (FIGURE_1.parents[2] / "README.md").read_text(encoding="utf-8")
    status, out, _ = lemmax(capsys, "recall", "--json", str(layer), "Astrid", "born_in")
    answer = json.loads(out)
    low, high = json.loads(answer["probability"])
    assert answer["answer"] == "Singapore"
    assert answer["runner_up"] == "Malaysia"
    assert 0.5 < low <= high < low + 0.001
    assert lemmax(capsys, "check", str(layer))[0] == 0
    assert checker.check_file(layer).holds


def test_compile_with_a_threshold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "layer.json"
    status, out, _ = lemmax(
        capsys, "compile", str(FIGURE_1), "-o", str(path), "--tau", "99/100", "--json"
    )
    told = json.loads(out)
    assert status == 0
    assert (told["facts"], told["d_model"], told["heads"], told["tau"]) == (8, 3, 1, "99/100")
    status, out, _ = lemmax(capsys, "recall", "--json", str(path), "Colin", "lives_in")
    assert json.loads(json.loads(out)["probability"])[0] >= 0.99


def test_compile_to_safetensors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from safetensors.numpy import load_file

    path = tmp_path / "layer.safetensors"
    assert lemmax(capsys, "compile", str(FIGURE_1), "-o", str(path))[0] == 0
    arrays = load_file(path)
    assert arrays["W_E"].shape == (10, 3)
    assert arrays["heads.0.W_Q"].shape == (3, 2)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("subject,predicate,object\na,f,x\na,f,y\n", "lines 2 and 3"),
        ("", "is empty"),
        ("subject,predicate,object\n", "holds no facts"),
    ],
)
def test_bad_tables_leave_no_layer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, sentence: str
) -> None:
    facts, output = tmp_path / "facts.csv", tmp_path / "layer.json"
    facts.write_text(text)
    status, _, err = lemmax(capsys, "compile", str(facts), "-o", str(output))
    assert (status, err.count("\n")) == (2, 1)
    assert sentence in err
    assert sorted(tmp_path.iterdir()) == [facts]


@pytest.mark.parametrize("tau", ["0", "1", "2", "-1/2", "nan", "much"])
def test_bad_thresholds_leave_no_layer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tau: str
) -> None:
    output = tmp_path / "layer.json"
    status, _, err = lemmax(capsys, "compile", str(FIGURE_1), "-o", str(output), f"--tau={tau}")
    assert (status, err.count("\n")) == (2, 1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["layer.txt", "none/layer.json"])
def test_bad_outputs_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    status, _, err = lemmax(capsys, "compile", str(FIGURE_1), "-o", str(tmp_path / name))
    assert (status, err.count("\n")) == (2, 1)
    assert not list(tmp_path.iterdir())


def test_unknown_tokens_and_broken_layers(layer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = lemmax(capsys, "recall", str(layer), "Astrid", "eats")
    assert (status, err) == (2, "lemmax: The token 'eats' is unknown to this layer.\n")
    text = layer.read_text()
    damage = {
        "cut short": text[: len(text) // 2],
        "was edited": text.replace('"1/4"', '"1/2"', 1),
        "not a layer file": '{"kind": "matrix-rank"}',
        "cut short or": "",
    }
    for sentence, content in damage.items():
        assert content != text
        layer.write_text(content)
        status, _, err = lemmax(capsys, "recall", str(layer), "Astrid", "born_in")
        assert (status, err.count("\n")) == (2, 1)
        assert sentence in err
    status, _, err = lemmax(capsys, "recall", str(layer) + ".none", "a", "b")
    assert status == 2


def test_check_has_three_statuses(layer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(layer.read_text())
    document["facts"][0][2] = document["facts"][2][2]
    wrong = layer.with_name("wrong.json")
    wrong.write_text(json.dumps(document))
    status, out, _ = lemmax(capsys, "check", str(wrong))
    assert status == 1
    assert "FAILED" in out
    cut = layer.with_name("cut.json")
    cut.write_text(layer.read_text()[:-20])
    assert lemmax(capsys, "check", str(cut))[0] == 2
    assert lemmax(capsys, "check", str(layer), str(wrong), str(cut))[0] == 2


def test_claims_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = lemmax(capsys, "claims", "--json")
    rows = json.loads(out)
    assert status == 0
    assert {"id", "paper", "kind", "verdict", "grade", "source"} <= set(rows[0])
    assert len(rows) >= 156
    assert not [row["id"] for row in rows if row["verdict"] == "stale"]
    status, out, _ = lemmax(capsys, "claims", "--paper", "wong")
    assert status == 0
    assert "dana/" not in out


def test_one_claim_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = lemmax(capsys, "claims", "wong/argmax-rank-one")
    assert status == 0
    for part in ("repaired", "lemmax/argmax-rank-one-sharp", "wong/argmax-rank-one.json"):
        assert part in out
    one = json.loads(lemmax(capsys, "claims", "wong/argmax-rank-one", "--json")[1])
    assert one["verdict"] == "repaired"
    assert (
        "Why it is open: Proved for one" in lemmax(capsys, "claims", "mahdavi/open-question-3")[1]
    )


def test_unknown_claims_and_papers(capsys: pytest.CaptureFixture[str]) -> None:
    assert lemmax(capsys, "claims", "wong/none")[0] == 2
    status, _, err = lemmax(capsys, "claims", "--paper", "none")
    assert status == 2
    assert "wong" in err


def test_verify_checks_all_and_notices_damage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lemmax.constructions import shipped

    status, out, _ = lemmax(capsys, "verify", "--json")
    assert status == 0
    assert all(row["holds"] for row in json.loads(out))
    folder = tmp_path / "certificates"
    shutil.copytree(shipped.FOLDER / "wong", folder / "wong")
    file = folder / "wong" / "argmax-rank-one.json"
    file.write_text(file.read_text().replace('"-1"', '"1"'))
    monkeypatch.setattr(shipped, "FOLDER", folder)
    status, out, _ = lemmax(capsys, "verify", "--json")
    assert status == 1
    bad = [row for row in json.loads(out) if not row["holds"]]
    assert [row["name"] for row in bad] == ["wong/argmax-rank-one"]
    assert bad[0]["reason"]


def test_bad_usage_is_status_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert lemmax(capsys, "compile", str(FIGURE_1))[0] == 2
    assert lemmax(capsys, "frobnicate")[0] == 2


COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example_and_json(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    status, out, _ = lemmax(capsys, command, "--help")
    assert status == 0
    assert f"lemmax {command}" in out.partition("Example")[2]
    assert "--json" in out


def test_help_begins_with_what_to_try(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = lemmax(capsys, "--help")
    assert status == 0
    assert "lemmax claims" in out
    assert "--install-completion" in out


def test_completion_knows_the_commands() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from lemmax.cli import main; main()"],
        env={
            **os.environ,
            "_LEMMAX_COMPLETE": "complete_bash",
            "COMP_WORDS": "lemmax ",
            "COMP_CWORD": "1",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
    )
    assert set(COMMANDS) <= set(done.stdout.split())


def test_no_colours_and_no_progress_in_a_pipe(layer: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from lemmax.cli import main; main()",
            "compile",
            str(FIGURE_1),
            "-o",
            str(layer),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert "every one certified" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr.endswith(
        "read as 8 facts, one per row, under the header subject, predicate, object.\n"
    )
    assert done.stderr.count("\n") == 1
