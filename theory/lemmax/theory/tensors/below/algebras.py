"""Multiplication tables of associative algebras with unit: the bound of Alder and Strassen.

R_F(A) ≥ 2 dim A - t, t the number of maximal two-sided ideals over F. It is proved here where the
simple parts have degree at most two over C: fields, quaternions, 2 × 2 matrices over these centres.
A larger part takes the dimension of a simple module instead of 1 from the proved bound, and the
bound of the theorem is reported as cited. A division algebra that does not commute takes nothing.
"""

from __future__ import annotations

from lemmax.theory.tensors.algebras.structure import Part, Structure
from lemmax.theory.tensors.algebras.tables import Algebra
from lemmax.theory.tensors.below.chains import WRITTEN_PRIME, ChainStep, LowerBound, restriction
from lemmax.theory.tensors.fields import Field


def algebra_bound(algebra: Structure, field: Field) -> LowerBound | None:
    """The proved bound; None over Q if some factor is not shown to be irreducible.

    >>> from lemmax.theory.tensors.algebras.structure import structure
    >>> from lemmax.theory.tensors.examples import cyclic
    >>> [algebra_bound(structure(cyclic(5)), field).value for field in ("Q", "R", "C")]
    [8, 7, 5]
    """
    parts, rest = algebra.parts.parts, algebra.parts.algebra
    if field == "Q" and any(p.polynomial.degree() > 1 and not p.prime for p in parts):
        return None
    step: ChainStep = {
        "lemma": "algebra",
        **_shared(rest),
        "element": [str(x) for x in algebra.parts.element],
        "factors": [_factor(part) for part in parts],
    }
    lost = sum(part.lost(field) for part in parts) - algebra.parts.skew(field)
    bound = LowerBound.by(step, 2 * rest.dimension - lost)
    if algebra.radical is not None:
        ideal: ChainStep = {
            "lemma": "radical",
            **_shared(algebra.table.algebra),
            "ideal": _text(algebra.radical.ideal),
            "kept": algebra.radical.kept,
            "map": _text(algebra.radical.map),
        }
        bound = bound.after(ideal, 2 * len(algebra.radical.ideal))
    if algebra.table.first:
        maps = [_text(algebra.table.first), _text(algebra.table.second), []]
        bound = bound.after(restriction(maps))
    return bound


def _shared(algebra: Algebra) -> ChainStep:
    return {"unit": [str(x) for x in algebra.unit], "prime": WRITTEN_PRIME}


def _factor(part: Part) -> ChainStep:
    f = part.polynomial
    return {
        "polynomial": [str(f[i]) for i in range(f.degree() + 1)],
        "degree": part.degree,
        "point": str(part.point),
        "prime": str(part.prime),
    }


def _text(rows: list[list[int]]) -> list[list[str]]:
    return [[str(x) for x in row] for row in rows]
