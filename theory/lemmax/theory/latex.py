r"""LaTeX that a paper takes as it is: displays that fit their column and carry a label.

An object that can be printed is :class:`Typeset`: ``formula()`` is its mathematics, to be put
between other symbols or into a notebook, and ``to_latex()`` is a numbered display around it.
Large matrices are shortened with dots and long numbers are rounded; certificates have them whole.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import fmpq

ROWS = COLUMNS = 16
_DIGITS, _HEADS = 24, 3


def _named(characters: str, names: str) -> dict[str, str]:
    return dict(zip(characters, names.split(), strict=True))


_SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {'"': "''"}
_TEXT = _named(
    "~^\\<>|ßøØæÆœŒłŁı",
    "textasciitilde textasciicircum textbackslash textless textgreater textbar "
    "ss o O ae AE oe OE l L i",
)
_GREEK = _named(
    "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ",
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega",
)
_ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308", "`'^~=u.\"", strict=True))
_ACCENTS |= dict(zip("\u030a\u030b\u030c\u0327", "rHvc", strict=True))


class Typeset:
    r"""What a paper can print.

    >>> from lemmax.theory import Matrix
    >>> M = Matrix([[1, 2]])
    >>> M.formula()
    '\\begin{pmatrix} 1 & 2 \\end{pmatrix}'
    >>> print(M.to_latex(claim="wong/argmax-rank-one"))
    % lemmax Matrix, claim wong/argmax-rank-one; needs amsmath, and graphicx to fit
    \begin{equation}\label{lemmax:wong/argmax-rank-one}
    \providecommand\resizebox[3]{\mbox{#3}}
    \resizebox{\ifdim\width>0.88\columnwidth 0.88\columnwidth\else\width\fi}{!}{$\displaystyle
    \begin{pmatrix} 1 & 2 \end{pmatrix}
    $}
    \end{equation}
    """

    __slots__ = ()

    @property
    def claim(self) -> str | None:
        """The id of the claim that this is about, where one is known."""
        return None

    def formula(self) -> str:
        """The mathematics alone, for math mode."""
        raise NotImplementedError

    def to_sympy(self) -> Any:
        """The same object for sympy, exact: see :mod:`lemmax.theory.sympified`."""
        raise NotImplementedError

    def _repr_latex_(self) -> str:
        """What a notebook shows."""
        return rf"$\displaystyle {self.formula()}$"

    def comments(self) -> tuple[str, ...]:
        """What else the source should say above the display."""
        return ()

    def to_latex(self, label: str | None = None, claim: str | None = None) -> str:
        """A numbered display that fits its column.

        The label is ``lemmax:`` and the claim, or what the object is and a digest of the formula.
        """
        body, about, kind = self.formula(), claim or self.claim, type(self).__name__
        digest = hashlib.sha256(body.encode()).hexdigest()[:8]
        name = label or f"lemmax:{about or f'{kind.lower()}-{digest}'}"
        said = f"lemmax {kind}" + (f", claim {about}" if about else "")
        return display(
            body, name, [f"{said}; needs amsmath, and graphicx to fit", *self.comments()]
        )


def display(body: str, label: str, comments: Sequence[str] = ()) -> str:
    r"""Mathematics as a numbered display; with graphicx it shrinks to the width of its column.

    ``body`` is what an object's ``formula()`` returns.

    >>> print(display("x = 1", "lemmax:x"))
    \begin{equation}\label{lemmax:x}
    \providecommand\resizebox[3]{\mbox{#3}}
    \resizebox{\ifdim\width>0.88\columnwidth 0.88\columnwidth\else\width\fi}{!}{$\displaystyle
    x = 1
    $}
    \end{equation}
    """
    if r"\tfrac" in body:  # or the fractions of one row touch those of the next
        body = r"\renewcommand\arraystretch{1.25}" + f"\n{body}"
    lines = [f"% {comment}" for comment in comments]
    lines += [
        rf"\begin{{equation}}\label{{{label}}}",
        r"\providecommand\resizebox[3]{\mbox{#3}}",
        r"\resizebox{\ifdim\width>0.88\columnwidth 0.88\columnwidth\else\width\fi}{!}"
        r"{$\displaystyle",
        body,
        "$}",
        r"\end{equation}",
    ]
    return "\n".join(lines)


def latex_matrix(
    cells: Sequence[Sequence[str]], most_rows: int = ROWS, most_columns: int = COLUMNS
) -> str:
    r"""A ``pmatrix``; an ``array`` where it has more than the ten columns that amsmath allows.

    >>> latex_matrix([["1", "2", "3", "4"]], most_columns=3)
    '\\begin{pmatrix} 1 & \\cdots & 4 \\end{pmatrix}'
    """
    rows = [dotted(list(row), most_columns, r"\cdots") for row in cells]
    width = len(rows[0]) if rows else 0
    if len(rows) > most_rows:
        rows = [*rows[: most_rows - 2], [r"\vdots"] * width, rows[-1]]
    body = r" \\ ".join(" & ".join(row) for row in rows)
    if width > 10:
        return rf"\left(\begin{{array}}{{{'c' * width}}} {body} \end{{array}}\right)"
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def latex_facts(triples: Sequence[Sequence[Hashable]], most: int = ROWS) -> str:
    r"""Facts below each other in an ``array``; beyond so many of them with dots.

    >>> print(latex_facts([("a", "f", "x")]))
    \begin{array}{lll}
    \text{a} & \text{f} & \text{x}
    \end{array}
    """
    facts = [[rf"\text{{{latex_text(token)}}}" for token in fact] for fact in triples]
    if len(facts) > most:
        facts = [*facts[: most - 2], [r"\vdots"] * 3, facts[-1]]
    rows = " \\\\\n".join(" & ".join(fact) for fact in facts)
    return f"\\begin{{array}}{{lll}}\n{rows}\n\\end{{array}}"


def dotted(items: list[str], most: int, dots: str) -> list[str]:
    """All items, or the first ones, dots and the last."""
    return items if len(items) <= most else [*items[: most - 2], dots, items[-1]]


def aligned(lines: Sequence[str]) -> str:
    """Equations below each other."""
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def weights(
    first: Sequence[str],
    heads: Sequence[Mapping[str, str]],
    last: Sequence[str] = (),
    most: int = 3,
) -> str:
    r"""The matrices of a layer: those of the whole layer, then one line per head.

    >>> print(weights(["W_E &= 1"], [{"W_Q": "2", "W_K": "3"}]))
    \begin{aligned}
    W_E &= 1 \\
    & W_Q^{1} = 2,\ W_K^{1} = 3
    \end{aligned}
    """
    lines = list(first)
    for number, head in enumerate(heads[:_HEADS], 1):
        told = (f"{name}^{{{number}}} = {value}" for name, value in head.items())
        lines.append("& " + r",\ ".join(told))
    if len(heads) > _HEADS:
        lines.append(rf"& \text{{and {len(heads) - _HEADS} more heads}}")
    return aligned([*lines, *last])


def between(lower: int, symbol: str, upper: int) -> str:
    r"""An equation where the bounds meet, else inequalities.

    >>> between(2, "r", 2), between(2, "r", 3)
    ('r = 2', '2 \\le r \\le 3')
    """
    return f"{symbol} = {lower}" if lower == upper else rf"{lower} \le {symbol} \le {upper}"


def latex_number(value: fmpq | Fraction) -> str:
    r"""An integer as it is, a fraction as ``\tfrac`` with the sign in front; long ones rounded.

    >>> latex_number(fmpq(-1, 2)), latex_number(Fraction(10**60, 3))
    ('-\\tfrac{1}{2}', '3.33{\\cdot}10^{59}')
    """
    exact = value if isinstance(value, Fraction) else Fraction(int(value.p), int(value.q))
    sign, size = ("-" if exact < 0 else ""), abs(exact)
    if max(size.numerator.bit_length(), size.denominator.bit_length()) <= 3.3 * _DIGITS:
        if size.denominator == 1:
            return f"{sign}{size}"
        return rf"{sign}\tfrac{{{size.numerator}}}{{{size.denominator}}}"
    exponent = (size.numerator.bit_length() - size.denominator.bit_length()) * 30103 // 100000
    while size >= Fraction(10) ** (exponent + 1):
        exponent += 1
    while size < Fraction(10) ** exponent:
        exponent -= 1
    leading = round(size / Fraction(10) ** exponent * 100)
    return rf"{sign}{leading // 100}.{leading % 100:02d}{{\cdot}}10^{{{exponent}}}"


def latex_text(token: Hashable) -> str:
    r"""A token as LaTeX text that every font has: specials escaped, accents and Greek by name.

    >>> print(latex_text("50% é β 中"))
    50\% \'{e} \ensuremath{\beta} \texttt{U+4E2D}
    """
    return "".join(_character(c) for c in str(token))


def _character(c: str) -> str:
    if c in _SPECIAL:
        return _SPECIAL[c]
    if c in _TEXT:
        return f"\\{_TEXT[c]}{{}}"
    if c.isascii():
        return c if c.isprintable() else " "
    if c in _GREEK:
        return rf"\ensuremath{{\{_GREEK[c]}}}"
    base, mark = unicodedata.normalize("NFD", c)[:1], unicodedata.normalize("NFD", c)[1:]
    if base.isascii() and base.isalpha() and mark in _ACCENTS:
        return f"\\{_ACCENTS[mark]}{{{base}}}"
    return rf"\texttt{{U+{ord(c):04X}}}"
