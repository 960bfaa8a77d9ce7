"""Set docs/examples/paper as a PDF into docs/_static, where LaTeX is; say so where it is not."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / room) for room in ("theory", "constructions", "numerics")]
SOURCE = HERE / "examples" / "paper"
TARGET = HERE / "_static" / "parity.pdf"


def build(target: Path = TARGET) -> str | None:
    """The PDF, from the sources and the ledger beside them; why there is none, if there is none."""
    from lemmax.paper.papers import read_paper

    program = shutil.which("pdflatex")
    if program is None:
        target.unlink(missing_ok=True)
        return "there is no pdflatex, so the example paper is offered without its PDF"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "paper"
        shutil.copytree(SOURCE, copy)
        read_paper(copy / "main.tex", sty=True).write()
        for _ in range(3):
            done = subprocess.run(
                [program, "-interaction=nonstopmode", "-halt-on-error", "main.tex"],
                cwd=copy,
                capture_output=True,
                text=True,
                encoding="latin-1",
            )
            if done.returncode:
                raise SystemExit(f"pdflatex stopped:\n{done.stdout[-2000:]}")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(copy / "main.pdf", target)
    return None


if __name__ == "__main__":
    missing = build()
    if missing:
        print(missing)
