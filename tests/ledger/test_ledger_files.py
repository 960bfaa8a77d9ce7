"""A ledger as a file, to the letter; and what is told of each claim beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger import entries
from lemmax.theory.ledger.claims import Catalogue, load_claims
from lemmax.theory.ledger.records import Record, disagreements, read_ledger, stale, to_json
from lemmax.theory.ledger.verdicts import Evidence, LedgerError, build_ledger

FORMULA = "given x: real; conclude x*x >= 0"
TEXTS: dict[str, Any] = {
    "reading": "as written",
    "sharpens": "x/root",
    "formal": "given M: matrix; conclude rank(M) <= 1",
    "consequence": "a part of it",
    "formula": FORMULA,
    "counterformula": FORMULA.replace("0", "1"),
    "symbols": "x is a number",
    "repaired_by": "x/root",
    "repair": "it says less",
    "quote": "we believe",
    "counterexample": "the matrix 0",
    "hedge": "believe",
    "waits": "for a proof",
    "refutation": "universal",
}
LISTS: dict[str, Any] = {
    "uses": ["x/root"],
    "consequence_uses": ["x/root"],
    "theorems": ["file.name"],
}
LISTS |= {"holds_as": ["x/root"]}


def table(name: str, kind: str = "A", **fields: Any) -> str:
    given = {"id": name, "kind": kind, "number": f"No. {name[-1]}", "title": f"title {name}"}
    given |= {"statement": f" says {name}\n", "place": "Section 1", "source": "text"} | fields
    lines = [f"{key} = {json.dumps(value)}" for key, value in given.items()]
    return "\n".join(("[[claim]]", *lines, ""))


@pytest.fixture
def claims(tmp_path: Path) -> list[Path]:
    (tmp_path / "x.toml").write_text(
        '[paper]\nkey = "x"\ntitle = "X"\n'
        + table("x/root", informal="it is vague")
        + table("x/full", **TEXTS, **LISTS)
        + table("x/word", "D")
    )
    (tmp_path / "y.toml").write_text('[paper]\nkey = "y"\ntitle = "Y"\n' + table("y/one", "I"))
    return [tmp_path / "x.toml", tmp_path / "y.toml"]


@pytest.fixture
def catalogue(claims: list[Path]) -> Catalogue:
    return load_claims(claims)


def pieces(catalogue: Catalogue) -> list[Evidence]:
    """A proof, a certificate in the kernel, one that is not, and a test that did not run."""
    root, one, full = (catalogue[name].digest for name in ("x/root", "y/one", "x/full"))
    return [
        Evidence("x/root", "argued", "for", "p.md", statement=root),
        Evidence(
            "y/one",
            "certified",
            "for",
            "t.py::é",
            certificates=("a.json", "b.json"),
            sha256=("1", "2"),
            statement=one,
            kernel_checked=("a.json", "b.json"),
        ),
        Evidence(
            *("y/one", "certified", "for", "t.py::ü"),
            certificates=("c/d.json",),
            sha256=("3",),
            statement=one,
        ),
        Evidence("x/full", "certified", "against", "t.py::f", statement=full),
        Evidence("x/full", "property", "for", "t.py::g", "not-run", count=3),
    ]


def written(catalogue: Catalogue, *changes: tuple[int, dict[str, Any]]) -> str:
    items = pieces(catalogue)
    for place, fields in changes:
        items[place] = replace(items[place], **fields)
    return to_json(build_ledger(catalogue, items), ["t.py::g", "b"])


def test_a_ledger_to_the_letter(catalogue: Catalogue) -> None:
    """Written out a second time, by hand: a claim per line, in order, and nothing that is empty."""
    digest = {claim.id: claim.digest for claim in catalogue}
    full = (
        '{"digest": "' + digest["x/full"] + '", "evidence": [{"direction": "against", '
        '"grade": "certified", "outcome": "passed", "statement": "' + digest["x/full"] + '", '
        '"test": "t.py::f"}, {"count": 3, "direction": "for", "grade": "property", '
        '"outcome": "not-run", "test": "t.py::g"}], "grade": null, "id": "x/full", "kind": "A", '
        '"number": "No. l", "paper": "x", "repaired_by": "x/root", "source": "text", '
        '"title": "title x/full", "verdict": "open"}'
    )
    root = (
        '{"digest": "' + digest["x/root"] + '", "evidence": [{"direction": "for", '
        '"grade": "argued", "outcome": "passed", "statement": "' + digest["x/root"] + '", '
        '"test": "p.md"}], "grade": "argued", "id": "x/root", "kind": "A", "number": "No. t", '
        '"paper": "x", "repaired_by": null, "source": "text", "title": "title x/root", '
        '"verdict": "holds"}'
    )
    word = (
        '{"digest": "' + digest["x/word"] + '", "evidence": [], "grade": null, "id": "x/word", '
        '"kind": "D", "number": "No. d", "paper": "x", "repaired_by": null, "source": "text", '
        '"title": "title x/word", "verdict": "definition"}'
    )
    one = (
        '{"digest": "' + digest["y/one"] + '", "evidence": [{"certificates": ["a.json", "b.json"], '
        '"direction": "for", "grade": "certified", "kernel_checked": ["a.json", "b.json"], '
        '"outcome": "passed", "sha256": ["1", "2"], "statement": "' + digest["y/one"] + '", '
        '"test": "t.py::é"}, {"certificates": ["c/d.json"], "direction": "for", '
        '"grade": "certified", "outcome": "passed", "sha256": ["3"], "statement": "'
        + digest["y/one"]
        + '", "test": "t.py::ü"}], "grade": "certified", "id": "y/one", "kind": "I", '
        '"number": "No. e", "paper": "y", "repaired_by": null, "source": "text", '
        '"title": "title y/one", "verdict": "holds"}'
    )
    text = written(catalogue)
    first, *lines, last = text.splitlines()
    start = '{"format": "lemmax-ledger", "version": 2, "left_out": ["b", "t.py::g"], "claims": ['
    assert first == start
    assert (last, text[-1]) == ("]}", "\n")
    told = [line.removesuffix(",") for line in lines]
    assert told == [full, root, word, one]


def test_a_ledger_is_read_back(catalogue: Catalogue, tmp_path: Path) -> None:
    file = tmp_path / "ledger.json"
    file.write_text(written(catalogue), encoding="utf-8")
    record = read_ledger(file)
    assert record.left_out == ("b", "t.py::g")
    assert list(record.claims) == ["x/full", "x/root", "x/word", "y/one"]
    ledger = build_ledger(catalogue, pieces(catalogue))
    assert record.evidence() == [e for _, entry in sorted(ledger.items()) for e in entry.evidence]
    assert read_ledger(str(file)) == record
    older = json.loads(file.read_text(encoding="utf-8")) | {"version": 1}
    file.write_text(json.dumps(older), encoding="utf-8")
    assert read_ledger(file) == record


def entry(**changes: Any) -> dict[str, Any]:
    item = {"grade": "kernel", "direction": "for", "test": "t"}
    whole = {"id": "x/c", "digest": "0", "verdict": "open", "grade": None, "evidence": [item]}
    for name, value in changes.items():
        place = item if name.startswith("item_") else whole
        key = name.removeprefix("item_")
        if value is ...:
            del place[key]
        else:
            place[key] = value
    return whole


HEAD = {"format": "lemmax-ledger", "version": 2, "left_out": []}
WHICH = " is not a lemmax ledger of version 1 or 2."
DAMAGED = " is not a lemmax ledger: an entry is damaged."
NONE = " is not a lemmax ledger."


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (HEAD | {"claims": [entry()], "format": "ledger"}, WHICH),
        (HEAD | {"claims": [entry()], "version": 3}, WHICH),
        (HEAD | {"claims": [entry()], "version": 0}, WHICH),
        (HEAD | {"claims": [entry(), entry()]}, " has two entries for one claim."),
        (HEAD | {"claims": [entry(digest=1)]}, DAMAGED),
        (HEAD | {"claims": [entry(verdict=None)]}, DAMAGED),
        (HEAD | {"claims": [entry(grade=1)]}, DAMAGED),
        (HEAD | {"claims": [entry(id=1)]}, DAMAGED),
        (HEAD | {"claims": [entry(item_grade=None)]}, DAMAGED),
        (HEAD | {"claims": [entry(item_direction=1)]}, DAMAGED),
        (HEAD | {"claims": [entry(item_test=[])]}, DAMAGED),
        (HEAD | {"claims": [entry(evidence=...)]}, NONE),
        (HEAD | {"claims": [entry(digest=...)]}, NONE),
        (HEAD | {"claims": [entry(grade=...)]}, NONE),
        (HEAD | {"claims": [entry(item_grade=...)]}, NONE),
        (HEAD | {"claims": [entry(item_direction=...)]}, NONE),
        (HEAD | {"claims": [entry(item_test=...)]}, NONE),
        (HEAD | {"claims": 1}, NONE),
        (HEAD, NONE),
        ({"claims": [], "version": 2, "left_out": []}, NONE),
        ({"claims": [], "format": "lemmax-ledger", "left_out": []}, NONE),
        ({"claims": [], "format": "lemmax-ledger", "version": 2}, NONE),
        ([], NONE),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_is_no_ledger_is_refused(document: Any, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "ledger.json"
    file.write_text(json.dumps(HEAD | {"claims": [entry(), entry(id="x/d", grade="kernel")]}))
    assert list(read_ledger(file).claims) == ["x/c", "x/d"]
    file.write_text(json.dumps(document))
    with pytest.raises(LedgerError) as refused:
        read_ledger(file)
    assert str(refused.value) == f"{file}{sentence}"


def test_unknown_fields_and_files_are_named(tmp_path: Path) -> None:
    file = tmp_path / "ledger.json"
    with pytest.raises(LedgerError) as refused:
        read_ledger(file)
    advice = "pytest --ledger ledger.json writes one."
    assert str(refused.value) == f"There is no ledger at {file}: {advice}"
    file.write_text(json.dumps(HEAD | {"claims": [entry(item_zeal=1, item_mood=2)]}))
    with pytest.raises(LedgerError) as refused:
        read_ledger(file)
    assert str(refused.value) == "The ledger has an unknown field 'mood'."


def read(text: str) -> Record:
    document = json.loads(text)
    return Record({e["id"]: e for e in document["claims"]}, tuple(document["left_out"]))


def test_claims_that_changed_came_or_went_are_stale(catalogue: Catalogue) -> None:
    record = read(written(catalogue))
    assert stale(record, catalogue) == []
    more = {**record.claims, "z/gone": {"digest": "0"}, "y/one": {"digest": "1"}}
    del more["x/root"]
    assert stale(Record(more, ()), catalogue) == ["x/root", "y/one", "z/gone"]
    fresh = build_ledger(catalogue, pieces(catalogue))
    assert disagreements(Record(more, ()), fresh, catalogue) == [
        f"{name}: the claim changed after the ledger was written."
        for name in ("x/root", "y/one", "z/gone")
    ]


def test_what_differs_from_a_ledger_to_the_letter(catalogue: Catalogue) -> None:
    fresh = build_ledger(catalogue, pieces(catalogue))
    assert disagreements(read(written(catalogue)), fresh, catalogue) == []
    other = read(
        written(
            catalogue,
            (0, {"test": "old.md"}),
            (1, {"sha256": ("1", "9"), "scope": "n = 1", "kernel_checked": ()}),
            (2, {"theorems": ("a.b",), "details": "so", "measured": "open"}),
        )
    )
    claims = {name: dict(entry) for name, entry in other.claims.items()}
    claims["x/word"] |= {"title": "another", "number": "9", "kind": "A", "source": "summary"}
    claims["y/one"] |= {"paper": "x", "repaired_by": "x/root"}
    del claims["x/full"]["title"]
    told = disagreements(Record(claims, ()), fresh, catalogue)
    one = "y/one: the {} of t.py::{} differ from the ledger's: {}, not {}."
    assert told == [
        "x/root: the evidence old.md no longer exists.",
        one.format("kernel_checked", "é", "('a.json', 'b.json')", "()"),
        one.format("scope", "é", "None", "'n = 1'"),
        one.format("sha256", "é", "('1', '2')", "('1', '9')"),
        one.format("details", "ü", "None", "'so'"),
        one.format("measured", "ü", "None", "'open'"),
        one.format("theorems", "ü", "()", "('a.b',)"),
        "x/full: the title was None and is 'title x/full'.",
        "x/word: the kind was 'A' and is 'D'.",
        "x/word: the number was '9' and is 'No. d'.",
        "x/word: the source was 'summary' and is 'text'.",
        "x/word: the title was 'another' and is 'title x/word'.",
        "y/one: the paper was 'x' and is 'y'.",
        "y/one: the repaired_by was 'x/root' and is None.",
    ]


def test_verdicts_that_differ_are_told_with_their_grades(catalogue: Catalogue) -> None:
    failing = pieces(catalogue)
    failing[0] = replace(failing[0], outcome="failed")
    fresh = build_ledger(catalogue, failing)
    record = read(written(catalogue))
    told = disagreements(record, fresh, catalogue)
    assert "x/root: the ledger says holds (argued), a fresh run says open." in told
    claims = {name: dict(entry) for name, entry in record.claims.items()}
    claims["y/one"]["verdict"] = "refuted"
    claims["x/root"]["grade"] = "kernel"
    whole = build_ledger(catalogue, pieces(catalogue))
    assert disagreements(Record(claims, ()), whole, catalogue) == [
        "x/root: the ledger says holds, but its own evidence gives holds (argued).",
        "y/one: the ledger says refuted, but its own evidence gives holds (certified).",
    ]


def test_premises_and_grants_count_in_every_comparison(catalogue: Catalogue) -> None:
    premises, granted = {"p.md": ("lemmax:z/c",)}, {"lemmax:z/c"}
    with_grant = build_ledger(catalogue, pieces(catalogue), premises, granted)
    assert with_grant["x/root"].verdict == "holds"
    record = read(to_json(with_grant))
    assert disagreements(record, with_grant, catalogue, premises, granted) == []
    (sentence,) = disagreements(record, with_grant, catalogue, premises)
    assert sentence == "x/root: the ledger says holds, but its own evidence gives open."


# -- beside the claims --------------------------------------------------------------------------


@pytest.fixture
def ledger(catalogue: Catalogue, tmp_path: Path) -> Path:
    file = tmp_path / "ledger.json"
    file.write_text(written(catalogue), encoding="utf-8")
    return file


def test_everything_about_a_claim(ledger: Path, claims: list[Path], catalogue: Catalogue) -> None:
    record = read_ledger(ledger)
    told = entries.entries(ledger, claims)
    assert list(told) == ["x/root", "x/full", "x/word", "y/one"]
    texts = {name: text for name, text in TEXTS.items() if name != "refutation"}
    assert told["x/full"] == {
        "id": "x/full",
        "paper": "x",
        "kind": "A",
        "number": "No. l",
        "title": "title x/full",
        "statement": "says x/full",
        "place": "Section 1",
        "source": "text",
        "verdict": record.claims["x/full"]["verdict"],
        "grade": record.claims["x/full"]["grade"],
        "kernel_checked": False,
        "informal": None,
        "digest": catalogue["x/full"].digest,
        "used_by": [],
        "evidence": record.claims["x/full"]["evidence"],
        **texts,
        **LISTS,
    }
    assert told["x/root"]["informal"] == "it is vague"
    assert told["x/root"]["used_by"] == ["x/full"]
    assert (told["x/root"]["verdict"], told["x/root"]["grade"]) == ("holds", "argued")
    assert (told["y/one"]["verdict"], told["y/one"]["kernel_checked"]) == ("holds", True)
    assert [item["test"] for item in told["y/one"]["evidence"]] == ["t.py::é", "t.py::ü"]
    assert entries.one("x/full", ledger, claims) == told["x/full"]
    with pytest.raises(LemmaxError, match=r"There is no claim 'x/ful'\. Nearest: x/full\."):
        entries.one("x/ful", ledger, claims)


def test_a_claim_that_changed_is_stale(ledger: Path, claims: list[Path]) -> None:
    claims[1].write_text(claims[1].read_text().replace("says y/one", "says more"))
    claims[0].write_text(claims[0].read_text() + table("x/new"))
    told = entries.entries(ledger, claims)
    one, new = told["y/one"], told["x/new"]
    assert (one["verdict"], one["grade"], one["kernel_checked"]) == ("stale", None, False)
    assert len(one["evidence"]) == 2
    assert (new["verdict"], new["grade"], new["kernel_checked"]) == ("stale", None, False)
    assert new["evidence"] == []


def test_what_is_listed(ledger: Path, claims: list[Path]) -> None:
    told = entries.listed(None, ledger, claims)
    assert [row["id"] for row in told] == ["x/root", "x/full", "y/one"]
    (one,) = entries.listed("y", ledger, claims)
    assert (
        one
        == told[2]
        == {
            "id": "y/one",
            "paper": "y",
            "kind": "I",
            "number": "No. e",
            "title": "title y/one",
            "verdict": "holds",
            "grade": "certified",
            "kernel_checked": True,
            "source": "text",
            "repaired_by": None,
        }
    )
    with pytest.raises(LemmaxError) as refused:
        entries.listed("z", ledger, claims)
    assert str(refused.value) == "There is no paper 'z'; the papers are x, y."


def test_the_certificates_of_a_claim(ledger: Path, claims: list[Path]) -> None:
    assert entries.certificates_of("y/one", ledger, claims) == ["a", "b", "c/d"]
    assert entries.certificates_of("x/root", ledger, claims) == []


def test_claims_of_lemmax_from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names are those of the shipped ledger; verdicts are set, for the ledger grows."""
    verdicts = {
        "a/holds": {"verdict": "holds", "repaired_by": None},
        "a/open": {"verdict": "open", "repaired_by": "a/holds"},
        "a/mended": {"verdict": "repaired", "repaired_by": "a/holds"},
        "a/half": {"verdict": "repaired", "repaired_by": "a/open"},
    }
    monkeypatch.setattr(entries, "one", verdicts.__getitem__)
    assert entries.holds_in_lemmax("lemmax:a/holds") is True
    assert entries.holds_in_lemmax("lemmax:a/open") is False
    assert entries.holds_in_lemmax("lemmax:a/mended") is True
    assert entries.holds_in_lemmax("lemmax:a/half") is False
    assert entries.holds_in_lemmax("lemmax-0.0:a/holds") is False
    assert entries.holds_in_lemmax(f"lemmax-{version('lemmax')}:a/holds") is True
    assert entries.holds_in_lemmax(f"lemmax-{version('lemmax')}:a/open") is False

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(entries, "version", missing)
    assert entries.holds_in_lemmax("lemmax:a/holds") is True
    assert entries.holds_in_lemmax("lemmax-none:a/holds") is True
    assert entries.holds_in_lemmax("lemmax-1:a/holds") is False
    for name in ("a/holds", "other:a/holds", "lemmax:"):
        assert not entries.elsewhere(name)
        with pytest.raises(LemmaxError) as refused:
            entries.holds_in_lemmax(name)
        assert str(refused.value) == f"{name!r} does not name a claim of lemmax."
