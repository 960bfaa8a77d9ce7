"""Draw countries.svg: 749 facts in one head with 18 parameters, one dot per fact.

Run ``python docs/pictures/countries.py``; the layer is compiled and certified anew, and the dots
are its float64 outputs. The answer to a question is the value whose number is nearest.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from lemmax.constructions import compile_database
from lemmax.constructions.countries import countries

TARGET = Path(__file__).with_suffix(".svg")
WIDTH, HEIGHT, LEFT, MIDDLE = 820, 410, 40, 225
COLOURS = {"capital": "#4c78a8", "currency": "#e4572e", "continent": "#2a9d5c"}
NAMED = (("Singapore", "continent"), ("Japan", "currency"), ("Zambia", "capital"))
UP = NAMED[1:2]


def outputs() -> list[tuple[str, str, str, int, float]]:
    """Each fact, the number of its value, and the number that the head computes for it."""
    db = countries()
    layer = compile_database(db).layer
    W = {name: np.asarray(matrix) for name, matrix in layer.to_numpy().items()}
    value = {v: n for n, v in enumerate(db.values, 1)}
    rows = []
    for k, q, v in db:
        x, y = (W["W_E"][layer.index[token]] for token in (k, q))
        # The last token attends to both with a logistic weight.
        score = y @ W["heads.0.W_Q"] @ W["heads.0.W_K"] @ (x - y)
        if layer.unit == "ln2":
            score *= np.log(2)
        weight = 1 / (1 + np.exp(-score))
        mixed = y + (weight * x + (1 - weight) * y) @ W["heads.0.W_V"] @ W["heads.0.W_O"]
        logit = {n: float(mixed @ W["W_U"][:, layer.index[db.values[n - 1]]]) for n in (1, 2, 3)}
        # Logits are c(sn - n²/2) by construction: three of them give c and s.
        c = -(logit[3] - 2 * logit[2] + logit[1])
        rows.append((str(k), str(q), str(v), value[v], (logit[2] - logit[1]) / c + 1.5))
    return rows


def picture() -> str:
    """The SVG."""
    rows = outputs()
    most = max(n for *_, n, _ in rows)
    assert max(abs(s - n) for *_, n, s in rows) < 0.5, "a value is not the nearest one"

    def place(n: float, off: float) -> tuple[float, float]:
        return LEFT + n / most * (WIDTH - LEFT - 20), MIDDLE - off * 260

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="20" y="28" font-size="17" font-weight="bold">{len(rows)} facts about '
        "the world in one attention head with 18 parameters</text>",
        '<text x="20" y="50">One dot per fact. The head turns country and question into one '
        "number; the value with the nearest number is the answer.</text>",
    ]
    for off in (-0.5, 0, 0.5):
        x, y = place(0, off)
        dash = ' stroke-dasharray="6 4"' if off else ""
        lines.append(f'<path d="M{x} {y:.1f} H{WIDTH - 20}" stroke="#888"{dash}/>')
    for off, word in ((0.5, "above: a wrong answer"), (-0.5, "below: a wrong answer")):
        x, y = place(0, off)
        lines.append(f'<text x="{x + 4}" y="{y + (-6 if off > 0 else 16):.1f}">{word}</text>')
    for _, predicate, _, n, s in rows:
        x, y = place(n, s - n)
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{COLOURS[predicate]}"/>')
    for (k, q, v, n, s), up in ((row, row[:2] in UP) for row in rows if row[:2] in NAMED):
        x, y = place(n, s - n)
        end = MIDDLE + (-70 if up else 70)
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" stroke="black"/>')
        lines.append(f'<path d="M{x:.1f} {y:.1f} V{end}" stroke="black" stroke-width="0.7"/>')
        told, side = escape(f"{k}, {q}: {v}"), "end" if n > most / 2 else "start"
        lines.append(
            f'<text x="{x:.1f}" y="{end + (-5 if up else 15)}" text-anchor="{side}">{told}</text>'
        )
    for number, (predicate, colour) in enumerate(COLOURS.items()):
        x = WIDTH - 300 + 95 * number
        lines.append(f'<circle cx="{x}" cy="{HEIGHT - 18}" r="5" fill="{colour}"/>')
        lines.append(f'<text x="{x + 11}" y="{HEIGHT - 14}">{predicate}</text>')
    lines.append(
        f'<text x="{LEFT}" y="{HEIGHT - 14}">number of the right value, 1 to {most}</text>'
    )
    lines.append(
        f'<text transform="translate({LEFT - 12} {MIDDLE + 75}) rotate(-90)">what the head is '
        "off by</text>"
    )
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
