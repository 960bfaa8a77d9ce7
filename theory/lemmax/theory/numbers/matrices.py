"""Exact numbers and matrices: the only place where foreign data becomes rational.

A :class:`Matrix` is an immutable matrix over Q, held as a flint matrix. Integers, fractions,
sympy rationals and numpy integers come in as they are. A float is refused unless the caller asks
for it by name (``floats=True``); it then means the dyadic rational that its bits spell.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload, runtime_checkable

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from lemmax.theory.errors import NotExact, ShapeError
from lemmax.theory.latex import Typeset, latex_matrix, latex_number
from lemmax.theory.shown import LONGEST, html_table
from lemmax.theory.sympified import symbolic_matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MatrixLike: TypeAlias = "Matrix | fmpz_mat | fmpq_mat | Sequence[Sequence[Any]] | NDArray[Any]"
"""Whatever :class:`Matrix` accepts: nested sequences, numpy or sympy matrices, flint matrices."""


@runtime_checkable
class HasSymbols(Protocol):
    """A matrix of sympy, which may have free symbols."""

    @property
    def free_symbols(self) -> set[Any]:
        """The symbols in its entries."""
        ...


_LONG_EXPONENT = re.compile(r"[eE][+-]?[0-9_]{5,}\s*$")


def parsed(value: Any) -> Fraction:
    """``Fraction(value)``; a text such as 1e999999999, too long to write out, is a ValueError.

    >>> parsed("1e-3")
    Fraction(1, 1000)
    """
    if isinstance(value, str) and _LONG_EXPONENT.search(value):
        raise ValueError(f"{value[:40]!r} has an exponent beyond 9999")
    return Fraction(value)


def rational(value: Any, *, floats: bool = False) -> fmpq:
    """The rational number that ``value`` denotes exactly.

    >>> rational("3/4"), rational(0.5, floats=True)
    (3/4, 1/2)
    >>> rational(0.5)
    Traceback (most recent call last):
    ...
    lemmax.theory.errors.NotExact: 0.5 is a float; pass floats=True to read it as an exact ...
    """
    if isinstance(value, fmpq):
        return value
    if isinstance(value, (int, fmpz)):
        return fmpq(value)
    if isinstance(value, Rational):  # those of sympy are, too
        return fmpq(int(value.numerator), int(value.denominator))
    if isinstance(value, str):
        try:
            fraction = parsed(value)
        except (ValueError, ZeroDivisionError):
            shown = repr(value) if len(value) <= 40 else f"{value[:40]!r}…"
            raise NotExact(f"{shown} is not a rational number.") from None
        return fmpq(fraction.numerator, fraction.denominator)
    if hasattr(value, "dtype") and hasattr(value, "item"):
        return rational(_item(value), floats=floats)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotExact(f"{value} is not a finite number.")
        if not floats:
            raise NotExact(
                f"{value!r} is a float; pass floats=True to read it as an exact dyadic rational."
            )
        return fmpq(*value.as_integer_ratio())
    raise NotExact(f"{value!r} of type {type(value).__name__} is not an exact rational number.")


def _item(value: Any) -> Any:
    """A number of numpy or torch as one of Python."""
    _refuse_masked(value)
    return value.item()


def _refuse_masked(data: Any) -> None:
    import numpy as np

    if np.ma.is_masked(data):  # what stands below a mask is anything
        raise NotExact("A masked entry has no value.")


def decimal(value: Any) -> fmpq:
    """The rational number that ``value`` denotes, a float being the decimal that it prints.

    For thresholds that a person types; entries of matrices are never read in this way.

    >>> decimal(0.99), decimal("1/3")
    (99/100, 1/3)
    """
    value = _item(value) if hasattr(value, "dtype") and hasattr(value, "item") else value
    return rational(repr(value) if isinstance(value, float) else value)


def fraction(value: fmpq | fmpz | int) -> Fraction:
    """The same number as a standard :class:`~fractions.Fraction`.

    >>> fraction(fmpq(6, 4))
    Fraction(3, 2)
    """
    number = fmpq(value)
    return Fraction(int(number.p), int(number.q))


def _rows(data: Any) -> list[list[Any]]:
    if hasattr(data, "ndim") and data.ndim != 2:
        raise ShapeError(f"A matrix has two dimensions, this array has {data.ndim}.")
    if hasattr(data, "dtype"):
        _refuse_masked(data)
    try:
        rows = data.tolist() if hasattr(data, "tolist") else [list(row) for row in data]
    except TypeError:
        raise ShapeError(f"{type(data).__name__} is not a matrix: give a list of rows.") from None
    if not rows or not rows[0]:
        raise ShapeError("A matrix needs at least one row and one column.")
    if len({len(row) for row in rows}) != 1:
        raise ShapeError("The rows of a matrix must all have the same length.")
    return rows


def flint_matrix(data: MatrixLike, *, floats: bool = False) -> fmpz_mat | fmpq_mat:
    """The flint matrix of ``data``: over Z when every entry is an integer, else over Q.

    Numpy integer arrays are converted in one step, without a Python loop over their entries.
    """
    if isinstance(data, Matrix):
        return data.flint
    if isinstance(data, (fmpz_mat, fmpq_mat)):
        if not data.nrows() or not data.ncols():
            raise ShapeError("A matrix needs at least one row and one column.")
        return data
    rows = _rows(data)
    # dtypes of torch have no kind
    if getattr(getattr(data, "dtype", None), "kind", "O") in "iu":
        return fmpz_mat(rows)
    if all(type(entry) is int for row in rows for entry in row):
        return fmpz_mat(rows)
    return fmpq_mat([[rational(entry, floats=floats) for entry in row] for row in rows])


def _places(index: Any, length: int) -> tuple[Sequence[int], bool]:
    """The positions that an index names, and whether it is a single one."""
    if isinstance(index, slice):
        return range(length)[index], False
    if not hasattr(index, "__index__"):
        return [range(length)[operator.index(i)] for i in index], False
    place = operator.index(index)
    if not -length <= place < length:
        raise IndexError(f"There is no row or column {place}: the length is {length}.")
    return [place % length], True


class Matrix(Typeset):
    """An immutable matrix of rationals.

    >>> M = Matrix([[1, 2], ["1/2", 0]])
    >>> M.shape, M[1, 0], (M @ M)[0, 0]
    ((2, 2), 1/2, 2)
    >>> M[0], M[:, 0], M[-1, -1]
    ((Fraction(1, 1), Fraction(2, 1)), (Fraction(1, 1), Fraction(1, 2)), 0)
    >>> M == Matrix(M.rows()), hash(M) == hash(Matrix(M.rows()))
    (True, True)
    """

    __slots__ = ("_flint",)
    _flint: fmpq_mat

    def __init__(self, data: MatrixLike, *, floats: bool = False) -> None:
        object.__setattr__(self, "_flint", fmpq_mat(flint_matrix(data, floats=floats)))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("A Matrix is immutable.")

    def __reduce__(self) -> tuple[type[Matrix], tuple[list[list[Fraction]]]]:
        return Matrix, ([list(row) for row in self.rows()],)

    @staticmethod
    def zeros(rows: int, columns: int) -> Matrix:
        """The zero matrix."""
        return Matrix(fmpq_mat(rows, columns))

    @staticmethod
    def identity(n: int) -> Matrix:
        """The identity of size n."""
        return Matrix([[int(i == j) for j in range(n)] for i in range(n)])

    @property
    def flint(self) -> fmpq_mat:
        """The flint matrix itself, not a copy: read it, never write to it."""
        return self._flint

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._flint.nrows(), self._flint.ncols()

    @property
    def T(self) -> Matrix:
        """The transpose."""
        return Matrix(self._flint.transpose())

    @overload
    def __getitem__(self, key: int) -> tuple[Fraction, ...]: ...
    @overload
    def __getitem__(self, key: slice) -> Matrix: ...
    @overload
    def __getitem__(self, key: tuple[int, int]) -> fmpq: ...
    @overload
    def __getitem__(self, key: tuple[int, slice] | tuple[slice, int]) -> tuple[Fraction, ...]: ...
    @overload
    def __getitem__(self, key: tuple[slice, slice]) -> Matrix: ...
    @overload
    def __getitem__(self, key: tuple[Sequence[int], Sequence[int]]) -> Matrix: ...

    def __getitem__(self, key: Any) -> fmpq | Matrix | tuple[Fraction, ...]:
        """An entry, a row, a column or a submatrix; negative indices count from the end."""
        first, second = key if isinstance(key, tuple) else (key, slice(None))
        i, one_row = _places(first, self.shape[0])
        j, one_column = _places(second, self.shape[1])
        if one_row and one_column:
            return self._flint[i[0], j[0]]
        if one_row or one_column:
            if not (isinstance(first, slice) or isinstance(second, slice)):
                raise ShapeError("Index a Matrix with two integers or with two lists of indices.")
            return tuple(fraction(self._flint[a, b]) for a in i for b in j)
        return Matrix([[self._flint[a, b] for b in j] for a in i])

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[tuple[Fraction, ...]]:
        return iter(self.rows())

    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """The entries as standard fractions."""
        return tuple(tuple(fraction(x) for x in row) for row in self._flint.tolist())

    def __matmul__(self, other: Matrix) -> Matrix:
        if self.shape[1] != other.shape[0]:
            raise ShapeError(f"Cannot multiply {self.shape} by {other.shape}.")
        return Matrix(self._flint * other._flint)

    def __add__(self, other: Matrix) -> Matrix:
        if self.shape != other.shape:
            raise ShapeError(f"Cannot add {self.shape} and {other.shape}.")
        return Matrix(self._flint + other._flint)

    def __sub__(self, other: Matrix) -> Matrix:
        if self.shape != other.shape:
            raise ShapeError(f"Cannot subtract {other.shape} from {self.shape}.")
        return Matrix(self._flint - other._flint)

    def __rmul__(self, scalar: Any) -> Matrix:
        return Matrix(self._flint * rational(scalar))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matrix) and bool(self._flint == other._flint)

    def __hash__(self) -> int:
        return hash(self.rows())

    def __repr__(self) -> str:
        rows, columns = self.shape
        if rows * columns > LONGEST:
            return f"Matrix({rows} × {columns})"
        full = f"Matrix({[[str(x) for x in row] for row in self._flint.tolist()]})"
        return full if len(full) <= LONGEST else f"Matrix({rows} × {columns})"

    def _repr_html_(self) -> str:
        return html_table(self._flint.tolist())

    def tolist(self) -> list[list[Fraction]]:
        """The entries as lists of standard fractions."""
        return [list(row) for row in self.rows()]

    def to_sympy(self) -> Any:
        """The same matrix for sympy, exact.

        >>> Matrix([["1/2", 3]]).to_sympy()
        Matrix([[1/2, 3]])
        """
        return symbolic_matrix(self._flint)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """An exact array: int64 where every entry is a short integer, else fractions.

        ``np.asarray(M, dtype=float)`` rounds each entry once.
        """
        import numpy as np

        if copy is False:
            raise ValueError("A Matrix has no array that could be shared.")
        if dtype is not None and np.dtype(dtype).kind == "f":
            return self.to_numpy().astype(dtype)
        entries = self.tolist()
        short = all(x.denominator == 1 and -(2**63) <= x < 2**63 for row in entries for x in row)
        exact = np.array(entries, dtype=object)
        if short:
            exact = np.array([[int(x) for x in row] for row in entries], dtype=np.int64)
        return exact if dtype is None else exact.astype(dtype)

    def to_numpy(self) -> NDArray[np.float64]:
        """The nearest float64 matrix."""
        import numpy as np

        # Fraction -> float rounds correctly, also where numerator and denominator overflow.
        return np.array([[float(x) for x in row] for row in self.rows()], dtype=np.float64)

    def formula(self) -> str:
        r"""A ``pmatrix``; beyond 16 rows or columns with dots, long numbers rounded.

        >>> Matrix([[1, "-1/2"]]).formula()
        '\\begin{pmatrix} 1 & -\\tfrac{1}{2} \\end{pmatrix}'
        """
        return latex_matrix([[latex_number(x) for x in row] for row in self._flint.tolist()])


def integer_matrix(data: MatrixLike, *, floats: bool = False) -> fmpz_mat:
    """An integer matrix with the same rank: the matrix times its common denominator."""
    flint = flint_matrix(data, floats=floats)
    return flint if isinstance(flint, fmpz_mat) else flint.numer_denom()[0]
