"""Terms of rank one, and what they leave of a tensor."""

import itertools
import math
import operator
from collections.abc import Sequence
from fractions import Fraction

from .arithmetic import bits_of, cleared, height, least_common_multiple
from .limits import keep, room, spend
from .polynomials import Polynomial, monic, multiply, power_sums, reduce_modulo, residue_class
from .reading import fields, items
from .steps import Step
from .tensors import Cube, Integral, by_mode, length_of, sizes

Family = tuple[Polynomial, list[list[Polynomial]]]
Bundle = tuple[Polynomial, list[list[list[Polynomial]]]]
Rest = Cube[Fraction]


def family(value: object, T: Integral, where: str) -> Family:
    """The terms a(θ)⊗b(θ)⊗c(θ) for all roots θ of the monic modulus, with multiplicity."""
    data = fields(value, where, "modulus factors")
    modulus = monic(data["modulus"], f"{where}.modulus")
    parts = by_mode(data["factors"], T, where)
    return modulus, [[residue_class(x, modulus, where) for x in part] for part in parts]


def bundle(value: object, T: Integral, where: str) -> Bundle:
    """Terms a(θ)⊗b(θ)⊗c(θ) at one root θ of the monic modulus, whichever it is."""
    data = fields(value, where, "modulus terms")
    modulus = monic(data["modulus"], f"{where}.modulus")
    terms = [by_mode(term, T, where) for term in items(data["terms"], where)]
    return modulus, [
        [[residue_class(x, modulus, where) for x in part] for part in term] for term in terms
    ]


def without_bundle(rest: Rest, given: Bundle) -> tuple[Rest, bool]:
    """What is left minus the sum of a bundle, and whether that sum is rational.

    Each of its entries is a residue modulo the modulus. Where the residues are constants they are
    the entries at any root, and nothing else is used of it: the modulus may be reducible.
    """
    modulus, terms = given
    n, (a, b, c) = len(modulus) - 1, sizes(rest)
    spend("The families", 4 * a * b * c * n)
    keep("The families", 3 * a * b * c * n)
    total, longest = [[[Fraction(0)] * (c * n) for _ in range(b)] for _ in range(a)], 1
    for first, second, third in terms:
        powers = [list(third)]  # the third factor times 1, θ, θ², ...
        while len(powers) < n:
            powers.append([reduce_modulo([Fraction(0), *z], modulus) for z in powers[-1]])
        bits = max(height(z) for shifted in powers for z in shifted)
        for (i, f), (j, g) in itertools.product(enumerate(first), enumerate(second)):
            if any(f) and any(g):
                fg = reduce_modulo(multiply(f, g), modulus)
                row = total[i][j]
                # denominators multiply where numbers are added, so lengths add up
                product = height(fg) + bits
                long = height(row) + n * product
                longest = max(longest, long)
                spend("The families", 30 * n * n * c, long, product)
                room("The families", 2 * a * b * c * n, longest)
                for x, shifted in zip(fg, powers, strict=True):
                    if x:
                        for place, y in enumerate(itertools.chain.from_iterable(shifted)):
                            row[place] += x * y
    rational = not any(any(row[m::n]) for part in total for row in part for m in range(1, n))
    spend("The families", 30 * a * b * c, longest, max(height(row) for p in rest for row in p))
    left = [
        [
            [x - y for x, y in zip(row, sums[::n], strict=True)]
            for row, sums in zip(p, q, strict=True)
        ]
        for p, q in zip(rest, total, strict=True)
    ]
    return left, rational


def remainder(
    T: Integral,
    scale: int,
    terms: Sequence[Sequence[Sequence[Fraction]]],
    families: Sequence[Family],
) -> Rest:
    """T / scale minus the sum of the terms and the families, exactly."""
    a, b, c = sizes(T)
    clear = [[cleared(v) for v in term] for term in terms]
    scales = [math.prod(e for _, e in term) for term in clear]
    d = least_common_multiple((scale, *scales))
    whole = d.bit_length() + length_of(T)
    keep("The decomposition", 4 * a * b * c, whole)
    spend("The decomposition", 15 * a * b * c, whole, d.bit_length())
    total = [[[x * (d // scale) for x in row] for row in part] for part in T]
    for ((u, _), (v, _), (w, _)), e in zip(clear, scales, strict=True):
        factor = d // e
        long = bits_of((u, v)) * 2 + bits_of([w]) + factor.bit_length()
        used = [sum(map(bool, vector)) for vector in (u, v, w)]
        spend("The decomposition", a * b + c + math.prod(used), long, long // 2)
        support = [(k, factor * z) for k, z in enumerate(w) if z]
        for i, x in enumerate(u):
            for j, y in enumerate(v):
                if xy := x * y:
                    row = total[i][j]
                    for k, z in support:
                        row[k] -= xy * z
    spend("The decomposition", 2 * a * b * c, length_of(total), d.bit_length())
    rest = [[[Fraction(x, d) for x in row] for row in part] for part in total]
    for modulus, (first, second, third) in families:
        # the sum of g over the roots is linear in g, and Newton gives it for powers
        n = len(modulus) - 1
        spend("The families", 20 * n * (n * c + a * b * (n + c)))
        sums = power_sums(modulus, 2 * n - 1)
        long = height(sums) + max(map(height, third))
        spend("The families", 30 * n * n * c, n * long, long)
        traced = [[sum(map(operator.mul, z, sums[m : m + n])) for m in range(n)] for z in third]
        long = max(map(height, traced))
        for (i, f), (j, g) in itertools.product(enumerate(first), enumerate(second)):
            if any(f) and any(g):
                fg = reduce_modulo(multiply(f, g), modulus)
                bits = height(fg) + long
                spend("The families", 30 * n * c, n * bits, bits)
                rest[i][j] = [
                    x - sum(map(operator.mul, fg, z))
                    for x, z in zip(rest[i][j], traced, strict=True)
                ]
    return rest


def check_zero(rest: Rest, length: int) -> Step:
    """The terms add up to the tensor, exactly."""
    a, b, c = map(range, sizes(rest))
    for i, j, k in itertools.product(a, b, c):
        if rest[i][j][k]:
            text = f"the sum of the {length} terms differs from the tensor at {(i, j, k)}"
            return Step(False, text)
    return Step(True, f"R <= {length}: the {length} terms of rank one add up to the tensor")
