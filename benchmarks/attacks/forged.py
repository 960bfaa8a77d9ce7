"""Planted instances of every kind, as certificates that may be true or false.

Answers, ranks and bounds are guessed near the truth with floats, which decide nothing: whatever the
checker accepts is judged again, exactly or in balls.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

Certificate = dict[str, Any]
Rows = list[list[Fraction]]
PRIMES = (2, 3, 5, 7, 101, 1_000_003, 2**61 - 1)


def envelope(kind: str, **fields: Any) -> Certificate:
    return {"format": "lemmax-certificate", "version": 1, "kind": kind, **fields}


def texts(values: Any) -> Any:
    return list(map(texts, values)) if isinstance(values, (list, tuple)) else str(values)


def rows(rng: random.Random, m: int, n: int, size: int = 2, denominator: int = 2) -> Rows:
    return [
        [Fraction(rng.randint(-size, size), rng.randint(1, denominator)) for _ in range(n)]
        for _ in range(m)
    ]


def minor(rng: random.Random, m: int, n: int, order: int, point: bool) -> dict[str, Any]:
    """Rows and columns of a minor, now and then of another order."""
    r = min(m, n, max(0, order + rng.choice([0] * 12 + [-1, 1])))
    lower: dict[str, Any] = {"prime": str(rng.choice(PRIMES[-3:] if point else PRIMES))}
    lower |= {"rows": rng.sample(range(m), r), "columns": rng.sample(range(n), r)}
    if point:
        lower["point"] = str(rng.choice([2, 3, 29, 100]))
    return lower


def near(rng: random.Random, x: float) -> Fraction:
    """A short fraction that is x, or a little less or more."""
    step = Fraction(1, 10 ** rng.choice([1, 2, 4, 9]))
    return Fraction(x).limit_denominator(10 ** rng.choice([1, 3, 12])) + step * rng.choice(
        [-1, 0, 0, 1]
    )


def floats(M: Any) -> Any:
    return [floats(x) for x in M] if isinstance(M, (list, tuple)) else float(M)


def product(A: Any, B: Any) -> Any:
    return [
        [sum(x * y for x, y in zip(a, b, strict=True)) for b in zip(*B, strict=True)] for a in A
    ]


def shares(scores: Sequence[float], unit: str) -> list[float]:
    base = 2.0 if unit == "ln2" else math.e
    powers = [base ** (s - max(scores)) for s in scores]
    return [x / sum(powers) for x in powers]


# --- ranks --------------------------------------------------------------------------------------


def softmax_rank(rng: random.Random) -> Certificate:
    """Few classes of rows that are equal up to a constant, and a rank that is near their number."""
    m, n, unit = rng.randint(1, 5), rng.randint(1, 5), rng.choice(["1", "ln2"])
    classes = rows(rng, rng.randint(1, m), n, 3, 1 if unit == "ln2" else 2)
    chosen = [rng.choice(classes) for _ in range(m)]
    logits = [[x + c for x in row] for row in chosen for c in [rng.randint(-1, 1)]]
    rank = min(m, n, max(0, len({tuple(row) for row in chosen}) + rng.choice([0, 0, 0, -1, 1])))
    exact = "specialisation" if unit == "1" else "exact"
    return envelope(
        "softmax-rank",
        logits=texts(logits),
        unit=unit,
        rank=rank,
        lower=minor(rng, m, n, rank, unit == "1"),
        upper={"method": rng.choice(["size", "row-classes", "column-classes", exact])},
    )


def kruskal_rank(rng: random.Random) -> Certificate:
    T, d = rng.randint(1, 6), rng.randint(1, 4)
    vectors = rows(rng, T, d, 2, 2)
    if T > 2 and rng.random() < 0.6:  # a short dependency
        a, b, c = rng.sample(range(T), 3)
        vectors[a] = [rng.choice([1, 2, -3]) * x for x in vectors[b]]
        if rng.random() < 0.6:
            vectors[a] = [x + y for x, y in zip(vectors[b], vectors[c], strict=True)]
    k, prime = rng.randint(0, min(T, d)), rng.choice(PRIMES)
    subset = sorted(rng.sample(range(T), min(T, k + 1)))
    return envelope(
        "kruskal-rank",
        vectors=texts(vectors),
        rank=k,
        lower={"method": rng.choice(["dual", "search"]), "prime": str(prime)},
        upper=rng.choice([{"method": "size"}, {"method": "subset", "indices": subset}]),
    )


# --- layers -------------------------------------------------------------------------------------


def layer(rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """A small layer, as a certificate has it and in floats."""
    n, d, size = rng.randint(1, 5), rng.randint(1, 3), rng.choice([1, 2, 6])
    heads = []
    for _ in range(rng.choice([0, 1, 1, 2])):
        k, v = rng.randint(1, 2), rng.randint(1, 2)
        shapes = {"W_Q": (d, k), "W_K": (k, d), "W_V": (d, v), "W_O": (v, d)}
        heads.append({name: rows(rng, *shape, size) for name, shape in shapes.items()})
    W_E, W_U = rows(rng, n, d, size), rows(rng, d, n, size)
    if n > 1 and rng.random() < 0.2:  # two tokens that no input tells apart
        for row in W_U:
            row[0] = row[-1]
    unit = rng.choice(["1", "ln2"])
    told = {
        "tokens": [f"t{i}" for i in range(n)],
        "unit": unit,
        "W_E": texts(W_E),
        "W_U": texts(W_U),
        "heads": [{name: texts(M) for name, M in head.items()} for head in heads],
    }
    plain = {"W_E": floats(W_E), "W_U": floats(W_U), "unit": unit}
    plain["heads"] = [{name: floats(M) for name, M in head.items()} for head in heads]
    return told, plain


def logits(net: dict[str, Any], X: list[list[float]]) -> list[float]:
    """After a sequence of embedded tokens."""
    y = list(X[-1])
    for head in net["heads"]:
        (query,) = product([X[-1]], product(head["W_Q"], head["W_K"]))
        scores = [sum(a * b for a, b in zip(query, x, strict=True)) for x in X]
        (out,) = product(
            [shares(scores, net["unit"])], product(product(X, head["W_V"]), head["W_O"])
        )
        y = [a + b for a, b in zip(y, out, strict=True)]
    return list(product([y], net["W_U"])[0])


def memorization(rng: random.Random) -> Certificate:
    told, net = layer(rng)
    n = len(told["tokens"])
    questions = rng.sample([(k, q) for k in range(n) for q in range(n)], rng.randint(1, min(n, 3)))
    facts, least = [], 1.0
    for k, q in questions:
        z = logits(net, [net["W_E"][k], net["W_E"][q]])
        v = z.index(max(z)) if rng.random() < 0.9 else rng.randrange(n)
        facts.append([k, q, v])
        least = min(least, shares(z, "1")[v])
    criterion = {"type": "argmax"}
    if rng.random() < 0.5:
        criterion = {"type": "probability", "tau": str(near(rng, least))}
    return envelope("memorization", layer=told, facts=facts, criterion=criterion)


def sequences(rng: random.Random) -> tuple[dict[str, Any], dict[str, Any], Rows, list[list[int]]]:
    told, net = layer(rng)
    n, d, S = len(told["tokens"]), len(net["W_E"][0]), rng.randint(1, 3)
    pos = rows(rng, S, d)
    drawn = {tuple(rng.randrange(n) for _ in range(S)) for _ in range(rng.randint(1, 5))}
    return told, net, pos, [list(t) for t in sorted(drawn)]


def aot_memorization(rng: random.Random) -> Certificate:
    told, net, pos, inputs = sequences(rng)
    pairs = []
    for t in inputs:
        embedded = zip(t, floats(pos), strict=True)
        X = [[a + b for a, b in zip(net["W_E"][i], p, strict=True)] for i, p in embedded]
        z = logits(net, X)
        right = z.index(max(z)) if rng.random() < 0.9 else rng.randrange(len(z))
        pairs.append([t, right])
    return envelope("aot-memorization", layer=told, pos=texts(pos), pairs=pairs)


def aot_rank(rng: random.Random) -> Certificate:
    told, net, pos, inputs = sequences(rng)
    d, kind = len(net["W_E"][0]), rng.choice(["A", "A'", "W_V A'"])
    if told["unit"] == "ln2":  # scores have to be integers
        double = {"W_E", "W_U"}
        for part in (told, *told["heads"]):
            for name in (double | {"W_Q", "W_K", "W_V", "W_O"}) & part.keys():
                part[name] = [[str(2 * Fraction(x)) for x in row] for row in part[name]]
        pos = [[2 * x for x in row] for row in pos]
    inner = [len(head["W_O"]) if kind == "W_V A'" else d for head in told["heads"]]
    width = d * (kind != "A") + sum(inner)
    if not width:
        kind, width = "A'", d
    least = rng.randint(0, min(len(inputs), width))
    lower = minor(rng, len(inputs), width, least, True)
    if told["unit"] == "ln2":
        lower["point"] = "2"
    fields = {"layer": told, "pos": texts(pos), "sequences": inputs, "matrix": kind}
    return envelope("aot-rank", **fields, at_least=least, **lower)


# --- contexts -----------------------------------------------------------------------------------


def multi_head(rng: random.Random) -> Certificate:
    n, d, e, k = (rng.randint(1, 3) for _ in range(4))
    T, H, m = rng.randint(1, 5), rng.randint(1, 2), rng.randint(1, 2)
    scale = rng.choice(["1", "ln2", "1/sqrt(2)"])
    kind = rng.choice(["feature-rank", "jacobian-rank", "outputs"])
    out = 1 if kind == "jacobian-rank" else rng.randint(1, 2)
    below = 1 if scale == "ln2" else 2
    contexts = [rows(rng, n, d, 2, below) for _ in range(m)]
    of, queries = [rng.randrange(m) for _ in range(T)], rows(rng, T, e, 2, below)
    heads = []
    for _ in range(H):
        head = {"W_K": rows(rng, d, k, 2, below), "W_Q": rows(rng, e, k, 2, below)}
        heads.append(head | {"V": rows(rng, d, out, 2, below)})
    assertion: dict[str, Any] = {"type": kind}
    if kind == "outputs":
        total = [[0.0] * out for _ in range(T)]
        for t, c in enumerate(of):
            E = floats(contexts[c])
            for head in ({name: floats(M) for name, M in h.items()} for h in heads):
                (w,) = product([floats(queries[t])], head["W_Q"])
                scores = [
                    sum(a * b for a, b in zip(x, w, strict=True)) for x in product(E, head["W_K"])
                ]
                (y,) = product([shares(scores, scale)], product(E, head["V"]))
                total[t] = [a + b for a, b in zip(total[t], y, strict=True)]
        labels = [[near(rng, x) for x in row] for row in total]
        pairs = zip(total, labels, strict=True)
        gaps = [abs(x - float(y)) for r, s in pairs for x, y in zip(r, s, strict=True)]
        assertion |= {"labels": texts(labels), "error": str(max(Fraction(0), near(rng, max(gaps))))}
    else:
        jacobian = kind == "jacobian-rank"
        width = H * d + (H * (d + e) * k if jacobian else 0)
        bound = rng.randint(0, min(T, width))
        lower = minor(rng, T, width, bound, scale != "ln2") | {"bound": bound}
        chosen = rng.sample(range(m), rng.randint(1, m))
        outside = sum(c not in chosen for c in of)
        top = outside + d + (H - 1) * min(d, n) + rng.choice([0, 0, -1, -2, 1])
        upper: dict[str, Any] = {"method": "contexts", "bound": max(top, 0), "contexts": chosen}
        if jacobian:
            method = rng.choice(["size", "dimension"])
            upper = {"method": method, "bound": T if method == "size" else rng.randint(1, 9)}
        assertion |= {"lower": lower, "upper": upper}
    if kind == "feature-rank" and rng.random() < 0.5:
        heads = [{name: M for name, M in head.items() if name != "V"} for head in heads]
    return envelope(
        "multi-head",
        contexts=texts(contexts),
        context_of=of,
        queries=texts(queries),
        scale=scale,
        heads=[{name: texts(M) for name, M in head.items()} for head in heads],
        assertion=assertion,
    )


def kl_interval(rng: random.Random) -> Certificate:
    """An encoder whose divergence is said to be about what it is; below, nothing is shown."""
    m, n, d = rng.randint(1, 3), rng.randint(2, 4), rng.randint(1, 2)

    def distribution(size: int) -> list[Fraction]:
        counts = [rng.choice([0, 1, 1, 2, 5]) for _ in range(size)]
        counts[rng.randrange(size)] += 1
        return [Fraction(c, sum(counts)) for c in counts]

    prior, table = distribution(m), [distribution(n) for _ in range(m)]
    W, E = rows(rng, n, d), rows(rng, m, d)
    total = 0.0
    for p, row, e in zip(prior, table, E, strict=True):
        z = [float(sum(a * b for a, b in zip(w, e, strict=True))) for w in W]
        parts = zip(map(float, row), shares(z, "1"), strict=True)
        total += float(p) * sum(x * math.log(x / s) for x, s in parts if x)
    low = rng.choice([Fraction(0), Fraction(-1, 7), Fraction(1, 10**30), near(rng, total)])
    return envelope(
        "kl-interval",
        prior=texts(prior),
        table=texts(table),
        d=d,
        upper={"value": str(near(rng, total)), "W": texts(W), "E": texts(E)},
        lower={"value": str(low), "blocks": []},
    )


FORGED: dict[str, Callable[[random.Random], Certificate]] = {
    "softmax-rank": softmax_rank,
    "kruskal-rank": kruskal_rank,
    "memorization": memorization,
    "aot-memorization": aot_memorization,
    "aot-rank": aot_rank,
    "multi-head": multi_head,
    "kl-interval": kl_interval,
}
