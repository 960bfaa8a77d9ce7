"""Every word of the language of statements, on instances small enough to work out by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest
from benchmarks.corpus import read

from lemmax import checker
from lemmax.checker.words import VOCABULARY

MATRIX = [["3", "3"], ["0", "2"]]
TENSOR = [[["1", "0"], ["0", "1"]], [["0", "0"], ["0", "1"]]]
FACTS = [["a", "f", "x"], ["a", "g", "y"], ["b", "f", "x"]]


def layer(score: str = "1", value: str = "2", second: int = 1) -> dict[str, Any]:
    """Tokens a, f, x, embedded as (1, 0), (0, 1), (1, 1); two heads, of widths 1 and ``second``."""
    one = {
        "W_Q": [[score], ["0"]],
        "W_K": [["1", "0"]],
        "W_V": [[value], ["0"]],
        "W_O": [["0", "1"]],
    }
    two = {
        "W_Q": [["0"] * second] * 2,
        "W_K": [["1", "1"]] * second,
        "W_V": [[value] * second] * 2,
        "W_O": [["1", "0"]] * second,
    }
    return {
        "tokens": ["a", "f", "x"],
        "unit": "1",
        "W_E": [["1", "0"], ["0", "1"], ["1", "1"]],
        "W_U": [["1", "0", value], ["0", "1", "0"]],
        "heads": [one, two],
    }


TRANSFORMER = {"transformer": {"layer": layer(), "pos": [["0", "0"], ["1", "2"]]}}
CONTEXTS = {
    "contexts": [[["1", "0"], ["0", "1"]]],
    "context_of": [0, 0],
    "queries": [["0", "0"], ["1", "0"]],
    "heads": [{"W_K": [["1"], ["0"]], "W_Q": [["1"], ["0"]]}],
    "scale": "1",
}
PRIOR = {"prior": ["1/2", "1/2", "0"], "table": [["1", "0"], ["1/2", "1/2"], ["0", "1"]]}
GIVEN: dict[str, tuple[str, Any]] = {
    "x": ("rational", "2"),
    "t": ("rational", "1/2"),
    "M": ("matrix", MATRIX),
    "T": ("tensor", TENSOR),
    "J": ("integers", [3, 5, 3]),
    "D": ("database", {"facts": FACTS}),
    "E": ("database", {"facts": [["c", "h", "z"], ["c", "i", "w"], ["d", "h", "z"]]}),
    "G": ("database", {"facts": [["c", "h", "z"], ["c", "i", "z"], ["d", "h", "w"]]}),
    "S": ("database", {"facts": [["a", "f", "x"], ["f", "a", "x"]]}),
    "A": ("database", {"facts": [["a", "f", "x"]]}),
    "L": ("layer", {"layer": layer()}),
    "K": ("layer", {"layer": layer("0", "1")}),
    "N": ("layer", {"layer": layer("5", "4")}),
    "W": ("layer", {"layer": layer("1", "2", 2)}),
    "Z": ("layer", {"layer": layer() | {"W_U": [["2", "0", "4"], ["0", "2", "0"]]}}),
    "R": ("transformer", TRANSFORMER),
    "U": ("transformer", {"transformer": {"layer": layer("1", "2", 2), "pos": [["0", "0"]]}}),
    "q": ("sequences", {"sequences": [[0, 1], [2, 1], [2, 2]]}),
    "c": ("sequences", {"sequences": [[1, 1], [2, 2]]}),
    "s": ("associations", {"associations": [[[0, 1], 0], [[2, 2], 1]]}),
    "k": ("associations", {"associations": [[[0, 1], 2], [[2, 2], 2]]}),
    "p": ("distribution", {"distribution": PRIOR}),
    "C": ("contexts", {"multi-head": CONTEXTS}),
}

NUMBERS = {  # what a term is worth
    "least_distance2(M)": 10,  # 3^2 + 1^2
    "max_count(M)": 2,
    "reaching(M, 3)": 1,
    "reaching(M, 4)": 2,
    "positive_entries(M)": 3,
    "rows(row(M, 1))": 1,
    "max_entry(row(M, 1))": 2,
    "max_entry(scale(M, x))": 6,
    "max_entry(plus(M, M))": 6,
    "min_entry(diagonal(M))": 2,
    "columns(diagonal(M))": 2,
    "max_slice_rank(T)": 2,
    "max_slice_rank(without(T, 0, 0))": 1,
    "max_slice_rank(without(T, 0, 1))": 2,
    "spanning_tree(T, 0)": 2,  # 0, then E_22, then E_22 + E_11
    "spanning_tree(join(T, T), 0)": 2,
    "flattening_rank(join(T, scale(T, x)), 0)": 2,
    "flattening_rank(plus(T, scale(T, -1)), 0)": 0,
    "largest(J)": 5,
    "item(J, 1)": 5,
    "item(J, 2)": 3,
    "largest(range(x + 1))": 2,
    "item(value_counts(D, 0), 0)": 2,
    "item(value_counts(D, 0), 1)": 1,
    "item(value_counts(D, 1), 0)": 1,
    "rank(domain(D))": 2,
    "head_parameters(L)": 16,  # two heads with four maps of two entries each
    "head_parameters(W)": 24,
    "max_entry(embedding(L))": 1,
    "rank(embedding(L))": 2,
    "entry(block(EU(L), L, A), 0, 0)": 0,  # f at x: (0, 1) times (2, 0)
    "parameters(R)": 2 * (2 + 3 + 3) + 16,
    "parameters(U)": 2 * (1 + 3 + 3) + 24,
    "least_value_rank(R)": 1,
    "d_h(R)": 1,
    "d_h(U)": 2,
    "last_tokens(q)": 2,
    "last_tokens(c)": 2,
    "last_tokens(s)": 2,
    "max_entry(last_embeddings(R, q))": 3,  # (0, 1) + (1, 2) and (1, 1) + (1, 2)
    "min_entry(last_embeddings(R, q))": 1,
    "support(p)": 2,
    "largest_support(p)": 2,
    "token_span(C)": 2,
    "difference_span(C)": 1,
    "feature_ceiling(C)": 2,
    "feature_rank_lower(C)": 2,  # shares (1/2, 1/2) and (e, 1)/(e + 1)
}
TRUTHS = {
    "equal(above(M, t), B)": ([["0", "0"], ["0", "1"]], True),  # one half is not above one half
    "equal(threshold(M, t), B)": ([["1", "1"], ["0", "1"]], True),
    "equal(domain(D), B)": ([["1", "1"], ["1", "0"]], True),
    "equal(diagonal(M), B)": ([["3", "2"]], True),
    "equal(last_embeddings(R, q), B)": ([["1", "3"], ["1", "3"], ["2", "3"]], True),
    "log(x) > 69 / 100": (None, True),
    "log(x) > 70 / 100": (None, False),
    "log(x) < 70 / 100": (None, True),
    "1 / log(x) > 144 / 100": (None, True),  # 1 / ln 2 is 1.4427
    "1 / log(x) < 144 / 100": (None, False),
    "x / log(x) > 288 / 100": (None, True),
    "x / 4 == t": (None, True),
    "even(x)": (None, True),
    "even(x + 1)": (None, False),
    "even(t)": (None, False),
    "distinct(J)": (None, False),
    "distinct(range(x))": (None, True),
    "total(D)": (None, False),
    "total(A)": (None, True),
    "isomorphic(D, E)": (None, True),
    "isomorphic(D, G)": (None, False),
    "isomorphic(S, swap(S))": (None, True),
    "isomorphic(D, swap(D))": (None, False),  # x is the value of one query, and of two keys
    "isomorphic(swap(D), swap(E))": (None, True),
    "uniform_heads(L)": (None, True),
    "uniform_heads(W)": (None, False),
    "uniform_heads(R)": (None, True),
    "uniform_heads(U)": (None, False),
    "zero_scores(L)": (None, False),
    "zero_scores(K)": (None, True),
    "same_scores(L, W)": (None, True),  # the second head scores nothing, wide or not
    "same_scores(L, K)": (None, False),
    "combines(L, K, K, 1)": (None, False),  # W_U has the value once and ones beside it
    "combines(L, L, N, 0)": (None, True),
    "combines(N, L, L, 1)": (None, False),
    "combines(Z, L, L, 1)": (None, True),  # W_U is doubled, and nothing else
    "combines(Z, L, L, 2)": (None, False),
    "constant(q)": (None, False),
    "constant(c)": (None, True),
    "memorizes_associations(R, s)": (None, False),
    "memorizes_associations(R, k)": (
        None,
        True,
    ),  # residuals (6, 5) and (9, at most 7); twice the first
    "full_support(p)": (None, False),
}


def witness(conclusion: str, **more: tuple[str, Any]) -> dict[str, Any]:
    """A certificate that a statement about the instances above is true of them."""
    known = GIVEN | more
    names = [name for name in re.findall(r"\b[A-Za-z]\b", conclusion) if name in known]
    given = {name: known[name] for name in dict.fromkeys(names)}
    listed = ", ".join(f"{name}: {sort}" for name, (sort, _) in given.items())
    return {
        "format": "lemmax-certificate",
        "version": 2,
        "kind": "witness",
        "claim": "example/words",
        "statement": f"given {listed}; conclude {conclusion}",
        "instance": {name: value for name, (_, value) in given.items()},
    }


@pytest.mark.parametrize("term", NUMBERS)
def test_a_word_that_counts(term: str) -> None:
    for value in range(max(0, NUMBERS[term] - 2), NUMBERS[term] + 3):
        verdict = checker.check(witness(f"{term} == {value}"))
        assert verdict.holds is (value == NUMBERS[term]), (value, verdict.steps)


@pytest.mark.parametrize("statement", TRUTHS)
def test_a_word_that_is_true_or_false(statement: str) -> None:
    matrix, truth = TRUTHS[statement]
    more = {} if matrix is None else {"B": ("matrix", matrix)}
    assert checker.check(witness(f"indicator({statement}) == 1", **more)).holds is truth
    assert checker.check(witness(f"indicator({statement}) == 0", **more)).holds is not truth
    if matrix is not None:
        other = [["7", *matrix[0][1:]], *matrix[1:]]
        assert not checker.check(witness(statement, B=("matrix", other))).holds


@pytest.mark.parametrize("term", ["1 / (x - 2)", "1 / log(x - 1)", "log(x) / (t - 1/2)"])
def test_nothing_is_divided_by_what_may_be_zero(term: str) -> None:
    with pytest.raises(checker.NotACertificate, match="divides by"):
        checker.check(witness(f"{term} > 0"))


def test_evidence_about_features_is_about_the_same_contexts() -> None:
    """A certified rank bounds the word, for these contexts and for no others."""
    ranks = [
        {k: v for k, v in row["certificate"].items() if k not in ("format", "version", "note")}
        for row in read()
        if row["about"][:1] == ["multi-head"]
        and row["said"][0] == "holds"
        and row["certificate"]["assertion"]["type"] == "feature-rank"
    ]
    assert ranks
    for data in ranks[:20]:
        subject = {k: v for k, v in data.items() if k not in ("kind", "assertion")}
        low, high = (data["assertion"][end]["bound"] for end in ("lower", "upper"))
        given = {"C": ("contexts", {"multi-head": subject})}
        shown = witness(f"{low} <= feature_rank(C) <= {high}", **given) | {"evidence": [data]}
        assert checker.check(shown).holds
        assert not checker.check(
            witness(f"feature_rank(C) > {high}", **given) | {"evidence": [data]}
        ).holds
        other = {"C": ("contexts", {"multi-head": CONTEXTS})}
        idle = witness("feature_rank(C) >= 0", **other) | {"evidence": [data]}
        assert "about no argument" in checker.check(idle).steps[-1]


def test_every_word_is_tried() -> None:
    tried = " ".join((*NUMBERS, *TRUTHS))
    for row in read():
        if row["said"][0] != "refused":
            tried += str(row["certificate"].get("statement", ""))
    assert set(VOCABULARY) <= set(re.findall(r"\w+", tried))
