"""`lemmax compile --smallest`: the layer, its state, and what is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lemmax import checker
from lemmax.cli import main

FIGURE_1 = Path(__file__).parents[2] / "docs" / "examples" / "figure1.csv"


def compiled(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["compile", *map(str, arguments)])
    told = capsys.readouterr()
    return int(stop.value.code or 0), told.out, told.err


def test_the_smallest_layer_of_figure_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layer = tmp_path / "layer.json"
    status, out, _ = compiled(capsys, FIGURE_1, "-o", layer, "--smallest", 5, "--json")
    told = json.loads(out)
    assert (status, told["parameters"], told["least_parameters"]) == (0, 8, 8)
    assert checker.check_file(layer).holds
    assert not layer.with_suffix(".search.json").exists()  # there was nothing to search


def test_a_search_is_told_kept_and_continued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts, layer = tmp_path / "facts.csv", tmp_path / "layer.json"
    cells = [f"k{i},q{j},{'xy'[i + j > 2]}" for i in range(4) for j in range(3)]
    facts.write_text("\n".join(["subject,predicate,object", *cells]), encoding="utf-8")
    state = layer.with_suffix(".search.json")
    status, out, err = compiled(capsys, facts, "-o", layer, "--smallest", 60)
    assert status == 0
    assert "4 non-embedding parameters (found)" in out
    assert "No layer has fewer than 4 of them." in out
    assert "sizes tried in wave 1, " in err
    assert "s left" in err
    kept = json.loads(state.read_text(encoding="utf-8"))
    assert kept["found"] is not None
    assert checker.check_file(layer).holds
    assert compiled(capsys, facts, "-o", layer, "--smallest", 60)[0] == 0
    assert json.loads(state.read_text(encoding="utf-8")) == kept  # nothing smaller is left to try
    status, _, err = compiled(capsys, facts, "-o", layer, "--smallest", 60, "--seed", 5)
    assert (status, err.count("\n")) == (2, 1)
    assert "another search" in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--smallest=-3",), "not a time to search"),
        (("--smallest=nan",), "not a time to search"),
        (("--smallest", "5", "--processes", "0"), "at least one process"),
        (("--smallest", "5", "--dtype", "bfloat16"), "no --dtype"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(
    options: tuple[str, ...], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = tmp_path / "layer.json"
    status, out, err = compiled(capsys, FIGURE_1, "-o", layer, *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
    assert not layer.exists()
