"""Kruskal ranks, softmax ranks, refutations and divergences: what is just allowed and what is not.

A logarithm of one lies between 0 and 1 unit of 2^-96, so that an exact divergence of zero is shown
to be at most two units, and at least minus one.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import pytest
from benchmarks.corpus import counted

from lemmax.checker import STATEMENTS, NotACertificate, Verdict, check
from lemmax.checker.enclosures import x_log_x
from lemmax.checker.kinds import softmax_rank
from lemmax.checker.kinds.kl_interval import dual_bound, gained, leaf, short
from lemmax.checker.kinds.kruskal_rank import independent_share
from lemmax.checker.kinds.softmax_rank import rank_at
from lemmax.checker.language.claims import listed
from lemmax.checker.reading import Matrix

ONE = Fraction(1)
HEAD = {"format": "lemmax-certificate", "version": 1}


def asked(kind: str, **fields: Any) -> Verdict:
    return check(HEAD | {"kind": kind} | fields)


def refused(sentence: str) -> Any:
    return pytest.raises(NotACertificate, match=f"^{re.escape(sentence)}")


def rows(*given: tuple[int, ...]) -> Matrix:
    return Matrix(tuple(map(Fraction, row)) for row in given)


# --- independent vectors ------------------------------------------------------------------------

PLANE = rows((1, 0), (0, 1), (2, 0))


def test_shares_of_independent_sets() -> None:
    """The empty set is independent, all three rows are, and of three pairs two."""
    found = [independent_share(PLANE, Fraction(k)) for k in range(3)]
    assert found == [1, 1, Fraction(2, 3)]


@pytest.mark.parametrize("k", ["-1", "1/2", "3/2", "3", "7/2"])
def test_a_set_has_a_whole_number_of_rows_and_no_more_than_may_be_independent(k: str) -> None:
    with refused("independent_share(...) needs a number of rows in 0..2."):
        independent_share(PLANE, Fraction(k))


def test_a_set_of_one_long_row_is_foreseen() -> None:
    """One set, (1 + 1)³ products of 6000 bits, 1 + 6000² / 600,000 each; and a pass of 50."""
    with counted() as bill:
        assert independent_share(rows((2**5999,)), ONE) == 1
    assert bill.sums["work"] == 8 * 61 + 50


def test_hyperplanes_of_no_more_than_fifty_dimensions_are_foreseen() -> None:
    """52 vectors on a line have 51 dependencies, and 4 · 52^50 is far too much."""
    dual = {"method": "dual", "prime": "5"}
    given = {"vectors": [["1"]] * 52, "rank": 1, "lower": dual, "upper": {"method": "size"}}
    told = f"The hyperplanes brings the work to {4 * 52**50:.1e} units"
    with refused(told):
        asked("kruskal-rank", **given)


# --- ranks of a softmax -------------------------------------------------------------------------


def test_the_rank_is_taken_at_one_more_than_a_factorial() -> None:
    """Minors of order 2 have coefficients of at most 2! in all, so z = 3 decides about them."""
    lower = {"prime": "1000003", "rows": [0], "columns": [0], "point": "2"}
    given = {"logits": [["0", "1"], ["1", "2"]], "unit": "1", "rank": 1, "lower": lower}
    verdict = asked("softmax-rank", **given, upper={"method": "specialisation"})
    assert verdict.holds
    assert verdict.steps[-1] == "rank <= 1: the exact rank at z = 3 is 1"


def test_a_singular_softmax_is_decided_above_its_minors(monkeypatch: pytest.MonkeyPatch) -> None:
    """With three rows, two of them equal, minors have coefficients of at most 3! = 6."""
    at: list[int] = []

    def seen(exponents: Any, z: int) -> int:
        at.append(z)
        return rank_at(exponents, z)

    monkeypatch.setattr(softmax_rank, "rank_at", seen)
    assert softmax_rank.softmax_rank(rows((0, 0, 0), (0, 1, 3), (0, 1, 3))) == 2
    assert at == [7]


def test_powers_are_eliminated_by_their_rows() -> None:
    """Two rows of three ones: 2 · 6 for the powers; a pass of 50 for each of three columns.

    The first column has a pivot, and two products and divisions, of 3 + 2, remain.
    """
    with counted() as bill:
        assert rank_at([[0, 0, 0], [0, 0, 0]], 3) == 1
    assert bill.sums["work"] == 12 + 3 * 50 + 2 * 5


# --- refutations --------------------------------------------------------------------------------

FALSE = {"hypotheses": [], "conclusion": "1 == 2"}


def refutation(**changes: Any) -> Verdict:
    return asked(
        "refutation", **{"claim": "own/edge", "statement": FALSE, "instance": {}} | changes
    )


def test_refutations_of_both_versions() -> None:
    assert refutation().holds
    second = {"version": 2, "statement": "given n: rational; conclude n == 2"}
    assert refutation(**second, instance={"n": "1"}).holds
    assert not refutation(**second, instance={"n": "2"}).holds


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"extra": 1}, "The certificate has an unknown field 'extra'."),
        ({"statement": []}, "statement must be an object, not a list."),
        ({"statement": FALSE | {"hypotheses": 1}}, "statement.hypotheses must be a list, not 1."),
        ({"statement": FALSE | {"hypotheses": [1]}}, "A hypothesis must be a text"),
        ({"statement": FALSE | {"conclusion": 1}}, "The conclusion must be a text"),
    ],
)
def test_parts_of_a_refutation_are_named(changes: dict[str, Any], sentence: str) -> None:
    with refused(sentence):
        refutation(**changes)


def test_numbers_that_evidence_could_narrow_have_bounds_of_their_own() -> None:
    statement = {"hypotheses": [], "conclusion": "tensor_rank(T) < 1"}
    assert refutation(statement=statement, instance={"T": [[["1"]]]}).holds


def test_a_layer_needs_no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    said = listed("wong/alone\ngiven L: layer; conclude d_model(L) == 2")
    monkeypatch.setitem(STATEMENTS, "wong/alone", said["wong/alone"])
    head = {name: [["1"]] for name in ("W_Q", "W_K", "W_V", "W_O")}
    layer = {"tokens": ["a", "b"], "unit": "1", "W_E": [["1"], ["2"]], "W_U": [["1", "0"]]}
    instance = {"L": {"layer": layer | {"heads": [head]}}}
    statement = {"hypotheses": [], "conclusion": "d_model(L) == 2"}
    assert refutation(claim="wong/alone", statement=statement, instance=instance).holds


# --- divergences --------------------------------------------------------------------------------

UNITS = {n: f"0x{n:x}p-96" for n in (1, 2, 3)}


def encoder(upper: str, lower: dict[str, Any]) -> Verdict:
    """One context and one token, which every encoder predicts."""
    ends = {"upper": {"value": upper, "W": [["0"]], "E": [["0"]]}, "lower": lower}
    return asked("kl-interval", prior=["1"], table=[["1"]], d=1, **ends)


@pytest.mark.parametrize("lower", [{"blocks": []}, {"dual": [["1"]]}])
def test_a_divergence_of_zero_lies_between_zero_and_two_units(lower: dict[str, Any]) -> None:
    assert encoder("0x1p-95", lower | {"value": "0"}).holds
    assert not encoder(UNITS[1], lower | {"value": "0"}).holds
    assert not encoder("1", lower | {"value": UNITS[1]}).holds
    assert encoder("1", lower | {"value": "-1"}).holds


def test_entropies_are_rounded_against_the_bound() -> None:
    """ln 1 lies in 0..1: a gain of zero may be one unit less; a leaf is at most one unit."""
    certain, W = rows((1,)), rows((0,))
    assert x_log_x([ONE], 96) == (0, 1)
    assert gained([ONE], certain, certain, W) == -1
    assert leaf([ONE], certain, [Fraction(0)], [Fraction(0)]) == 1


def test_each_of_four_cones_has_a_leaf() -> None:
    """With mu = 0 nothing is gained, and one sum of x ln x is taken from below and from above."""
    quarters = [Fraction(1, 4)] * 4
    low, high = x_log_x(quarters, 96)
    assert low < high
    assert dual_bound([ONE], [quarters], [{"mu": ["0"]}] * 4) == low - high
    for wrong in (3, 5):
        with refused("block.nodes has "):
            dual_bound([ONE], [quarters], [{"mu": ["0"]}] * wrong)


def test_a_bisection_needs_its_leaves() -> None:
    third = [Fraction(1, 3)] * 3
    with refused("A leaf must be an object, not None."):
        dual_bound([ONE], [third], [[0, 1], [0, 1]])


def entropy(row: list[Fraction]) -> float:
    return -sum(float(x) * math.log(x) for x in row)


def test_blocks_add_up() -> None:
    """Each of three contexts likes one token of a block of three, and of its copy.

    In a block of (2, 1, 1) / 8 a leaf moves 1/32 from the token that is liked to another, in one
    context; in the other context with a share in the leaf it moves 1/32 between equals.
    """
    likes = [[Fraction(1 + (i == j), 8) for j in range(3)] for i in range(3)]
    nodes = [{"mu": ["-1/32", "1/32", "0"]}, {"mu": ["0", "0", "1/32"]}]
    e = Fraction(1, 32)
    a, b = Fraction(1, 4), Fraction(1, 8)
    moved = entropy([a - e, b + e]) - entropy([a, b])
    exchanged = entropy([b - e, b + e]) - entropy([b, b])
    gain = (moved + exchanged) / 3  # of one block, for generators that two contexts share
    assert gain > 0.001
    given = {"prior": ["1/3"] * 3, "table": [[str(x) for x in row * 2] for row in likes], "d": 1}
    upper = {"value": "2", "W": [["0"]] * 6, "E": [["0"]] * 3}
    blocks = [{"tokens": [3 * n, 3 * n + 1, 3 * n + 2], "nodes": nodes} for n in range(2)]
    for some, factor, holds in (
        (blocks, 1.99, True),
        (blocks, 2.01, False),
        (blocks[:1], 0.99, True),
        (blocks[:1], 1.01, False),
    ):
        value = Fraction(gain * factor).limit_denominator(10**6)
        lower = {"value": str(value), "blocks": some}
        assert asked("kl-interval", **given, upper=upper, lower=lower).holds is holds


def test_numbers_of_8192_bits_are_short() -> None:
    short([[Fraction(2**8192 - 1)]], "x")
    with refused("x has more than 8192 bits."):
        short([[Fraction(2**8192)]], "x")


@pytest.mark.parametrize("q", [("-1/2", "3/2"), ("1/2", "1/4"), ("-1/2", "1/2")])
def test_dual_distributions_are_distributions(q: tuple[str, str]) -> None:
    half = Matrix([(Fraction(1, 2), Fraction(1, 2))])
    Q = Matrix([(Fraction(q[0]), Fraction(q[1]))])
    with refused("lower.dual must have probabilities that sum to one."):
        gained([ONE], half, Q, rows((0,), (0,)))
