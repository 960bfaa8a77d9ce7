"""Steps of a check, and the two bounds of a rank that several kinds share."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from .arithmetic import Rows, rank_mod
from .limits import refuse
from .reading import indices, prime


class Step(NamedTuple):
    """One verified, or failed, step of a check."""

    ok: bool
    text: str


def check_minor(rows: Rows, p: int, rank: int, name: str) -> Step:
    """The lower bound: a minor of order ``rank`` that is nonzero mod p."""
    if len(rows) != rank:
        return Step(False, f"the minor has order {len(rows)} and shows nothing about rank {rank}")
    if rank_mod(rows, p) == rank:
        return Step(True, f"rank >= {rank}: a minor of {name} of order {rank} is nonzero mod {p}")
    return Step(False, f"the minor of {name} of order {rank} is zero mod {p}")


def minor_of(data: Mapping[str, Any], m: int, n: int) -> tuple[int, list[int], list[int]]:
    """The prime, the rows and the columns of a minor of an m × n matrix."""
    rows = indices(data["rows"], "lower.rows", m)
    columns = indices(data["columns"], "lower.columns", n)
    if len(rows) != len(columns):
        refuse("lower", "has different numbers of rows and columns")
    return prime(data["prime"], "lower.prime"), rows, columns


def size_bound(rank: int, m: int, n: int) -> Step:
    if rank == min(m, n):
        return Step(True, f"rank <= {rank}: the matrix is {m} x {n}")
    return Step(False, f"rank <= {rank} does not follow from the size {m} x {n}")
