"""What witnesses it: weights, matrices, counterexamples, ready to be imported into a paper.

>>> from lemmax.constructions import gram_blowup
>>> gram_blowup(4, 2).matrix.shape
(4, 4)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lemmax.constructions.compiler import CompiledDatabase, compile_database
    from lemmax.constructions.dana.associations import AssociativeMemory, associative_memory
    from lemmax.constructions.dana.encoders import best_encoder, sequence_encoder
    from lemmax.constructions.mahdavi.memory import ContextMemory, memorize
    from lemmax.constructions.mahdavi.saturation import SaturationHeads, saturation_heads
    from lemmax.constructions.wong.blowups import GramBlowup, gram_blowup
    from lemmax.constructions.wong.examples import (
        Example33,
        example_2_2,
        example_2_4,
        example_3_3,
        figure_1,
    )

__all__ = [
    "AssociativeMemory",
    "CompiledDatabase",
    "ContextMemory",
    "Example33",
    "GramBlowup",
    "SaturationHeads",
    "associative_memory",
    "best_encoder",
    "compile_database",
    "example_2_2",
    "example_2_4",
    "example_3_3",
    "figure_1",
    "gram_blowup",
    "memorize",
    "saturation_heads",
    "sequence_encoder",
]

_HOME = {
    "AssociativeMemory": "dana.associations",
    "CompiledDatabase": "compiler",
    "ContextMemory": "mahdavi.memory",
    "Example33": "wong.examples",
    "GramBlowup": "wong.blowups",
    "SaturationHeads": "mahdavi.saturation",
    "associative_memory": "dana.associations",
    "best_encoder": "dana.encoders",
    "compile_database": "compiler",
    "example_2_2": "wong.examples",
    "example_2_4": "wong.examples",
    "example_3_3": "wong.examples",
    "figure_1": "wong.examples",
    "gram_blowup": "wong.blowups",
    "memorize": "mahdavi.memory",
    "saturation_heads": "mahdavi.saturation",
    "sequence_encoder": "dana.encoders",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
