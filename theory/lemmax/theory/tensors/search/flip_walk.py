"""The inner loop of the walk on the flip graph, compiled when numba is installed.

A decomposition is a list of terms s·a⊗b⊗c whose factors are *normalised*: over F_p the first
nonzero entry is 1, over Z it is positive and the entries have no common divisor. So factors are
parallel if and only if they are equal, and equality is that of a linear hash. The factor of term i
in mode m lives in the *slot* m·R + i, where R is the room for terms. Every slot counts its *twins*,
the other terms with the same factor in this mode; the slots with a twin are listed, so that a flip
is found at once.

The whole state is one array of integers: a function of one array compiles in a fraction of the
time that a structure takes. Constants that are handed on are kept in it too, because numba compiles
a function anew for every literal argument. All arithmetic stays within 63 bits, so the same numbers
come out of numba and of plain Python, where the state is a list; :mod:`.flip_state` writes and
reads it. All that is compiled stays in this file, because numba keeps machine code on disk until
the file of the outermost function changes.
"""

from __future__ import annotations

from math import gcd
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lemmax.theory.numbers.loops import COMPILED as COMPILED
from lemmax.theory.numbers.loops import compiled, helper

State: TypeAlias = Any
"""A vector of integers: first the numbers named here, then the regions that some of them name."""

LENGTH, ACTIVE, BEST, RANDOM, WEYL, SINCE, LOOSE, ROOM, WIDTH, ONE, LARGEST = range(11)
SIZES, SPARE = 11, 14  # three numbers each: the shape, and where the spare rows are
FACTORS, SCALARS, HASHES, TWINS, LISTED, PLACES, DENSE = range(17, 24)
WEIGHTS, INVERSES, CHANCES, ROWS, SAVED = range(24, 29)
HEADER = 29

MASK = 2**32 - 1
SURE = 2**30  # a chance of 1
NOWHERE = -(2**62)  # the hash of no vector
HEAVIEST = 1000  # scalars of terms over Z
TRIES = 20  # pairs of terms that are tried for a plus transition


@helper
def draw(s: State, n: int) -> int:
    """A random number below n: xorshift plus a Weyl sequence."""
    x = s[RANDOM]
    x ^= (x << 13) & MASK
    x ^= x >> 17
    x ^= (x << 5) & MASK
    w = (s[WEYL] + 362437) & MASK
    s[RANDOM] = x
    s[WEYL] = w
    drawn: int = (((x + w) & MASK) * n) >> 32
    return drawn


@helper
def vector_of(s: State, mode: int, i: int) -> int:
    """Where the factor of a term begins."""
    first: int = s[FACTORS] + (mode * s[ROOM] + i) * s[WIDTH]
    return first


@helper
def activate(s: State, slot: int) -> None:
    """List a slot among those with a twin."""
    s[s[PLACES] + slot] = s[ACTIVE]
    s[s[LISTED] + s[ACTIVE]] = slot
    s[ACTIVE] += 1


@helper
def deactivate(s: State, slot: int) -> None:
    """Strike a slot off the list; the last of the list takes its place."""
    s[ACTIVE] -= 1
    last, place = s[s[LISTED] + s[ACTIVE]], s[s[PLACES] + slot]
    s[s[LISTED] + place] = last
    s[s[PLACES] + last] = place
    s[s[PLACES] + slot] = -1


@helper
def withdraw(s: State, mode: int, i: int) -> None:
    """Forget the factor of a term: its twins have one twin less."""
    first = mode * s[ROOM]
    hashes, twins = s[HASHES] + first, s[TWINS] + first
    own = s[hashes + i]
    s[hashes + i] = NOWHERE
    if s[twins + i]:
        for j in range(s[LENGTH]):
            if s[hashes + j] == own:
                s[twins + j] -= 1
                if s[twins + j] == 0:
                    deactivate(s, first + j)
        deactivate(s, first + i)
        s[twins + i] = 0


@helper
def enter(s: State, mode: int, i: int) -> None:
    """Hash the factor of a term, which has been withdrawn or is new, and find its twins."""
    first = mode * s[ROOM]
    hashes, twins = s[HASHES] + first, s[TWINS] + first
    vector, weights = vector_of(s, mode, i), s[WEIGHTS]
    own = dense = 0
    for k in range(s[SIZES + mode]):
        x = s[vector + k]
        own += x * s[weights + k]
        if x:
            dense += 1
    s[s[DENSE] + first + i] = dense
    equal = 0
    for j in range(s[LENGTH]):
        if s[hashes + j] == own:
            equal += 1
            s[twins + j] += 1
            if s[twins + j] == 1:
                activate(s, first + j)
    s[hashes + i] = own
    s[twins + i] = equal
    if equal:
        activate(s, first + i)


@helper
def combine(s: State, mode: int, i: int, alpha: int, j: int, beta: int, p: int, out: int) -> int:
    """Normalise alpha·f_i + beta·f_j into a row; return the scalar, 0 for the zero vector."""
    n = s[SIZES + mode]
    u, v = vector_of(s, mode, i), vector_of(s, mode, j)
    lead = 0
    if p:
        reciprocal = 65536 // p + 1  # x // p is x·reciprocal >> 16 for small x
        for k in range(n):
            x = alpha * s[u + k] + beta * s[v + k]
            s[out + k] = x - p * ((x * reciprocal) >> 16)
        for k in range(n):
            if s[out + k]:
                lead = s[out + k]
                break
        if lead > 1:
            inverse = s[s[INVERSES] + lead]
            for k in range(n):
                x = inverse * s[out + k]
                s[out + k] = x - p * ((x * reciprocal) >> 16)
        return lead
    units = 0
    for k in range(n):
        x = alpha * s[u + k] + beta * s[v + k]
        s[out + k] = x
        if x * x == 1:
            units += 1
    for k in range(n):
        if s[out + k]:
            lead = s[out + k]
            break
    if lead == 0:
        return 0
    content = 1
    if units == 0:
        content = 0
        for k in range(n):
            content = gcd(content, s[out + k])
    if lead < 0:
        content = -content
    if content == -1:
        for k in range(n):
            s[out + k] = -s[out + k]
    elif content != 1:
        for k in range(n):
            s[out + k] //= content
    return content


@helper
def within(s: State, mode: int, out: int, bound: int) -> bool:
    """Whether no entry of a spare row exceeds the bound."""
    top = 0
    for k in range(s[SIZES + mode]):
        top = max(top, abs(s[out + k]))
    return top <= bound


@helper
def entries(s: State, mode: int, out: int) -> int:
    """The number of nonzero entries of a row."""
    nonzero = 0
    for k in range(s[SIZES + mode]):
        if s[out + k]:
            nonzero += 1
    return nonzero


@helper
def replace(s: State, mode: int, i: int, out: int) -> None:
    """Give a term the factor in a spare row."""
    withdraw(s, mode, i)
    vector = vector_of(s, mode, i)
    for k in range(s[SIZES + mode]):
        s[vector + k] = s[out + k]
    enter(s, mode, i)


@helper
def same(s: State, mode: int, i: int, j: int) -> bool:
    """Whether two terms have the same factor."""
    first = s[HASHES] + mode * s[ROOM]
    equal: bool = s[first + i] == s[first + j]
    return equal


@helper
def drop(s: State, i: int) -> None:
    """Remove a term; the last one takes its number."""
    last = s[LENGTH] - 1
    for mode in range(3):
        withdraw(s, mode, i)
        if i != last:
            withdraw(s, mode, last)
    s[LENGTH] = last
    if i != last:
        s[s[SCALARS] + i] = s[s[SCALARS] + last]
        for mode in range(3):
            source, target = vector_of(s, mode, last), vector_of(s, mode, i)
            for k in range(s[SIZES + mode]):
                s[target + k] = s[source + k]
            enter(s, mode, i)


@helper
def mergeable(s: State, mode: int, i: int) -> int:
    """A term that shares the factor of this mode and another one with term i, or -1."""
    if s[s[TWINS] + mode * s[ROOM] + i]:
        second, third = (mode + 1) % 3, (mode + 2) % 3
        for j in range(s[LENGTH]):
            if same(s, mode, i, j) and j != i and (same(s, second, i, j) or same(s, third, i, j)):
                return j
    return -1


@helper
def differing(s: State, i: int, j: int) -> int:
    """The mode in which two terms differ that agree in two modes."""
    if not same(s, 0, i, j):
        return 0
    return 1 if not same(s, 1, i, j) else 2


@helper
def merge(s: State, i: int, j: int, p: int) -> bool:
    """Replace two terms with two common factors by one, or by none if they cancel."""
    mode, out = differing(s, i, j), s[SPARE]
    scalar = combine(s, mode, i, s[s[SCALARS] + i], j, s[s[SCALARS] + j], p, out)
    if not p and (abs(scalar) > HEAVIEST or not within(s, mode, out, s[LARGEST])):
        return False
    if scalar:
        replace(s, mode, i, out)
        s[s[SCALARS] + i] = scalar
    for turn in range(2):  # the larger number first, because the last term moves
        k = min(i, j) if turn else max(i, j)
        if k == j or scalar == 0:
            drop(s, k)
    return True


@helper
def merge_any(s: State, p: int) -> bool:
    """Merge the first two terms that can be merged."""
    for mode in range(2):
        for i in range(s[LENGTH]):
            j = mergeable(s, mode, i)
            if j >= 0 and merge(s, i, j, p):
                return True
    return False


@helper
def settle(s: State, p: int, floor: int) -> None:
    """Merge what can be merged, anywhere, but keep at least ``floor`` terms."""
    while s[LENGTH] > floor and merge_any(s, p):
        pass


@helper
def exchange(s: State, b: int, c: int, i: int, j: int, t: int, p: int, bound: int) -> bool:
    """Prepare b_i + t·b_j and s_j·c_j - t·s_i·c_i in the first two spare rows.

    The scalars are the last entries of these rows. False if an entry or a scalar is too large.
    """
    own, other = s[s[SCALARS] + i], s[s[SCALARS] + j]
    minus = (p - t) * own % p if p else -t * own
    first = combine(s, b, i, s[ONE], j, t, p, s[SPARE])
    if not p and not within(s, b, s[SPARE], bound):
        return False
    second = combine(s, c, j, other, i, minus, p, s[SPARE + 1])
    first = first * own % p if p else first * own
    s[s[SPARE + 1] - 1] = first
    s[s[SPARE + 2] - 1] = second
    return p > 0 or (
        within(s, c, s[SPARE + 1], bound) and abs(first) <= HEAVIEST and abs(second) <= HEAVIEST
    )


@helper
def flip(s: State, p: int, bound: int, floor: int) -> None:
    """a⊗b⊗c + a⊗b'⊗c' = a⊗(b + t·b')⊗c + a⊗b'⊗(c' - t·c) at a random place, if bounds allow."""
    slot = s[s[LISTED] + draw(s, s[ACTIVE])]
    mode = slot // s[ROOM]
    i = slot - mode * s[ROOM]
    hashes = s[HASHES] + mode * s[ROOM]
    left = draw(s, s[s[TWINS] + slot])
    j = -1
    while left >= 0:
        j += 1
        if s[hashes + j] == s[hashes + i] and j != i:
            left -= 1
    b = (mode + 1 + draw(s, 2)) % 3
    c = 3 - mode - b
    t = 1 + draw(s, p - 1) if p else 1 - 2 * draw(s, 2)
    if not exchange(s, b, c, i, j, t, p, bound):
        return
    scalars = s[SCALARS]
    first, second = s[s[SPARE + 1] - 1], s[s[SPARE + 2] - 1]
    if first == 0 or second == 0:
        if s[LENGTH] <= floor:
            return
    else:
        dense = s[DENSE]
        more = entries(s, b, s[SPARE]) - s[dense + b * s[ROOM] + i]
        more += entries(s, c, s[SPARE + 1]) - s[dense + c * s[ROOM] + j]
        if more > 0 and draw(s, SURE) >= s[s[CHANCES] + more]:
            return
    s[scalars + i] = first
    s[scalars + j] = second
    length = s[LENGTH]
    for side in range(2):
        if s[s[SPARE + 1 + side] - 1]:
            replace(s, c if side else b, j if side else i, s[SPARE + side])
    for side in range(2):
        if length > floor and mergeable(s, c if side else b, j if side else i) >= 0:
            s[LOOSE] = length
    if first == 0 or second == 0:
        drop(s, j if first else i)
        s[LOOSE] = length


@helper
def plus(s: State, p: int, bound: int) -> bool:
    """Write two terms without a common factor as three, if bounds allow:

    a⊗b⊗c + a'⊗b'⊗c' = a⊗(b + t·b')⊗c + a⊗b'⊗(c' - t·c) + (a' - a)⊗b'⊗c'.
    """
    length, scalars = s[LENGTH], s[SCALARS]
    if length < 2 or length == s[ROOM]:
        return False
    for _ in range(TRIES):
        i, j, a = draw(s, length), draw(s, length), draw(s, 3)
        b = (a + 1 + draw(s, 2)) % 3
        c = 3 - a - b
        t = 1 + draw(s, p - 1) if p else 1 - 2 * draw(s, 2)
        if same(s, a, i, j) or same(s, b, i, j) or same(s, c, i, j):
            continue
        if not exchange(s, b, c, i, j, t, p, bound):
            continue
        minus = p - 1 if p else -1
        third = combine(s, a, j, s[ONE], i, minus, p, s[SPARE + 2])
        third = third * s[scalars + j] % p if p else third * s[scalars + j]
        if not p and (abs(third) > HEAVIEST or not within(s, a, s[SPARE + 2], bound)):
            continue
        old_a, new_a = vector_of(s, a, i), vector_of(s, a, length)
        old_b, new_b = vector_of(s, b, j), vector_of(s, b, length)
        new_c = vector_of(s, c, length)
        for k in range(s[WIDTH] - 1):
            s[new_a + k] = s[old_a + k]
            s[new_b + k] = s[old_b + k]
            s[new_c + k] = s[s[SPARE + 1] + k]
        s[scalars + length] = s[s[SPARE + 2] - 1]
        for mode in range(3):
            enter(s, mode, length)
        s[LENGTH] = length + 1
        for side in range(2):
            replace(s, a if side else b, j if side else i, s[SPARE + 2 * side])
        s[scalars + i] = s[s[SPARE + 1] - 1]
        s[scalars + j] = third
        return True
    return False


@helper
def remember(s: State) -> None:
    """Note the present terms as the best ones."""
    s[BEST] = s[LENGTH]
    shift = s[SAVED] - s[FACTORS]
    for k in range(s[FACTORS], s[HASHES]):
        s[k + shift] = s[k]


@helper
def recall(s: State) -> None:
    """Go back to the best terms; list all twins anew."""
    shift = s[SAVED] - s[FACTORS]
    for k in range(s[FACTORS], s[HASHES]):
        s[k] = s[k + shift]
    for k in range(3 * s[ROOM]):
        s[s[HASHES] + k] = NOWHERE
        s[s[TWINS] + k] = 0
        s[s[PLACES] + k] = -1
    s[ACTIVE] = 0
    s[LENGTH] = s[BEST]
    for mode in range(3):
        for i in range(s[LENGTH]):
            enter(s, mode, i)


@compiled
def walk(
    s: State, p: int, bound: int, floor: int, margin: int, patience: int, goal: int, steps: int
) -> int:
    """Flip until at most ``goal`` terms are left or for so many steps; return the steps taken.

    There is one call of every function: numba's compiler copies them, and its time counts.

    ``p`` is a prime or 0 for Z with entries up to ``bound``. After ``patience`` flips without
    gain a plus transition follows, up to ``margin`` terms above the best, then a return to the
    best. Two walks of n and m steps are one of n + m steps.
    """
    for step in range(steps):
        if s[LENGTH] == 0:
            recall(s)
        if s[LOOSE]:
            settle(s, p, floor)
            if s[LENGTH] < s[LOOSE] and s[LENGTH] <= s[BEST]:
                remember(s)
                s[SINCE] = 0
            s[LOOSE] = 0
        if s[LENGTH] <= goal:
            return step
        s[SINCE] += 1
        if s[ACTIVE] == 0 or s[SINCE] > patience:
            if s[LENGTH] >= s[BEST] + margin or not plus(s, p, bound):
                s[LENGTH] = 0  # the best is recalled
            s[SINCE] = 0
        else:
            flip(s, p, bound, floor)
    return steps


def prepared(state: NDArray[np.int64]) -> State:
    """A state as the loops take it: plain Python is faster on a list."""
    return state if COMPILED else state.tolist()
