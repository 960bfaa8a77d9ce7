"""Bounds of one component, and of a tensor from those of its components."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias

import numpy as np

from lemmax.theory.tensors import pencils
from lemmax.theory.tensors.arrays import Array, flattening_rank
from lemmax.theory.tensors.decompositions import Decomposition
from lemmax.theory.tensors.koszul import koszul_bounds
from lemmax.theory.tensors.lower import (
    LowerBound,
    flattening_bound,
    restriction,
    substitution,
)
from lemmax.theory.tensors.pivots import (
    best_column_pivot,
    column_subsets,
    domain_pivot,
    is_database,
)
from lemmax.theory.tensors.quadrics import quadrics
from lemmax.theory.tensors.reductions import Concise, components, concise, restricted
from lemmax.theory.tensors.slices import slice_sum, spanning_tree
from lemmax.theory.tensors.substitution import ALL_SUBSETS, Path, Subsets, flattening_leaf

Field: TypeAlias = Literal["Q", "R", "C"]
_PENCILS = 6  # how many pairs of slices are solved in search of a lower bound


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
    end in a lemma that does not.
    """

    array: Array
    additive: Route
    route: Route
    decomposition: Decomposition
    reasons: tuple[str, ...]


def upper_bounds(array: Array) -> Iterator[tuple[str, Decomposition]]:
    """Decompositions by name, the cheap ones first; whoever asks may stop early."""
    for mode, name in ((2, "values"), (1, "queries"), (0, "keys")):
        yield f"slice sum over the {name}", slice_sum(array, mode)
    if is_database(array):
        yield "domain pivot", domain_pivot(array)
        yield "column pivot", best_column_pivot(array)
        swapped = array.transpose(1, 0, 2)
        yield "row pivot", best_column_pivot(swapped).permuted((1, 0, 2))
        if array.shape[1] <= ALL_SUBSETS:
            yield "column pivots by subsets", column_subsets(array)
        elif array.shape[0] <= ALL_SUBSETS:
            yield "row pivots by subsets", column_subsets(swapped).permuted((1, 0, 2))
    for mode, name in ((2, "values"), (1, "queries"), (0, "keys")):
        yield f"spanning tree over the {name}", spanning_tree(array, mode)


def solve_component(array: Array, field: Field) -> Component:
    """Bounds of a concise tensor that is no direct sum."""
    flat = Route(Path(0), flattening_leaf(array))
    if 2 in array.shape:
        mode = array.shape.index(2)
        bound, decomposition = solve_pencil(array, mode, field)
        return Component(array, flat, Route(Path(mode), bound), decomposition, ("pencil",))
    found: list[tuple[str, Decomposition]] = []
    for candidate in upper_bounds(array):
        found.append(candidate)
        if len(candidate[1]) == flat.value:
            break
    reason, shortest = min(found, key=lambda pair: len(pair[1]))
    additive, route = lower_bounds(array, flat, len(shortest), field)
    for mode in range(3):
        if route.value == len(shortest) or array.shape[mode] < flat.value:
            continue
        above, diagonal = quadrics(array, mode, field)
        if above is not None and above.value > route.value:
            route = Route(Path(mode), above)
        if diagonal is not None and len(diagonal) < len(shortest):
            reason, shortest = "simultaneous diagonalisation", diagonal
    if route.value < len(shortest):
        for bound in koszul_bounds(array):
            route = max(route, Route(Path(0), bound), key=_value)
    return Component(array, additive, route, shortest, (reason,))


def solve_pencil(array: Array, mode: int, field: Field) -> tuple[LowerBound, Decomposition]:
    """The exact bounds of a concise tensor with a mode of size two."""
    first, second = np.moveaxis(array, mode, 0)
    form = pencils.pencil(first, second)
    bound = pencils.lower_bound(array, mode, form, field)
    order = [0, 1]
    order.insert(mode, 2)
    return bound, pencils.decomposition(form, field).permuted(order)


def lower_bounds(array: Array, flat: Route, upper: int, field: Field) -> tuple[Route, Route]:
    """The best additive route, and the best of all."""
    if flat.value == upper:
        return flat, flat
    additive = route = flat
    sizes = sorted(range(3), key=lambda m: (array.shape[m], m != 1))
    modes = [m for m in sizes if array.shape[m] <= ALL_SUBSETS] or sizes[:1]
    for mode in modes:
        subsets = Subsets(array, mode)
        value, mask = subsets.by_flattening()
        if value > additive.value:
            path = subsets.path(mask)
            additive = max(additive, Route(path, flattening_leaf(path.end(array))), key=_value)
            route = max(route, additive, key=_value)
        if route.value == upper:
            break
        found = subsets.by_transversal(route.value)
        if found is not None:
            _, mask, step = found
            path = subsets.path(mask)
            leaf = LowerBound(transversal_value(path.end(array), step), (step,))
            route = max(route, Route(path, leaf), key=_value)
        if route.value == upper:
            break
        for mask in islice(subsets.pairs(route.value), _PENCILS):
            path = subsets.path(mask)
            leaf = pencil_leaf(path.end(array), mode, field)
            route = max(route, Route(path, leaf), key=_value)
            if route.value == upper:
                return additive, route
    return additive, route


def pencil_leaf(array: Array, mode: int, field: Field) -> LowerBound:
    """The exact rank of a tensor with two slices in the mode, after concision."""
    core = concise(array)
    maps = [k if len(k) < n else [] for k, n in zip(core.kept, array.shape, strict=True)]
    if core.array.shape[mode] < 2:
        return flattening_leaf(array)
    first, second = np.moveaxis(core.array, mode, 0)
    form = pencils.pencil(first, second)
    return pencils.lower_bound(core.array, mode, form, field).after(restriction(maps))


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


@dataclass(frozen=True)
class Solution:
    """Bounds of a whole tensor."""

    bound: LowerBound
    decomposition: Decomposition
    core: Concise | None
    parts: tuple[Component, ...]


def solve(array: Array, field: Field) -> Solution:
    """Concise, split, bound every component, and put the bounds together."""
    if not array.any():
        a, b, c = array.shape
        return Solution(flattening_bound(array, 0), Decomposition((a, b, c)), None, ())
    core = concise(array)
    if 2 in core.array.shape:
        whole = solve_component(core.array, field)
        sides = [
            (
                list(range(core.array.shape[0])),
                list(range(core.array.shape[1])),
                list(range(core.array.shape[2])),
            )
        ]
        parts = [whole]
    else:
        sides = components(core.array)
        parts = [solve_component(restricted(core.array, side), field) for side in sides]
    total = Decomposition(core.array.shape)
    for side, part in zip(sides, parts, strict=True):
        placed = part.decomposition
        for mode in range(3):
            placed = placed.placed(mode, side[mode], core.array.shape[mode])
        total = total + placed
    return Solution(assemble(array, core, sides, parts), core.extend(total), core, tuple(parts))


Side: TypeAlias = tuple[list[int], list[int], list[int]]


def assemble(
    array: Array, core: Concise, sides: Sequence[Side], parts: Sequence[Component]
) -> LowerBound:
    """One chain for a direct sum: all components but one by additive routes, that one by its best.

    A substitution step of one summand is a substitution step of the sum, with the same gain; a
    flattening bound r of a summand T₁ is the step R(T₁ ⊕ T₂) ≥ r + R(T₂).
    """
    last = max(range(len(parts)), key=lambda i: parts[i].route.value - parts[i].additive.value)
    steps: list[dict[str, Any]] = []
    value = 0
    current = [list(kept) for kept in core.kept]
    if [len(c) for c in current] != list(array.shape):
        steps.append(
            restriction(
                [c if len(c) < n else [] for c, n in zip(current, array.shape, strict=True)]
            )
        )
    labels = [list(range(n)) for n in core.array.shape]
    for i in [i for i in range(len(parts)) if i != last] + [last]:
        part, side = parts[i], sides[i]
        route = part.route if i == last else part.additive
        mode = route.path.mode
        inside = set(side[mode])
        for gaining, kept in route.path.steps:
            wanted = {side[mode][q] for q in kept}
            keep = [x for x in labels[mode] if x not in inside or x in wanted]
            maps: list[list[int]] = [[], [], []]
            maps[mode] = [labels[mode].index(x) for x in keep]
            steps.append(substitution(gaining, maps))
            labels[mode] = keep
        value += route.value
        if i == last:
            steps += route.leaf.steps
            continue
        flat = route.leaf.steps[-1]["mode"]
        maps = []
        for m in range(3):
            keep = [x for x in labels[m] if x not in set(side[m])]
            maps.append([labels[m].index(x) for x in keep])
            labels[m] = keep
        steps.append(substitution(flat, maps))
    return LowerBound(value, tuple(steps))
