"""Second opinions on certificates: fractions as the papers write them, and balls where one exps.

Nothing here comes from the checker. A judge returns whether what a certificate asserts is true,
or None where it cannot tell. Bounds that only a proof can give (a lower bound of an infimum, of a
tensor rank) are tried on examples instead: a judge then finds a lie, and no proof.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import random
import re
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from benchmarks.attacks import more_words
from flint import arb, ctx, fmpq, fmpq_mat, nmod_mat

Certificate = dict[str, Any]
P = 2**61 - 1


def number(text: str) -> Fraction:
    head, _, exponent = text.partition("p")
    if "0x" not in head:
        return Fraction(head)
    return int(head, 16) * Fraction(2) ** int(exponent or 0)


def table(rows: Any) -> list[list[Fraction]]:
    return [[number(x) for x in row] for row in rows]


def ball(x: Any) -> arb:
    return arb(fmpq(*Fraction(x).as_integer_ratio()))


def rank(rows: Any) -> int:
    return int(fmpq_mat([[fmpq(*Fraction(x).as_integer_ratio()) for x in r] for r in rows]).rank())


def times(A: Any, B: Any) -> Any:
    return [
        [
            sum((x * y for x, y in zip(row, c, strict=True)), 0 * row[0])
            for c in zip(*B, strict=True)
        ]
        for row in A
    ]


def softmax(scores: Sequence[Any], unit: str) -> list[arb]:
    factor = arb(2).log() if unit == "ln2" else arb(1)
    top = max(scores)
    powers = [(ball(s - top) * factor).exp() for s in scores]
    return [x / sum(powers, arb(0)) for x in powers]


# --- attention-only transformers ----------------------------------------------------------------


def embedded(c: Certificate, t: Sequence[int]) -> list[list[Fraction]]:
    E, pos = table(c["layer"]["W_E"]), table(c["pos"])
    return [[a + b for a, b in zip(E[i], p, strict=True)] for i, p in zip(t, pos, strict=True)]


def head_scores(head: Any, X: list[list[Fraction]]) -> list[Fraction]:
    query = times(times([X[-1]], table(head["W_Q"])), table(head["W_K"]))[0]
    return [sum((a * b for a, b in zip(query, x, strict=True)), Fraction(0)) for x in X]


def sequence_logits(c: Certificate, t: Sequence[int]) -> list[arb]:
    X, unit = embedded(c, t), c["layer"]["unit"]
    y = [ball(x) for x in X[-1]]
    for head in c["layer"]["heads"]:
        shares = softmax(head_scores(head, X), unit)
        values = times(times(X, table(head["W_V"])), table(head["W_O"]))
        for share, row in zip(shares, values, strict=True):
            y = [a + share * ball(v) for a, v in zip(y, row, strict=True)]
    W_U = table(c["layer"]["W_U"])
    return [
        sum((a * ball(u) for a, u in zip(y, col, strict=True)), arb(0))
        for col in zip(*W_U, strict=True)
    ]


def largest(logits: Sequence[arb], wanted: int) -> bool:
    return all(t == wanted or x < logits[wanted] for t, x in enumerate(logits))


def judged_aot_memorization(c: Certificate) -> bool:
    ctx.prec = 600
    return all(largest(sequence_logits(c, t), g) for t, g in c["pairs"])


def judged_aot_rank(c: Certificate) -> bool:
    """At a random point mod a prime, or at 2: the rank there is at least what is asserted."""
    unit, kind = c["layer"]["unit"], c["matrix"]
    parts = [
        (X, [head_scores(h, X) for h in c["layer"]["heads"]])
        for X in (embedded(c, t) for t in c["sequences"])
    ]
    q = math.lcm(*(s.denominator for _, rows in parts for row in rows for s in row))
    z = 2 if unit == "ln2" else random.Random(7).randrange(2, P)
    matrix = []
    for X, rows in parts:
        line = [] if kind == "A" else [residue(x) for x in X[-1]]
        for head, scores in zip(c["layer"]["heads"], rows, strict=True):
            theta = shares_mod(scores, q, z)
            values = times(X, table(head["W_V"])) if kind == "W_V A'" else X
            line += [
                sum(w * residue(v) for w, v in zip(theta, col, strict=True)) % P
                for col in zip(*values, strict=True)
            ]
        matrix.append(line)
    return bool(nmod_mat(matrix, P).rank() >= c["at_least"])


def residue(x: Fraction) -> int:
    return x.numerator * pow(x.denominator, -1, P) % P


def shares_mod(scores: Sequence[Fraction], q: int, z: int) -> list[int]:
    powers = [pow(z, int(s * q) % (P - 1), P) for s in scores]
    total = pow(sum(powers) % P, -1, P)
    return [x * total % P for x in powers]


# --- heads on contexts --------------------------------------------------------------------------


def context_scores(
    c: Certificate,
) -> list[tuple[list[list[Fraction]], list[Fraction], list[list[Fraction]]]]:
    """For each example its context, its query, and the logits of every head."""
    contexts = [table(E) for E in c["contexts"]]
    found = []
    for of, e in zip(c["context_of"], table(c["queries"]), strict=True):
        rows = []
        for head in c["heads"]:
            w = times([e], table(head["W_Q"]))[0]
            K = times(contexts[of], table(head["W_K"]))
            rows.append([sum((a * b for a, b in zip(k, w, strict=True)), Fraction(0)) for k in K])
        found.append((contexts[of], e, rows))
    return found


def feature_rank(c: Certificate) -> int:
    """The rank of Z at a random point mod a prime (at 2 in unit ln2)."""
    parts = context_scores(c)
    q = math.lcm(*(s.denominator for _, _, rows in parts for row in rows for s in row))
    z = 2 if c["scale"] == "ln2" else random.Random(7).randrange(2, P)
    matrix = []
    for E, _, rows in parts:
        line: list[int] = []
        for scores in rows:
            theta = shares_mod(scores, q, z)
            line += [
                sum(w * residue(x) for w, x in zip(theta, col, strict=True)) % P
                for col in zip(*E, strict=True)
            ]
        matrix.append(line)
    return int(nmod_mat(matrix, P).rank())


def jacobian_rank(c: Certificate) -> int:
    """One column per weight: Σ_j θ_j (l_j - Σ θ l) u_j, l the change of the logits."""
    parts = context_scores(c)
    q = math.lcm(*(s.denominator for _, _, rows in parts for row in rows for s in row))
    z = 2 if c["scale"] == "ln2" else random.Random(7).randrange(2, P)
    matrix = []
    for E, e, rows in parts:
        line: list[int] = []
        for head, scores in zip(c["heads"], rows, strict=True):
            W_K, W_Q, V = (table(head[name]) for name in ("W_K", "W_Q", "V"))
            theta, u = shares_mod(scores, q, z), [residue(x[0]) for x in times(E, V)]
            w, K = times([e], W_Q)[0], times(E, W_K)
            changes = [[x[a] * w[b] for x in E] for a in range(len(W_K)) for b in range(len(w))]
            changes += [[e[a] * k[b] for k in K] for a in range(len(W_Q)) for b in range(len(w))]
            for change in changes:
                moved = [residue(x) for x in change]
                mean = sum(s * x for s, x in zip(theta, moved, strict=True)) % P
                line.append(
                    sum(s * (x - mean) * y for s, x, y in zip(theta, moved, u, strict=True)) % P
                )
            line += [
                sum(s * residue(x) for s, x in zip(theta, col, strict=True)) % P
                for col in zip(*E, strict=True)
            ]
        matrix.append(line)
    return int(nmod_mat(matrix, P).rank())


def judged_multi_head(c: Certificate) -> bool:
    asserted = c["assertion"]
    if asserted["type"] != "outputs":
        found = feature_rank(c) if asserted["type"] == "feature-rank" else jacobian_rank(c)
        return bool(asserted["lower"]["bound"] <= found <= asserted["upper"]["bound"])
    ctx.prec = 2000
    error = ball(number(asserted["error"]))
    for (E, _, rows), labels in zip(context_scores(c), table(asserted["labels"]), strict=True):
        for k, label in enumerate(labels):
            total = arb(0)
            for head, scores in zip(c["heads"], rows, strict=True):
                u = [row[k] for row in times(E, table(head["V"]))]
                total += sum(
                    (s * ball(x) for s, x in zip(softmax(scores, c["scale"]), u, strict=True)),
                    arb(0),
                )
            if abs(total - ball(label)) > error:
                return False
    return True


# --- divergences --------------------------------------------------------------------------------


def divergence(prior: Any, rows: Any, W: Any, E: Any) -> arb:
    total = arb(0)
    for p, row, e in zip(prior, rows, E, strict=True):
        z = [sum((a * b for a, b in zip(w, e, strict=True)), Fraction(0)) for w in W]
        shares = softmax(z, "1")
        parts = (ball(x) * (ball(x) / s).log() for x, s in zip(row, shares, strict=True) if x)
        total += ball(p) * sum(parts, arb(0))
    return total


def judged_kl_interval(c: Certificate) -> bool:
    """The encoder is as good as is said, and neither it nor 30 others are below the lower bound.

    With a dual the others have the same W.
    """
    ctx.prec = 300
    prior, rows = [number(x) for x in c["prior"]], table(c["table"])
    W, E = table(c["upper"]["W"]), table(c["upper"]["E"])
    own, rng = divergence(prior, rows, W, E), random.Random(11)
    low = ball(number(c["lower"]["value"]))
    if own > ball(number(c["upper"]["value"])) or own < low:
        return False
    for _ in range(30):
        size = Fraction(1, rng.choice([1, 4, 64, 4096]))
        A, B = ([[x + size * rng.randint(-3, 3) for x in row] for row in M] for M in (W, E))
        if divergence(prior, rows, W if "dual" in c["lower"] else A, B) < low:
            return False
    return True


# --- layers by codes ----------------------------------------------------------------------------


def arrays(c: Certificate) -> dict[str, tuple[list[int], list[Fraction]]]:
    data = base64.b64decode(c["arrays"]["base64"])
    size = int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        low, high = (8 + size + n for n in entry["data_offsets"])
        raw, kind = data[low:high], entry["dtype"]
        if kind == "BF16":
            raw = b"".join(b"\0\0" + raw[i : i + 2] for i in range(0, len(raw), 2))
        code = {"BF16": "f", "F32": "f", "F16": "e", "I32": "i", "U8": "B"}[kind]
        width = struct.calcsize(code)
        values = struct.unpack(f"<{len(raw) // width}{code}", raw)
        found[name] = entry["shape"], [Fraction(x) for x in values]
    return found


def rounded(x: Fraction, form: str) -> Fraction:
    """To nearest, ties to even, in a format of p bits; far from its ends."""
    if not x:
        return x
    p = {"bfloat16": 8, "float16": 11, "float32": 24}[form]
    least = {"bfloat16": -126, "float16": -14, "float32": -126}[form]
    e = max(math.floor(math.log2(abs(x))), least)
    while abs(x) >= Fraction(2) ** (e + 1):
        e += 1
    while abs(x) < Fraction(2) ** e and e > least:
        e -= 1
    unit = Fraction(2) ** (e - p + 1)
    return round(x / unit) * unit


def judged_float_memorization(c: Certificate) -> bool:
    """Every fact, in exact attention and in sums of rounded terms of several orders."""
    held, forms, rng = arrays(c), c["arithmetic"], random.Random(3)
    (n, d), W_E = held["W_E"]
    heads, m, r = held["W_V"][0][0], held["W_V"][0][2], held["W_Q"][0][2]
    rows = [W_E[i * d : i * d + d] for i in range(n)]
    columns = [held["W_U"][1][j::n] for j in range(n)]

    def block(name: str, h: int, a: int, b: int) -> list[list[Fraction]]:
        flat = held[name][1][h * a * b : (h + 1) * a * b]
        return [flat[i * b : i * b + b] for i in range(a)]

    facts = [int(x) for x in held["facts"][1]]
    for k, q, v in zip(facts[0::3], facts[1::3], facts[2::3], strict=True):
        x = list(rows[q])
        for h in range(heads):
            w = times(times([rows[q]], block("W_Q", h, d, r)), block("W_K", h, r, d))[0]
            s, t = (sum(a * b for a, b in zip(w, rows[i], strict=True)) for i in (k, q))
            if k != q and abs(s - t) < 104:
                return False  # attention is neither 0 nor 1
            token = rows[k] if s > t else rows[q]
            out = times(times([token], block("W_V", h, d, m)), block("W_O", h, m, d))[0]
            x = [a + b for a, b in zip(x, out, strict=True)]
        for order in range(3):
            places = list(range(d)) if order == 0 else rng.sample(range(d), d)
            logits = []
            for column in columns:
                total = Fraction(0)
                for i in places:
                    if x[i] and column[i]:
                        total = rounded(
                            total + rounded(x[i] * column[i], forms["accumulate"]),
                            forms["accumulate"],
                        )
                logits.append(rounded(total, forms["logits"]))
            if any(j != v and y >= logits[v] for j, y in enumerate(logits)):
                return False
    return True


# --- statements ---------------------------------------------------------------------------------


class Table(list[list[Any]]):
    """A matrix with the arithmetic that statements use."""

    def __mul__(self, c: Any) -> Table:
        return Table([[x * c for x in row] for row in self])

    __rmul__ = __mul__

    def __truediv__(self, c: Any) -> Table:
        return self * (1 / Fraction(c))

    def __add__(self, other: Any) -> Table:  # type: ignore[override]
        return Table(
            [[x + y for x, y in zip(a, b, strict=True)] for a, b in zip(self, other, strict=True)]
        )

    def __sub__(self, other: Any) -> Table:
        return Table(self + other * -1)


def argmax(M: Table) -> Table:
    return Table([[Fraction(x == max(row)) for x in row] for row in M])


def threshold(M: Table, tau: Fraction) -> Table:
    ctx.prec = 2000
    return Table([[Fraction(not s < ball(tau)) for s in softmax(row, "1")] for row in M])


def independent_share(M: Table, k: Fraction) -> Fraction:
    parts = [rank(part) == k for part in itertools.combinations(M, int(k))] if k else [True]
    return Fraction(sum(parts), len(parts))


def kruskal(M: Table) -> int:
    most = min(len(M), len(M[0]))
    return next((k - 1 for k in range(1, most + 1) if independent_share(M, Fraction(k)) < 1), most)


def ray(row: Sequence[Fraction]) -> tuple[Fraction, ...]:
    size = sum(map(abs, row))
    return tuple(x / size if size else x for x in row)


def row_gap(M: Table) -> Fraction:
    return min(Fraction(sorted(row)[-1] - sorted(row)[-2]) for row in M)


def covering(M: Table, level: Fraction) -> int:
    row, count, total = sorted(M[0], reverse=True), 0, Fraction(0)
    while total <= level and count < len(row):
        total, count = total + row[count], count + 1
    return count if total > level else count + 1


def parity(a: Any, H: Fraction) -> bool:
    bits = int(H) + 1
    asked = {tuple(t): g for t, g in a}
    used = sorted({x for t in asked for x in t[:bits]})
    rest = {x for t in asked for x in t[bits:]}
    if len(used) != 2 or len(rest) != 1 or len(asked) != 2**bits or len(next(iter(asked))) <= bits:
        return False
    sides = [
        {g for t, g in asked.items() if sum(x == used[1] for x in t[:bits]) % 2 == s}
        for s in (0, 1)
    ]
    return len(sides[0]) == len(sides[1]) == 1 and sides[0] != sides[1]


def blow_up(n: Fraction, r: Fraction) -> Table:
    m, size = int(n - r) + 2, int(n)
    return Table(
        [
            [
                Fraction(2 * i * j - j * j if max(i, j) <= m else int(i == j))
                for j in range(1, size + 1)
            ]
            for i in range(1, size + 1)
        ]
    )


def tensor(D: Any) -> list[Table]:
    keys, queries, values = (sorted(set(names)) for names in zip(*D, strict=True))
    return [Table([[Fraction([k, q, v] in D) for v in values] for q in queries]) for k in keys]


def flattening(T: Any, mode: Fraction) -> int:
    if mode == 0:
        return rank([[x for row in part for x in row] for part in T])
    if mode == 1:
        return rank([[x for part in T for x in part[j]] for j in range(len(T[0]))])
    return rank([[row[k] for part in T for row in part] for k in range(len(T[0][0]))])


def slices(T: Any, mode: Fraction) -> list[Any]:
    if mode == 0:
        return list(T)
    if mode == 1:
        return [[part[j] for part in T] for j in range(len(T[0]))]
    return [[[row[k] for row in part] for part in T] for k in range(len(T[0][0]))]


def slices_bound(T: Any) -> int:
    """At least the rank over every field: the least sum of ranks of the slices of a mode."""
    return min(sum(map(rank, slices(T, Fraction(mode)))) for mode in range(3))


def facts(text: str) -> list[list[str]]:
    return [part.split() for part in text.split(",")]


def contexts(c: Any) -> list[list[list[Fraction]]]:
    return [table(E) for E in c["contexts"]]


def values_known(L: Any, D: Any, tau: Fraction | None = None) -> bool:
    """Every fact, where only the values of the database compete."""
    ctx.prec = 800
    place = {token: i for i, token in enumerate(L["tokens"])}
    values, E, W_U = sorted({v for _, _, v in D}), table(L["W_E"]), table(L["W_U"])
    for k, q, v in D:
        X = [E[place[k]], E[place[q]]]
        y = [ball(x) for x in X[1]]
        for head in L["heads"]:
            shares = softmax(head_scores(head, X), L["unit"])
            rows = times(times(X, table(head["W_V"])), table(head["W_O"]))
            for share, row in zip(shares, rows, strict=True):
                y = [a + share * ball(b) for a, b in zip(y, row, strict=True)]
        logits = [
            sum((a * ball(u[place[w]]) for a, u in zip(y, W_U, strict=True)), arb(0))
            for w in values
        ]
        if tau is None and not largest(logits, values.index(v)):
            return False
        own = logits[values.index(v)]
        if tau is not None and 1 / sum(((x - own).exp() for x in logits), arb(0)) < ball(tau):
            return False
    return True


def transformer_memorized(T: Any, a: Any) -> int:
    ctx.prec = 600
    return sum(largest(sequence_logits(T, t), g) for t, g in a)


def square(n: Fraction) -> Table:
    return Table([[Fraction(i == j) for j in range(int(n))] for i in range(int(n))])


def same(a: Any, b: Any) -> bool:
    return (
        sorted(map(list, a)) == sorted(map(list, b)) if a and isinstance(a[0][0], str) else a == b
    )


WORDS: dict[str, Callable[..., Any]] = {
    "rank": rank,
    "rows": len,
    "columns": lambda M: len(M[0]),
    "entry": lambda M, i, j: M[int(i)][int(j)],
    "argmax": argmax,
    "gram": lambda M: Table(times(M, list(map(list, zip(*M, strict=True))))),
    "product": lambda A, B: Table(times(A, B)),
    "transpose": lambda M: Table(map(list, zip(*M, strict=True))),
    "min": min,
    "max": max,
    "min_entry": lambda M: min(map(min, M)),
    "max_entry": lambda M: max(map(max, M)),
    "max_abs": lambda M: max(abs(x) for row in M for x in row),
    "entry_sum": lambda M: sum(map(sum, M)),
    "covering": covering,
    "row_gap": row_gap,
    "distinct_rows": lambda M: len(set(map(tuple, M))) == len(M),
    "row_rays": lambda M: len({ray(row) for row in M}),
    "most_distinct": lambda M: max(len(set(row)) for row in M),
    "unit_rows": lambda M: all(sum(x * x for x in row) == 1 for row in M),
    "identity": square,
    "zeros": lambda m, n: Table([[Fraction(0)] * int(n) for _ in range(int(m))]),
    "ones": lambda m, n: Table([[Fraction(1)] * int(n) for _ in range(int(m))]),
    "unit": lambda n, i: Table([[Fraction(j == i)] for j in range(int(n))]),
    "stack": lambda A, B: Table([*A, *B]),
    "beside": lambda A, B: Table([[*a, *b] for a, b in zip(A, B, strict=True)]),
    "equal": same,
    "blow_up": blow_up,
    "threshold": threshold,
    "independent_share": independent_share,
    "kruskal_rank": kruskal,
    "iff": lambda p, q: bool(p) == bool(q),
    "indicator": lambda p: Fraction(bool(p)),
    "tensor": tensor,
    "facts": facts,
    "flattening_rank": flattening,
    "size": len,
    "keys": lambda D: len({k for k, _, _ in D}),
    "queries": lambda D: len({q for _, q, _ in D}),
    "values": lambda D: len({v for _, _, v in D}),
    "disjoint": lambda D: not {k for k, _, _ in D} & {q for _, q, _ in D},
    "slices_rank_sum": lambda D: min(len({(f[m], f[2]) for f in D}) for m in (0, 1)),
    "slice_rows": lambda T: len(T[0]),
    "slice_columns": lambda T: len(T[0][0]),
    "max_stacked_rank": lambda B, F: max(rank([*B, *part]) for part in F),
    "heads": lambda L: len((L.get("layer") or L)["heads"]),
    "d_model": lambda L: len((L.get("layer") or L)["W_E"][0]),
    "tokens": lambda L: len((L.get("layer") or L)["tokens"]),
    "d_vo": lambda L: max((len(head["W_O"]) for head in L["heads"]), default=0),
    "memorizes_values": values_known,
    "memorizes_values_at": values_known,
    "memorized": transformer_memorized,
    "count": len,
    "length": lambda a: len(a[0][0]),
    "all_pairs": lambda a, T: len(a) == len(T["layer"]["tokens"]) ** len(T["pos"]),
    "parity": parity,
    "shared": lambda A: len(set(A["context_of"])) == 1,
    "context_length": lambda A: len(A["contexts"][0]),
    "dimension": lambda A: len(A["contexts"][0][0]),
    "examples": lambda A: len(A["context_of"]),
    "head_count": lambda A: len(A["heads"]),
    "head_dimension": lambda A: max(len(h["W_K"][0]) for h in A["heads"]),
    "least_context_rank": lambda A: min(map(rank, contexts(A))),
    "query_matrix": lambda A: Table(table(A["queries"])),
    "all_tokens": lambda A: Table([*(x for E in contexts(A) for x in E), *table(A["queries"])]),
    "feature_rank": feature_rank,
    "argmax_tensor": lambda T: [argmax(Table(part)) for part in T],
    "threshold_tensor": lambda T, tau: [threshold(Table(part), tau) for part in T],
    **more_words.WORDS,
}


def given(sort: str, value: Any) -> Any:
    """An object of the statement, as plain lists and fractions."""
    if isinstance(value, dict) and len(value) == 1:
        ((_, value),) = value.items()
    if sort in ("integer", "rational"):
        return number(str(value))
    if sort == "integers":
        return [number(str(x)) for x in value]
    if sort == "matrix":
        return Table(table(value))
    return [Table(table(part)) for part in value] if sort == "tensor" else value


def judged_statement(c: Certificate) -> bool | None:
    """The statement with Python's own eval over the words above; None where they cannot tell."""
    text = " ".join(c["statement"].split())
    first, *middle, last = (part.strip() for part in text.split(";"))
    bare = re.sub(r'"[^"]*"', "", text)
    if set(re.findall(r"(\w+)\(", bare)) - WORDS.keys():
        return None
    names: dict[str, Any] = dict(WORDS, F=Fraction, Table=Table, Q_="Q", R_="R", C_="C")
    for entry in first.removeprefix("given ").split(","):
        name, _, sort = (part.strip() for part in entry.partition(":"))
        names[f"{name}_"] = given(sort, c["instance"][name])

    def value(part: str) -> Any:
        pieces = re.split(r'("[^"]*")', part)  # numbers are fractions, names are the statement's
        for n in range(0, len(pieces), 2):
            pieces[n] = re.sub(r"(?<![\w.])(\d+)", r"F(\1)", pieces[n])
            pieces[n] = re.sub(
                r"(?<!\w)([A-Za-z]\w*)(?!\w|\()",
                lambda m: m[0] if m[0] in ("and", "or", "not") else f"{m[0]}_",
                pieces[n],
            )
        whole = re.sub(r"\[\[.*?\]\]", r"Table(\g<0>)", "".join(pieces))
        return eval(whole, {"__builtins__": {}}, names)

    try:
        for part in middle:
            word, _, rest = part.partition(" ")
            if word == "let":
                name, _, body = rest.partition("=")
                names[f"{name.strip()}_"] = value(body)
            elif not value(rest):
                return False
        holds, wanted = bool(value(last.removeprefix("conclude "))), c["kind"] == "witness"
    except more_words.Unknown:
        return None
    return bool(holds == wanted)


def judged_readout(c: Certificate) -> bool:
    """By the points (e_y - e_v) ⊗ z themselves; for a margin, other weights are tried as well."""
    Z, labels, V, told = table(c["features"]), c["labels"], c["classes"], c["assertion"]

    def point(t: int, v: int) -> list[Fraction]:
        sign = [(u == labels[t]) - (u == v) for u in range(V)]
        return [s * x for s in sign for x in Z[t]]

    def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
        return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))

    pairs = [(t, v) for t in range(len(Z)) for v in range(V) if v != labels[t]]
    weights = [(point(t, v), number(x)) for t, v, x in told.get("demands", [])]
    if any(x <= 0 for _, x in weights) or any(
        v == labels[t] for t, v, _ in told.get("demands", [])
    ):
        return False
    scaled = ([x * w for x in p] for p, w in weights)
    hull = [sum(column, Fraction(0)) for column in zip(*scaled, strict=True)]
    if told["type"] == "conflict":
        return bool(weights) and not any(hull)
    W = [x for row in table(told["weights"]) for x in row]
    gap = min(dot(point(t, v), W) for t, v in pairs)
    if gap <= 0 or told["type"] == "holds":
        return gap > 0
    best = gap**2 / dot(W, W) * number(told["ratio"])
    rng = random.Random(0)
    for _ in range(20):
        other = [x + gap * rng.randint(-9, 9) / 50 for x in W]
        reach = min(dot(point(t, v), other) for t, v in pairs)
        if reach > 0 and reach**2 > best * dot(other, other):
            return False
    return dot(hull, hull) <= best * sum(x for _, x in weights) ** 2


JUDGES: dict[str, Callable[[Certificate], bool | None]] = {
    "readout": judged_readout,
    "aot-memorization": judged_aot_memorization,
    "aot-rank": judged_aot_rank,
    "multi-head": judged_multi_head,
    "kl-interval": judged_kl_interval,
    "float-memorization": judged_float_memorization,
    "refutation": judged_statement,
    "witness": judged_statement,
}
