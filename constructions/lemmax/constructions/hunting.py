"""Evidence for the hunter: certified bounds of numbers that the checker itself only encloses."""

from __future__ import annotations

from flint import fmpq

from lemmax.constructions.dana.encoder_intervals import best_encoder
from lemmax.theory.certificates.writing import Certificate
from lemmax.theory.dana.encoders import Table
from lemmax.theory.errors import LemmaxError
from lemmax.theory.hunting.question import Instance, Question
from lemmax.theory.tensors.ranks import tensor_rank

_ENTRIES = 80  # of a tensor whose rank is asked for


def evidence(question: Question, instance: Instance) -> list[Certificate]:
    """Certificates about the tensor ranks and divergences of which a statement speaks.

    Cost: a tensor rank or a best encoder for each, of small objects; larger ones are left open.
    """
    known = []
    for T, *field in question.arguments(instance, "tensor_rank"):
        cells = [x for M in T for row in M for x in row]
        if len(cells) <= _ENTRIES and all(x.denominator == 1 for x in cells):
            array = [[[int(x) for x in row] for row in M] for M in T]
            known.append(tensor_rank(array, str(field[0]) if field else "R").certificate())  # type: ignore[arg-type]
    for p, d in question.arguments(instance, "kl_infimum"):
        rows = [[fmpq(x.numerator, x.denominator) for x in row] for row in p.table]
        prior = [fmpq(x.numerator, x.denominator) for x in p.prior]
        if len(rows) * len(rows[0]) <= _ENTRIES and d.denominator == 1 and d >= 1:
            try:
                rough = best_encoder(
                    Table(rows, prior), int(d), tolerance=0.1, leaves=200, starts=1
                )
                known.append(rough.certificate())
            except LemmaxError:
                continue
    return known
