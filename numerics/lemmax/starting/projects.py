"""Write a new project: the files with the paper's name in them, and digests of its own words."""

from __future__ import annotations

import datetime
import re
import tempfile
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_text
from lemmax.theory.ledger.claims import load_claims

# Where a file of ``files/`` goes: one that a tool would take for its own has another name there.
PLACES = {
    "README.md": "README.md",
    "claims.toml": "claims.toml",
    "certificates/con-argmax.json": "certificates/@key@/con-argmax.json",
    "data/descent.json": "data/descent.json",
    "data/descent.py.txt": "data/descent.py",
    "formal/even.v": "formal/even.v",
    "gitignore.txt": ".gitignore",
    "main.tex": "main.tex",
    "proofs/theorem-sum.md": "proofs/theorem-sum.md",
    "pyproject.toml.txt": "pyproject.toml",
    "tests/test_claims.py.txt": "tests/test_claims.py",
    "theorems.toml": "theorems.toml",
    "workflow/claims.yml": ".github/workflows/claims.yml",
}
_KEY = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_DIGEST = re.compile(r"@digest:([a-z-]+)@")
_SPECIAL = re.compile(r'[\\{}$&#^_%~"@\x00-\x1f]')


def key_of(folder: Path) -> str:
    """A key from the name of a folder.

    >>> key_of(Path("/home/me/My Paper (2026)"))
    'my-paper-2026'
    """
    words = re.sub(r"[^a-z0-9]+", "-", folder.absolute().name.lower()).strip("-")
    return words if _KEY.fullmatch(words) else "paper"


def new_project(folder: Path, key: str, title: str, author: str) -> list[Path]:
    """Write a project whose tests pass; the files that were written.

    Nothing is written where one of the files exists already.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = new_project(Path(folder), "gap", "A gap", "A. Author")
    ...     len(load_claims([Path(folder) / "claims.toml"]))
    7
    """
    if not _KEY.fullmatch(key):
        raise LemmaxError(
            f"{key!r} cannot begin the ids of claims: write small letters, digits and hyphens."
        )
    for name, text in (("title", title), ("author", author)):
        if not text.strip() or _SPECIAL.search(text):
            raise LemmaxError(f"The {name} {text!r} must be plain words, without signs of LaTeX.")
    if folder.exists() and not folder.is_dir():
        raise LemmaxError(f"{folder} is a file, not a folder.")
    texts = _texts(key, title, author)
    for path in texts:
        if (folder / path).exists() or (folder / path).is_symlink():
            raise LemmaxError(f"There is already {folder / path}; nothing was written.")
    written = []
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(target, text)
        written.append(target)
    return written


def _texts(key: str, title: str, author: str) -> dict[str, str]:
    """Every file of a new project by its place."""
    here = files("lemmax.starting").joinpath("files")
    names = {
        "@key@": key,
        "@title@": title,
        "@author@": author,
        "@year@": str(datetime.date.today().year),
    }
    texts = {}
    for source, place in PLACES.items():
        texts[_filled(place, names)] = _filled(_read(here.joinpath(source)), names)
    digests = _digests(texts["claims.toml"], key)
    texts = {
        place: _DIGEST.sub(lambda match: digests[match[1]], text) for place, text in texts.items()
    }
    texts["lemmax.sty"] = _read(files("lemmax.paper").joinpath("lemmax.sty"))
    return texts


def _read(file: Traversable) -> str:
    return file.read_text(encoding="utf-8")


def _filled(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(name, value)
    return text


def _digests(claims: str, key: str) -> dict[str, str]:
    """The digest of each claim by the part of its id behind the key."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "claims.toml"
        path.write_text(claims, encoding="utf-8")
        return {c.id.removeprefix(f"{key}/"): c.digest for c in load_claims([path])}
