r"""The rank of a matrix with free symbols: generic, and where it is smaller.

Let D be a minor of the largest order that is not the zero polynomial. Where D is not zero the rank
is the generic one, so with one symbol c every exception is a root of an irreducible factor f of D.
At such a root the rank is that over the quotient by f, all of whose roots are alike; it is smaller
than the generic rank for some factors and not for others. Nothing is evaluated numerically but the
places of the roots.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpz_mpoly, fmpz_mpoly_ctx

from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.errors import LemmaxError, NotExact
from lemmax.theory.latex import Typeset
from lemmax.theory.numbers.families.elimination import Rows, eliminate, factored, prime_factors
from lemmax.theory.numbers.families.parameters import Value, zeros
from lemmax.theory.numbers.matrices import Matrix, rational
from lemmax.theory.numbers.rank import certified_rank

_ORDINARY = range(1, 1000)  # integers at which a certificate of the generic rank is looked for


@dataclass(frozen=True)
class Exceptional:
    """A value of the parameter, and the rank there."""

    value: Value
    rank: int

    def to_sympy(self) -> Any:
        """The value."""
        return self.value.to_sympy()

    @property
    def ball(self) -> arb:
        """The value in a ball."""
        return self.value.ball

    @property
    def named(self) -> bool:
        """Whether the value has a name: rational numbers, roots, powers of e, logarithms."""
        from sympy import CRootOf

        return self.value.explicit and not self.to_sympy().has(CRootOf)

    def __str__(self) -> str:
        value = self.to_sympy() if self.named else f"near {float(self.ball.mid()):.6f}"
        return f"{value} (rank {self.rank})"

    def __repr__(self) -> str:
        return f"Exceptional({self})"


@dataclass(frozen=True)
class FamilyRank(Typeset):
    """``rank`` for all real values of ``symbol`` but the ``exceptions``, where it is smaller.

    ``matrix`` is the family, in sympy. The exceptions ascend.

    >>> from sympy import Matrix, symbols
    >>> c = symbols("c")
    >>> result = family_rank(Matrix([[c, 1], [1, c]]))
    >>> result.rank, result.exceptions
    (2, (Exceptional(-1 (rank 1)), Exceptional(1 (rank 1))))
    >>> result.at(1), result.at(7)
    (1, 2)
    """

    matrix: Any
    symbol: Any
    rank: int
    exceptions: tuple[Exceptional, ...]

    def _sentence(self) -> str:
        told = ", ".join(map(str, self.exceptions))
        return f"rank {self.rank} for all {self.symbol}" + (f" but {told}" if told else "")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sentence()})"

    def _repr_html_(self) -> str:
        return f"<p>{self._sentence()}</p>"

    def specialised(self, value: Any) -> Any:
        """The matrix at a rational value of the parameter, in sympy."""
        exact = rational(value)
        from lemmax.theory.sympified import symbolic_number

        return self.matrix.subs(self.symbol, symbolic_number(exact))

    def at(self, value: Any) -> int:
        """The rank at a rational value, computed there and not from the exceptions."""
        return certified_rank(Matrix(self.specialised(value))).rank

    def ordinary(self) -> int:
        """A positive integer at which the family has its generic rank."""
        for c in _ORDINARY:
            if self.at(c) == self.rank:
                return c
        raise LemmaxError("No integer below 1000 has the generic rank.")

    def certificate(self) -> Certificate:
        """A certificate of the rank at an integer that is no exception."""
        return certified_rank(Matrix(self.specialised(self.ordinary()))).certificate()

    def to_sympy(self) -> Any:
        """The rank as a function of the parameter: a ``Piecewise``.

        >>> from sympy import Matrix, symbols
        >>> family_rank(Matrix([[symbols("c")]])).to_sympy()
        Piecewise((0, Eq(c, 0)), (1, True))
        """
        from sympy import Contains, Eq, Integer, Piecewise, Set

        cases = []
        for exception in self.exceptions:
            value = exception.to_sympy()
            inside = isinstance(value, Set)
            where = Contains(self.symbol, value) if inside else Eq(self.symbol, value)
            cases.append((Integer(exception.rank), where))
        return Piecewise(*cases, (Integer(self.rank), True))

    def formula(self) -> str:
        """The rank, and the rank at each exception."""
        from sympy import latex

        name, c = self._name(), latex(self.symbol)
        if not self.exceptions:
            return rf"{name} = {self.rank} \quad \text{{for all }} {c} \in \mathbb{{R}}"
        lines = [rf"{x.rank} & {c} {_placed(x)}" for x in self.exceptions]
        lines.append(rf"{self.rank} & \text{{for all other }} {c} \in \mathbb{{R}}")
        return rf"{name} = \begin{{cases}} " + r" \\ ".join(lines) + r" \end{cases}"

    def _name(self) -> str:
        from sympy import latex

        return rf"\operatorname{{rank}} {latex(self.matrix)}"


def _placed(exception: Exceptional) -> str:
    """Equal to a number with a name, or near a number that has none."""
    from sympy import latex

    if not exception.named:
        return rf"\approx {float(exception.ball.mid()):.6f}"
    return f"= {latex(exception.to_sympy())}"


@dataclass(frozen=True)
class GenericRank(Typeset):
    """The rank for all values of several symbols at which ``minor`` is not zero.

    It is the largest rank that any values give; ``minor`` is a product of sympy.

    >>> from sympy import Matrix, symbols
    >>> generic_rank(Matrix([symbols("a b")])).certificate()["rank"]
    1
    """

    matrix: Any
    rank: int
    minor: Any

    def certificate(self) -> Certificate:
        """A ``matrix-rank`` certificate at small integers, which have the generic rank."""
        symbols = sorted(self.matrix.free_symbols, key=str)
        for start in _ORDINARY:
            # no polynomial of bounded degree vanishes on all of this curve
            values = {s: (start + 1) ** (i + 1) + i for i, s in enumerate(symbols)}
            result = certified_rank(Matrix(self.matrix.subs(values)))
            if result.rank == self.rank:
                return result.certificate()
        raise LemmaxError("No small integers have the generic rank.")

    def to_sympy(self) -> Any:
        """The generic rank."""
        from sympy import Integer

        return Integer(self.rank)

    def formula(self) -> str:
        """The generic rank, and the polynomial that must not be zero."""
        from sympy import latex

        condition = rf", \quad {latex(self.minor)} \ne 0" if self.minor.free_symbols else ""
        return rf"\operatorname{{rank}} {latex(self.matrix)} = {self.rank}{condition}"


def family_rank(matrix: Any) -> FamilyRank:
    """The rank of a matrix of polynomials in one real symbol, and the values where it is smaller.

    Exceptions are real algebraic numbers, in radicals or as roots of polynomials. Cost: one
    elimination over the polynomials, and one for each irreducible factor of a largest minor that
    has a real root.

    Raises
    ------
    NotExact
        An entry is no polynomial with rational coefficients.
    LemmaxError
        There is no free symbol, or more than one.

    Examples
    --------
    >>> from sympy import Matrix, symbols
    >>> c = symbols("c")
    >>> family_rank(Matrix([[c, 2, 0], [1, c, 0], [0, 0, c**2 + 1]])).exceptions
    (Exceptional(-sqrt(2) (rank 2)), Exceptional(sqrt(2) (rank 2)))
    """
    from sympy import ImmutableMatrix

    family = ImmutableMatrix(matrix)
    symbol = only_symbol(family)
    rows = polynomial_rows(family, [symbol], spare=1)
    rank, exceptions = with_exceptions(rows, 0, 1)
    return FamilyRank(family, symbol, rank, exceptions)


def generic_rank(matrix: Any) -> GenericRank:
    """The generic rank of a matrix of polynomials in any number of symbols, exactly.

    Where the returned minor is not zero the rank is this; nowhere is it larger, because every
    minor of the next order that borders it is the zero polynomial. Cost: one elimination over the
    polynomial ring.

    Examples
    --------
    >>> from sympy import Matrix, symbols
    >>> a, b, x, y = symbols("a b x y")
    >>> result = generic_rank(Matrix([[a*x, a*y], [b*x, b*y]]))
    >>> result.rank, result.minor
    (1, a*x)
    """
    from sympy import ImmutableMatrix, Integer, Mul

    family = ImmutableMatrix(matrix)
    symbols = sorted(family.free_symbols, key=str)
    if not symbols:
        raise LemmaxError("There is no free symbol: certified_rank gives the rank of a matrix.")
    rows = polynomial_rows(family, symbols)
    elimination = eliminate(rows)
    unit, factors = factored(elimination.minor)
    powers = [_to_sympy(f, symbols) ** k for f, k in factors]
    return GenericRank(family, elimination.rank, Mul(Integer(unit), *powers))


def with_exceptions(
    rows: Rows, logarithm: int, denominator: int
) -> tuple[int, tuple[Exceptional, ...]]:
    """The generic rank of a matrix over Z[t, z], and the values of the parameter below it."""
    generic = eliminate(rows)
    exceptions = []
    for factor in prime_factors(generic.minor):
        values = list(zeros(factor, logarithm, denominator))
        if values:
            rank = eliminate(rows, factor).rank
            if rank < generic.rank:
                exceptions += [Exceptional(value, rank) for value in values]
    exceptions.sort(key=lambda x: float(x.ball.mid()))
    return generic.rank, tuple(exceptions)


def only_symbol(family: Any) -> Any:
    """The one free symbol of a matrix."""
    symbols = sorted(family.free_symbols, key=str)
    if len(symbols) != 1:
        told = ", ".join(map(str, symbols)) or "none"
        raise LemmaxError(f"A family has one free symbol; this matrix has {told}.")
    return symbols[0]


def polynomial_rows(family: Any, symbols: list[Any], spare: int = 0) -> Rows:
    """The entries over Z, each row times its common denominator; ``spare`` more variables."""
    from sympy import Float, Poly, ilcm
    from sympy.polys.polyerrors import BasePolynomialError

    if not family.rows or not family.cols:
        raise LemmaxError("A matrix needs at least one row and one column.")
    names = [*(f"x{i}" for i in range(len(symbols))), *(f"z{i}" for i in range(spare))]
    ring = fmpz_mpoly_ctx.get(names)
    rows = []
    for i in range(family.rows):
        try:
            entries = [Poly(x, *symbols, domain="QQ") for x in family.row(i)]
        except BasePolynomialError:
            entries = []
        if not entries or family.row(i).has(Float):
            raise NotExact(
                f"Row {i} has an entry that is no polynomial with rational coefficients."
            )
        common = ilcm(1, *(int(a.q) for p in entries for a in p.coeffs()))
        rows.append([_from_sympy(p, int(common), ring, spare) for p in entries])
    return rows


def _from_sympy(polynomial: Any, common: int, ring: Any, spare: int) -> fmpz_mpoly:
    terms = {(*powers, *[0] * spare): int(a * common) for powers, a in polynomial.terms() if a}
    made: fmpz_mpoly = ring.from_dict(terms)
    return made


def _to_sympy(polynomial: fmpz_mpoly, symbols: Iterable[Any]) -> Any:
    from sympy import Add, Integer, Mul

    listed = list(symbols)
    return Add(
        *(
            Mul(Integer(int(a)), *(s**k for s, k in zip(listed, powers, strict=True)))
            for powers, a in polynomial.to_dict().items()
        )
    )
