"""``lemmax paper`` as it is called: what it writes, prints and returns."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lemmax.cli import main as lemmax

Write = Callable[..., Path]

BODY = r"\begin{lemma}\label{lem:a} A. \end{lemma}"


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as caught:
        lemmax([str(a) for a in arguments])
    return int(caught.value.code or 0)


def test_write_check_change_check(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    main = write(BODY)
    assert run("paper", main, "--check") == 1
    assert "main.tex:8: Lemma 'lem:a' has no claim." in capsys.readouterr().out
    assert not (main.parent / "claims.toml").exists()
    assert run("paper", main) == 0
    assert "1 statements. Written: claims.toml." in capsys.readouterr().out
    assert run("paper", main, "--check") == 0
    write(BODY.replace("A.", "B."))
    assert run("paper", main, "--check") == 1
    assert "the statement of parity/lem-a changed." in capsys.readouterr().out


def test_json(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    main = write(BODY)
    assert run("paper", main, "--json", "--sty") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["paper"] == "parity"
    assert [Path(p).name for p in told["written"]] == [
        "claims.toml",
        "lemmax.sty",
        "lemmax-data.tex",
    ]
    assert told["drifts"][0]["what"] == "new"


def test_bad_input_is_one_sentence_and_nothing_written(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    main = write("\\begin{lemma} A.")
    assert run("paper", main, "--sty") == 2
    told = capsys.readouterr().err
    assert told == ("lemmax: main.tex:8: The environment lemma is opened here and never closed.\n")
    assert [p.name for p in main.parent.iterdir()] == ["main.tex"]


def test_without_the_extra_a_sentence_names_it(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [n for n in sys.modules if n.startswith(("lemmax.paper", "pylatexenc"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pylatexenc", None)
    assert run("paper", write(BODY)) == 2
    assert "needs the extra lemmax[paper]" in capsys.readouterr().err
