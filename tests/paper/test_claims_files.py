"""The claims file: what a paper decides in it, and what it leaves as its author wrote it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lemmax.paper.errors import PaperError
from lemmax.paper.papers import Paper, read_paper
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.records import read_ledger, stale, to_json
from lemmax.theory.ledger.verdicts import Evidence, build_ledger

Write = Callable[..., Path]

BODY = r"""\section{Parity}
\begin{definition}\label{def:odd} Odd is not even. \end{definition}
\begin{lemma}[Sums]\label{lem:sum} Two odd numbers have an even sum. \end{lemma}
\begin{proof} By \cref{def:odd}. \end{proof}
\begin{theorem}\label{thm:main_result} There is \emph{no} such layer. \end{theorem}
\begin{proof} By \cref{lem:sum}. \end{proof}
\begin{remark} Nobody minds this one. \end{remark}"""


def claims(paper: Paper) -> dict[str, dict[str, Any]]:
    return {c["id"]: c for c in tomllib.loads(paper.settings.claims.read_text("utf-8"))["claim"]}


def test_a_new_file_has_every_labelled_statement(write: Write) -> None:
    paper = read_paper(write(BODY, "\\title{On \\emph{Parity}}\\author{A. B. \\and C. D.}\n"))
    assert [d.what for d in paper.drifts()] == ["new"] * 3
    assert paper.write() == [paper.settings.claims]
    found = claims(paper)
    assert list(found) == ["parity/def-odd", "parity/lem-sum", "parity/thm-main_result"]
    assert found["parity/def-odd"]["kind"] == "D"
    assert found["parity/lem-sum"] == {
        "id": "parity/lem-sum",
        "kind": "A",
        "number": "Lemma",
        "title": "Sums",
        "statement": "Two odd numbers have an even sum.\n",
        "place": "Section “Parity”",
        "source": "text",
        "uses": ["parity/def-odd"],
    }
    assert found["parity/thm-main_result"]["title"] == "main_result"
    header = tomllib.loads(paper.settings.claims.read_text("utf-8"))["paper"]
    assert header["title"] == "On Parity"
    assert "A. B." in header["authors"]
    assert len(load_claims([paper.settings.claims])) == 3


def test_writing_twice_changes_nothing(write: Write) -> None:
    main = write(BODY)
    read_paper(main).write()
    again = read_paper(main)
    assert again.drifts() == []
    assert again.write() == []


HAND = '''# My claims.
[paper]
key = "parity"   # short

# -- the lemma --
[[claim]]
id = "parity/lem-sum"
kind = "I"                  # only this instance
number = "Lemma 7"
title = "Sums"
statement = """
Two odd   numbers
have an even sum."""
place = "Section “Parity”"
source = "text"
uses = ["lemmax/gram-integers", "parity/def-odd"]
refutation = "universal"
formal = { given = ["a", "b"], holds = "a + b == 0" }  # of another day

# -- the theorem --
[[claim]]
id = "parity/thm-main_result"
kind = "E"
number = "Theorem"
title = "A title of my own"
statement = \'\'\'
Something else.
\'\'\'
place = "Section “Parity”"
source = "text"
uses = ["parity/lem-sum"]
theorems = ["a", "b"]

# -- the end --
'''


def test_what_the_author_wrote_is_kept_to_the_byte(write: Write) -> None:
    main = write(BODY, **{"claims.toml": HAND})
    update = read_paper(main).update
    assert [(d.what, d.claim) for d in update.drifts] == [
        ("new", "parity/def-odd"),
        ("changed", "parity/thm-main_result"),
    ]
    rest = update.text.replace("There is no such layer.", "Something else.")
    start = rest.index('[[claim]]\nid = "parity/def-odd"')
    end = rest.index("[[claim]]", start + 1)
    assert rest[:start] + rest[end:] == HAND


def test_comments_stay_with_their_claims(write: Write) -> None:
    body = BODY.replace(
        r"\begin{theorem}", r"\begin{lemma}\label{lem:new} New. \end{lemma}\begin{theorem}"
    )
    text = read_paper(write(body, **{"claims.toml": HAND})).update.text
    assert '# -- the theorem --\n[[claim]]\nid = "parity/thm-main_result"' in text
    assert text.index("parity/lem-sum") < text.index("parity/lem-new") < text.index("the theorem")


def test_numbers_follow_latex_and_stay_without_it(write: Write) -> None:
    main = write(BODY, **{"claims.toml": HAND})
    paper = read_paper(main)
    assert 'number = "Lemma 7"' in paper.update.text
    assert any("There is no main.aux" in note for note in paper.notes)
    main.with_suffix(".aux").write_text("\\newlabel{lem:sum}{{1.2}{1}}\n", encoding="utf-8")
    paper = read_paper(main)
    assert 'number = "Lemma 1.2"' in paper.update.text
    assert "main.tex:9: main.aux has no number of 'def:odd'; run LaTeX again." in paper.notes


def test_a_changed_statement_makes_its_evidence_stale(write: Write) -> None:
    main = write(BODY)
    paper = read_paper(main)
    paper.write()
    held = Evidence("parity/lem-sum", "kernel", "for", "test_sum")
    claims = load_claims([paper.settings.claims])
    held = replace(held, statement=claims[held.claim].digest)
    paper.settings.ledger.write_text(to_json(build_ledger(claims, [held])), encoding="utf-8")
    main.write_text(
        main.read_text("utf-8").replace("have an even", "have an odd").replace("Odd is", "Odd  is"),
        encoding="utf-8",
    )
    changed = read_paper(main)
    assert [str(d) for d in changed.drifts()] == [
        "main.tex:10: the statement of parity/lem-sum changed."
    ]
    changed.write()
    record = read_ledger(paper.settings.ledger)
    assert stale(record, load_claims([paper.settings.claims])) == ["parity/lem-sum"]


def test_drift_both_ways(write: Write) -> None:
    main = write(BODY)
    read_paper(main).write()
    text = main.read_text("utf-8")
    main.write_text(
        text.replace("\\label{lem:sum}", "").replace("By \\cref{lem:sum}", "Clear"),
        encoding="utf-8",
    )
    paper = read_paper(main)
    assert [str(d) for d in paper.drifts()] == [
        "main.tex:10: the lemma has no label, so no claim.",
        "main.tex:12: the uses of parity/thm-main_result changed.",
        "claims.toml: the claim parity/lem-sum has no theorem in the paper.",
    ]
    paper.write()
    assert "parity/lem-sum" in claims(paper)  # nobody's work is thrown away


def test_claims_that_the_author_added_need_no_theorem(write: Write) -> None:
    added = (
        '[[claim]]\nid = "parity/folklore"\nkind = "A"\nnumber = "{}"\ntitle = "f"\n'
        'statement = "f"\nplace = "-"\nsource = "{}"\n'
    )
    for number, source, drifts in (
        ("text", "text", 0),
        ("new", "parity", 0),
        ("Lemma 9", "reconstruction", 0),
        ("Lemma 9", "text", 1),
    ):
        text = '[paper]\nkey = "parity"\n\n' + added.format(number, source)
        main = write("Nothing.", **{"claims.toml": text})
        assert len(read_paper(main).drifts()) == drifts


def test_settings_of_the_project(write: Write) -> None:
    settings = """[tool.lemmax.paper]
key = "gap"
claims = "ledger/gap.toml"
kinds = { lemma = "E", remark = "" }
"""
    main = write(BODY + "\\begin{remark}\\label{rem:x} X. \\end{remark}")
    root = main.parent.parent
    (root / "pyproject.toml").write_text(settings, encoding="utf-8")
    (root / "ledger").mkdir()
    paper = read_paper(main)
    paper.write()
    assert paper.settings.claims == root / "ledger" / "gap.toml"
    found = claims(paper)
    assert found["gap/lem-sum"]["kind"] == "E"
    assert "gap/rem-x" not in found
    (root / "pyproject.toml").write_text(settings.replace("gap", "other", 1), encoding="utf-8")
    with pytest.raises(PaperError, match=r"The key of the paper is 'gap', not 'other'\."):
        read_paper(main)


def test_pytests_own_settings_need_no_second_word(write: Write) -> None:
    main = write(BODY)
    (main.parent / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\nlemmax_claims = ["mine.toml"]\nlemmax_certificates = "c"\n',
        encoding="utf-8",
    )
    settings = read_paper(main).settings
    assert settings.claims == main.parent / "mine.toml"
    assert settings.certificates == main.parent / "c"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ("[tool.lemmax.paper]\nkeys = 1", "unknown key 'keys'"),
        ("[tool.lemmax.paper]\nkey = 1", "key must be a text"),
        ('[tool.lemmax.paper]\nkinds = { lemma = "Z" }', "kinds maps environments"),
        ("[tool", "not a TOML file"),
    ],
)
def test_bad_settings(write: Write, settings: str, sentence: str) -> None:
    main = write(BODY, **{"pyproject.toml": settings})
    with pytest.raises(PaperError, match=sentence):
        read_paper(main)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[paper", "claims.toml: This is not a TOML file"),
        ("x = 1", r"claims.toml: The \[paper\] table is missing"),
        ("[paper]\nx = 1", r"claims.toml: The \[paper\] table needs a key"),
        ('claim = 1\n[paper]\nkey = "a"', r"claims.toml: The claims are not \[\[claim\]\] tables"),
    ],
)
def test_bad_claims_files_are_left_alone(write: Write, text: str, sentence: str) -> None:
    main = write(BODY, **{"claims.toml": text})
    with pytest.raises(PaperError, match=sentence):
        read_paper(main)
    assert (main.parent / "claims.toml").read_text("utf-8") == text


def test_a_file_that_could_not_be_loaded_again_is_not_written(write: Write) -> None:
    text = '[paper]\nkey = "parity"\n\n[[claim]]\nid = "parity/mine"\nkind = "Z"\n'
    main = write(BODY, **{"claims.toml": text})
    with pytest.raises(LemmaxError, match=r"claims\.toml: parity/mine lacks the field"):
        read_paper(main).write()
    assert (main.parent / "claims.toml").read_text("utf-8") == text


def test_labels_that_give_one_id(write: Write) -> None:
    main = write(
        "\\begin{lemma}\\label{a:b} A. \\end{lemma}\\begin{lemma}\\label{a b} B.\\end{lemma}"
    )
    with pytest.raises(PaperError, match=r"main\.tex:8: The labels 'a b' and 'a:b' give the same"):
        read_paper(main)


def test_proofs_in_a_circle(write: Write) -> None:
    main = write(
        r"""\begin{lemma}\label{a} A. \end{lemma}\begin{proof} By \ref{b}. \end{proof}
\begin{lemma}\label{b} B. \end{lemma}\begin{proof} By \ref{a}. \end{proof}"""
    )
    with pytest.raises(PaperError, match=r"main\.tex:8: The proofs lean on each other in a circle"):
        read_paper(main)
    main.write_text(
        main.read_text("utf-8").replace(r"By \ref{a}.", r"Unlike \ref{a}. \lemmaxuses{}"),
        encoding="utf-8",
    )
    read_paper(main)


def test_statements_with_three_primes(write: Write) -> None:
    main = write("\\begin{lemma}\\label{a} $f'''=\\frac12$ \\end{lemma}")
    paper = read_paper(main)
    paper.write()
    assert claims(paper)["parity/a"]["statement"] == "\\(f'''=\\frac12\\)\n"
    assert read_paper(main).drifts() == []


def test_windows_line_ends_are_kept(write: Write) -> None:
    main = write(BODY)
    paper = read_paper(main)
    paper.write()
    path: Path = paper.settings.claims
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_paper(main).drifts() == []
    assert read_paper(main).write() == []
