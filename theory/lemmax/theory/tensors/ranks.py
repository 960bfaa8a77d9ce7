"""``tensor_rank``: the rank of a database or of an integer tensor, from below and from above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from lemmax.theory import certificates
from lemmax.theory.certificates import Certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.tensors.arrays import Array, tensor_array
from lemmax.theory.tensors.decompositions import Decomposition
from lemmax.theory.tensors.lower import LowerBound, flattening_bound
from lemmax.theory.tensors.solve import Field, realise, solve


class UnknownField(LemmaxError):
    """A field other than the rational, the real and the complex numbers."""


@dataclass(frozen=True)
class TensorRank:
    """``lower`` ≤ R(T) ≤ ``upper`` over ``field``, with a proof of each side.

    ``decomposition`` has ``upper`` terms; ``bound`` is a chain of lemmas that gives ``lower``.
    """

    array: Array
    field: Field
    bound: LowerBound
    decomposition: Decomposition

    @property
    def lower(self) -> int:
        """A proved lower bound: every step is recomputed by the independent checker."""
        return self.bound.value

    @property
    def upper(self) -> int:
        """The number of terms of ``decomposition``."""
        return len(self.decomposition)

    @property
    def rank(self) -> int | None:
        """The rank where both bounds agree, else None."""
        return self.lower if self.lower == self.upper else None

    def certificate(self) -> Certificate:
        """A ``tensor-rank`` certificate, which the independent checker accepts."""
        return certificates.certificate(
            "tensor-rank",
            {
                "tensor": tensor_fields(self.array),
                "field": self.field,
                "lower": self.lower,
                "upper": self.upper,
                "proof": list(self.bound.steps),
                **self.decomposition.certificate_fields(),
            },
        )

    def to_latex(self) -> str:
        """The interval, or the rank, as a formula."""
        name = rf"\operatorname{{rank}}_{{\mathbb{{{self.field}}}}}(D)"
        if self.rank is not None:
            return f"{name} = {self.rank}"
        return rf"{self.lower} \le {name} \le {self.upper}"


def tensor_fields(array: Array) -> dict[str, Any]:
    """The field ``tensor`` of a certificate: shape and nonzero entries."""
    places = zip(*(part.tolist() for part in array.nonzero()), strict=True)
    return {
        "shape": list(array.shape),
        "entries": [[i, j, k, str(int(array[i, j, k]))] for i, j, k in places],
    }


def tensor_rank(db_or_array: Any, field: Field = "R") -> TensorRank:
    """The rank of a database, or of a three-way integer array, over Q, R or C.

    Parameters
    ----------
    db_or_array
        A :class:`~lemmax.theory.database.Database`, or anything that numpy reads as a
        three-dimensional array of integers.
    field
        ``"Q"``, ``"R"`` or ``"C"``: the rank depends on it.

    Examples
    --------
    >>> tensor_rank([[[1, 0], [0, 0]], [[0, 0], [0, 1]]]).rank
    2
    """
    if field not in get_args(Field):
        raise UnknownField(f"{field!r} is not a field that lemmax knows: Q, R or C.")
    array = tensor_array(db_or_array)
    if not array.any():
        a, b, c = array.shape
        return TensorRank(array, field, flattening_bound(array, 0), Decomposition((a, b, c)))
    solution = solve(array, field)
    if not solution.decomposition.adds_up_to(array):
        raise AssertionError("the terms do not add up to the tensor")
    bound = realise(array, solution.best)
    return TensorRank(array, field, bound, solution.decomposition)
