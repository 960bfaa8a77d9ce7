"""The experiments: a folder per paper, and what all of them share (studies, statistics).

A figure or a sentence is computed from recorded or trained results; no number is typed here that
data can give, and how a step of training is computed is not said here.

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
    "wong-fig2": "wong.fig2",
    "wong-fig3": "wong.fig3",
    "wong-fig4": "wong.fig4",
    "dana-fig1a": "dana.fig1",
    "dana-fig1b": "dana.fig1",
    "dana-fig2a": "dana.fig2",
    "dana-fig2b": "dana.fig2",
    "dana-fig3": "dana.fig3",
    "dana-fig4": "dana.fig4",
    "dana-starts": "dana.starts",
    "mahdavi-heads": "mahdavi.sizes",
    "mahdavi-context": "mahdavi.sizes",
    "mahdavi-dh": "mahdavi.sizes",
    "dana-beside": "dana.beside",
    "dana-parity": "dana.parity",
    "mahdavi-beside": "mahdavi.beside",
    "wong-beside": "wong.beside",
    "wong-capacity": "wong.capacity",
    "wong-certified": "wong.certified",
    "wong-thresholds": "wong.thresholds",
    "readouts": "readouts",
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
    chosen: Experiment = module.EXPERIMENTS[name]
    return chosen
