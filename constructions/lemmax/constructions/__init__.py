"""What witnesses it: weights, matrices, counterexamples, ready to be imported into a paper.

>>> from lemmax.constructions import gram_blowup
>>> gram_blowup(4, 2).matrix.shape
(4, 4)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lemmax.constructions.blowups import GramBlowup, gram_blowup
    from lemmax.constructions.compiler import CompiledDatabase, compile_database
    from lemmax.constructions.context_memory import ContextMemory, memorize
    from lemmax.constructions.saturation import SaturationHeads, saturation_heads

__all__ = [
    "CompiledDatabase",
    "ContextMemory",
    "GramBlowup",
    "SaturationHeads",
    "compile_database",
    "gram_blowup",
    "memorize",
    "saturation_heads",
]

_HOME = {
    "CompiledDatabase": "compiler",
    "ContextMemory": "context_memory",
    "GramBlowup": "blowups",
    "SaturationHeads": "saturation",
    "compile_database": "compiler",
    "gram_blowup": "blowups",
    "memorize": "context_memory",
    "saturation_heads": "saturation",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
