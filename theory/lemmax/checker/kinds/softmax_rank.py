"""The rank of a softmax with rational logits."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..arithmetic import Rows, classes, cleared_all, integer_rank, powers_mod, rank_mod
from ..limits import brief, keep, multiply, refuse
from ..reading import Matrix, choice, fields, integer, matrix, variant, whole
from ..steps import Step, check_minor, minor_of, size_bound


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """The rank over R of the row-softmax of M·unit, which is that of its entrywise exponential.

    In unit 1, exp(M_ij) = z^e_ij with z = e^(1/q) transcendental and integers e_ij: a minor is
    zero iff it is the zero polynomial (after shifting exponents). In unit ln2, z is the number 2.
    """
    fields(data, "The certificate", "logits unit rank lower upper")
    M = matrix(data["logits"], "logits")
    m, n = len(M), len(M[0])
    unit = choice(data["unit"], "unit", ("1", "ln2"))
    rank = integer(data["rank"], "rank", min(m, n) + 1)
    lower = fields(data["lower"], "lower", "prime rows columns" + " point" * (unit == "1"))
    p, rows, columns = minor_of(lower, m, n)
    point = whole(lower["point"], "lower.point") if unit == "1" else 2
    if not 2 <= point < p:
        refuse("lower", "must have 2 <= point < prime (in unit ln2 the point is 2)")
    exact = "specialisation" if unit == "1" else "exact"
    methods = {"size": "", "row-classes": "", "column-classes": "", exact: ""}
    method = variant(data["upper"], "upper", "method", methods)
    (exponents,), q = cleared_all([M])
    if unit == "ln2" and q != 1:
        refuse("logits", "must be integers in unit ln2")

    minor = [powers_mod([exponents[i][j] for j in columns], point, p) for i in rows]
    yield check_minor(minor, p, rank, "exp(M)" if unit == "ln2" else f"z^e_ij at z = {point}")
    if method == "size":
        yield size_bound(rank, m, n)
        return
    if method in ("row-classes", "column-classes"):
        lines: Rows = exponents if method == "row-classes" else exponents.columns
        found = max(classes([x - line[0] for x in line] for line in lines)) + 1
        text = f"{found} classes of {method[:-8]}s that are equal up to a constant"
    else:
        z = 2 if unit == "ln2" else math.factorial(rank + 1) + 1
        found = rank_at(exponents, z)
        text = f"the exact rank at z = {brief(z)} is {found}"
    ok = found == rank
    yield Step(ok, f"rank <= {rank}: {text}" if ok else f"{text}, not {rank}")


def rank_at(exponents: Rows, z: int) -> int:
    """The exact rank of the matrix z^e_ij at an integer z.

    A minor of order r + 1 is, up to a power of z, a polynomial whose integer coefficients are at
    most (r + 1)! in absolute value: it vanishes at z = (r + 1)! + 1 only if it is zero (Cauchy). So
    a rank of at most r there is one of the matrix of powers of a transcendental number.
    """
    for _ in range(2):  # multiply rows, then columns, by powers of z: exponents start from 0
        columns = zip(*exponents, strict=True)
        exponents = [[x - least for x in row] for row in columns for least in [min(row)]]
    bits = max(map(max, exponents)) * (z - 1).bit_length()
    multiply("The matrix z^e_ij", 2 * sum(map(len, exponents)), bits)
    keep("The matrix z^e_ij", sum(map(len, exponents)), bits)
    return integer_rank([[z**x for x in row] for row in exponents], "The elimination of z^e_ij")


def softmax_rank(M: Matrix) -> int:
    """The rank over R of the row-softmax of a matrix of rationals.

    A rank mod p that equals the smaller side is the rank; otherwise the rank at one integer which
    is large enough for minors of every order.
    """
    (exponents,), _ = cleared_all([M])
    side, p = min(len(M), len(M[0])), 2**61 - 1
    if rank_mod([powers_mod(row, 3**37, p) for row in exponents], p) == side:
        return side
    return rank_at(exponents, math.factorial(side) + 1)
