"""``{world}``: the picture of the first page, a table of facts beside the numbers that hold it.

Part table, part drawing, so that it can be read on a phone and by a screen reader; its colours are
those of the page, in the light, in the dark and in print. The layer is compiled anew.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from lemmax.constructions import compile_database
from lemmax.constructions.countries import countries

PICTURES = Path(__file__).parent.parent / "pictures"
SHOWN = ("Brazil", "China", "Egypt", "France", "India", "Japan", "Kenya", "Mexico", "Singapore")
PREDICATES = ("capital", "currency", "continent")


def outputs() -> list[tuple[str, str, str, int, float]]:
    """Each fact, the number of its value, and the number that the head computes for it."""
    spec = importlib.util.spec_from_file_location("countries", PICTURES / "countries.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows: list[tuple[str, str, str, int, float]] = module.outputs()
    return rows


def table(layer: Any, facts: dict[tuple[str, str], str]) -> str:
    """Some countries: what is known about each, and its three numbers."""
    head = "".join(f'<th scope="col" class="lx-{p}">{p}</th>' for p in PREDICATES)
    body = ""
    for country in SHOWN:
        known = "".join(f'<td class="lx-{p}">{escape(facts[country, p])}</td>' for p in PREDICATES)
        vector = "".join(
            f"<td>{_minus(f'{float(x):.2f}'.removesuffix('.00'))}</td>"
            for x in layer.W_E[layer.index[country]]
        )
        body += f'<tr><th scope="row">{country}</th>{known}{vector}</tr>'
    return (
        f'<table class="lx-facts-table"><thead><tr><th scope="col">country</th>{head}'
        '<th scope="col" colspan="3">three numbers</th></tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def matrices(head: Any) -> str:
    """The four matrices of the head, every number of them."""
    parts, x = [], 0
    for name, wide in (("Q", 22), ("K", 22), ("V", 22), ("O", 42)):
        rows = getattr(head, f"W_{name}")
        parts.append(f'<text x="{x}" y="11">W<tspan dy="3" font-size="8">{name}</tspan></text>')
        for i, row in enumerate(rows):
            for j, entry in enumerate(row):
                at = (x + j * wide, 20 + i * 19)
                style = "lx-entry" if entry else "lx-entry lx-nought"
                parts.append(
                    f'<rect class="{style}" x="{at[0]}" y="{at[1]}" width="{wide - 2}" '
                    f'height="17" rx="2"/><text x="{at[0] + wide / 2 - 1}" y="{at[1] + 12.5}" '
                    f'text-anchor="middle">{_minus(str(Fraction(entry)))}</text>'
                )
        x += len(rows[0]) * wide + 14
    return _svg(x - 16, 78, parts, "The four matrices of the head, with all their entries")


def dots(rows: Iterable[tuple[str, str, str, int, float]]) -> str:
    """One dot per fact: how far the head is off, between the lines where an answer is wrong."""
    rows = list(rows)
    most = max(n for *_, n, _ in rows)
    width, middle, half = 318, 54, 34
    if max(abs(s - n) for *_, n, s in rows) >= 0.5:
        raise ValueError("a value is not the nearest one")
    parts = [f'<path class="lx-limit" d="M0 {y}H{width}"/>' for y in (middle - half, middle + half)]
    parts += [
        f'<text x="0" y="{middle - half - 6}">from here up the answer would be wrong</text>',
        f'<text x="0" y="{middle + half + 14}">from here down too</text>',
    ]
    for _, predicate, _, n, s in rows:
        x, y = 3 + (width - 6) * n / most, middle - (s - n) * 2 * half
        parts.append(f'<circle class="lx-{predicate}" cx="{x:.1f}" cy="{y:.1f}" r="1.7"/>')
    told = f"{len(rows)} dots, one per fact, all close to the middle, far from a wrong answer"
    return _svg(width, middle + half + 18, parts, told)


def picture() -> str:
    """The figure."""
    rows = outputs()
    facts = {(k, q): v for k, q, v, *_ in rows}
    compiled = compile_database(countries())
    head = compiled.layer.heads[0]
    size = sum(len(m) * len(m[0]) for m in (head.W_Q, head.W_K, head.W_V, head.W_O))
    keys = len({k for k, *_ in rows})
    return (
        '<figure class="lx-world"><div class="lx-world-parts">'
        f"<div>{table(compiled.layer, facts)}"
        f"<p>… {keys} countries in all, {len(rows):,} facts</p></div>"
        f"<div>{matrices(head)}<p>one attention head, all its {size} numbers</p>"
        f"{dots(rows)}<p>every one of the {len(rows):,} answers is the right one</p></div></div>"
        f"<figcaption>What an attention layer can know. {len(rows):,} facts about the world are "
        f"compiled into one head with {size} parameters and three numbers per country, and each "
        "answer is proved.</figcaption></figure>"
    )


def _svg(width: float, height: float, parts: Iterable[str], told: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(told)}" '
        f'font-size="11" fill="currentColor">{"".join(parts)}</svg>'
    )


def _minus(number: str) -> str:
    return number.replace("-", "−")


class World(SphinxDirective):
    """The picture as HTML."""

    def run(self) -> list[nodes.Node]:
        for path in (Path(__file__), PICTURES / "countries.py"):
            self.env.note_dependency(str(path))
        return [nodes.raw("", picture(), format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("world", World)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
