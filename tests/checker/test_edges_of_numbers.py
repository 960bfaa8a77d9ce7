"""Edges of numbers in statements: bounds, logarithms, sorts of values and what is made of them."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import Any

import pytest
from benchmarks.corpus import counted

from lemmax.checker import NotACertificate, limits
from lemmax.checker.language import evaluation, reals, sorts
from lemmax.checker.language.evaluation import Judgement, World
from lemmax.checker.language.reals import Interval, Logarithm
from lemmax.checker.language.sorts import NOTHING, Distribution, Field, Number
from lemmax.checker.limits import Undecided
from lemmax.checker.reading import Integers, Matrix
from lemmax.checker.words import VOCABULARY

ONE, TWO, THREE, HALF = Fraction(1), Fraction(2), Fraction(3), Fraction(1, 2)


def ln(*terms: tuple[int | Fraction, int], plus: int | Fraction = 0) -> Logarithm:
    return Logarithm(Fraction(plus), tuple((Fraction(x), Fraction(c)) for x, c in terms))


def between(low: int | None, high: int | None) -> Interval:
    return Interval(*(None if end is None else Fraction(end) for end in (low, high)))


# --- bounds and logarithms ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (between(1, 2), "[1, 2]"),
        (between(None, 2), "(-oo, 2]"),
        (between(1, None), "[1, oo)"),
        (between(None, None), "(-oo, oo)"),
        (ln((3, 2)), "2 ln 3"),
        (ln((3, 2), (5, -1)), "2 ln 3 + -1 ln 5"),
        (ln((3, 2), plus=HALF), "2 ln 3 + 1/2"),
        (ln(plus=5), "5"),
        (ln(), "0"),
    ],
)
def test_bounds_and_logarithms_are_written_so(value: Interval | Logarithm, text: str) -> None:
    assert str(value) == text
    assert evaluation.shown(value) == f"in {text}"


def test_a_number_is_written_as_equal() -> None:
    assert evaluation.shown(HALF) == "= 1/2"


TINY = Fraction(1, 1 << 200)  # below the precision of the first enclosures


@pytest.mark.parametrize(
    ("value", "sign"),
    [
        (ln((2, 1)), 1),
        (ln((HALF, 1)), -1),
        (ln((2, 3), (8, -1)), 0),
        (ln((2, 1), (HALF, 1)), 0),
        (ln((2, 1), (HALF, 1), plus=1), 1),  # logarithms that cancel leave the constant
        (ln((2, 1), (HALF, 1), plus=-1), -1),
        (ln((1 + TINY, 1)), 1),  # the first enclosure begins at 0
        (ln((1 + TINY, -1)), -1),  # and ends there
        (ln((1 / (1 + TINY), 1)), -1),
        (ln((2, 500), (3, 0)), 1),
        (ln(), 0),
    ],
)
def test_the_sign_of_logarithms(value: Logarithm, sign: int) -> None:
    assert value.sign() == sign


def test_the_signs_of_a_number_and_of_its_negative_cost_the_same() -> None:
    """An enclosure that touches 0 decides neither, and the next one is twice as long."""
    works = []
    for sign in (1, -1):
        with counted() as bill, limits.metered():
            assert ln((1 + TINY, sign)).sign() == sign
        works.append(bill.sums["work"])
    assert works[0] == works[1]


def test_powers_of_a_million_bits_are_multiplied_and_of_more_are_not() -> None:
    """2 and 1/2 have two bits: 250,000 times two bits, twice, are a million."""
    assert ln((2, 250_000), (HALF, 250_000)).sign() == 0
    zero = ln((2, 250_001), (HALF, 250_001))
    with pytest.raises(Undecided, match=r"^two logarithms are too close to be told apart$"):
        zero.sign()
    assert ln((2, 250_001), (HALF, 250_000)).sign() == 1  # ln 2


@pytest.mark.parametrize(
    "divisor", [(1, None), (None, -1), (None, None), (-1, 0), (0, 1), (-1, 1), (0, 0)]
)
def test_nothing_is_divided_by_bounds_that_may_be_zero(
    divisor: tuple[int | None, int | None],
) -> None:
    """Or that are open on a side, where the quotient may be close to zero."""
    with pytest.raises(NotACertificate, match=r"^A comparison divides by what is not known"):
        reals.quotient(ONE, between(*divisor))


@pytest.mark.parametrize(
    ("divisor", "low", "high"),
    [((2, 4), "1/4", "1/2"), ((-4, -2), "-1/2", "-1/4"), ((1, 3), "1/3", "1")],
)
def test_the_quotient_by_bounds(divisor: tuple[int, int], low: str, high: str) -> None:
    assert reals.quotient(ONE, between(*divisor)) == Interval(Fraction(low), Fraction(high))


def test_the_least_is_bounded_below_only_if_all_are() -> None:
    assert reals.least(between(None, 5), THREE) == between(None, 3)
    assert reals.least(between(1, None), THREE) == between(1, 3)
    assert reals.least(between(1, None), between(2, None)) == between(1, None)
    assert reals.least(between(1, 7), between(2, 5)) == between(1, 5)
    assert reals.greatest(between(1, None), THREE) == between(3, None)
    assert reals.greatest(between(None, 1), between(None, 2)) == between(None, 2)


# --- sorts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "sort", "fitted"),
    [
        (True, Number, ONE),
        (3, Fraction, THREE),
        (HALF, Number, HALF),
        (between(1, 2), Number, between(1, 2)),
        (ln((2, 1)), Number, ln((2, 1))),
        ("a", Number, NOTHING),
        (Integers([1]), Number, NOTHING),
        (None, Number, NOTHING),
        (between(1, 2), Fraction, NOTHING),
        (None, bool, None),
        (None, Matrix, NOTHING),
        (True, bool, True),
        (ONE, bool, NOTHING),
    ],
)
def test_what_counts_as_one_of_a_sort(value: Any, sort: type, fitted: Any) -> None:
    found = sorts.fitting(value, sort)
    assert found is NOTHING if fitted is NOTHING else found == fitted


def test_entries_and_bits() -> None:
    """Two bounds, of which 8 = 1000b is the longest; a row of two for each prior probability."""
    assert sorts.extent(Interval(Fraction(1, 3), Fraction(8))) == (2, 4)
    assert sorts.extent(between(None, 8)) == (2, 4)
    table = Matrix([(Fraction(1, 8), Fraction(7, 8))] * 3)
    assert sorts.extent(Distribution((Fraction(1, 3),) * 3, table)) == (9, 4)


@pytest.mark.parametrize(
    ("sort", "value", "refused"),
    [
        ("sequences", [[10**6]], "A token must be an integer in 0..999999, not 1000000"),
        ("sequences", [["0"]], "A token must be an integer in 0..999999, not '0'"),
        ("sequences", [7], "here must be a nonempty list, not 7"),
        ("sequences", [], "here must be a nonempty list, not a list"),
        ("associations", [[[0], 10**6]], "A target must be an integer in 0..999999, not 1000000"),
        ("associations", [[[0], 1, 2]], "here[0] must have 2 entries, not 3"),
        ("associations", [[[0], 1], [[1]]], "here[1] must have 2 entries, not 1"),
        ("associations", [], "here must be a nonempty list, not a list"),
        ("distribution", {"prior": ["1"]}, "here lacks the field table"),
    ],
)
def test_what_is_none_of_a_sort_is_refused_by_its_place(
    sort: str, value: Any, refused: str
) -> None:
    with pytest.raises(NotACertificate) as error:
        sorts.given_value(sort, {sort: value}, "here")
    assert str(error.value) == f"{refused}."


def test_the_largest_token_is_the_last_below_a_million() -> None:
    assert sorts.sequences_value([[999_999, 0]], "here") == ((999_999, 0),)


def test_facts_in_a_text_are_three_names_each() -> None:
    assert sorts.facts_literal("a f x, b f y") == (("a", "f", "x"), ("b", "f", "y"))
    with pytest.raises(NotACertificate, match=r"^facts\(\.\.\.\)\[1\] must have 3 entries, not 2"):
        sorts.facts_literal("a f x, b f")


def layer(tokens: int) -> dict[str, Any]:
    """A head of width one, in two dimensions."""
    head = {"W_Q": [["1"], ["0"]], "W_K": [["1", "0"]], "W_V": [["1"], ["0"]], "W_O": [["1", "0"]]}
    W_E, W_U = [["1", "0"]] * tokens, [["1"] * tokens] * 2
    names = [f"t{i}" for i in range(tokens)]
    return {"tokens": names, "unit": "1", "W_E": W_E, "W_U": W_U, "heads": [head]}


def test_a_layer_has_at_least_as_many_tokens_as_dimensions() -> None:
    for tokens in (2, 3):
        assert len(sorts.layer_value(layer(tokens), "here").tokens) == tokens
    with pytest.raises(NotACertificate, match="d_model <= the number of tokens"):
        sorts.layer_value(layer(1), "here")


@pytest.mark.parametrize("width", [1, 3])
def test_positions_have_the_dimension_of_the_embedding(width: int) -> None:
    data = {"layer": layer(2), "pos": [["0", "1"]] * 4}
    assert len(sorts.transformer_value(data, "here").pos) == 4
    with pytest.raises(NotACertificate, match=rf"^here\.pos\[0\] must have 2 entries, not {width}"):
        sorts.transformer_value(data | {"pos": [["0"] * width] * 4}, "here")


# --- evaluation -----------------------------------------------------------------------------------

OPEN = {"x": TWO, "y": THREE, "u": between(1, 3), "v": between(2, 4), "M": Matrix([(ONE, TWO)])}


def tree(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def value(text: str, **values: Any) -> Any:
    return evaluation.evaluate(tree(text), World(OPEN | values))


@pytest.mark.parametrize(
    ("text", "judgement"),
    [
        ("1 < x < 3", Judgement(True, "1 < x = 2 < 3")),
        ("1 < x < y <= 3", Judgement(True, "1 < x = 2 < y = 3 <= 3")),
        ("1 < x > y", Judgement(False, "x = 2 <= y = 3")),
        ("x < u", Judgement(None, "x = 2 < u in [1, 3] is undecided")),
        ("0 < u < v", Judgement(None, "u in [1, 3] < v in [2, 4] is undecided")),
        ("x < u < v", Judgement(None, "x = 2 < u in [1, 3] is undecided")),
        ("x < u < 0", Judgement(False, "u in [1, 3] >= 0")),
        ("implies(x < u, 1 < x)", Judgement(True, "implies(x < u, 1 < x) is true")),
        ("iff(x < u, 1 < x)", Judgement(None, "iff(x < u, 1 < x) is undecided")),
    ],
)
def test_a_comparison_is_shown_with_its_values(text: str, judgement: Judgement) -> None:
    assert evaluation.judge(tree(text), World(OPEN)) == judgement


def test_a_truth_that_is_undecided_is_no_number() -> None:
    with pytest.raises(Undecided, match=r"^a truth that counts as a number is undecided$"):
        evaluation.as_number(None)
    assert value("1 + (x < y)") == 2


def test_an_undecided_argument_of_a_word_that_is_not_about_truths_leaves_it_undecided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both kinds of words on truths; those of the vocabulary that take truths are about them."""
    words = VOCABULARY["indicator"]
    for logical, reason in ((True, "the condition of an indicator"), (False, "an argument of ind")):
        monkeypatch.setitem(VOCABULARY, "indicator", [w._replace(logical=logical) for w in words])
        with pytest.raises(Undecided, match=f"^{reason}"):
            value("indicator(x < u)")
        assert value("indicator(x < y)") == 1


def test_every_comparison_of_a_chain_is_charged_for_its_own_two_numbers() -> None:
    """The first one, of short numbers, does not pay for the last number, of 1,001 bits."""

    def work(text: str) -> int:
        with counted() as bill, limits.metered():
            assert evaluation.judge(tree(text), World(OPEN | {"z": TWO**1000})).truth
        return bill.sums["work"]

    assert work("1 < x") == 20  # units for one comparison of short numbers
    assert work("x < z") > 100
    assert work("1 < x < z") == work("1 < x") + work("x < z")


@pytest.mark.parametrize("limit", ["work", "memory"])
def test_a_word_is_charged_under_its_name(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setitem(limits.LIMITS, limit, 0)
    with pytest.raises(NotACertificate, match=rf"^rows\(\.\.\.\) brings the {limit} to "):
        value("rows(M)")


def test_a_comparison_is_charged_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(limits.LIMITS, "work", 0)
    with pytest.raises(NotACertificate, match=r"^A comparison brings the work to "):
        value("x < y")


def test_a_field_is_named_where_nothing_else_has_its_name() -> None:
    assert value("Q") == Field("Q")
    assert type(value("Q")) is Field
    assert value("Q", Q=HALF) == HALF


@pytest.mark.parametrize(
    "text", ["x", "f(x)", "f(x, g(M, 1), [[1, 2], [3, 4]])", "f('a b, c', x)", "f(1, x + 2, -x)"]
)
def test_a_call_is_remembered_by_what_python_writes(text: str) -> None:
    assert evaluation.text_of(tree(text)) == ast.unparse(tree(text)) == text


@pytest.mark.parametrize(
    ("text", "found"), [("[0]", [0]), ("[0, 2]", [0, 2]), ("[x, 0, x * y]", [2, 0, 6]), ("[]", [])]
)
def test_indices_begin_with_zero(text: str, found: list[int]) -> None:
    assert value(text) == Integers(found)
    assert type(value(text)) is Integers


@pytest.mark.parametrize("text", ["[-1]", "[1 / 2]", "[0, -x]", "[x, 1 / 2]", "[u]", "[0, u]"])
def test_what_is_no_index_is_refused(text: str) -> None:
    with pytest.raises(NotACertificate) as error:
        value(text)
    assert str(error.value) == f"'{text}' is no list of indices."


@pytest.mark.parametrize("text", ["[[1, u]]", "u * M", "M / u"])
def test_entries_of_matrices_are_known_exactly(text: str) -> None:
    with pytest.raises(NotACertificate, match=r"^A matrix needs numbers that are known exactly\.$"):
        value(text)
