"""The fixture ``none_up_to``: a claim's own statement, asked of every instance up to a size."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from lemmax.pytest_plugin.earnings import earn, fail, marked_claims
from lemmax.pytest_plugin.gatherer import gatherer_of
from lemmax.theory.hunting.enumeration import enumerable, instances
from lemmax.theory.hunting.question import Question
from lemmax.theory.ledger.earning import Earned


@pytest.fixture
def none_up_to(request: pytest.FixtureRequest) -> Callable[[int], int]:
    """``none_up_to(size)``: no instance of the marked claim up to that size breaks it.

    The statement is the claim's own, the instances are all of them, up to the permutations and
    names that no word of it sees, and each is asked by the checker's words. One that is undecided
    fails the test, and so does a size at which no instance satisfies the assumptions. It earns
    ``universal`` with the scope that it covered; returns how many satisfied the assumptions.
    """
    catalogue = gatherer_of(request).catalogue
    item = cast(pytest.Item, request.node)

    def run(size: int) -> int:
        claims = [claim for name in marked_claims(item) if (claim := catalogue[name]).formal]
        if len(claims) != 1 or claims[0].kind != "A" or claims[0].consequence:
            fail(item, "Mark one claim about all instances that its formal statement says whole.")
        claim = claims[0]
        asked = Question(str(claim.formal))
        if not enumerable(asked):
            fail(item, f"Not every sort of {claim.id} can be enumerated.")
        count = held = 0
        for below in range(1, size + 1):
            for instance in instances(asked, below):
                answer = asked.ask(instance).answer
                if answer in ("breaks", "open"):
                    told = "breaks the statement" if answer == "breaks" else "is undecided"
                    fail(item, f"{instance} {told}.")
                count += 1
                held += answer == "holds"
        if not held:
            fail(item, f"No instance of size at most {size} satisfies the assumptions.")
        scope = (
            f"all {count:,} instances of size Σ(|p| + q) at most {size}, up to permutations and "
            f"names; {held:,} of them satisfy the assumptions"
        )
        earn(
            item,
            Earned(
                "universal",
                about=claim.id,
                shows="for",
                statement=claim.digest,
                scope=scope,
                count=held,
            ),
        )
        return held

    return run
