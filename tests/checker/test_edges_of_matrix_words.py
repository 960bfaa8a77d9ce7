"""The edges of the words about matrices, tensors and databases, and what they charge."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest

from lemmax.checker import NotACertificate
from lemmax.checker.language.evidence import Evidence
from lemmax.checker.language.reals import Interval
from lemmax.checker.language.sorts import Distribution, Facts
from lemmax.checker.limits import LIMITS, BeyondLimits, Undecided, metered
from lemmax.checker.reading import Integers, Matrix, Tensor
from lemmax.checker.words import databases, distributions, matrices, tensors

PRIME = 2**61 - 1
ORDER = (PRIME - 1) // 9  # of 3^37 mod the prime


def matrix(*rows: list[Any]) -> Matrix:
    return Matrix(tuple(map(Fraction, row)) for row in rows)


def tensor(*slices: list[list[Any]]) -> Tensor:
    return Tensor(matrix(*part) for part in slices)


def ends(bounds: Any) -> tuple[Any, Any]:
    return (bounds.low, bounds.high) if isinstance(bounds, Interval) else (bounds, bounds)


def refusal(sentence: str) -> Any:
    return pytest.raises(NotACertificate, match=f"^{re.escape(sentence)}$")


def too_much(sentence: str) -> Any:
    return pytest.raises(BeyondLimits, match=f"^{re.escape(sentence)}$")


def own_charges(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], *given: Any
) -> list[tuple[Any, ...]]:
    """What a function of the module charges for work by itself: the names, counts and bits."""
    charged: list[tuple[Any, ...]] = []
    monkeypatch.setattr(module, "spend", lambda *asked: charged.append(asked))
    function(*given)
    return charged


# --- integers in bounds -------------------------------------------------------------------------

ZEROS = tensor([[0, 0], [0, 0]], [[0, 0], [0, 0]])


@pytest.mark.parametrize(
    "word",
    [
        tensors.flattening_rank,
        tensors.slice_ranks,
        tensors.spanning_tree,
        lambda T, mode: tensors.without(T, mode, Fraction(0)),
    ],
)
def test_a_tensor_has_the_modes_0_1_and_2(word: Callable[..., Any]) -> None:
    for mode in (0, 1, 2):
        word(ZEROS, Fraction(mode))
    with refusal("An index is 3, outside 0..2."):
        word(ZEROS, Fraction(3))


def test_a_table_has_values_of_keys_and_of_queries_only() -> None:
    D = Facts([("a", "f", "x"), ("a", "g", "y"), ("b", "f", "x")])
    assert databases.value_counts(D, Fraction(0)) == (2, 1)
    assert databases.value_counts(D, Fraction(1)) == (1, 1)
    with refusal("An index is 2, outside 0..1."):
        databases.value_counts(D, Fraction(2))


def test_slices_have_at_most_all_rows() -> None:
    M = matrix([1], [2])
    assert [len(tensors.fold(M, Fraction(n))) for n in (1, 2)] == [2, 1]
    for size in (3, 4):
        with refusal(f"An index is {size}, outside 0..2."):
            tensors.fold(M, Fraction(size))
    with refusal("fold(...) cannot cut 2 rows into slices of 0."):
        tensors.fold(M, Fraction(0))


@pytest.mark.parametrize(
    ("word", "name", "below"),
    [
        (lambda n: matrices.whole(n, "It", 5), "It", 5),
        (tensors.integer_range, "range(...)", 10_001),
        (lambda n: matrices.blow_up(n, Fraction(0)), "blow_up(...)", 1_001),
        (lambda r: matrices.blow_up(Fraction(2), r), "blow_up(...)", 1_001),
        (
            lambda d: distributions.kl_infimum(
                Distribution((Fraction(1),), matrix([1])), d, Evidence()
            ),
            "kl_infimum(...)",
            10**6,
        ),
    ],
)
def test_sizes_are_integers_below_a_bound(
    word: Callable[[Fraction], Any], name: str, below: int
) -> None:
    """What is too large is beyond the limits, what is no size at all is malformed."""
    for large in (below, below + 1):
        with too_much(f"{name} needs an integer below {below}, not {large}."):
            word(Fraction(large))
    for wrong in (Fraction(-1), Fraction(1, 2), below + Fraction(1, 2)):
        with refusal(f"{name} needs an integer in 0..{below - 1}, not {wrong}."):
            word(wrong)


def test_the_largest_sizes() -> None:
    assert matrices.whole(Fraction(4), "It", 5) == 4
    assert tensors.integer_range(Fraction(10_000))[-1] == 9_999


# --- matrices -----------------------------------------------------------------------------------


def test_what_exceeds_a_level_is_counted_from_the_largest_entry() -> None:
    """3 does not exceed 3, and 3 + 2 does; 1 + 2 + 3 would be the other way around."""
    row = matrix([1, 2, 3])
    assert [matrices.covering(row, Fraction(n)) for n in (2, 3, 5)] == [1, 2, 3]


def test_two_entries_have_a_gap() -> None:
    assert matrices.row_gap(matrix([1, 3], [Fraction(1, 2), 0])) == Fraction(1, 2)
    with refusal("row_gap(...) needs two columns."):
        matrices.row_gap(matrix([1], [2]))


@pytest.mark.parametrize(("rows", "columns"), [([], [0]), ([0], []), ([], [])])
def test_a_submatrix_has_entries(rows: list[int], columns: list[int]) -> None:
    with refusal("submatrix(...) needs a row and a column."):
        matrices.submatrix(matrix([1, 2]), Integers(rows), Integers(columns))


@pytest.mark.parametrize(
    ("row", "level", "few"),
    [
        ([1, 1], Fraction(3, 2), 2),  # 1 < 3/2 <= 1 + 1
        ([Fraction(1, 2)] * 2, Fraction(1), 2),  # 1/2 < 1 <= 1/2 + 1/2
        ([Fraction(1, 2), Fraction(2, 3)], Fraction(2, 3), 1),
        ([1, 2], Fraction(0), 0),
    ],
)
def test_how_few_entries_add_up_to_a_level(row: list[Any], level: Fraction, few: int) -> None:
    assert matrices.reaching(matrix(row), level) == few


def test_matrix_words_charge_for_the_entries_they_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is for a count of entries, and for numbers of so many bits."""
    M = matrix([1, 0, 9], [0, 2, Fraction(1, 2)], [0, 0, 0])  # over 2 the largest is 18: 5 bits

    def charges(word: Callable[..., Any], *given: Any) -> list[tuple[Any, ...]]:
        return own_charges(matrices, monkeypatch, word, M, *given)

    # two for each pair of 3 rows, both ways, and each of 3 columns: 2 x 3^2 x 3
    assert charges(matrices.least_distance2) == [("least_distance2(...)", 54, 5, 5)]
    # the first row, of entries up to 9, and a level of 3 bits
    assert charges(matrices.reaching, Fraction(5, 2)) == [("reaching(...)", 3, 4, 3)]
    # ten for each of 3 x 3 entries, of up to 4 bits
    assert charges(matrices.strictly_above, Fraction(1, 2)) == [("above(...)", 90, 4)]


def test_a_softmax_that_no_precision_tells_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, "precision bits", 0)
    words = "^a softmax probability is too close to the threshold to be told from it$"
    with pytest.raises(Undecided, match=words):
        matrices.threshold(matrix([0, 1]), Fraction(1, 2))


# --- tensors ------------------------------------------------------------------------------------


def test_trees_of_slices_are_looked_at_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slices have ranks 1 and 2; in the modes 1 and 2 their difference has rank 1."""
    T = tensor([[0, 0], [1, 0]], [[1, 1], [0, 1]])
    assert [tensors.sum_of_slices(T, Fraction(m)) for m in range(3)] == [3, 3, 3]
    assert [tensors.spanning_tree(T, Fraction(m)) for m in range(3)] == [3, 2, 2]
    monkeypatch.setattr(tensors, "_TREE", 2)  # and there are two slices
    assert ends(tensors.tensor_rank(T, Evidence())) == (2, 2)
    monkeypatch.setattr(tensors, "_TREE", 1)
    assert ends(tensors.tensor_rank(T, Evidence())) == (2, 3)


@pytest.mark.parametrize(
    ("point", "exponent"), [(3 * 37, ORDER * 9 // 22), (4**37, 61), (3**38, ORDER // 2)]
)
def test_rows_of_a_softmax_that_differ_by_no_constant_have_rank_two(
    point: int, exponent: int
) -> None:
    """Powers are taken at 3^37 mod a prime: at the point given here the rows would be equal."""
    assert pow(point, exponent, PRIME) == 1 != pow(3**37, exponent, PRIME)
    rows = [0, 0, 0], [0, exponent, exponent]
    assert ends(tensors.softmax_tensor_rank(tensor([*rows]))) == (2, 2)


def test_a_fibre_whose_sum_vanishes_mod_the_prime_is_not_zero() -> None:
    """1 + z^e = 0 mod the prime at the point z = 3^37, and one fibre has rank one."""
    assert pow(3**37, ORDER // 2, PRIME) == PRIME - 1
    assert ends(tensors.softmax_tensor_rank(tensor([[0, ORDER // 2]]))) == (1, 1)


@pytest.mark.parametrize("shape", [(2, 2, 5), (1, 5, 2), (5, 1, 2)])
def test_where_a_product_of_sizes_is_the_rank_no_slice_is_looked_at(
    shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fibres 1, z^s, z^4s, ... with s of its own for each: the rank is 2 x 2 x 1, or 1 x 2."""
    a, b, c = shape
    cube = [[[2 ** (2 * k + q) * v * v for v in range(c)] for q in range(b)] for k in range(a)]
    rank = sorted(shape)[0] * sorted(shape)[1]
    monkeypatch.setattr(tensors, "softmax_rank", lambda _: pytest.fail("of a slice"))
    assert ends(tensors.softmax_tensor_rank(tensor(*cube))) == (rank, rank)


def test_slices_across_the_fibres_are_no_softmax() -> None:
    """The logits k + q of slice 0 are a sum, of rank one as powers, and those of slice 1 are zero.

    Yet the shares 1 / (1 + z^-k-q) are a Cauchy matrix, up to factors of the rows: of rank three.
    """
    T = tensor(*([[k + q, 0] for q in range(3)] for k in range(3)))
    low, high = ends(tensors.softmax_tensor_rank(T))
    assert low == 3 <= high


def test_tensor_words_refuse_what_has_no_meaning() -> None:
    with refusal("largest(...) needs an integer."):
        tensors.largest(Integers(()))
    with refusal("A sum of tensors of different shapes."):
        tensors.tensor_plus(ZEROS, tensor([[0, 0], [0, 0]]))


# --- databases ----------------------------------------------------------------------------------


def test_tables_of_other_sizes_are_told_apart_before_any_search() -> None:
    """Nine facts about one query, or about three keys and three queries."""
    row = Facts((f"k{i}", "q", "v") for i in range(9))
    square = Facts((f"k{i}", f"q{j}", "v") for i in range(3) for j in range(3))
    for same in (databases.same_table, databases.isomorphic):
        assert not same(row, square)
        assert not same(square, row)
        with too_much("A bijection is searched for at most 8 keys, queries or values."):
            same(row, row)
        eight = Facts(row[:8])
        assert same(eight, eight)


def test_a_chain_of_facts_is_followed_link_by_link() -> None:
    """e v g t h w: after the first fact each next one has one place, and one step of 20 x 5."""
    D = Facts((k, q, "x") for k, q in ("ev", "hw", "gt", "gv", "ht"))
    E = Facts((k, q, "x") for k, q in ("ev", "ht", "gv", "gt", "hw"))
    with metered() as meter:
        assert databases.same_table(D, E)
    assert meter.work == (5 + 1) * 20 * 5
