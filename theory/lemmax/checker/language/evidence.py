"""Certificates inside a certificate: bounds for numbers that words only enclose.

Evidence counts only for a word whose argument equals what the evidence is about, entry by entry.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from ..contexts import multi_head
from ..kinds import kl_interval, softmax_rank, tensor_rank
from ..kinds import multi_head as heads
from ..kinds.kl_interval import distribution
from ..limits import Undecided, refuse, spend
from ..reading import Matrix, choice, integer, items, matrix, number
from ..steps import Step
from ..tensors import sizes, sparse
from .reals import Interval


class Known(NamedTuple):
    """What was shown about a subject: bounds of a number, over a field for tensor ranks."""

    subject: Any
    low: Fraction
    high: Fraction
    field: str = ""


@dataclass
class Evidence:
    """What sub-certificates have shown, by kind, and which of them a word has asked about."""

    known: dict[str, list[Known]] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)

    def about(self, kind: str, equal: Callable[[Any], bool]) -> Iterator[Known]:
        for item in self.known.get(kind, []):
            if equal(item.subject):
                self.used.add(id(item))
                yield item

    @property
    def idle(self) -> bool:
        """Whether some evidence is about no argument of a word."""
        return len(self.used) < sum(map(len, self.known.values()))

    def cut(self, kind: str, bounds: Interval, equal: Callable[[Any], bool]) -> Interval:
        """The bounds, narrowed by all evidence about an equal subject."""
        low, high = bounds.low, bounds.high
        for item in self.about(kind, equal):
            low = item.low if low is None else max(low, item.low)
            high = item.high if high is None else min(high, item.high)
        return Interval(low, high)


def _tensor(data: Mapping[str, Any]) -> Known:
    T, scale = sparse(data["tensor"])
    low, high = integer(data["lower"], "lower"), integer(data["upper"], "upper")
    return Known((T, scale), Fraction(low), Fraction(high), data["field"])


def _softmax(data: Mapping[str, Any]) -> Known:
    rank = Fraction(integer(data["rank"], "rank"))
    return Known((matrix(data["logits"], "logits"), data["unit"]), rank, rank)


def _divergence(data: Mapping[str, Any]) -> Known:
    if "dual" in data["lower"]:
        refuse("evidence", "of the kind kl-interval must be about every W")
    subject = *distribution(data), data["d"]
    low, high = (number(data[end]["value"], end) for end in ("lower", "upper"))
    return Known(subject, low, high)


def _features(data: Mapping[str, Any]) -> Known:
    if data["assertion"]["type"] != "feature-rank":
        refuse("evidence", "of the kind multi-head must be about the feature rank")
    A = multi_head({k: v for k, v in data.items() if k != "assertion"}, "evidence")
    low, high = (data["assertion"][end]["bound"] for end in ("lower", "upper"))
    return Known(A, Fraction(low), Fraction(high))


Check = Callable[[Mapping[str, Any]], Iterator[Step]]
_KINDS: dict[str, tuple[Check, Callable[[Mapping[str, Any]], Known]]] = {
    "tensor-rank": (tensor_rank.check, _tensor),
    "softmax-rank": (softmax_rank.check, _softmax),
    "kl-interval": (kl_interval.check, _divergence),
    "multi-head": (heads.check, _features),
}


def gather(value: object, evidence: Evidence) -> Iterator[Step]:
    """Check every sub-certificate; what they show is added to the evidence."""
    for i, entry in enumerate(items(value, "evidence")):
        if type(entry) is not dict:
            refuse(f"evidence[{i}]", "must be an object")
        data = dict(entry)
        kind = choice(data.pop("kind", None), f"evidence[{i}].kind", tuple(_KINDS))
        check, known = _KINDS[kind]
        text = ""
        try:
            for ok, text in check(data):
                if not ok:
                    yield Step(False, f"evidence[{i}]: {text}")
                    return
        except Undecided as reason:
            yield Step(False, f"evidence[{i}]: undecided: {reason}")
            return
        if not text:
            yield Step(False, f"evidence[{i}]: {kind}: nothing was checked")
            return
        evidence.known.setdefault(kind, []).append(known(data))
        yield Step(True, f"evidence[{i}]: {kind}: {text}")


def same_tensor(T: tuple[Matrix, ...], other: tuple[Any, int]) -> bool:
    """Whether a tensor of rationals is the integer tensor over its scale."""
    cube, scale = other
    if sizes(T) != sizes(cube):
        return False
    bits = max(M.bits for M in T) + scale.bit_length()
    spend("The evidence", 4 * len(T) * len(T[0]) * len(T[0][0]), bits, bits)
    return all(
        x.numerator * scale == y * x.denominator
        for A, B in zip(T, cube, strict=True)
        for a, b in zip(A, B, strict=True)
        for x, y in zip(a, b, strict=True)
    )


def same_rows(M: Matrix, N: Matrix) -> bool:
    spend("The evidence", 4 * len(M) * len(M[0]), M.bits)
    return M == N
