"""Papers in LaTeX, written into a folder of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

PREAMBLE = r"""\documentclass{article}
\usepackage{amsthm}
\newtheorem{theorem}{Theorem}[section]
\newtheorem{lemma}[theorem]{Lemma}
\newtheorem{definition}[theorem]{Definition}
\newtheorem{remark}[theorem]{Remark}
"""

Write = Callable[..., Path]


def document(body: str, preamble: str = "") -> str:
    return f"{PREAMBLE}{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a paper whose main file has this body, and other files beside it; the main file."""

    def make(body: str, preamble: str = "", **others: str) -> Path:
        folder = tmp_path / "parity"
        folder.mkdir(exist_ok=True)
        for name, text in others.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        main = folder / "main.tex"
        main.write_text(document(body, preamble), encoding="utf-8")
        return main

    return make
