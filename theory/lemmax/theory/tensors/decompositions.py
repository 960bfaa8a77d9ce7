"""Sums of terms of rank one, with exact entries.

A :class:`Decomposition` holds rational terms a⊗b⊗c and families: for a monic polynomial f over Q
the deg f conjugate terms a(θ)⊗b(θ)⊗c(θ), θ a root of f, whose entries are residues modulo f. The
sum of a family is rational, for it is a trace; over R a family needs all roots of f real. A bundle
has several such terms at one root only, which need not be conjugate, and a rational sum; over R it
needs one real root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.errors import LemmaxError, ShapeError
from lemmax.theory.latex import Typeset, aligned, latex_matrix, latex_number
from lemmax.theory.sympified import symbolic_polynomial, symbolic_vector
from lemmax.theory.tensors.arrays import Array

Vector: TypeAlias = tuple[fmpq, ...]
Term: TypeAlias = tuple[Vector, Vector, Vector]
Shape: TypeAlias = tuple[int, int, int]
Residues: TypeAlias = tuple[fmpq_poly, ...]
Factors: TypeAlias = tuple[Residues, Residues, Residues]
"""A term with residues for entries."""

_ZERO = fmpq(0)
_TERMS = _ENTRIES = 9  # that a display shows, of terms and of a vector


@dataclass(frozen=True)
class Family:
    """The terms a(θ)⊗b(θ)⊗c(θ) for the roots θ of a monic polynomial, the modulus."""

    modulus: fmpq_poly
    factors: Factors

    def __len__(self) -> int:
        return int(self.modulus.degree())

    @property
    def written(self) -> tuple[Factors, ...]:
        """The terms that stand for all: one, at every root."""
        return (self.factors,)

    def changed(self, change: Callable[[Factors], Factors]) -> Family:
        """The family with other factors."""
        return Family(self.modulus, change(self.factors))

    def certificate_fields(self) -> dict[str, Any]:
        """An entry of the field ``families`` of a certificate."""
        n = len(self)
        factors = [[_coefficients(p, n) for p in v] for v in self.factors]
        return {"modulus": _coefficients(self.modulus, n + 1), "factors": factors}

    def tensor(self) -> list[list[list[fmpq]]]:
        """The sum over all roots, entry by entry a trace."""
        n = len(self)
        sums = power_sums(self.modulus, 2 * n - 1)
        u, v, w = self.factors
        traced = [[sum((z[m] * sums[i + m] for m in range(n)), _ZERO) for i in range(n)] for z in w]
        return [
            [
                [sum((xy[m] * z[m] for m in range(n)), _ZERO) for z in traced]
                for xy in (x * y % self.modulus for y in v)
            ]
            for x in u
        ]

    def to_sympy(self) -> tuple[tuple[Any, Any, Any], ...]:
        """Three column vectors per root, exact: in radicals where sympy has them, else CRootOf."""
        from sympy import Matrix, Poly, Symbol, rootof

        x = Symbol("x")
        modulus = Poly(symbolic_polynomial(self.modulus, x), x)
        terms = []
        for number in range(len(self)):
            root = rootof(modulus, number)
            u, v, w = (Matrix([symbolic_polynomial(p, root) for p in f]) for f in self.factors)
            terms.append((u, v, w))
        return tuple(terms)


class IrrationalSum(LemmaxError):
    """Terms at one root of a polynomial whose sum depends on the root."""


@dataclass(frozen=True)
class Bundle:
    """Terms a(θ)⊗b(θ)⊗c(θ) at one root θ of a monic polynomial, with a rational sum.

    >>> i, one = fmpq_poly([0, 1]), fmpq_poly([1])
    >>> Bundle(fmpq_poly([1, 0, 1]), (((i,), (i,), (one,)),)).tensor()  # i · i
    [[[-1]]]
    """

    modulus: fmpq_poly
    written: tuple[Factors, ...]

    def __len__(self) -> int:
        return len(self.written)

    def changed(self, change: Callable[[Factors], Factors]) -> Bundle:
        """The bundle with other factors of every term."""
        return Bundle(self.modulus, tuple(map(change, self.written)))

    def tensor(self) -> list[list[list[fmpq]]]:
        """The sum; :class:`IrrationalSum` if an entry is no constant."""
        a, b, c = map(len, self.written[0])
        total = [[[fmpq_poly([])] * c for _ in range(b)] for _ in range(a)]
        for u, v, w in self.written:
            for part, x in zip(total, u, strict=True):
                for j, y in enumerate(v):
                    if xy := x * y % self.modulus:
                        part[j] = [s + xy * z for s, z in zip(part[j], w, strict=True)]
        whole = [[[x % self.modulus for x in row] for row in part] for part in total]
        if any(x.degree() > 0 for part in whole for row in part for x in row):
            raise IrrationalSum("The terms at a root of a polynomial have no rational sum.")
        return [[[x[0] for x in row] for row in part] for part in whole]

    def to_sympy(self) -> tuple[tuple[Any, Any, Any], ...]:
        """Three column vectors per term, at sympy's first root, which is real if one is."""
        from sympy import Matrix, Poly, Symbol, rootof

        x = Symbol("x")
        root = rootof(Poly(symbolic_polynomial(self.modulus, x), x), 0)
        made = []
        for term in self.written:
            u, v, w = (Matrix([symbolic_polynomial(p, root) for p in f]) for f in term)
            made.append((u, v, w))
        return tuple(made)

    def certificate_fields(self) -> dict[str, Any]:
        """An entry of the field ``families`` of a certificate."""
        n = int(self.modulus.degree())
        terms = [[[_coefficients(p, n) for p in v] for v in term] for term in self.written]
        return {"modulus": _coefficients(self.modulus, n + 1), "terms": terms}


def rationalised(family: Family) -> list[Term]:
    """2d - 1 rational terms with the same sum as a family of degree d (Toom and Cook).

    The product a(x)b(x) has degree 2d - 2; it is interpolated at 2d - 2 integers and at infinity,
    and the sum over the roots of each Lagrange polynomial times c is rational.
    """
    d = len(family)
    u, v, w = family.factors
    points = [(n + 1) // 2 * (-1) ** (n % 2) for n in range(2 * d - 2)]
    whole = fmpq_poly([1])
    for point in points:
        whole *= fmpq_poly([-point, 1])
    sums = power_sums(family.modulus, d)

    def trace(residue: fmpq_poly) -> fmpq:
        return sum((residue[m] * sums[m] for m in range(d)), _ZERO)

    terms: list[Term] = []
    for point in points:
        quotient = whole / fmpq_poly([-point, 1])
        lagrange = quotient / quotient(fmpq(point))
        terms.append(
            (
                tuple(x(fmpq(point)) for x in u),
                tuple(y(fmpq(point)) for y in v),
                tuple(trace(lagrange * z % family.modulus) for z in w),
            )
        )
    last = tuple(trace(whole * z % family.modulus) for z in w)
    terms.append((tuple(x[d - 1] for x in u), tuple(y[d - 1] for y in v), last))
    return [term for term in terms if all(map(any, term))]


def power_sums(modulus: fmpq_poly, count: int) -> list[fmpq]:
    """Newton's sums: of the m-th powers of the roots of a monic polynomial, m < count.

    >>> power_sums(fmpq_poly([-2, 0, 1]), 5)  # the roots are ±√2
    [2, 0, 4, 0, 8]
    """
    n = modulus.degree()
    sums = [fmpq(n)]
    for m in range(1, count):
        known = sum((modulus[n - k] * sums[m - k] for k in range(1, min(m, n + 1))), _ZERO)
        sums.append(-known - (m * modulus[n - m] if m <= n else 0))
    return sums


@dataclass(frozen=True)
class Decomposition(Typeset):
    """Rational terms and families of conjugate terms of one shape.

    >>> e = [(fmpq(1), fmpq(0)), (fmpq(0), fmpq(1))]
    >>> diagonal = Decomposition((2, 2, 2), tuple((x, x, x) for x in e))
    >>> len(diagonal), diagonal.tensor()[1][1]
    (2, [0, 1])
    """

    shape: Shape
    terms: tuple[Term, ...] = ()
    families: tuple[Family | Bundle, ...] = ()

    def __len__(self) -> int:
        return len(self.terms) + sum(map(len, self.families))

    def __add__(self, other: Decomposition) -> Decomposition:
        """The decomposition of the sum of the tensors."""
        if self.shape != other.shape:
            raise ShapeError(f"Cannot add decompositions of shapes {self.shape}, {other.shape}.")
        return Decomposition(self.shape, self.terms + other.terms, self.families + other.families)

    def factor(self, mode: int) -> fmpq_mat:
        """The factor matrix of the rational terms: one row per term."""
        return fmpq_mat([list(term[mode]) for term in self.terms])

    def tensor(self) -> list[list[list[fmpq]]]:
        """The sum of all terms, exactly."""
        a, b, c = self.shape
        total = [[[_ZERO] * c for _ in range(b)] for _ in range(a)]
        if self.terms:
            pairs = fmpq_mat([[y * z for y in v for z in w] for _, v, w in self.terms])
            rows = (self.factor(0).transpose() * pairs).tolist()
            total = [[row[j * c : (j + 1) * c] for j in range(b)] for row in rows]
        for family in self.families:
            total = [
                [[x + y for x, y in zip(r, s, strict=True)] for r, s in zip(p, q, strict=True)]
                for p, q in zip(total, family.tensor(), strict=True)
            ]
        return total

    def adds_up_to(self, array: Array) -> bool:
        """Whether the terms add up to an integer tensor, exactly."""
        return self.shape == array.shape and self.tensor() == array.tolist()

    def mapped(self, mode: int, rows: Sequence[Sequence[fmpq]]) -> Decomposition:
        """Apply a matrix (one row for each new index) to one mode of every term."""

        sparse = [[(j, m) for j, m in enumerate(row) if m] for row in rows]

        def combined(old: tuple[Any, ...], zero: Any) -> tuple[Any, ...]:
            return tuple(sum((m * old[j] for j, m in row if old[j]), zero) for row in sparse)

        def vector(old: Vector) -> Vector:
            return combined(old, _ZERO)

        def polynomials(old: tuple[fmpq_poly, ...]) -> tuple[fmpq_poly, ...]:
            return combined(old, fmpq_poly([]))

        return self._changed(mode, vector, polynomials, len(rows))

    def placed(self, mode: int, indices: Sequence[int], size: int) -> Decomposition:
        """Write one mode into a larger one: index i becomes indices[i], all else is zero."""

        def spread(old: tuple[Any, ...], zero: Any) -> tuple[Any, ...]:
            new = [zero] * size
            for index, x in zip(indices, old, strict=True):
                new[index] = x
            return tuple(new)

        return self._changed(
            mode, lambda v: spread(v, _ZERO), lambda v: spread(v, fmpq_poly([])), size
        )

    def chosen(self, mode: int, indices: Sequence[int]) -> Decomposition:
        """Keep some indices of one mode."""
        return self._changed(
            mode,
            lambda v: tuple(v[i] for i in indices),
            lambda v: tuple(v[i] for i in indices),
            len(indices),
        )

    def _changed(
        self,
        mode: int,
        vector: Callable[[Vector], Vector],
        polynomials: Callable[[tuple[fmpq_poly, ...]], tuple[fmpq_poly, ...]],
        size: int,
    ) -> Decomposition:
        def replace(parts: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
            return tuple(change(p) if m == mode else p for m, p in enumerate(parts))

        shape: Any = tuple(size if m == mode else n for m, n in enumerate(self.shape))
        return Decomposition(
            shape,
            tuple(replace(term, vector) for term in self.terms),
            tuple(f.changed(lambda parts: replace(parts, polynomials)) for f in self.families),
        )

    def permuted(self, order: Sequence[int]) -> Decomposition:
        """Reorder the modes: mode m of the result is mode order[m] of this one."""

        def reorder(parts: Any) -> Any:
            return tuple(parts[m] for m in order)

        return Decomposition(
            reorder(self.shape),
            tuple(map(reorder, self.terms)),
            tuple(f.changed(reorder) for f in self.families),
        )

    def formula(self) -> str:
        r"""D as a sum of products of three vectors; long sums and vectors are shortened.

        >>> e = (fmpq(1), fmpq(0))
        >>> Decomposition((2, 2, 2), ((e, e, e),)).formula().count(r"\otimes")
        2
        """
        shown = [_product([_column(map(latex_number, v)) for v in term]) for term in self.terms]
        for family in self.families:
            at = rf"{_polynomial(family.modulus)} = 0"
            for term in family.written:
                product = _product([_column(map(_polynomial, v)) for v in term])
                one = isinstance(family, Bundle)
                shown.append(rf"[{product}]_{{{at}}}" if one else rf"\sum_{{{at}}} {product}")
        if len(shown) > _TERMS:
            left = len(shown) - _TERMS
            shown = [*shown[:_TERMS], rf"\text{{{left} more terms}}"]
        lines = [" + ".join(shown[i : i + 3]) for i in range(0, len(shown), 3)] or ["0"]
        return aligned([f"D &= {lines[0]}", *(f"&+ {line}" for line in lines[1:])])

    def to_sympy(self) -> tuple[tuple[Any, Any, Any], ...]:
        """Three column vectors per term, whose products add up to the tensor.

        >>> e = (fmpq(1), fmpq(0))
        >>> Decomposition((2, 2, 2), ((e, e, e),)).to_sympy()[0][0].T
        Matrix([[1, 0]])
        """
        rational = (
            (symbolic_vector(u), symbolic_vector(v), symbolic_vector(w)) for u, v, w in self.terms
        )
        return (*rational, *(term for family in self.families for term in family.to_sympy()))

    def certificate_fields(self) -> dict[str, Any]:
        """The fields ``terms`` and ``families`` of a tensor-rank certificate."""
        return {
            "terms": [[[certificates.number(x) for x in v] for v in term] for term in self.terms],
            "families": [family.certificate_fields() for family in self.families],
        }


def _product(vectors: list[str]) -> str:
    return r" \otimes ".join(vectors)


def _column(entries: Iterable[str]) -> str:
    return latex_matrix([[entry] for entry in entries], _ENTRIES)


def _polynomial(p: fmpq_poly) -> str:
    r"""A polynomial in θ as LaTeX.

    >>> _polynomial(fmpq_poly([-2, 0, 1]))
    '\\theta^{2} - 2'
    """
    told = ""
    for power in range(p.degree(), -1, -1):
        if not p[power]:
            continue
        size = abs(p[power])
        symbol = "" if power == 0 else r"\theta" if power == 1 else rf"\theta^{{{power}}}"
        number = "" if size == 1 and power else latex_number(size)
        sign = ("-" if p[power] < 0 else "") if not told else " - " if p[power] < 0 else " + "
        told += f"{sign}{number}{symbol}"
    return told or "0"


def _coefficients(polynomial: fmpq_poly, count: int) -> list[str]:
    return [certificates.number(polynomial[i]) for i in range(count)]


def rational_terms(shape: Shape, terms: Iterable[Sequence[Sequence[Any]]]) -> Decomposition:
    """A decomposition from integer or rational vectors; terms with a zero factor are dropped."""
    made = ((_vector(u), _vector(v), _vector(w)) for u, v, w in terms)
    return Decomposition(shape, tuple(t for t in made if all(map(any, t))))


def _vector(entries: Sequence[Any]) -> Vector:
    return tuple(x if isinstance(x, fmpq) else fmpq(int(x)) for x in entries)


def rank_factorisation(matrix: Array) -> tuple[list[list[fmpq]], list[list[fmpq]]]:
    """Columns u_i and rows v_i with M = Σ u_i v_iᵀ and as few of them as the rank.

    The v_i are the nonzero rows of the reduced echelon form and the u_i the pivot columns of M.

    >>> import numpy as np
    >>> rank_factorisation(np.array([[1, 1], [2, 2]]))
    ([[1, 2]], [[1, 1]])
    """
    from lemmax.theory.numbers.rank import pivot_columns

    entries = matrix.tolist()
    echelon, rank = fmpq_mat(fmpz_mat(entries)).rref()
    columns = pivot_columns(echelon, rank)
    left = [[fmpq(row[j]) for row in entries] for j in columns]
    return left, echelon.tolist()[:rank]
