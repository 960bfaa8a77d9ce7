r"""The numbers that LaTeX gave to labels, from the ``.aux`` files that it wrote."""

from __future__ import annotations

import re
from pathlib import Path

from lemmax.paper.sources import MOST_CHARACTERS, MOST_FILES
from lemmax.paper.tokens import Unclosed, group
from lemmax.paper.web import Unreadable, plain

_NEWLABEL = re.compile(r"^\\newlabel\s*(?=\{)", re.MULTILINE)
_INPUT = re.compile(r"^\\@input\{([^{}]*)\}", re.MULTILINE)


def read_numbers(main: Path) -> dict[str, str] | None:
    r"""The number of every label, or None where the paper was never compiled.

    ``\newlabel{thm:main}{{3.1}{5}…}`` is LaTeX's own; what cleveref adds (``thm:main@cref``) says
    the same again and is passed over. Chapters that are included have files of their own.
    """
    first = main.with_suffix(".aux")
    if not first.is_file():
        return None
    folder = main.absolute().parent.resolve()
    numbers: dict[str, str] = {}
    waiting, seen = [first.resolve()], set[Path]()
    while waiting and len(seen) < MOST_FILES:
        path = waiting.pop()
        if path in seen or not path.is_relative_to(folder) or not path.is_file():
            continue
        if path.stat().st_size > MOST_CHARACTERS:
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8", errors="replace")
        waiting += [(folder / name).resolve() for name in _INPUT.findall(text)]
        for match in _NEWLABEL.finditer(text):
            line = text[match.end() : (text.find("\n", match.end()) + 1) or None]
            try:
                label = group(line, 0)
                values = group(line, label.after) if label else None
                number = group(line, values.start) if values else None
                told = plain(number.of(line)).strip() if number else ""
            except (Unclosed, Unreadable):  # cut off: LaTeX was interrupted
                continue
            if label and told and not label.of(line).endswith("@cref"):
                numbers[label.of(line)] = told
    return numbers
