"""Errata as a letter: who is in it, in which order, in which words; compiled and as a page."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lemmax.cli import main as lemmax
from lemmax.constructions import shipped
from lemmax.paper.errata import errata_of, read_letter
from lemmax.paper.letter_files import letter_html, letter_latex
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.records import read_ledger, stale, to_json
from lemmax.theory.ledger.verdicts import Evidence, build_ledger

PAPERS = ("wong", "dana")


@pytest.mark.parametrize("key", PAPERS)
def test_who_is_in_the_letter_follows_from_the_ledger(key: str) -> None:
    ledger, catalogue = read_ledger(shipped.LEDGER), load_claims()
    record, due = ledger.claims, set(stale(ledger, catalogue))
    read = [c for c in catalogue if c.paper == key and c.source == "text" and c.id not in due]
    wrong = {c.id for c in read if record[c.id]["verdict"] in ("refuted", "repaired")}
    letter = read_letter(key)
    assert {e.claim.id for e in letter.errata} == wrong
    # no words to authors about what is not refuted
    assert {c.id for c in read if c.quote} == wrong
    for erratum in letter.errata:
        assert erratum.commands
        claim = erratum.claim
        promised = {*claim.holds_as, *filter(None, [claim.repaired_by])}
        if record[erratum.claim.id]["verdict"] == "repaired":
            apart = due | {claim.sharpens}  # what the text says may hold, or be measured
            assert {c.id for c in erratum.holds} - apart == promised - apart
        assert {record[c.id]["verdict"] for c in erratum.holds} <= {"holds", "reproduced"}


@pytest.mark.parametrize("key", PAPERS)
def test_quotations_are_short_and_hedged_sentences_come_last(key: str) -> None:
    letter = read_letter(key)
    for erratum in letter.errata:
        words = re.sub(r"\\\(.*?\\\)|\\\[.*?\\\]", "x", erratum.claim.quote or "").split()
        assert 1 <= len(words) <= 40
        assert len((erratum.claim.counterexample or "").split()) >= 8
    hedged = [e.hedged for e in letter.errata]
    assert hedged == sorted(hedged)
    weights = [e.weight for e in letter.errata]
    assert weights == sorted(weights)


@pytest.mark.parametrize("key", PAPERS)
def test_what_the_paper_leans_on_more_is_graver(key: str) -> None:
    """Theorems first, the text last; among equals the one that more of the paper rests on."""
    plain = [e for e in read_letter(key).errata if not e.hedged]
    text = [e.claim.number == "text" for e in plain]
    assert text == sorted(text)
    for one, other in itertools.pairwise(plain):
        if one.weight[:3] == other.weight[:3]:
            assert one.leaning >= other.leaning


def test_what_nobody_read_in_the_paper_is_kept_apart() -> None:
    assert errata_of("mahdavi")
    assert not any(e.addressed for e in errata_of("mahdavi"))
    assert all(e.addressed for e in read_letter("dana").errata)


CLAIMS = """
[paper]
key = "mine"
title = "Ranks"
authors = "A. Author"

[[claim]]
id = "mine/lemma"
kind = "A"
number = "Lemma 1"
title = "argmax of rank one"
statement = "The rank is at most 2."
place = "Section 1"
source = "text"
"""


def test_a_letter_from_another_project(tmp_path: Path) -> None:
    (tmp_path / "claims.toml").write_text(CLAIMS, encoding="utf-8")
    against = Evidence("mine/lemma", "certified", "against", "t.py::t")
    claims = load_claims([tmp_path / "claims.toml"])
    ledger = build_ledger(claims, [replace(against, statement=claims["mine/lemma"].digest)])
    (tmp_path / "ledger.json").write_text(to_json(ledger), encoding="utf-8")
    places = ([tmp_path / "claims.toml"], tmp_path / "ledger.json")
    with pytest.raises(LemmaxError, match=r"no words on mine/lemma: its claim has no quote\."):
        read_letter("mine", *places)
    words = 'quote = "rank at most two"\ncounterexample = "It is 3."\nhedge = "“easily”"\n'
    (tmp_path / "claims.toml").write_text(CLAIMS + words, encoding="utf-8")
    letter = letter_latex(read_letter("mine", *places))
    for part in ("``rank at most two''", "It is 3.", "``easily''", "pytest t.py"):
        assert part in letter


def test_the_gravest_comes_first() -> None:
    assert read_letter("dana").errata[0].claim.id == "dana/theorem-1"
    assert read_letter("wong").errata[0].claim.id == "wong/proposition-3.1"


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("mahdavi", "No statement of mahdavi was read in the paper itself"),
        ("lemmax", "Nothing of lemmax is refuted"),
        ("nobody", "There is no paper 'nobody'"),
    ],
)
def test_nobody_is_blamed_for_what_nobody_read(
    key: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LemmaxError, match=sentence):
        read_letter(key)
    with pytest.raises(SystemExit) as caught:
        lemmax(["errata", key])
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith(f"lemmax: {sentence}")


@pytest.mark.parametrize("key", PAPERS)
def test_the_letter_compiles(key: str, tmp_path: Path) -> None:
    program = shutil.which("pdflatex")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("there is no pdflatex: make system installs it")
        pytest.skip("there is no pdflatex: make system installs it")
    with pytest.raises(SystemExit) as caught:
        lemmax(["errata", key, "-o", str(tmp_path / "letter.tex")])
    assert not caught.value.code
    done = subprocess.run(
        [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "letter.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="latin-1",
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.findall(r"Overfull .hbox \((\d+\.\d+)pt too wide\)", done.stdout) == []
    assert "U+" not in (tmp_path / "letter.tex").read_text("utf-8")


class _Page(HTMLParser):
    """Collects the text, and fails on tags that do not fit together."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.sections: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "hr"):
            self.open.append(tag)
        if tag == "section":
            self.sections.append(dict(attrs)["id"])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("key", PAPERS)
def test_the_page_says_the_same(key: str) -> None:
    letter = read_letter(key)
    page = _Page()
    page.feed(letter_html(letter))
    assert page.open == []
    assert page.sections == [e.claim.id for e in letter.errata]
    for erratum in letter.errata:
        assert (erratum.claim.quote or "no quote").removesuffix(r"\]") in page.text
        assert (erratum.claim.counterexample or "none").strip() in page.text
        assert all(c.statement.strip() in page.text for c in erratum.holds)
    assert "<script" not in letter_html(letter)
    assert '<script defer src="m&quot;.js">' in letter_html(letter, 'm".js')


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        lemmax(["errata", "dana", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert [e["claim"] for e in told] == [e.claim.id for e in read_letter("dana").errata]


@pytest.mark.parametrize("key", PAPERS)
def test_the_letter_counts_what_stands(key: str) -> None:
    record = read_ledger(shipped.LEDGER).claims.values()
    read = [c for c in record if c["paper"] == key and c["source"] == "text"]
    standing = sum(c["verdict"] in ("holds", "reproduced") for c in read)
    assert f", {standing} stand as you wrote them" in letter_latex(read_letter(key))
