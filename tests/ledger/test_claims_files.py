"""Claims files that cannot be used are refused with one sentence that says where."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger import statements
from lemmax.theory.ledger.claims import BUILT_IN, KINDS, Claim, ClaimsError, load_claims
from lemmax.theory.ledger.entries import entries
from lemmax.theory.ledger.formulas import FormulaError, names_in, read_formula, words_in

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


FORMULA = 'formula = "given x: real; conclude x*x >= 0"\n'
LONG = "x/" + "a" * 199 + "/" + "b" * 198


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (FORMAL.replace('kind = "A"', 'kind = "D"'), "x/one: a claim of kind D has no formal"),
        (GOOD + 'symbols = "x"\n', "x/one: the field 'symbols' says nothing without a formula."),
        (GOOD + FORMULA, "x/one: the field 'formula' says nothing without 'symbols'."),
        (GOOD + "counter" + FORMULA, "'counterformula' says nothing without 'symbols'."),
        (GOOD + 'hedge = "perhaps"\n', "x/one: the field 'hedge' says nothing without 'quote'."),
        (GOOD + 'sharpens = "x/two"\n', "x/one sharpens a statement and says no reading."),
        (GOOD + 'reading = "r"\nsharpens = "x/one"\n', "x/one sharpens itself."),
        (GOOD + 'reading = "r"\nsharpens = "x/none"\n', "x/one refers to x/none, which does not"),
        (GOOD + 'holds_as = ["x/none"]\n', "x/one refers to x/none, which does not exist."),
        (GOOD + 'symbols = "x"\nformula = "x"\n', "x/one: formula: a formula reads 'given x, y"),
        (
            GOOD + 'symbols = "x"\ncounterformula = "x"\n',
            "x/one: counterformula: a formula reads 'given x, y",
        ),
        (GOOD + "theorems = [1]\n", "x/one: theorems must be a list of theorems."),
        (GOOD + "uses = [1]\n", "x/one: uses must be a list of ids."),
        (GOOD.replace('"x/one"', '"x/.one"'), "x/.one: an id is made of names of files"),
        (GOOD.replace('"x/one"', '"x/o<ne"'), "x/o<ne: an id is made of names of files"),
        (GOOD.replace('"x/one"', '"x/o\\u0007"'), ": an id is made of names of files"),
        (GOOD.replace('"x/one"', f'"{LONG}b"'), ": an id has at most 400 characters."),
        (GOOD.replace('key = "x"', 'key = ".x"'), ": the key '.x' is no name of a folder."),
        (GOOD.replace('key = "x"', 'key = "\\u0007"'), " is no name of a folder."),
        (GOOD.replace('key = "x"', "key = 1"), ": the [paper] table needs a key."),
        ("paper = 1\n", ": the [paper] table needs a key."),
        ('claim = 1\n[paper]\nkey = "x"\n', ": a claim is a table, [[claim]]."),
        ('claim = [1]\n[paper]\nkey = "x"\n', ": a claim is a table, [[claim]]."),
        ('claim = [{}]\n[paper]\nkey = "x"\n', ": claim number 1 lacks the field 'id'."),
        ('b = 1\na = 1\n[paper]\nkey = "x"\n', ": unknown table 'a'."),
        (GOOD + 'zeal = "z"\nmood = "m"\n', "x/one has an unknown field 'mood'."),
    ],
)
def test_fields_that_do_not_fit_together(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ClaimsError) as refused:
        load(tmp_path, text)
    assert sentence in str(refused.value)
    assert str(refused.value).startswith(f"{tmp_path / 'x.toml'}: ")


def test_fields_that_fit_together(tmp_path: Path) -> None:
    more = 'reading = "r"\nsharpens = "x/one"\nrefutation = "universal"\nholds_as = ["x/one"]\n'
    more += 'symbols = "x"\ntheorems = ["a.b\'"]\n' + FORMULA
    load(tmp_path, GOOD + second("x/two", more) + second(LONG, 'informal = "why"'))
    catalogue = load_claims([tmp_path])
    two = catalogue["x/two"]
    assert (two.reading, two.sharpens, two.refutation) == ("r", "x/one", "universal")
    assert (two.holds_as, two.theorems, two.uses) == (("x/one",), ("a.b'",), ())
    assert (len(catalogue), [c.id for c in catalogue]) == (3, ["x/one", "x/two", LONG])
    assert "x/two" in catalogue
    assert "x/three" not in catalogue
    with pytest.raises(ClaimsError) as refused:
        catalogue["x/twoo"]
    assert str(refused.value) == "There is no claim 'x/twoo'. Nearest: x/two."
    with pytest.raises(ClaimsError) as refused:
        catalogue["elsewhere"]
    assert str(refused.value) == "There is no claim 'elsewhere'."


def test_what_leans_on_what_down_to_the_roots(tmp_path: Path) -> None:
    lines = GOOD + second("x/two", 'uses = ["x/one"]') + second("x/three", 'uses = ["x/two"]')
    load(tmp_path, lines)
    catalogue = load_claims([tmp_path])
    assert dict(catalogue.leans_on) == {
        "x/one": frozenset(),
        "x/two": {"x/one"},
        "x/three": {"x/one", "x/two"},
    }
    other = tmp_path / "other.toml"
    other.write_text(GOOD)
    with pytest.raises(ClaimsError) as refused:
        load_claims([tmp_path / "x.toml", other])
    assert str(refused.value) == f"{other}: the claim x/one is also in {tmp_path / 'x.toml'}."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("conclude x > 0", "a formula reads 'given x, y: real; assume …; conclude …'"),
        ("given x, x: real; conclude x > 0", "the symbols 'x, x' are not different names"),
        ("given 1x: real; conclude x > 0", "the symbols '1x' are not different names"),
        ("given x: real; conclude x >", "'x >' cannot be read"),
        ("given x: real; conclude x % 2 == 0", "'x % 2 == 0' has a Mod, which has no meaning here"),
        ("given x: real; conclude x > 0.5", "0.5 is not an integer"),
        ("given x: real; conclude x > True", "True is not an integer"),
        ("given x: real; conclude y > 0 and z > 0", "'y' is not given"),
        ("given x: real; assume y > 0; conclude x > 0", "'y' is not given"),
        ("given x: real; conclude exp(x, x) > 0", "'exp(x, x)' is none of the words "),
        ("given x: real; conclude sin(x) > 0", "'sin(x)' is none of the words "),
        ("given x: real; conclude exp(x=x) > 0", "'exp(x=x)' is none of the words "),
        ("given x: real; conclude x + 1", "'x + 1' is neither true nor false"),
        ("given x: real; conclude -x", "'-x' is neither true nor false"),
        ("given x: real; conclude x > 0 and x", "'x' is neither true nor false"),
        ("given x: real; conclude 1 > 0", "nothing is free in '1 > 0'"),
        ("given x: real; conclude x > 0 and 1 > 0", "nothing is free in '1 > 0'"),
        (
            "given x: real; conclude 0 < x <= x",
            "the conclusion '0 < x <= x' compares a thing with itself",
        ),
        (
            "given z, y, x: real; conclude x > 0",
            "the formula does not depend on 'y'",
        ),
    ],
)
def test_formulas_that_say_nothing(text: str, sentence: str) -> None:
    with pytest.raises(FormulaError) as refused:
        read_formula(text)
    said = str(refused.value)
    assert said.startswith(sentence) if sentence.endswith(" ") else said == sentence


def test_formulas_are_read_in_parts() -> None:
    text = "given x,  y: real;\n assume x > 0 and y > 0; conclude x*y > 0 and exp(x) > 1"
    read = read_formula(text)
    assert read.text == " ".join(text.split())
    assert read.symbols == ("x", "y")
    assert [*map(ast.unparse, read.assumptions)] == ["x > 0", "y > 0"]
    assert [*map(ast.unparse, read.conclusions)] == ["x * y > 0", "exp(x) > 1"]
    assert (names_in(read.conclusions[1]), words_in(read.conclusions[1])) == ({"x"}, {"exp"})
    either = read_formula("given x: real; conclude x > 0 or x < 1")
    assert len(either.conclusions) == 1
    assert len(read_formula("given x: real; conclude not x > 0").conclusions) == 1
    assert read_formula("given x: real; conclude x > 0").assumptions == ()


@pytest.mark.parametrize(
    ("assumed", "free"),
    [
        ("n == 2", ["M", "x"]),
        ("2 == n", ["M", "x"]),
        ("n == 2 and x == 1/2", ["M"]),
        ("(n == 2 and x == 1/2) and n == 2", ["M"]),
        ("n == 2 or n == 3", ["n", "M", "x"]),
        ("n <= 2", ["n", "M", "x"]),
        ("rows(M) == 2", ["n", "M", "x"]),
        ("rows(M) == n", ["n", "M", "x"]),
        ("equal(M, [[1, 2]])", ["n", "x"]),
        ("equal([[1, 2]], M)", ["n", "x"]),
        ("1 == n == 1", ["n", "M", "x"]),
    ],
)
def test_what_assumptions_leave_free(assumed: str, free: list[str]) -> None:
    text = f"given n: integer, M: matrix, x: rational; assume {assumed}; conclude rank(M) <= n + x"
    assert statements._free(text) == free


def test_claims_without_a_formal_statement_and_those_that_one_instance_cannot_refute() -> None:
    kinds = {claim.kind: claim.id for claim in load_claims() if not claim.formal}
    with pytest.raises(LemmaxError) as refused:
        statements.statement_of(kinds["D"])
    assert str(refused.value) == f"The claim {kinds['D']} carries no formal statement."
    free = [c for c in load_claims() if c.kind == "I" and c.formal and statements._free(c.formal)]
    for claim in free:
        left = " and ".join(statements._free(claim.formal or ""))
        with pytest.raises(LemmaxError) as refused:
            statements.refutable(claim.id)
        assert str(refused.value) == (
            f"The claim {claim.id} is about one instance, and its assumptions leave {left} free: "
            "another instance that is not so does not refute it."
        )
    some = next(c for c in load_claims() if c.kind == "E" and c.formal)
    with pytest.raises(LemmaxError) as refused:
        statements.refutable(some.id)
    assert str(refused.value) == (
        f"The claim {some.id} says that something exists: an instance that is not so "
        "does not refute it."
    )


def test_the_digest_is_that_of_sha256() -> None:
    """What sha256sum says of the parts, a line each: no evidence may lose its words unnoticed."""
    plain = Claim("x/c", "A", "1", "title", " a\n b ", "place", "text")
    assert plain.digest == "dbe204eb621dd4a0"  # of "x/c\nA\na b\n"
    whole = replace(plain, statement="a b", formal="f", formula="g", counterformula="h")
    assert whole.digest == "55f60b4b39fc20f0"  # of "x/c\nA\na b\nf\ng\nh"
