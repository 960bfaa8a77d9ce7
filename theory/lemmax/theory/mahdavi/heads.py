"""One head of multi-head attention on contexts and queries, over the rationals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lemmax.theory.errors import ShapeError
from lemmax.theory.numbers.matrices import Matrix, MatrixLike


@dataclass(frozen=True, init=False)
class ContextHead:
    """One head: W_K (d × d_h), W_Q (d_q × d_h) and, where outputs matter, W_V and W_O.

    W_V is d × d_v and W_O is d_v × d_out. Queries may live in a space of another dimension d_q
    than the tokens: a bias of the query map is one more coordinate, equal to 1, of the queries.

    >>> ContextHead([[0], [1], [2]], [[1], [0], [0]]).W_K.shape
    (3, 1)
    """

    W_K: Matrix
    W_Q: Matrix
    W_V: Matrix | None
    W_O: Matrix | None

    def __init__(
        self,
        W_K: MatrixLike,
        W_Q: MatrixLike,
        W_V: MatrixLike | None = None,
        W_O: MatrixLike | None = None,
    ) -> None:
        for name, value in (("W_K", W_K), ("W_Q", W_Q), ("W_V", W_V), ("W_O", W_O)):
            if value is not None and not isinstance(value, Matrix):
                value = Matrix(value)
            object.__setattr__(self, name, value)
        self._check_shapes()

    def _check_shapes(self) -> None:
        if self.W_K.shape[1] != self.W_Q.shape[1]:
            raise ShapeError(
                f"W_K has {self.W_K.shape[1]} columns and W_Q {self.W_Q.shape[1]}: "
                "both must be the head dimension."
            )
        if (self.W_V is None) != (self.W_O is None):
            raise ShapeError("A head needs both W_V and W_O, or neither.")
        if self.W_V is not None and self.W_O is not None:
            if self.W_V.shape[0] != self.W_K.shape[0]:
                raise ShapeError(
                    f"W_V has {self.W_V.shape[0]} rows for tokens of dimension {self.W_K.shape[0]}."
                )
            if self.W_V.shape[1] != self.W_O.shape[0]:
                raise ShapeError(
                    f"W_V has {self.W_V.shape[1]} columns and W_O {self.W_O.shape[0]} rows."
                )

    @property
    def d_h(self) -> int:
        """The head dimension."""
        return self.W_K.shape[1]

    def to_sympy(self) -> dict[str, Any]:
        """The matrices by name, for sympy; W_V and W_O where the head has them."""
        named = ((name, getattr(self, name)) for name in ("W_K", "W_Q", "W_V", "W_O"))
        return {name: value.to_sympy() for name, value in named if value is not None}

    @cached_property
    def values(self) -> Matrix | None:
        """W_V W_O (d × d_out): what the head adds to the output, per coordinate of its feature."""
        return None if self.W_V is None or self.W_O is None else self.W_V @ self.W_O
