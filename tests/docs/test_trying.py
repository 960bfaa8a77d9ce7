"""What the page "Try it" makes of a table is what lemmax makes of it anywhere."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from lemmax.theory.errors import LemmaxError

if TYPE_CHECKING:
    from tests.docs.conftest import Visit

DOCS = Path(__file__).parent.parent.parent / "docs"
TABLE = (DOCS / "examples" / "figure1.csv").read_text(encoding="utf-8")
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
    read = "fetch(document.querySelector('.lx-checked a').href).then((answer) => answer.text())"
    assert page.evaluate(read) == tryout.tried(TABLE)["certificate"]
    page.get_by_label("Facts, one per line").fill(TWICE)
    page.get_by_role("button", name="Compile").click()
    page.locator('.lx-checked[data-status="refused"]').wait_for()
    with pytest.raises(LemmaxError) as refusal:
        tryout.tried(TWICE)
    assert told.inner_text() == str(refusal.value)
    assert [u for u in visit.requests if not u.startswith((server, "blob:"))] == []
