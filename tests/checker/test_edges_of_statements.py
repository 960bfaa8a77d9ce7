"""Edges of statements: what is just a statement, just not one, and what a claims file binds."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from benchmarks.corpus import counted

from lemmax.checker import NotACertificate, check, formal_statements, limits
from lemmax.checker.language import claims
from lemmax.checker.language.claims import bonded, listed
from lemmax.checker.language.syntax import normalised, parse, statement

ONE = "given x: rational; conclude x == 1"
FORMAL = {"own/one": ONE}

# --- statements -----------------------------------------------------------------------------------


def test_a_statement_has_at_most_2000_characters() -> None:
    assert statement(ONE.ljust(2_000)).text == ONE
    sentence = r"^The statement must be a text of at most 2000 characters\.$"
    for wrong in (ONE.ljust(2_001), 7, None):
        with pytest.raises(NotACertificate, match=sentence):
            statement(wrong)


def test_a_condition_may_take_most_of_a_statement() -> None:
    """Only one that stands alone, in a certificate of version 1, is limited to 500."""
    long = " or ".join(["x == 1"] * 150)
    assert 1_000 < len(long) < 2_000
    read = statement(f"given x: rational; conclude {long}")
    assert isinstance(read.conclusion, ast.BoolOp)
    assert [ast.unparse(part) for part in read.conclusion.values] == ["x == 1"] * 150


def test_a_condition_that_stands_alone_has_at_most_500_characters() -> None:
    assert ast.unparse(parse("x == 1".ljust(500), "It")) == "x == 1"
    for wrong in ("x == 1".ljust(501), 7, None):
        with pytest.raises(NotACertificate, match=r"^It must be a text of at most 500 characters"):
            parse(wrong, "It")


@pytest.mark.parametrize(
    "text",
    [
        ONE.removeprefix("given "),
        ONE.replace("conclude ", ""),
        "x: rational; x == 1",
        "given x: rational",
        "conclude 1 == 1",
        "given x: rational; conclude x == 1; assume x == 1",
    ],
)
def test_a_statement_begins_with_given_and_ends_with_conclude(text: str) -> None:
    with pytest.raises(NotACertificate, match=r"^It reads given NAME: SORT, "):
        statement(text, "It")


def test_what_any_assumption_speaks_about_is_spoken_about() -> None:
    text = "given x: rational, y: rational, z: rational; assume x == 1; assume y == 1; "
    assert list(statement(text + "conclude z == 1").given) == ["x", "y", "z"]
    with pytest.raises(NotACertificate, match="gives z and does not speak about it"):
        statement(text + "conclude x == y")


def test_fields_are_neither_given_nor_defined() -> None:
    read = statement("given T: tensor; conclude tensor_rank(T, Q) == tensor_rank(T, C)")
    assert list(read.given) == ["T"]
    with pytest.raises(NotACertificate, match="does not depend on what is given"):
        statement("given x: rational; assume x == 1; conclude equal(Q, Q)")


@pytest.mark.parametrize("name", ["and", "or", "not", "in", "is", "if", "else"])
def test_words_of_the_syntax_are_no_names(name: str) -> None:
    text = f"given {name}: rational; conclude {name} == 1"
    with pytest.raises(
        NotACertificate, match=rf"^It has a name '{name}' that is not a short ident"
    ):
        statement(text, "It")
    text = f"given {name}{name}: rational; conclude {name}{name} == 1"
    assert list(statement(text, "It").given) == [name * 2]


# --- conditions -----------------------------------------------------------------------------------


def test_a_condition_costs_ten_units_a_letter_and_three_hundred() -> None:
    with counted() as bill, limits.metered():
        parse("x == 1", "It")
    assert bill.sums["work"] == 10 * len("x == 1") + 300


def test_a_condition_is_charged_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(limits.LIMITS, "work", 0)
    with pytest.raises(NotACertificate, match=r"^It brings the work to "):
        parse("x == 1", "It")


def levels(node: ast.AST) -> int:
    return 1 + max(map(levels, ast.iter_child_nodes(node)), default=0)


def test_the_tree_of_a_condition_has_at_most_120_levels() -> None:
    """The signs, a name, and that it is read: a level each."""
    assert levels(parse("-" * 118 + "x", "It")) == 120
    for signs in (119, 200):
        with pytest.raises(NotACertificate, match=r"^It is nested more than 120 deep\.$"):
            parse("-" * signs + "x", "It")


@pytest.mark.parametrize(
    "text",
    [
        "equal(facts('a f x'), facts('a f x'))",
        "size(facts('a f x')) == size(facts('b g y')) == 1",
        "equal(D, facts('a f x')) and size(facts('b g y')) == 1",
    ],
)
def test_texts_are_arguments_of_words(text: str) -> None:
    assert ast.unparse(parse(text, "It")) == text


@pytest.mark.parametrize(
    "text",
    [
        "x == 'a'",
        "'a' == facts('a f x')",
        "size('a' + 'b') == 1",
        "rank([['a']]) == 1",
        "even(1.5)",
        "x == 1.5",
        "even(1j)",
        "even(True)",
        "even(None)",
        "even(b'a')",
        "even(...)",
        "even(n=x)",
        "even(n=x) and odd(x)",  # the first that is wrong is named
    ],
)
def test_numbers_are_integers_and_texts_stand_nowhere_else(text: str) -> None:
    with pytest.raises(NotACertificate) as error:
        parse(text, "It")
    said = limits.brief(text)
    assert str(error.value) == f"It is {said}, which is not in the language of comparisons."


# --- claims files ---------------------------------------------------------------------------------


def test_paragraphs_of_the_table_stand_apart_by_empty_lines() -> None:
    """One or more: what is empty, or a remark, is no part of a paragraph."""
    text = f"one/first\n{ONE}\n\n\n# a remark\ntwo/second\n{ONE}"
    assert list(listed(text)) == ["one/first", "two/second"]


def test_a_formal_statement_of_a_file_has_at_most_4000_characters(tmp_path: Path) -> None:
    """Twice as many as a statement, since it stands there with its line breaks and indents."""
    path = tmp_path / "own.toml"
    for length in (4_000, 4_001):
        formal = ONE.replace(" ", " " * 500, 1).ljust(length)
        path.write_text(f'[[claim]]\nid = "own/one"\nformal = "{formal}"\n', encoding="utf-8")
        if length == 4_000:
            assert formal_statements([path]) == FORMAL
        else:
            with pytest.raises(NotACertificate, match="has no readable formal statement for 'own"):
                formal_statements([path])
    assert normalised(formal) == ONE


@pytest.mark.parametrize(
    ("claim", "version", "source"),
    [
        ("wong/one", 1, "the checker's own"),
        ("wong/one", 2, "as given by the certificate"),
        ("own/one", 1, "as given by the certificate"),
        ("own/one", 2, "as given by the certificate"),
    ],
)
def test_whose_statement_is_checked(claim: str, version: int, source: str) -> None:
    """Version 1 may name the claims that the checker has a table of."""
    assert bonded({"claim": claim}, version, None) == (claim, source, [])
    found, bound, steps = bonded({"claim": claim, "statement": ONE}, version, {claim: ONE})
    assert (found, bound, [step.ok for step in steps]) == (claim, "the claim's", [True])


def test_where_no_claim_is_named_no_statement_is_anybodys() -> None:
    for data in ({}, {"claim": 7}):
        assert bonded(data, 1, None) == ("", "", [])
        found, bound, steps = bonded(data, 2, FORMAL)
        assert (found, bound, [step.ok for step in steps]) == ("", "", [False])


def test_the_table_has_the_statement_of_version_1() -> None:
    sharp = [["1", "0", "-1"], ["-1", "0", "1"], ["0", "0", "0"]]
    verdict = check(
        first(["rank(M) == 1"], "rank(argmax(M)) <= 2", M=sharp) | {"claim": "wong/argmax-rank-one"}
    )
    assert (verdict.holds, verdict.statement) == (True, "the checker's own")


def first(hypotheses: Any, conclusion: Any = "x == 1", **instance: Any) -> dict[str, Any]:
    """A refutation of version 1, of the statement above."""
    fields = {"statement": {"hypotheses": hypotheses, "conclusion": conclusion}}
    head = {"format": "lemmax-certificate", "version": 1, "kind": "refutation"}
    return {**head, "claim": "own/one", **fields, "instance": instance or {"x": "2"}}


@pytest.mark.parametrize("wrong", [7, "x == 1", {"x == 1": 1}])
def test_hypotheses_are_a_list_wherever_they_are_compared(wrong: Any) -> None:
    assert check(first([]), FORMAL).holds
    for formal in (None, FORMAL):
        with pytest.raises(NotACertificate, match=r"^statement\.hypotheses must be a list, not "):
            check(first(wrong), formal)


def test_there_are_hypotheses_wherever_they_are_compared() -> None:
    lacking = first([]) | {"statement": {"conclusion": "x == 1"}}
    for formal in (None, FORMAL):
        with pytest.raises(NotACertificate, match=r"^statement"):
            check(lacking, formal)


@pytest.mark.parametrize(
    ("hypotheses", "conclusion", "same"),
    [
        ([], "x==1", True),
        ([], "x == 2", False),
        (["x == 1"], "x == 1", False),
        (["x == 1"], "x == 2", False),
    ],
)
def test_a_list_of_conditions_is_the_statement_or_not(
    hypotheses: list[str], conclusion: str, same: bool
) -> None:
    step = claims._bond(first(hypotheses, conclusion), FORMAL)
    assert step.ok is same
    shown = (
        "that of own/one in the claims files" if same else f"not that of the claim own/one: {ONE}"
    )
    assert step.text == f"the statement is {shown}"


def test_definitions_are_not_in_lists_of_conditions() -> None:
    formal = {"own/one": "given x: rational; let y = x; conclude y == 1"}
    assert not claims._bond(first([], "y == 1"), formal).ok


@pytest.mark.parametrize("place", ["hypotheses", "conclusion"])
def test_a_condition_that_cannot_be_read_is_refused_as_one(place: str) -> None:
    certificate = first([7]) if place == "hypotheses" else first([], 7)
    sentence = r"^A condition must be a text of at most 500 characters\.$"
    with pytest.raises(NotACertificate, match=sentence):
        check(certificate, FORMAL)


def test_a_statement_of_a_file_that_cannot_be_read_is_refused_by_its_id() -> None:
    with pytest.raises(NotACertificate, match=r"^own/one reads given NAME: SORT, "):
        check(first([]), {"own/one": "nothing"})
