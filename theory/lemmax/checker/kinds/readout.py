"""Whether a linear readout of features holds facts: weights and their margin, or a conflict."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..arithmetic import Table, bits_of, cleared_all, multiplied
from ..limits import brief, keep, refuse, spend
from ..reading import exactly, fields, integer, items, matrix, number, variant, whole
from ..steps import Step


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """Facts with features z_t and labels y_t: weights W with <W_y, z> > <W_v, z> for all v ≠ y.

    "widest": the margin min <W_y - W_v, z> / |W|, squared and in the Frobenius norm, is within the
    ratio of what any readout reaches, which is at most |Σ λ A / Σ λ| for weights λ >= 0 of the
    demands A = (e_y - e_v) ⊗ z. "conflict": Σ λ A = 0 with λ > 0, so there is no readout (Gordan).
    """
    fields(data, "The certificate", "features labels classes assertion")
    M = matrix(data["features"], "features")
    V = integer(data["classes"], "classes", 1_000_001)
    listed = exactly(len(M), data["labels"], "labels")
    labels = [integer(y, "A label", V) for y in listed]
    said = data["assertion"]
    options = {"holds": "weights", "widest": "weights demands ratio", "conflict": "demands"}
    kind = variant(said, "assertion", "type", options)
    W = matrix(said["weights"], "weights", V, len(M[0])) if kind != "conflict" else None
    λ = demands(said["demands"], labels, V) if kind != "holds" else []
    ratio = number(said["ratio"], "ratio") if kind == "widest" else None
    if V < 2:
        refuse("classes", "must be at least 2: one label has no rival")

    (Z,), _ = cleared_all([M])  # no scale matters: it divides both sides alike
    if W is None:
        ok = not any(map(any, total(Z, labels, λ).values()))
        facts = len({t for t, _, _ in λ})
        cancel = f"the weighted demands of {facts} facts {'' if ok else 'do not '}cancel"
        yield Step(ok, f"{cancel}: {'' if ok else 'it is not shown that '}no readout holds them")
        return
    (weights,), _ = cleared_all([W])
    best: int | None = None
    for t, row in enumerate(multiplied(Z, Table(map(list, zip(*weights, strict=True))))):
        y = labels[t]
        gap = row[y] - max(x for v, x in enumerate(row) if v != y)
        if gap <= 0:
            yield Step(False, f"fact {t}: the logit of its label is not strictly the largest")
            return
        best = gap if best is None else min(best, gap)
    assert best is not None, "a matrix has rows"
    yield Step(True, f"the label has the strictly largest logit, for all {len(M)} facts")
    if ratio is None:
        return
    norm, point = square(weights), square(list(total(Z, labels, λ).values()))
    weight = sum(x for _, _, x in λ)
    bits = max(best, norm, point, weight).bit_length()
    spend("The margin", 20, 2 * bits, 2 * bits)
    # point / weight² <= ratio · best² / norm
    ok = point * norm * ratio.denominator <= ratio.numerator * (best * weight) ** 2
    above = f"no readout has a margin whose square is more than {brief(ratio)} times as large"
    yield Step(ok, above if ok else f"it is not shown that {above}")


def demands(value: object, labels: list[int], V: int) -> list[tuple[int, int, int]]:
    """Facts, labels that are not theirs, and positive integers."""
    found = []
    for entry in items(value, "demands"):
        t, v, weight = exactly(3, entry, "A demand")
        t, v = integer(t, "The fact of a demand", len(labels)), integer(v, "A rival", V)
        if v == labels[t]:
            refuse("A demand", f"sets fact {t} against its own label")
        x = whole(weight, "The weight of a demand")
        if x <= 0:
            refuse("The weight of a demand", "must be positive")
        found.append((t, v, x))
    return found


def total(Z: Table, labels: list[int], λ: list[tuple[int, int, int]]) -> dict[int, list[int]]:
    """Σ λ (e_y - e_v) ⊗ z: a row for each label that takes part."""
    rows: dict[int, list[int]] = {}
    bits = bits_of([[x for _, _, x in λ]])
    spend("The demands", 4 * len(λ) * len(Z[0]), Z.bits, bits)
    keep("The demands", 2 * len(λ) * len(Z[0]), Z.bits + bits)
    for t, v, x in λ:
        for label, factor in ((labels[t], x), (v, -x)):
            row = rows.get(label, [0] * len(Z[0]))
            rows[label] = [a + factor * b for a, b in zip(row, Z[t], strict=True)]
    return rows


def square(rows: list[list[int]]) -> int:
    """The sum of the squares of all entries."""
    bits = bits_of(rows)
    spend("The norm", 3 * sum(map(len, rows)), bits, bits)
    return sum(x * x for row in rows for x in row)
