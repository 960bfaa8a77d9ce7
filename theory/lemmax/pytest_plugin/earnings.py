"""What the fixtures saw during one test, kept where a test does not write by accident.

A failure that a fixture reported is remembered too: a test that swallows it earns nothing.
"""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from lemmax.theory.ledger.earning import Earned

EARNED = pytest.StashKey[list[Earned]]()
FAILED = pytest.StashKey[list[str]]()
MARKED = pytest.StashKey[list[dict[str, Any]]]()


def earn(item: pytest.Item, earned: Earned) -> None:
    """Remember what a fixture established during a test."""
    item.stash.setdefault(EARNED, []).append(earned)


def fail(item: pytest.Item, sentence: str) -> NoReturn:
    """Fail the test; should it swallow that, it earns nothing all the same."""
    item.stash.setdefault(FAILED, []).append(sentence)
    raise AssertionError(sentence)


def marked_claims(item: pytest.Item) -> list[str]:
    """The claims that a test is marked with."""
    return [fields["claim"] for fields in item.stash.get(MARKED, [])]
