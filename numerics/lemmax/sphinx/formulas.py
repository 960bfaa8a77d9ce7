r"""Formulas as MathML: pages that need neither a script nor a network to show them.

A project that chose how to set formulas (``html_math_renderer`` or ``mathjax_path`` in ``conf.py``,
or an extension for it) keeps that. What the converter does not know is shown as it is written.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

RENDERER = "lemmax"

# MathML Core has no mathvariant but normal: letters of other alphabets are characters of their own.
_CAPITALS: Mapping[str, int] = {
    "double-struck": 0x1D538,
    "script": 0x1D49C,
    "fraktur": 0x1D504,
    "bold": 0x1D400,
    "bold-italic": 0x1D468,
    "sans-serif": 0x1D5A0,
    "monospace": 0x1D670,
}
_SMALLS: Mapping[str, int] = {name: start + 26 for name, start in _CAPITALS.items()}
_EXCEPTIONS = {
    "double-struck": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
    "script": dict(zip("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ", strict=True)),
    "fraktur": dict(zip("CHIRZ", "ℭℌℑℜℨ", strict=True)),
}
_LETTER = re.compile(r'<(mi|mtext) mathvariant="([a-z-]+)">([^<]*)</\1>')
_WORD = re.compile(r"<(mo|mi)>([A-Za-z]{2,})</\1>")
_BAR = re.compile(r'<mo(?: stretchy="false")?>(&#x0007C;|&#x02016;)</mo>')
_COLON = "<mi>&#x0003A;</mi>"  # of a function
# A minus sign is a sign, not a difference, behind , ( [ { = < > and their kin.
_MINUS = re.compile(
    r"((?:&#x000(?:2C|28|5B|7B|3D|3C|3E);|&#x022(?:64|65|08);)</mo>)<mo>&#x02212;</mo>"
)
_ENVIRONMENTS = {"aligned": "align*", "split": "align*", "gathered": "matrix", "equation": ""}


def letter(variant: str, text: str) -> str:
    """Letters of an alphabet as Unicode has them; what it lacks stays.

    >>> letter("double-struck", "R"), letter("script", "T")
    ('ℝ', '𝒯')
    """
    known = _EXCEPTIONS.get(variant, {})

    def one(c: str) -> str:
        if c in known:
            return known[c]
        if "A" <= c <= "Z" and variant in _CAPITALS:
            return chr(_CAPITALS[variant] + ord(c) - ord("A"))
        if "a" <= c <= "z" and variant in _SMALLS:
            return chr(_SMALLS[variant] + ord(c) - ord("a"))
        return c

    return "".join(map(one, text))


def mathml(formula: str, display: bool = False) -> str:
    r"""A formula of LaTeX as MathML.

    >>> "<mi>ℝ</mi>" in mathml(r"x\in\mathbb R")
    True
    """
    from latex2mathml.converter import convert

    text = formula
    for name, other in _ENVIRONMENTS.items():
        for word in ("begin", "end"):
            now = rf"\{word}{{{other}}}" if other else ""
            text = text.replace(rf"\{word}{{{name}}}", now).replace(rf"\{word}{{{name}*}}", now)
    try:
        made = str(convert(text, display="block" if display else "inline"))
    except Exception:  # the converter has no error of its own, and a page is more than a formula
        return f"<code>{html.escape(formula)}</code>"

    def variant(match: re.Match[str]) -> str:
        if match[2] == "normal":
            return match[0]
        return f"<{match[1]}>{letter(match[2], match[3])}</{match[1]}>"

    made = _LETTER.sub(variant, made)
    # Words such as rank have a thin space on both sides, bars have none.
    made = _WORD.sub(r'<mo lspace="0.167em" rspace="0.167em">\2</mo>', made)
    made = made.replace(_COLON, '<mo lspace="0" rspace="0.25em">:</mo>')
    made = _MINUS.sub(r'\1<mo form="prefix" lspace="0" rspace="0">&#x02212;</mo>', made)
    made = _BAR.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', made)
    said = html.escape(" ".join(formula.split()), quote=True)
    return made.replace("<math ", f'<math class="lx-math" aria-label="{said}" ', 1)


def connect(app: Sphinx) -> None:
    """Offer the renderer where the project chose none: Sphinx prefers any other to MathJax."""
    raw = app.config._raw_config
    extensions = " ".join(raw.get("extensions", ()))
    chosen = raw.get("html_math_renderer")
    if chosen is None and ("mathjax_path" in raw or "math" in extensions or "katex" in extensions):
        return
    if chosen in (None, RENDERER) and find_spec("latex2mathml"):
        app.add_html_math_renderer(RENDERER, (_inline, None), (_block, None))
        raw["html_math_renderer"] = RENDERER


def _inline(self: Any, node: nodes.Element) -> None:
    self.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.Element) -> None:
    text = node.astext()
    if r"\\" in text and r"\begin" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    self.body.append(f'<div class="lx-display">{mathml(text, display=True)}</div>')
    raise nodes.SkipNode
