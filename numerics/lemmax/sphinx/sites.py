"""One ledger as a site: where its claims, verdicts, certificates and tests lie, read once."""

from __future__ import annotations

import ast
import hashlib
import json
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from sphinx.config import Config

import lemmax.checker as checker
import lemmax.theory.certificates
from lemmax.sphinx.markup import markdown
from lemmax.sphinx.words import badge, docname
from lemmax.theory.certificates.archive import checker_sources
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_text
from lemmax.theory.ledger import entries as shipped_ledger
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.projects import Project, discover
from lemmax.theory.ledger.proofs import find_proofs

SCHEMAS = Path(lemmax.theory.certificates.__file__).with_name("schemas")


@dataclass(frozen=True)
class Site:
    """The folders of a project. ``docs`` holds the pages, tests are named from ``root``.

    Proof pages that lie elsewhere than among the pages are copied to ``claims/proofs``.
    """

    docs: Path
    root: Path
    claims: tuple[Path, ...]
    ledger: Path
    folder: Path
    proofs: tuple[Path, ...] = ()

    @cached_property
    def entries(self) -> dict[str, dict[str, Any]]:
        """Every claim with its verdict and evidence."""
        return shipped_ledger.entries(self.ledger, self.claims)

    @cached_property
    def papers(self) -> dict[str, dict[str, Any]]:
        """The papers, ours last; a paper of which little is known has empty fields."""
        unknown = {"title": "", "authors": "", "year": ""}
        listed = {k: unknown | dict(paper) for k, paper in load_claims(self.claims).papers.items()}
        return dict(sorted(listed.items(), key=lambda pair: (pair[0] == "lemmax", pair[0])))

    @cached_property
    def certificates(self) -> list[str]:
        """The names of the certificates in the folder, such as ``wong/argmax-rank-one``."""
        return sorted(
            path.relative_to(self.folder).with_suffix("").as_posix()
            for path in self.folder.rglob("*.json")
        )

    def claims_files(self) -> Iterator[Path]:
        """The files that the claims stand in."""
        for path in self.claims:
            yield from sorted(path.glob("*.toml")) if path.is_dir() else [path]

    def checked(self, name: str) -> dict[str, Any]:
        """What the independent checker says of a certificate, remembered by its digest."""
        file = self.folder / f"{name}.json"
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        rules = hashlib.sha256(b"".join(p.read_bytes() for p in checker_sources())).hexdigest()
        memory = self.docs / "_build" / "checked" / f"{digest[:24]}-{rules[:12]}.json"
        if memory.exists():
            remembered: dict[str, Any] = json.loads(memory.read_text(encoding="utf-8"))
            return remembered
        verdict = checker.check_file(file)
        if not verdict.holds:
            raise LemmaxError(f"The certificate {name} does not hold: {verdict.steps[-1]}")
        told = {
            "kind": verdict.kind,
            "steps": list(verdict.steps),
            "sha256": digest,
            "bytes": file.stat().st_size,
        }
        memory.parent.mkdir(parents=True, exist_ok=True)
        write_text(memory, json.dumps(told, ensure_ascii=False))
        return told

    def reference(self, identifier: str, origin: str) -> str:
        """A link to a claim of this ledger; the name of a claim of another one."""
        return self.link(identifier, origin) if identifier in self.entries else f"`{identifier}`"

    def link(self, identifier: str, origin: str, text: str | None = None, mark: bool = True) -> str:
        """A Markdown link from the document ``origin`` to a claim, with its verdict."""
        target = posixpath.relpath(f"{docname(identifier)}.md", posixpath.dirname(origin) or ".")
        after = f" {badge(self.entries[identifier]['verdict'])}" if mark else ""
        return f"[{markdown(text or identifier)}]({target}){after}"

    def page(self, name: str) -> str:
        """The address of a page of the project, or of the one that is written where it has none."""
        return f"{name}.html" if (self.docs / f"{name}.md").exists() else "claims/index.html"

    def proof_page(self, test: str) -> str | None:
        """The page of a proof, from the folder of the pages; None where the test is no page."""
        path = self.root / test
        if path.suffix != ".md":
            return None
        if path.is_relative_to(self.docs):
            return path.relative_to(self.docs).as_posix()
        for folder in self.proofs:
            if path.is_relative_to(folder):
                return f"claims/proofs/{path.relative_to(folder).as_posix()}"
        return None

    def foreign_proofs(self) -> dict[str, Path]:
        """The proof pages that do not lie among the pages, by the page that shows each."""
        elsewhere = [f for f in self.proofs if f.is_dir() and not f.is_relative_to(self.docs)]
        paths = [proof.path for proof in find_proofs(elsewhere)]
        pages = {path: self.proof_page(path.relative_to(self.root).as_posix()) for path in paths}
        return {page: path for path, page in pages.items() if page is not None}

    def source_of(self, test: str) -> str | None:
        """The text of a test function, decorators included."""
        defined = self._function(test)
        if defined is None:
            return None
        path, node = defined
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        lines = path.read_text(encoding="utf-8").splitlines()
        return "\n".join(lines[first - 1 : node.end_lineno])

    def words_of(self, test: str) -> str:
        """What a test says of itself."""
        defined = self._function(test)
        return " ".join((ast.get_docstring(defined[1]) or "").split()) if defined else ""

    def _function(self, test: str) -> tuple[Path, ast.FunctionDef] | None:
        file, _, function = test.partition("::")
        path = self.root / file
        if not function or path.suffix != ".py" or not path.is_file():
            return None
        name = function.rpartition("::")[2].partition("[")[0]
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return path, node
        return None


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def site_of(config: Config, docs: str | Path) -> Site:
    """The site that the settings of a build name; what they leave out, pytest's settings say."""
    return _site(
        Path(docs),
        config.lemmax_root,
        tuple(config.lemmax_claims),
        config.lemmax_ledger,
        config.lemmax_certificates,
    )


@cache
def _site(docs: Path, root: str, claims: tuple[str, ...], ledger: str, certificates: str) -> Site:
    """Paths are relative to the root; what is left out, pytest's settings say."""
    start = (docs / root).resolve() if root else docs
    project = discover(start) or Project(start)
    above = (f for f in (start, *start.parents) if (f / "pyproject.toml").is_file())
    base = start if root else project.root if project.own else next(above, docs)
    named = tuple(base / path for path in claims)
    if not named and not project.own and (base / "claims.toml").is_file():
        named = (base / "claims.toml",)
    own = bool(named) or project.own
    beside = project.ledger if project.own else base / "ledger.json"
    return Site(
        docs,
        base,
        named or project.claims,
        base / ledger if ledger else beside if own else shipped_ledger.LEDGER,
        base / certificates if certificates else project.certificates or base / "certificates",
        project.proofs,
    )
