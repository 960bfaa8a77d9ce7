"""The experiments of the papers: jobs, recorded results, figures and sentences computed from them.

>>> experiment("wong-fig5")
Traceback (most recent call last):
...
lemmax.numerics.experiments.UnknownExperiment: There is no experiment 'wong-fig5'; known are ...
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lemmax.theory.errors import LemmaxError

if TYPE_CHECKING:
    from lemmax.numerics.experiments.studies import Experiment

EXPERIMENTS = {
    "wong-fig2": "wong_figures",
    "wong-fig3": "wong_figures",
    "wong-fig4": "wong_figures",
    "dana-fig1a": "dana_figures",
    "dana-fig1b": "dana_figures",
    "dana-fig2a": "dana_figures",
    "dana-fig2b": "dana_figures",
    "dana-fig3": "dana_fig3",
    "dana-fig4": "dana_fig4",
    "mahdavi-heads": "mahdavi_sizes",
    "mahdavi-context": "mahdavi_sizes",
    "mahdavi-dh": "mahdavi_sizes",
    "dana-beside": "dana_beside",
    "dana-parity": "dana_parity",
    "mahdavi-beside": "mahdavi_beside",
    "wong-beside": "wong_beside",
    "wong-certified": "wong_certified",
}
"""Names, and the module of each."""


class UnknownExperiment(LemmaxError):
    """An experiment that does not exist; the message lists those that do."""


def experiment(name: str) -> Experiment:
    """The experiment of that name: its studies, its figure, and what its data say.

    >>> [study.name for study in experiment("wong-fig3").studies]
    ['wong-guess', 'wong-slow']
    """
    if name not in EXPERIMENTS:
        known = ", ".join(EXPERIMENTS)
        raise UnknownExperiment(f"There is no experiment {name!r}; known are {known}.")
    module = import_module(f"lemmax.numerics.experiments.{EXPERIMENTS[name]}")
    found: Experiment = module.EXPERIMENTS[name]
    return found
