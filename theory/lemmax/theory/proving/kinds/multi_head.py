r"""multi-head: outputs equal to their labels or near them, and ``\rank Z`` where it is full.

In units of ln 2 the exponential is any function on a real field with exp (x + y) = exp x exp y and
exp 1 = 2, so that integer scores have rational weights.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from lemmax.theory.proving import literals, numbers
from lemmax.theory.proving.literals import Value
from lemmax.theory.proving.softmax import scaled_inverse, softmax
from lemmax.theory.proving.theorem import NotTranslated, Parsed, Theorem

Data = dict[str, tuple[str, Value]]
_BINDERS = re.compile(
    r"\(R : realFieldType\) \(exp : R -> R\)"
    r" \(E := contexts_of R (?P<T>\d+) (?P<n>\d+) (?P<d>\d+) C_den C_rows which\)"
    r" \(e := queries_of R (?P=T) (?P=d) e_den e_rows\)"
    r" \(W_K := heads_of R (?P<H>\d+) (?P=d) (?P<dh>\d+) K_den K_rows\)"
    r" \(W_Q := heads_of R (?P=H) (?P=d) (?P=dh) Q_den Q_rows\)"
    r"(?: \(V := heads_of R (?P=H) (?P=d) (?P<p>\d+) V_den V_rows\))?"
    r" : (?P<unit>natural|binary)_exponential exp -> (?P<body>.*)"
)
_EQUAL = re.compile(
    r"forall t k, output exp E e W_K W_Q V t k = qmx R (\d+) (\d+) \(Zpos L_den\) L_rows t k"
)
_NEAR = re.compile(
    r"forall t k, `\|output exp E e W_K W_Q V t k - qmx R (\d+) (\d+) \(Zpos L_den\) L_rows t k\|"
    r" <= qr R \((\d+) # (\d+)\)"
)
_RANK = re.compile(r"\\rank \(multi_head_attention\.Z exp E e W_K W_Q\) = (\d+)%N")
_BELOW = re.compile(r"\((\d+) <= \\rank \(multi_head_attention\.Z exp E e W_K W_Q\)\)%N")


def _cubes(name: str, matrices: Sequence[Any]) -> Data:
    tables = [numbers.rows_of(M) for M in matrices]
    d = math.lcm(*(x.denominator for M in tables for row in M for x in row))
    whole = [[[int(x * d) for x in row] for row in M] for M in tables]
    return {f"{name}_den": ("positive", d), f"{name}_rows": ("cube", whole)}


def _rows(name: str, rows: Any) -> Data:
    d, whole = numbers.cleared(numbers.rows_of(rows))
    return {f"{name}_den": ("positive", d), f"{name}_rows": ("seq (seq Z)", whole)}


def model(A: Mapping[str, Any]) -> tuple[Data, str, str]:
    """The data of a model, its binders, and the sizes and data as arguments of a theorem."""
    T, n, d = len(A["context_of"]), len(A["contexts"][0]), len(A["contexts"][0][0])
    heads = A["heads"]
    H, dh = len(heads), len(heads[0]["W_K"][0])
    if any(len(head["W_K"][0]) != dh for head in heads) or len(A["queries"][0]) != d:
        raise NotTranslated("Its heads, or its tokens and queries, have different dimensions.")
    data: Data = {
        **_cubes("C", A["contexts"]),
        "which": ("seq nat", A["context_of"]),
        **_rows("e", A["queries"]),
        **_cubes("K", [head["W_K"] for head in heads]),
        **_cubes("Q", [head["W_Q"] for head in heads]),
    }
    binders = (
        "(R : realFieldType) (exp : R -> R)\n"
        f"  (E := contexts_of R {T} {n} {d} C_den C_rows which)\n"
        f"  (e := queries_of R {T} {d} e_den e_rows)\n"
        f"  (W_K := heads_of R {H} {d} {dh} K_den K_rows)\n"
        f"  (W_Q := heads_of R {H} {d} {dh} Q_den Q_rows)"
    )
    return data, binders, f"{T}%N {n}%N {H}%N {d}%N {dh}%N"


def features(A: Mapping[str, Any]) -> list[list[Fraction]]:
    """Rationals close to the features, one row for each example."""
    contexts = [numbers.rows_of(c) for c in A["contexts"]]
    rows = []
    for e, c in zip(numbers.rows_of(A["queries"]), A["context_of"], strict=True):
        row: list[Fraction] = []
        for head in A["heads"]:
            K, Q = numbers.rows_of(head["W_K"]), numbers.rows_of(head["W_Q"])
            key = [sum(x * Q[a][b] for a, x in enumerate(e)) for b in range(len(Q[0]))]
            direction = [sum(x * y for x, y in zip(line, key, strict=True)) for line in K]
            scores = [
                Fraction(sum(x * y for x, y in zip(token, direction, strict=True)))
                for token in contexts[c]
            ]
            theta = softmax(scores)
            row += [
                sum(
                    (w * token[j] for w, token in zip(theta, contexts[c], strict=True)), Fraction(0)
                )
                for j in range(len(contexts[c][0]))
            ]
        rows.append(row)
    return rows


def rank_arguments(A: Mapping[str, Any], r: int) -> str:
    """Precision, rows, columns and approximate inverse that show rank Z >= r."""
    Z = features(A)
    rows, columns, bits = independent(Z, r)
    minor = [[Z[i][j] for j in columns] for i in rows]
    inverse = scaled_inverse(minor, bits)
    return (
        f"{2 * bits + 40}%bZ {bits + 12}%N ({literals.write(rows)}%N) "
        f"({literals.write(columns)}%N) ({literals.write(inverse)}%bZ)"
    )


def independent(Z: list[list[Fraction]], r: int) -> tuple[list[int], list[int], int]:
    """Rows, columns and bits of a minor of order r by the largest pivots."""
    left = [list(row) for row in Z]
    rows: list[int] = []
    columns: list[int] = []
    smallest = Fraction(1)
    for _ in range(r):
        size, i, j = max(
            (abs(x), i, j)
            for i, row in enumerate(left)
            for j, x in enumerate(row)
            if i not in rows and j not in columns
        )
        if not size:
            raise NotTranslated("Its minor is too small to be told from zero by enclosures.")
        smallest = min(smallest, size)
        pivot = left[i]
        rows.append(i)
        columns.append(j)
        for k, row in enumerate(left):
            if k not in rows and row[j]:
                f = row[j] / pivot[j]
                left[k] = [_short(x - f * y) for x, y in zip(row, pivot, strict=True)]
    bits = 16 + max(
        0, (1 / smallest).numerator.bit_length() - (1 / smallest).denominator.bit_length()
    )
    return rows, columns, bits + 8


def _short(x: Fraction) -> Fraction:
    """The number to about 2,000 bits behind the point, so that fractions stay short."""
    return Fraction(math.floor(x * 2**2000), 2**2000)


def translate(certificate: Mapping[str, Any]) -> Theorem:
    """The theorem of a certificate about outputs, or about a full feature rank."""
    claim = certificate["assertion"]
    if claim["type"] == "jacobian-rank":
        raise NotTranslated("The Jacobian of the outputs is not defined in theory/formal.")
    data, binders, sizes = model(certificate)
    unit = {"1": "natural", "ln2": "binary"}.get(certificate["scale"])
    if unit is None:
        raise NotTranslated(f"Its scale {certificate['scale']} is irrational.")
    mode = unit.capitalize()
    head = f"@{{}} R exp {mode} ok isT {sizes}"
    names = "C_den e_den K_den Q_den"
    if claim["type"] == "feature-rank":
        r = claim["lower"]["bound"]
        if not r == claim["upper"]["bound"] == len(certificate["context_of"]) or unit != "natural":
            raise NotTranslated("Its feature rank is not the number of its examples.")
        call = head.format("feature_rank_full_sound")
        tables = "C_rows which e_rows K_rows Q_rows"
        proof = f"{call} {names} {tables} {rank_arguments(certificate, r)}"
        body = f"\\rank (multi_head_attention.Z exp E e W_K W_Q) = {r}%N"
    else:
        values = [h["V"] for h in certificate["heads"]]
        data |= _cubes("V", values) | _rows("L", claim["labels"])
        H, d, p, T = len(values), len(values[0]), len(values[0][0]), len(claim["labels"])
        binders += f"\n  (V := heads_of R {H} {d} {p} V_den V_rows)"
        error = numbers.number(claim["error"])
        label = f"qmx R {T} {p} (Zpos L_den) L_rows t k"
        tables = "C_rows which e_rows K_rows Q_rows V_rows"
        if error:
            level = f"({error.numerator} # {error.denominator})"
            body = f"forall t k,\n  `|output exp E e W_K W_Q V t k - {label}| <= qr R {level}"
            call = head.format("outputs_near_sound")
            proof = f"{call} {p}%N {names} V_den {tables} 128%bZ 48%N L_rows L_den {level}"
        else:
            body = f"forall t k,\n  output exp E e W_K W_Q V t k = {label}"
            call = head.format("outputs_sound")
            proof = f"{call} {p}%N {names} V_den {tables} L_rows L_den"
    return Theorem(
        data,
        f"{binders} :\n  {unit}_exponential exp -> {body}",
        literals.folded(f"move=> ok; apply: ({proof}).") + "\nvm_cast_no_check (erefl true).",
    )


def model_back(match: re.Match[str], data: Mapping[str, Any]) -> Any:
    """Contexts, queries and heads that named data write, or None if sizes are not as stated."""
    T, n, d, H, dh = (int(match[x]) for x in ("T", "n", "d", "H", "dh"))
    shapes = {"C": (n, d), "K": (d, dh), "Q": (d, dh)}
    if match["p"]:
        shapes["V"] = (d, int(match["p"]))
    found: list[Any] = [list(data["which"])]
    if len(data["which"]) != T or any(not 0 <= c < len(data["C_rows"]) for c in data["which"]):
        return None
    for name, (a, b) in shapes.items():
        tables = [numbers.over(data[f"{name}_den"], M) for M in data[f"{name}_rows"]]
        if name != "C" and len(tables) != H:
            return None
        if any(len(M) != a or any(len(row) != b for row in M) for M in tables):
            return None
        found.append(tables)
    queries = numbers.over(data["e_den"], data["e_rows"])
    if len(queries) != T or any(len(row) != d for row in queries):
        return None
    return [*found, queries]


def model_meant(A: Mapping[str, Any], values: bool) -> Any:
    """The same of the certificate."""
    parts = ["W_K", "W_Q", *["V"] * values]
    return [
        A["context_of"],
        [numbers.rows_of(c) for c in A["contexts"]],
        *([numbers.rows_of(head[name]) for head in A["heads"]] for name in parts),
        numbers.rows_of(A["queries"]),
    ]


def read_back(parsed: Parsed) -> Any:
    """What the written theorem says: the model, the unit, and outputs or a rank."""
    match = _BINDERS.fullmatch(parsed.statement)
    if match is None:
        return None
    names = {"which"} | {f"{x}_{y}" for x in "CeKQ" for y in ("den", "rows")}
    if match["p"]:
        names |= {f"{x}_{y}" for x in "VL" for y in ("den", "rows")}
    if set(parsed.data) != names:
        return None
    found = model_back(match, parsed.data)
    if rank := _RANK.fullmatch(match["body"]):
        return found, match["unit"], int(rank[1])
    near, equal = _NEAR.fullmatch(match["body"]), _EQUAL.fullmatch(match["body"])
    stated = near or equal
    if stated is None:
        return None
    den: Any = parsed.data["L_den"]
    rows: Any = parsed.data["L_rows"]
    labels = numbers.over(den, rows)
    if len(labels) != int(stated[1]) or any(len(row) != int(stated[2]) for row in labels):
        return None
    error = Fraction(int(near[3]), int(near[4])) if near else Fraction(0)
    return found, match["unit"], (labels, error)


def meant(certificate: Mapping[str, Any]) -> Any:
    """The same of the certificate."""
    claim = certificate["assertion"]
    unit = {"1": "natural", "ln2": "binary"}[certificate["scale"]]
    if claim["type"] == "feature-rank":
        return model_meant(certificate, False), unit, claim["lower"]["bound"]
    said = numbers.rows_of(claim["labels"]), numbers.number(claim["error"])
    return model_meant(certificate, True), unit, said
