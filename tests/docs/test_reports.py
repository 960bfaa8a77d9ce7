"""``lemmax report``: a folder of pages without a network, on a phone, in the dark, by keyboard."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest

from lemmax.cli import main as lemmax
from lemmax.sphinx import formulas
from lemmax.sphinx.formulas import mathml
from lemmax.sphinx.reports import MARK, Report, write_report
from lemmax.starting.projects import new_project
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.projects import Project, discover
from lemmax.theory.ledger.records import to_json
from lemmax.theory.ledger.verdicts import Evidence, build_ledger

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def make(folder: Path) -> Project:
    """A new project with a ledger, written from some evidence without running it."""
    new_project(folder, "gap", "Sums and gaps", "A. Author")
    evidence = [
        Evidence(
            "gap/con-argmax",
            "certified",
            "against",
            "tests/test_claims.py::test_argmax_can_raise_the_rank",
            certificates=("gap/con-argmax.json",),
        ),
        Evidence("gap/lem-step", "kernel", "for", "tests/test_claims.py::test_the_step"),
        Evidence("gap/thm-sum", "argued", "for", "proofs/theorem-sum.md"),
    ]
    claims = load_claims([folder / "claims.toml"])
    made_for = [replace(e, statement=claims[e.claim].digest) for e in evidence]
    ledger = build_ledger(claims, made_for)
    (folder / "ledger.json").write_text(to_json(ledger), encoding="utf-8")
    project = discover(folder)
    assert project is not None
    return project


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("project")
    return write_report(make(folder), folder / "report")


class Links(HTMLParser):
    """Everything that a page asks for, and its links."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.wanted += [v for k in ("src", "href") if (v := given.get(k))]
        self.ids |= {v for k in ("id", "name") if (v := given.get(k))}


def test_all_that_the_site_has_and_no_complaint(report: Report) -> None:
    assert report.notes == ()
    names = {p.relative_to(report.folder).as_posix() for p in report.folder.rglob("*.html")}
    wanted = {"index", "ledger", "graph", "errata", "papers/gap", "claims/gap/con-argmax"}
    assert {f"{name}.html" for name in wanted | {"claims/proofs/theorem-sum"}} <= names
    for name in ("gap/con-argmax.json", "checker.pyz", "ledger.json"):
        assert (report.folder / "certificates" / name).is_file()
    errata = (report.folder / "errata.html").read_text("utf-8")
    assert "their maxima stand in different columns" in errata
    assert "the conclusion fails: rank(argmax(M)) = 2 &gt; rank(M) = 1" in errata
    proof = (report.folder / "claims" / "proofs" / "theorem-sum.html").read_text("utf-8")
    assert 'href="../gap/lem-step.html"' in proof


def test_every_link_stays_in_the_folder(report: Report) -> None:
    for path in report.folder.rglob("*.html"):
        page = Links()
        page.feed(path.read_text("utf-8"))
        for address in page.wanted:
            parts = urlsplit(address)
            if parts.netloc:  # the theme names its maker
                assert parts.netloc == "github.com", (path, address)
                continue
            if parts.path:
                assert (path.parent / unquote(parts.path)).exists(), (path, address)
            elif parts.fragment:
                assert unquote(parts.fragment) in page.ids, (path, address)


def test_formulas_are_set_without_a_script(report: Report) -> None:
    text = (report.folder / "claims" / "gap" / "con-argmax.html").read_text("utf-8")
    assert text.count("<math ") >= 2
    assert "MathJax" not in text
    assert not re.search(r"\\\(|\\operatorname", re.sub(r'aria-label="[^"]*"', "", text))


@pytest.mark.parametrize(
    ("formula", "part"),
    [
        (r"x\in\mathbb{R}^n", "ℝ"),
        (r"\mathcal{T}", "𝒯"),
        (r"|K|", 'lspace="0" rspace="0"'),
        (r"(0,-1)", 'form="prefix"'),
        (r"\begin{aligned}a&=b\\c&=d\end{aligned}", "<mtr>"),
        (r"\frac", r"<code>\frac</code>"),
        (r'"<a', "&quot;&lt;a"),
    ],
)
def test_formulas(formula: str, part: str) -> None:
    import html

    made = mathml(formula)
    assert part in made or part in html.unescape(made)


@pytest.mark.parametrize(
    ("settings", "taken"),
    [
        ({}, True),
        ({"extensions": ["lemmax.sphinx", "myst_nb"]}, True),
        ({"html_math_renderer": "lemmax"}, True),
        ({"html_math_renderer": "mathjax"}, False),
        ({"mathjax_path": "mathjax.js"}, False),
        ({"extensions": ["sphinx.ext.mathjax"]}, False),
        ({"extensions": ["sphinxcontrib.katex"]}, False),
    ],
)
def test_what_a_project_chose_for_formulas_stays(settings: dict[str, Any], taken: bool) -> None:
    offered: list[Any] = []
    app: Any = SimpleNamespace(
        config=SimpleNamespace(_raw_config=dict(settings)),
        add_html_math_renderer=lambda *renderer: offered.append(renderer),
    )
    formulas.connect(app)
    assert bool(offered) == taken
    chosen = app.config._raw_config.get("html_math_renderer")
    assert chosen == ("lemmax" if taken else settings.get("html_math_renderer"))


def test_a_report_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    project = make(tmp_path)
    out = tmp_path / "mine"
    out.mkdir()
    (out / "diary.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(LemmaxError, match="is no report of lemmax"):
        write_report(project, out)
    assert [p.name for p in out.iterdir()] == ["diary.txt"]
    (out / "diary.txt").unlink()
    write_report(project, out)
    (out / "old.html").write_text("old", encoding="utf-8")
    write_report(project, out)
    assert (out / MARK).is_file()
    assert not (out / "old.html").exists()
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".mine")]


def test_without_a_ledger_there_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new_project(tmp_path, "gap", "Gaps", "A. Author")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        lemmax(["report"])
    assert caught.value.code == 2
    assert "run pytest --ledger ledger.json" in capsys.readouterr().err
    assert not (tmp_path / "report").exists()
    monkeypatch.setitem(sys.modules, "sphinx.application", None)
    monkeypatch.delitem(sys.modules, "lemmax.sphinx.reports", raising=False)
    with pytest.raises(SystemExit):
        lemmax(["report"])
    assert "needs the extra lemmax[site]" in capsys.readouterr().err


BRIGHTNESS = """
() => {
  const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
  return (r + g + b) / 3;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_without_a_network(report: Report, browser: Browser, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844},
        color_scheme="dark" if scheme == "dark" else "light",
        offline=True,
    )
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda r: asked.append(r.url))
    page.on("requestfailed", lambda r: complaints.append(r.url))
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    for path in sorted(report.folder.rglob("*.html")):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        assert (page.evaluate(BRIGHTNESS) < 60) == (scheme == "dark")
    assert [url for url in asked if not url.startswith("file:")] == []
    assert complaints == []
    page.goto((report.folder / "ledger.html").as_uri())
    page.get_by_role("combobox", name="Verdict").focus()
    page.keyboard.type("refuted")
    assert page.locator(".lx-table tbody tr:visible").count() == 1
    page.goto((report.folder / "graph.html").as_uri())
    page.locator(".lx-graph").focus()
    page.keyboard.press("Tab")
    focused = page.evaluate("document.activeElement.dataset.id")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.url.endswith(f"claims/{focused}.html")
    context.close()
