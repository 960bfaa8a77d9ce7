"""The pages as a reader meets them: in a real browser, from a folder, with no network.

The pages are built by ``make docs``. Without them, or without Chromium, the tests are skipped, and
say so; where CI is set they fail instead.
"""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal
from urllib.parse import unquote, urlsplit

import pytest

from lemmax.constructions import shipped
from lemmax.numerics.experiments import criteria
from lemmax.theory.ledger import entries as shipped_ledger

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.docs.conftest import Visit, Visits

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
    "proofs/dana/theorem-1-free-heads.html",
    "claims/wong/proposition-3.6.html",
    "reference/lemmax.constructions.wong.blowups.html",
]
PAGES = [
    "index.html",
    "ledger.html",
    "graph.html",
    "trust.html",
    "certificates.html",
    "check.html",
    "try.html",
    "glossary.html",
    "command-line.html",
    "export.html",
    "tutorials/trained.html",
    "reference/index.html",
    "search.html",
    *WITH_FORMULAS,
]


UNRENDERED = re.compile(r"\\(operatorname|mathbb|mathcal|top|le)\b|\\\(|\\\[|\$")
PROSE = """
() => {
  const copy = document.querySelector("article").cloneNode(true);
  copy.querySelectorAll("pre, code, script, mjx-container").forEach((e) => e.remove());
  return copy.textContent;
}
"""
# What a reader of a narrow page can neither see nor scroll to.
CUT = """
() => [...document.querySelectorAll("article :is(p, li, dd, pre, table, img, mjx-container, code)")]
  .filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .filter((e) => {
    for (let a = e; a && a.tagName !== "ARTICLE"; a = a.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(a).overflowX)) return false;
    return true;
  })
  .map((e) => e.outerHTML.slice(0, 200))
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
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate(CUT) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_the_landing_page_says_it_in_one_screen(visit: Visit, width: int) -> None:
    page = visit.open("index.html")
    page.set_viewport_size({"width": width, "height": 900})
    wide = "all => all.filter((e) => e.scrollWidth > e.clientWidth).length"
    assert page.locator(".lx-scroll").count() == 1
    assert page.locator(".lx-scroll").evaluate_all(wide) == 0
    parts = page.locator(".lx-world-parts > div, .lx-world svg")
    assert parts.count() == 4
    assert parts.evaluate_all(wide) == 0  # no part of the picture is cut off
    rows = [r for r in shipped_ledger.listed() if r["paper"] == "wong"]
    line = page.locator(".lx-summary tr", has=page.get_by_role("link", name="Wong 2025"))
    assert line.locator("td").last.inner_text() == str(len(rows))
    if width > 1000:  # the picture, the sentences, the commands, what is wrong and what is open
        for place in (
            page.locator(".lx-world"),
            page.get_by_text("Three papers state theorems"),
            page.get_by_text("make verify").last,
            page.get_by_text("make test").last,
            page.locator(".lx-headlines section a").first,
            page.locator(".lx-headlines section a").last,
        ):
            box = place.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= 900, place


def test_the_landing_page_names_what_is_wrong_and_what_is_open(visit: Visit) -> None:
    page = visit.open("index.html")
    wrong, waiting = page.locator(".lx-headlines section").all()
    links = waiting.locator("a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    opened = [r["id"] for r in shipped_ledger.listed() if r["verdict"] == "open"]
    assert links == [*(f"claims/{i}.html" for i in opened[:4]), "ledger.html#verdict=open"]
    assert wrong.locator("a").first.get_attribute("href") == "errata.html#dana/theorem-1"


def test_every_figure_is_drawn_for_both_schemes(site: Path) -> None:
    drawn = 0
    for path in site.rglob("*.html"):
        images = re.findall(r"<img [^>]*_images/[^>]*>", path.read_text(encoding="utf-8"))
        for light, dark in zip(images[::2], images[1::2], strict=True):
            assert "only-light" in light, path
            assert "only-dark" in dark, path
            name = re.findall(r'src="[./]*_images/([\w.-]+)"', dark)[0]
            assert "#ffffff" not in (site / "_images" / name).read_text(encoding="utf-8"), path
            drawn += 1
    assert drawn > 15


def test_a_figure_of_many_panels_is_not_shrunk_to_a_phone(visits: Visits) -> None:
    page = visits(viewport={"width": 390, "height": 844}).open("survey.html")
    figure = page.locator(".cell_output img.only-light").first
    figure.scroll_into_view_if_needed()
    figure.evaluate("(image) => image.decode()")  # it comes when it is near, and is flat until then
    reached = "(image) => image.closest('.cell_output').tabIndex === 0"  # by the keyboard too
    page.wait_for_function(reached, arg=figure.element_handle())
    assert figure.evaluate("(image) => image.getBoundingClientRect().width") > 700
    scrolls = "(e) => [e.closest('.cell_output').scrollWidth > 700, document.body.scrollWidth]"
    assert figure.evaluate(scrolls) == [True, 390]


def test_the_button_of_the_schemes_has_its_icon(visits: Visits) -> None:
    """The icons come from a script, once for all pages."""
    for scheme in ("light", "dark"):
        page = visits(color_scheme=scheme).open("claims/wong/argmax-rank-one.html")
        icon = page.locator(".theme-toggle-content svg:visible use")
        assert icon.count() == 1
        assert icon.evaluate("(use) => use.getBBox().width") > 10
    assert "<symbol" in page.content()


def test_the_words_of_the_judges_are_a_list(visit: Visit) -> None:
    page = visit.open("experiments.html")
    for word, meaning in criteria.WORDS.items():
        assert page.get_by_role("listitem").filter(has_text=f"{word}: {meaning}").count() == 1


def test_the_table_of_errata_fits_a_phone(visits: Visits) -> None:
    page = visits(viewport={"width": 390, "height": 844}).open("errata.html")
    table = page.locator(".lx-errata-table .table-wrapper")
    assert table.evaluate("(e) => e.scrollWidth - e.clientWidth") <= 0


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
    page = visit.open("errata.html")
    found: list[str] = page.evaluate(ERRATA)
    assert len(found) == len(wrong)
    summary = page.locator(".lx-errata-table tbody tr td:first-child a")
    sent = summary.evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    assert sorted(sent) == sorted(f"#{row['id']}" for row in wrong)
    assert sent[0] == "#dana/theorem-1"  # the gravest
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


@pytest.mark.parametrize("medium", ["screen", "print"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_verdicts_can_be_read(visits: Visits, scheme: str, medium: Literal["screen"]) -> None:
    page = visits(color_scheme=scheme).open("graph.html")
    page.emulate_media(media=medium)
    found = page.evaluate(CONTRAST)
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


@pytest.mark.parametrize(
    ("words", "claim", "place"),
    [
        ("Theorem 1 Dana", "dana/theorem-1", 0),
        ("wong proposition 3.6", "wong/proposition-3.6", 0),
        ("real matrix rank argmax le 2", "wong/argmax-rank-one", 5),
    ],
)
def test_search_finds_claims_by_number_and_by_words_of_their_statement(
    visit: Visit, site: Path, words: str, claim: str, place: int
) -> None:
    visit.page.goto(f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    found = visit.page.locator(".lx-found a")
    found.first.wait_for()
    links = found.evaluate_all("all => all.map((a) => a.href)")
    places = [n for n, link in enumerate(links) if link.endswith(f"/claims/{claim}.html")]
    assert places
    assert places[0] <= place


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
