r"""The files of a paper as one text, in which every position still knows its file and its line.

Followed are ``\input``, ``\include``, ``\subfile``, ``\import`` and packages or classes that lie
in the folder of the paper. Nothing outside of that folder is opened, and nothing is executed.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lemmax.paper.errors import PaperError, Place
from lemmax.paper.tokens import Token, Unclosed, group, optional, skip_space, tokens

MOST_CHARACTERS = 10_000_000
MOST_FILES = 1_000
DEEPEST = 50

_INPUTS = frozenset(("input", "include", "subfile", "subfileinclude"))
_IMPORTS = frozenset(("import", "subimport", "inputfrom", "includefrom"))
_PACKAGES = {"usepackage": ".sty", "RequirePackage": ".sty", "documentclass": ".cls"}
_OURS = "lemmax.sty"  # its commands are known here and need no definition
_BARE_NAME = re.compile(r"[^\s{}\\%]+")
_CONDITIONAL = re.compile(r"if[A-Za-z]*|fi|else")


@dataclass(frozen=True)
class Source:
    """The text of a paper; ``starts`` and ``places`` say where each stretch of it came from.

    ``notes`` are sentences about files that are named but not here: TeX has many of its own.
    """

    text: str
    folder: Path
    starts: tuple[int, ...]
    places: tuple[Place, ...]
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()

    def place(self, position: int) -> Place:
        """The file and the line of a position."""
        index = max(bisect.bisect_right(self.starts, position) - 1, 0)
        place, start = self.places[index], self.starts[index]
        return Place(place.file, place.line + self.text.count("\n", start, position))

    def error(self, position: int, sentence: str) -> PaperError:
        """An error at a position."""
        return PaperError(self.place(position), sentence)


def read_source(main: Path) -> Source:
    """Read a paper from its main file; everything below the folder of that file may be used."""
    if not main.is_file():
        raise PaperError(str(main), "There is no such file.")
    reader = _Reader(main.absolute().parent.resolve())
    reader.add(main.absolute().resolve(), 0)
    text = "".join(reader.parts)
    if "\\begin{document}" not in text and "\\documentclass" not in text:
        raise PaperError(
            Place(main.name, 1), "This is no LaTeX document: it has no \\documentclass."
        )
    return Source(
        text,
        reader.folder,
        tuple(reader.starts),
        tuple(reader.places),
        tuple(reader.files),
        tuple(reader.notes),
    )


class _Reader:
    """Copies files into one text, in the order in which TeX would read them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parts: list[str] = []
        self.length = 0
        self.starts: list[int] = []
        self.places: list[Place] = []
        self.files: list[Path] = []
        self.open: list[Path] = []
        self.notes: list[str] = []

    def add(self, path: Path, depth: int) -> None:
        """Copy one file and, where it names them, others."""
        name = path.relative_to(self.folder).as_posix()
        text = self._read(path, name)
        self.files.append(path)
        self.open.append(path)
        position = 0
        for kind, token in _interesting(text):
            if token.start < position:
                continue  # inside of something that was already followed
            if kind == "end":
                self._copy(text[position : token.start], name, _line(text, position))
                position = len(text)
                break
            if kind == "skipped":
                self._copy(text[position : token.start], name, _line(text, position))
                position = token.end
                continue
            place = Place(name, _line(text, token.start))
            try:
                named, after = self._named(text, token, place)
            except Unclosed:
                raise PaperError(place, "A brace is opened here and never closed.") from None
            for target in named:
                if target in self.open:
                    raise PaperError(place, f"The file {target.name} reads itself.")
                if depth >= DEEPEST or len(self.files) >= MOST_FILES:
                    raise PaperError(place, "The paper reads too many files.")
                if target in self.files and target.suffix in (".sty", ".cls"):
                    continue
                self._copy(text[position : token.start], name, _line(text, position))
                position = after
                self.add(target, depth + 1)
        self._copy(text[position:], name, _line(text, position))
        self.open.pop()

    def _read(self, path: Path, name: str) -> str:
        try:
            if path.stat().st_size > MOST_CHARACTERS:
                raise PaperError(Place(name, 1), "The file is larger than 10 MB.")
            data = path.read_bytes()
        except OSError as error:
            raise PaperError(
                Place(name, 1), f"The file cannot be read: {error.strerror}."
            ) from None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise PaperError(Place(name, line), "This is not a text in UTF-8.") from None
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            raise PaperError(Place(name, line), "This is no LaTeX: it holds a zero byte.")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _copy(self, text: str, name: str, line: int) -> None:
        if not text:
            return
        self.starts.append(self.length)
        self.places.append(Place(name, line))
        self.parts.append(text)
        self.length += len(text)
        if self.length > MOST_CHARACTERS:
            raise PaperError(Place(name, line), "The paper is longer than 10 MB.")

    def _named(self, text: str, token: Token, place: Place) -> tuple[list[Path], int]:
        """The files of the folder that a command names, and the position behind it."""
        if token.name in _PACKAGES:
            options = optional(text, token.end)
            names = group(text, options.after if options else token.end)
            if names is None:
                return [], token.end
            suffix = _PACKAGES[token.name]
            files = [self.folder / f"{n.strip()}{suffix}" for n in names.of(text).split(",")]
            local = [
                f.resolve()
                for f in files
                if f.name != _OURS and _plain(f.name) and f.is_file() and self._inside(f)
            ]
            return local, names.after
        first = group(text, token.end)
        if first is None:
            bare = _BARE_NAME.match(text, skip_space(text, token.end))
            if token.name != "input" or bare is None:
                return [], token.end
            return self._find(self.folder, bare[0], place), bare.end()
        if token.name in _IMPORTS:
            second = group(text, first.after)
            if second is None:
                return [], first.after
            base = self.folder
            if token.name.startswith("sub") and self.open:
                base = self.open[-1].parent
            return self._find(base / first.of(text), second.of(text), place), second.after
        return self._find(self.folder, first.of(text).strip(), place), first.after

    def _find(self, base: Path, name: str, place: Place) -> list[Path]:
        if "#" in name:
            return []  # inside of a definition
        if not name or "\\" in f"{base}{name}":
            self.notes.append(f"{place}: the file {name!r} has no plain name and is not read.")
            return []
        candidates = [base / f"{name}.tex", base / name]
        if self.open and self.open[-1].parent != base:  # \subfile is relative to its own file
            candidates += [self.open[-1].parent / c.relative_to(base) for c in candidates]
        for path in candidates:
            if not self._inside(path):
                raise PaperError(
                    place, f"The file {name} lies outside of the paper's folder and is not read."
                )
            if path.is_file():
                return [path.resolve()]
        self.notes.append(f"{place}: there is no file {name} in the paper's folder.")
        return []

    def _inside(self, path: Path) -> bool:
        """Whether a path, links followed, stays in the folder."""
        try:
            return path.resolve().is_relative_to(self.folder)
        except (OSError, RuntimeError, ValueError):
            return False


def _plain(name: str) -> bool:
    return "\\" not in name and "#" not in name and "/" not in name


@lru_cache(maxsize=4)
def _ends(text: str) -> list[int]:
    """The places of all line ends: found once, since a file may ask for its lines often."""
    return [match.start() for match in re.finditer("\n", text)]


def _line(text: str, position: int) -> int:
    return bisect.bisect_left(_ends(text), position) + 1


def _interesting(text: str) -> Iterator[tuple[str, Token]]:
    r"""Commands that name files, what ``\iffalse`` hides, and where the file ends."""
    hidden: tuple[int, int] | None = None  # where \iffalse began, and how many \if are open
    for token in tokens(text):
        if token.kind == "end" and token.name == "document" and hidden is None:
            yield "end", Token(token.kind, token.name, token.end, token.end)
            return
        if token.kind != "macro":
            continue
        if hidden is not None:
            start, depth = hidden
            if _CONDITIONAL.fullmatch(token.name):
                depth += {"fi": -1, "else": 0}.get(token.name, 1)
                hidden = (start, depth)
                if depth == 0 or (depth == 1 and token.name == "else"):
                    yield "skipped", Token("macro", "iffalse", start, token.end)
                    hidden = None
        elif token.name == "iffalse":
            hidden = (token.start, 1)
        elif token.name == "endinput":
            yield "end", token
            return
        elif token.name in _INPUTS or token.name in _IMPORTS or token.name in _PACKAGES:
            yield "file", token
