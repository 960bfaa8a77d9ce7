"""Claims files that cannot be used are refused with one sentence that says where."""

import re
from pathlib import Path

import pytest

from lemmax.theory.ledger.claims import BUILT_IN, KINDS, ClaimsError, load_claims
from lemmax.theory.ledger.entries import entries

GOOD = """
[paper]
key = "x"
title = "A paper"

[[claim]]
id = "x/one"
kind = "A"
number = "Theorem 1"
title = "one"
statement = '''$1 = 1$'''
place = "Section 1"
source = "text"
"""

FORMAL = GOOD + "formal = 'given M: matrix; conclude rank(M) <= 1'\n"


def load(folder: Path, text: str) -> None:
    (folder / "x.toml").write_text(text, encoding="utf-8")
    load_claims([folder])


def second(identifier: str, extra: str = "") -> str:
    body = GOOD.partition("[[claim]]")[2].replace("x/one", identifier)
    return f"\n[[claim]]{body}{extra}\n"


def test_a_good_file_loads(tmp_path: Path) -> None:
    load(tmp_path, GOOD + second("x/two", 'uses = ["x/one"]\nrepaired_by = "x/one"'))
    catalogue = load_claims([tmp_path / "x.toml"])
    assert catalogue.used_by("x/one") == ("x/two",)
    assert catalogue["x/two"].paper == "x"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (GOOD + 'verdict = "holds"\n', "x/one has an unknown field 'verdict'"),
        (GOOD + second("x/one"), "x/one is also in"),
        (GOOD + 'uses = ["x/none"]\n', "x/one refers to x/none, which does not exist"),
        (GOOD + 'repaired_by = "x/none"\n', "x/one refers to x/none, which does not exist"),
        (GOOD + 'uses = ["x/one"]\n', "a cycle in uses: x/one -> x/one"),
        (GOOD + 'uses = ["x/two"]\n' + second("x/two", 'uses = ["x/one"]'), "a cycle in uses"),
        (GOOD.replace('kind = "A"', 'kind = "Q"'), "the kind is one of"),
        (GOOD.replace('place = "Section 1"\n', ""), "lacks the field 'place'"),
        (GOOD.replace('"x/one"', '"y/one"'), "does not begin with x/"),
        (GOOD.replace('"x/one"', '"one"'), "has the form paper/name"),
        (GOOD.replace('key = "x"', ""), "needs a key"),
        (GOOD + 'uses = "x/one"\n', "uses must be a list of ids"),
        (GOOD + 'refutation = "sometimes"\n', "refutation is 'instance' or 'universal'"),
        (GOOD.replace('title = "one"', "title = 1"), "must be a text"),
        (GOOD + "\n[extra]\n", "unknown table 'extra'"),
        (GOOD + 'theorems = "a.b"\n', "theorems must be a list of theorems"),
        (GOOD + 'theorems = ["rank"]\n', "a theorem is named file.theorem, not 'rank'"),
        (GOOD + 'consequence = "why"\n', "'consequence' says nothing without 'formal'"),
        (GOOD + 'consequence_uses = ["x/one"]\n', "says nothing without 'consequence'"),
        (GOOD + 'repair = "why"\n', "'repair' says nothing without 'repaired_by'"),
        (GOOD + 'repaired_by = "x/one"\n', "x/one is repaired by itself"),
        (GOOD + 'informal = " "\n', "the field 'informal' is empty"),
        (GOOD + 'informal = "why"\ntheorems = ["a.b"]\n', "says why it is informal and has"),
        (FORMAL + 'informal = "why"\n', "says why it is informal and has"),
        (FORMAL.replace('kind = "A"', 'kind = "T"'), "a claim of kind T has no formal statement"),
        (
            FORMAL + 'consequence = "why"\nconsequence_uses = ["x/none"]\n',
            "x/one refers to x/none, which does not exist",
        ),
        (
            FORMAL + 'consequence = "why"\nconsequence_uses = ["x/one"]\n',
            "its consequence leans on the claim itself",
        ),
        ("[[claim", "is not a TOML file"),
        ("", "needs a key"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ClaimsError) as error:
        load(tmp_path, text)
    assert sentence in str(error.value)
    assert "x.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_and_a_missing_claim_are_named(tmp_path: Path) -> None:
    with pytest.raises(ClaimsError, match=r"no claims file .*none\.toml"):
        load_claims([tmp_path / "none.toml"])
    with pytest.raises(ClaimsError, match="no claim 'wong/none'"):
        load_claims()["wong/none"]


def test_the_digest_follows_what_is_claimed(tmp_path: Path) -> None:
    load(tmp_path, GOOD)
    before = load_claims([tmp_path])["x/one"].digest
    load(tmp_path, GOOD.replace("Section 1", "Section 2"))
    assert load_claims([tmp_path])["x/one"].digest == before
    load(tmp_path, GOOD.replace("1 = 1", "1 = 2"))
    assert load_claims([tmp_path])["x/one"].digest != before
    load(tmp_path, GOOD.replace("1 = 1", " 1  =\n1 "))
    assert load_claims([tmp_path])["x/one"].digest != before  # "$ 1" is not "$1"
    load(tmp_path, GOOD.replace("'''$1 = 1", "'''\n  $1  =\n1"))
    assert load_claims([tmp_path])["x/one"].digest == before
    load(tmp_path, GOOD + second("x/two") + 'repaired_by = "x/one"\nrepair = "why"\n')
    assert load_claims([tmp_path])["x/one"].digest == before
    load(tmp_path, FORMAL)
    formal = load_claims([tmp_path])["x/one"].digest
    assert formal != before
    load(
        tmp_path,
        FORMAL.replace("; conclude", ";\nconclude")
        .replace("'given", "'''given")
        .replace("1'\n", "1'''\n"),
    )
    assert load_claims([tmp_path])["x/one"].digest == formal


def test_the_catalogue_of_lemmax_has_roots_and_statements() -> None:
    catalogue = load_claims([BUILT_IN])
    assert {claim.paper for claim in catalogue} == {"wong", "dana", "mahdavi", "lemmax"}
    for claim in catalogue:
        assert claim.kind in KINDS
        assert claim.statement.strip()
    repaired = [c for c in catalogue if c.repaired_by]
    assert all(catalogue[c.repaired_by or ""].kind == "A" for c in repaired)


def test_every_open_claim_says_why_and_no_decided_one_does() -> None:
    for entry in entries().values():
        assert (entry["verdict"] == "open") == bool(entry["waits"]), entry["id"]


def test_numbers_of_an_open_claim_stand_in_its_evidence() -> None:
    """What a judge computes is never typed: a reason has no share and no interval."""
    for claim in load_claims([BUILT_IN]):
        assert not re.search(r"\d*\.\d|\[", claim.waits or ""), claim.id
