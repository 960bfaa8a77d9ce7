r"""memorization: ``memorizes exp (layer_of R n H d dqk dvo W) [set: 'I_n] (facts_db n n n facts)``.

With a threshold it is ``memorizes_at exp ... tau ...``. The exponential is any function on a real
field with exp (x + y) = exp x exp y and 1 + x <= exp x.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from lemmax.theory.proving import numbers
from lemmax.theory.proving.literals import Value
from lemmax.theory.proving.numbers import Rows
from lemmax.theory.proving.precision import needed
from lemmax.theory.proving.theorem import NotTranslated, Parsed, Theorem

HEADS = ("W_Q", "W_K", "W_V", "W_O")
WEIGHTS = "(Weights dE dU dQ dK dV dO E U Q K V O)"
_LAYER = r"\(layer_of R (\d+) (\d+) (\d+) (\d+) (\d+) " + re.escape(WEIGHTS) + r"\)"
_BINDERS = r"\(R : realFieldType\) \(exp : R -> R\) : natural_exponential exp -> "
_ARGMAX = re.compile(
    _BINDERS + rf"memorizes exp {_LAYER} \[set: 'I_(\d+)\] \(facts_db (\d+) (\d+) (\d+) facts\)"
)
_TAU = re.compile(
    _BINDERS
    + rf"memorizes_at exp {_LAYER} \(qr R \((\d+) # (\d+)\)\) \(facts_db (\d+) (\d+) (\d+) facts\)"
)


def layer_data(layer: Mapping[str, Any]) -> tuple[tuple[int, ...], dict[str, tuple[str, Value]]]:
    """The sizes n, H, d, d_qk, d_vo of a layer, and its weights as named data."""
    E, U = numbers.rows_of(layer["W_E"]), numbers.rows_of(layer["W_U"])
    heads = [[numbers.rows_of(head[name]) for name in HEADS] for head in layer["heads"]]
    if not heads:
        raise NotTranslated("A layer without heads has no head dimensions.")
    inner = {(len(head[1]), len(head[3])) for head in heads}
    if len(inner) > 1:
        raise NotTranslated("Its heads have different dimensions.")
    dqk, dvo = inner.pop()
    data: dict[str, tuple[str, Value]] = {}
    for name, rows in (("E", E), ("U", U)):
        d, whole = numbers.cleared(rows)
        data[f"d{name}"], data[name] = ("positive", d), ("seq (seq Z)", whole)
    for i, name in enumerate("QKVO"):
        matrices = [head[i] for head in heads]
        d = math.lcm(*(x.denominator for M in matrices for row in M for x in row))
        data[f"d{name}"] = ("positive", d)
        data[name] = ("cube", [[[int(x * d) for x in row] for row in M] for M in matrices])
    return (len(E), len(heads), len(E[0]), dqk, dvo), data


def layer_back(sizes: Sequence[int], data: Mapping[str, Any]) -> Any:
    """The weights that named data write, or None if their sizes are not as stated."""
    n, H, d, dqk, dvo = sizes
    shapes = {"Q": (d, dqk), "K": (dqk, d), "V": (d, dvo), "O": (dvo, d)}
    tables: list[Rows] = []
    for name, shape in (("E", (n, d)), ("U", (d, n))):
        tables.append(numbers.over(data[f"d{name}"], data[name]))
        if not _shaped(tables[-1], *shape):
            return None
    for name, shape in shapes.items():
        if len(data[name]) != H:
            return None
        for matrix in data[name]:
            tables.append(numbers.over(data[f"d{name}"], matrix))
            if not _shaped(tables[-1], *shape):
                return None
    return tables


def _shaped(rows: Rows, m: int, n: int) -> bool:
    return len(rows) == m and all(len(row) == n for row in rows)


def layer_meant(layer: Mapping[str, Any]) -> Any:
    """The same weights of the certificate, in the same order."""
    heads = layer["heads"]
    return [
        numbers.rows_of(layer["W_E"]),
        numbers.rows_of(layer["W_U"]),
        *(numbers.rows_of(head[name]) for name in HEADS for head in heads),
    ]


def precise(
    weights: Mapping[str, Any],
    facts: Sequence[Sequence[int]],
    tau: Fraction | None,
    counts: Sequence[bool] | None = None,
) -> str:
    """The bits of the enclosures and the squarings of the exponential, as arguments."""
    bits, squarings = needed(weights, facts, tau, counts)
    return f"{bits}%bZ {squarings}%N"


def translate(certificate: Mapping[str, Any]) -> Theorem:
    """The theorem of a memorization certificate in unit 1."""
    layer = certificate["layer"]
    if layer["unit"] != "1":
        raise NotTranslated("Its attention is counted in units of ln 2.")
    (n, *rest), data = layer_data(layer)
    facts = [tuple(fact) for fact in certificate["facts"]]
    data["facts"] = ("seq (nat * nat * nat)", facts)
    sizes = " ".join(map(str, [n, *rest]))
    binders = "(R : realFieldType) (exp : R -> R) :\n  natural_exponential exp ->\n  "
    database = f"(facts_db {n} {n} {n} facts)"
    argmax = certificate["criterion"]["type"] == "argmax"
    tau = None if argmax else numbers.number(certificate["criterion"]["tau"])
    precision = precise({name: value for name, (_, value) in data.items()}, facts, tau)
    if tau is None:
        statement = f"memorizes exp (layer_of R {sizes} {WEIGHTS})\n    [set: 'I_{n}] {database}"
        check = f"@argmax_sound R exp ok {precision} {sizes} {WEIGHTS} facts"
    else:
        level = f"({tau.numerator} # {tau.denominator})"
        statement = (
            f"memorizes_at exp (layer_of R {sizes} {WEIGHTS})\n    (qr R {level}) {database}"
        )
        check = f"@tau_sound R exp ok {precision} {sizes} {WEIGHTS} {level} facts"
    proof = f"move=> ok; apply: ({check}).\nvm_cast_no_check (erefl true)."
    return Theorem(data, binders + statement, proof)


def read_back(parsed: Parsed) -> Any:
    """What the written theorem says: weights, facts and threshold (None for argmax)."""
    names = {"facts", *"EUQKVO", *(f"d{x}" for x in "EUQKVO")}
    match = _ARGMAX.fullmatch(parsed.statement) or _TAU.fullmatch(parsed.statement)
    if match is None or set(parsed.data) != names:
        return None
    groups = [int(x) for x in match.groups()]
    n, tau = groups[0], None
    if match.re is _TAU:
        tau = Fraction(groups[5], groups[6])
        groups = groups[:5] + groups[7:]
    facts: Any = parsed.data["facts"]
    if any(x != n for x in groups[5:]) or any(not 0 <= x < n for fact in facts for x in fact):
        return None
    if len({fact[:2] for fact in facts}) != len(facts):
        return None
    return layer_back(groups[:5], parsed.data), list(facts), tau


def meant(certificate: Mapping[str, Any]) -> Any:
    """The same of the certificate."""
    criterion = certificate["criterion"]
    tau = numbers.number(criterion["tau"]) if criterion["type"] == "probability" else None
    facts = [tuple(fact) for fact in certificate["facts"]]
    return layer_meant(certificate["layer"]), facts, tau
