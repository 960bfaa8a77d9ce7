"""The rows that a step on Wong's layer looks at.

A row of position 1 depends on its subject alone, so rows with one subject are one row with a
weight and several targets.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.training.configurations import Wong

Integers: TypeAlias = NDArray[np.int64]


class Rows(NamedTuple):
    """The rows of a database, tokens numbered within ``inputs``.

    A fact is (key, query, value); a row of the first position is a subject, whose targets are
    ``seconds`` from ``starts[r]`` to ``starts[r + 1]``, each with its count.
    """

    inputs: Integers
    key: Integers
    query: Integers
    value: Integers
    subject: Integers
    starts: Integers
    seconds: Integers
    counts: Integers


def rows_of(config: Wong, both: bool) -> Rows:
    """The rows of a database, with those of the first position or without."""
    facts = np.array(config.facts)
    inputs = np.unique(facts[:, :2])
    local = np.full(config.tokens, -1)
    local[inputs] = np.arange(len(inputs))
    starts = [0]
    seconds: list[int] = []
    counts: list[int] = []
    subjects = np.unique(facts[:, 0]) if both else facts[:0, 0]
    for k in subjects:
        q, c = np.unique(facts[facts[:, 0] == k, 1], return_counts=True)
        seconds.extend(q)
        counts.extend(c)
        starts.append(len(seconds))
    return Rows(
        inputs,
        local[facts[:, 0]],
        local[facts[:, 1]],
        facts[:, 2].copy(),
        local[subjects],
        np.array(starts),
        np.array(seconds, dtype=np.int64),
        np.array(counts, dtype=np.int64),
    )
