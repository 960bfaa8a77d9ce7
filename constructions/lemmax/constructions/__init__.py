"""What witnesses it: weights, matrices, counterexamples, ready to be imported into a paper.

>>> from lemmax.constructions import gram_blowup
>>> gram_blowup(4, 2).matrix.shape
(4, 4)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lemmax.constructions.blowups import GramBlowup, gram_blowup

__all__ = ["GramBlowup", "gram_blowup"]

_HOME = {"GramBlowup": "blowups", "gram_blowup": "blowups"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
