"""The graph of what rests on what: one paper, one claim or all, near and far."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from lemmax.theory.ledger import entries as shipped_ledger

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.docs.conftest import Visit, Visits


@cache
def claims() -> dict[str, Any]:
    return dict(shipped_ledger.entries())


def ancestors(identifier: str) -> set[str]:
    entries = claims()
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


def test_the_graph_opens_on_a_paper_and_focuses_on_a_claim(visit: Visit) -> None:
    entries = claims()
    page = visit.open("graph.html")

    def shown(paper: str) -> set[str]:
        own = [e for e in entries.values() if e["paper"] == paper]
        near = {i for e in own for i in (e["id"], *e["uses"], e["repaired_by"]) if i}
        return {i for i in near if entries[i]["kind"] != "D"}

    assert nodes(page) == shown("dana")
    page.locator("select[name=paper]").select_option("wong")
    assert page.url.endswith("#paper=wong")
    assert nodes(page) == shown("wong")
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
    assert nodes(page) == {i for i, e in entries.items() if e["kind"] != "D"}


CUT_OFF = """
(graph) => {
  const sizes = [...graph.querySelectorAll(".lx-node")].flatMap((node) => {
    const box = node.querySelector("rect").getBBox();
    const texts = [...node.querySelectorAll("text")];
    return texts.map((text) => [text.textContent, text.getBBox(), box]);
  });
  return sizes
    .filter(([, t, b]) => t.x < 0 || t.y < 0)
    .concat(sizes.filter(([, t, b]) => t.x + t.width > b.width || t.y + t.height > b.height))
    .map(([words]) => words);
}
"""
UNSEEN = """
(graph) => {
  const all = graph.getBoundingClientRect();
  return [...graph.querySelectorAll("rect")].map((e) => e.getBoundingClientRect()).filter(
    (b) => b.left < all.left || b.top < all.top || b.right > all.right || b.bottom > all.bottom
  ).length;
}
"""


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_the_graph_fits_a_screen_and_cuts_no_label_off(visits: Visits, width: int) -> None:
    page = visits(viewport={"width": width, "height": 844}).open("graph.html#all")
    graph = page.locator(".lx-graph")
    assert graph.evaluate(CUT_OFF) == []
    assert graph.evaluate(UNSEEN) == 0
    box = graph.bounding_box()
    assert box is not None
    assert box["height"] <= 844
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": width - 60, "height": 844})
    fits = "(width) => document.documentElement.scrollWidth <= width"
    page.wait_for_function(fits, arg=width - 60)  # drawn anew when the browser has told the page


@pytest.mark.parametrize("paper", ["dana", "wong", "mahdavi", "lemmax"])
def test_the_graph_of_a_paper_can_be_read_at_a_desk(visits: Visits, paper: str) -> None:
    page = visits(viewport={"width": 1920, "height": 1080}).open(f"graph.html#paper={paper}")
    sizes = page.locator(".lx-node text").evaluate_all(
        "all => all.map((text) => 12 * text.getScreenCTM().a)"
    )
    assert min(sizes) > 8


def test_the_graph_zooms_and_pans(visits: Visits) -> None:
    page = visits(has_touch=True).open("graph.html")
    graph = page.locator(".lx-graph")
    graph.scroll_into_view_if_needed()

    def view() -> list[float]:
        told = graph.locator("svg").get_attribute("viewBox") or ""
        return [float(part) for part in told.split()]

    whole = view()
    page.get_by_role("button", name="Larger").click()
    nearer = view()
    assert nearer[2] < whole[2]
    graph.focus()
    page.keyboard.press("ArrowRight")
    assert view()[0] > nearer[0]
    page.keyboard.press("-")
    page.keyboard.press("0")
    assert view() == whole
    box = graph.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 3
    page.mouse.move(x, y)
    page.mouse.wheel(0, -400)
    page.locator(".lx-near").wait_for()
    nearer, address = view(), page.url
    page.mouse.down()
    page.mouse.move(x - 60, y - 40, steps=4)
    page.mouse.up()
    assert view()[0] > nearer[0]
    assert page.url == address  # a drag opens no page
    page.keyboard.press("0")
    fingers = page.context.new_cdp_session(page)
    for kind, apart in (("touchStart", 40), ("touchMove", 80), ("touchMove", 120)):
        points = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert view()[2] < whole[2]


def test_the_graph_by_keyboard(visit: Visit) -> None:
    page = visit.open("graph.html#wong/argmax-rank-one")
    page.locator(".lx-graph").focus()
    page.keyboard.press("Tab")
    focused = page.evaluate("document.activeElement.dataset.id")
    assert focused in ancestors("wong/argmax-rank-one")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.url.endswith(f"claims/{focused}.html")
