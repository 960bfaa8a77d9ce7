"""The rank of a matrix of rationals."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..arithmetic import product, residues
from ..reading import Matrix, fields, integer, matrix, variant
from ..steps import Step, check_minor, minor_of, size_bound


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """rank(M) = r: a nonzero minor of order r, and r = min(m, n) or a factorisation through r."""
    fields(data, "The certificate", "matrix rank lower upper")
    M = matrix(data["matrix"], "matrix")
    m, n = len(M), len(M[0])
    rank = integer(data["rank"], "rank", min(m, n) + 1)
    p, rows, columns = minor_of(fields(data["lower"], "lower", "prime rows columns"), m, n)
    upper = data["upper"]
    method = variant(upper, "upper", "method", {"size": "", "factorisation": "left right"})
    factors: tuple[Matrix, Matrix] | None = None
    if method == "factorisation" and (rank or upper["left"] != [] or upper["right"] != []):
        left = matrix(upper["left"], "upper.left", rows=m)
        factors = left, matrix(upper["right"], "upper.right", rows=len(left[0]), columns=n)

    small = residues(M, p)
    if small is None:
        yield Step(False, f"the prime {p} divides a denominator of the matrix")
        return
    yield check_minor([[small[i][j] for j in columns] for i in rows], p, rank, "M")
    if method == "size":
        yield size_bound(rank, m, n)
    elif factors is None:
        yield Step(not any(map(any, M)), "rank <= 0 by the factorisation [] · [], that is, M = 0")
    elif len(factors[1]) != rank:
        inner = len(factors[1])
        yield Step(False, f"a factorisation through dimension {inner} does not show rank {rank}")
    else:
        yield check_product(*factors, M)


def check_product(left: Matrix, right: Matrix, M: Matrix) -> Step:
    """left · right = M, exactly."""
    for i, (row, wanted) in enumerate(zip(product(left, right), M, strict=True)):
        if row != wanted:
            j = next(j for j, x in enumerate(row) if x != wanted[j])
            return Step(False, f"left · right differs from M at row {i}, column {j}")
    return Step(True, f"rank <= {len(right)}: M = left · right through dimension {len(right)}")
