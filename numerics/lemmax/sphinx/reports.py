"""The ledger of a project as a folder of pages, for people who do not know Sphinx.

The pages are those of the extension, built from settings that nobody has to write. The folder
needs no network, no server and nothing of the project.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace, patch_docutils

from lemmax.constructions import shipped
from lemmax.sphinx.markup import markdown
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.projects import Project

MARK = ".lemmax-report"
_LEFT_OUT = ("_sources", ".buildinfo", "objects.inv", "genindex.html")


@dataclass(frozen=True)
class Report:
    """A folder of pages: how many they are, and what was noticed while they were made."""

    folder: Path
    pages: int
    notes: tuple[str, ...]


def write_report(project: Project, out: Path) -> Report:
    """Write the pages of a project's ledger to a folder, all of them or none.

    A folder is replaced only if it is an earlier report. Costs a second or two, and what the
    checker needs for the certificates.
    """
    if not project.ledger.is_file():
        raise LemmaxError(
            f"There is no ledger at {project.ledger}: run pytest --ledger {project.ledger.name}."
        )
    if out.exists() and not (out / MARK).is_file() and (out.is_file() or any(out.iterdir())):
        raise LemmaxError(f"{out} exists and is no report of lemmax: it is left alone.")
    if not out.absolute().parent.is_dir():
        raise LemmaxError(f"There is no folder {out.absolute().parent}.")
    with tempfile.TemporaryDirectory() as folder:
        docs, built = Path(folder) / "docs", Path(folder) / "html"
        docs.mkdir()
        for name, text in _pages(project).items():
            (docs / name).parent.mkdir(parents=True, exist_ok=True)
            (docs / name).write_text(text, encoding="utf-8")
        notes = _build(project, docs, built, Path(folder) / "read")
        for name in _LEFT_OUT:
            path = built / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        (built / MARK).write_text("written by lemmax report\n", encoding="utf-8")
        beside = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.absolute().parent))
        try:
            shutil.copytree(built, beside, dirs_exist_ok=True)
            if out.exists():
                shutil.rmtree(out)
            beside.chmod(0o755)
            beside.replace(out)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
    return Report(out, sum(1 for _ in out.rglob("*.html")), notes)


def certificates_of(project: Project) -> Path:
    """The folder of a project's certificates; those that ship, where lemmax's own claims are meant.

    >>> certificates_of(Project(Path("nowhere"))) == shipped.FOLDER
    True
    """
    if not project.own:
        return shipped.FOLDER
    return project.certificates or project.root / "certificates"


def _pages(project: Project) -> dict[str, str]:
    """The pages that are not made by the extension itself, by their names."""
    papers = load_claims(project.claims).papers
    titles = {key: markdown(str(paper.get("title") or key)) for key, paper in papers.items()}
    single = next(iter(titles.values())) if len(titles) == 1 else "Claims and their evidence"
    listed = [f"papers/{key}" for key in titles]
    toc = ["```{toctree}", ":hidden:", "", "ledger", "graph", "errata", *listed, "```", ""]
    index = [f"# {single}", ""]
    for paper in papers.values():
        if paper.get("authors"):
            index += [markdown(f"{paper['authors']} ({paper.get('year', '')})"), ""]
    index += [
        "Every statement with its verdict. A verdict is derived from evidence that ran and is",
        "never typed; each number leads to the claims behind it.",
        "",
        "```{ledger-summary}",
        "```",
        "",
        "[The ledger](ledger.md), [what rests on what](graph.md), [errata](errata.md).",
        "Each certificate is on the page of its claim; the",
        '<a download href="certificates/checker.pyz">checker</a> needs Python and nothing else:',
        "`python3 -I checker.pyz FILE.json`.",
        "",
        *toc,
    ]
    errata = ["# Errata", "", "What does not stand, the gravest first.", ""]
    for key, title in titles.items():
        errata += [f"## {title}", ""] if len(titles) > 1 else []
        errata += [f"```{{errata}} {key}", "```", ""]
    pages = {
        "index.md": index,
        "ledger.md": [
            "# The ledger",
            "",
            "```{ledger-table}",
            "```",
            "",
            'The same as data: <a download href="certificates/ledger.json">ledger.json</a>.',
        ],
        "graph.md": [
            "# What rests on what",
            "",
            "A line leads from each statement, to the right, to those that lean on it. Tab walks "
            "through the boxes, Enter opens one.",
            "",
            "```{ledger-graph}",
            "```",
        ],
        "errata.md": errata,
    }
    for key, title in titles.items():
        named = title if len(titles) > 1 else "All statements"
        pages[f"papers/{key}.md"] = [f"# {named}", "", f"```{{paper-claims}} {key}", "```", ""]
    return {name: "\n".join(lines) + "\n" for name, lines in pages.items()}


def _refuse_foreign(application: Sphinx, environment: BuildEnvironment) -> None:
    """Refuse pages that would take a picture or a file from elsewhere into the report."""
    pages = Path(application.srcdir).resolve()
    for name in (*environment.images, *environment.dlfiles):
        if not (pages / name).resolve().is_relative_to(pages):
            raise SphinxError(f"a page names the file {name}, which is none of the report's")


def _build(project: Project, docs: Path, built: Path, read: Path) -> tuple[str, ...]:
    """Build the pages; what Sphinx complained about."""
    certificates = certificates_of(project)
    papers = load_claims(project.claims).papers
    title = next(iter(papers.values())).get("title") if len(papers) == 1 else "lemmax"
    settings = {
        "extensions": ["lemmax.sphinx"],
        "project": str(title or "lemmax"),
        "html_title": str(title or "lemmax"),
        "html_copy_source": False,
        "html_show_sourcelink": False,
        "html_show_sphinx": False,
        "html_show_copyright": False,
        "html_use_index": False,
        "suppress_warnings": ["myst.header"],
        "lemmax_root": str(project.root.absolute()),
        "lemmax_claims": [str(path.absolute()) for path in project.claims],
        "lemmax_ledger": str(project.ledger.absolute()),
        "lemmax_certificates": str(certificates.absolute()),
    }
    told = io.StringIO()
    with patch_docutils(docs), docutils_namespace(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Sphinx and its parts deprecate is no reader's affair
        try:
            application = Sphinx(
                docs,
                None,
                built,
                read,
                "html",
                confoverrides=settings,
                status=None,
                warning=told,
                freshenv=True,
            )
            # What a page is made of is in the page: no file elsewhere is put into it.
            application.env.settings["file_insertion_enabled"] = False
            application.connect("env-updated", _refuse_foreign)
            application.build()
        except SphinxError as error:
            raise LemmaxError(f"The report could not be built: {error}.") from None
    return tuple(line for line in told.getvalue().splitlines() if line.strip())
