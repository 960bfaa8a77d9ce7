"""``tensor_rank``: the rank of a database or of an integer tensor, from below and from above."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.facts.database import Database
from lemmax.theory.facts.frames import is_frame
from lemmax.theory.latex import Typeset, between
from lemmax.theory.numbers.interval import Interval
from lemmax.theory.tensors.algebras.structure import alder_strassen
from lemmax.theory.tensors.arrays import Array, tensor_array
from lemmax.theory.tensors.below.chains import LowerBound
from lemmax.theory.tensors.below.flattenings import flattening_bound, recomputed
from lemmax.theory.tensors.bounds import Bounds
from lemmax.theory.tensors.decompositions import Decomposition
from lemmax.theory.tensors.descriptions import in_words
from lemmax.theory.tensors.fields import Field, known_field
from lemmax.theory.tensors.files import NotADecomposition
from lemmax.theory.tensors.pipeline import solve
from lemmax.theory.tensors.search.clock import late, now, usable_seconds
from lemmax.theory.tensors.search.real_fits import real_fit
from lemmax.theory.tensors.search.real_terms import RealDecomposition

_EXACT = 0.9  # the share of the time for exact terms; the rest is for real ones


@dataclass(frozen=True)
class Cited:
    """A lower bound that rests on a theorem of the literature whose hypotheses were checked.

    No certificate carries it, and ``TensorRank.lower`` does not count it.
    """

    value: int
    theorem: str
    hypotheses: str


@dataclass(frozen=True)
class TensorRank(Interval, Typeset):
    """``lower`` ≤ R(T) ≤ ``upper`` over ``field``, with a proof of each side.

    ``decomposition`` has ``upper`` terms, unless ``real`` has fewer: terms that are proved to
    exist, over R and C. ``bound`` is a chain of lemmas that gives ``lower``; ``reasons`` names the
    constructions behind the decomposition; ``cited`` are larger lower bounds by theorems that
    lemmax does not prove; ``names`` are the keys, queries and values; ``stopped`` says that time
    ended the search, ``cut`` that it ended one for proofs from below. ``fitted`` is the fewest
    terms of a numerical fit, which proves nothing: ``upper`` where every fit failed, None where
    none was tried.

    >>> result = tensor_rank([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    >>> result.lower, result.upper, len(result.decomposition), result.certificate()["kind"]
    (2, 2, 2, 'tensor-rank')
    """

    array: Array
    field: Field
    bound: LowerBound
    decomposition: Decomposition
    reasons: tuple[str, ...] = ()
    cited: tuple[Cited, ...] = ()
    names: tuple[tuple[Hashable, ...], ...] | None = None
    stopped: bool = False
    real: RealDecomposition | None = None
    cut: bool = False
    fitted: int | None = None

    def __repr__(self) -> str:
        shape = _times(self.array.shape)
        return f"TensorRank({self._sentence()} over {self.field} of a {shape} tensor)"

    @property
    def lower(self) -> int:
        """A proved lower bound: every step is recomputed by the independent checker."""
        return self.bound.value

    @property
    def upper(self) -> int:
        """The number of terms of ``decomposition``, or of ``real``."""
        return len(self.decomposition if self.real is None else self.real)

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
                **(self.decomposition if self.real is None else self.real).certificate_fields(),
            },
        )

    def with_decomposition(self, other: Decomposition) -> TensorRank:
        """This result with a decomposition made elsewhere, where that one is shorter.

        Raises :class:`~lemmax.theory.tensors.files.NotADecomposition` if it does not add up to the
        tensor.
        """
        if other.shape != self.array.shape:
            raise NotADecomposition(
                f"The decomposition has the shape {_times(other.shape)}, "
                f"and the tensor {_times(self.array.shape)}."
            )
        if not other.adds_up_to(self.array):
            sums = other.tensor()
            i, j, k = next(
                place
                for place in np.ndindex(self.array.shape)
                if sums[place[0]][place[1]][place[2]] != int(self.array[place])
            )
            raise NotADecomposition(
                f"The {len(other)} terms add up to {sums[i][j][k]} at ({i}, {j}, {k}), where the "
                f"tensor has {self.array[i, j, k]}."
            )
        if len(other) >= self.upper:
            return self
        return replace(self, decomposition=other, real=None, reasons=("a given decomposition",))

    def with_real(self, other: RealDecomposition) -> TensorRank:
        """This result with a real decomposition that is proved to exist, where it is shorter.

        ``decomposition`` stays, for its terms are explicit. Raises
        :class:`~lemmax.theory.tensors.files.NotADecomposition` over Q, or if nothing is proved.
        """
        if self.field == "Q":
            raise NotADecomposition("Real terms do not bound the rank over Q.")
        if not other.proves(self.array):
            raise NotADecomposition(
                f"It is not proved that {len(other)} real terms add up to the tensor."
            )
        if len(other) >= self.upper:
            return self
        return replace(self, real=other, reasons=("real terms near a numerical fit",))

    def in_words(self) -> list[str]:
        """The terms of the decomposition, one line each, with the names of the database."""
        names = self.names or tuple(tuple(range(n)) for n in self.array.shape)
        if self.real is None:
            return in_words(self.decomposition, names)
        return [*in_words(self.real.exact, names), self.real.in_words()]

    def formula(self) -> str:
        """The interval, or the rank, as a formula."""
        return between(
            self.lower, rf"\operatorname{{rank}}_{{\mathrm{{{self.field}}}}}(D)", self.upper
        )


def _times(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))


def tensor_fields(array: Array) -> dict[str, Any]:
    """The field ``tensor`` of a certificate: shape and nonzero entries."""
    places = zip(*(part.tolist() for part in array.nonzero()), strict=True)
    return {
        "shape": list(array.shape),
        "entries": [[i, j, k, str(int(array[i, j, k]))] for i, j, k in places],
    }


def tensor_rank(
    db_or_array: Any, field: Field = "R", *, seconds: float | None = None
) -> TensorRank:
    """The rank of a database, or of a three-way integer array, over Q, R or C.

    Parameters
    ----------
    db_or_array
        A :class:`~lemmax.theory.facts.database.Database`, a pandas or polars frame of facts, or
        anything that numpy reads as a three-dimensional array of integers.
    field
        ``"Q"``, ``"R"`` or ``"C"``: the rank depends on it.
    seconds
        How long to search, by the clock on the wall. The cheap bounds are always found; past this
        time no further stage of the search begins, and ``stopped`` is true where one was left.

    Returns
    -------
    TensorRank
        ``.lower``, ``.upper``, ``.rank`` (None while they differ), ``.decomposition``.

    Notes
    -----
    The rank is exact for databases with at most two queries (or keys, or values), with private
    columns, and for saturated tables; also where a flattening meets a slice sum, or where the
    slices are spanned by as many matrices of rank one. Elsewhere the result is an interval, and
    with ``seconds`` walks on the flip graph and numerical fits made exact go on to narrow it.
    Without them databases of 200 facts take a fraction of a second to some seconds.
    Cost: exact eliminations of flattenings and slices, and a search of bounded size.

    Raises
    ------
    ShapeError, NotExact, UnknownField, UnusableTime
        If the array is not three-dimensional or empty, has an entry that is not an integer, the
        field is none of the three, or the seconds are not positive or more than a year.

    Examples
    --------
    Three keys whose two queries are the identity and a cyclic shift; the field matters:

    >>> cycle = [[[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1]], [[0, 0, 1], [1, 0, 0]]]
    >>> tensor_rank(cycle, "R").rank, tensor_rank(cycle, "C").rank
    (4, 3)
    >>> tensor_rank([[[1, 0], [0, 0]], [[0, 0], [0, 1]]]).rank
    2
    """
    known_field(field)
    start = now()
    deadline = None if seconds is None else start + usable_seconds(seconds)
    if is_frame(db_or_array):
        db_or_array = Database.from_frame(db_or_array)
    array = tensor_array(db_or_array)
    names = None
    if all(hasattr(db_or_array, part) for part in ("keys", "queries", "values", "tensor")):
        names = db_or_array.keys, db_or_array.queries, db_or_array.values
    if not array.any():
        a, b, c = array.shape
        nothing = Decomposition((a, b, c))
        return TensorRank(array, field, flattening_bound(array, 0), nothing, names=names)
    ending = deadline if seconds is None or field == "Q" else start + _EXACT * seconds
    bounds = solve(array, field, ending)
    if not bounds.decomposition.adds_up_to(array):
        raise AssertionError("the terms do not add up to the tensor")
    bound = recomputed(array, bounds.lower)
    result = TensorRank(array, field, bound, bounds.decomposition, bounds.reasons, (), names)
    if result.rank is None and deadline is not None and field != "Q":
        result = _with_real_terms(result, deadline)
    if result.rank is not None:
        return result
    fitted = None if bounds.fitted is None else min(bounds.fitted, result.upper)
    found = replace(result, cited=cited(result, bounds), fitted=fitted)
    return replace(found, stopped=bounds.stopped, cut=bounds.cut)


def _with_real_terms(result: TensorRank, deadline: float) -> TensorRank:
    """The result with real terms that are proved to exist, as few as are found in time."""
    while result.rank is None and not late(deadline):
        terms = real_fit(result.array, result.upper - 1, deadline=deadline)
        if terms is None:
            break
        result = result.with_real(terms)
    return result


def cited(result: TensorRank, bounds: Bounds) -> tuple[Cited, ...]:
    """Lower bounds above the proved one, by theorems whose hypotheses hold for this tensor."""
    theorems = []
    if bounds.cited:
        theorems.append(
            Cited(
                result.lower + bounds.cited,
                "JáJá and Takche 1986: ranks add up in a direct sum with a summand that has a "
                "mode of size at most two",
                "all summands but one have such a mode, after concision",
            )
        )
    algebra = alder_strassen(result.array, result.field)
    if algebra is not None and algebra > result.lower:
        theorems.append(
            Cited(
                algebra,
                "Alder and Strassen 1981: R(A) ≥ 2 dim A - (number of maximal two-sided ideals)",
                "the table is associative and has a unit",
            )
        )
    return tuple(theorems)
