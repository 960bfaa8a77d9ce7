"""What a paper can do wrong, said with the file and the line."""

from __future__ import annotations

from dataclasses import dataclass

from lemmax.theory.errors import LemmaxError


@dataclass(frozen=True, order=True)
class Place:
    """A line of a file.

    >>> print(Place("main.tex", 12))
    main.tex:12
    """

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class PaperError(LemmaxError):
    """A paper, or a file that belongs to it, that cannot be used."""

    def __init__(self, place: Place | str, sentence: str) -> None:
        super().__init__(f"{place}: {sentence}")
