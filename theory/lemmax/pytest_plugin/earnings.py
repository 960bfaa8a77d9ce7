"""What the fixtures saw during one test, kept where a test does not write by accident.

A failure that a fixture reported is remembered too: a test that swallows it earns nothing. Only the
modules of this package may add to it. That stops a test, or a fixture with the name of ours, that
types what it earned; it is no wall against a program that sets out to forge.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import pytest

from lemmax.theory.ledger.earning import Earned

MARKED = pytest.StashKey[list[dict[str, Any]]]()


@dataclass
class _Seen:
    earned: list[Earned] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


_SEEN: WeakKeyDictionary[pytest.Item, _Seen] = WeakKeyDictionary()


def earn(item: pytest.Item, earned: Earned) -> None:
    """Remember what a fixture established during a test."""
    caller = sys._getframe(1).f_globals.get("__name__", "")
    if not caller.startswith(f"{__package__}."):
        fail(item, f"{caller} types what it earned: a fixture of lemmax has to decide it.")
    _SEEN.setdefault(item, _Seen()).earned.append(earned)


def fail(item: pytest.Item, sentence: str) -> NoReturn:
    """Fail the test; should it swallow that, it earns nothing all the same."""
    _SEEN.setdefault(item, _Seen()).failures.append(sentence)
    raise AssertionError(sentence)


def earned_by(item: pytest.Item) -> tuple[Earned, ...]:
    """What the fixtures established during a test, so far."""
    return tuple(_SEEN.get(item, _Seen()).earned)


def failures_of(item: pytest.Item) -> tuple[str, ...]:
    """What the fixtures refused during a test, so far."""
    return tuple(_SEEN.get(item, _Seen()).failures)


def marked_claims(item: pytest.Item) -> list[str]:
    """The claims that a test is marked with."""
    return [fields["claim"] for fields in item.stash.get(MARKED, [])]
