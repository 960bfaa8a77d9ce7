"""What the page "Try it" makes of a table is what lemmax makes of it anywhere."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from lemmax.theory import Database
from lemmax.theory.errors import LemmaxError
from lemmax.theory.tensors.arrays import flattening_rank

if TYPE_CHECKING:
    from tests.docs.conftest import Visit

DOCS = Path(__file__).parent.parent.parent / "docs"
TABLE = (DOCS / "examples" / "figure1.csv").read_text(encoding="utf-8")
SHADES = "all => all.map((cell) => getComputedStyle(cell).backgroundColor)"
TWICE = "subject,predicate,object\na,f,x\na,f,y\n"


@pytest.fixture(scope="module")
def tryout() -> ModuleType:
    path = DOCS / "_static" / "tryout.py"
    spec = importlib.util.spec_from_file_location("tryout", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_fact_of_the_table_is_answered_and_certified(tryout: ModuleType) -> None:
    made = tryout.tried(TABLE, "99/100")
    assert made["holds"]
    assert [f["answer"] for f in made["facts"]] == [f["fact"][2] for f in made["facts"]]
    assert all(abs(sum(row) - 1) < 1e-9 for f in made["facts"] for row in f["attention"])
    database = Database.read(DOCS / "examples" / "figure1.csv")
    assert 0 < made["least"] <= made["bound"] == database.slice_rank_bound
    assert made["least"] == max(flattening_rank(database.tensor(), mode) for mode in range(3))
    many = "".join(f"s{i},p,o{i}\n" for i in range(61))
    with pytest.raises(LemmaxError, match="at most 60 facts"):
        tryout.tried("subject,predicate,object\n" + many)


def test_the_page_makes_the_same_layer_and_refuses_in_the_same_words(
    visit: Visit, server: str, tryout: ModuleType
) -> None:
    page = visit.page
    page.goto(f"{server}/try.html")
    page.get_by_role("button", name="Compile").click()
    page.locator(".lx-checked[data-status]").wait_for(timeout=240_000)
    told = page.locator(".lx-checked")
    assert told.get_attribute("data-status") == "holds", told.inner_text()
    made = tryout.tried(TABLE)
    assert f"at least {made['least']}" in told.inner_text()
    for caption, cells in {
        "The tensor": len(made["keys"]) * len(made["queries"]),
        "Attention of": sum(len(row) for fact in made["facts"] for row in fact["attention"]),
        "Logits": len(made["facts"]) * len(made["tokens"]),
    }.items():
        drawn = told.locator(".lx-grid").filter(has=page.locator("caption", has_text=caption))
        assert drawn.locator("tbody td").count() == cells
        shades = drawn.locator("tbody td").evaluate_all(SHADES)
        assert len(set(shades)) > 2, caption  # pictures: cells of different shades
    framed = told.locator(".lx-grid .lx-right")
    assert framed.count() == len(made["facts"])
    read = "fetch(document.querySelector('.lx-checked a').href).then((answer) => answer.text())"
    assert page.evaluate(read) == made["certificate"]
    page.get_by_label("Facts, one per line").fill(TWICE)
    page.get_by_role("button", name="Compile").click()
    page.locator('.lx-checked[data-status="refused"]').wait_for()
    with pytest.raises(LemmaxError) as refusal:
        tryout.tried(TWICE)
    assert told.inner_text() == str(refusal.value)
    assert [u for u in visit.requests if not u.startswith((server, "blob:"))] == []
