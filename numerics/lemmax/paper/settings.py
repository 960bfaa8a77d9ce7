r"""Where a paper keeps its claims, its ledger and its certificates.

Everything lies beside the main file unless ``pyproject.toml``, there or above, says otherwise::

    [tool.lemmax.paper]
    key = "mine"                  # what the ids of the claims begin with
    claims = "claims.toml"        # all paths are relative to pyproject.toml
    ledger = "ledger.json"
    certificates = "certificates"
    url = "https://…"             # where the pages of the claims are published
    kinds = { example = "I" }     # the kind of a theorem, by its environment or printed name

A single claims file and the certificates that pytest is told about (``lemmax_claims`` and
``lemmax_certificates``) need not be named twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from lemmax.paper.errors import PaperError
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import read_toml
from lemmax.theory.ledger.claims import Kind

_TEXTS = ("key", "claims", "ledger", "certificates", "url")
_ANYONES = frozenset(("main", "paper", "article", "ms", "manuscript", "root", "thesis"))


@dataclass(frozen=True)
class Settings:
    """Paths are absolute; ``key`` is None where a claims file, if there is one, knows it."""

    root: Path
    claims: Path
    ledger: Path
    certificates: Path
    key: str | None = None
    url: str | None = None
    kinds: Mapping[str, Kind | None] = field(default_factory=dict)


def read_settings(main: Path, claims: Path | None = None) -> Settings:
    """The settings of a paper; ``claims`` wins over what the project says."""
    folder = main.absolute().parent
    pyproject = next(
        (p for f in (folder, *folder.parents) if (p := f / "pyproject.toml").is_file()), None
    )
    root = folder
    ours: dict[str, Any] = {}
    pytests: dict[str, Any] = {}
    if pyproject is not None:
        ours, pytests = _tables(pyproject)
        if ours or pytests:
            root = pyproject.parent
    listed = pytests.get("lemmax_claims")
    single = (
        [c for c in listed if isinstance(c, str)] if isinstance(listed, list) else [str(listed)]
    )
    named = ours.get("claims")
    if claims is None and named is None and len(single) == 1 and single[0].endswith(".toml"):
        named = single[0]
    file = claims or (root / named if named else folder / "claims.toml")
    held = ours.get("certificates", pytests.get("lemmax_certificates"))
    return Settings(
        root,
        file.absolute(),
        root / ours["ledger"] if "ledger" in ours else file.absolute().with_name("ledger.json"),
        root / held if held else folder / "certificates",
        ours.get("key"),
        ours.get("url"),
        ours.get("kinds", {}),
    )


def _tables(pyproject: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        tool = read_toml(pyproject).get("tool", {})
    except LemmaxError as error:
        raise PaperError(pyproject.name, str(error)) from None
    ours, pytests = _table(tool, "lemmax", "paper"), _table(tool, "pytest", "ini_options")
    unknown = sorted(set(ours) - {*_TEXTS, "kinds"})
    if unknown:
        raise PaperError(str(pyproject), f"tool.lemmax.paper has an unknown key {unknown[0]!r}.")
    for name in _TEXTS:
        if name in ours and not isinstance(ours[name], str):
            raise PaperError(str(pyproject), f"tool.lemmax.paper: {name} must be a text.")
    kinds = ours.get("kinds", {})
    if not isinstance(kinds, dict) or not all(
        kind in ("", *get_args(Kind)) for kind in kinds.values()
    ):
        raise PaperError(
            str(pyproject),
            "tool.lemmax.paper: kinds maps environments to A, E, I, T, D or, to leave them out, "
            "an empty text.",
        )
    ours["kinds"] = {name: cast(Kind, kind) or None for name, kind in kinds.items()}
    if len(ours) == 1 and not ours["kinds"]:
        ours = {}
    return ours, pytests


def _table(value: Any, *names: str) -> dict[str, Any]:
    """A table within tables; an empty one where something else stands in its place."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return dict(value) if isinstance(value, dict) else {}


def default_key(main: Path) -> str:
    """A name for the paper: that of its main file, or of its folder where that says nothing.

    >>> default_key(Path("/home/me/Parity Gap/main.tex")), default_key(Path("gap.tex"))
    ('parity-gap', 'gap')
    """
    stem = main.stem if main.stem.lower() not in _ANYONES else main.absolute().parent.name
    return slug(stem) or "paper"


def slug(text: str) -> str:
    """A text as a part of an id.

    >>> slug("thm:Gram blow-up"), slug("prop:3.6_b")
    ('thm-gram-blow-up', 'prop-3.6_b')
    """
    return re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-.")
