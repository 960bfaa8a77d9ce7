"""Bounds of one component, a concise tensor that is no direct sum, stage by stage.

Each stage is a theorem from :mod:`.below` or :mod:`.above`, or a search; a stage begins only while
the bounds differ and time is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TypeAlias

from lemmax.theory.tensors.above.algebras import algebra_terms
from lemmax.theory.tensors.above.constructions import constructions, readable_constructions
from lemmax.theory.tensors.above.gluing import glued
from lemmax.theory.tensors.above.pairs_of_slices import pair_split
from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.above.spans import span_of_rank_ones
from lemmax.theory.tensors.algebras.structure import structure
from lemmax.theory.tensors.arrays import Array, slices
from lemmax.theory.tensors.below.algebras import algebra_bound
from lemmax.theory.tensors.below.blocks import block_bound
from lemmax.theory.tensors.below.chains import LowerBound, restriction
from lemmax.theory.tensors.below.contractions import contraction_bound
from lemmax.theory.tensors.below.flattenings import best_flattening
from lemmax.theory.tensors.below.joint import joint_bound
from lemmax.theory.tensors.below.killing import killing_bound
from lemmax.theory.tensors.below.koszul import koszul_bounds
from lemmax.theory.tensors.below.quadrics import quadrics
from lemmax.theory.tensors.below.squares import square_bound
from lemmax.theory.tensors.below.substitution import substitution_bounds
from lemmax.theory.tensors.bounds import Bounds
from lemmax.theory.tensors.decompositions import Decomposition
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.pencils.decompositions import pencil_decomposition
from lemmax.theory.tensors.pencils.lower_bounds import pencil_bound, two_slice_bound
from lemmax.theory.tensors.pencils.normal_forms import pencil
from lemmax.theory.tensors.reductions import concise
from lemmax.theory.tensors.search.clock import late, share, within
from lemmax.theory.tensors.search.fitting import Quotient, quotients, shorter, with_few_unknowns
from lemmax.theory.tensors.search.flips import shorten

_WIDE = 16  # the width of the second beam of killed vectors
_TURN = 2.0  # seconds of the first walk and of the first fit; each turn takes twice as long
_FEW = 300  # unknowns of problems that are fitted before a walk
_UNKNOWNS = 800  # of the largest problems that are fitted
_TRIES = 2  # starting points of a fit with each number of terms

Stage: TypeAlias = Callable[[Array, Bounds, Field, float | None], Bounds]


def solve_component(
    array: Array, field: Field, deadline: float | None = None, known: Bounds | None = None
) -> Bounds:
    """Bounds of a concise tensor that is no direct sum, from known ones where there are some.

    The flattenings and the slice sums always run; past the deadline no further stage begins.
    Without a deadline the walks and the fits, which never end by themselves, do not begin.
    """
    if 2 in array.shape:
        return _solve_pencil(array, field)
    flat = best_flattening(array)
    tried: list[tuple[str, Decomposition]] = []
    for named in constructions(array):
        tried.append(named)
        if len(named[1]) == flat.value or (len(tried) >= 3 and late(deadline)):
            break
    reason, shortest = min(tried, key=lambda pair: len(pair[1]))
    chains = substitution_bounds(array, len(shortest), field, partial(late, deadline))
    bounds = Bounds(*chains, shortest, (reason,), thin=min(array.shape) < 2)
    if known is not None:
        bounds = bounds.raised(known.lower).shortened(known.reasons[0], known.decomposition)
    for stage in STAGES:
        if bounds.closed:
            break
        if late(deadline):
            bounds = replace(bounds, cut=True)  # every stage looks for proofs, the last one too
            break
        bounds = stage(array, bounds, field, deadline)
    ended = not bounds.closed and late(deadline)
    return replace(bounds, stopped=ended, cut=bounds.cut and not bounds.closed)


def solve_algebra(array: Array, field: Field) -> Bounds | None:
    """Bounds of a concise multiplication table of an algebra with unit; None for other tensors.

    The bound of Alder and Strassen, and interpolation, triples for complex pairs and Strassen's
    seven products for the simple parts; where a part is neither a field nor 2 × 2 matrices, the
    terms are a slice sum.
    """
    if min(array.shape) < 3 or len(set(array.shape)) > 1:
        return None
    of_algebra = structure(array)
    if of_algebra is None:
        return None
    flat = best_flattening(array)
    name, shortest = "slice sum over the values", slice_sum(array, 2)
    bounds = Bounds(flat, flat, shortest, (name,)).raised(algebra_bound(of_algebra, field))
    return bounds.shortened("simple parts of an algebra", algebra_terms(of_algebra, field))


def _solve_pencil(array: Array, field: Field) -> Bounds:
    """The exact bounds of a concise tensor with a mode of size two.

    Where a slice sum or a pivot is as short as the pencil's own decomposition it is preferred: its
    terms are sets of keys and queries that a person can read.
    """
    mode = array.shape.index(2)
    form = pencil(*slices(array, mode))
    bound = pencil_bound(array, mode, form, field)
    additive = best_flattening(array)
    for reason, candidate in readable_constructions(array):
        if len(candidate) == form.rank(field):
            return Bounds(additive, bound, candidate, (reason,), thin=True)
    order = [0, 1]
    order.insert(mode, 2)
    terms = pencil_decomposition(form, field).permuted(order)
    return Bounds(additive, bound, terms, ("pencil",), thin=True)


def _by_quadrics(array: Array, bounds: Bounds, field: Field, deadline: float | None) -> Bounds:
    for mode in range(3):
        if array.shape[mode] >= bounds.additive.gains[-1] and not late(deadline):
            bound, diagonal = quadrics(array, mode, field)
            bounds = bounds.raised(bound).shortened("simultaneous diagonalisation", diagonal)
    return bounds


def _by_pairs(array: Array, bounds: Bounds, field: Field, deadline: float | None) -> Bounds:
    for mode in sorted(range(3), key=lambda m: array.shape[m]):
        if not late(deadline):
            split = pair_split(array, mode, field)
            bounds = bounds.shortened("pencils of pairs of slices", split)
    return bounds


def _by_spans(array: Array, bounds: Bounds, field: Field, deadline: float | None) -> Bounds:
    """The slices in the span of few matrices of rank one; and a proof that they need one more."""
    for mode in sorted(range(3), key=lambda m: -array.shape[m]):
        size, most = array.shape[mode], len(bounds.decomposition) - 1
        if bounds.lower.value <= most and size > most // 2 and not late(deadline):
            spanned = span_of_rank_ones(array, mode, most, partial(late, deadline))
            bounds = bounds.shortened("matrices of rank one in the span of the slices", spanned)
    return bounds.raised(_one_more(array))


def _one_more(array: Array) -> LowerBound | None:
    """R ≥ r + 1 for the largest flattening rank r, by a contraction or by a square, or None."""
    return contraction_bound(array) or square_bound(array)


def _by_koszul(array: Array, bounds: Bounds, field: Field, deadline: float | None) -> Bounds:
    for bound in koszul_bounds(array):
        bounds = bounds.raised(bound)
    return bounds


def _by_joint(array: Array, bounds: Bounds, field: Field, deadline: float | None) -> Bounds:
    """Substitution in two modes at once, in at most a quarter of the time that is left."""
    upper, lower = len(bounds.decomposition), bounds.lower.value
    turn = share(deadline, 4)
    bounds = bounds.raised(joint_bound(array, lower, upper, partial(late, turn)))
    return replace(bounds, cut=bounds.cut or late(turn))


def by_blocks(array: Array, bounds: Bounds, field: Field, deadline: float | None) -> Bounds:
    """The ranks of two blocks, in at most a quarter of the time that is left."""
    known: dict[tuple[tuple[int, ...], bytes], LowerBound] = {}

    def prove(part: Array) -> LowerBound:
        key = (part.shape, part.tobytes())
        if key not in known:
            known[key] = quickly_proved(part, field)
        return known[key]

    upper, lower = len(bounds.decomposition), bounds.lower.value
    turn = share(deadline, 4)
    bounds = bounds.raised(block_bound(array, lower, upper, prove, partial(late, turn)))
    return replace(bounds, cut=bounds.cut or late(turn))


def quickly_proved(array: Array, field: Field) -> LowerBound:
    """What the quick stages prove of any tensor that is not zero."""
    core = concise(array)
    if 2 in core.array.shape:
        bound = two_slice_bound(core.array, core.array.shape.index(2), field)
    else:
        upper = min(len(terms) for _, terms in constructions(core.array))
        _, bound = substitution_bounds(core.array, upper, field)
        more = _one_more(core.array) if bound.value < upper else None
        bound = bound if more is None or more.value <= bound.value else more
    maps = [k if len(k) < n else [] for k, n in zip(core.kept, array.shape, strict=True)]
    return bound.after(restriction(maps)) if any(maps) else bound


def _by_gluing(array: Array, bounds: Bounds, field: Field, deadline: float | None) -> Bounds:
    """Two blocks with one term less than they have apart, in an eighth of the time that is left."""
    if deadline is None:
        return bounds
    expired = partial(late, share(deadline, 8))
    written = partial(written_quickly, field=field, expired=expired)
    found = glued(array, len(bounds.decomposition), written, expired)
    return bounds.shortened("two blocks glued by Strassen's five terms", found)


def written_quickly(
    array: Array, field: Field, expired: Callable[[], bool] = lambda: False
) -> Decomposition:
    """A short decomposition of any tensor that is not zero, by a pencil or by the cheap ones."""
    core = concise(array)
    if 2 in core.array.shape:
        return core.extend(_solve_pencil(core.array, field).decomposition)
    spanned = span_of_rank_ones(core.array, 0, core.array.shape[0], expired)
    if spanned is not None:
        return core.extend(spanned)
    return core.extend(min((terms for _, terms in constructions(core.array)), key=len))


def _by_killing(
    array: Array, bounds: Bounds, field: Field, deadline: float | None, width: int = 4
) -> Bounds:
    """Vectors killed one by one, in at most a third of the time that is left."""

    def close(rest: Array, least: int) -> LowerBound | None:
        if 2 in rest.shape:
            return two_slice_bound(rest, rest.shape.index(2), field)
        closing: list[LowerBound | None] = []
        if max(rest.shape) >= least:
            closing.append(_one_more(rest))
        closing += [quadrics(rest, m, field)[0] for m in range(3) if rest.shape[m] >= least]
        return max((b for b in closing if b is not None), key=lambda b: b.value, default=None)

    upper, lower = len(bounds.decomposition), bounds.lower.value
    turn = share(deadline, 3)
    bounds = bounds.raised(killing_bound(array, upper, lower, close, width, partial(late, turn)))
    return replace(bounds, cut=bounds.cut or late(turn))


def _by_search(array: Array, bounds: Bounds, field: Field, deadline: float | None) -> Bounds:
    """Walks on the flip graph and numerical fits made exact, in turns, until the time is up.

    Where there are few unknowns, fits come first. After the first turn there is a wider search
    for vectors to kill.
    """
    if deadline is None:
        return bounds
    among = quotients(array)
    least = bounds.lower.value
    unknowns = min(
        (q.unknowns(least) for q in with_few_unknowns(among, least)), default=_UNKNOWNS + 1
    )
    seeds = count()
    for turn in count():
        if turn or unknowns > _FEW:
            bounds = _walk(array, bounds, turn, _turn(turn, deadline))
        if unknowns <= _UNKNOWNS and not bounds.closed:
            bounds = _fits(bounds, among, seeds, _turn(turn, deadline), _turn(turn + 1, deadline))
        if not turn and not bounds.closed:
            bounds = _by_killing(array, bounds, field, deadline, _WIDE)
        if bounds.closed or late(deadline):
            return bounds
    raise AssertionError("the turns do not end")


def _turn(turn: int, deadline: float) -> float:
    return within(math.ldexp(_TURN, turn), deadline)


def _fits(
    bounds: Bounds, among: list[Quotient], seeds: Iterator[int], turn: float, deadline: float
) -> Bounds:
    """Fits that begin before the turn ends, and end before the deadline."""
    reached = [] if bounds.fitted is None else [bounds.fitted]
    while not bounds.closed and not late(turn):
        fitted = shorter(
            among,
            bounds.lower.value,
            bounds.decomposition,
            deadline=deadline,
            tries=_TRIES,
            seed=next(seeds),
            reached=reached.append,
        )
        bounds = bounds.shortened("a numerical fit made exact", fitted)
        reached.append(len(bounds.decomposition))
    return replace(bounds, fitted=min(reached, default=None))


def _walk(array: Array, bounds: Bounds, seed: int, deadline: float) -> Bounds:
    walked = shorten(
        array, bounds.decomposition, target=bounds.lower.value, deadline=deadline, seed=seed
    )
    return bounds.shortened("a walk on the flip graph", walked)


STAGES: tuple[Stage, ...] = (
    _by_quadrics,
    _by_pairs,
    _by_spans,
    _by_koszul,
    _by_joint,
    by_blocks,
    _by_gluing,
    _by_killing,
    _by_search,
)
