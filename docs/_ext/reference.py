"""The API reference: one page per public module of the three rooms, found by looking.

A module whose name begins with an underscore is private. The index lists the flat names that
``from lemmax.theory import …`` offers, each with the first sentence of its docstring.
"""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from lemmax.sphinx.words import ORPHAN

DOCS = Path(__file__).parent.parent
ROOT = DOCS.parent
ROOMS = {
    "theory": "what is said",
    "constructions": "what witnesses it",
    "numerics": "what is measured",
}


def modules(room: str) -> dict[str, Path]:
    """The public modules of a room, and those that stand directly in the namespace."""
    base = ROOT / room
    found = {}
    for path in sorted((base / "lemmax").rglob("*.py")):
        parts = path.relative_to(base).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if any(part.startswith("_") for part in parts) or parts == ("lemmax",):
            continue
        found[".".join(parts)] = path
    return found


def first_sentence(text: str | None) -> str:
    """The first paragraph of a docstring on one line."""
    return " ".join((text or "").strip().partition("\n\n")[0].split())


def module_page(name: str, path: Path) -> str:
    """The page of one module; a room only says what it is, its names live in its modules."""
    room = path.name == "__init__.py" and name.count(".") == 1
    members = [] if room else ["   :members:", "   :member-order: bysource"]
    # A function that has the name of its module is documented there.
    named = [n for n in _offered(path) if (path.parent / f"{n}.py").exists()]
    if members and named:
        members.append(f"   :exclude-members: {', '.join(named)}")
    return "\n".join(
        [
            *ORPHAN,  # a sidebar of hundreds of modules, drawn on every page, takes minutes
            "[Reference](index.md)",
            "",
            "# " + name.replace(".", ".\u200b"),  # where the line may break
            "",
            "```{eval-rst}",
            f".. automodule:: {name}",
            *members,
            "```",
            "",
        ]
    )


def _offered(path: Path) -> list[str]:
    """The names that a package takes from its modules when they are asked for."""
    stub = path.with_suffix(".pyi")
    if path.name != "__init__.py" or not stub.exists():
        return []
    return re.findall(r" as (\w+)$", stub.read_text(encoding="utf-8"), re.MULTILINE)


def flat_names(room: str) -> list[str]:
    """The lines of the table of names that a room offers directly."""
    package = import_module(f"lemmax.{room}")
    lines = []
    for name in getattr(package, "__all__", ()):
        thing: Any = getattr(package, name)
        role = "class" if isinstance(thing, type) else "func"
        full = f"{thing.__module__}.{name}"
        lines += [f"   * - :py:{role}:`{name} <{full}>`", f"     - {_plain(thing.__doc__)}"]
    if not lines:
        return []
    return [
        "```{eval-rst}",
        ".. list-table::",
        "   :widths: 30 70",
        "",
        *lines,
        "```",
        "",
    ]


def _plain(text: str | None) -> str:
    from lemmax.sphinx.markup import docstring_lines

    lines = [first_sentence(text)]
    docstring_lines(lines)
    return " ".join(lines)


def index_page() -> str:
    """The entry page of the reference."""
    lines = [
        "# Reference",
        "",
        "Everything public, with the theorem, its hypotheses, the cost and an example that runs.",
        "Examples in docstrings are executed by the tests.",
        "",
    ]
    for room, what in ROOMS.items():
        lines += [f"## lemmax.{room}: {what}", "", *flat_names(room)]
        lines += ["| module | |", "|---|---|"]
        for name, path in modules(room).items():
            doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
            sentence = _markdown(first_sentence(doc))
            lines.append(f"| [{name}]({name}.md) | {sentence} |")
        lines.append("")
    return "\n".join(lines)


def _markdown(text: str) -> str:
    from lemmax.sphinx.markup import markdown

    return markdown(text.replace("``", "`"), escape=False).replace("|", "\\|")


def write_pages(app: Sphinx) -> None:
    """Write the pages before Sphinx looks for documents; unchanged ones are kept."""
    folder = DOCS / "reference"
    wanted = {folder / "index.md": index_page()}
    for room in ROOMS:
        wanted |= {
            folder / f"{name}.md": module_page(name, path) for name, path in modules(room).items()
        }
    if folder.exists():
        for path in set(folder.glob("*.md")) - set(wanted):
            path.unlink()
    folder.mkdir(exist_ok=True)
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the generator."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
