"""Back into the PDF: badges, the table, values; compiled as an author and as arXiv would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lemmax.constructions import shipped
from lemmax.paper.badges import DATA, STYLE, breakable, style
from lemmax.paper.errors import PaperError
from lemmax.paper.papers import read_paper
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.records import to_json
from lemmax.theory.ledger.verdicts import Evidence, build_ledger

Write = Callable[..., Path]

BODY = r"""\section{Results \lemmax{lem:rank}}
\begin{definition}\label{def:odd}\lemmax{def:odd} Odd is not even. \end{definition}
\begin{lemma}[Ranks of $M$]\label{lem:rank}\lemmax{lem:rank} The rank is small. \end{lemma}
\begin{theorem}\label{thm:main}\lemmax{thm:main} The rank is large. \end{theorem}
\begin{theorem}\label{thm:open_50%s}\lemmax*{thm:open_50%s} The rank is something. \end{theorem}
Text with \lemmax{thm:main} and, as words, \lemmaxverdict{lem:rank} (\lemmaxgrade{lem:rank}).
\parbox{3cm}{In a box: \lemmax{thm:main}.} A note\footnote{With \lemmax{lem:rank}.}
\begin{figure}\caption{A float with \lemmax{lem:rank}.}\end{figure}
\begin{tabular}{p{3cm}} \lemmax{lem:rank} \end{tabular} \fbox{\lemmax{lem:rank}}
\[ M=\lemmaxvalue{wong/argmax-rank-one:M}, \quad n = \lemmaxvalue{count:claims} \]
\setbox0\hbox{\lemmax*{lem:rank}}\typeout{badge=\the\wd0.}
\setbox0\hbox{\lemmaxvalue{count:refuted}}\typeout{value=\the\wd0.}
See \lemmax*{wong/proposition-3.6}.
\appendix\section{All statements}
\lemmaxtable""".replace("%s", ":ü")

LONG = "tests/a_folder/test_a_long_name.py::test_theorem_with_a_name_that_no_column_holds_at_once"


def finished(main: Path) -> Path:
    """Claims and a ledger for the paper, and what its PDF needs."""
    paper = read_paper(main, sty=True)
    paper.settings.claims.write_text(paper.update.text, encoding="utf-8")
    evidence = [
        Evidence(
            "parity/lem-rank", "certified", "against", "t.py::t", certificates=("lem-rank.json",)
        ),
        Evidence("parity/thm-main", "kernel", "for", LONG),
    ]
    claims = load_claims([paper.settings.claims])
    made_for = [replace(e, statement=claims[e.claim].digest) for e in evidence]
    ledger = build_ledger(claims, made_for)
    paper.settings.ledger.write_text(to_json(ledger), encoding="utf-8")
    read_paper(main, sty=True).write()
    return main


def compiled(main: Path, program: str = "pdflatex", times: int = 3) -> str:
    """The log of the last run; the test fails if LaTeX stops."""
    found = shutil.which(program)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(f"there is no {program}: make system installs it")
        pytest.skip(f"there is no {program}: make system installs it")
    told = ""
    for _ in range(times):
        done = subprocess.run(
            [found, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", main.name],
            cwd=main.parent,
            capture_output=True,
            text=True,
            encoding="latin-1",
        )
        assert done.returncode == 0, done.stdout[-3000:]
        told = done.stdout
    return told


def test_the_data_say_verdict_grade_and_command(write: Write) -> None:
    main = finished(write(BODY, "\\usepackage{lemmax}\n"))
    lines = (main.parent / DATA).read_text("utf-8").splitlines()
    assert lines[1].startswith(r"\lemmax@other{def:odd}{parity/\lemmax@break def-odd}{definition}")
    assert lines[2] == (
        r"\lemmax@claim{lem:rank}{parity/\lemmax@break lem-rank}{refuted}{certified}{Lemma}"
        r"{Ranks of $M$}{lemmax check certificates/\lemmax@break lem-rank.\lemmax@break json}{}"
    )
    assert rf"{{holds}}{{kernel}}{{Theorem}}{{}}{{pytest {breakable(LONG)}}}{{}}" in lines[3]
    assert "{open}{}{Theorem}{}{}{}" in lines[4]
    assert lines[5].startswith(r"\lemmax@other{wong/proposition-3.6}")
    matrix = r"\begin{pmatrix} 1 & 0 & -1 \\ -1 & 0 & 1 \\ 0 & 0 & 0 \end{pmatrix}"
    assert lines[6] == rf"\lemmax@setvalue{{wong/argmax-rank-one:M}}{{{matrix}}}"
    assert lines[7:] == [
        r"\lemmax@setvalue{count:claims}{3}",
        r"\lemmax@setvalue{count:refuted}{1}",
    ]
    assert read_paper(main).drifts() == []


def test_a_changed_statement_is_stale_in_the_pdf(write: Write) -> None:
    main = finished(write(BODY, "\\usepackage{lemmax}\n"))
    main.write_text(main.read_text("utf-8").replace("is small", "is tiny"), encoding="utf-8")
    told = [str(d) for d in read_paper(main).drifts()]
    assert told == [
        "main.tex:11: the statement of parity/lem-rank changed.",
        "lemmax-data.tex: the file is out of date.",
    ]
    read_paper(main).write()
    assert "lem-rank}{stale}{}" in (main.parent / DATA).read_text("utf-8")


def test_badges_link_to_published_pages(write: Write) -> None:
    settings = '[tool.lemmax.paper]\nkey = "parity"\nurl = "https://example.org/a b_c/"\n'
    plain = "\\pdfcompresslevel=0 \\pdfobjcompresslevel=0 \\usepackage{hyperref,lemmax}\n"
    main = finished(write(BODY, plain, **{"pyproject.toml": settings}))
    data = (main.parent / DATA).read_text("utf-8")
    assert r"{https://example.org/a\%20b_c/claims/parity/lem-rank.html}" in data
    compiled(main, times=2)
    pdf = (main.parent / "main.pdf").read_bytes()
    assert b"(https://example.org/a%20b_c/claims/parity/lem-rank.html)" in pdf


CLASSES = {
    "hyperref": r"\usepackage{hyperref}\usepackage{lemmax}",
    "hyperref after": r"\usepackage{lemmax}\usepackage[colorlinks]{hyperref}",
    "no hyperref": r"\usepackage{lemmax}",
    "inline": r"\usepackage[inline]{lemmax}\usepackage{hyperref}",
    "off": r"\usepackage[off]{lemmax}\usepackage{hyperref}",
    "others": r"\usepackage{lemmax}\usepackage[table]{xcolor}\usepackage[intlimits]{amsmath}",
}


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
def test_it_compiles_in_every_dress(write: Write, name: str, columns: str) -> None:
    main = write(BODY, CLASSES[name] + "\n")
    text = main.read_text("utf-8").replace("{article}", f"[{columns}]{{article}}", 1)
    main.write_text(text, encoding="utf-8")
    log = compiled(finished(main))
    assert "undefined" not in log
    assert "No verdict" not in log
    assert re.findall(r"Overfull .hbox \((\d+\.\d+)pt too wide\)", log) == []
    badge, value = (float(w) for w in re.findall(r"(?:badge|value)=([\d.]+)pt", log))
    assert (badge == 0) == (name == "off")
    assert value > 0  # numbers belong to the text and are never switched off


def test_it_compiles_with_lualatex(write: Write) -> None:
    main = write(BODY, r"\usepackage{hyperref}\usepackage{lemmax}" + "\n")
    log = compiled(finished(main), "lualatex", times=2)
    assert "undefined" not in log.replace("There were undefined", "")


def test_the_sources_alone_are_enough(write: Write, tmp_path: Path) -> None:
    """As arXiv compiles: the .tex and .sty files in a folder, nothing else."""
    main = finished(write(BODY, r"\usepackage{hyperref}\usepackage{lemmax}" + "\n"))
    bare = tmp_path / "arxiv"
    bare.mkdir()
    for name in ("main.tex", STYLE, DATA):
        shutil.copy(main.parent / name, bare)
    assert "undefined" not in compiled(bare / "main.tex")


def test_without_data_the_paper_compiles_and_says_so(write: Write) -> None:
    main = write(BODY, "\\usepackage{lemmax}\n")
    (main.parent / STYLE).write_text(style(), encoding="utf-8")
    log = compiled(main, times=1)
    assert "There is no lemmax-data.tex" in log
    assert "No verdict of `lem:rank'" in log.replace("\n", "")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (r"\lemmaxvalue{nowhere:M}", "There is no certificate 'nowhere'"),
        (r"\lemmaxvalue{../../secret}", "There is no certificate '../../secret'"),
        (r"\lemmaxvalue{wong/argmax-rank-one:Q}", "has nothing called 'Q'; it has M"),
        (
            r"\lemmaxvalue{lemmax/compiler-two-heads:W_Q}",
            "'W_Q' may be heads.0.W_Q, heads.1.W_Q of lemmax/compiler-two-heads",
        ),
        (r"\lemmaxvalue{count:nonsense}", "There is no count of 'nonsense'"),
        (r"\lemmax{thm:none}", "'thm:none' is neither the label of a statement nor a claim"),
    ],
)
def test_names_that_mean_nothing_are_refused(write: Write, text: str, sentence: str) -> None:
    main = write(f"\n{text}", "\\usepackage{lemmax}\n")
    with pytest.raises(PaperError, match=re.escape(sentence)) as caught:
        read_paper(main, sty=True).files()
    assert str(caught.value).startswith("main.tex:10: ")


def test_values_come_from_certificates_that_hold(write: Write) -> None:
    good = shipped.path("wong/argmax-rank-one").read_text("utf-8")
    main = write(
        r"\lemmaxvalue{mine:M} \lemmaxvalue{mine:statement} \lemmaxvalue{mine}",
        "\\usepackage{lemmax}\n",
        **{"certificates/mine.json": good},
    )
    data = read_paper(main, sty=True).files()[main.parent / DATA]
    (told,) = [line for line in data.splitlines() if "{mine:statement}" in line]
    assert "conclude rank(argmax(M)) <= 2" in told
    (main.parent / "certificates" / "mine.json").write_text(
        good.replace('"-1"', '"1"'), encoding="utf-8"
    )
    from lemmax.paper import values

    values._checked.cache_clear()
    with pytest.raises(PaperError, match=r"mine\.json: The certificate does not hold"):
        read_paper(main, sty=True).files()
