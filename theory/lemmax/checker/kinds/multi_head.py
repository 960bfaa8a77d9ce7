"""Ranks and outputs of heads on contexts and queries."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ..arithmetic import bits_of, cleared, dot, height, product, rank, ratio
from ..contexts import MultiHead, attention_logits, multi_head, rows_mod, spans
from ..enclosures import precisions, weights
from ..limits import LIMITS, Undecided, brief, refuse, spend
from ..reading import fields, indices, integer, matrix, number, variant, whole
from ..steps import Step, check_minor, minor_of


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """Bounds for rank Z or for the rank of the Jacobian, or outputs close to labels.

    Ceiling of rank Z for a set F of contexts: rows outside F, + ρ + (H - 1) δ, since after
    subtracting the first block of columns the rows of block h are Eᵀ(θ_h - θ_1), combinations of
    differences. Dimension: with one context the outputs depend on the weights only through a
    δ × κ matrix of rank <= r and δ numbers a head, and through one constant.
    """
    fields(data, "The certificate", "contexts context_of queries scale heads assertion")
    A = multi_head({k: v for k, v in data.items() if k != "assertion"}, "The certificate")
    claim, T = data["assertion"], len(A.context_of)
    ranks = "lower upper"
    options = {"feature-rank": ranks, "jacobian-rank": ranks, "outputs": "labels error"}
    kind = variant(claim, "assertion", "type", options)
    if kind != "feature-rank" and A.heads[0][2] is None:
        refuse("The heads", "must have V")
    if kind == "outputs":
        yield check_outputs(A, claim)
        return
    lower, jacobian = claim["lower"], kind == "jacobian-rank"
    if jacobian and A.heads[0][2] and len(A.heads[0][2][0]) != 1:
        refuse("The Jacobian", "is that of one output")
    fields(lower, "lower", "bound prime rows columns" + " point" * (A.scale != "ln2"))
    width = len(A.contexts[0][0]) * len(A.heads)
    if jacobian:
        width += sum((len(W_K) + len(W_Q)) * len(W_K[0]) for W_K, W_Q, _ in A.heads)
    p, rows, columns = minor_of(lower, T, width)
    z = whole(lower["point"], "lower.point") if A.scale != "ln2" else 2
    if not 2 <= z < p:
        refuse("lower", "must have 2 <= point < prime (in unit ln2 the point is 2)")
    methods = (
        {"size": "bound", "dimension": "bound"} if jacobian else {"contexts": "bound contexts"}
    )
    method = variant(claim["upper"], "upper", "method", methods)
    top = integer(claim["upper"]["bound"], "upper.bound")
    chosen = indices(claim["upper"].get("contexts", []), "upper.contexts", len(A.contexts))
    if method == "dimension" and len(set(A.context_of)) != 1:
        refuse("upper", "needs one context for all examples")
    table = rows_mod(A, p, z, jacobian)
    minor, name = [[table[i][j] for j in columns] for i in rows], "J" if jacobian else "Z"
    yield check_minor(minor, p, integer(lower["bound"], "lower.bound", T + 1), name)
    bound, text = ceiling(A, method, chosen)
    ok = bound == top
    yield Step(ok, f"rank {name} <= {top}: {text}" if ok else f"the bound is {bound}, not {top}")


def ceiling(A: MultiHead, method: str, chosen: Sequence[int]) -> tuple[int, str]:
    """What bounds the rank from above, with the calculation."""
    H, T, inside = len(A.heads), len(A.context_of), set(chosen)
    if method == "contexts":
        outside = sum(c not in inside for c in A.context_of)
        rho, delta = spans([A.contexts[c] for c in chosen])
        text = f"{outside} rows outside + {rho} + {H - 1} * {delta}"
        return outside + rho + (H - 1) * delta, text
    if method == "dimension":
        delta, kappa = spans([A.contexts[A.context_of[0]]])[1], rank(A.queries)
        r = min(max(len(W_K[0]) for W_K, _, _ in A.heads), delta, kappa)
        text = f"{H} * ({r} * ({delta} + {kappa} - {r}) + {delta}) + 1"
        return H * (r * (delta + kappa - r) + delta) + 1, text
    return T, f"there are {T} rows"


def check_outputs(A: MultiHead, claim: Mapping[str, Any]) -> Step:
    """Every output Σ_h θᵀ E V is within ``error`` of its label; in unit ln2 also for error 0."""
    values = [V for _, _, V in A.heads if V is not None]
    labels = matrix(claim["labels"], "labels", len(A.context_of), len(values[0][0]))
    error = number(claim["error"], "error")
    if error < 0 or A.scale not in ("1", "ln2"):
        refuse("Outputs", "need an error >= 0 and the scale 1 or ln2")
    logits, q = attention_logits(A)
    reach = max(max(row) - min(row) for rows in logits for row in rows)
    exact = A.scale == "ln2" and q == 1 and reach <= LIMITS["precision bits"]
    tables = [[product(E, V) for V in values] for E in A.contexts]
    for (t, row), k in itertools.product(enumerate(labels), range(len(labels[0]))):
        columns = [cleared([x[k] for x in U]) for U in tables[A.context_of[t]]]
        for bits in [reach] if exact else precisions():
            low = high = Fraction(0)
            for scores, u in zip(logits[t], columns, strict=True):
                if exact:  # bits are as many as it takes
                    powers = [1 << bits - max(scores) + x for x in scores]
                    bounds = list(zip(powers, powers, strict=True))
                else:
                    bounds = weights(scores, q, A.scale, bits)
                a, b = averages(bounds, *u, 0 if exact else bits)
                long = height((low, high, a, b, row[k], error))
                spend("The outputs", 20, long, long)
                low, high = low + a, high + b
            if row[k] - error <= low and high <= row[k] + error:
                break
            if low > row[k] + error or high < row[k] - error:
                return Step(False, f"example {t}: output {k} is off by more than the error")
        else:
            raise Undecided(f"example {t}: output {k} is too close to the error")
    return Step(True, f"the outputs of all {len(labels)} examples are within {brief(error)}")


def averages(
    bounds: Sequence[tuple[int, int]], u: Sequence[int], d: int, bits: int
) -> tuple[Fraction, Fraction]:
    """An enclosure of the mean of u / d, weights in the bounds; rounded to bits, if any."""
    least, (lows, highs) = min(u), zip(*bounds, strict=True)
    long = bits_of((u, highs)) + d.bit_length() + bits
    spend("The outputs", 4 * len(u) + 20, long, long)
    above = [x - least for x in u]
    a, b, c, e = dot(lows, above), sum(highs), dot(highs, above), sum(lows)
    if bits:
        a, b, c, e = (a << bits) // b, 1 << bits, -((-c << bits) // e), 1 << bits
    return ratio(a + least * b, b * d), ratio(c + least * e, e * d)
