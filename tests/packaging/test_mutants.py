"""The record of mutants: well-formed, its counts derived, its reasons about what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.mutants import record
from benchmarks.mutants.rooms import ROOMS

ROOT = Path(__file__).parent.parent.parent
LEFT = {"function", "line", "was", "now", "digest", "result"}


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    return record.read()


def run_of(digest: str, result: str, path: str = "theory/lemmax/checker/a.py") -> dict[str, Any]:
    told = {"path": path, "function": "f", "line": 3, "was": "a < b", "now": "a <= b"}
    return told | {"digest": digest, "result": result}


def test_every_file_of_the_rooms_is_recorded_once(lines: list[dict[str, Any]]) -> None:
    places = [(line["path"], line["part"]) for line in lines]
    assert len(set(places)) == len(places)
    paths = {path for path, _ in places}
    targets = tuple(target for room in ROOMS.values() for target in room.targets)
    assert all(path.startswith(targets) for path in paths)
    assert all((ROOT / target).is_dir() for target in targets)
    assert {record.folder_of(target + "/a.py") for target in targets} == {
        record.folder_of(path) for path in paths
    }


def test_the_record_is_well_formed(lines: list[dict[str, Any]]) -> None:
    digests: list[str] = []
    for line in lines:
        counts = record.counts(line, {})
        assert counts.ran + counts.unrunnable <= counts.mutants
        assert min(counts.numbers()) >= 0
        for each in line["left"]:
            assert set(each) == LEFT
            assert each["result"] in record.LEFT
            assert each["was"] != each["now"] or len(each["was"]) == record.SHOWN
            digests.append(each["digest"])
    assert len(set(digests)) == len(digests)


def test_reasons_are_given_for_survivors_only(lines: list[dict[str, Any]]) -> None:
    left = {each["digest"] for line in lines for each in line["left"]}
    reasons = record.equivalents()
    before = record.equivalents(but=record.AFTERWARDS)
    assert set(before) <= left
    fresh = {x["digest"] for x in record.read(record.FRESH) if x["result"] in record.LEFT}
    assert set(reasons) - set(before) <= fresh - left
    assert all(len(why.split()) > 3 for why in reasons.values())


def test_the_table_adds_up_the_record(lines: list[dict[str, Any]]) -> None:
    told = [row.split(" | ") for row in record.table().splitlines()[2:]]
    assert [row[0].removeprefix("| ") for row in told] == list(record.rooms(lines, {}))
    for column, name in ((1, "mutants"), (3, "killed"), (4, "timeout")):
        assert sum(int(row[column].replace(",", "")) for row in told) == sum(
            line[name] for line in lines
        )
    left = sum(int(row[n].replace(",", "")) for row in told for n in (5, 6))
    assert left == sum(len(line["left"]) for line in lines)
    assert record.listed().count("\n") <= left + 1


def test_the_last_result_of_a_mutant_that_exists_counts(tmp_path: Path) -> None:
    path = "theory/lemmax/checker/a.py"
    runs = [
        run_of("a", "survived"),
        run_of("b", "survived"),
        run_of("a", "killed"),
        run_of("c", "uncovered"),
        run_of("d", "timeout"),
        run_of("gone", "survived"),
    ]
    (line,) = record.record(runs, {(path, ""): record.Made(7, 2, set("abcdefghi"))})
    assert [each["digest"] for each in line["left"]] == ["b", "c"]
    counts = record.counts(line, {"b": "it is the same"})
    assert counts == record.Counts(7, 2, 1, 1, 1, 1, 1)
    assert (counts.ran, counts.found) == (4, 2)
    assert record.cells(counts)[-1] == "66.7%"
    assert record.cells(record.Counts(10, 0, 0, 0, 0, 1, 1))[-1] == "–"


def test_every_survivor_has_a_reason(lines: list[dict[str, Any]]) -> None:
    reasons = record.equivalents()
    left = {each["digest"]: line["path"] for line in lines for each in line["left"]}
    assert {path for digest, path in left.items() if digest not in reasons} == set()


def test_what_was_drawn_afterwards_is_a_sample_of_the_sampled_folders(tmp_path: Path) -> None:
    again = record.read(record.FRESH)
    assert len({line["digest"] for line in again}) == len(again)
    assert all(line["path"].startswith(ROOMS["keeping"].targets) for line in again)
    assert {line["result"] for line in again} <= {*record.COUNTED, *record.LEFT}
    place, why = tmp_path / "fresh.jsonl", tmp_path / "why"
    results = [*["killed"] * 8, "timeout", "survived", "uncovered", "unrunnable"]
    record.write((run_of(str(n), result) for n, result in enumerate(results)), place)
    why.mkdir()
    table = '[[equivalent]]\nwhy = "it is the same as that"\ndigests = ["0", "10"]\n'
    (why / "a.toml").write_text(table, encoding="utf-8")
    share = "without 1 shown to mean the same that is 90.0% (59.6% to 98.2%,"
    for later, said in (("", ("0", "1")), (table.replace('"10"', '"9"'), ("1", "0"))):
        (why / record.AFTERWARDS).write_text(later or "equivalent = []", encoding="utf-8")
        told = record.drawn_again(place, why)
        assert told.startswith(
            "Of 11 mutants of these folders that another seed drew afterwards 9 "
        )
        assert share in told  # whatever is known since
        same, found = said
        assert f"of the others {same} were shown to mean the same afterwards" in told
        assert told.endswith(f"and tests find {found} now.")


def test_wilsons_interval() -> None:
    """Against the roots of (share - p)^2 = z^2 p (1 - p) / n, which define it."""
    for found, of in ((0, 10), (9, 10), (1800, 2000), (10, 10)):
        for p in record.wilson(found, of):
            assert (found / of - p) ** 2 == pytest.approx(1.96**2 * p * (1 - p) / of, abs=1e-12)
