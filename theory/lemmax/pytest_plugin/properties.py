"""Predicates decided on instances: on all of them (``exhaust``) or on many (``sample``).

A predicate that cannot say no establishes nothing. So it comes with a control, an instance for
which it must be False, as like the others as can be; it is a function of Python that reads each of
its arguments; its text is kept with the evidence; and an instance counts once.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any, cast

import pytest

from lemmax.pytest_plugin.earnings import earn, fail
from lemmax.pytest_plugin.gatherer import Gatherer, gatherer_of
from lemmax.theory.ledger.earning import Earned

LONGEST = 2000  # characters of a predicate that the ledger keeps
Predicate = Callable[..., bool]


class Decided:
    """One predicate during one test: seen to say no, and the instances it said yes to."""

    def __init__(self, item: pytest.Item, predicate: Predicate, control: Any) -> None:
        self._item = item
        ignored = unread(predicate)
        if ignored:
            fail(item, f"The predicate does not read its argument {ignored[0]}.")
        self.control = _arguments(control)
        self.refuses(predicate)
        self.text = text_of(predicate)
        self.seen: set[object] = set()

    def refuses(self, predicate: Predicate) -> None:
        """Fail unless the predicate is False of the control, now as before."""
        verdict = _verdict(predicate, self.control)
        if verdict is not False:
            fail(
                self._item, f"The predicate says {verdict!r} of the control {_short(self.control)}."
            )

    def ask(self, predicate: Predicate, arguments: tuple[Any, ...], told: object = None) -> bool:
        """Fail unless the predicate is True; whether the instance is a new one."""
        if [*map(type, arguments)] != [*map(type, self.control)]:
            fail(self._item, f"The control is of another type than {_short(arguments)}.")
        verdict = _verdict(predicate, arguments)
        if verdict is not True:
            more = f" ({_short(told)})" if told is not None else ""
            fail(self._item, f"The predicate says {verdict!r} of {_short(arguments)}{more}.")
        key = tuple(map(_key, arguments))
        new = key not in self.seen
        self.seen.add(key)
        if new and len(self.seen) == 2:
            self.refuses(predicate)  # again: it may remember that it was asked
        return new


DECIDED = pytest.StashKey[dict[CodeType, Decided]]()


def _decided(item: pytest.Item, predicate: Predicate, control: Any) -> Decided:
    code = getattr(predicate, "__code__", None)
    if not isinstance(code, CodeType):
        fail(item, f"A predicate is a function of Python, not {predicate!r}.")
    known = item.stash.setdefault(DECIDED, {})
    if code not in known:
        known[code] = Decided(item, predicate, control)
    return known[code]


def unread(predicate: Predicate) -> list[str]:
    """The arguments that a function never looks at.

    >>> unread(lambda m, n: n > 0)
    ['m']
    """
    read: set[Any] = set()
    for step in dis.get_instructions(predicate.__code__):
        if step.opname.startswith("LOAD_"):
            read.update(step.argval if isinstance(step.argval, tuple) else [step.argval])
    return [name for name in inspect.signature(predicate).parameters if name not in read]


def text_of(predicate: Predicate) -> str:
    """What a predicate says, as its author wrote it, with single blanks."""
    try:
        text = " ".join(inspect.getsource(predicate).split())
    except (OSError, TypeError):
        text = predicate.__name__
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def _arguments(instance: Any) -> tuple[Any, ...]:
    return instance if type(instance) is tuple else (instance,)


def _verdict(predicate: Predicate, arguments: tuple[Any, ...]) -> Any:
    verdict: Any = predicate(*arguments)
    return verdict.item() if hasattr(verdict, "item") else verdict  # numpy has a bool of its own


def _key(value: Any) -> object:
    """Something that is equal for equal instances, as far as they can be compared."""
    if isinstance(value, list | tuple):
        return tuple(map(_key, value))
    if hasattr(value, "tobytes"):
        return value.shape, value.tobytes()
    try:
        hash(value)
    except (TypeError, ValueError):  # a ball of flint is not hashed either
        return repr(value)
    return value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]} …"


@pytest.fixture
def exhaust(request: pytest.FixtureRequest) -> Callable[..., int]:
    """``exhaust(instances, predicate, control=…)``: True on all of them; returns how many.

    The control is an instance, of the same types, for which the predicate is False. A tuple is
    passed as several arguments. Where all of them are integers, the scope is computed: the range
    of each argument.
    """
    item = cast(pytest.Item, request.node)

    def run(instances: Iterable[Any], predicate: Predicate, *, control: Any) -> int:
        decided = _decided(item, predicate, control)
        names = list(inspect.signature(predicate).parameters)
        ranges: list[tuple[int, int]] | None = []
        count = 0
        for instance in instances:
            arguments = _arguments(instance)
            count += decided.ask(predicate, arguments)
            if ranges is not None and all(type(a) is int for a in arguments):
                known = ranges or [(a, a) for a in arguments]
                ranges = [
                    (min(low, a), max(high, a))
                    for (low, high), a in zip(known, arguments, strict=True)
                ]
            else:
                ranges = None
        if not count:
            fail(item, "There was no instance to decide.")
        decided.refuses(predicate)
        scope = None
        if ranges:
            told = (f"{n} = {a}..{b}" for n, (a, b) in zip(names, ranges, strict=False))
            scope = f"{count} instances, {', '.join(told)}"
        earn(item, Earned("universal", count=count, scope=scope, predicate=decided.text))
        return count

    return run


class Sample:
    """The fixture ``sample``: one example is decided by a predicate that was seen to say no."""

    def __init__(self, gatherer: Gatherer) -> None:
        self._gatherer = gatherer

    def __call__(
        self, predicate: Predicate, *instance: Any, control: Any, about: object = None
    ) -> None:
        """The predicate is True of the instance, and False of the control.

        ``control`` is a tuple where there are several arguments; ``about`` is shown on failure.
        """
        item = self._gatherer.running
        if item is None:
            raise RuntimeError("An example is decided inside of a test.")
        decided = _decided(item, predicate, control)
        if decided.ask(predicate, instance, about):
            earn(item, Earned("property", count=1, predicate=decided.text))


@pytest.fixture(scope="session")
def sample(request: pytest.FixtureRequest) -> Sample:
    """``sample(predicate, *instance, control=…)`` in a test of hypothesis, or in a loop.

    The different examples that were really decided are counted; those that were assumed away, or
    drawn again, are not. The control is asked once for each predicate.
    """
    return Sample(gatherer_of(request))
