"""Symmetries: what no word sees, and that one of all that are alike is listed."""

import itertools
import json
import random
from fractions import Fraction
from typing import Any

import pytest

from lemmax.theory.hunting import size_of
from lemmax.theory.hunting.draws import Draw
from lemmax.theory.hunting.enumeration import _skeletons, instances
from lemmax.theory.hunting.question import Question
from lemmax.theory.hunting.symmetry import symmetries
from lemmax.theory.ledger.statements import statement_of

SUMS = """given T: tensor;
conclude largest(slice_ranks(T, 1)) <= tensor_rank(T) <= sum(slice_ranks(T, 0))"""
TOKENS = "given a: associations; conclude last_tokens(a) <= 1 or constant(sequences(a))"


def moved(value: Any, how: str, source: random.Random) -> Any:
    """What the symmetry makes of a matrix, a tensor, or associations."""
    if how == "names":
        (tag,) = value
        pairs = value[tag] if tag == "associations" else [[t, 0] for t in value[tag]]
        rename, other = (source.sample(range(9), 9) for _ in range(2))
        new = [[[rename[i] for i in t], other[g]] for t, g in source.sample(pairs, len(pairs))]
        return {tag: new if tag == "associations" else [t for t, _ in new]}
    if how == "slices":
        return source.sample(value, len(value))
    if isinstance(value[0][0], list):
        slices = source.sample(value, len(value))
        down = source.sample(range(len(value[0])), len(value[0]))
        across = source.sample(range(len(value[0][0])), len(value[0][0]))
        return [[[M[i][j] for j in across] for i in down] for M in slices]
    rows = source.sample(value, len(value))
    columns = source.sample(range(len(rows[0])), len(rows[0]))
    return [[row[j] for j in columns] for row in rows]


@pytest.mark.parametrize(
    ("text", "name", "how"),
    [
        (statement_of("lemmax/argmax-rank-one-sharp"), "M", "lines"),
        (statement_of("lemmax/gram-softmax-full-rank"), "P", "lines"),
        (statement_of("lemmax/threshold-monotone-matrices"), "M", "lines"),
        (statement_of("wong/precision"), "M", "lines"),
        (statement_of("wong/proposition-3.6-proof"), "P", "lines"),
        (statement_of("lemmax/spanning-tree-bound"), "T", "lines"),
        (SUMS, "T", "lines"),
        (statement_of("lemmax/span-of-rank-ones"), "T", "slices"),
        (statement_of("dana/lemma-2-increment"), "F", "slices"),
        (statement_of("dana/headline"), "a", "names"),
        (statement_of("dana/comparison-mahdavi-memorization"), "a", "names"),
        (TOKENS, "a", "names"),
    ],
)
def test_what_is_moved_gets_the_same_answer(text: str, name: str, how: str) -> None:
    """Why one of all that are alike is enough."""
    asked, source = Question(text), random.Random(3)
    assert symmetries(asked)[name] == how
    draw, told = Draw(asked, 7), []
    for _ in range(60):
        instance = draw.instance()
        other = {**instance, name: moved(instance[name], how, source)}
        told.append(asked.ask(instance))
        assert asked.ask(other) == told[-1], instance
    assert {t.answer for t in told} & {"holds", "breaks"}


@pytest.mark.parametrize(
    "text",
    [
        "given M: matrix; conclude entry(M, 0, 0) <= 9",
        "given T: tensor; conclude item(slice_ranks(T, 0), 0) <= 1",
        "given T: tensor; let r = slice_ranks(T, 0); conclude equal(r, r)",
        "given T: tensor, S: tensor; conclude tensor_rank(plus(T, S)) <= 3",
        "given T: tensor, D: database; conclude represents(T, D)",
        "given a: associations, T: transformer; conclude memorized(T, a) <= 3",
    ],
)
def test_what_is_seen_does_not_move(text: str) -> None:
    assert not symmetries(Question(text))


def _alike(cube: list[list[list[str]]], how: str) -> set[str]:
    """All that a symmetry makes of a tensor."""
    sides = [len(cube), len(cube[0]), len(cube[0][0])]
    axes = [list(itertools.permutations(range(side))) for side in sides]
    if how == "slices":
        axes[1:] = [[tuple(range(side))] for side in sides[1:]]
    return {
        json.dumps([[[cube[s][i][j] for j in columns] for i in rows] for s in slices])
        for slices, rows, columns in itertools.product(*axes)
    }


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("given T: tensor; conclude tensor_rank(T) <= 9", "lines"),
        ("given T: tensor; conclude tensor_rank(join(T, T)) <= 9", "slices"),
    ],
)
def test_every_tensor_is_alike_one_that_is_listed(text: str, how: str) -> None:
    seen, unseen = (
        Question("given T: tensor; conclude tensor_rank(plus(T, T)) <= 9"),
        Question(text),
    )
    assert not symmetries(seen)
    assert symmetries(unseen) == {"T": how}
    for size in range(1, 8):
        every = [i["T"] for i in instances(seen, size)]
        few = {json.dumps(i["T"]) for i in instances(unseen, size)}
        assert all(_alike(cube, how) & few for cube in every)
        assert few <= {json.dumps(cube) for cube in every}
        assert len(few) < len(every) or size < 3


def _patterns(pairs: list[Any]) -> tuple[Any, ...]:
    """What no renaming and no order changes: the least way to name the tokens of associations."""

    def named(order: Any) -> tuple[Any, ...]:
        names: dict[int, int] = {}
        goals: dict[int, int] = {}
        return tuple(
            (tuple(names.setdefault(i, len(names)) for i in t), goals.setdefault(g, len(goals)))
            for t, g in order
        )

    return min(map(named, itertools.permutations(pairs)))


def test_associations_are_listed_once_with_the_smallest_names() -> None:
    """Up to each size the same patterns are met as without symmetry, by far fewer instances."""
    unseen = Question("given a: associations; conclude count(a) <= 9")
    assert symmetries(unseen) == {"a": "names"}
    brute: set[Any] = set()
    met: set[Any] = set()
    every = few = 0
    for size in range(1, 10):
        listed = [i["a"]["associations"] for i in instances(unseen, size)]
        assert all(size_of({"associations": pairs}) == size for pairs in listed)
        met |= {_patterns(pairs) for pairs in listed}
        few += len(listed)
        filled = [x for s in _skeletons("associations", size) for x in s.filled(None)]
        brute |= {_patterns(x["associations"]) for x in filled}
        every += len(filled)
        assert met == brute
    assert few * 5 < every


def test_a_renamed_catch_is_no_smaller() -> None:
    """The shipped counterexample of size 14 is still the first."""
    asked = Question(statement_of("dana/corollary-2"))
    below = [i for size in range(1, 15) for i in instances(asked, size)]
    caught = [i for i in below if asked.ask(i).answer == "breaks"]
    assert {size_of(i) for i in caught} == {14}
    assert all(Fraction(i["H"]) == 0 for i in caught)
