"""The edges of what is said about heads on contexts and queries."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lemmax.checker import NotACertificate
from lemmax.checker.contexts import MultiHead, multi_head, rows_mod
from lemmax.checker.language.evidence import Evidence
from lemmax.checker.language.reals import Interval
from lemmax.checker.limits import BeyondLimits
from lemmax.checker.words import contexts

SECOND = {"W_K": [["0"], ["1"]], "W_Q": [["1"]]}  # the logits are the second coordinates


def heads(tokens: list[Any], of: list[int], scale: str = "1", **head: Any) -> MultiHead:
    """One head, and queries that are 1."""
    data = {
        "contexts": [[[str(x) for x in token] for token in part] for part in tokens],
        "context_of": of,
        "queries": [["1"]] * len(of),
        "scale": scale,
        "heads": [SECOND | head],
    }
    return multi_head(data, "C")


def refusal(sentence: str) -> Any:
    return pytest.raises(NotACertificate, match=f"^{re.escape(sentence)}$")


def ends(bounds: Any) -> tuple[Any, Any]:
    return (bounds.low, bounds.high) if isinstance(bounds, Interval) else (bounds, bounds)


# --- heads --------------------------------------------------------------------------------------


def test_values_have_a_row_for_each_coordinate_of_a_token() -> None:
    context = [[(1, 0), (0, 1)]]
    found: Any = heads(context, [0], V=[["1"], ["2"]]).heads[0][2]
    assert found == ((1,), (2,))
    for rows in ([["1"]], [["1"], ["2"], ["3"]]):
        with refusal(f"V must have 2 rows, not {len(rows)}."):
            heads(context, [0], V=rows)


def test_features_are_shares_of_tokens_whether_or_not_there_are_values() -> None:
    """Shares 2/3 and 1/3, which are 3 and 5 mod 7, of (1, 1) and (4, 0): (3 + 5 * 4, 3)."""
    context = [[(1, 1), (4, 0)]]
    for A in (heads(context, [0]), heads(context, [0], V=[["1"], ["2"]])):
        assert rows_mod(A, 7, 2) == [[23 % 7, 3]]


def test_in_unit_ln2_logits_are_integers() -> None:
    """In unit 1 halves are powers of the root of e, which is as transcendental as e."""
    context, half = [[(1, 1), (4, 0)]], [["0"], ["1/2"]]
    for known in (heads(context, [0], "ln2"), heads(context, [0], W_K=half)):
        assert rows_mod(known, 7, 2) == [[2, 3]]
    with refusal("The logits must be integers in unit ln2."):
        rows_mod(heads(context, [0], "ln2", W_K=half), 7, 2)


def test_a_sum_of_powers_may_vanish_mod_the_prime() -> None:
    """1 + 2 = 0 mod 3."""
    with refusal("lower names a prime that divides a softmax denominator."):
        rows_mod(heads([[(1, 1), (4, 0)]], [0]), 3, 2)


# --- the words ----------------------------------------------------------------------------------

UNITS = [[(1, 0), (0, 1)], [(2, 0), (0, 2)], [(1, 0), (0, 1)]]  # the third is the first


def test_examples_of_equal_contexts_are_one_group() -> None:
    A = heads(UNITS, [0, 1, 2, 2, 0])
    first, second, _ = A.contexts
    assert contexts.groups(A) == [(first, 4), (second, 1)]
    assert contexts.groups(heads(UNITS, [2, 2])) == [(first, 2)]


def test_groups_are_charged_for_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    """The five examples are counted each time, and 20 is for a token of each context before."""
    charged: list[Any] = []
    monkeypatch.setattr(contexts, "spend", lambda *asked: charged.append(asked))
    contexts.groups(heads(UNITS, [0, 1, 2, 2, 0]))
    before = 0, 1, 2
    assert charged == [("The contexts", 5 + 20 * n * 2) for n in before]


def test_unions_of_few_groups_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the 2^2 subsets costs at least a hundred."""
    A, foreseen = heads(UNITS, [0, 1, 2, 2, 0]), []
    monkeypatch.setattr(contexts, "foresee", lambda *asked: foreseen.append(asked))
    monkeypatch.setattr(contexts, "_GROUPS", 2)
    assert contexts.feature_ceiling(A) == 2  # all tokens span two dimensions
    assert foreseen == [("feature_ceiling(...)", 400)]
    monkeypatch.setattr(contexts, "_GROUPS", 1)
    said = re.escape("feature_ceiling(...) looks at all sets of at most 1 contexts.")
    with pytest.raises(BeyondLimits, match=f"^{said}$"):
        contexts.feature_ceiling(A)


def test_the_ceiling_asks_each_set_of_contexts_that_is_not_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def spans(chosen: list[Any]) -> tuple[int, int]:
        asked.append(len(chosen))
        return 0, 0

    monkeypatch.setattr(contexts, "spans", spans)
    assert contexts.feature_ceiling(heads(UNITS, [0, 1, 2])) == 0
    assert asked == [1, 1, 2]


def test_the_ceiling_bounds_the_feature_rank_where_groups_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two examples of two coordinates, and tokens on a line."""
    A = heads([[(1, 1), (2, 2)]], [0, 0])
    for most, high in ((2, 1), (1, 1), (0, 2)):
        monkeypatch.setattr(contexts, "_GROUPS", most)
        assert ends(contexts.feature_rank(A, Evidence())) == (1, high)


def vanishing(z: int, scale: str) -> MultiHead:
    """Features (z - c, z) / (z + 1) and (0, 1): dependent at the point, and nowhere else."""
    return heads([[(1, 1), (-z, 0)], [(0, 1), (0, 1)]], [0, 1], scale)


@pytest.mark.parametrize("z", [1, 2, 3, 10, 3 * 37, 4**37, 3**38])
def test_features_that_are_dependent_at_a_rational_point_are_independent(z: int) -> None:
    """The scale is transcendental."""
    A = vanishing(z, "1")
    assert contexts.feature_rank_lower(A) == 2
    assert ends(contexts.feature_rank(A, Evidence())) == (2, 2)


def test_in_unit_ln2_features_are_those_at_two() -> None:
    for point in (2, 3, 3**37):
        low, high = ends(contexts.feature_rank(vanishing(point, "ln2"), Evidence()))
        assert (low, high) == ((1, 2) if point == 2 else (2, 2))
    with refusal("feature_rank_lower needs a transcendental scale."):
        contexts.feature_rank_lower(vanishing(2, "ln2"))


@pytest.mark.parametrize("scale", ["1/sqrt(2)", "1"])
def test_other_scales_are_transcendental(scale: str) -> None:
    assert contexts.feature_rank_lower(vanishing(2, scale)) == 2
