"""Edges of what gathers evidence: reports, pages, and files of any letters and any length.

Where no encoding is named, files are read and written in ASCII here, as on a machine that is set up
so: whatever is shipped or compared has to name UTF-8.
"""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

import pytest

from lemmax.checker import check
from lemmax.pytest_plugin import fixtures
from lemmax.pytest_plugin.earnings import MARKED
from lemmax.pytest_plugin.gatherer import Gatherer, evidence_of
from lemmax.pytest_plugin.pages import ProofItem
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory.certificates.writing import certificate, to_json
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger import coq_cache, projects
from lemmax.theory.ledger.claims import Catalogue, Claim
from lemmax.theory.ledger.gathering import kernel_checked
from lemmax.theory.ledger.theorems import Recorded, read_theorems, record_theorem
from lemmax.theory.ledger.verdicts import Evidence

CLAIM = Claim("x/é", "A", "1", "title", "says x", "here", "text")
CATALOGUE = Catalogue(MappingProxyType({CLAIM.id: CLAIM}), MappingProxyType({}))


@pytest.fixture
def ascii_where_unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine whose own encoding is ASCII."""
    monkeypatch.setattr(io, "text_encoding", lambda encoding, _=2: encoding or "ascii")


class Item:
    """As much of a test as the plugin needs."""

    def __init__(self, *claims: str) -> None:
        self.stash = pytest.Stash()
        self.stash[MARKED] = [{"claim": name} for name in claims]

    @property
    def node(self) -> pytest.Item:
        return cast(pytest.Item, self)


# -- reports ------------------------------------------------------------------------------------


def gatherer() -> Gatherer:
    return Gatherer(cast(Any, None), cast(Any, None), CATALOGUE, [])


def test_a_report_keeps_what_is_not_of_the_ledger() -> None:
    """What a test records under the names of the ledger is not believed."""
    steps = gatherer().pytest_runtest_makereport(Item("x/é").node)
    next(steps)
    told = [("seconds", 1), ("lemmax_earned", {}), ("lemmax_evidence", {})]
    said = SimpleNamespace(user_properties=told)
    with pytest.raises(StopIteration) as stopped:
        steps.send(cast(Any, said))
    assert stopped.value.value is said
    assert said.user_properties == [("seconds", 1), ("lemmax_evidence", {"claim": "x/é"})]


def test_examples_are_decided_inside_of_a_test() -> None:
    found = gatherer()
    item = Item().node
    steps = found.pytest_runtest_protocol(item)
    next(steps)
    assert found.running is item
    with pytest.raises(StopIteration):
        steps.send(True)
    with pytest.raises(RuntimeError, match="inside of a test"):
        Sample(found)(bool, 1, control=0)


def test_a_marked_item_without_fixtures_asks_for_none() -> None:
    mark = SimpleNamespace(args=("x/é",), kwargs={})
    item = SimpleNamespace(nodeid="page", iter_markers=lambda name: [mark])
    with pytest.raises(pytest.UsageError, match="asks for 0 deciding fixtures"):
        evidence_of(cast(pytest.Item, item), CATALOGUE)


def test_other_failures_of_a_page_are_told_as_pytest_tells_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = object.__new__(ProofItem)
    told: list[Any] = []
    monkeypatch.setattr(pytest.Item, "repr_failure", lambda *given: told.append(given[1:]))
    failure = cast(Any, SimpleNamespace(value=ValueError("x")))
    page.repr_failure(failure, "short")
    assert told == [(failure, "short")]
    assert page.repr_failure(cast(Any, SimpleNamespace(value=LemmaxError("so.")))) == "so."


# -- certificates -------------------------------------------------------------------------------

ONE = certificate(
    "matrix-rank",
    {
        "matrix": [["1"]],
        "rank": 1,
        "lower": {"prime": "2", "rows": [0], "columns": [0]},
        "upper": {"method": "size"},
        "note": "é",
    },
)


def certify(folder: Path, write: bool) -> Callable[..., Any]:
    """The fixture, in a run that ships from a folder; what answers is the checker in here."""
    places = SimpleNamespace(certificates=folder / "shipped")
    found = SimpleNamespace(places=places, catalogue=CATALOGUE)
    manager = SimpleNamespace(get_plugin=lambda name: found)
    config = SimpleNamespace(pluginmanager=manager, getoption=lambda name: write)
    request = SimpleNamespace(node=Item(), config=config)
    plain = cast(Any, fixtures.certify)
    make = getattr(plain, "_get_wrapped_function", None)
    accept = (make() if make else plain.__wrapped__)(request, folder)
    return cast("Callable[..., Any]", accept)


def test_certificates_of_one_folder_in_any_letters(
    ascii_where_unnamed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(command: list[str], **_: Any) -> Any:
        verdict = check(json.loads(Path(command[-1]).read_bytes()))
        entry = {"status": "holds", "kind": verdict.kind, "steps": verdict.steps}
        return SimpleNamespace(stdout=json.dumps([entry]), returncode=0, stderr="")

    monkeypatch.setattr(subprocess, "run", answer)
    for name in ("x/first", "x/second"):
        assert certify(tmp_path, True)(ONE, ship_as=name).holds
        assert certify(tmp_path, False)(ONE, ship_as=name).holds
        assert (tmp_path / "shipped" / f"{name}.json").read_bytes() == to_json(ONE).encode()


def test_marks_of_the_kernel_in_any_letters(ascii_where_unnamed: None, tmp_path: Path) -> None:
    proof = {"é": {"certificate": "digest", "proved": True}}
    text = json.dumps(proof, ensure_ascii=False)
    (tmp_path / "proved.json").write_text(text, encoding="utf-8")
    given = Evidence("x/é", "certified", "for", "t", certificates=("é.json",), sha256=("digest",))
    (found,) = kernel_checked([given], tmp_path / "certificates")
    assert found.kernel_checked == ("é.json",)


# -- Coq ----------------------------------------------------------------------------------------


def stand_in(folder: Path, text: str) -> str:
    file = folder / "coqc"
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)
    return str(file)


def test_coq_is_asked_for_its_version(tmp_path: Path) -> None:
    coqc = stand_in(tmp_path, 'test "$*" = --version && echo stand-in 7')
    assert coq_cache._version(coqc) == "stand-in 7\n"


def test_sources_are_compiled_in_any_letters(ascii_where_unnamed: None, tmp_path: Path) -> None:
    coqc = stand_in(tmp_path, "exit 1")
    coq_cache._compile("a", "(* é *)", {}, tmp_path, tmp_path, coqc, 9.0)
    assert (tmp_path / "a.v").read_bytes().startswith("(* é *)\n".encode())


def test_what_is_linked_is_kept_where_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def reports(**given: Any) -> dict[str, Any]:
        asked.append(given)
        return {}

    monkeypatch.setattr(coq_cache, "check_formal", reports)
    coqc = stand_in(tmp_path, "echo stand-in")
    coq_cache.link_compiled(tmp_path, ["a"], coqc, tmp_path / "kept", 9.0)
    assert asked == [{"wanted": ["a"], "coqc": coqc, "kept": tmp_path / "kept", "timeout": 9.0}]


@pytest.mark.parametrize("file", ["a", "c", "X", "XXXX"])
def test_each_source_has_a_table_of_its_theorems(file: str, tmp_path: Path) -> None:
    record = tmp_path / "theorems.toml"
    known = {"b.u": Recorded("2 = 2", "digest"), f"{file}.t": Recorded("1 = 1", "digest")}
    for name, entry in known.items():
        record_theorem(record, name, entry)
    assert read_theorems(record) == known


# -- settings -----------------------------------------------------------------------------------


def test_settings_have_at_most_sixteen_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "pytest.ini"
    with path.open("wb") as file:
        file.truncate(2**24 + 1)
    with pytest.raises(LemmaxError, match=f"has {2**24 + 1} bytes, more than {2**24}"):
        projects._settings(tmp_path)
