"""The rank of a pencil from below, as one step that the checker recomputes.

At a root x of a polynomial a left null space Y of A + xB, with YB = W(A + xB) where x lies in the
field (a *jet*), bounds the rank; the checker only multiplies. Cost: one elimination over Q[x]/(f).
"""

from __future__ import annotations

from typing import TypeAlias

from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_mat

from lemmax.theory.certificates import writing as certificates
from lemmax.theory.numbers.linear import left_null_space_modulo, rank, real_roots
from lemmax.theory.tensors.arrays import Array, flattening, rank_modulo, slices
from lemmax.theory.tensors.below.chains import (
    WRITTEN_PRIME,
    ChainStep,
    LowerBound,
    restriction,
)
from lemmax.theory.tensors.below.flattenings import best_flattening
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.pencils.normal_forms import Pencil, normal_rank, pencil, points
from lemmax.theory.tensors.reductions import concise

Polynomials: TypeAlias = list[list[fmpq_poly]]
"""A matrix of residues modulo a polynomial."""


def pencil_bound(array: Array, mode: int, form: Pencil, field: Field) -> LowerBound:
    """The bound m + n - ρ + δ_F as one step that the checker recomputes, or as a flattening."""
    flat = best_flattening(array)
    if form.rank(field) <= flat.value:
        return flat
    divisor = max(form.divisors, key=lambda d: d.excess(field))
    A, B = slices(array, mode)
    order, modulus, jet = [0, 1], fmpq_poly([0, 1]), True
    if divisor.excess(field):
        jet = divisor.splits(field)
        if divisor.factor == fmpq_poly([0, 1]):  # eigenvalue zero of M: the pencil drops at s = 0
            order, (A, B) = [1, 0], (B, A)
        else:
            modulus = _point(divisor.factor, form.shift)
    else:
        # no eigenvalue matters: any regular point shows m + n - ρ
        first, second = (fmpq_mat(fmpz_mat(part.tolist())) for part in (A, B))
        normal = normal_rank(first, second)
        x = next(x for x in points() if rank(first + second * fmpq(x)) == normal)
        modulus = fmpq_poly([-x, 1])
    Y, W = _witness(A, B, modulus, jet)
    step: ChainStep = {
        "lemma": "jet" if jet else "eigenvalue",
        "mode": mode,
        "prime": WRITTEN_PRIME,
        "order": order,
        "modulus": _text(modulus, modulus.degree() + 1),
        "left": [[_text(x, modulus.degree()) for x in row] for row in Y],
        "pivots": _pivots(Y),
    }
    if jet:
        step["jet"] = [[_text(x, modulus.degree()) for x in row] for row in W]
    elif real_roots(modulus) < modulus.degree():
        step["outside"] = "sturm"
    else:
        step["outside"] = str(prime_without_roots(modulus))
    others = [rank_modulo(flattening(array, m)) for m in range(3) if m != mode]
    return LowerBound.by(step, sum(others) - A.shape[0] + len(Y))


def two_slice_bound(array: Array, mode: int, field: Field) -> LowerBound:
    """The exact rank of a tensor with two slices in the mode, as a chain that begins by concision.

    >>> import numpy as np
    >>> two_slice_bound(np.array([[[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 0]]]), 0, "R").value
    3
    """
    core = concise(array)
    if core.array.shape[mode] < 2:
        return best_flattening(array)
    maps = [k if len(k) < n else [] for k, n in zip(core.kept, array.shape, strict=True)]
    form = pencil(*slices(core.array, mode))
    return pencil_bound(core.array, mode, form, field).after(restriction(maps))


def _text(polynomial: fmpq_poly, count: int) -> list[str]:
    return [certificates.number(polynomial[i]) for i in range(count)]


def _point(f: fmpq_poly, shift: int) -> fmpq_poly:
    """The polynomial of x = τ - 1/λ for the roots λ ≠ 0 of f: there A + xB drops its rank."""
    reverse = fmpq_poly(list(reversed(f.coeffs())))
    moved = reverse(fmpq_poly([shift, -1]))
    return moved / moved[moved.degree()]


def _witness(A: Array, B: Array, modulus: fmpq_poly, jet: bool) -> tuple[Polynomials, Polynomials]:
    """Y with Y(A + xB) = 0, in echelon form; for a jet also W with YB = W(A + xB)."""
    m, n = A.shape
    there = [
        {j: value for j in range(n) if (value := fmpq_poly([int(A[i, j]), int(B[i, j])]) % modulus)}
        for i in range(m)
    ]
    if jet:
        rows = [
            row | {n + j: fmpq_poly([int(B[i, j])]) for j in range(n) if B[i, j]}
            for i, row in enumerate(there)
        ]
        rows += [{n + j: -x for j, x in row.items()} for row in there]
    else:
        rows = there
    zero = fmpq_poly([])
    vectors = [v for v in left_null_space_modulo(rows, modulus) if min(v) < m]
    Y = [[v.get(i, zero) for i in range(m)] for v in vectors]
    W = [[v.get(m + i, zero) for i in range(m)] for v in vectors]
    return Y, W


def _pivots(rows: Polynomials) -> list[int]:
    return [next(i for i, x in enumerate(row) if x) for row in rows]


def prime_without_roots(f: fmpq_poly) -> int:
    """A prime modulo which f has no root; every irreducible f of degree ≥ 2 has one (Jordan).

    >>> prime_without_roots(fmpq_poly([-2, 0, 1]))  # 2 is no square modulo 3
    3
    """
    q = 2
    while True:
        if all(x.q % q for x in f.coeffs()):
            residues = [int(x.p) * pow(int(x.q), -1, q) for x in f.coeffs()]
            if not any(_value(residues, x, q) == 0 for x in range(q)):
                return q
        q += 1
        while any(q % divisor == 0 for divisor in range(2, int(q**0.5) + 1)):
            q += 1


def _value(coefficients: list[int], x: int, q: int) -> int:
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * x + coefficient) % q
    return value
