"""Pencils: the exact rank of tensors with a mode of size two, over Q, R and C, from both sides.

A tensor with two slices A, B (m × n) is the pencil sA + tB. If both other modes are concise and
the pencil has rank ρ over Q(s, t), then (Kronecker, Grigoriev, JáJá)

    R_F = m + n - ρ + δ_F,

where δ_F is the largest number, over the irreducible polynomials π over F, of elementary divisors
π^e with e ≥ 2, or of all π^e where π has degree two or more. The structure of a pencil is in
:mod:`.normal_forms`, a decomposition of this length in :mod:`.decompositions`, the bound from below
in :mod:`.lower_bounds`; tensors with more slices belong to the folders around this one.
"""
