"""Exact numbers, polynomials and arrays as sympy knows them; it is imported when it is needed.

Every exact object has ``to_sympy()``: it has the names of ``to_numpy()`` where there is one, and
exact entries. A rank is a number, or a range of integers while its bounds differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Protocol

from flint import fmpq, fmpq_mat, fmpq_poly, fmpz, fmpz_mat


def symbolic_number(value: fmpq | fmpz | Fraction | int) -> Any:
    """A rational number.

    >>> symbolic_number(fmpq(2, 4)), symbolic_number(Fraction(3))
    (1/2, 3)
    """
    from sympy import Rational

    exact = value if isinstance(value, Fraction) else fmpq(value)
    p, q = (
        (exact.numerator, exact.denominator) if isinstance(exact, Fraction) else (exact.p, exact.q)
    )
    return Rational(int(p), int(q))


def symbolic_matrix(value: fmpq_mat | fmpz_mat) -> Any:
    """A matrix of rationals.

    >>> symbolic_matrix(fmpq_mat([[fmpq(1, 2), 3]]))
    Matrix([[1/2, 3]])
    """
    from sympy import Matrix

    entries = [symbolic_number(x) for row in value.tolist() for x in row]
    return Matrix(value.nrows(), value.ncols(), entries)


def symbolic_array(nested: Any) -> Any:
    """Nested lists of exact numbers, of any depth; a number alone stays one.

    >>> symbolic_array([[[1, fmpq(1, 2)]]])
    [[[1, 1/2]]]
    """
    from sympy import Array, Basic

    def entries(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [entries(x) for x in value]
        return value if isinstance(value, Basic) else symbolic_number(value)

    return Array(entries(nested)) if isinstance(nested, list | tuple) else entries(nested)


def symbolic_vector(values: Iterable[Any]) -> Any:
    """A column of rationals."""
    from sympy import Matrix

    return Matrix([symbolic_number(x) for x in values])


def symbolic_polynomial(polynomial: fmpq_poly, at: Any) -> Any:
    """The value of a rational polynomial at a number or symbol of sympy.

    >>> from sympy import Symbol
    >>> symbolic_polynomial(fmpq_poly([1, 0, fmpq(1, 2)]), Symbol("z"))
    z**2/2 + 1
    """
    from sympy import Add

    return Add(*(symbolic_number(c) * at**power for power, c in enumerate(polynomial.coeffs())))


class HasWeights(Protocol):
    """A head."""

    def to_sympy(self) -> dict[str, Any]:
        """The matrices by name."""
        ...


def symbolic_weights(
    first: dict[str, Any], heads: Sequence[HasWeights], scale: str
) -> dict[str, Any]:
    """The matrices of a layer under the names of ``to_numpy``; the scale is folded into W_Q."""
    named = dict(first)
    for number, head in enumerate(heads):
        matrices = head.to_sympy()
        matrices["W_Q"] *= symbolic_scale(scale)
        named |= {f"heads.{number}.{name}": matrix for name, matrix in matrices.items()}
    return named


def symbolic_scale(scale: str) -> Any:
    """The unit of attention scores: ``"1"``, ``"ln2"`` or ``"1/sqrt(N)"``.

    >>> symbolic_scale("ln2"), symbolic_scale("1/sqrt(2)")
    (log(2), sqrt(2)/2)
    """
    from sympy import Integer, log, sqrt

    if scale == "ln2":
        return log(2)
    return Integer(1) if scale == "1" else 1 / sqrt(int(scale.removeprefix("1/sqrt(").rstrip(")")))
