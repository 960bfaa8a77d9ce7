"""One paper and everything that is written beside it: what it should say, and what it says."""

from __future__ import annotations

import tempfile
import tomllib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lemmax.paper.badges import DATA, STYLE, data_file, style
from lemmax.paper.claims_file import Drift, Header, Update, update_claims
from lemmax.paper.errors import PaperError
from lemmax.paper.numbering import read_numbers
from lemmax.paper.settings import Settings, default_key, read_settings
from lemmax.paper.sources import read_source
from lemmax.paper.statements import Contents, read_statements
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_text
from lemmax.theory.ledger.claims import BUILT_IN, Catalogue, load_claims


@dataclass(frozen=True)
class Paper:
    """A paper that was read, and the files that belong beside it.

    ``wants_style`` is true where ``lemmax.sty`` lies beside the paper or is asked for: only then
    is there a file of verdicts for it.
    """

    main: Path
    settings: Settings
    contents: Contents
    update: Update
    old: str | None
    notes: tuple[str, ...]
    wants_style: bool

    @cached_property
    def catalogue(self) -> Catalogue:
        """The claims as they will stand in the file, with lemmax's own where they lean on them."""
        listed = tomllib.loads(self.update.text).get("claim", [])
        foreign = any(
            not str(used).startswith(f"{self.update.key}/")
            for table in listed
            for used in table.get("uses", [])
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "claims.toml"
            path.write_text(self.update.text, encoding="utf-8")
            try:
                return load_claims([path, BUILT_IN] if foreign else [path])
            except LemmaxError as error:
                said = str(error).replace(str(path), str(self.settings.claims))
                raise LemmaxError(said) from None

    def files(self) -> dict[Path, str]:
        """The text that every file beside the paper should have."""
        wanted = {self.settings.claims: self.update.text}
        catalogue = self.catalogue  # a file that cannot be read again is never written
        if self.wants_style:
            folder = self.main.absolute().parent
            wanted[folder / STYLE] = style()
            wanted[folder / DATA] = data_file(
                self.main.name, self.contents, self.update.ids, catalogue, self.settings
            )
        return wanted

    def drifts(self) -> list[Drift]:
        """Every way in which the files differ from the paper, as sentences."""
        told = list(self.update.drifts)
        for path, text in self.files().items():
            if path != self.settings.claims and _read(path) != text:
                told.append(Drift("changed", None, f"{path.name}: the file is out of date."))
        return told

    def write(self) -> list[Path]:
        """Write what differs, each file whole or not at all; the files that were written."""
        written = []
        for path, text in self.files().items():
            if _read(path) == text:
                continue
            if not path.parent.is_dir():
                raise PaperError(str(path), f"There is no folder {path.parent}.")
            write_text(path, text)
            written.append(path)
        return written


def read_paper(
    main: Path, claims: Path | None = None, key: str | None = None, sty: bool = False
) -> Paper:
    """Read a paper, its numbers, its settings and its claims file; nothing is written."""
    source = read_source(main)
    contents = read_statements(source)
    settings = read_settings(main, claims)
    if key is not None:
        settings = replace(settings, key=key)
    old = _read(settings.claims)
    numbers = read_numbers(main)
    header = Header(settings.key or default_key(main), contents.title, contents.authors)
    name = settings.claims.name
    update = update_claims(old, name, header, contents.statements, numbers, settings.kinds)
    if settings.key is not None and update.key != settings.key:
        raise PaperError(name, f"The key of the paper is {update.key!r}, not {settings.key!r}.")
    notes = list(source.notes)
    if numbers is None:
        notes.append(f"There is no {main.stem}.aux: numbers stay as they are until LaTeX ran.")
    else:
        notes += [
            f"{s.place}: {main.stem}.aux has no number of {s.label!r}; run LaTeX again."
            for s in contents.statements
            if s.label in update.ids and s.label not in numbers
        ]
    wants = sty or (main.absolute().parent / STYLE).is_file()
    return Paper(main, settings, contents, update, old, tuple(notes), wants)


def _read(path: Path) -> str | None:
    """The text of a file to the byte, or None where there is none."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            return stream.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        raise PaperError(str(path), "The file cannot be read as text.") from None
