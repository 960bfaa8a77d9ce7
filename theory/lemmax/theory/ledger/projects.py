"""Projects: where a paper keeps its claims, proofs, certificates, theorems and ledger.

They are the pytest settings of a project (``lemmax_claims`` and so on in pytest.ini,
pyproject.toml, tox.ini or setup.cfg), each relative to the folder of that file. Where a project
declares no claims, it is lemmax's own that are meant.
"""

from __future__ import annotations

import configparser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import read_toml, regular_text
from lemmax.theory.ledger.claims import BUILT_IN

SETTINGS = {
    "lemmax_claims": "claims files or folders",
    "lemmax_proofs": "folders of proof pages",
    "lemmax_certificates": "the folder of shipped certificates",
    "lemmax_ledger": "the committed ledger (ledger.json)",
    "lemmax_formal": "the folder of Coq sources",
    "lemmax_theorems": "the file of the statements that Coq printed (theorems.toml)",
}
LISTS = ("lemmax_claims", "lemmax_proofs")
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Project:
    """The places of one project; ``formal`` is None where lemmax's own Coq sources are meant."""

    root: Path
    claims: tuple[Path, ...] = (BUILT_IN,)
    proofs: tuple[Path, ...] = ()
    certificates: Path | None = None
    ledger: Path = _HERE / "ledger.json"
    formal: Path | None = None
    theorems: Path = _HERE / "theorems.toml"

    @property
    def own(self) -> bool:
        """Whether the project has claims of its own."""
        return self.claims != (BUILT_IN,)


def project(root: Path, setting: Callable[[str], Any]) -> Project:
    """The project with these settings; lists are sequences of texts, the others texts."""
    claims = tuple(root / path for path in setting("lemmax_claims"))
    own = bool(claims)

    def place(name: str, default: str) -> Path:
        return root / (setting(name) or default)

    return Project(
        root,
        claims or (BUILT_IN,),
        tuple(root / path for path in setting("lemmax_proofs")),
        root / setting("lemmax_certificates") if setting("lemmax_certificates") else None,
        place("lemmax_ledger", "ledger.json") if own else _HERE / "ledger.json",
        root / setting("lemmax_formal") if setting("lemmax_formal") else None,
        place("lemmax_theorems", "theorems.toml") if own else _HERE / "theorems.toml",
    )


def discover(start: Path) -> Project | None:
    """The project of a folder: the nearest settings in it or above that declare claims, or None."""
    for folder in (start.resolve(), *start.resolve().parents):
        values = _settings(folder)
        if values.get("lemmax_claims"):
            return project(folder, lambda name, known=values: _value(name, known))  # type: ignore[misc]
    return None


def _value(name: str, values: dict[str, Any]) -> Any:
    value = values.get(name, "")
    if name not in LISTS:
        return value
    lines = value.splitlines() if isinstance(value, str) else value
    return [line.strip() for line in lines if line.strip()]


def _settings(folder: Path) -> dict[str, Any]:
    """The pytest settings of a folder, from the first file that has any."""
    found: dict[str, Any]
    for name in ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"):
        path = folder / name
        if not path.is_file():
            continue
        try:
            if name == "pyproject.toml":
                tool = read_toml(path).get("tool", {})
                found = tool.get("pytest", {}).get("ini_options", {})
            else:
                parser = configparser.ConfigParser(interpolation=None)
                parser.read_string(regular_text(path, 2**24))
                section = "tool:pytest" if name == "setup.cfg" else "pytest"
                found = dict(parser[section]) if parser.has_section(section) else {}
        except LemmaxError:
            raise
        except (ValueError, AttributeError, configparser.Error) as error:
            raise LemmaxError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
        if found:
            return found
    return {}
