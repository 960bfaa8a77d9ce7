"""What the pages are made of: formulas, names that exist, nothing typed that can be computed."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lemmax.theory import (
    AoT,
    AoTHead,
    AttentionLayer,
    ContextHead,
    Database,
    Head,
    MultiHead,
    SequenceEncoder,
)
from lemmax.theory.ledger import coq
from lemmax.theory.ledger import entries as shipped_ledger
from lemmax.theory.ledger.claims import load_claims

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
    return importlib.import_module("lemmax.sphinx.markup")


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


@pytest.mark.parametrize(
    ("light", "expected"),
    [
        ("fill: #ffffff; stroke: #000000", "fill: #131313; stroke: #e8e8e8"),
        ("#0072b2 #440154", "#0072b2 #440154"),  # hues have a meaning
        ("#00001c on #ffffe0", "#00001c on #ffffe0"),  # ink on a coloured field
        ('fill="white"', 'fill="#131313"'),
    ],
)
def test_the_dark_drawing_swaps_greys_and_keeps_hues(light: str, expected: str) -> None:
    assert load("schemes").dark(f"<svg {light}>") == f'<svg fill="#e8e8e8" {expected}>'


def test_a_drawing_keeps_its_scales_and_rounds_its_places() -> None:
    svg = '<path d="M 1.234567 2" transform="scale(0.015625)"/><use x="9.876543" y="1"/>'
    short = '<path d="M 1.23 2" transform="scale(0.015625)"/><use x="9.87" y="1"/>'
    light = load("schemes").light
    assert light(svg) == short
    named = '<g id="text_1"><!-- one -->\n <use xlink:href="#m1"/></g><path id="m1"/>'
    assert light(named) == '<g><use href="#m1"/></g><path id="m1"/>'
    marks = '<use x="1" style="fill: #0072b2"/>' * 30
    once = "<style>.s0{fill: #0072b2}</style>" + '<use x="1" class="s0"/>' * 30
    assert light(f"<svg>{marks}</svg>") == f"<svg>{once}</svg>"


def test_a_page_loses_icons_and_indentation_but_no_text_that_is_kept_as_it_is() -> None:
    icon = '<symbol id="svg-{}"><path/></symbol>'
    use = '<a href="#svg-{}">'
    page = f"""{icon.format("menu")}{icon.format("eye")}{icon.format("moon-with-sun")}
      {use.format("menu")}{use.format("moon-with-sun")}<pre>a
      b</pre>"""
    short, later = load("speed").lean(page)
    uses = f"{use.format('menu')}{use.format('moon-with-sun')}"
    assert short == f"{icon.format('menu')}\n{uses}<pre>a\n      b</pre>"
    assert later == {"svg-moon-with-sun": icon.format("moon-with-sun")}
    assert icon.format("moon-with-sun") in json.loads(
        load("speed").icons_script(later).rpartition(", ")[2].removesuffix(");\n")
    )


SHORT = (Database, AttentionLayer, Head, AoT, AoTHead, MultiHead, ContextHead, SequenceEncoder)


def resolve(name: str) -> Any:
    short = {thing.__name__: thing for thing in SHORT}
    first, _, rest = name.partition(".")
    if first in short:
        thing = short[first]
        known = {*dir(thing), *getattr(thing, "__dataclass_fields__", ())}
        return rest in known
    if first == "lemmax":
        module, _, attribute = name.rpartition(".")
        if hasattr(importlib.import_module(module), attribute):
            return True
        return importlib.util.find_spec(name) is not None
    return True


def test_the_glossary_names_what_exists() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    first = "|".join(["lemmax", *(thing.__name__ for thing in SHORT)])
    names = re.findall(rf"`((?:{first})\.[\w.]+)`", text)
    assert len(names) > 50
    assert {re.split(r"\W", name)[0] for name in names} == set(first.split("|"))
    assert [name for name in names if not resolve(name)] == []


def test_every_tutorial_is_listed() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in (DOCS / "tutorials").glob("*.md"):
        assert f"tutorials/{page.stem}\n" in index


def public() -> dict[str, Any]:
    """What ``from lemmax.theory import …`` and its neighbours offer, by full name."""
    found = {}
    for room in ("theory", "constructions", "numerics"):
        package = importlib.import_module(f"lemmax.{room}")
        for name in package.__all__:
            thing = getattr(package, name)
            found[f"{thing.__module__}.{name}"] = thing
    return found


PUBLIC = public()


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_has_a_reference_entry_with_an_example(name: str) -> None:
    reference = load("reference")
    module, _, short = name.rpartition(".")
    pages = {
        page: path for room in reference.ROOMS for page, path in reference.modules(room).items()
    }
    assert f"automodule:: {module}\n   :members:" in reference.module_page(module, pages[module])
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert ">>> " in text
    if not isinstance(PUBLIC[name], type) and inspect.signature(PUBLIC[name]).parameters:
        fixed = short in ("experiment", "recipe")  # looks a name up
        assert fixed or re.search(r"\b[Cc]osts?\b", text), "says nothing about its cost"


def test_the_index_of_the_reference_lists_every_public_name(markup: ModuleType) -> None:
    sys.modules["markup"] = markup  # as Sphinx finds it, beside the extension
    try:
        index = load("reference").index_page()
    finally:
        del sys.modules["markup"]
    for name in PUBLIC:
        assert f"<{name}>`" in index


def test_kernel_proofs_are_listed_on_their_page() -> None:
    """The page has the table made from the headers, and a row in words for each of the files."""
    text = (DOCS / "kernel.md").read_text(encoding="utf-8")
    assert "```{formal-proofs}" in text
    table = text.partition("In words:")[2].partition("## How to add")[0]
    rows = re.findall(r"^\| `(\w+)\.v` \|", table, re.MULTILINE)
    sources = coq.formal_sources()
    assert sorted(rows) == sorted(name for name, source in sources.items() if coq.header(source))
    proved = {claim for source in sources.values() for claim in coq.claims_of(source)}
    decided = {
        entry["id"]
        for entry in shipped_ledger.entries().values()
        if any(item["grade"] == "kernel" for item in entry["evidence"])
    }
    assert proved == decided
