"""The front door: what is constructed, what is found, and the decision that it knows every fact."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from flint import fmpq

from lemmax.constructions.compiler.compiling import CompiledDatabase, checked_threshold
from lemmax.constructions.compiler.smallest.choosing import constructed
from lemmax.constructions.compiler.smallest.needed import needed
from lemmax.constructions.compiler.smallest.searching import search
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.tensors.search.clock import usable_seconds
from lemmax.theory.wong.layer import AttentionLayer
from lemmax.theory.wong.memorization import Memorization, memorizes

SECONDS = 10.0
_LARGEST_SCALE = 128  # the binary logarithm of the last factor of W_U that is tried


def compile_smallest(
    db: Any,
    tau: Any | None = None,
    *,
    seconds: float | None = SECONDS,
    waves: int | None = None,
    seed: int = 0,
    processes: int = 1,
    state: str | os.PathLike[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> CompiledDatabase:
    """A layer that memorizes a database, with as few non-embedding parameters as are found.

    The smallest construction is built, and until the time is over smaller layers are trained,
    their weights rounded and the result decided exactly; it is never larger than what
    :func:`~lemmax.constructions.compile_database` makes. The search ends early where the lower
    bound is reached. By proof, with subjects and predicates disjoint: 2r² parameters for r ≥ 2
    classes of predicates (or of subjects) that never disagree, and 16 for the table of a cyclic
    group of any order.

    With ``state`` every finished attempt is kept in that file, and the same call continues from it.
    The same seed and ``waves`` give the same layer in any number of processes, killed and continued
    or not. Cost: the seconds; an attempt is 32 layers trained for some thousand steps.

    Examples
    --------
    >>> db = Database.from_triples(
    ...     (f"k{i}", f"q{j}", (i + j) % 9) for i in range(9) for j in range(9)
    ... )
    >>> compiled = compile_smallest(db, waves=0)
    >>> compiled.dims.parameters, compiled.recall("k7", "q5").answer
    (16, 3)
    """
    threshold = checked_threshold(tau)
    if seconds is not None:
        usable_seconds(seconds)
    if processes < 1:
        raise LemmaxError(f"A search needs at least one process, not {processes}.")
    db = Database.of(db)
    choice, least = constructed(db), needed(db)
    found = None
    if least.parameters < choice.dims.parameters:
        found = search(
            db,
            choice.dims.parameters,
            least=least.parameters,
            narrowest=least.narrowest,
            seconds=seconds,
            waves=waves,
            seed=seed,
            processes=processes,
            state=state,
            progress=progress,
        )
    method = "found" if found is not None else choice.method
    layer = found if found is not None else choice.build()
    return CompiledDatabase(db, method, decided(layer, db, threshold))


def decided(layer: AttentionLayer, db: Database, tau: fmpq | None) -> Memorization:
    """The decision that the layer knows all, with W_U doubled until every fact reaches τ."""
    left, scale = tuple(db) if tau is not None else (), 1
    while left and scale.bit_length() < _LARGEST_SCALE:  # a fact that has reached it stays there
        left = memorizes(layer.scaled(scale), left, tau).missed
        scale *= 2 if left else 1
    decision = memorizes(layer if scale == 1 else layer.scaled(scale), db, tau)
    if decision.missed:
        raise AssertionError(f"the layer misses {decision.missed[0]}")
    return decision
