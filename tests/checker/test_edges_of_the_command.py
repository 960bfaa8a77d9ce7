"""Edges of the command line: what it refuses, and what it says where it cannot say anything."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lemmax.checker import command, main

RANK: dict[str, Any] = {
    "format": "lemmax-certificate",
    "version": 1,
    "kind": "matrix-rank",
    "matrix": [["1"]],
    "rank": 1,
    "upper": {"method": "size"},
    "lower": {"prime": "7", "rows": [0], "columns": [0]},
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with a certificate that holds."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.json").write_text(json.dumps(RANK), encoding="utf-8")
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The sentence with which the command line is refused; nothing else is said of anything."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    said = capsys.readouterr()
    assert not said.out
    return said.err.partition("checker: error: ")[2]


@pytest.mark.parametrize("option", ["--json", "--expect", "-h", "-"])
def test_an_option_that_is_also_a_file_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    (here / option).write_text("{}", encoding="utf-8")
    sentence = f"{option} is also a file here; write ./{option} or -- {option}\n"
    assert refused(capsys, option, "good.json") == sentence


@pytest.mark.parametrize("option", ["--limits", "--vocabulary", "--help"])
def test_what_only_informs_stands_alone(
    here: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    for arguments in ((option, "good.json"), ("good.json", option), (option, "--json")):
        assert refused(capsys, *arguments) == f"{option} stands alone\n"


def test_options_are_not_shortened(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "good.json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["status"] == "holds"
    for option in ("--jso", "--js"):
        sentence = f"unrecognized arguments: {option}\n"
        assert refused(capsys, option, "good.json") == sentence


def test_a_certificate_is_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ((), ("--json",), ("--expect", "good.json")):
        assert refused(capsys, *arguments) == "name at least one certificate\n"


def test_a_claims_file_that_cannot_be_read_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "claims.toml").write_text("x = 1", encoding="utf-8")
    assert refused(capsys, "--claims", "claims.toml", "good.json") == "claims.toml has no claims.\n"


def test_the_arguments_are_those_of_the_program(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["checker", "good.json"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("good.json: matrix-rank: holds\n")


def test_a_certificate_about_nothing_is_not_about_what_is_expected(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--expect", "own/one", "good.json"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "  FAILED it is about no claim, and 'own/one' is expected"


def test_letters_that_a_terminal_lacks_are_written_as_numbers(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "good.json").rename("gr\xfcn.json")
    written = {name: io.BytesIO() for name in ("stdout", "stderr")}
    for name, raw in written.items():
        monkeypatch.setattr(sys, name, io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    assert main(["gr\xfcn.json", "bla\xfc.json"]) == 2
    assert written["stdout"].getvalue().startswith(b"gr\\xfcn.json: matrix-rank: holds\n")
    assert written["stderr"].getvalue().startswith(b"bla\\xfc.json: not a certificate: ")


# --- the program ----------------------------------------------------------------------------------


class Broken(io.StringIO):
    """A stream that cannot be written, such as a pipe whose reader is gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")

    def flush(self) -> None:
        raise BrokenPipeError(32, "Broken pipe")


@pytest.fixture
def silenced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The descriptors that are silenced, which are not those of the tests."""
    found: list[int] = []
    monkeypatch.setattr(command, "_silence", found.append)
    return found


def streams(monkeypatch: pytest.MonkeyPatch, out: Any, err: Any, status: int = 0) -> None:
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(command, "main", lambda: status)


@pytest.mark.parametrize("status", [0, 1, 2])
def test_the_status_is_that_of_the_verdicts(
    monkeypatch: pytest.MonkeyPatch, silenced: list[int], status: int
) -> None:
    """Also where there is nowhere to write errors."""
    for err in (io.StringIO(), None):
        streams(monkeypatch, io.StringIO(), err, status)
        assert command.run() == status
    assert not silenced


@pytest.mark.parametrize(
    ("out", "reason"), [(None, "there is no standard output"), (Broken(), "Broken pipe")]
)
def test_verdicts_that_cannot_be_printed_are_status_2(
    monkeypatch: pytest.MonkeyPatch, silenced: list[int], out: Any, reason: str
) -> None:
    err = io.StringIO()
    streams(monkeypatch, out, err)
    assert command.run() == 2
    assert err.getvalue() == f"checker: the verdicts cannot be printed: {reason}\n"
    assert silenced == [1]


def test_errors_that_cannot_be_printed_change_no_status(
    monkeypatch: pytest.MonkeyPatch, silenced: list[int]
) -> None:
    streams(monkeypatch, Broken(), Broken())
    assert command.run() == 2
    assert silenced == [1, 2]
    streams(monkeypatch, io.StringIO(), Broken(), 1)
    assert command.run() == 1
    assert silenced == [1, 2, 2]


def test_a_silenced_stream_goes_nowhere(tmp_path: Path) -> None:
    with (tmp_path / "said").open("wb", buffering=0) as stream:
        stream.write(b"before")
        command._silence(stream.fileno())
        stream.write(b"after")
    assert (tmp_path / "said").read_bytes() == b"before"
