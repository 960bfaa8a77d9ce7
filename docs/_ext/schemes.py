"""Figures for both schemes: every SVG of a page is drawn twice, for the light and for the dark.

In the dark drawing what is black, white or grey changes places (paper, axes, words, grids), and
hues stay as they are, so that a legend and a colour bar keep their meaning. What must stay dark or
light on a coloured field is given a trace of hue, ``#00001c`` or ``#ffffe0``.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

PAPER, INK = 0x13, 0xE8  # the lightness of a dark page, and of what is written on it
GREY = 12  # the three parts of a grey differ by no more
WIDE = 480  # points, above which a drawing is illegible in the width of a phone
_HEX = re.compile(r"#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})\b")
_ROOT = re.compile(r"<svg\b")
_PLACES = re.compile(r'(?<=\s)(?:d|x|y)="[^"]*"')  # of curves and marks, in points
_UNSEEN = re.compile(r"(?s)<metadata>.*?</metadata>\s*|<!--.*?-->\s*|(?<=>)\s+(?=<)")
_DIGITS = re.compile(r"(\.\d\d)\d+")


def light(svg: str) -> str:
    """The drawing as it is, in half the bytes: places in hundredths, styles of many marks once,
    nothing that is not drawn.

    >>> light('<path d="M 1.234567 2" transform="scale(0.015625)"/>')
    '<path d="M 1.23 2" transform="scale(0.015625)"/>'
    """
    text = _PLACES.sub(lambda match: _DIGITS.sub(r"\1", match[0]), _UNSEEN.sub("", svg))
    text = re.sub(r"\s*\n\s*", " ", text).replace("xlink:href", "href")
    used = set(re.findall(r"#([\w.-]+)", text))
    text = re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in used else "", text)
    for number, name in enumerate(dict.fromkeys(re.findall(r'id="(m[0-9a-f]{10})"', text))):
        text = text.replace(name, f"m{number}")
    counted = Counter(re.findall(r'<use [^>]*?style="([^"]*)"', text))
    many = [style for style, times in counted.items() if times > 20]
    rules = "".join(f".s{number}{{{style}}}" for number, style in enumerate(many))
    for number, style in enumerate(many):
        text = text.replace(f'style="{style}"', f'class="s{number}"')
    return re.sub(r"(<svg\b[^>]*>)", rf"\1<style>{rules}</style>", text, count=1) if many else text


def dark(svg: str) -> str:
    """The drawing for a dark page.

    >>> dark('<svg><path fill="#ffffff" stroke="#0072b2"/></svg>')
    '<svg fill="#e8e8e8"><path fill="#131313" stroke="#0072b2"/></svg>'
    """

    def swap(match: re.Match[str]) -> str:
        parts = [int(part, 16) for part in match.groups()]
        if max(parts) - min(parts) > GREY:
            return match[0]
        light = INK + (PAPER - INK) * (sum(parts) / 3) / 255
        return "#" + f"{round(light):02x}" * 3

    text = _HEX.sub(swap, svg)
    text = re.sub(r'(fill|stroke)="(white|black)"', _named, text)
    return _ROOT.sub(f'<svg fill="#{f"{INK:02x}" * 3}"', text, count=1)


def width(svg: str) -> float:
    """The width of a drawing in points, 0 where it names none.

    >>> width('<svg xmlns="…" width="764.4pt" height="252pt">')
    764.4
    """
    named = re.search(r'<svg\b[^>]*?\swidth="([\d.]+)pt"', svg)
    return float(named[1]) if named else 0.0


def _named(match: re.Match[str]) -> str:
    light = PAPER if match[2] == "white" else INK
    return f'{match[1]}="#{f"{light:02x}" * 3}"'


def draw_twice(app: Sphinx, doctree: nodes.document) -> None:
    """Put the dark drawing beside each SVG; the theme shows one of them, print the light one."""
    folder = Path(app.srcdir) / "_build" / "drawn"
    for image in list(doctree.findall(nodes.image)):
        if not image["uri"].endswith(".svg"):
            continue
        _, path = app.env.relfn2path(image["uri"], app.env.docname)
        drawn = light(Path(path).read_text(encoding="utf-8"))
        image["loading"] = "lazy"  # what is not shown is not fetched
        if width(drawn) > WIDE:
            image["classes"].append("lx-wide")
        other = image.deepcopy()
        image["uri"], other["uri"] = _written(folder, drawn), _written(folder, dark(drawn))
        image["classes"].append("only-light")
        other["classes"].append("only-dark")
        image.parent.insert(image.parent.index(image) + 1, other)


def _written(folder: Path, svg: str) -> str:
    """The address of a drawing, which is named after what it is."""
    name = hashlib.sha256(svg.encode()).hexdigest()[:32]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    return f"/_build/drawn/{name}.svg"


def setup(app: Sphinx) -> dict[str, bool]:
    """Before Sphinx collects the images."""
    app.connect("doctree-read", draw_twice, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
