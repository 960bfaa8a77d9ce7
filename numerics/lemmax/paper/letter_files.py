r"""A letter as LaTeX that compiles, and as one page of HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from lemmax.paper.errata import Erratum, Letter
from lemmax.theory.latex import latex_text

_FORMULA = re.compile(r"\\\(.+?\\\)|\\\[.+?\\\]", re.DOTALL)
_TYPOGRAPHY = {
    "“": "``",
    "”": "''",
    "’": "'",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
    "≥": r"$\ge$",
}

OPENING = (
    "We read {title} with care and tried to decide each of its statements: by proof, or by an "
    "explicit counterexample that a small program re-checks. Of {judged} statements, {standing} "
    "stand as you wrote them. Below are {count} that, as we read them, do not. Where our reading "
    "says more than you meant, we say so, and we would be glad to be corrected. Where a repair is "
    "known to us, it is given; it is yours to use."
)
CLOSING = (
    "Each entry ends with a command that re-checks it; those that begin with pytest are run in a "
    "clone of lemmax. The verdicts are computed and none of them is typed. Thank you for work that "
    "was worth reading this closely."
)
HEDGED = (
    "The remaining sentences are hedged in your text, as a guess, an expectation or a summary of "
    "training. You did not assert them in the form that we decide; a reader may."
)


def salutation(authors: str) -> str:
    """How the letter begins.

    >>> salutation("A. One, B. Two and C. Three")
    'Dear A. One, B. Two and C. Three,'
    """
    return f"Dear {authors},"


def _opening(letter: Letter) -> str:
    return OPENING.format(
        title=f"“{letter.paper['title']}”",
        judged=letter.judged,
        standing=letter.standing,
        count=len(letter.errata),
    )


def letter_latex(letter: Letter) -> str:
    """A document for pdflatex; needs amsmath and amssymb and nothing of lemmax."""
    paper = letter.paper
    lines = [
        r"\documentclass[11pt]{article}",
        r"\usepackage[a4paper,margin=2.8cm]{geometry}",
        r"\usepackage{amsmath,amssymb}",
        r"\AtBeginDocument{\parindent=0pt \parskip=0.6\baselineskip plus 1pt}",
        r"\newcommand{\entry}[1]{\par\medskip\textbf{#1}\nopagebreak\par}",
        r"\newcommand{\said}[1]{\textit{#1}\enspace}",
        r"\begin{document}\raggedright",  # long formulas break nowhere
        text_latex(salutation(paper["authors"])),
        "",
        text_latex(_opening(letter)),
    ]
    hedged = False
    for number, erratum in enumerate(letter.errata, 1):
        if erratum.hedged and not hedged:
            hedged = True
            lines += ["", r"\bigskip", text_latex(HEDGED)]
        lines += ["", *_entry_latex(number, erratum)]
    lines += ["", r"\bigskip", text_latex(CLOSING), "", r"\end{document}", ""]
    return "\n".join(lines)


def _entry_latex(number: int, erratum: Erratum) -> Iterator[str]:
    yield rf"\entry{{{number}. {text_latex(_heading(erratum))}}}"
    for word, body in _parts(erratum):
        yield ""
        yield rf"\said{{{text_latex(word)}}} {text_latex(body)}"
    for command in erratum.commands:
        broken = re.sub(r"(/|::|\\_)", r"\1\\discretionary{}{}{}", latex_text(command))
        yield ""
        yield rf"\said{{To re-check:}} {{\small\texttt{{{broken}}}\par}}"


def text_latex(text: str) -> str:
    r"""Text with formulas as LaTeX.

    >>> text_latex(r"50% of “\(M\)”")
    "50\\% of ``\\(M\\)''"
    """
    parts, end = [], 0
    for match in _FORMULA.finditer(text):
        parts += [_words(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, _words(text[end:])])


def _words(text: str) -> str:
    return "".join(_TYPOGRAPHY.get(c) or latex_text(c) for c in text)


def _heading(erratum: Erratum) -> str:
    claim = erratum.claim
    title = claim.title[:1].upper() + claim.title[1:]
    named = title if claim.number == "text" else f"{claim.number}: {title}"
    return f"{named} ({claim.place})"


def _parts(erratum: Erratum) -> Iterator[tuple[str, str]]:
    """What an entry says, each part with the words that introduce it."""
    claim = erratum.claim
    yield "In print:", quoted(claim.quote or "")
    if claim.hedge:
        yield "Your caution:", sentence(claim.hedge)
    yield "As we read it:", claim.statement.strip()
    if claim.reading:
        yield "On this reading:", claim.reading.strip()
    told = (claim.counterexample or "").strip()
    yield ("The gap in the proof:" if erratum.gap else "Why not:"), told
    for holding in erratum.holds:
        word = {
            claim.repaired_by: "A repair, which holds",
            claim.sharpens: "As you put it, it stands",
        }
        yield f"{word.get(holding.id, 'What holds')} ({holding.id}):", holding.statement.strip()
        if holding.id == claim.repaired_by and claim.repair:
            yield "What the repair changes:", sentence(claim.repair)


def quoted(text: str) -> str:
    r"""A text between quotation marks; the closing one stands beside a displayed formula.

    >>> quoted("so"), quoted(r"so \[x\]")
    ('“so”', '“so \\[x\\text{”}\\]')
    """
    said = text.strip()
    return rf"“{said[:-2]}\text{{”}}\]" if said.endswith(r"\]") else f"“{said}”"


def sentence(text: str) -> str:
    """A text that ends like a sentence.

    >>> sentence("another constant")
    'another constant.'
    """
    said = text.strip()
    return said if said.endswith((".", "!", "?", "\\]")) else f"{said}."


STYLE = """body{font:1rem/1.55 Georgia,serif;max-width:44rem;margin:2rem auto;padding:0 1rem}
blockquote{margin:.6rem 0;padding-left:1rem;border-left:3px solid #888}
h2{font-size:1.08rem;margin:2rem 0 .4rem}dt{font-style:italic;margin-top:.5rem}dd{margin:0}
code{font-size:.85rem;overflow-wrap:anywhere}
.math-display{overflow-x:auto;display:block}
@media(prefers-color-scheme:dark){body{background:#16181c;color:#e4e4e4}}"""


def letter_html(letter: Letter, mathjax: str | None = None) -> str:
    """One page without any other file; formulas are TeX, set where MathJax's address is given."""
    paper = letter.paper
    title = html.escape(str(paper["title"]))
    lines = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>Errata: {title}</title><style>{STYLE}</style>",
    ]
    if mathjax:
        lines.append(f'<script defer src="{html.escape(mathjax, quote=True)}"></script>')
    lines += [
        f"</head><body><h1>Errata: {title}</h1>",
        f"<p>{text_html(salutation(paper['authors']))}</p><p>{text_html(_opening(letter))}</p>",
    ]
    hedged = False
    for number, erratum in enumerate(letter.errata, 1):
        if erratum.hedged and not hedged:
            hedged = True
            lines.append(f"<hr><p>{text_html(HEDGED)}</p>")
        lines.append(
            f'<section id="{html.escape(erratum.claim.id)}"><h2>{number}. '
            f"{text_html(_heading(erratum))}</h2><dl>"
        )
        for word, body in _parts(erratum):
            said = text_html(body)
            if word == "In print:":
                said = f"<blockquote>{said}</blockquote>"
            lines.append(f"<dt>{text_html(word)}</dt><dd>{said}</dd>")
        for command in erratum.commands:
            lines.append(f"<dt>To re-check:</dt><dd><code>{html.escape(command)}</code></dd>")
        lines.append("</dl></section>")
    lines += [f"<hr><p>{text_html(CLOSING)}</p></body></html>", ""]
    return "\n".join(lines)


def text_html(text: str) -> str:
    r"""Text with formulas as HTML.

    >>> text_html(r"a < \(b<c\)")
    'a &lt; <span class="math">\\(b&lt;c\\)</span>'
    """
    parts, end = [], 0
    for match in _FORMULA.finditer(text):
        parts.append(html.escape(text[end : match.start()], quote=False))
        kind = "math" if match[0].startswith("\\(") else "math-display"
        parts.append(f'<span class="{kind}">{html.escape(match[0], quote=False)}</span>')
        end = match.end()
    return "".join([*parts, html.escape(text[end:], quote=False)])
