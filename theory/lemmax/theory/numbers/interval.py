"""What is known of a rank: at least ``lower``, at most ``upper``."""

from __future__ import annotations

from typing import Any, Protocol

from lemmax.theory.errors import LemmaxError


class Bounded(Protocol):
    """What has a lower and an upper bound, as fields or as properties."""

    @property
    def lower(self) -> int: ...

    @property
    def upper(self) -> int: ...


def in_words(bounds: Bounded) -> str:
    """What is known, in words."""
    if bounds.lower == bounds.upper:
        return f"rank {bounds.lower}"
    return f"{bounds.lower} ≤ rank ≤ {bounds.upper}"


class Interval:
    """A number between two bounds, which a subclass has as ``lower`` and ``upper``.

    >>> class Known(Interval):
    ...     lower, upper = 2, 3
    >>> Known().rank is None
    True
    >>> Known().known("rank")
    Traceback (most recent call last):
    ...
    lemmax.theory.errors.LemmaxError: The rank lies between 2 and 3: no certificate.
    """

    @property
    def rank(self: Bounded) -> int | None:
        """The rank, or None while the bounds differ."""
        return self.lower if self.lower == self.upper else None

    def _sentence(self: Bounded) -> str:
        """What is known, in words."""
        return in_words(self)

    def _repr_html_(self: Bounded) -> str:
        return f"<p>{in_words(self)}</p>"

    def to_sympy(self: Bounded) -> Any:
        """The rank, or the integers that it lies between while the bounds differ.

        >>> class Known(Interval):
        ...     lower, upper = 2, 3
        >>> Known().to_sympy()
        Range(2, 4, 1)
        """
        from sympy import Integer, Range

        if self.lower == self.upper:
            return Integer(self.lower)
        return Range(self.lower, self.upper + 1)

    def known(self: Bounded, name: str) -> int:
        """The rank, for a certificate that only an exact one has."""
        if self.lower != self.upper:
            raise LemmaxError(
                f"The {name} lies between {self.lower} and {self.upper}: no certificate."
            )
        return self.lower
