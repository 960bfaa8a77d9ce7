"""The edges of rules of the checker: what is just allowed, and what is just not.

Each of them is where a mutant of the checker would have accepted something false, or would have
ended in a traceback, and no fast test had noticed it (`benchmarks/mutants`).
"""

from __future__ import annotations

import itertools
import json
import math
import random
import struct
from array import array as stored
from fractions import Fraction
from typing import Any

import pytest

from lemmax.checker import NotACertificate, check, reading
from lemmax.checker.bounds import spans
from lemmax.checker.coded import arrays
from lemmax.checker.kinds.float_memorization import tokens
from lemmax.checker.language.sorts import Facts
from lemmax.checker.limits import LIMITS
from lemmax.checker.models.network import Arrays, Network
from lemmax.checker.polynomials import multiply, roots_of
from lemmax.checker.reading import Matrix, Tensor
from lemmax.checker.words import databases, matrices, scalars, tensors

PRIME = "1000003"
JORDAN = [[[1, 0], [0, 1]], [[0, 1], [0, 0]]]  # det (z_0 I + z_1 N) = z_0²: its rank is 3


def square(**changes: Any) -> dict[str, Any]:
    step = {"mode": 0, "prime": PRIME, "form": ["1", "0"], "minors": [[0, 1, 0, 1]]}
    return step | {"weights": ["1"]} | changes


def test_a_square_of_a_form_gives_one_more_than_the_slices() -> None:
    bound, rest, _ = spans.by_square(square(), JORDAN, "Q", "step")
    assert (bound, rest) == (3, JORDAN)


@pytest.mark.parametrize(
    "changes",
    [
        {"form": ["0", "1"]},
        {"form": ["1", "1"]},
        {"form": ["0", "0"], "weights": ["0"]},
        {"weights": ["2"]},
        {"weights": ["-1"]},
        {"weights": ["1/2"]},
        {"minors": [[0, 1, 1, 0]]},
        {"minors": [[0, 1, 0, 1], [0, 1, 0, 1]], "weights": ["1", "1"]},
    ],
)
def test_what_is_not_the_square_bounds_nothing(changes: dict[str, Any]) -> None:
    assert spans.by_square(square(**changes), JORDAN, "Q", "step")[0] < 0


def test_squares_of_dependent_slices_bound_nothing() -> None:
    twice = [JORDAN[0], JORDAN[0]]  # of rank 2; the minor is (z_0 + z_1)²
    assert spans.by_square(square(form=["1", "1"]), twice, "Q", "step")[0] < 0


def test_weights_that_cancel_are_one_square() -> None:
    step = square(minors=[[0, 1, 0, 1], [0, 1, 1, 0]], weights=["1/2", "-1/2"])
    assert spans.by_square(step, JORDAN, "Q", "step")[0] == 3


@pytest.mark.parametrize(("weights", "holds"), [(("0", "0"), False), (("1", "0"), True)])
def test_a_tie_of_logits_holds_no_fact(weights: tuple[str, str], holds: bool) -> None:
    said = {"type": "holds", "weights": [[x] for x in weights]}
    fields = {"features": [["1"]], "labels": [0], "classes": 2, "assertion": said}
    verdict = check({"format": "lemmax-certificate", "version": 1, "kind": "readout", **fields})
    assert verdict.holds is holds


@pytest.mark.parametrize("said", ["rank(M)(M) == 1", "rank(M, M=M) == 1", "(rank)(M)(M) == 1"])
def test_only_words_are_called(said: str) -> None:
    statement = {"hypotheses": [], "conclusion": said}
    fields = {"claim": "own/edge", "statement": statement, "instance": {"M": [["1"]]}}
    with pytest.raises(NotACertificate, match="not in the language"):
        check({"format": "lemmax-certificate", "version": 1, "kind": "refutation", **fields})


def test_a_part_of_a_table_is_not_the_table() -> None:
    """As many keys, queries and values, and every fact of D in E."""
    D = Facts([("a", "x", "v"), ("b", "y", "w")])
    E = Facts([("a", "x", "v"), ("b", "y", "w"), ("a", "y", "v")])
    for same in (databases.isomorphic, databases.same_table):
        assert same(D, D)
        assert not same(D, E)
        assert not same(E, D)


@pytest.mark.parametrize("number", [-1, 0, 1, 2])
def test_log_odds_are_of_what_lies_between(number: int) -> None:
    with pytest.raises(NotACertificate, match="between 0 and 1"):
        scalars.log_odds(Fraction(number))


@pytest.mark.parametrize("tau", [Fraction(0), Fraction(-1, 2), Fraction(3, 2)])
def test_thresholds_are_positive_and_at_most_one(tau: Fraction) -> None:
    with pytest.raises(NotACertificate, match="must lie in"):
        matrices.threshold(Matrix([(Fraction(0), Fraction(1))]), tau)
    assert [list(row) for row in matrices.threshold(Matrix([(Fraction(0),)]), Fraction(1))] == [[1]]


def array(shape: list[int], place: list[int], content: bytes) -> bytes:
    entry = {"dtype": "F32", "shape": shape, "data_offsets": place}
    header = json.dumps({"a": entry}).encode()
    return struct.pack("<Q", len(header)) + header + content


def test_arrays_lie_in_the_file() -> None:
    content = struct.pack("<2f", 1.0, 2.0)
    assert arrays._parsed(array([2], [0, 8], content), "a")["a"].shape == (2,)
    for place in ([4, 12], [8, 16], [0, 12], [1, 8]):
        with pytest.raises(NotACertificate, match="does not fit its shape"):
            arrays._parsed(array([2], place, content), "a")


def polynomial(roots: list[int], circles: list[int], lead: int) -> list[Fraction]:
    """lead · Π (x - r) · Π (x² + c), the lowest coefficient first."""
    f = [Fraction(lead)]
    for r in roots:
        f = multiply(f, [Fraction(-r), Fraction(1)])
    for c in circles:
        f = multiply(f, [Fraction(c), Fraction(0), Fraction(1)])
    return f


def test_sturm_counts_planted_roots() -> None:
    rng = random.Random(5)
    for real, circled, lead in itertools.product(range(4), range(3), (-3, 1, 2)):
        if real + circled:
            roots = [rng.randint(-3, 3) for _ in range(real)]
            circles = [rng.randint(1, 3) for _ in range(circled)]
            distinct = len(set(roots)), len(set(roots)) + 2 * len(set(circles))
            assert roots_of(polynomial(roots, circles, lead)) == distinct


def test_a_tree_of_slices_is_charged_for_differences() -> None:
    """Slices S, S and S + one entry: rank 2, then 0, then 1; a multiple of S is no neighbour."""

    def cube(*slices: list[list[int]]) -> Tensor:
        return Tensor(Matrix(tuple(map(Fraction, row)) for row in part) for part in slices)

    S, more = [[1, 0], [0, 1]], [[1, 1], [0, 1]]
    assert tensors.spanning_tree(cube(S, S, more), Fraction(0)) == 3
    assert tensors.spanning_tree(cube(S, [[-1, 0], [0, -1]]), Fraction(0)) == 4
    assert tensors.spanning_tree(cube(S, [[2, 0], [0, 2]]), Fraction(0)) == 4


@pytest.mark.parametrize(
    ("kind", "statement", "version"),
    [
        ("witness", "conclude 1 == 1", 1),
        ("refutation", "conclude 1 == 2", 1),
        ("refutation", {"hypotheses": [], "conclusion": "1 == 2"}, 2),
    ],
)
def test_a_statement_has_the_version_of_its_form(kind: str, statement: Any, version: int) -> None:
    fields = {"claim": "own/edge", "statement": statement, "instance": {}}
    with pytest.raises(NotACertificate, match=f"version must be {3 - version}"):
        check({"format": "lemmax-certificate", "version": version, "kind": kind, **fields})


# The smallest strong pseudoprimes to the first k primes, for k = 1 .. 12 (Jaeschke; Zhang;
# Sorenson and Webster): each is told apart only by a later base.
PSEUDOPRIMES = [
    2047, 1373653, 25326001, 3215031751, 2152302898747, 3474749660383, 341550071728321,
    3825123056546413051, 318665857834031151167461,
]  # fmt: skip


def test_strong_pseudoprimes_are_no_primes() -> None:
    for number in (0, 1, 4, 9, 41 * 43, 2**61 + 1, *PSEUDOPRIMES):
        with pytest.raises(NotACertificate, match="prime"):
            reading.prime(str(number), "p")
    for number in (2, 3, 41, 43, 1_000_003, 2**61 - 1):
        assert reading.prime(str(number), "p") == number


def test_screens_have_edges() -> None:
    """What is just allowed passes; one more level, or one unit, is refused in a sentence."""
    deep: Any = []
    for _ in range(LIMITS["nesting"] - 1):
        deep = [deep]
    reading.screen(deep)
    reading.screen(2**53 - 1)
    for wrong in ([[deep]], 2**53, -(2**53), 0.5):
        with pytest.raises(NotACertificate):
            reading.screen(wrong)


# --- names of tokens, and prompts ---------------------------------------------------------------


def tokens_of(text: bytes, kind: str = "U8") -> arrays.Table:
    return arrays.Table(kind, (len(text),), stored("B", text))


def test_tokens_are_distinct_nonempty_strings() -> None:
    tokens(tokens_of(b'["a", "b"]'), 2)
    for text, why in {
        b'["a"]': "a list of 2 names",
        b'["a", "b", "c"]': "a list of 2 names",
        b'{"a": 1, "b": 2}': "a list of 2 names",
        b'"ab"': "a list of 2 names",
        b'["a", 1]': "distinct nonempty strings",
        b'["a", ""]': "distinct nonempty strings",
        b'["a", "a"]': "distinct nonempty strings",
        b'["a"': "a JSON list of strings",
    }.items():
        with pytest.raises(NotACertificate, match=f"^tokens must be {why}.$"):
            tokens(tokens_of(text), 2)
    with pytest.raises(NotACertificate, match="a list of 2 names"):
        tokens(tokens_of(b'["a", "b"]', "I32"), 2)


@pytest.mark.parametrize(("positions", "length"), [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3)])
def test_a_prompt_has_a_place_for_each_token(positions: int, length: int) -> None:
    """In two dimensions, so that there are more entries than places."""
    ones = {"W_E": (2, 2), "W_U": (2, 2), "W_pos": (positions, 2)}
    given = {
        name: arrays.Table("F32", shape, stored("I", [0x3F80_0000] * math.prod(shape)))
        for name, shape in ones.items()
    }
    model = {"mask": "causal", "positions": "learned", "unembedding": "own", "steps": []}
    net = Network(model, Arrays(given), 32)
    if length <= positions:
        assert net.prompts([[0] * length], "facts") == [[0] * length]
        return
    told = f"^facts have a prompt of {length} tokens, more than {positions} places.$"
    with pytest.raises(NotACertificate, match=told):
        net.prompts([[0] * length], "facts")
