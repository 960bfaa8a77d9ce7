"""What is known of a rank: at least ``lower``, at most ``upper``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lemmax.theory.errors import LemmaxError


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

    if TYPE_CHECKING:  # fields of some subclasses, properties of others

        @property
        def lower(self) -> int:
            """At least this."""

        @property
        def upper(self) -> int:
            """At most this."""

    @property
    def rank(self) -> int | None:
        """The rank, or None while the bounds differ."""
        return self.lower if self.lower == self.upper else None

    def _sentence(self) -> str:
        """What is known, in words."""
        if self.rank is not None:
            return f"rank {self.rank}"
        return f"{self.lower} ≤ rank ≤ {self.upper}"

    def _repr_html_(self) -> str:
        return f"<p>{self._sentence()}</p>"

    def known(self, name: str) -> int:
        """The rank, for a certificate that only an exact one has."""
        if self.rank is None:
            raise LemmaxError(
                f"The {name} lies between {self.lower} and {self.upper}: no certificate."
            )
        return self.rank
