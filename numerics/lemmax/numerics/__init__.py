"""What is measured: torch twins of the exact layers, training, sweeps and figures.

Nothing is imported until it is asked for: torch and matplotlib are optional.

>>> from lemmax.numerics import recipe
>>> recipe("wong-guess").steps
2000
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lemmax.numerics.engines import train
    from lemmax.numerics.experiments import experiment
    from lemmax.numerics.pretrained.assumptions import check_assumptions
    from lemmax.numerics.training.jobs import Dana, Job, Mahdavi, Wong
    from lemmax.numerics.training.recipes import recipe
    from lemmax.numerics.training.sweeps import sweep
    from lemmax.numerics.twins.certify import certify_layer
    from lemmax.numerics.twins.transformer_lens import to_transformer_lens

__all__ = [
    "Dana",
    "Job",
    "Mahdavi",
    "Wong",
    "certify_layer",
    "check_assumptions",
    "experiment",
    "recipe",
    "sweep",
    "to_transformer_lens",
    "train",
]

_HOME = {
    "Dana": "training.jobs",
    "Job": "training.jobs",
    "Mahdavi": "training.jobs",
    "Wong": "training.jobs",
    "certify_layer": "twins.certify",
    "check_assumptions": "pretrained.assumptions",
    "experiment": "experiments",
    "recipe": "training.recipes",
    "sweep": "training.sweeps",
    "to_transformer_lens": "twins.transformer_lens",
    "train": "engines",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
