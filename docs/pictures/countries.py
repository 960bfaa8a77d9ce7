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
WIDTH, HEIGHT, LEFT, BOTTOM = 820, 430, 70, 370
COLOURS = {"capital": "#4c78a8", "currency": "#e4572e", "continent": "#2a9d5c"}
NAMED = (("Singapore", "continent"), ("Japan", "currency"), ("Zambia", "capital"))


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

    def place(n: float, s: float) -> tuple[float, float]:
        scale = (BOTTOM - 60) / most
        return LEFT + n / most * (WIDTH - LEFT - 250), BOTTOM - s * scale

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="30" font-size="17" font-weight="bold">{len(rows)} facts about '
        "the world in one attention head with 18 parameters</text>",
    ]
    for *_, predicate, _, n, s in rows:
        x, y = place(n, s)
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{COLOURS[predicate]}"/>')
    for k, q, v, n, s in rows:
        if (k, q) in NAMED:
            x, y = place(n, s)
            lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" stroke="black"/>')
            told = escape(f"{k}, {q}: {v}")
            lines.append(f'<text x="{x + 10:.1f}" y="{y + 5:.1f}">{told}</text>')
    words = (
        "One dot per fact. The head mixes",
        "country and question into one number;",
        "the value with the nearest number",
        "is the answer. All of them are right,",
        "in exact arithmetic, with a certificate",
        "that a small checker re-checks.",
    )
    for line, word in enumerate(words):
        lines.append(f'<text x="{WIDTH - 235}" y="{150 + 19 * line}">{word}</text>')
    for line, (predicate, colour) in enumerate(COLOURS.items()):
        y = 290 + 20 * line
        lines.append(f'<circle cx="{WIDTH - 229}" cy="{y - 4}" r="5" fill="{colour}"/>')
        lines.append(f'<text x="{WIDTH - 216}" y="{y}">{predicate}</text>')
    lines += [
        f'<path d="M{LEFT} 55 V{BOTTOM} H{WIDTH - 250}" fill="none" stroke="#888"/>',
        f'<text x="{LEFT}" y="{BOTTOM + 30}">number of the value, 1 to {most}</text>',
        f'<text transform="translate({LEFT - 20} {BOTTOM}) rotate(-90)">what the head computes'
        "</text>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
