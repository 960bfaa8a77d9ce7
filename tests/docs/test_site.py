"""The pages as a reader meets them: in a real browser, from a folder, with no network.

The pages are built by ``make docs``. Without them, or without Chromium, the tests are skipped, and
say so; where CI is set they fail instead.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote, urlsplit

import pytest

from lemmax.constructions import shipped
from lemmax.theory.ledger import entries as shipped_ledger

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SITE = Path(__file__).parent.parent.parent / "docs" / "_build" / "html"
WITH_FORMULAS = [
    "papers/wong.html",
    "papers/dana.html",
    "papers/mahdavi.html",
    "papers/lemmax.html",
    "errata.html",
    "tutorials/figure-1.html",
    "tutorials/blow-ups.html",
    "tutorials/attention-only.html",
    "tutorials/saturation.html",
    "tutorials/certifying.html",
    "contexts.html",
    "proofs/lemmax/compiler-two-heads.html",
    "claims/wong/proposition-3.6.html",
    "reference/lemmax.constructions.wong.blowups.html",
]
PAGES = [
    "index.html",
    "ledger.html",
    "graph.html",
    "trust.html",
    "certificates.html",
    "glossary.html",
    "command-line.html",
    "export.html",
    "tutorials/trained.html",
    "reference/index.html",
    "search.html",
    *WITH_FORMULAS,
]


def missing(what: str) -> None:
    """Skip, or fail where nothing may be missing."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def site() -> Path:
    if not (SITE / "index.html").is_file():
        missing("the pages are not built: run make docs")
    return SITE


class Visit:
    """A page that remembers what it asked for and what it complained about."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page: Page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.on("requestfailed", lambda r: self.complaints.append(f"failed: {r.url}"))
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on(
            "console",
            lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None,
        )

    def open(self, name: str) -> Page:
        self.page.goto((SITE / name.partition("#")[0]).as_uri() + "#" + name.partition("#")[2])
        if "MathJax-script" in self.page.content() or self.page.query_selector(".math"):
            self.page.wait_for_function("window.MathJax?.startup?.promise !== undefined")
            self.page.evaluate("MathJax.startup.promise")
        return self.page


@pytest.fixture
def visit(browser: Browser, site: Path) -> Iterator[Visit]:
    made = Visit(browser)
    yield made
    made.context.close()


UNRENDERED = re.compile(r"\\(operatorname|mathbb|mathcal|top|le)\b|\\\(|\\\[|\$")
PROSE = """
() => {
  const copy = document.querySelector("article").cloneNode(true);
  copy.querySelectorAll("pre, code, script, mjx-container").forEach((e) => e.remove());
  return copy.textContent;
}
"""


@pytest.mark.parametrize("name", PAGES)
def test_pages_load_alone_in_silence_and_whole(visit: Visit, name: str) -> None:
    page = visit.open(name)
    assert [url for url in visit.requests if not url.startswith("file:")] == []
    assert visit.complaints == []
    formulas = page.locator("span.math, div.math").count()
    assert page.locator("mjx-container svg").count() >= formulas
    assert formulas > 0 or name not in WITH_FORMULAS
    assert page.locator("[data-mjx-error], mjx-merror").count() == 0
    assert page.locator(".problematic, .system-message").count() == 0
    left = UNRENDERED.search(page.evaluate(PROSE))
    assert left is None, left
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("width", [390, 1280])
def test_the_landing_page_says_it_in_one_screen(visit: Visit, width: int) -> None:
    page = visit.open("index.html")
    page.set_viewport_size({"width": width, "height": 900})
    wide = "all => all.filter((e) => e.scrollWidth > e.clientWidth).length"
    assert page.locator(".lx-scroll").count() == 1
    assert page.locator(".lx-scroll").evaluate_all(wide) == 0
    rows = [r for r in shipped_ledger.listed() if r["paper"] == "wong"]
    line = page.locator(".lx-summary tr", has=page.get_by_role("link", name="Wong 2025"))
    assert line.locator("td").last.inner_text() == str(len(rows))
    if width > 1000:  # the commands, the verdicts and the result
        for text in ("make verify", "make test", "Wong 2025", "Singapore, continent: "):
            box = page.get_by_text(text).last.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= 900, text


ERRATA = """
() => [...document.querySelectorAll("section")]
  .filter((s) => s.querySelector(":scope > h3"))
  .map((s) => s.textContent)
"""


def test_an_erratum_has_all_that_an_author_needs(visit: Visit) -> None:
    wrong = [
        row
        for row in shipped_ledger.listed()
        if row["verdict"] in ("refuted", "repaired") and row["paper"] != "lemmax"
    ]
    found: list[str] = visit.open("errata.html").evaluate(ERRATA)
    assert len(found) == len(wrong)
    for row in wrong:
        (text,) = [t for t in found if f"{row['id']} " in t.split("As we read it.")[0] + " "]
        for part in ("As we read it.", "Re-check:"):
            assert part in text, row["id"]
        assert re.search(r"Counterexample|Why not\.|has a gap|Certificate|In full", text), row["id"]
        assert ("In print." in text) == (row["source"] == "text"), row["id"]
        claim = shipped_ledger.one(row["id"])
        assert ("On this reading." in text) == bool(claim["reading"]), row["id"]
        assert re.search("read in|reconstructed", text), row["id"]
        assert ("Repair." in text) == (row["verdict"] == "repaired"), row["id"]


def shown(page: Page) -> int:
    return page.locator(".lx-table tbody tr:visible").count()


def test_the_filter_filters(visit: Visit) -> None:
    rows = shipped_ledger.listed()
    page = visit.open("ledger.html")
    assert shown(page) == len(rows)
    page.get_by_role("combobox", name="Paper").select_option("wong")
    assert shown(page) == sum(r["paper"] == "wong" for r in rows)
    verdict = next(r["verdict"] for r in rows if r["paper"] == "wong")
    page.get_by_role("combobox", name="Verdict").select_option(verdict)
    both = sum(r["paper"] == "wong" and r["verdict"] == verdict for r in rows)
    assert shown(page) == both
    status = page.get_by_role("status").inner_text()
    assert str(both) in status
    assert f"paper=wong&verdict={verdict}" in page.url
    page.get_by_role("button", name="Reset").click()
    page.get_by_label("Words").fill("argmax-rank-one-sharp")
    assert shown(page) == 1
    page.get_by_label("Words").fill("no such words anywhere")
    assert shown(page) == 0
    assert page.get_by_text("No claim fits this filter").is_visible()


def test_a_filter_can_be_sent(visit: Visit) -> None:
    rows = [r for r in shipped_ledger.listed() if r["paper"] == "dana" and r["kind"] == "T"]
    page = visit.open("ledger.html#paper=dana&kind=T")
    assert shown(page) == len(rows)
    assert page.get_by_role("combobox", name="Paper").input_value() == "dana"


def ancestors(identifier: str) -> set[str]:
    entries = shipped_ledger.entries()
    found, queue = {identifier}, [identifier]
    while queue:
        entry = entries[queue.pop()]
        for used in [*entry["uses"], *filter(None, [entry["repaired_by"]])]:
            if used not in found:
                found.add(used)
                queue.append(used)
    return found


def nodes(page: Page) -> set[str]:
    found: list[str] = page.locator(".lx-node").evaluate_all("all => all.map(n => n.dataset.id)")
    return set(found)


def test_the_graph_shows_all_claims_and_focuses_on_one(visit: Visit) -> None:
    entries = shipped_ledger.entries()
    page = visit.open("graph.html")
    assert nodes(page) == {i for i, e in entries.items() if e["kind"] != "D"}
    claim = max(entries, key=lambda i: len(ancestors(i)))
    page = visit.open(f"graph.html#{claim}")
    page.get_by_label("definitions").check()
    assert nodes(page) == ancestors(claim)
    assert page.locator(".lx-node.lx-focus").get_attribute("data-id") == claim
    assert page.get_by_role("status").inner_text().startswith(entries[claim]["number"]) or entries[
        claim
    ]["number"] in ("text", "new")
    page.get_by_label("Focus").fill("wong/argmax-rank-one")
    page.get_by_role("button", name="Show").click()
    assert nodes(page) == ancestors("wong/argmax-rank-one")
    assert page.url.endswith("#wong/argmax-rank-one")
    page.get_by_role("button", name="All claims").click()
    assert len(nodes(page)) == sum(e["kind"] != "D" for e in entries.values())


def test_the_graph_by_keyboard(visit: Visit) -> None:
    page = visit.open("graph.html#wong/argmax-rank-one")
    page.locator(".lx-graph").focus()
    page.keyboard.press("Tab")
    focused = page.evaluate("document.activeElement.dataset.id")
    assert focused in ancestors("wong/argmax-rank-one")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.url.endswith(f"claims/{focused}.html")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_a_certificate_downloads_and_passes_the_checker(
    visit: Visit, server: str, tmp_path: Path
) -> None:
    page = visit.page
    page.goto(f"{server}/claims/wong/argmax-rank-one.html")
    for link, name in (
        (page.locator(".lx-certificate a").first, "certificate.json"),
        (page.get_by_role("link", name="checker", exact=True).first, "checker.pyz"),
    ):
        with page.expect_download() as download:
            link.click()
        download.value.save_as(tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "checker.pyz", "certificate.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shipped_text = shipped.path("wong/argmax-rank-one").read_bytes()
    assert (tmp_path / "certificate.json").read_bytes() == shipped_text


CONTRAST = """
() => {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colour = (layers) => {
    probe.clearRect(0, 0, 1, 1);
    for (const layer of layers) { probe.fillStyle = layer; probe.fillRect(0, 0, 1, 1); }
    return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => c / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const page = getComputedStyle(document.body).backgroundColor;
  return [...document.querySelectorAll(".lx-legend .lx-badge")].map((badge) => {
    const style = getComputedStyle(badge);
    const under = [page, style.backgroundColor];
    const [a, b] = [light(colour(under)), light(colour([...under, style.color]))];
    return [badge.textContent, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  });
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_verdicts_can_be_read(browser: Browser, scheme: str) -> None:
    visit = Visit(browser, color_scheme=scheme)
    found = visit.open("graph.html").evaluate(CONTRAST)
    visit.context.close()
    assert found
    assert [pair for pair in found if pair[1] < 4.5] == []


LABELS = """
() => [...document.querySelectorAll("article input, article select, article button, article img")]
  .filter((e) => !(e.labels?.length || e.textContent.trim() || e.getAttribute("aria-label")
                   || e.hasAttribute("alt")))
  .map((e) => e.outerHTML)
"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["index.html", "ledger.html"])
def test_tables_stay_tables_for_a_screen_reader(visit: Visit, name: str, width: int) -> None:
    """Rows that are laid out as lines would lose their meaning without roles."""
    page = visit.open(name)
    page.set_viewport_size({"width": width, "height": 844})
    heads = page.get_by_role("table").get_by_role("rowheader").count()
    assert heads == page.locator("table tbody tr").count()
    assert page.get_by_role("table").get_by_role("cell").count() >= 2 * heads


@pytest.mark.parametrize("name", ["index.html", "ledger.html", "graph.html"])
def test_a_screen_reader_finds_names(visit: Visit, name: str) -> None:
    page = visit.open(name)
    assert page.evaluate(LABELS) == []
    assert page.locator("h1").count() == 1
    assert page.locator("html").get_attribute("lang")


class Links(HTMLParser):
    """The addresses that a page points to, and the places that can be pointed to."""

    VOID: ClassVar[dict[str, str]] = {"a": "href", "link": "href", "script": "src", "img": "src"}

    def __init__(self) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.places |= {found[key] or "" for key in ("id", "name") if found.get(key)}
        address = found.get(self.VOID.get(tag, ""))
        if address:
            self.targets.add(address)


def test_links_resolve(site: Path) -> None:
    pages: dict[Path, Links] = {}
    for path in site.rglob("*.html"):
        pages[path] = Links()
        pages[path].feed(path.read_text(encoding="utf-8"))
    dynamic = {site / "graph.html", site / "ledger.html"}  # their fragments are read by scripts
    broken = []
    for path, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            goal = goal / "index.html" if goal.is_dir() else goal
            if not goal.is_file():
                broken.append(f"{path.relative_to(site)}: {target}")
            elif parts.fragment and goal in pages and goal not in dynamic:
                places = pages[goal].places
                if not {parts.fragment, unquote(parts.fragment)} & places:
                    broken.append(f"{path.relative_to(site)}: {target}")
    assert broken == []


def test_every_claim_has_its_page_and_every_certificate_is_there(site: Path) -> None:
    for identifier in shipped_ledger.entries():
        assert (site / "claims" / f"{identifier}.html").is_file()
    for name in shipped.names():
        copy = site / "certificates" / f"{name}.json"
        assert copy.read_bytes() == shipped.path(name).read_bytes()
