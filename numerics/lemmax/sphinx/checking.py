"""Certificates that are checked in the reader's browser: a button beside each, and a page for any.

The browser runs ``checker.pyz`` as it can be downloaded, with Pyodide in a worker. A site has it
where a folder of ``html_static_path`` has the files of the npm package ``pyodide`` in ``pyodide``;
without them the buttons stay hidden, and the page says why.
"""

from __future__ import annotations

import html
import posixpath
from pathlib import Path

from sphinx.application import Sphinx

from lemmax.sphinx.bases import RawHtml
from lemmax.sphinx.sites import Site

# What a page loads; the package also has sources, types and consoles.
PYODIDE = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)


def has_pyodide(app: Sphinx) -> bool:
    """Whether all files that the worker asks for will be among the static files."""
    folders = [Path(app.confdir) / folder / "pyodide" for folder in app.config.html_static_path]
    return any(all((folder / name).is_file() for name in PYODIDE) for folder in folders)


def button(site: Site, name: str, origin: str) -> str:
    """A button that checks a shipped certificate; check.js shows it.

    Where the project has a page ``check.md``, the verdict leads to its editor.
    """
    here = posixpath.dirname(origin) or "."
    href = html.escape(posixpath.relpath(f"certificates/{name}.json", here))
    told = html.escape(f"Check it here: {name.rpartition('/')[2]}.json")
    editor = ""
    if (site.docs / "check.md").exists():
        editor = f' data-editor="{html.escape(posixpath.relpath("check.html", here))}#{name}"'
    return (
        f'<button type="button" class="lx-check-here" data-certificate="{href}"{editor} '
        f'aria-label="{told}" hidden>Check it here</button>'
    )


class CheckCertificate(RawHtml):
    """``{check-certificate}``: by drop, by choice or typed, and the step that fails."""

    def html(self) -> str:
        groups: dict[str, list[str]] = {}
        for name in self.site.certificates:
            groups.setdefault(name.rpartition("/")[0], []).append(name)
        options = "".join(
            f'<optgroup label="{html.escape(paper)}">'
            + "".join(f"<option>{html.escape(name)}</option>" for name in names)
            + "</optgroup>"
            for paper, names in groups.items()
        )
        tool = self.href("certificates/checker.pyz")
        return (
            '<p class="lx-no-checker">Here this needs JavaScript, and a site that was built with '
            f'Pyodide. The <a download href="{tool}">checker</a> does the same on the command line.'
            f'</p><form class="lx-checker" data-certificates="{self.href("certificates")}" hidden>'
            '<div class="lx-drop"><label>Files, chosen or dropped here'
            '<input type="file" name="files" multiple></label>'
            '<label>or one that is shipped<select name="shipped"><option value="">choose</option>'
            f"{options}</select></label></div>"
            '<label>The certificate, to be changed at will <code class="lx-name"></code>'
            '<textarea name="text" rows="16" spellcheck="false" autocapitalize="off" '
            'autocomplete="off" wrap="off"></textarea></label>'
            '<p><button type="submit">Check</button> '
            '<button type="button" name="restore" disabled>Restore</button></p>'
            '<div class="lx-checked" role="status"></div></form>'
        )
