"""Codes that floats confuse, for the checker and for torch."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from lemmax.constructions.capacity import random_table
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.codes import Code
from lemmax.theory import Database

BFLOAT = Arithmetic.named("bfloat16")


class Confused(NamedTuple):
    """A code beyond what is proved, so many values, and what the checker says of it."""

    code: Code
    arithmetic: Arithmetic
    values: int
    sentence: str

    @property
    def database(self) -> Database:
        return random_table(self.values // 3 + 1, 3, self.values)


CONFUSED = [
    Confused(Code("integers", 2, 4**8, 2, 1, (-128, 127)), BFLOAT, 500, "beyond 8 bits"),
    Confused(Code("integers", 2, 4**5, 2, 1, (-16, 15)), BFLOAT, 500, "beyond 8 bits"),
    Confused(
        Code("lattice", 2, 10**5, 1, 1, (65, 256), (-63, 59)), BFLOAT, 610, "outside of the shell"
    ),
    Confused(
        Code("octaves", 1, 10**5, 2, 1, (128, 255), (-5, 5)), BFLOAT, 900, "stored as they are"
    ),
    Confused(
        Code("one-rounding", 1, 10**4, 1, 1, (23, 45), (-11, 1)),
        Arithmetic.named("float16"),
        590,
        "closer than the logits",
    ),
]


@pytest.fixture(params=CONFUSED, ids=lambda c: f"{c.code.family}-{c.code.mantissas[0]}")
def confused(request: pytest.FixtureRequest) -> Confused:
    """Each of them: the checker must refuse it, and torch misses facts."""
    case: Confused = request.param
    return case
