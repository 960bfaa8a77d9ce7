"""What all instances up to a size say: of claims that hold, and below the smallest that breaks."""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lemmax.constructions import shipped
from lemmax.theory.hunting import size_of
from lemmax.theory.hunting.enumeration import instances
from lemmax.theory.hunting.question import Question
from lemmax.theory.ledger.claims import load_claims, normalised
from lemmax.theory.ledger.statements import statement_of

pytest_plugins = ["pytester"]

LEAST = "lemmax/smallest-counterexamples"


@pytest.mark.parametrize(
    ("size", "held"),
    [
        pytest.param(size, held, id=claim, marks=pytest.mark.claim(claim))
        for claim, size, held in (
            ("lemmax/argmax-rank-one-sharp", 8, 907),
            ("lemmax/codebook", 7, 68),
            ("lemmax/gram-integers", 24, 100),
            ("lemmax/gram-softmax-full-rank", 8, 458),
            ("lemmax/spanning-tree-bound", 6, 211),
            ("lemmax/t-epsilon", 9, 82),
            ("lemmax/threshold-monotone-matrices", 12, 1166),
            ("lemmax/threshold-unique", 10, 22),
            ("wong/footnote-4", 9, 231),
            ("wong/proposition-2.1", 6, 193),
            ("wong/slice-ranks", 6, 193),
        )
    ],
)
def test_no_small_instance_breaks(none_up_to: Callable[[int], int], size: int, held: int) -> None:
    assert none_up_to(size) == held


WORDS = normalised(load_claims()[LEAST].statement)
SMALLEST = dict(re.findall(r"(\S+/\S+) \\\((\d+)\\\)", WORDS))


@cache
def question(claim: str) -> Question:
    return Question(statement_of(claim))


def unbroken(claim: str, instance: dict[str, Any]) -> bool:
    return question(claim).ask(instance).answer in ("holds", "outside")


@pytest.mark.parametrize("claim", SMALLEST)
@pytest.mark.claim(LEAST, scope="all instances below the shipped one", statement="63532946e97926b5")
def test_the_shipped_counterexample_is_the_smallest(
    exhaust: Callable[..., int], claim: str
) -> None:
    """Every smaller instance satisfies the statement; the shipped one, as the control, does not."""
    assert set(SMALLEST) == set(load_claims()[LEAST].uses)
    caught = shipped.load(claim)["instance"]
    size = size_of(caught)
    assert size == int(SMALLEST[claim])
    smaller = ((claim, i) for below in range(1, size) for i in instances(question(claim), below))
    exhaust(smaller, unbroken, control=(claim, caught))


PROJECT = """
[paper]
key = "x"
title = "Small"

[[claim]]
id = "x/claim"
kind = "A"
number = "1"
title = "A bound"
statement = "A bound holds."
place = "here"
source = "text"
formal = '''given M: matrix; {}'''
"""


@pytest.mark.parametrize(
    ("formal", "size", "told"),
    [
        ("assume rank(M) == 1; conclude max_entry(M) > 0", 3, "breaks the statement"),
        ("assume rank(M) == 3; conclude max_entry(M) > 0", 4, "satisfies the assumptions"),
        ("assume rank(M) == 1; conclude rank(M) <= 1", 3, None),
    ],
)
def test_only_what_was_looked_at_is_earned(
    pytester: pytest.Pytester, formal: str, size: int, told: str | None
) -> None:
    """A counterexample fails the test, and so does a size at which nothing is assumed."""
    (pytester.path / "claims.toml").write_text(PROJECT.format(formal))
    pytester.makeini("[pytest]\nlemmax_claims = claims.toml\n")
    pytester.makepyfile(
        f"""
        import pytest
        @pytest.mark.claim("x/claim")
        def test_claim(none_up_to):
            none_up_to({size})
        """
    )
    done = pytester.runpytest_inprocess("-q", "-p", "no:cacheprovider", "--ledger", "l.json")
    if told is not None:
        assert done.ret != 0
        done.stdout.fnmatch_lines([f"*{told}*"])
        return
    assert done.ret == 0
    (entry,) = json.loads(Path(pytester.path / "l.json").read_text(encoding="utf-8"))["claims"]
    (evidence,) = entry["evidence"]
    assert (entry["verdict"], evidence["grade"], evidence["count"]) == (
        "supported",
        "universal",
        10,
    )
    assert evidence["scope"].startswith("all 15 instances of size Σ(|p| + q) at most 3")
    assert evidence["scope"].endswith("10 of them satisfy the assumptions")
