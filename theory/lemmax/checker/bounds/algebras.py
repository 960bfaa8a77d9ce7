"""Multiplication tables of associative algebras with unit: nilpotent ideals and simple parts.

A tensor T is read as the product e_i e_j = Σ_k T[i][j][k] e_k. The bounds are those of Alder and
Strassen, proved in docs/proofs/lemmax/algebra-bound.md for what is counted here, and one more for
each division algebra that does not commute, proved in docs/proofs/lemmax/division-algebra-bound.md.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ..arithmetic import Table, bits_of, cleared, height, rank_mod
from ..limits import keep, refuse, spend
from ..polynomials import Polynomial, monic, multiply, power_sums, roots_of
from ..reading import fields, indices, integer, items, numbers, prime, wholes
from ..tensors import Bound, Integral, length_of, mapped, restricted, sizes

Vector = Sequence[int]


class Algebra(NamedTuple):
    """The nonzero structure constants: ``rows[i][j]`` are the pairs k, T[i][j][k]; and the unit."""

    rows: list[list[list[tuple[int, int]]]]
    unit: tuple[Fraction, ...]
    bits: int

    def times(self, x: Vector, y: Vector) -> list[int]:
        """The product of two elements."""
        long = bits_of([x, y])
        spend("A product", self.entries + len(x) ** 2, 2 * long + self.bits, long)
        out = [0] * len(x)
        for a, rows in zip(x, self.rows, strict=True):
            if a:
                for b, row in zip(y, rows, strict=True):
                    if b:
                        for k, t in row:
                            out[k] += a * b * t
        return out

    @property
    def entries(self) -> int:
        return sum(len(row) for rows in self.rows for row in rows)

    def basis(self) -> list[list[int]]:
        n = len(self.rows)
        return [[int(i == j) for j in range(n)] for i in range(n)]

    def traces(self) -> list[int]:
        """The trace of the left multiplication by each basis element."""
        return [
            sum(t for j, row in enumerate(rows) for k, t in row if j == k) for rows in self.rows
        ]


def algebra(step: Mapping[str, Any], T: Integral, where: str) -> Algebra | None:
    """T as an algebra: a cube that is associative and has the given unit; None if it is not."""
    n, b, c = sizes(T)
    unit = numbers(step["unit"], f"{where}.unit", n)
    if not n == b == c:
        refuse(where, "needs a tensor with three equal sizes")
    spend("The algebra", 2 * n * n * n)
    keep("The algebra", 10 * n * n * n)
    rows = [[[(k, x) for k, x in enumerate(row) if x] for row in part] for part in T]
    found = Algebra(rows, unit, length_of(T))
    width = [sum(map(len, part)) for part in rows]
    for i in range(n):
        longest = max(map(len, rows[i]))
        for j in range(n):
            # (e_i e_j) e_l = e_i (e_j e_l) for all l
            terms = sum(width[k] for k, _ in rows[i][j]) + width[j] * longest
            spend("The algebra", terms + 4 * n * n, found.bits, found.bits)
            for m in range(n):
                left, right = [0] * n, [0] * n
                for k, x in rows[i][j]:
                    for q, y in rows[k][m]:
                        left[q] += x * y
                for k, x in rows[j][m]:
                    for q, y in rows[i][k]:
                        right[q] += x * y
                if left != right:
                    return None
    entries, scale = cleared(unit)
    for i, e in enumerate(found.basis()):
        goal = [scale * int(i == j) for j in range(n)]
        if found.times(entries, e) != goal or found.times(e, entries) != goal:
            return None
    return found


def trace_form(A: Algebra) -> list[list[int]]:
    """tr(L_x) at x = e_i e_j, for all i and j."""
    tau = A.traces()
    n = len(tau)
    spend("The trace form", A.entries + n * n, A.bits, A.bits + n.bit_length())
    keep("The trace form", n * n, 2 * A.bits + 2 * n.bit_length())
    return [[sum(t * tau[k] for k, t in row) for row in rows] for rows in A.rows]


def by_radical(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """R(A) >= 2 dim N + R(A / N) for a nilpotent two-sided ideal N.

    N is the kernel of the map; it is an ideal, and tr(L_x) = 0 on it, so its elements are
    nilpotent. What remains is the product of the kept basis elements, mapped.
    """
    p, A = prime(step["prime"], f"{where}.prime"), algebra(step, T, where)
    if A is None:
        return -1, T, "the tensor is not an associative algebra with this unit"
    n = len(T)
    N = Table(wholes(row, f"{where}.ideal", n) for row in items(step["ideal"], f"{where}.ideal"))
    kept = indices(step["kept"], f"{where}.kept", n)
    rows = Table(wholes(row, f"{where}.map", n) for row in items(step["map"], f"{where}.map"))
    if not kept or len(N) + len(rows) != n:
        refuse(where, "needs an ideal and a map whose dimensions add up")
    form, long = trace_form(A), N.bits + rows.bits + A.bits
    spend("The radical", 4 * len(N) * n * n * (len(rows) + 1), long, long)

    def killed(x: Vector) -> bool:
        return not any(sum(a * b for a, b in zip(row, x, strict=True)) for row in rows)

    holds = rank_mod(N, p) == len(N) and rank_mod(rows, p) == len(rows)
    holds = holds and all(map(killed, N))
    holds = holds and all(
        killed(A.times(x, e)) and killed(A.times(e, x)) for x in N for e in A.basis()
    )
    holds = holds and not any(
        sum(a * b for a, b in zip(x, row, strict=True)) for x in N for row in form
    )
    if not holds:
        return -1, T, "the kernel of the map is not a nilpotent ideal"
    rest = mapped(step["map"], restricted([kept, kept, []], T, where), 2, f"{where}.map")
    return 2 * len(N), rest, f"R >= 2·{len(N)} + R modulo a nilpotent ideal"


class Factor(NamedTuple):
    """A factor of the minimal polynomial of the central element, and the degree of its parts.

    Over C the algebra has, for each root, a part of ``degree`` x ``degree`` matrices.
    """

    polynomial: Polynomial
    degree: int
    irreducible: bool


def factor(value: object, where: str) -> Factor:
    data = fields(value, where, "polynomial degree point prime")
    f = monic(data["polynomial"], f"{where}.polynomial")
    degree = integer(data["degree"], f"{where}.degree", 10**3)
    if not degree:
        refuse(f"{where}.degree", "must be positive")
    linear = len(f) == 2
    return Factor(f, degree, linear or is_irreducible(f, data["point"], data["prime"], where))


def is_irreducible(f: Polynomial, point: object, cofactor: object, where: str) -> bool:
    """Whether the value at an integer shows that f, of degree at least two, is irreducible over Q.

    The roots have absolute value less than H + 1, H the largest coefficient. If f(a) = c·p, p prime
    and |a| >= H + 1 + |c|, then the value at a of every factor over Z exceeds |c|, and p divides
    only one of two such values.
    """
    (a,), (p,) = (wholes([x], where) for x in (point, cofactor))
    if any(c.denominator != 1 for c in f) or not a:
        return False
    value = 0
    for c in reversed(f):
        spend("The value of a polynomial", 4, max(value.bit_length(), height((c,))), a.bit_length())
        value = value * a + c.numerator
    spend("The value of a polynomial", 2, value.bit_length(), p.bit_length())
    largest = max(abs(int(c)) for c in f[:-1])
    if p < 2 or not value or value % p or abs(a) < largest + 1 + abs(value // p):
        return False
    return bool(prime(cofactor, f"{where}.prime"))


def lost(parts: Sequence[Factor], field: str) -> int:
    """What the simple parts over the field take from 2 dim A.

    A part has loss 1 if its degree is at most two, and never more than the dimension of a simple
    module, which is at most its dimension over the least prime that divides the degree.
    """
    total = 0
    for f, s, _ in parts:
        d = len(f) - 1
        real = roots_of(f)[0] if field == "R" else 0
        counts = {"Q": [(1, d)], "R": [(real, 1), ((d - real) // 2, 2)], "C": [(d, 1)]}[field]
        least = next(q for q in range(2, s + 2) if s % q == 0 or q == s + 1)
        total += sum(count if s <= 2 else count * size * s * s // least for count, size in counts)
    return total


def signature(form: Sequence[Sequence[int]]) -> int:
    """Positive minus negative squares of a symmetric form, by completing squares."""
    M = [list(map(Fraction, row)) for row in form]
    total = 0
    while any(map(any, M)):
        n = len(M)
        bits = max(map(height, M))
        spend("The signature", 60 * n * n, 2 * bits, 2 * bits)
        keep("The signature", 2 * n * n, 4 * bits)
        i = next((i for i in range(n) if M[i][i]), None)
        if i is None:  # no square yet: e_i + e_j has one
            i, j = next((i, j) for i in range(n) for j in range(n) if M[i][j])
            M[i] = [x + y for x, y in zip(M[i], M[j], strict=True)]
            for row in M:
                row[i] += row[j]
        d, others = M[i][i], [a for a in range(n) if a != i]
        total += 1 if d > 0 else -1
        M = [[M[a][b] - M[a][i] * M[i][b] / d for b in others] for a in others]
    return total


def skew_parts(parts: Sequence[Factor], form: Sequence[Sequence[int]], field: str) -> int:
    """How many parts of degree two are shown to be division algebras over the field.

    Over R matrices of degree s have a trace form of signature s, quaternions of -2, and parts with
    the centre C of 0. A part over Q is a division algebra if it has quaternions at a real root, and
    it has them at no more than its number of real roots.
    """
    if field == "C" or max(part.degree for part in parts) != 2:
        return 0
    real = [(roots_of(part.polynomial)[0], part.degree) for part in parts]
    left = (sum(count * s for count, s in real) - signature(form)) // 4
    if field == "R":
        return left
    found = 0
    for count in sorted((count for count, s in real if s == 2), reverse=True):
        if left > 0:
            found, left = found + 1, left - count
    return found


def by_algebra(step: Mapping[str, Any], T: Integral, field: str, where: str) -> Bound:
    """R(A) >= 2 dim A - (number of simple parts) if A is semisimple and they have degree <= 2.

    Parts that are division algebras and do not commute are not counted.

    The trace form is regular, so A is semisimple. The element z is central, its powers below the
    degree of f are independent and f(z) = 0; the commutators have so many dimensions that the
    centre has no more than deg f, so it is F[z], and the parts over F are the factors of f there.
    The traces of the powers of z are Σ s² θ^k over the roots θ, which gives the degrees s.
    """
    p, A = prime(step["prime"], f"{where}.prime"), algebra(step, T, where)
    n = len(T)
    z, shrunk = cleared(numbers(step["element"], f"{where}.element", n))
    given = items(step["factors"], f"{where}.factors")
    parts = [factor(value, f"{where}.factors[{i}]") for i, value in enumerate(given)]
    if A is None:
        return -1, T, "the tensor is not an associative algebra with this unit"
    f: Polynomial = [Fraction(1)]
    for part in parts:
        f = multiply(f, part.polynomial)
    size = len(f) - 1
    if size > n:
        refuse(f"{where}.factors", "have a product of too large a degree")
    e = cleared(A.unit)[0]
    if any(A.times(z, x) != A.times(x, z) for x in A.basis()):
        return -1, T, "the element is not central"
    powers = [z]  # of the element times ``shrunk``, which is an integer vector
    while len(powers) < size:
        powers.append(A.times(powers[-1], z))
    long = bits_of([*powers, e]) + height(f) + size * shrunk.bit_length()
    spend("The powers", 20 * n * (size + 1), long, long)
    value = [f[0] * x for x in A.unit]
    for k, (c, power) in enumerate(zip(f[1:], powers, strict=True), 1):
        value = [v + c * x / shrunk**k for v, x in zip(value, power, strict=True)]
    tau = A.traces()
    sums = [power_sums(part.polynomial, size) for part in parts]
    weights = [part.degree**2 for part in parts]
    wanted = [sum(w * s[k] for w, s in zip(weights, sums, strict=True)) for k in range(size)]
    traces = [Fraction(n)] + [
        Fraction(sum(t * x for t, x in zip(tau, power, strict=True)), shrunk**k)
        for k, power in enumerate(powers[:-1], 1)
    ]
    spend("The commutators", n * n * n)
    keep("The commutators", n * n * n)
    commutators = [
        [x - y for x, y in zip(T[i][j], T[j][i], strict=True)] for i in range(n) for j in range(i)
    ]
    form = trace_form(A)
    checks = {
        "the trace form is not regular mod the prime": rank_mod(form, p) == n,
        "the polynomial does not vanish at the element": not any(value),
        "the powers are dependent mod the prime": rank_mod([e, *powers[:-1]], p) == size,
        "the centre is larger": not commutators or rank_mod(commutators, p) >= n - size,
        "the degrees are not those of the parts": traces == wanted,
        "a factor is not shown to be irreducible": field != "Q" or all(q[2] for q in parts),
    }
    failed = next((text for text, holds in checks.items() if not holds), None)
    if failed is not None:
        return -1, T, failed
    loss = lost(parts, field) - skew_parts(parts, form, field)
    return 2 * n - loss, T, f"R >= 2·{n} - {loss}, by the simple parts of an algebra over {field}"
