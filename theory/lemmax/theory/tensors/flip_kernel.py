"""The inner loop of the walk on the flip graph, compiled when numba is installed.

A decomposition is a list of terms s·a⊗b⊗c whose factors are *normalised*: over F_p the first
nonzero entry is 1, over Z it is positive and the entries have no common divisor. So factors are
parallel if and only if they are equal, and equality is that of a linear hash. Every term counts in
every mode its *twins*, the other terms with the same factor; the pairs (mode, term) with a twin are
listed, so that a flip is found at once.

Everything here is integer arithmetic that never leaves 63 bits: the same numbers come out of
numba and of plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])

try:
    import numba

    COMPILED = True

    def helper(function: Function) -> Function:
        """Compile into whatever calls it."""
        return cast(Function, numba.njit(function))

    def compiled(function: Function) -> Function:
        """Compile on first use; keep the machine code on disk where a place can be written to."""
        try:
            return cast(Function, numba.njit(cache=True, nogil=True)(function))
        except RuntimeError:  # no directory for the cache can be written to
            return cast(Function, numba.njit(nogil=True)(function))

except ImportError:
    COMPILED = False

    def helper(function: Function) -> Function:
        """Leave the function as it is: numba is not installed."""
        return function

    compiled = helper

# the places of ``State.numbers``
LENGTH, ACTIVE, BEST, RANDOM, WEYL, SINCE = range(6)

MASK = 2**32 - 1
NOWHERE = -(2**62)  # the hash of no vector
LARGEST = 127  # entries of factors over Z
HEAVIEST = 1000  # scalars of terms over Z
TRIES = 20  # pairs of terms that are tried for a plus transition


class State(NamedTuple):
    """A decomposition on its walk, with room for R terms and factors of N entries."""

    factors: NDArray[np.int32]  # 3 × R × N
    scalars: NDArray[np.int64]  # R
    hashes: NDArray[np.int64]  # 3 × R
    twins: NDArray[np.int64]  # 3 × R
    active: NDArray[np.int64]  # the codes mode·R + term of all that have a twin
    places: NDArray[np.int64]  # where a code stands in ``active``, or -1
    sizes: NDArray[np.int64]  # the shape of the tensor
    weights: NDArray[np.int64]  # 3 × N: the hash is linear with these
    inverses: NDArray[np.int64]  # of the residues mod p
    spare: NDArray[np.int32]  # 3 × N
    best_factors: NDArray[np.int32]
    best_scalars: NDArray[np.int64]
    numbers: NDArray[np.int64]


@helper
def draw(state: State, n: int) -> int:
    """A random number below n: xorshift plus a Weyl sequence."""
    x = state.numbers[RANDOM]
    x ^= (x << 13) & MASK
    x ^= x >> 17
    x ^= (x << 5) & MASK
    w = (state.numbers[WEYL] + 362437) & MASK
    state.numbers[RANDOM] = x
    state.numbers[WEYL] = w
    return (((x + w) & MASK) * n) >> 32


@helper
def activate(state: State, mode: int, i: int) -> None:
    """List a slot among those with a twin."""
    code = mode * state.scalars.shape[0] + i
    state.places[code] = state.numbers[ACTIVE]
    state.active[state.numbers[ACTIVE]] = code
    state.numbers[ACTIVE] += 1


@helper
def deactivate(state: State, mode: int, i: int) -> None:
    """Strike a slot off the list; the last of the list takes its place."""
    code = mode * state.scalars.shape[0] + i
    state.numbers[ACTIVE] -= 1
    last = state.active[state.numbers[ACTIVE]]
    state.active[state.places[code]] = last
    state.places[last] = state.places[code]
    state.places[code] = -1


@helper
def withdraw(state: State, mode: int, i: int) -> None:
    """Forget the factor of a term: its twins have one twin less."""
    if state.twins[mode, i]:
        own = state.hashes[mode, i]
        for j in range(state.numbers[LENGTH]):
            if state.hashes[mode, j] == own and j != i:
                state.twins[mode, j] -= 1
                if state.twins[mode, j] == 0:
                    deactivate(state, mode, j)
        deactivate(state, mode, i)
        state.twins[mode, i] = 0
    state.hashes[mode, i] = NOWHERE


@helper
def enter(state: State, mode: int, i: int) -> None:
    """Hash the factor of a term and find its twins."""
    own = 0
    for k in range(state.sizes[mode]):
        own += state.factors[mode, i, k] * state.weights[mode, k]
    found = 0
    for j in range(state.numbers[LENGTH]):
        if state.hashes[mode, j] == own:
            found += 1
            state.twins[mode, j] += 1
            if state.twins[mode, j] == 1:
                activate(state, mode, j)
    state.hashes[mode, i] = own
    state.twins[mode, i] = found
    if found:
        activate(state, mode, i)


@helper
def combine(
    state: State, mode: int, i: int, alpha: int, j: int, beta: int, p: int, place: int
) -> int:
    """Normalise alpha·f_i + beta·f_j into a spare row; return the scalar, 0 for the zero vector."""
    n = state.sizes[mode]
    u, v, out = state.factors[mode, i], state.factors[mode, j], state.spare[place]
    lead = 0
    if p:
        reciprocal = 65536 // p + 1  # x // p is x·reciprocal >> 16 for small x
        for k in range(n):
            x = alpha * u[k] + beta * v[k]
            out[k] = x - p * ((x * reciprocal) >> 16)
        for k in range(n):
            if out[k]:
                lead = int(out[k])
                break
        if lead > 1:
            inverse = state.inverses[lead]
            for k in range(n):
                x = inverse * out[k]
                out[k] = x - p * ((x * reciprocal) >> 16)
        return lead
    units = 0
    for k in range(n):
        x = alpha * u[k] + beta * v[k]
        out[k] = x
        units += (x == 1) + (x == -1)
    for k in range(n):
        if out[k]:
            lead = int(out[k])
            break
    if lead == 0:
        return 0
    content = 1
    if units == 0:
        content = 0
        for k in range(n):
            content = gcd(content, int(out[k]))
    if lead < 0:
        content = -content
    if content != 1:
        for k in range(n):
            out[k] //= content
    return content


@helper
def within(state: State, mode: int, place: int, bound: int) -> bool:
    """Whether no entry of a spare row exceeds the bound."""
    top = 0
    for k in range(state.sizes[mode]):
        top = max(top, abs(state.spare[place, k]))
    return top <= bound


@helper
def replace(state: State, mode: int, i: int, place: int) -> None:
    """Give a term the factor in a spare row."""
    withdraw(state, mode, i)
    for k in range(state.sizes[mode]):
        state.factors[mode, i, k] = state.spare[place, k]
    enter(state, mode, i)


@helper
def drop(state: State, i: int) -> None:
    """Remove a term; the last one takes its number."""
    for mode in range(3):
        withdraw(state, mode, i)
    last = state.numbers[LENGTH] - 1
    room = state.scalars.shape[0]
    if i != last:
        state.scalars[i] = state.scalars[last]
        for mode in range(3):
            for k in range(state.sizes[mode]):
                state.factors[mode, i, k] = state.factors[mode, last, k]
            state.hashes[mode, i] = state.hashes[mode, last]
            state.twins[mode, i] = state.twins[mode, last]
            place = state.places[mode * room + last]
            state.places[mode * room + i] = place
            if place >= 0:
                state.active[place] = mode * room + i
            state.places[mode * room + last] = -1
            state.twins[mode, last] = 0
            state.hashes[mode, last] = NOWHERE
    state.numbers[LENGTH] = last


@helper
def mergeable(state: State, mode: int, i: int) -> int:
    """A term that shares the factor of this mode and another one with term i, or -1."""
    if state.twins[mode, i]:
        second, third = (mode + 1) % 3, (mode + 2) % 3
        for j in range(state.numbers[LENGTH]):
            if (
                j != i
                and state.hashes[mode, j] == state.hashes[mode, i]
                and (
                    state.hashes[second, j] == state.hashes[second, i]
                    or state.hashes[third, j] == state.hashes[third, i]
                )
            ):
                return j
    return -1


@helper
def merge(state: State, i: int, j: int, p: int) -> bool:
    """Replace two terms with two common factors by one, or by none if they cancel."""
    mode = 0
    for m in range(3):
        if state.hashes[m, i] != state.hashes[m, j]:
            mode = m
    scalar = combine(state, mode, i, state.scalars[i], j, state.scalars[j], p, 0)
    if not p and not (abs(scalar) <= HEAVIEST and within(state, mode, 0, LARGEST)):
        return False
    if scalar:
        replace(state, mode, i, 0)
        state.scalars[i] = scalar
        drop(state, j)
    else:
        drop(state, max(i, j))
        drop(state, min(i, j))
    return True


@helper
def settle(state: State, p: int, floor: int) -> None:
    """Merge what can be merged, anywhere, but keep at least ``floor`` terms."""
    merged = True
    while merged:
        merged = False
        i = 0
        while i < state.numbers[LENGTH] and state.numbers[LENGTH] > floor and not merged:
            for mode in range(2):
                j = mergeable(state, mode, i)
                if j >= 0 and merge(state, i, j, p):
                    merged = True
                    break
            i += 1


@helper
def flip(state: State, p: int, bound: int, floor: int) -> None:
    """a⊗b⊗c + a⊗b'⊗c' = a⊗(b + t·b')⊗c + a⊗b'⊗(c' - t·c) at a random place, if bounds allow."""
    room = state.scalars.shape[0]
    code = state.active[draw(state, state.numbers[ACTIVE])]
    mode, i = code // room, code % room
    left = draw(state, state.twins[mode, i])
    j = -1
    while left >= 0:
        j += 1
        if state.hashes[mode, j] == state.hashes[mode, i] and j != i:
            left -= 1
    b = (mode + 1 + draw(state, 2)) % 3
    c = 3 - mode - b
    if p:
        t = 1 + draw(state, p - 1)
        minus = (p - t) * state.scalars[i] % p
    else:
        t = 1 - 2 * draw(state, 2)
        minus = -t * state.scalars[i]
    first = combine(state, b, i, 1, j, t, p, 0)
    if not p and not within(state, b, 0, bound):
        return
    second = combine(state, c, j, state.scalars[j], i, minus, p, 1)
    if not p and not (
        within(state, c, 1, bound)
        and abs(second) <= HEAVIEST
        and abs(first * state.scalars[i]) <= HEAVIEST
    ):
        return
    if first == 0 or second == 0:
        if state.numbers[LENGTH] <= floor:
            return
        if second:
            replace(state, c, j, 1)
            state.scalars[j] = second
        else:
            replace(state, b, i, 0)
            state.scalars[i] = first * state.scalars[i] % p if p else first * state.scalars[i]
        drop(state, j if first else i)
        settle(state, p, floor)
        return
    replace(state, b, i, 0)
    replace(state, c, j, 1)
    state.scalars[i] = first * state.scalars[i] % p if p else first * state.scalars[i]
    state.scalars[j] = second
    if state.numbers[LENGTH] > floor and (
        mergeable(state, b, i) >= 0 or mergeable(state, c, j) >= 0
    ):
        settle(state, p, floor)


@helper
def plus(state: State, p: int, bound: int) -> bool:
    """Write two terms as three, if bounds allow:

    a⊗b⊗c + a'⊗b'⊗c' = a⊗(b + t·b')⊗c + a⊗b'⊗(c' - t·c) + (a' - a)⊗b'⊗c'.
    """
    length = state.numbers[LENGTH]
    if length < 2 or length == state.scalars.shape[0]:
        return False
    for _ in range(TRIES):
        i = draw(state, length)
        j = draw(state, length)
        a = draw(state, 3)
        b = (a + 1 + draw(state, 2)) % 3
        c = 3 - a - b
        t = 1 + draw(state, p - 1) if p else 1 - 2 * draw(state, 2)
        if i == j or (
            state.hashes[a, i] == state.hashes[a, j]
            or state.hashes[b, i] == state.hashes[b, j]
            or state.hashes[c, i] == state.hashes[c, j]
        ):
            continue
        minus = (p - t) * state.scalars[i] % p if p else -t * state.scalars[i]
        first = combine(state, b, i, 1, j, t, p, 0)
        second = combine(state, c, j, state.scalars[j], i, minus, p, 1)
        third = combine(state, a, j, 1, i, p - 1 if p else -1, p, 2)
        if not p and not (
            within(state, b, 0, bound)
            and within(state, c, 1, bound)
            and within(state, a, 2, bound)
            and abs(second) <= HEAVIEST
            and abs(first * state.scalars[i]) <= HEAVIEST
            and abs(third * state.scalars[j]) <= HEAVIEST
        ):
            continue
        for k in range(state.sizes[a]):
            state.factors[a, length, k] = state.factors[a, i, k]
        for k in range(state.sizes[b]):
            state.factors[b, length, k] = state.factors[b, j, k]
        for k in range(state.sizes[c]):
            state.factors[c, length, k] = state.spare[1, k]
        state.scalars[length] = second
        for mode in range(3):
            state.hashes[mode, length] = NOWHERE
            state.twins[mode, length] = 0
            enter(state, mode, length)
        state.numbers[LENGTH] = length + 1
        replace(state, b, i, 0)
        replace(state, a, j, 2)
        state.scalars[i] = first * state.scalars[i] % p if p else first * state.scalars[i]
        state.scalars[j] = third * state.scalars[j] % p if p else third * state.scalars[j]
        return True
    return False


@helper
def remember(state: State) -> None:
    """Note the present terms as the best ones."""
    length = state.numbers[LENGTH]
    state.numbers[BEST] = length
    state.best_factors[:, :length] = state.factors[:, :length]
    state.best_scalars[:length] = state.scalars[:length]


@helper
def recall(state: State) -> None:
    """Go back to the best terms; list all twins anew."""
    length = state.numbers[BEST]
    state.factors[:, :length] = state.best_factors[:, :length]
    state.scalars[:length] = state.best_scalars[:length]
    state.hashes[:] = NOWHERE
    state.twins[:] = 0
    state.places[:] = -1
    state.numbers[ACTIVE] = 0
    state.numbers[LENGTH] = length
    for mode in range(3):
        for i in range(length):
            enter(state, mode, i)


@compiled
def walk(
    state: State, p: int, bound: int, floor: int, margin: int, patience: int, goal: int, steps: int
) -> int:
    """Flip until at most ``goal`` terms are left or for so many steps; return the steps taken.

    ``p`` is a prime or 0 for Z with entries up to ``bound``. After ``patience`` flips without
    gain a plus transition follows, up to ``margin`` terms above the best, then a return to the
    best. The walk starts at ``state.best_factors`` when ``numbers[LENGTH]`` is 0, else it goes on.
    """
    if state.numbers[LENGTH] == 0:
        recall(state)
        settle(state, p, floor)
        remember(state)
        state.numbers[SINCE] = 0
    for step in range(steps):
        if state.numbers[LENGTH] <= goal:
            return step
        state.numbers[SINCE] += 1
        if state.numbers[ACTIVE] == 0 or state.numbers[SINCE] > patience:
            if state.numbers[LENGTH] >= state.numbers[BEST] + margin or not plus(state, p, bound):
                recall(state)
            state.numbers[SINCE] = 0
            continue
        before = state.numbers[LENGTH]
        flip(state, p, bound, floor)
        if state.numbers[LENGTH] < before and state.numbers[LENGTH] <= state.numbers[BEST]:
            remember(state)
            state.numbers[SINCE] = 0
    return steps


def begin(
    factors: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    scalars: NDArray[Any],
    margin: int,
    p: int,
    seed: int,
) -> State:
    """The state before the first step, from normalised factors (one row a term)."""
    length = len(scalars)
    room, width = length + margin + 1, max(f.shape[1] for f in factors)
    random = np.random.default_rng([seed, p])
    best = np.zeros((3, room, width), dtype=np.int32)
    for mode, f in enumerate(factors):
        best[mode, :length, : f.shape[1]] = f
    heavy = np.zeros(room, dtype=np.int64)
    heavy[:length] = scalars
    numbers = np.zeros(6, dtype=np.int64)
    numbers[BEST] = length
    numbers[RANDOM] = random.integers(1, MASK)
    numbers[WEYL] = random.integers(MASK)
    return State(
        factors=np.zeros_like(best),
        scalars=np.zeros_like(heavy),
        hashes=np.full((3, room), NOWHERE, dtype=np.int64),
        twins=np.zeros((3, room), dtype=np.int64),
        active=np.zeros(3 * room, dtype=np.int64),
        places=np.full(3 * room, -1, dtype=np.int64),
        sizes=np.array([f.shape[1] for f in factors], dtype=np.int64),
        weights=random.integers(1, 2**48, (3, width), dtype=np.int64),
        inverses=np.array([0] + [pow(x, -1, p) for x in range(1, p)], dtype=np.int64),
        spare=np.zeros((3, width), dtype=np.int32),
        best_factors=best,
        best_scalars=heavy,
        numbers=numbers,
    )
