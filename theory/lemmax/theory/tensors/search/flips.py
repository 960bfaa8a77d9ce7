"""Shorter exact decompositions by walks on the flip graph.

Two terms with a common factor may be rewritten,

    a⊗b⊗c + a⊗b'⊗c' = a⊗(b + t·b')⊗c + a⊗b'⊗(c' - t·c),

and a walk of such flips meets, now and then, terms that merge (Kauers and Moosbauer 2022); where it
is stuck, two terms become three (the plus transitions of Arai, Ichikawa and Hukushima 2024). A walk
over Z never goes below the rank over F₂, of which Q knows nothing, so there are walks over F₃, F₅
and F₇ as well; what they find counts once it is lifted to Q (:mod:`.lifting`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from lemmax.theory.numbers.linear import integers
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.decompositions import Decomposition, rational_terms
from lemmax.theory.tensors.search import flip_walk
from lemmax.theory.tensors.search.clock import late
from lemmax.theory.tensors.search.flip_state import first_state, set_warmth, terms_of
from lemmax.theory.tensors.search.lifting import ENTRIES, jacobian_entries, lift

VISITS = (
    *((0, warmth, 4) for warmth in (0.3, 0.6, 0.95)),
    *((p, warmth, 1) for warmth in (0.6, 1.0) for p in (3, 5, 7)),
)
"""The walks of a round: a prime, 0 for Z, how warm the walk is, and its part of the steps."""

FIRST_ROUND = 20_000  # steps of a part; every round has twice as many as the one before
FAILURES = 4  # to lift decompositions of one length, before longer ones are tried
FAILURE = 100_000  # steps that a failure to lift counts for, and 4 for an entry of its Jacobian
CHUNK = 100_000  # steps between two looks at the clock, compiled
PLAIN_CHUNK = 500  # and in plain Python
PATIENCE = 20_000  # flips without gain before a plus transition
MARGIN = 2  # terms above the best
WANDER = 1_000  # flips between two decompositions of one length that are tried to be lifted
BOUND = 1  # entries over Z

Terms = tuple[Sequence[NDArray[Any]], list[fmpq]]
"""Primitive integer factors, one row per term, and a rational scalar for every term."""

Reduced = tuple[list[NDArray[np.int64]], NDArray[np.int64]]
"""Normalised factors and scalars over Z or F_p."""


def shorten(
    array: Array,
    start: Decomposition,
    *,
    target: int,
    deadline: float | None = None,
    steps: int = 10_000_000,
    seed: int = 0,
) -> Decomposition:
    """The shortest exact rational decomposition that was found, at worst the start.

    Parameters
    ----------
    array, start
        An integer tensor and a decomposition of it.
    target
        Stop at so many terms: a lower bound of the rank, or what one is content with.
    deadline
        Stop at this reading of the clock; without one the result depends on nothing
        but the other arguments.
    steps, seed
        Stop after so many steps of all walks together; another seed, other walks.

    >>> from lemmax.theory.tensors.above.slices import slice_sum
    >>> T = np.zeros((2, 2, 2), dtype=int)
    >>> T[0, 0, 0] = T[0, 1, 1] = T[1, 0, 1] = T[1, 1, 0] = 1  # the sum in Z/2
    >>> start = slice_sum(T, 2)
    >>> len(start), len(shorten(T, start, target=2, steps=2000))
    (4, 2)
    """
    search = _Search(array, start, target, deadline, steps, seed)
    size = min(FIRST_ROUND, 1 + steps // (4 * sum(part for _, _, part in VISITS)))
    while not search.finished():
        before = search.steps
        for p, warmth, part in VISITS:
            search.visit(p, warmth, part * size)
        size *= 2
        if search.steps == before:  # no ring has the tensor
            break
    return search.best


@dataclass
class _Search:
    """What is known while walks over several rings take turns."""

    array: Array
    best: Decomposition
    target: int
    deadline: float | None
    steps: int
    seed: int
    states: dict[int, Any] = field(default_factory=dict)
    floors: dict[int, int] = field(default_factory=dict)
    failures: dict[int, int] = field(default_factory=dict)

    def finished(self) -> bool:
        return late(self.deadline) or self.steps <= 0 or len(self.best) <= self.target

    def visit(self, p: int, warmth: float, steps: int) -> None:
        """Walk on over one ring; every shorter decomposition over Q becomes the best one.

        After some failures to lift terms of one length the walk is kept above that length, until
        none below the best is left; then all lengths have another chance.
        """
        chunk = CHUNK if flip_walk.COMPILED else PLAIN_CHUNK
        end = max(0, self.steps - steps)
        while not self.finished() and self.steps > end:
            if self.floors.get(p, self.target) >= len(self.best):
                self.floors[p] = self.target
            if p not in self.states:
                self.states[p] = self._first(p)
            state, floor = self.states[p], self.floors.get(p, self.target)
            if state is None:
                return
            set_warmth(state, warmth)

            def walk(goal: int, steps: int, state: Any = state, floor: int = floor) -> None:
                steps = min(steps, self.steps - end)
                self.steps -= flip_walk.walk(state, p, BOUND, floor, MARGIN, PATIENCE, goal, steps)

            goal = len(self.best) - 1
            walk(goal, chunk)
            length = int(state[flip_walk.LENGTH])
            if not length or length > goal:
                continue
            shorter = self._exact(p, *terms_of(state))
            if shorter is not None:
                self._improve(p, shorter)
                continue
            self.steps -= FAILURE + 4 * min(ENTRIES, jacobian_entries(self.array, length))
            self.failures[p] = self.failures.get(p, 0) + 1
            if self.failures[p] % FAILURES:
                walk(-1, WANDER)
            else:
                self.floors[p] = length + 1
                del self.states[p]

    def _improve(self, p: int, shorter: Decomposition) -> None:
        """Note a shorter decomposition; walks over other rings that are behind start from it."""
        self.best = shorter
        for q, state in list(self.states.items()):
            if q != p and (state is None or state[flip_walk.BEST] > len(shorter)):
                begun = self._begin(q)
                if begun is not None:
                    self.states[q] = begun

    def _exact(
        self, p: int, factors: Sequence[NDArray[np.int64]], scalars: NDArray[np.int64]
    ) -> Decomposition | None:
        """The terms over Q, if they add up there."""
        u, v, w = factors
        weighted = (u, v, w * scalars[:, None])
        if p:
            return lift(self.array, weighted, p, deadline=self.deadline, seed=self.seed)
        exact = rational_terms(self.array.shape, zip(*weighted, strict=True))
        return exact if exact.adds_up_to(self.array) else None

    def _begin(self, p: int) -> Any:
        """The state of a walk from the best decomposition, None if the ring does not have it."""
        return None if self.best.families else self._state(p, over(p, primitive(self.best)))

    def _first(self, p: int) -> Any:
        """The state of a walk from the best decomposition, else from the fibres of the tensor."""
        state = self._begin(p)
        return self._state(p, over(p, fibres(self.array))) if state is None else state

    def _state(self, p: int, terms: Reduced | None) -> Any:
        if terms is None:
            return None
        return flip_walk.prepared(first_state(*terms, MARGIN, p, self.seed))


def primitive(decomposition: Decomposition) -> Terms:
    """Rational terms with primitive integer factors whose first nonzero entry is positive."""
    factors: list[list[list[int]]] = [[], [], []]
    scalars = []
    for term in decomposition.terms:
        scalar = fmpq(1)
        for mode, vector in enumerate(term):
            whole = integers(vector)
            k = next(k for k, x in enumerate(whole) if x)
            sign = 1 if whole[k] > 0 else -1
            scalar *= vector[k] / (whole[k] * sign)
            factors[mode].append([int(x) * sign for x in whole])
        scalars.append(scalar)
    return [np.array(f, dtype=object) for f in factors], scalars


def fibres(array: Array) -> Terms:
    """T = Σ e_i⊗e_j⊗T[i, j, :], along the mode with the fewest nonzero fibres."""
    counts = [np.count_nonzero((array != 0).any(axis=mode)) for mode in range(3)]
    mode = int(np.argmin(counts))
    turned = np.moveaxis(array, mode, 2)
    unit = [np.eye(n, dtype=object) for n in turned.shape[:2]]
    terms = []
    for i, j in np.argwhere((turned != 0).any(axis=2)):
        term = [unit[0][i], unit[1][j]]
        term.insert(mode, turned[i, j])
        terms.append(term)
    return primitive(rational_terms(array.shape, terms))


def over(p: int, terms: Terms) -> Reduced | None:
    """The terms over F_p or Z, normalised; None if that is impossible or the numbers are large."""
    factors, scalars = terms
    if not p:
        large = any(abs(f).max() > 127 for f in factors)
        if large or any(s.q != 1 or abs(s.p) > flip_walk.HEAVIEST for s in scalars):
            return None
        return [f.astype(np.int64) for f in factors], np.array([int(s.p) for s in scalars])
    if any(s.q % p == 0 for s in scalars):
        return None
    residues = [int(s.p) * pow(int(s.q), -1, p) % p for s in scalars]
    kept = [r for r, x in enumerate(residues) if x]
    if not kept:
        return None
    reduced = [np.array(f[kept] % p, dtype=np.int64) for f in factors]
    weights = np.array([residues[r] for r in kept], dtype=np.int64)
    for f in reduced:
        lead = f[np.arange(len(f)), (f != 0).argmax(axis=1)]
        inverse = np.array([pow(int(x), -1, p) for x in lead], dtype=np.int64)
        f *= inverse[:, None]
        f %= p
        weights = weights * lead % p
    return reduced, weights
