"""Edges of attention layers, of heads on contexts, and of readouts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from lemmax.checker import NotACertificate, Verdict, check
from lemmax.checker.attention import Forward, Residual, layer
from lemmax.checker.contexts import MultiHead, multi_head
from lemmax.checker.kinds import multi_head as rule
from lemmax.checker.limits import LIMITS

HEAD = {"format": "lemmax-certificate", "version": 1}


# --- layers -------------------------------------------------------------------------------------


def rows(m: int, n: int) -> list[list[str]]:
    return [["1"] * n for _ in range(m)]


@pytest.mark.parametrize(
    ("name", "shape", "told"),
    [
        ("W_Q", (3, 4), "W_Q must have 2 rows, not 3"),
        ("W_K", (3, 2), "W_K must have 4 rows, not 3"),
        ("W_K", (4, 3), r"W_K\[0\] must have 2 entries, not 3"),
        ("W_V", (1, 5), "W_V must have 2 rows, not 1"),
        ("W_O", (4, 2), "W_O must have 5 rows, not 4"),
        ("W_O", (5, 1), r"W_O\[0\] must have 2 entries, not 1"),
    ],
)
def test_the_matrices_of_a_head_fit_together(name: str, shape: tuple[int, int], told: str) -> None:
    """Width 2, queries and keys of width 4, values of width 5."""
    shapes = {"W_Q": (2, 4), "W_K": (4, 2), "W_V": (2, 5), "W_O": (5, 2)}
    net = {"tokens": ["a", "b", "c"], "unit": "1", "W_E": rows(3, 2), "W_U": rows(2, 3)}
    head = {part: rows(*size) for part, size in shapes.items()}
    assert len(layer(net | {"heads": [head]}, "layer").heads) == 1
    with pytest.raises(NotACertificate, match=rf"^layer\.heads\[0\]\.{told}\.$"):
        layer(net | {"heads": [head | {name: rows(*shape)}]}, "layer")


def on_a_line(embedding: list[int], unembedding: list[int], unit: str) -> Forward:
    """One head in one dimension; all of its maps are one."""
    net = {
        "tokens": [f"t{i}" for i in range(len(embedding))],
        "unit": unit,
        "W_E": [[str(x)] for x in embedding],
        "W_U": [[str(x) for x in unembedding]],
        "heads": [{name: [["1"]] for name in ("W_Q", "W_K", "W_V", "W_O")}],
    }
    return Forward(layer(net, "layer"), 1)


@pytest.mark.parametrize("score", [0, 1, 255, 256])
def test_attention_is_a_fraction_for_scores_up_to_256_in_ln2(score: int) -> None:
    """From 1 to 1 + s the score is s, and y = 1 + 1 + s 2^s / (2^s + 1)."""
    y = on_a_line([1, 1 + score], [1, 0], "ln2").residual(1, 0)
    assert y.deltas == []
    assert Fraction(y.base[0], y.denominator) == 2 + Fraction(score * 2**score, 2**score + 1)


@pytest.mark.parametrize(("score", "unit"), [(257, "ln2"), (256, "1")])
def test_other_attention_is_enclosed(score: int, unit: str) -> None:
    y = on_a_line([1, 1 + score], [1, 0], unit).residual(1, 0)
    ((s, delta),) = y.deltas
    assert s == score
    assert (y.base[0], delta[0]) == (2 * y.denominator, score * y.denominator)


@pytest.mark.parametrize(("center", "answer"), [(4, None), (5, None), (6, True), (-6, False)])
def test_a_rival_that_may_tie_is_not_beaten(
    monkeypatch: pytest.MonkeyPatch, center: int, answer: bool | None
) -> None:
    """The logits are y and 0 where all that is ever known is that y is within 5 of the center."""

    def known(self: Forward, y: Residual, bits: int) -> tuple[list[int], int, int]:
        return [center], 5, 1

    monkeypatch.setattr(Forward, "enclosure", known)
    assert on_a_line([1, 2], [1, 0], "1").strict_argmax(1, 0, 0) is answer


# --- heads on contexts --------------------------------------------------------------------------

Data = dict[str, Any]


def contexts(
    tokens: list[list[int]],
    W_K: list[list[int]] | None = None,
    V: list[list[int]] | None = None,
    queries: list[list[int]] | None = None,
    scale: str = "ln2",
) -> Data:
    """One context for all queries, one head."""

    def text(M: list[list[int]]) -> list[list[str]]:
        return [[str(x) for x in row] for row in M]

    W_K, V, queries = W_K or [[1]], V or [[1]], queries or [[1]]
    W_Q = [[int(i == j) for j in range(len(W_K[0]))] for i in range(len(queries[0]))]
    return {
        "contexts": [text(tokens)],
        "context_of": [0] * len(queries),
        "queries": text(queries),
        "scale": scale,
        "heads": [{"W_K": text(W_K), "W_Q": text(W_Q), "V": text(V)}],
    }


def ranked(data: Data, kind: str, rank: int, **lower: Any) -> Verdict:
    below = {"bound": rank, "prime": "1000003", "rows": [0], "columns": [0]} | lower
    upper: Data = {"method": "size", "bound": len(data["context_of"])}
    if kind == "feature-rank":
        upper = {"method": "contexts", "bound": 1, "contexts": [0]}
    assertion = {"type": kind, "lower": below, "upper": upper}
    return check(HEAD | {"kind": "multi-head"} | data | {"assertion": assertion})


def test_the_jacobian_has_one_output() -> None:
    """Of one token the output is that token times V: its derivative in V is 1."""
    assert ranked(contexts([[1]]), "jacobian-rank", 1, columns=[2]).holds
    with pytest.raises(NotACertificate, match=r"^The Jacobian is that of one output\.$"):
        ranked(contexts([[1]], V=[[1, 1]]), "jacobian-rank", 1, columns=[2])


def test_a_feature_in_ln2_is_taken_at_two() -> None:
    """Tokens 3 and -1 with logits 0 and 1: their mean is (3 - 2) / 3, where at three it were zero.

    Of one token the softmax is one for any prime, also for 3, in which only 2 is a point.
    """
    given = contexts([[3, 0], [-1, 1]], W_K=[[0], [1]], V=[[1], [1]])
    assert ranked(given, "feature-rank", 1).steps[0].startswith("rank >= 1")
    assert ranked(contexts([[1]]), "feature-rank", 1, prime="3").holds


@pytest.mark.parametrize(("point", "allowed"), [("1", False), ("2", True), ("3", False)])
def test_a_point_is_below_its_prime(point: str, allowed: bool) -> None:
    given = contexts([[1]], scale="1"), "feature-rank", 1
    if allowed:
        assert ranked(*given, prime="3", point=point).holds
        return
    with pytest.raises(NotACertificate, match=r"^lower must have 2 <= point < prime \(in"):
        ranked(*given, prime="3", point=point)


UNITS = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("tokens", "queries", "W_K", "bound", "told"),
    [
        # in one direction, that is δ = 1, and κ = 3, with W_K of two columns: r = δ
        ([[0, 0, 0], [1, 0, 0]], UNITS, [[1, 0]] * 3, 5, "1 * (1 * (1 + 3 - 1) + 1) + 1"),
        # δ = 3 and κ = 1: r = κ
        ([[0, 0, 0], *UNITS], [[1, 0, 0]], [[1, 0]] * 3, 7, "1 * (1 * (3 + 1 - 1) + 3) + 1"),
        # δ = κ = 3, and W_K has one column: r = 1
        ([[0, 0, 0], *UNITS], UNITS, [[1]] * 3, 9, "1 * (1 * (3 + 3 - 1) + 3) + 1"),
    ],
)
def test_a_dimension_is_that_of_matrices_of_bounded_rank(
    tokens: list[list[int]], queries: list[list[int]], W_K: list[list[int]], bound: int, told: str
) -> None:
    """δ × κ matrices of rank r have dimension r (δ + κ - r), and there are δ numbers and one."""
    A = read(contexts(tokens, W_K, [[1]] * 3, queries))
    assert rule.ceiling(A, "dimension", []) == (bound, told)


def read(data: Data) -> MultiHead:
    return multi_head(data, "The certificate")


def outputs(data: Data, label: object, error: object = 0) -> Verdict:
    assertion = {"type": "outputs", "labels": [[str(label)]], "error": str(error)}
    return check(HEAD | {"kind": "multi-head"} | data | {"assertion": assertion})


@pytest.mark.parametrize("far", [0, 1, 2, 63, LIMITS["precision bits"]])
def test_means_in_ln2_are_exact_as_far_as_the_precision_goes(far: int) -> None:
    """The logits of 0 and x are 0 and x, so that the mean is x 2^x / (2^x + 1)."""
    mean = Fraction(far * 2**far, 2**far + 1)
    verdict = outputs(contexts([[0], [far]]), mean)
    assert verdict.steps[-1] == "the outputs of all 1 examples are within 0"
    assert verdict.holds
    verdict = outputs(contexts([[0], [far]]), mean + 1)
    assert verdict.steps[-1] == "example 0: output 0 is off by more than the error"


def test_a_mean_beyond_the_precision_is_enclosed() -> None:
    far = LIMITS["precision bits"] + 1
    verdict = outputs(contexts([[0], [far]]), Fraction(far * 2**far, 2**far + 1))
    assert verdict.steps[-1] == "undecided: example 0: output 0 is too close to the error"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-1, 1, "the outputs of all 1 examples are within 1"),
        (0, 2, "undecided: example 0: output 0 is too close to the error"),
        (1, 2, "undecided: example 0: output 0 is too close to the error"),
        (2, 3, "example 0: output 0 is off by more than the error"),
        (-2, 0, "undecided: example 0: output 0 is too close to the error"),
        (-2, -1, "undecided: example 0: output 0 is too close to the error"),
        (-3, -2, "example 0: output 0 is off by more than the error"),
        (-2, 2, "undecided: example 0: output 0 is too close to the error"),
    ],
)
def test_an_output_is_off_where_all_that_it_may_be_is(
    monkeypatch: pytest.MonkeyPatch, low: int, high: int, said: str
) -> None:
    """The label is 0 and the error 1; of the output only a lower and an upper bound are known."""
    monkeypatch.setattr(rule, "averages", lambda *_: (Fraction(low), Fraction(high)))
    assert outputs(contexts([[0], [1]], scale="1"), 0, 1).steps[-1] == said


# --- readouts -----------------------------------------------------------------------------------


def test_a_label_has_a_rival() -> None:
    said = {"type": "holds", "weights": [["1"]]}
    fields = {"features": [["1"]], "labels": [0], "classes": 1, "assertion": said}
    with pytest.raises(NotACertificate, match=r"^classes must be at least 2: one label has no r"):
        check(HEAD | {"kind": "readout"} | fields)
