"""Bounds of one component, and of a tensor from those of its components."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice, permutations
from typing import Any, TypeAlias

import numpy as np

from lemmax.theory.tensors.above.pairs_of_slices import pair_split
from lemmax.theory.tensors.above.pivots import (
    ALL_SPLITS,
    best_column_pivot,
    column_subsets,
    domain_pivot,
    is_database,
)
from lemmax.theory.tensors.above.slices import slice_sum, spanning_tree
from lemmax.theory.tensors.above.spans import span_of_rank_ones
from lemmax.theory.tensors.arrays import Array, flattening_rank
from lemmax.theory.tensors.below.chains import LowerBound, restriction, substitution
from lemmax.theory.tensors.below.contractions import contraction_bound
from lemmax.theory.tensors.below.flattenings import flattening_prime
from lemmax.theory.tensors.below.killing import search
from lemmax.theory.tensors.below.koszul import koszul_bounds
from lemmax.theory.tensors.below.quadrics import quadrics
from lemmax.theory.tensors.below.squares import square_bound
from lemmax.theory.tensors.below.substitution import ALL_SUBSETS, Path, Subsets, flattening_leaf
from lemmax.theory.tensors.decompositions import Decomposition
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.pencils.decompositions import pencil_decomposition
from lemmax.theory.tensors.pencils.lower_bounds import pencil_bound
from lemmax.theory.tensors.pencils.normal_forms import pencil
from lemmax.theory.tensors.reductions import components, concise, restricted
from lemmax.theory.tensors.search.clock import late
from lemmax.theory.tensors.search.fitting import Quotient, quotients, shorter, ways
from lemmax.theory.tensors.search.flips import shorten

_WIDE = 16  # the width of the second beam of killed vectors
_PENCILS = 6  # how many pairs of slices are solved in search of a lower bound
_TURN = 2.0  # seconds of the first walk and of the first fit; each turn takes twice as long
_FEW = 300  # unknowns of problems that are fitted before a walk
_UNKNOWNS = 800  # of the largest problems that are fitted
_TRIES = 2  # starting points of a fit with each number of terms


@dataclass(frozen=True)
class Route:
    """A path through subsets of slices and the bound that closes it."""

    path: Path
    leaf: LowerBound

    @property
    def value(self) -> int:
        return self.path.gain + self.leaf.value


@dataclass(frozen=True)
class Component:
    """A concise direct summand with its bounds.

    ``additive`` ends in a flattening, so it adds to any bound of the other summands; ``route`` may
    end in a lemma that does not. ``stopped`` says that time ended the search.
    """

    array: Array
    additive: Route
    route: Route
    decomposition: Decomposition
    reasons: tuple[str, ...]
    stopped: bool = False

    def raised(self, bound: LowerBound | None) -> Component:
        """The component with a lower bound, where that one is larger."""
        if bound is None or bound.value <= self.route.value:
            return self
        return replace(self, route=Route(Path(0), bound))

    def shortened(self, reason: str, decomposition: Decomposition | None) -> Component:
        """The component with a decomposition, where that one is shorter."""
        if decomposition is None or len(decomposition) >= len(self.decomposition):
            return self
        return replace(self, decomposition=decomposition, reasons=(reason,))


def readable_bounds(array: Array) -> Iterator[tuple[str, Decomposition]]:
    """The cheap decompositions by name, with terms that a person can read."""
    for mode, name in ((2, "values"), (1, "queries"), (0, "keys")):
        yield f"slice sum over the {name}", slice_sum(array, mode)
    if is_database(array):
        yield "domain pivot", domain_pivot(array)
        if array.shape[1] <= ALL_SUBSETS:
            yield "column pivot", best_column_pivot(array)


def upper_bounds(array: Array) -> Iterator[tuple[str, Decomposition]]:
    """Decompositions by name, the cheap ones first; whoever asks may stop early."""
    yield from readable_bounds(array)
    if is_database(array):
        if array.shape[1] > ALL_SUBSETS:
            yield "column pivot", best_column_pivot(array)
        swapped = array.transpose(1, 0, 2)
        yield "row pivot", best_column_pivot(swapped).permuted((1, 0, 2))
        if array.shape[1] <= ALL_SPLITS:
            yield "column pivots by subsets", column_subsets(array)
        elif array.shape[0] <= ALL_SPLITS:
            yield "row pivots by subsets", column_subsets(swapped).permuted((1, 0, 2))
    for mode, name in ((2, "values"), (1, "queries"), (0, "keys")):
        yield f"spanning tree over the {name}", spanning_tree(array, mode)


def solve_component(array: Array, field: Field, deadline: float | None = None) -> Component:
    """Bounds of a concise tensor that is no direct sum.

    The flattenings and the slice sums always run; past the deadline no further stage begins.
    Without a deadline the walks and the fits, which never end by themselves, do not begin.
    """
    flat = Route(Path(0), flattening_leaf(array))
    if 2 in array.shape:
        mode = array.shape.index(2)
        bound, decomposition, reason = solve_pencil(array, mode, field)
        return Component(array, flat, Route(Path(mode), bound), decomposition, (reason,))
    found: list[tuple[str, Decomposition]] = []
    for candidate in upper_bounds(array):
        found.append(candidate)
        if len(candidate[1]) == flat.value or (len(found) >= 3 and late(deadline)):
            break
    reason, shortest = min(found, key=lambda pair: len(pair[1]))
    additive, route = lower_bounds(array, flat, len(shortest), field, deadline)
    part = Component(array, additive, route, shortest, (reason,))
    for stage in STAGES:
        if part.route.value < len(part.decomposition) and not late(deadline):
            part = stage(part, field, deadline)
    closed = part.route.value == len(part.decomposition)
    return replace(part, stopped=not closed and late(deadline))


def _by_quadrics(part: Component, field: Field, deadline: float | None) -> Component:
    for mode in range(3):
        if part.array.shape[mode] >= part.additive.leaf.value and not late(deadline):
            above, diagonal = quadrics(part.array, mode, field)
            part = part.raised(above).shortened("simultaneous diagonalisation", diagonal)
    return part


def _by_pairs(part: Component, field: Field, deadline: float | None) -> Component:
    for mode in sorted(range(3), key=lambda m: part.array.shape[m]):
        if not late(deadline):
            split = pair_split(part.array, mode, field)
            part = part.shortened("pencils of pairs of slices", split)
    return part


def _by_koszul(part: Component, field: Field, deadline: float | None) -> Component:
    for bound in koszul_bounds(part.array):
        part = part.raised(bound)
    return part


def _by_spans(part: Component, field: Field, deadline: float | None) -> Component:
    """The slices in the span of few matrices of rank one; and a proof that they need one more."""
    for mode in sorted(range(3), key=lambda m: -part.array.shape[m]):
        size, most = part.array.shape[mode], len(part.decomposition) - 1
        if part.route.value <= most and size > most // 2 and not late(deadline):
            found = span_of_rank_ones(part.array, mode, most, lambda: late(deadline))
            part = part.shortened("matrices of rank one in the span of the slices", found)
    return part.raised(contraction_bound(part.array) or square_bound(part.array))


def _by_quotients(
    part: Component, field: Field, deadline: float | None, width: int = 4
) -> Component:
    """Vectors killed one by one, in at most a third of the time that is left."""

    def leaf(rest: Array, least: int) -> LowerBound | None:
        if 2 in rest.shape:
            return pencil_leaf(rest, rest.shape.index(2), field)
        bounds: list[LowerBound | None] = []
        if max(rest.shape) >= least:
            bounds.append(contraction_bound(rest) or square_bound(rest))
        bounds += [quadrics(rest, m, field)[0] for m in range(3) if rest.shape[m] >= least]
        return max((b for b in bounds if b is not None), key=lambda b: b.value, default=None)

    upper, lower = len(part.decomposition), part.route.value
    expired = partial(late, _share(deadline, 3))
    return part.raised(search(part.array, upper, lower, leaf, width, expired))


def _by_search(part: Component, field: Field, deadline: float | None) -> Component:
    """Walks on the flip graph and numerical fits made exact, in turns, until the time is up.

    Where there are few unknowns, fits come first. After the first turn there is a wider search
    for vectors to kill.
    """
    if deadline is None:
        return part
    among = quotients(part.array)
    least = part.route.value
    unknowns = min((q.unknowns(least) for q in ways(among, least)), default=_UNKNOWNS + 1)
    attempts = count()
    for seed in count():
        if seed or unknowns > _FEW:
            part = _walk(part, seed, _turn(seed, deadline))
        if unknowns <= _UNKNOWNS and part.route.value < len(part.decomposition):
            part = _fits(part, among, attempts, _turn(seed, deadline), _turn(seed + 1, deadline))
        if not seed and part.route.value < len(part.decomposition):
            part = _by_quotients(part, field, deadline, _WIDE)
        if part.route.value == len(part.decomposition) or late(deadline):
            return part
    raise AssertionError("the seeds do not end")


def _turn(seed: int, deadline: float) -> float:
    return min(deadline, time.monotonic() + math.ldexp(_TURN, seed))


def _fits(
    part: Component, among: list[Quotient], attempts: Iterator[int], turn: float, deadline: float
) -> Component:
    """Fits that begin before the turn ends, and end before the deadline."""
    while part.route.value < len(part.decomposition) and not late(turn):
        found = shorter(
            among,
            part.route.value,
            part.decomposition,
            deadline=deadline,
            tries=_TRIES,
            seed=next(attempts),
        )
        part = part.shortened("a numerical fit made exact", found)
    return part


def _walk(part: Component, seed: int, deadline: float) -> Component:
    walked = shorten(
        part.array, part.decomposition, target=part.route.value, deadline=deadline, seed=seed
    )
    return part.shortened("a walk on the flip graph", walked)


STAGES: tuple[Callable[[Component, Field, float | None], Component], ...] = (
    _by_quadrics,
    _by_pairs,
    _by_spans,
    _by_koszul,
    _by_quotients,
    _by_search,
)


def solve_pencil(array: Array, mode: int, field: Field) -> tuple[LowerBound, Decomposition, str]:
    """The exact bounds of a concise tensor with a mode of size two.

    Where a slice sum or a pivot is as short as the pencil's own decomposition it is preferred: its
    terms are sets of keys and queries that a person can read.
    """
    first, second = np.moveaxis(array, mode, 0)
    form = pencil(first, second)
    bound = pencil_bound(array, mode, form, field)
    for reason, candidate in readable_bounds(array):
        if len(candidate) == form.rank(field):
            return bound, candidate, reason
    order = [0, 1]
    order.insert(mode, 2)
    return bound, pencil_decomposition(form, field).permuted(order), "pencil"


def lower_bounds(
    array: Array, flat: Route, upper: int, field: Field, deadline: float | None = None
) -> tuple[Route, Route]:
    """The best additive route, and the best of all."""
    if flat.value == upper:
        return flat, flat
    additive = route = flat
    sizes = sorted(range(3), key=lambda m: (array.shape[m], m != 1))
    modes = [m for m in sizes if array.shape[m] <= ALL_SUBSETS] or sizes[:1]
    for mode in modes:
        if late(deadline):
            break
        subsets = Subsets(array, mode)
        value, mask = subsets.by_flattening()
        if value > additive.value:
            path = subsets.path(mask)
            additive = max(additive, Route(path, flattening_leaf(path.end(array))), key=_value)
            route = max(route, additive, key=_value)
        if route.value == upper or late(deadline):
            break
        found = subsets.by_transversal(route.value)
        if found is not None:
            _, mask, step = found
            path = subsets.path(mask)
            leaf = LowerBound(transversal_value(path.end(array), step), (step,))
            route = max(route, Route(path, leaf), key=_value)
        if route.value == upper or late(deadline):
            break
        for mask in islice(subsets.pairs(route.value), _PENCILS):
            path = subsets.path(mask)
            leaf = pencil_leaf(path.end(array), mode, field)
            route = max(route, Route(path, leaf), key=_value)
            if route.value == upper or late(deadline):
                return additive, route
    return additive, route


def pencil_leaf(array: Array, mode: int, field: Field) -> LowerBound:
    """The exact rank of a tensor with two slices in the mode, after concision."""
    core = concise(array)
    maps = [k if len(k) < n else [] for k, n in zip(core.kept, array.shape, strict=True)]
    if core.array.shape[mode] < 2:
        return flattening_leaf(array)
    first, second = np.moveaxis(core.array, mode, 0)
    form = pencil(first, second)
    return pencil_bound(core.array, mode, form, field).after(restriction(maps))


def _value(route: Route) -> int:
    return route.value


def transversal_value(array: Array, step: dict[str, Any]) -> int:
    """The bound of a transversal step, with exact ranks."""
    mode, columns = step["mode"], step["columns"]
    whole = flattening_rank(array, mode)
    total = 0
    for q in range(array.shape[columns]):
        rest = np.delete(array, q, axis=columns)
        total += whole - (flattening_rank(rest, mode) if rest.size else 0)
    return total + int(step["hitting"])


Side: TypeAlias = tuple[list[int], list[int], list[int]]
Labels: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Plan:
    """A chain of restrictions of a tensor to sets of indices, and the bound that closes it.

    A step keeps the named indices of each mode; it gains by substitution in a mode, or nothing.
    """

    steps: tuple[tuple[int | None, Labels], ...]
    leaf: LowerBound
    value: int

    def after(self, gaining: int | None, keep: Labels, gain: int = 0) -> Plan:
        """The same plan one step earlier."""
        return Plan(((gaining, keep), *self.steps), self.leaf, self.value + gain)


@dataclass(frozen=True)
class Solution:
    """Bounds of a tensor: ``additive`` ends in a flattening, ``best`` in any lemma."""

    additive: Plan
    best: Plan
    decomposition: Decomposition
    reasons: tuple[str, ...]
    thin: bool = False  # a mode of size at most two, after concision
    cited: int = 0  # what is gained beyond ``best`` if ranks of direct sums with thin parts add up
    stopped: bool = False  # time ended the search in some component


def solve(array: Array, field: Field, deadline: float | None = None) -> Solution:
    """Reduce and bound a nonzero tensor: concision, components, private slices, one component.

    A deadline is a time of ``time.monotonic()``, past which no further stage of the search begins.
    """
    a, b, c = (tuple(range(n)) for n in array.shape)
    return _solve(array, (a, b, c), field, deadline)


def _solve(array: Array, labels: Labels, field: Field, deadline: float | None) -> Solution:
    core = concise(array)
    kept = _named(labels, core.kept)
    found = _solve_concise(core.array, kept, field, deadline)
    if kept == labels:
        return found
    return replace(
        found,
        additive=found.additive.after(None, kept),
        best=found.best.after(None, kept),
        decomposition=core.extend(found.decomposition),
    )


def _solve_concise(array: Array, labels: Labels, field: Field, deadline: float | None) -> Solution:
    if 2 not in array.shape:
        sides = components(array)
        if len(sides) > 1:
            return _solve_sum(array, labels, sides, field, deadline)
        private = private_slices(array)
        if private is not None:
            return _solve_private(array, labels, *private, field, deadline)
    part = solve_component(array, field, deadline)

    def plan(route: Route) -> Plan:
        steps = []
        for gaining, members in route.path.steps:
            kept = [list(range(n)) for n in array.shape]
            kept[route.path.mode] = list(members)
            steps.append((gaining, _named(labels, kept)))
        return Plan(tuple(steps), route.leaf, route.value)

    return Solution(
        plan(part.additive),
        plan(part.route),
        part.decomposition,
        part.reasons,
        min(array.shape) <= 2,
        stopped=part.stopped,
    )


def _named(labels: Labels, kept: Sequence[Sequence[int]]) -> Labels:
    a, b, c = (tuple(names[i] for i in part) for names, part in zip(labels, kept, strict=True))
    return a, b, c


def _solve_sum(
    array: Array, labels: Labels, sides: Sequence[Side], field: Field, deadline: float | None
) -> Solution:
    """A direct sum: all summands but one by their additive plans, that one by its best.

    A substitution step of one summand is one of the sum, with the same gain; a flattening bound r
    of a summand T₁ is the step R(T₁ ⊕ T₂) ≥ r + R(T₂). Each summand may use an equal share of the
    time that those before it left, small ones first, for they rarely need it.
    """
    names = [_named(labels, side) for side in sides]
    turns = sorted(range(len(sides)), key=lambda i: math.prod(map(len, sides[i])))
    solved = {
        i: _solve(
            restricted(array, sides[i]), names[i], field, _share(deadline, len(sides) - place)
        )
        for place, i in enumerate(turns)
    }
    parts = [solved[i] for i in range(len(sides))]
    total = Decomposition(array.shape)
    for side, part in zip(sides, parts, strict=True):
        placed = part.decomposition
        for mode in range(3):
            placed = placed.placed(mode, side[mode], array.shape[mode])
        total = total + placed
    excess = [part.best.value - part.additive.value for part in parts]
    last = max(range(len(parts)), key=lambda i: (excess[i], not parts[i].thin))
    order = [i for i in range(len(parts)) if i != last] + [last]

    def plan(final: Plan) -> Plan:
        steps: list[tuple[int | None, Labels]] = []
        for place, i in enumerate(order):
            others: list[tuple[int, ...]] = [
                tuple(x for j in order[place + 1 :] for x in names[j][mode]) for mode in range(3)
            ]
            current = parts[i].additive if i != last else final
            for gaining, keep in current.steps:
                steps.append((gaining, _union(keep, others)))
            if i != last:
                steps.append((current.leaf.steps[-1]["mode"], _union(((), (), ()), others)))
        value = sum(parts[i].additive.value for i in order[:-1]) + final.value
        return Plan(tuple(steps), final.leaf, value)

    return Solution(
        plan(parts[last].additive),
        plan(parts[last].best),
        total,
        tuple(dict.fromkeys(reason for part in parts for reason in part.reasons)),
        False,
        # ranks add up if all summands but one are thin (JáJá and Takche)
        sum(excess[i] for i in order[:-1] if parts[i].thin),
        any(part.stopped for part in parts),
    )


def _share(deadline: float | None, parts: int) -> float | None:
    """The deadline of the first of some parts that share the time left."""
    if deadline is None:
        return None
    now = time.monotonic()
    return now + (deadline - now) / parts


def _union(keep: Labels, others: Sequence[tuple[int, ...]]) -> Labels:
    a, b, c = (tuple(sorted((*x, *y))) for x, y in zip(keep, others, strict=True))
    return a, b, c


def private_slices(array: Array) -> tuple[int, int, list[int]] | None:
    """Modes b, c and slices of b whose indices in c occur in no other slice of b.

    Such a slice M adds exactly rank(M): substitution in c below, its factorisation above.
    """
    for b, c in permutations(range(3), 2):
        pattern = (array != 0).any(axis=3 - b - c)
        if b > c:
            pattern = pattern.T
        alone = pattern.sum(axis=0) == 1
        found = [q for q in range(array.shape[b]) if alone[pattern[q]].all()]
        if found and len(found) < array.shape[b]:
            return b, c, found
    return None


def _solve_private(
    array: Array,
    labels: Labels,
    mode: int,
    gaining: int,
    private: list[int],
    field: Field,
    deadline: float | None,
) -> Solution:
    left = [q for q in range(array.shape[mode]) if q not in set(private)]
    kept = [list(range(n)) for n in array.shape]
    kept[mode] = left
    rest = np.take(array, left, axis=mode)
    keep = _named(labels, kept)
    found = _solve(rest, keep, field, deadline)
    own = slice_sum(np.take(array, private, axis=mode), mode).placed(
        mode, private, array.shape[mode]
    )
    return replace(
        found,
        additive=found.additive.after(gaining, keep, len(own)),
        best=found.best.after(gaining, keep, len(own)),
        decomposition=found.decomposition.placed(mode, left, array.shape[mode]) + own,
        reasons=("private slices", *found.reasons),
    )


def realise(array: Array, plan: Plan) -> LowerBound:
    """The steps of a plan as the checker reads them, every gain recomputed.

    What is subtracted is an exact rank over Q; what it is subtracted from is a rank mod a prime
    that keeps it.
    """
    labels: list[list[int]] = [list(range(n)) for n in array.shape]
    steps: list[dict[str, Any]] = []
    value = plan.leaf.value
    for gaining, keep in plan.steps:
        maps = [
            [] if list(wanted) == names else [names.index(x) for x in wanted]
            for wanted, names in zip(keep, labels, strict=True)
        ]
        before = array
        for mode, positions in enumerate(maps):
            if positions:
                if mode == gaining:
                    continue
                array = np.take(array, positions, axis=mode)
        if gaining is None:
            steps.append(restriction(maps))
        else:
            rank, prime = flattening_prime(before, gaining)
            gain = rank - flattening_rank(array, gaining)
            if maps[gaining]:
                array = np.take(array, maps[gaining], axis=gaining)
            value += gain
            steps.append(substitution(gaining, maps, prime))
        labels = [list(names) for names in keep]
    leaf = plan.leaf
    if leaf.steps[0]["lemma"] == "flattening":
        rank, prime = flattening_prime(array, leaf.steps[0]["mode"])
        value += rank - leaf.value
        leaf = LowerBound(rank, ({**leaf.steps[0], "prime": prime},))
    return LowerBound(value, (*steps, *leaf.steps))
