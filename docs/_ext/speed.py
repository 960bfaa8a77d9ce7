"""What Sphinx does for each page anew, done once: sidebars, names of Python, what it remembers.

With hundreds of pages these were most of the time of a build. The pages do not change.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.python import ObjectEntry, PythonDomain
from sphinx.environment import BuildEnvironment


class IndexedPython(PythonDomain):
    """The Python domain with an index of last names: ``int`` is not sought among all objects."""

    @cached_property
    def last_names(self) -> frozenset[str]:
        """The last part of every name that is documented."""
        return frozenset(name.rpartition(".")[2] for name in self.objects)

    def find_obj(
        self,
        env: BuildEnvironment,
        modname: str,
        classname: str,
        name: str,
        type: str | None,
        searchmode: int = 0,
    ) -> list[tuple[str, ObjectEntry]]:
        """The objects that a name may mean; every one of them ends with its last part."""
        if name.removesuffix("()").rpartition(".")[2] not in self.last_names:
            return []
        return super().find_obj(env, modname, classname, name, type, searchmode)


def share_sidebars(app: Sphinx, env: BuildEnvironment) -> None:
    """Pages that no toctree names have the sidebar of their folder: it is drawn once."""
    builder: Any = app.builder
    if not hasattr(builder, "_get_local_toctree"):
        return
    draw = builder._get_local_toctree
    listed = {page for pages in env.toctree_includes.values() for page in pages}
    drawn: dict[object, str] = {}

    def sidebar(page: str, collapse: bool = True, **options: Any) -> str:
        if page in listed or page == env.config.root_doc:
            return str(draw(page, collapse=collapse, **options))
        key = PurePosixPath(page).parent, collapse, tuple(sorted(options.items()))
        if key not in drawn:
            drawn[key] = draw(page, collapse=collapse, **options)
        return drawn[key]

    builder._get_local_toctree = sidebar


def forget_parsers(app: Sphinx, doctree: nodes.document) -> None:
    """A page remembers no document but its own.

    Nodes that autodoc makes inside of Markdown point to the document of their parser, and through
    it to the whole environment, which was then written to disk with every page.
    """
    for node in doctree.findall():
        if node.document is not doctree:
            node.document = doctree


_VERBATIM = re.compile(r"(<(?:pre|textarea|script)\b.*?</(?:pre|textarea|script)>)", re.DOTALL)
_SYMBOL = re.compile(r'<symbol id="([\w-]+)".*?</symbol>', re.DOTALL)
_SCHEMES = re.compile(r"svg-(?:sun|moon)\b")  # of the button that is hidden without scripts
ICONS = "icons.js"


def lean(text: str) -> tuple[str, dict[str, str]]:
    """A page without its indentation and the icons that it does not use, and those of its button.

    >>> lean('<symbol id="svg-sun"></symbol><symbol id="svg-eye"></symbol><a href="#svg-sun">')
    ('<a href="#svg-sun">', {'svg-sun': '<symbol id="svg-sun"></symbol>'})
    """
    used = set(re.findall(r'href="#([\w-]+)"', text))
    later: dict[str, str] = {}

    def kept(match: re.Match[str]) -> str:
        if match[1] not in used:
            return ""
        if _SCHEMES.match(match[1]):
            later[match[1]] = re.sub(r"\s+", " ", match[0])
            return ""
        return match[0]

    parts = _VERBATIM.split(_SYMBOL.sub(kept, text))
    parts[::2] = (re.sub(r"\n\s+", "\n", part) for part in parts[::2])
    return "".join(parts), later


def icons_script(icons: dict[str, str]) -> str:
    """Puts icons where the theme has them, before the first paint that would need them."""
    told = json.dumps("".join(icons.values()))
    return f'document.querySelector("body > svg")?.insertAdjacentHTML("beforeend", {told});\n'


def make_lean(app: Sphinx, error: Exception | None) -> None:
    """In a thousand pages that is megabytes."""
    if error is not None or app.builder.format != "html":
        return
    target, icons = Path(app.outdir) / "_static" / ICONS, {}
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        short, later = lean(text)
        icons |= later
        if short != text:
            path.write_text(short, encoding="utf-8")
    if icons or not target.exists():  # pages that were not built anew have no icons to take
        target.write_text(icons_script(icons), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register them."""
    app.add_domain(IndexedPython, override=True)
    app.connect("doctree-read", forget_parsers)
    app.connect("env-check-consistency", share_sidebars)
    app.connect("build-finished", make_lean)
    app.add_js_file(ICONS, defer="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
