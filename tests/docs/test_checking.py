"""The checker in the reader's browser says what it says on the command line."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lemmax.checker.command import examined
from lemmax.constructions import shipped

if TYPE_CHECKING:
    from tests.docs.conftest import Visit

NUMBER = re.compile(r"-?[0-9]+")
REPORTS = """
async (texts) => {
  const reports = [];
  for (const text of texts) {
    const file = { name: "certificate.json", bytes: new TextEncoder().encode(text).buffer };
    const told = [];
    const report = await lemmaxCheck(file.name, [file], (event) => told.push(event.text));
    delete report.sha256;
    reports.push([report, told.filter((text) => text !== undefined)]);
  }
  return reports;
}
"""


def damaged(text: str, dice: random.Random) -> str:
    """The certificate with one of its numbers raised by one."""
    data = json.loads(text)
    places: list[tuple[Any, Any]] = []
    queue = [data]
    while queue:
        value = queue.pop()
        for key in value if isinstance(value, dict) else range(len(value)):
            if isinstance(value[key], dict | list):
                queue.append(value[key])
            elif isinstance(value[key], int) or NUMBER.fullmatch(value[key]):
                places.append((value, key))
    value, key = dice.choice(places)
    raised = int(value[key]) + 1
    value[key] = raised if isinstance(value[key], int) else str(raised)
    return json.dumps(data)


def on_the_command_line(text: str, folder: Path) -> dict[str, Any]:
    path = folder / "certificate.json"
    path.write_text(text, encoding="utf-8")
    return examined(str(path), None, None) | {"file": "certificate.json"}


def test_shipped_certificates_pass_and_damaged_ones_fail_at_the_same_step(
    visit: Visit, server: str, tmp_path: Path
) -> None:
    dice = random.Random(0)
    texts = [shipped.path(name).read_text(encoding="utf-8") for name in shipped.names()]
    expected = [on_the_command_line(text, tmp_path) for text in texts]
    assert {entry["status"] for entry in expected} == {"holds"}
    failing = 0
    for text in dice.sample(texts, len(texts)):
        wrong = damaged(text, dice)
        entry = on_the_command_line(wrong, tmp_path)
        if entry["status"] != "holds":
            texts.append(wrong)
            expected.append(entry)
            failing += 1
    assert failing >= 50
    kinds = {entry["kind"] for entry in expected if entry["status"] == "does-not-hold"}
    assert len(kinds) > 5
    for text in ("", "{", "[1.5]", json.dumps({"format": "lemmax-certificate"})):
        texts.append(text)
        expected.append(on_the_command_line(text, tmp_path))
    visit.page.goto(f"{server}/check.html")
    reports = visit.page.evaluate(REPORTS, texts)
    assert [report for report, _ in reports] == expected
    for report, told in reports:  # each step was also told when it passed
        assert told == [s for s in report.get("steps", told) if not s.startswith("undecided: ")]
    assert [url for url in visit.requests if not url.startswith(server)] == []
    assert visit.complaints == []


def test_a_claim_has_a_button_that_checks_its_certificate(visit: Visit, server: str) -> None:
    page = visit.page
    page.goto(f"{server}/claims/wong/argmax-rank-one.html")
    assert [url for url in visit.requests if "pyodide" in url] == []  # only on demand
    page.get_by_role("button", name="Check it here: argmax-rank-one.json").first.click()
    page.locator('.lx-checked[data-status="holds"]').wait_for()
    told = page.locator(".lx-checked").first
    verdict = examined(str(shipped.path("wong/argmax-rank-one")), None, None)
    assert told.locator("li").all_inner_texts() == verdict["steps"]
    digest = page.locator(".lx-certificate code").first.inner_text()
    assert f"sha256 {digest}" in told.inner_text()
    editor = told.get_by_role("link", name="Change a number").get_attribute("href") or ""
    assert editor.endswith("check.html#wong/argmax-rank-one")


DROP = """
(area, text) => {
  const moved = new DataTransfer();
  moved.items.add(new File([text], "mine.json"));
  area.dispatchEvent(new DragEvent("drop", { dataTransfer: moved, cancelable: true }));
}
"""


def test_a_certificate_of_ones_own_is_dropped_changed_and_restored(
    visit: Visit, server: str, tmp_path: Path
) -> None:
    page = visit.page
    page.goto(f"{server}/check.html")
    own = shipped.path("wong/argmax-rank-one").read_text(encoding="utf-8")
    page.locator(".lx-drop").evaluate(DROP, own)
    page.locator('.lx-checked[data-status="holds"]').wait_for()
    editor = page.get_by_label("The certificate, to be changed")
    shown = editor.input_value()
    assert json.loads(shown) == json.loads(own)
    assert shown.count("\n") > 5  # laid out, since it is one line
    editor.fill(shown.replace('"-1"', '"1"'))
    page.get_by_role("button", name="Check", exact=True).click()
    page.locator('.lx-checked[data-status="does-not-hold"]').wait_for()
    wrong = on_the_command_line(shown.replace('"-1"', '"1"'), tmp_path)
    assert page.locator(".lx-failed").all_inner_texts() == [f"fails: {wrong['steps'][-1]}"]
    page.get_by_role("button", name="Restore").click()
    assert editor.input_value() == shown
    page.get_by_label("one that is shipped").select_option("wong/example-3.3")
    page.get_by_text("example-3.3.json", exact=True).wait_for()
    assert page.url.endswith("#wong/example-3.3")
    page.get_by_role("button", name="Check", exact=True).click()
    page.locator('.lx-checked[data-status="holds"]').wait_for()
    chosen = [tmp_path / "one.json", tmp_path / "two.json"]
    chosen[0].write_text(own, encoding="utf-8")
    chosen[1].write_text("{", encoding="utf-8")
    page.locator('input[type="file"]').set_input_files(chosen)
    page.locator('[data-status="not-a-certificate"]').wait_for()
    assert "It holds" in page.locator(".lx-many li").first.inner_text()
    assert visit.complaints == []


@pytest.mark.parametrize("name", ["check.html", "claims/wong/argmax-rank-one.html"])
def test_opened_as_a_file_it_says_how_to_serve_the_folder(
    visit: Visit, site: Path, name: str
) -> None:
    page = visit.open(name)
    if name != "check.html":
        page.locator(".lx-check-here").first.click()
    told = page.locator(".lx-serve").inner_text()
    assert f"python3 -m http.server -d {site}," in told
    address = page.locator(".lx-serve a").get_attribute("href") or ""
    assert address.rstrip("#") == f"http://localhost:8000/{name}"
    assert visit.complaints == []
