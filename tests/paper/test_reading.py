"""What is read out of LaTeX: statements, their words, what proofs use; and what is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lemmax.paper.errors import PaperError
from lemmax.paper.numbering import read_numbers
from lemmax.paper.sources import read_source
from lemmax.paper.statements import Contents, Statement, read_statements

Write = Callable[..., Path]


def contents(main: Path) -> Contents:
    return read_statements(read_source(main))


def statements(main: Path) -> dict[str | None, Statement]:
    return {s.label: s for s in contents(main).statements}


def test_theorems_have_label_name_title_words_and_place(write: Write) -> None:
    main = write(
        r"""\section{First $x$}
\begin{theorem}[The \emph{main} one]\label{thm:main}
Let $x\in X$ be \emph{odd}. % a comment
Then
\begin{equation}\label{eq:odd} x+1\in 2\mathbb Z. \end{equation}
\end{theorem}"""
    )
    (found,) = contents(main).statements
    assert found.label == "thm:main"
    assert (found.environment, found.name, found.title) == ("theorem", "Theorem", "The main one")
    assert found.text == r"Let \(x\in X\) be odd. Then \[x+1\in 2\mathbb Z.\]"
    assert found.section == r"First \(x\)"
    assert str(found.place) == "main.tex:9"


def test_files_are_followed_and_places_stay_theirs(write: Write) -> None:
    main = write(
        "\\input{sections/one}\n% \\input{nowhere}\n\\include{two}\n\\begin{verbatim}\n"
        "\\input{nowhere}\n\\end{verbatim}\n\\begin{lemma}\\label{c} C. \\end{lemma}",
        **{
            "sections/one.tex": "\n\n\\begin{lemma}\\label{a} A\\end{lemma}\n\\input sections/deep",
            "sections/deep.tex": "\\begin{lemma}\\label{d} D. \\end{lemma}\\endinput\n\\label{a}",
            "two.tex": "\\begin{lemma}\\label{b} B. \\end{lemma}",
        },
    )
    found = statements(main)
    assert {label: str(s.place) for label, s in found.items()} == {
        "a": "sections/one.tex:3",
        "d": "sections/deep.tex:1",
        "b": "two.tex:1",
        "c": "main.tex:14",
    }
    assert read_source(main).notes == ()


def test_macros_of_the_preamble_are_expanded(write: Write) -> None:
    main = write(
        r"""\begin{theorem}\label{t}
$\R^n$ $\norm{x}$ $\norm*{x}$ $\pair{a}{b}$ $\opt{x}$ $\opt[q]{x}$ $\rank M$ $\argmax_i$
$\vec v$ $\eps\half x$ $\twice x$ \name.
\end{theorem}""",
        r"""\newcommand{\R}{\mathbb{R}}
\DeclarePairedDelimiter{\norm}{\lVert}{\rVert}
\def\pair#1#2{(#1,#2)}
\newcommand\opt[2][p]{#1(#2)}
\DeclareMathOperator{\rank}{rank}
\DeclareMathOperator*{\argmax}{arg\,max}
\let\oldvec\vec
\renewcommand{\vec}[1]{\oldvec{\mathbf{#1}}}
\let\eps\varepsilon
\newcommand{\half}{\tfrac12}
\NewDocumentCommand{\twice}{m}{#1#1}
\newcommand{\name}{the \emph{name}}
""",
    )
    assert statements(main)["t"].text == (
        r"\(\mathbb{R}^n\) \(\lVert x \rVert\) \(\left\lVert x \right\rVert\) \((a,b)\) \(p(x)\) "
        r"\(q(x)\) \(\operatorname{rank} M\) \(\operatorname*{arg\,max}_i\) \(\vec{\mathbf{v}}\) "
        r"\(\varepsilon\tfrac12 x\) \(xx\) the name."
    )


def test_macros_of_a_local_package_count(write: Write) -> None:
    main = write(
        r"\begin{claim}\label{c} $\F_2$ \end{claim}",
        "\\usepackage{mine}\n",
        **{"mine.sty": "\\newcommand{\\F}{\\mathbb F}\\newtheorem{claim}{Claim}"},
    )
    assert statements(main)["c"].text == r"\(\mathbb F_2\)"
    assert statements(main)["c"].name == "Claim"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"$$a$$ b \[c\] \(d\)", r"\[a\] b \[c\] \(d\)"),
        (r"\begin{align*}a&=b\\c&=d\label{x}\nonumber\end{align*}",
         r"\[\begin{aligned}a&=b\\c&=d\end{aligned}\]"),
        (r"\begin{alignat}{2}a&=b\end{alignat}", r"\[\begin{aligned}a&=b\end{aligned}\]"),
        (r"$x=1\text{ if $y$ is}$", r"\(x=1\text{ if }y\text{ is}\)"),
        (r"\textbf{bold $M$ text} caf\'e 50\,\% ``so''~--- \ensuremath{y}",
         "bold \\(M\\) text café 50 % “so” — \\(y\\)"),
        (r"see \cref{a,b}, \eqref{e} and \citep[p.~3]{key}", "see a and b, (e) and [key]"),
        (r"\begin{enumerate}[(i)]\item one \item[(x)] two\end{enumerate}so",
         "(1) one\n\n(x) two\n\nso"),
        (r"a\footnote{gone} b\index{gone}", "a b"),
        (r"\href{https://x.org/50\%}{here} \textup{x} \unknown{y}", "here x y"),
    ],
)  # fmt: skip
def test_words_and_formulas(write: Write, body: str, text: str) -> None:
    labels = r"\section{x}\label{a}\label{b}\begin{equation}\label{e}\end{equation}"
    main = write(rf"{labels}\begin{{theorem}}\label{{t}}{body}\end{{theorem}}")
    assert statements(main)["t"].text == text


def test_thmtools_and_restatable(write: Write) -> None:
    main = write(
        r"""\begin{prop}[label=prop:a, name={Odd, even}] A. \end{prop}
\begin{restatable}[Again]{prop}{again}\label{prop:b} B. \end{restatable}
\again*""",
        "\\usepackage{thmtools,thm-restate}\n"
        "\\declaretheorem[name=Proposition, numberwithin=section]{prop}\n",
    )
    found = statements(main)
    assert found["prop:a"].title == "Odd, even"
    assert found["prop:a"].name == found["prop:b"].name == "Proposition"
    assert found["prop:b"].title == "Again"
    assert found["prop:b"].text == "B."


def test_a_proof_tells_what_is_used(write: Write) -> None:
    main = write(
        r"""\begin{definition}\label{def:a} A. \end{definition}
\begin{lemma}\label{lem:b} B. \begin{equation}\label{eq:b} b \end{equation} \end{lemma}
\begin{lemma}\label{lem:c} Unlike \cref{def:a}. \end{lemma}
\begin{proof} By \Cref{def:a}, \eqref{eq:b} and \cref{lem:c,thm:d}; \ref{sec:x}. \end{proof}
\begin{theorem}\label{thm:d} D. \end{theorem}
\begin{theorem}\label{thm:e} E. \lemmaxuses{lem:b} \end{theorem}
\begin{proof} As in \cref{thm:d}. \end{proof}
\section{Late proofs}\label{sec:x}
\begin{proof}[Proof of \cref{thm:d}] By \hyperref[def:a]{that} and
\begin{lemma}\label{lem:f} an inner one \end{lemma}
\begin{proof} by \cref{lem:b}. \end{proof}
\end{proof}"""
    )
    assert {label: s.uses for label, s in statements(main).items()} == {
        "def:a": (),
        "lem:b": (),
        "lem:c": ("def:a", "lem:b", "thm:d"),
        "thm:d": ("def:a",),
        "thm:e": ("lem:b",),
        "lem:f": ("lem:b",),
    }


def test_proofs_of_other_names(write: Write) -> None:
    """An environment of the paper that opens a proof is one."""
    main = write(
        r"""\begin{lemma}\label{a} A. \end{lemma}
\begin{lemma}\label{b} B. \end{lemma}
\begin{sketch} By \ref{a}. \end{sketch}
\begin{lemma}\label{c} C. \end{lemma}
\begin{proofof}{c} By \ref{b}. \end{proofof}
\begin{aside} Unlike \ref{c}. \end{aside}""",
        r"""\newenvironment{sketch}{\begin{proof}[Sketch]}{\end{proof}}
\newenvironment{proofof}[1]{\proof[Proof of Lemma~\ref{#1}]}{\endproof}
\NewDocumentEnvironment{aside}{}{\itshape}{}
""",
    )
    assert {label: s.uses for label, s in statements(main).items()} == {
        "a": (),
        "b": ("a",),
        "c": ("b",),
    }
    with pytest.raises(PaperError, match=r"main\.tex:10: The environment sketch is opened here"):
        contents(
            write(
                "\n\\begin{sketch} Never closed.",
                "\\newenvironment{sketch}{\\begin{proof}}{\\end{proof}}\n",
            )
        )


def test_title_and_authors_without_their_notes(write: Write) -> None:
    main = write(
        "Nothing.",
        r"""\title{On \texorpdfstring{$\mathbb R^n$}{Rn}: ranks\thanks{To N.} \& heads}
\author{Ann One\thanks{A University} \and Bob B\"ob \\ Somewhere \and C. Three}
""",
    )
    assert contents(main).title == "On Rn: ranks & heads"
    assert contents(main).authors == "Ann One, Bob Böb Somewhere and C. Three"


def test_what_is_commented_out_is_not_there(write: Write) -> None:
    main = write(
        r"""\iffalse \begin{lemma}\label{a} \ifx x \fi \end{lemma} \fi
\begin{comment} \begin{lemma}\label{a} \end{comment}
\begin{lemma}\label{a} \verb|\end{lemma}| here \end{lemma}"""
    )
    assert list(statements(main)) == ["a"]


def test_what_tex_allows_is_no_error(write: Write) -> None:
    """Column types, half-open intervals and environments that commands open stay harmless."""
    main = write(
        r"""\newcolumntype{C}{>{$}c<{$}}
\be a \end{equation} \begin{center} \ec
\begin{tabular}{>{$}c<{$}} a \end{tabular}
\begin{lemma}\label{a} $\left[0,1\right)$ \input{#1} \end{lemma}""",
        r"\newcommand{\be}{\begin{equation}}\newcommand{\ec}{\end{center}}"
        "\n\\input{glyphtounicode}\n",
    )
    source = read_source(main)
    assert statements(main)["a"].text == r"\(\left[0,1\right)\)"
    assert source.notes == ("main.tex:8: there is no file glyphtounicode in the paper's folder.",)


def test_numbers_come_from_what_latex_wrote(write: Write) -> None:
    main = write("x")
    assert read_numbers(main) is None
    main.with_suffix(".aux").write_text(
        "\\relax\n\\newlabel{thm:a}{{3.1}{5}{Title {x}}{theorem.3.1}{}}\n"
        "\\newlabel{thm:a@cref}{{[theorem][1][3]3.1}{[1][5][]5}}\n"
        "\\newlabel{eq:b}{{\\textup {2b}}{5}}\n\\newlabel{cut}{{3.\n"
        "\\@input{two.aux}\n\\@input{../secret.aux}\n",
        encoding="utf-8",
    )
    (main.parent / "two.aux").write_text("\\newlabel{thm:c}{{B.2}{9}}\n", encoding="utf-8")
    (main.parent.parent / "secret.aux").write_text("\\newlabel{s}{{1}{1}}\n", encoding="utf-8")
    assert read_numbers(main) == {"thm:a": "3.1", "eq:b": "2b", "thm:c": "B.2"}


# -- what is refused -------------------------------------------------------------------------


def refusal(main: Path) -> str:
    with pytest.raises(PaperError) as caught:
        contents(main)
    return str(caught.value)


def test_a_label_twice(write: Write) -> None:
    main = write("\\begin{lemma}\\label{a} A. \\end{lemma}\n\n\\section{x}\\label{a}")
    assert refusal(main) == "main.tex:10: The label 'a' stands here and at main.tex:8."


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("\\begin{lemma} A.", "main.tex:8: The environment lemma is opened here and never closed."),
        (
            "\\begin{theorem} A.\n\\begin{lemma} B.\n\\end{theorem}",
            "main.tex:9: The environment lemma is opened here and not closed before "
            "\\end{theorem} at main.tex:10.",
        ),
        (
            "\\end{proof}",
            "main.tex:8: The environment proof is closed here but was never opened.",
        ),
        (
            "\\begin{lemma}[A\n B. \\end{lemma}",
            "main.tex:8: A brace or bracket is opened here and never closed.",
        ),
        (
            "\n\\label{a",
            "main.tex:9: A brace or bracket is opened here and never closed.",
        ),
        (
            "\\begin{lemma}\\label{a} A.\\end{lemma}\\begin{proof}\\lemmaxuses{b}\\end{proof}",
            "main.tex:8: \\lemmaxuses names 'b', which is no label of a statement.",
        ),
        (
            "\\begin{lemma} \\textcolor \\end{lemma}",
            "main.tex:8: A command of this statement lacks its arguments.",
        ),
    ],
)
def test_what_is_not_closed_is_named_with_its_line(write: Write, body: str, sentence: str) -> None:
    assert refusal(write(body)) == sentence


def test_errors_in_other_files_name_them(write: Write) -> None:
    main = write("\\input{two}", **{"two.tex": "\n\n\\begin{theorem} A."})
    assert refusal(main).startswith("two.tex:3: The environment theorem")


def test_files_that_are_no_latex(tmp_path: Path) -> None:
    path = tmp_path / "main.tex"
    assert refusal(path) == f"{path}: There is no such file."
    path.write_bytes(b"%PDF-1.5\n\xff\xfe\x00")
    assert refusal(path) == "main.tex:2: This is not a text in UTF-8."
    path.write_bytes(b"a\n\nb\0")
    assert refusal(path) == "main.tex:3: This is no LaTeX: it holds a zero byte."
    path.write_text("# Notes\n\nSome words.\n", encoding="utf-8")
    assert refusal(path).startswith("main.tex:1: This is no LaTeX document")


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "sections/../../secret", "link"])
def test_nothing_outside_of_the_folder_is_read(write: Write, name: str) -> None:
    main = write(f"\n\\input{{{name}}}")
    secret = main.parent.parent / "secret.tex"
    secret.write_text("\\begin{lemma}\\label{secret}\\end{lemma}", encoding="utf-8")
    os.symlink(secret, main.parent / "link.tex")
    assert refusal(main) == (
        f"main.tex:9: The file {name} lies outside of the paper's folder and is not read."
    )


def test_files_that_read_themselves(write: Write) -> None:
    main = write("\\input{a}", **{"a.tex": "\\input{b}", "b.tex": "x\n\\input{a}"})
    assert refusal(main) == "b.tex:2: The file a.tex reads itself."


def test_too_many_files_end_with_a_sentence(write: Write) -> None:
    others = {f"f{i}.tex": f"\\input{{f{i + 1}}}" for i in range(200)}
    assert refusal(write("\\input{f0}", **others)).endswith("The paper reads too many files.")


def test_files_that_double_end_with_a_sentence(write: Write) -> None:
    """Thirty small files that would be a text of 2^30 copies."""
    others = {f"f{i}.tex": f"\\input{{f{i + 1}}}\\input{{f{i + 1}}}" for i in range(30)}
    others["f30.tex"] = "x" * 100
    assert refusal(write("\\input{f0}", **others)).endswith("The paper reads too many files.")


@pytest.mark.parametrize(
    "definition",
    [
        r"\newcommand{\x}{\x}",
        r"\newcommand{\x}{a\y}\newcommand{\y}{b\x}",
        r"\newcommand{\x}[1]{#1#1}" + r"\newcommand{\y}{" + r"\x{" * 40 + "a" + "}" * 40 + "}",
    ],
)
def test_macros_without_end_end_with_a_sentence(write: Write, definition: str) -> None:
    main = write("\\begin{lemma}\\label{a} $\\x{\\y}$ \\end{lemma}", definition + "\n")
    assert refusal(main) == "main.tex:9: A command of this statement expands without an end."


def test_a_large_paper_is_read_in_seconds(write: Write) -> None:
    body = "\n".join(
        rf"\begin{{lemma}}\label{{l{i}}} Let $x_{{{i}}}\in X$. \end{{lemma}}"
        rf"\begin{{proof}} By \cref{{l{max(i - 1, 0)}}}. {'Some words. ' * 40} \end{{proof}}"
        for i in range(1000)
    )
    assert len(contents(write(body)).statements) == 1000


def test_deep_nesting_ends_with_a_sentence(write: Write) -> None:
    body = "\\emph{" * 3000 + "x" + "}" * 3000
    main = write(rf"\begin{{lemma}}\label{{a}} {body} \end{{lemma}}")
    assert refusal(main) == "main.tex:8: The statement is nested too deeply to be read."


PIECES = (
    *(
        "\\begin{lemma}",
        "\\end{lemma}",
        "\\begin{proof}",
        "\\end{proof}",
        "\\label{a}",
        "\\label{b}",
    ),
    *(
        "\\cref{a}",
        "\\lemmaxuses{b}",
        "\\item",
        "\\begin{enumerate}",
        "\\end{enumerate}",
        "[x]",
        "[",
    ),
    *("$", "$$", "\\(", "\\)", "\\[", "\\]", "{", "}", "%", "\n", "\n\n", " x ", "\\", "#1", "&"),
    *("\\x", "\\y{z}", "\\verb|$|", "\\begin{align}", "\\end{align}", "\\text{$y$}", "\\input{a}"),
    *(
        "\\href",
        "\\emph",
        "\\newcommand{\\x}",
        "\\def\\x",
        "\\let\\x",
        "\\iffalse",
        "\\fi",
        "é",
        "]",
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_whatever_is_written_is_read_or_refused_with_a_sentence(
    write: Write, pieces: list[str]
) -> None:
    main = write("".join(pieces))
    try:
        told = str({s.environment for s in contents(main).statements})
    except PaperError as error:
        told = str(error)
    assert re.fullmatch(r"main\.tex:\d+: .+\.|set\(\)|\{'lemma'\}", told)
