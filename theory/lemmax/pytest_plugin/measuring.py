"""Judgements of recorded data: the verdict is computed from the data, and seen to depend on them.

A judge that would say the same without the data, or with half of them, judges something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from typing import Any, cast

import pytest

from lemmax.pytest_plugin.earnings import earn, fail, marked_claims
from lemmax.theory.ledger.earning import Earned
from lemmax.theory.ledger.verdicts import Verdict

_MEASURABLE: tuple[Verdict, ...] = ("reproduced", "not-reproduced", "recipe-dependent")


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``measure(judge, data)``: what a judge says of recorded data about the marked claim.

    ``judge(data)`` returns judgements, each with ``claim``, ``verdict`` and ``sentence``; the
    outcome is computed from the data and never typed. Data are lists or arrays, or dictionaries
    and tuples of them. Without data the judge must not reach a verdict, and from every second
    piece it must not say the same sentence. ``undecided=True`` records what the data say where
    they decide nothing: evidence that leaves a claim open, and fails once it would decide it.
    """
    item = cast(pytest.Item, request.node)

    def said(judge: Callable[[Any], Iterable[Any]], data: Any) -> dict[str, tuple[Any, str]]:
        return {
            j.claim: (j.verdict, j.sentence) for j in judge(data) if j.claim in marked_claims(item)
        }

    def less(judge: Callable[[Any], Iterable[Any]], data: Any) -> dict[str, tuple[Any, str]]:
        try:
            return said(judge, data)
        except Exception:  # a judge may refuse too few data in any way it likes
            return {}

    def record(
        judge: Callable[[Any], Iterable[Any]], data: Any, *, undecided: bool = False
    ) -> None:
        if not callable(judge):
            fail(item, f"measure takes a judge and its data, not {judge!r}.")
        if not isinstance(data, Sized) or not len(data):
            fail(item, "There are no data to judge.")
        judgements = said(judge, parts(data, 1))  # lists of its own, should it change them
        if not judgements:
            fail(item, "The judge says nothing about the marked claim.")
        without, half = less(judge, parts(data, 0)), less(judge, parts(data, 2))
        for claim, (verdict, sentence) in judgements.items():
            if verdict in _MEASURABLE and undecided:
                fail(item, f"{claim} is decided after all, {verdict}: {sentence}")
            if verdict not in _MEASURABLE and not undecided:
                fail(item, f"{claim} is not decided: {sentence}")
            if without.get(claim, (None, ""))[0] in _MEASURABLE:
                fail(item, f"The judge of {claim} reaches a verdict without data.")
            if half.get(claim) == (verdict, sentence):
                fail(item, f"The judge of {claim} says the same of half of its data.")
            told: Verdict = "open" if undecided else verdict
            earn(item, Earned("empirical", about=claim, measured=told, details=sentence))

    return record


def parts(data: Any, step: int) -> Any:
    """Every step-th piece of the lists and arrays in some data; none for 0.

    >>> parts({"a": [1, 2, 3], "b": ([4, 5], [6, 7])}, 2)
    {'a': [1, 3], 'b': ([4], [6])}
    >>> parts([1, 2, 3], 0)
    []
    """
    if isinstance(data, Mapping):
        return {key: parts(value, step) for key, value in data.items()}
    if type(data) is tuple and data and all(_sliceable(x) for x in data):
        return tuple(parts(x, step) for x in data)
    if _sliceable(data):
        return data[::step] if step else data[:0]
    return data


def _sliceable(value: Any) -> bool:
    return isinstance(value, list | tuple) or hasattr(value, "ndim")
