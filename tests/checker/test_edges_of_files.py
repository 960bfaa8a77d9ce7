"""Edges of files and of what surrounds a certificate: fields, sizes, integers, kinds of files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lemmax.checker import NotACertificate, Verdict, check, checking, files, limits
from lemmax.checker.limits import Undecided
from lemmax.checker.steps import Step

ONE = "given x: rational; conclude x == 1"
WITNESS: dict[str, Any] = {
    "format": "lemmax-certificate",
    "version": 2,
    "kind": "witness",
    "claim": "own/one",
    "statement": ONE,
    "instance": {"x": "1"},
}
RANK: dict[str, Any] = {
    "format": "lemmax-certificate",
    "version": 1,
    "kind": "matrix-rank",
    "matrix": [["1"]],
    "rank": 1,
    "upper": {"method": "size"},
    "lower": {"prime": "7", "rows": [0], "columns": [0]},
}

# --- what surrounds a certificate -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "refused"),
    [
        ("format", "format must be 'lemmax-certificate'"),
        ("version", "version must be 2"),
        ("kind", f"kind must be one of {', '.join(checking.KINDS)}, not None"),
    ],
)
def test_a_certificate_says_what_it_is(field: str, refused: str) -> None:
    without = {name: value for name, value in WITNESS.items() if name != field}
    with pytest.raises(NotACertificate) as error:
        check(without)
    assert str(error.value) == f"{refused}."


@pytest.mark.parametrize("statement", [ONE, {"hypotheses": [], "conclusion": "x == 1"}, 7])
def test_a_witness_is_of_version_2_whatever_its_statement(statement: Any) -> None:
    with pytest.raises(NotACertificate, match=r"^version must be 2\.$"):
        check(WITNESS | {"version": 1, "statement": statement})


def test_a_note_has_at_most_2000_characters() -> None:
    assert check(RANK | {"note": "n" * 2_000}).holds
    wrong: list[Any] = ["n" * 2_001, 7, []]
    for note in wrong:
        with pytest.raises(NotACertificate, match=r"^note must be a string of at most 2000 char"):
            check(RANK | {"note": note})


def test_a_verdict_names_the_kind_and_what_it_is_about() -> None:
    said, given = f"claim own/one: {ONE}", "as given by the certificate"
    true = Verdict("witness", True, (said, "the conclusion holds: x = 1 == 1"), "own/one", given)
    assert check(WITNESS) == true
    false = (said, "the conclusion fails: x = 2 != 1")
    wrong = WITNESS | {"instance": {"x": "2"}}
    assert check(wrong) == Verdict("witness", False, false, "own/one", given)
    assert check(wrong | {"kind": "refutation"}).holds
    rank = check(RANK)
    assert (rank.kind, rank.holds, rank.claim, rank.statement) == ("matrix-rank", True, "", "")


def test_the_first_version_may_have_the_checkers_own_statement() -> None:
    sharp = [["1", "0", "-1"], ["-1", "0", "1"], ["0", "0", "0"]]
    listed = {"hypotheses": ["rank(M) == 1"], "conclusion": "rank(argmax(M)) <= 2"}
    first = {"version": 1, "kind": "refutation", "statement": listed, "instance": {"M": sharp}}
    verdict = check(WITNESS | first | {"claim": "wong/argmax-rank-one"})
    assert (verdict.holds, verdict.statement) == (True, "the checker's own")


def test_a_rule_that_is_undecided_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps before it are kept, and what the certificate is about."""

    def undecided(data: Mapping[str, Any]) -> Iterator[Step]:
        yield Step(True, "a step")
        raise Undecided("it is too close")

    monkeypatch.setattr(checking, "rule_of", lambda kind: undecided)
    steps = ("a step", "undecided: it is too close")
    given = "as given by the certificate"
    assert check(WITNESS) == Verdict("witness", False, steps, "own/one", given)
    assert check(RANK) == Verdict("matrix-rank", False, steps, "", "")


# --- files ----------------------------------------------------------------------------------------


def put(folder: Path, text: str | bytes) -> Path:
    path = folder / "file.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("number", [2**53 - 1, 1 - 2**53, 0, -1])
def test_integers_below_2_to_the_53_are_read(tmp_path: Path, number: int) -> None:
    """The longest, with its sign, has 17 characters."""
    assert files.read(put(tmp_path, f"[{number}]")) == [number]


@pytest.mark.parametrize("number", [10**17, -(10**16), 10**30])
def test_integers_of_18_characters_are_too_large(tmp_path: Path, number: int) -> None:
    assert len(str(number)) >= 18
    with pytest.raises(NotACertificate, match=r"^An integer of the file is 2\^53 or larger"):
        files.read(put(tmp_path, f"[{number}]"))


@pytest.mark.parametrize("text", ["1.5", "1e3", "-0.0", "NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_not_exact_are_refused_as_read(tmp_path: Path, text: str) -> None:
    with pytest.raises(NotACertificate) as error:
        files.read(put(tmp_path, f'{{"a": [{text}]}}'))
    assert str(error.value) == f"The file contains '{text}', and exact numbers are strings."


def test_a_file_that_is_as_long_as_allowed_is_read(tmp_path: Path) -> None:
    path = put(tmp_path, b"12345")
    assert files.contents(path, 5) == b"12345"
    with pytest.raises(NotACertificate, match=r"^The file is larger than 4 bytes\.$"):
        files.contents(path, 4)


def test_neither_empty_files_nor_folders_are_read(tmp_path: Path) -> None:
    """A folder has a size on most systems."""
    for path in (tmp_path, put(tmp_path, b"")):
        with pytest.raises(NotACertificate, match=r"^The file is empty or is not a regular file"):
            files.contents(path, 10**6)


def test_a_file_that_grows_is_read_as_long_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, asked = put(tmp_path, b"12345"), os.fstat

    def growing(descriptor: int) -> os.stat_result:
        told = asked(descriptor)
        with path.open("ab") as stream:
            stream.write(b"67890")
        return told

    monkeypatch.setattr(os, "fstat", growing)
    assert files.contents(path, 5) == b"12345"


def test_a_file_that_grew_since_it_was_looked_at_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened = put(tmp_path, b"12345"), os.open

    def late(path: Any, how: int, *more: Any) -> int:
        descriptor = opened(path, os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, b"67890")
        os.close(descriptor)
        return opened(path, how, *more)

    monkeypatch.setattr(os, "open", late)
    with pytest.raises(NotACertificate, match=r"^The file is larger than 5 bytes\.$"):
        files.contents(path, 5)


def test_what_was_put_in_the_place_of_a_file_is_opened_without_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe that nobody writes into would let the checker wait for ever."""
    path, opened, flags = put(tmp_path, b"12345"), os.open, list[int]()

    def watched(path: Any, how: int, *more: Any) -> int:
        flags.append(how)
        return opened(path, how, *more)

    monkeypatch.setattr(os, "open", watched)
    assert files.contents(path, 5) == b"12345"
    assert flags == [os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)]


def test_files_are_read_where_no_system_call_can_be_told_not_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_NONBLOCK", raising=False)
    assert files.contents(put(tmp_path, b"12345"), 5) == b"12345"


def test_a_file_that_does_not_fit_is_refused_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(limits.LIMITS, "memory", 0)
    with pytest.raises(NotACertificate, match=r"^The file brings the memory to "):
        files.read(put(tmp_path, "[[], []]"))
