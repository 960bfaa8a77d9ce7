"""What the pages are made of: formulas, names that exist, nothing typed that can be computed."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lemmax.theory import AttentionLayer, Database, Head
from lemmax.theory.claims import load_claims

DOCS = Path(__file__).parent.parent.parent / "docs"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def markup() -> ModuleType:
    return load("markup")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"rank \(M\) is *not* 2_", r"rank $M$ is \*not\* 2\_"),
        ("a \\(x\n- y\\) b", "a $x - y$ b"),
        (r"if \[a\] then \(b\)", "if\n\n$$\na\n$$\n\nthen $b$"),
        (r"5$ and <b>", r"5\$ and \<b\>"),
    ],
)
def test_formulas_become_markdown(markup: ModuleType, text: str, expected: str) -> None:
    assert markup.markdown(text) == expected


def test_displays_stay_in_their_step(markup: ModuleType) -> None:
    front = "---\nclaim: a/b\ndirection: for\n---\n"
    page = f"{front}# T\n\n1. x\n   \\[y\\] z {{by hand}}\n2. w {{claim: a/c}}\n"
    made = markup.proof_page(page, "HEADER", lambda i: f"[{i}]")
    assert "# T\n\nHEADER" in made
    assert "\n   $$\n   y\n   $$\n\n   z " in made
    assert "\n2. w " in made
    assert "[a/c]" in made
    assert "direction" not in made


def test_docstrings_keep_examples_and_sizes(markup: ModuleType) -> None:
    lines = [r"Cost \(n^2\) and |T|, ``a|b``.", "", ">>> 1 | 2", "3"]
    markup.docstring_lines(lines)
    assert lines == [r"Cost \ :math:`n^2`\  and \|T\|, ``a|b``.", "", ">>> 1 | 2", "3"]


def test_every_statement_has_balanced_formulas() -> None:
    for claim in load_claims():
        for text in filter(None, (claim.statement, claim.reading)):
            for opening, closing in ((r"\(", r"\)"), (r"\[", r"\]")):
                plain = text.replace(r"\\", "")
                assert plain.count(opening) == plain.count(closing), claim.id
            assert "$" not in text, claim.id


def resolve(name: str) -> Any:
    short = {"Database": Database, "AttentionLayer": AttentionLayer, "Head": Head}
    first, _, rest = name.partition(".")
    if first in short:
        thing = short[first]
        known = {*dir(thing), *getattr(thing, "__dataclass_fields__", ())}
        return rest in known
    if first == "lemmax":
        module, _, attribute = name.rpartition(".")
        if name in sys.modules or importlib.util.find_spec(name):
            return True
        return hasattr(importlib.import_module(module), attribute)
    return True


def test_the_glossary_names_what_exists() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    names = re.findall(r"`((?:lemmax|Database|AttentionLayer|Head)\.[\w.]+)`", text)
    assert len(names) > 20
    assert [name for name in names if not resolve(name)] == []


def test_every_tutorial_is_listed() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in (DOCS / "tutorials").glob("*.md"):
        assert f"tutorials/{page.stem}\n" in index
