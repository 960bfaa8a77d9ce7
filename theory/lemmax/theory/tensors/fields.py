"""The fields over which a rank is asked for: the rational, the real and the complex numbers."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from lemmax.theory.errors import LemmaxError

Field: TypeAlias = Literal["Q", "R", "C"]


class UnknownField(LemmaxError):
    """A field other than the rational, the real and the complex numbers."""


def known_field(name: str) -> Field:
    """The name itself, where it is that of a field.

    >>> known_field("C")
    'C'
    """
    fields: tuple[Field, ...] = get_args(Field)
    for field in fields:
        if field == name:
            return field
    raise UnknownField(f"{name!r} is not a field that lemmax knows: Q, R or C.")
