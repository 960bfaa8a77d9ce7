"""Edges of statements: what is just a statement, just not one, and what a claims file binds."""

from __future__ import annotations

from typing import Any

import pytest

from lemmax.checker import NotACertificate, check

FORMAL = {"own/one": "given x: rational; conclude x == 1"}


def first(hypotheses: Any, **changes: Any) -> dict[str, Any]:
    """A refutation of version 1, of the statement above."""
    fields = {"claim": "own/one", "statement": {"hypotheses": hypotheses, "conclusion": "x == 1"}}
    head = {"format": "lemmax-certificate", "version": 1, "kind": "refutation"}
    return {**head, **fields, "instance": {"x": "2"}, **changes}


@pytest.mark.parametrize("wrong", [7, "x == 1", {"x == 1": 1}])
def test_hypotheses_are_a_list_wherever_they_are_compared(wrong: Any) -> None:
    assert check(first([]), FORMAL).holds
    for formal in (None, FORMAL):
        with pytest.raises(NotACertificate, match=r"^statement\.hypotheses must be a list, not "):
            check(first(wrong), formal)
