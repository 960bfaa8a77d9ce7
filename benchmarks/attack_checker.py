"""Attacks on the independent checker: forged certificates, and its arithmetic against flint's.

Run: ``python benchmarks/attack_checker.py SEED COUNT``. Every attack draws COUNT instances and
decides each of them without the checker. A false acceptance, a wrong bound or any exception but
NotACertificate is printed, and the status is 1. Whatever certificate is accepted is judged again,
here and in ``second_judges``, for every kind; statements with words that the judge lacks, such as
the rank of a tensor, are counted as unjudged.
"""

from __future__ import annotations

import base64
import copy
import itertools
import json
import math
import operator
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from flint import arb, ctx, fmpq, fmpq_mat, fmpz_mat, nmod_mat

from lemmax.checker import NotACertificate, arithmetic, check, enclosures, tensors
from lemmax.checker.bounds import RULES
from lemmax.checker.coded.codebooks import FAMILIES
from lemmax.checker.reading import Matrix
from lemmax.constructions import compile_database, readout
from lemmax.constructions.compiler import CompiledByCodes
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.by_codes import by_codes, fact_numbers
from lemmax.constructions.compiler.coded.codes import cheapest_code, families
from lemmax.theory import Database

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks import random_transformers, second_judges
from benchmarks.attacks import lemmas
from benchmarks.second_judges import number, rank

Certificate = dict[str, Any]
Outcome = tuple[str, str]  # what the checker said, and what is wrong with that (or nothing)
CLOSING = [name for name, rule in RULES.items() if rule.closes]
PRIMES = (2, 3, 5, 7, 101, 1_000_003, 2**61 - 1)


def envelope(kind: str, **fields: Any) -> Certificate:
    return {"format": "lemmax-certificate", "version": 1, "kind": kind, **fields}


def said_here(certificate: object) -> str:
    try:
        return "holds" if check(certificate).holds else "fails"
    except NotACertificate:
        return "refused"


ask: Callable[[object], str] = said_here  # or a process of its own, in benchmarks.attacks.campaign


def said(certificate: object) -> str:
    return ask(certificate)


def rational(rng: random.Random, size: int = 3, denominator: int = 2) -> Fraction:
    return Fraction(rng.randint(-size, size), rng.randint(1, denominator))


def texts(values: Any) -> Any:
    return list(map(texts, values)) if isinstance(values, (list, tuple)) else str(values)


# --- tensor ranks -------------------------------------------------------------------------------


def planted(rng: random.Random, shape: list[int], R: int) -> tuple[list[Any], Any]:
    """R terms, and the integer tensor that is their sum."""
    terms = [[[rng.randint(-2, 2) for _ in range(n)] for n in shape] for _ in range(R)]
    a, b, c = map(range, shape)
    total = [[[sum(u[i] * v[j] * w[k] for u, v, w in terms) for k in c] for j in b] for i in a]
    return terms, total


def left_kernel(A: Any, B: Any, x: Fraction) -> tuple[list[list[Fraction]], list[int]]:
    """The reduced rows Y with Y(A + xB) = 0, and the columns where they are a unit matrix."""
    M = [[p + x * q for p, q in zip(r, s, strict=True)] for r, s in zip(A, B, strict=True)]
    m, wide = len(M), [[*row, *(int(i == j) for j in range(len(M)))] for i, row in enumerate(M)]
    table = fmpq_mat([[fmpq(*Fraction(v).as_integer_ratio()) for v in row] for row in wide])
    reduced, _ = table.rref()
    rows = [[Fraction(int(v.p), int(v.q)) for v in row] for row in reduced.tolist()]
    Y = [row[-m:] for row in rows if not any(row[:-m]) and any(row)]
    return Y, [next(j for j, v in enumerate(y) if v) for y in Y]


def proof(rng: random.Random, T: Any, terms: Any, shape: list[int]) -> dict[str, Any]:
    """One lower-bound step with fields that often satisfy its hypotheses."""
    mode, p, m = rng.randrange(3), str(rng.choice(PRIMES)), len(terms)
    step: dict[str, Any] = {"mode": mode, "prime": p}
    size, others = shape[mode], [n for i, n in enumerate(shape) if i != mode]
    places = [
        [rng.randrange(others[0]), rng.randrange(others[0]), *(rng.sample(range(others[1]), 2))]
        for _ in range(rng.randint(1, 12))
        if others[1] > 1
    ]
    name = rng.choice(CLOSING)
    if name in ("jet", "eigenvalue", "quadric-pencil"):
        modes = [i for i in range(3) if shape[i] == 2] or [mode]
        step["mode"] = mode = rng.choice(modes)
        turned = tensors.turned(T, mode)
        A, B = turned[0], turned[-1]
        u = rng.choice(terms)[mode]
        x = Fraction(-u[0], u[-1] or 1)
        Y, pivots = left_kernel(A, B, x)
        left = [[[v] for v in y] for y in Y] or [[[Fraction(0)]] * len(A)]
        step |= {"order": [0, 1], "modulus": [-x, 1], "left": left, "pivots": pivots or [0]}
        if name == "jet":
            step["jet"] = [[[rational(rng)] for _ in A] for _ in step["left"]]
        else:
            step["outside"] = rng.choice(["sturm", *map(str, PRIMES[:4])])
        step = {k: texts(v) if k in ("modulus", "left", "jet") else v for k, v in step.items()}
        if name == "quadric-pencil":
            pencil = {"lemma": "eigenvalue", **step, "mode": 0}
            forms = [[[str(rng.randint(-1, 1)) for _ in range(size)] for _ in range(size)]] * 2
            step = {"mode": mode, "prime": p, "minors": places, "kernel": forms, "pencil": pencil}
    elif name == "transversal":
        step = {
            "mode": mode,
            "columns": (mode + rng.randint(1, 2)) % 3,
            "hitting": rng.randint(0, m),
        }
    elif name == "quadrics":
        step["minors"] = places
    elif name == "square":
        step |= {"form": texts([rng.randint(-1, 1) for _ in range(size)]), "minors": places}
        step["weights"] = texts([rational(rng) for _ in places])
    elif name == "algebra":
        ones = {"polynomial": texts([rng.randint(-2, 2), 1]), "degree": 1}
        unit = texts([rational(rng) for _ in range(shape[0])])
        step = {"unit": unit, "prime": p, "element": texts([rng.randint(-1, 1) for _ in unit])}
        step["factors"] = [{**ones, "point": "3", "prime": p}] * rng.randint(1, shape[0])
    elif name == "contraction":
        other = (mode + rng.randint(1, 2)) % 3
        step |= {"columns": other}
        step["functional"] = texts([rng.randint(-1, 1) for _ in range(shape[3 - mode - other])])
        count = rng.randint(1, shape[other])
        step["basis"] = texts([[int(i == j) for i in range(shape[other])] for j in range(count)])
    return {"lemma": name, **step}


def forged_tensor_rank(rng: random.Random) -> Outcome:
    """A sum of R terms is said to have rank R + 1, by a lemma on the planted tensor."""
    shape = [rng.randint(1, 4) for _ in range(3)]
    shape[rng.randrange(3)] = rng.choice([2, 3])
    R = rng.randint(1, 5)
    terms, T = planted(rng, shape, R)
    steps = [proof(rng, T, terms, shape)]
    if rng.random() < 0.3:
        mode = rng.randrange(3)
        maps = [
            [] if i == mode else sorted(rng.sample(range(n), n - 1 or 1))
            for i, n in enumerate(shape)
        ]
        prime = str(rng.choice(PRIMES))
        steps.insert(0, {"lemma": "substitution", "mode": mode, "prime": prime, "maps": maps})
    entries = [
        [i, j, k, str(x)]
        for i, part in enumerate(T)
        for j, row in enumerate(part)
        for k, x in enumerate(row)
        if x
    ]
    forged = rng.random() < 0.8
    more = [[[0] * n for n in shape]] if forged else []
    certificate = envelope(
        "tensor-rank",
        tensor={"shape": shape, "entries": entries},
        field=rng.choice("QRC"),
        lower=R + 1 if forged else rng.randint(0, R),
        upper=R + len(more),
        proof=steps,
        terms=texts(terms + more),
        families=[],
    )
    answer = said(certificate)
    wrong = f"rank {R} was accepted as {R + 1}" if forged and answer == "holds" else ""
    return f"{steps[-1]['lemma']} {answer}", wrong and f"{wrong}: {json.dumps(certificate)}"


def forged_lemma(make: Callable[[random.Random], tuple[Certificate, bool]]) -> Callable[..., Any]:
    """A bound on a tensor with known terms, by a step or by terms that are nearly right."""

    def one(rng: random.Random) -> Outcome:
        fields, false = make(rng)
        certificate = envelope("tensor-rank", **fields)
        answer = said(certificate)
        wrong = f"accepted: {json.dumps(certificate)}" if false and answer == "holds" else ""
        return f"{'false' if false else 'honest'} {answer}", wrong

    return one


# --- ranks and minors ---------------------------------------------------------------------------


def forged_matrix_rank(rng: random.Random) -> Outcome:
    m, n, r = rng.randint(1, 5), rng.randint(1, 5), rng.randint(0, 4)
    left = [[rational(rng) for _ in range(r)] for _ in range(m)]
    right = [[rational(rng) for _ in range(n)] for _ in range(r)]
    columns = list(zip(*right, strict=True)) if r else [()] * n
    M = [[Fraction(sum(map(operator.mul, row, c))) for c in columns] for row in left]
    claimed = rng.randint(0, min(m, n))
    lower = {
        "prime": str(rng.choice(PRIMES)),
        "rows": rng.sample(range(m), claimed),
        "columns": rng.sample(range(n), claimed),
    }
    factors = {"method": "factorisation", "left": texts(left) if r else [], "right": texts(right)}
    upper = rng.choice([{"method": "size"}, factors])
    answer = said(envelope("matrix-rank", matrix=texts(M), rank=claimed, lower=lower, upper=upper))
    wrong = answer == "holds" and claimed != rank(M)
    return answer, f"rank {rank(M)} was accepted as {claimed}: {M}" if wrong else ""


def minors(rng: random.Random) -> Outcome:
    n, p, bits = rng.randint(1, 9), rng.choice(PRIMES), rng.choice([2, 8, 70, 300])
    M = [[rng.randint(-(2**bits), 2**bits) for _ in range(n)] for _ in range(n)]
    if rng.random() < 0.5 and n > 1:  # a combination of the other rows, or nearly
        M[0] = [sum(column) for column in zip(*M[1:], strict=True)]
        M[0][rng.randrange(n)] += rng.choice([0, 0, p, 1])
    det, regular = int(fmpz_mat(M).det()), arithmetic.rank_mod(M, p) == n
    exact = arithmetic.determinant(Matrix(tuple(map(Fraction, r)) for r in M))
    wrong = regular != bool(det % p) or exact != det
    wrong = wrong or arithmetic.integer_rank(M, "M") != fmpz_mat(M).rank()
    wrong = (
        wrong or arithmetic.rank_mod(M, p) != nmod_mat([[x % p for x in r] for r in M], p).rank()
    )
    return ("regular" if regular else "singular"), f"{M} mod {p}" if wrong else ""


# --- enclosures ---------------------------------------------------------------------------------


def enclosed(rng: random.Random) -> Outcome:
    bits = rng.choice([64, 96, 128, 500, 2000])
    ctx.prec = 3 * bits + 300
    size, below = 10 ** rng.choice([0, 1, 3]), 10 ** rng.choice([0, 1, 20])
    x = Fraction(rng.randint(0, size * below), below)
    value, unit = arb(fmpq(x.numerator, x.denominator)), rng.choice(["1", "ln2"])
    factor = arb(1) if unit == "1" else arb(2).log()
    name = rng.choice(["exp_minus", "power", "sigmoid", "log_bounds", "x_log_x", "ln2"])
    if name == "exp_minus":
        (low, high), true = enclosures.exp_minus(x, bits), (-value).exp()
    elif name == "power":
        (low, high), true = enclosures.power(x, unit, bits), (-value * factor).exp()
    elif name == "sigmoid":
        (low, high), true = enclosures.sigmoid(x, unit, bits), 1 / (1 + (-value * factor).exp())
    elif name == "ln2":
        below_, above = enclosures.ln2(bits)
        low, high, true = math.ceil(below_ * 2**bits), math.floor(above * 2**bits), arb(2).log()
    else:
        x, value = x + Fraction(1, 10**9), value + arb(fmpq(1, 10**9))
        if name == "log_bounds":
            (low, high), true = enclosures.log_bounds(x, bits), value.log()
        else:
            (low, high), true = enclosures.x_log_x([x, x], bits), 2 * value * value.log()
    true = true * arb(2) ** bits
    slack = 0 if name != "ln2" else 1
    inside = arb(low - slack) <= true and true <= arb(high + slack)
    wide = high - low > (1 << (16 + x.numerator.bit_length()))
    return name, f"{name} of {x} at {bits} bits" if not inside or wide else ""


# --- mutations of the shipped certificates ------------------------------------------------------


def shipped() -> list[Certificate]:
    folder = files("lemmax.constructions") / "certificates"
    papers = sorted((p for p in folder.iterdir() if p.is_dir()), key=lambda p: p.name)
    found = (f for paper in papers for f in sorted(paper.iterdir(), key=lambda f: f.name))
    return [json.loads(f.read_text(encoding="utf-8")) for f in found if f.name.endswith(".json")]


SHIPPED = shipped()
LONG = 100_000  # characters of a certificate that is not judged again
NUMBERS = ["0", "1", "-1", "2", "1/2", "-3/7", "7", "0x1p-3", "0x1p9", "13", "99/100", "-0x5"]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield from paths(value[key], (*path, key))


def changed(rng: random.Random, value: Any) -> Any:
    """A value of nearly the same shape."""
    if isinstance(value, str):
        return rng.choice([*NUMBERS, "Q", "C", "ln2", "size", value.replace("<", "<=")])
    if isinstance(value, int):
        return max(0, value + rng.choice([-2, -1, 1, 2]))
    if isinstance(value, list) and value:
        i, j = rng.randrange(len(value)), rng.randrange(len(value))
        swapped = [value[j] if n == i else value[i] if n == j else x for n, x in enumerate(value)]
        return rng.choice([value[:i] + value[i + 1 :], [*value, value[j]], swapped])
    if isinstance(value, dict) and value:
        gone = rng.choice(sorted(value))
        return {k: x for k, x in value.items() if k != gone}
    return rng.choice([None, 0, "1", [], {}])


def mutant(rng: random.Random) -> Outcome:
    """A shipped certificate with one to three fields changed, the field of the result often."""
    return judged(mutated(rng, rng.choice(SHIPPED)))


def mutated(rng: random.Random, certificate: Certificate) -> Certificate:
    certificate = copy.deepcopy(certificate)
    for _ in range(rng.choice([1, 1, 2, 3])):
        places = list(paths(certificate))
        shallow = [p for p in places if 0 < len(p) <= 2]
        *path, last = rng.choice(shallow if rng.random() < 0.5 else places[1:])
        inside = certificate
        for key in path:
            inside = inside[key]
        inside[last] = changed(rng, inside[last])
    return certificate


def judged(certificate: Certificate, answer: str = "") -> Outcome:
    answer = answer or said(certificate)
    if answer != "holds":
        return answer, ""
    true = JUDGES[certificate["kind"]](certificate) if len(str(certificate)) < LONG else None
    told = f"holds, {certificate['kind']} {'un' if true is None else ''}judged"
    return told, f"accepted: {json.dumps(certificate)[:3000]}" if true is False else ""


def judged_matrix_rank(c: Certificate) -> bool:
    return bool(rank([[number(x) for x in row] for row in c["matrix"]]) == c["rank"])


def judged_softmax_rank(c: Certificate) -> bool:
    """The rank at a random point mod a prime is that at e^(1/q), but for an event of 10^-15."""
    rows = [[number(x) for x in row] for row in c["logits"]]
    q, p = math.lcm(*(x.denominator for row in rows for x in row)), 2**61 - 1
    z = 2 if c["unit"] == "ln2" else random.Random(5).randrange(2, p)
    powers = [[pow(z, int(x * q) % (p - 1), p) for x in row] for row in rows]
    return bool(nmod_mat(powers, p).rank() == c["rank"])


def judged_kruskal_rank(c: Certificate) -> bool:
    rows = [[number(x) for x in row] for row in c["vectors"]]
    k, most = c["rank"], min(len(rows), len(rows[0]))
    fine = all(rank(part) == k for part in itertools.combinations(rows, k)) if k else True
    return fine and bool(
        k == most or any(rank(part) <= k for part in itertools.combinations(rows, k + 1))
    )


def judged_tensor_rank(c: Certificate) -> bool | None:
    """The terms add up, their number is ``upper``, no flattening has a larger rank.

    And ``lower`` is at most the sum of the ranks of the slices of each mode, which is at least the
    rank. With terms that are not rational these bounds can only tell a lie.
    """
    a, b, c_ = c["tensor"]["shape"]
    T = {(i, j, k): number(x) for i, j, k, x in c["tensor"]["entries"]}
    cube = [[[T.get((i, j, k), 0) for k in range(c_)] for j in range(b)] for i in range(a)]
    if not c["lower"] <= second_judges.slices_bound(cube) or c["upper"] < c["lower"]:
        return False
    if max(second_judges.flattening(cube, Fraction(mode)) for mode in range(3)) > c["upper"]:
        return False
    if c["families"] or "ball" in c:
        return None
    terms = [[[number(x) for x in part] for part in term] for term in c["terms"]]
    places = list(itertools.product(range(a), range(b), range(c_)))
    sums = {(i, j, k): sum(u[i] * v[j] * w[k] for u, v, w in terms) for i, j, k in places}
    return len(terms) == c["upper"] and all(sums[place] == T.get(place, 0) for place in places)


def judged_memorization(c: Certificate) -> bool:
    """The forward pass in balls, as the paper writes it."""
    ctx.prec = 600
    net, criterion = c["layer"], c["criterion"]

    def table(rows: Any) -> fmpq_mat:
        return fmpq_mat([[fmpq(*number(x).as_integer_ratio()) for x in row] for row in rows])

    W_E, W_U = table(net["W_E"]), table(net["W_U"])
    unit, n = (arb(1) if net["unit"] == "1" else arb(2).log()), len(net["tokens"])
    heads = [{name: table(rows) for name, rows in head.items()} for head in net["heads"]]
    scores = [W_E * h["W_Q"] * h["W_K"] * W_E.transpose() for h in heads]
    values = [W_E * h["W_V"] * h["W_O"] * W_U for h in heads]
    straight = W_E * W_U
    for k, q, v in c["facts"]:
        logits = [arb(straight[q, t]) for t in range(n)]
        for S, V in zip(scores, values, strict=True):
            share = 1 / (1 + (unit * arb(S[q, q] - S[q, k])).exp())
            logits = [x + share * V[k, t] + (1 - share) * V[q, t] for t, x in enumerate(logits)]
        if criterion["type"] == "argmax":
            if any(t != v and not x < logits[v] for t, x in enumerate(logits)):
                return False
        else:
            total = sum(((x - logits[v]).exp() for x in logits), arb(0))
            tau = number(criterion["tau"])
            if 1 / total < arb(fmpq(tau.numerator, tau.denominator)):
                return False
    return True


JUDGES: dict[str, Callable[[Certificate], bool | None]] = {
    **second_judges.JUDGES,
    "matrix-rank": judged_matrix_rank,
    "softmax-rank": judged_softmax_rank,
    "kruskal-rank": judged_kruskal_rank,
    "tensor-rank": judged_tensor_rank,
    "memorization": judged_memorization,
    "transformer-memorization": random_transformers.judged,
}


# --- layers by codes ----------------------------------------------------------------------------


@cache
def coded(seed: int) -> str:
    """A small database, compiled by codes of a family that the seed says; its certificate.

    Where predicates are subjects the codes are joined. Other families than the integers are not
    the cheapest for so few values, so they are asked for.
    """
    rng = random.Random(seed)
    family = FAMILIES[seed % len(FAMILIES)]
    keys, queries, values = rng.randint(1, 4), rng.randint(1, 3), rng.randint(1, 5)
    queries = 3 if family == "unmarked" else queries
    subjects = [f"q{i}" if family == "joined" and i < queries else f"k{i}" for i in range(keys)]
    facts = [
        (k, f"q{j}", f"v{rng.randrange(values)}")
        for i, k in enumerate(subjects)
        for j in range(queries)
        if rng.random() < 0.8 or i == 0
    ]
    if family not in ("integers", "joined"):
        logits = None if family == "lattice" else "float32"
        residual = "float32" if family == "unmarked" else None
        arithmetic = Arithmetic.named("bfloat16", logits=logits, residual=residual)
        known = [code for m in (1, 2) for code in families(m, 2, arithmetic)]
        known += [cheapest_code(1 << 16, 3, arithmetic)] if residual else []
        code = rng.choice([code for code in known if code.family == family])
        db = Database.from_triples(facts)
        numbers = fact_numbers(db)
        layer = by_codes(db, code, arithmetic, 1, numbers)
        return json.dumps(CompiledByCodes(db, layer, numbers, None).float_certificate())
    dtype = rng.choice(["bfloat16", "float16", "float32"])
    logits = rng.choice([None, "float32"]) if dtype != "float32" else None
    compiled = compile_database(Database.from_triples(facts), dtype=dtype, logits=logits)
    return json.dumps(compiled.float_certificate())


def layer_by_codes(rng: random.Random) -> Outcome:
    """A layer by codes, with a few bytes of its arrays, or its fields, changed; or none."""
    certificate = json.loads(coded(rng.randrange(20 * len(FAMILIES))))
    data = bytearray(base64.b64decode(certificate["arrays"]["base64"]))
    start = 8 + int.from_bytes(data[:8], "little")
    for _ in range(rng.choice([0, 1, 1, 2])):
        place = rng.randrange(start, len(data))
        data[place] = rng.choice(
            [0, data[place] ^ 1 << rng.randrange(8), data[rng.randrange(start, len(data))]]
        )
    certificate["arrays"]["base64"] = base64.b64encode(data).decode()
    if rng.random() < 0.3:
        part = rng.choice(["arithmetic", "code"])
        name = rng.choice(sorted(certificate[part]))
        own = certificate[part][name]
        other = ["bfloat16", "float16", "float32"] if part == "arithmetic" else list(FAMILIES)
        certificate[part][name] = changed(rng, own) if isinstance(own, int) else rng.choice(other)
    answer, fault = judged(certificate)
    return f"{certificate['code']['family']} {answer}", fault


# --- readouts -----------------------------------------------------------------------------------


@cache
def read(seed: int) -> str:
    """A few facts with small features, read out or in conflict; the certificate as a text."""
    rng = random.Random(seed)
    T, D, V = rng.randint(2, 8), rng.randint(1, 4), rng.randint(2, 3)
    features = [[rng.randint(-3, 3) for _ in range(D)] for _ in range(T)]
    return json.dumps(readout(features, [t % V for t in range(T)]).certificate())


def readouts(rng: random.Random) -> Outcome:
    """A readout, or a conflict, with one or two places changed; or none."""
    certificate = json.loads(read(rng.randrange(12)))
    for _ in range(rng.choice([0, 1, 1, 2])):
        *path, last = rng.choice(list(paths(certificate))[1:])
        inside = certificate
        for key in path:
            inside = inside[key]
        inside[last] = changed(rng, inside[last])
    return judged(certificate)


# --- expressions --------------------------------------------------------------------------------


def expression(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["x", "y", "1", "2", "rank(M)", "det(M)", "max_entry(M)", "rows(M)"])
    a, b = expression(rng, depth - 1), expression(rng, depth - 1)
    return rng.choice([f"({a} + {b})", f"({a} - {b})", f"{a} * {b}", f"max({a}, {b})", f"-({a})"])


def statement(rng: random.Random) -> Outcome:
    """A conclusion made of numbers, ranks and determinants, true or false as flint says."""
    M = [[Fraction(rng.randint(-2, 2)) for _ in range(3)] for _ in range(3)]
    x, y = rational(rng), rational(rng)
    compared = rng.choice(["<", "<=", "==", "!=", ">", ">="])
    text = f"{expression(rng, 2)} {compared} {expression(rng, 2)}"
    for name in ("x", "y", "M"):  # an instance names exactly what the statement speaks about
        text += f" or {name} != {name}" if name in "xy" else " or rank(M) < 0"
    det = Fraction(int(fmpq_mat([[fmpq(int(v)) for v in row] for row in M]).det().p))
    names = {"x": x, "y": y, "M": M, "rank": rank, "det": lambda _: det, "rows": len}
    names["max"] = lambda *values: max(values)  # also of one number
    names["max_entry"] = lambda rows: max(map(max, rows))
    true = eval(text, {"__builtins__": {}}, names)
    instance = {"x": str(x), "y": str(y), "M": texts(M)}
    if rng.random() < 0.2:
        place = rng.randrange(len(text))
        garbled = text[:place] + rng.choice("()[].,:=<>xM'\\\n\0λ0e_ ") + text[place + 1 :]
        stated = {"hypotheses": [], "conclusion": garbled}
        data = envelope("refutation", claim="own/x", statement=stated, instance=instance)
        answer = said(data)
        wrong = answer == "holds" and bool(eval(garbled, {"__builtins__": {}}, names))
        return f"garbled {answer}", f"{garbled} {instance}" if wrong else ""
    stated = {"hypotheses": [], "conclusion": text}
    answer = said(envelope("refutation", claim="own/x", statement=stated, instance=instance))
    return answer, "" if answer == ("fails" if true else "holds") else f"{text} {instance}"


def transformer(rng: random.Random) -> Outcome:
    """A random transformer with another answer, another margin, changed weights; or none of it."""
    kind = rng.choice(["F16", "BF16", "F32", "F64"])
    certificate = random_transformers.random_certificate(rng.randrange(400), kind, 2)
    tokens = random_transformers.unpacked(certificate)["W_E"][0][0]
    change = rng.choice(["nothing", "answer", "margin", "bits", "weights"])
    if change == "answer":
        rng.choice(certificate["facts"])[1] = rng.randrange(tokens)
    elif change == "margin":
        certificate["margin"] = rng.choice(["1/100", "1", "1/3"])
    elif change == "bits":
        certificate["bits"] = rng.choice([32, 40, 64, 300])
    elif change == "weights":
        data = bytearray(base64.b64decode(certificate["arrays"]["base64"]))
        data[-rng.randint(1, 40)] ^= 1 << rng.randrange(8)
        certificate["arrays"]["base64"] = base64.b64encode(data).decode()
    answer = said(certificate)
    if answer != "holds":
        return f"{change} {answer}", ""
    return f"{change} holds", "" if random_transformers.judged(certificate) else str(certificate)


ATTACKS: dict[str, Callable[[random.Random], Outcome]] = {
    "forged tensor ranks": forged_tensor_rank,
    "forged joint steps": forged_lemma(lemmas.joint_steps),
    "forged blocks": forged_lemma(lemmas.block_steps),
    "forged algebras": forged_lemma(lemmas.algebras),
    "forged terms at a root": forged_lemma(lemmas.at_a_root),
    "forged matrix ranks": forged_matrix_rank,
    "minors": minors,
    "enclosures": enclosed,
    "mutants": mutant,
    "layers by codes": layer_by_codes,
    "transformers": transformer,
    "readouts": readouts,
    "statements": statement,
}


def attack(seed: int, count: int) -> tuple[dict[str, Counter[str]], list[str]]:
    """For each attack how often the checker said what, and all that is wrong."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ATTACKS}
    wrong: list[str] = []
    for name, one in ATTACKS.items():
        for n in range(count):
            try:
                outcome, fault = one(random.Random(f"{seed} {name} {n}"))
            except Exception:  # the checker's own, or this script's: both are to be looked at
                outcome, fault = "exception", traceback.format_exc()
            counts[name][outcome] += 1
            wrong += [f"{name}, number {n}: {fault}"] if fault else []
    return counts, wrong


if __name__ == "__main__":
    told, faults = attack(int(sys.argv[1]), int(sys.argv[2]))
    for title, outcomes in told.items():
        print(f"{title}: " + ", ".join(f"{n} {what}" for what, n in sorted(outcomes.items())))
    print(*faults[:20], f"{len(faults)} faults", sep="\n")
    sys.exit(bool(faults))
