"""Certificates that hold, and ways to damage them; made without the checker."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import pytest
from flint import arb, ctx, fmpq, fmpq_mat, nmod_mat

Certificate: TypeAlias = dict[str, Any]
Rows: TypeAlias = list[list[Fraction]]
PRIME = 1_000_003


def envelope(kind: str, **fields: Any) -> Certificate:
    return {"format": "lemmax-certificate", "version": 1, "kind": kind, **fields}


def text(rows: Rows) -> list[list[str]]:
    return [[str(Fraction(x)) for x in row] for row in rows]


def flint_rank(rows: Rows) -> int:
    """The rank over Q by flint: the second opinion on every rank."""
    return int(fmpq_mat([[fmpq(x.numerator, x.denominator) for x in r] for r in rows]).rank())


def random_rows(rng: random.Random, m: int, n: int, size: int = 9, denominator: int = 1) -> Rows:
    def entry() -> Fraction:
        return Fraction(rng.randint(-size, size), rng.randint(1, denominator))

    return [[entry() for _ in range(n)] for _ in range(m)]


def product(a: Rows, b: Rows) -> Rows:
    return [
        [sum((x * y for x, y in zip(r, c, strict=True)), Fraction(0)) for c in zip(*b, strict=True)]
        for r in a
    ]


def pivots(rows: list[list[int]], p: int) -> tuple[list[int], list[int]]:
    """Rows and columns of a largest nonzero minor mod p, by flint's echelon forms."""

    def columns_of(table: list[list[int]]) -> list[int]:
        echelon, rank = nmod_mat(table, p).rref() if table and table[0] else (None, 0)
        found: list[int] = []
        for i in range(rank):
            assert echelon is not None
            found.append(next(j for j in range(len(table[0])) if int(echelon[i, j])))
        return found

    columns = columns_of([[x % p for x in row] for row in rows])
    chosen = [[row[j] % p for row in rows] for j in columns]
    return columns_of(chosen), columns


def matrix_rank(rows: Rows, left: Rows | None = None, right: Rows | None = None) -> Certificate:
    """A matrix-rank certificate; a factorisation is asked for unless the rank is full."""
    residues = [[x.numerator * pow(x.denominator, -1, PRIME) for x in row] for row in rows]
    minor_rows, minor_columns = pivots(residues, PRIME)
    upper: dict[str, Any] = {"method": "size"}
    if left is not None and right is not None:
        upper = {"method": "factorisation", "left": text(left), "right": text(right)}
    return envelope(
        "matrix-rank",
        matrix=text(rows),
        rank=len(minor_rows),
        lower={"prime": str(PRIME), "rows": minor_rows, "columns": minor_columns},
        upper=upper,
    )


def softmax_rank(
    exponents: list[list[int]], rank: int, method: str, denominator: int = 1, unit: str = "1"
) -> Certificate:
    point = 12_345 if unit == "1" else 2
    residues = [[pow(point, x, PRIME) for x in row] for row in exponents]
    rows, columns = pivots(residues, PRIME)
    lower = {"prime": str(PRIME), "rows": rows[:rank], "columns": columns[:rank]}
    return envelope(
        "softmax-rank",
        logits=text([[Fraction(x, denominator) for x in row] for row in exponents]),
        unit=unit,
        rank=rank,
        lower=lower | ({"point": str(point)} if unit == "1" else {}),
        upper={"method": method},
    )


def random_layer(
    rng: random.Random, tokens: int, d: int, heads: int, unit: str = "1"
) -> dict[str, Any]:
    d_qk, d_vo = rng.randint(1, d), rng.randint(1, d)

    def block(m: int, n: int) -> list[list[str]]:
        return text(random_rows(rng, m, n, 5, 1 if unit == "ln2" else 3))

    return {
        "tokens": [f"t{i}" for i in range(tokens)],
        "unit": unit,
        "W_E": block(tokens, d),
        "W_U": block(d, tokens),
        "heads": [
            {
                "W_Q": block(d, d_qk),
                "W_K": block(d_qk, d),
                "W_V": block(d, d_vo),
                "W_O": block(d_vo, d),
            }
            for _ in range(heads)
        ],
    }


def arb_probabilities(layer: dict[str, Any], k: int, q: int) -> list[arb]:
    """softmax of the logits at the last position, by the definition, in flint's ball arithmetic.

    Whole matrices and the masked softmax over positions, as the paper writes them: nothing of the
    checker's rearrangements.
    """

    def rows(name: Any) -> list[list[fmpq]]:
        values = [[Fraction(x) for x in row] for row in name]
        return [[fmpq(x.numerator, x.denominator) for x in row] for row in values]

    W_E, W_U = fmpq_mat(rows(layer["W_E"])), fmpq_mat(rows(layer["W_U"]))
    n = len(layer["tokens"])
    embed = W_E * W_U
    logits = [arb(embed[q, t]) for t in range(n)]
    unit = arb(1) if layer["unit"] == "1" else arb(2).log()
    for head in layer["heads"]:
        W_Q, W_K, W_V, W_O = (fmpq_mat(rows(head[name])) for name in ("W_Q", "W_K", "W_V", "W_O"))
        W_QK = W_E * W_Q * W_K * W_E.transpose()
        W_VO = W_E * W_V * W_O * W_U
        to_k, to_q = (unit * arb(W_QK[q, k])).exp(), (unit * arb(W_QK[q, q])).exp()
        for t in range(n):
            logits[t] += (to_k * arb(W_VO[k, t]) + to_q * arb(W_VO[q, t])) / (to_k + to_q)
    top = max(logits, key=lambda x: float(x.mid()))
    weights = [(x - top).exp() for x in logits]
    total = sum(weights, arb(0))
    return [w / total for w in weights]


def memorization(
    layer: dict[str, Any], facts: list[list[int]], tau: str | None = None
) -> Certificate:
    criterion = {"type": "argmax"} if tau is None else {"type": "probability", "tau": tau}
    return envelope("memorization", layer=layer, facts=facts, criterion=criterion)


def refutation(claim: str, hypotheses: list[str], conclusion: str, **instance: Any) -> Certificate:
    statement = {"hypotheses": hypotheses, "conclusion": conclusion}
    return envelope("refutation", claim=claim, statement=statement, instance=instance)


class Make:
    """The builders above, for tests (test modules cannot import a conftest)."""

    envelope = staticmethod(envelope)
    text = staticmethod(text)
    flint_rank = staticmethod(flint_rank)
    random_rows = staticmethod(random_rows)
    product = staticmethod(product)
    pivots = staticmethod(pivots)
    matrix_rank = staticmethod(matrix_rank)
    softmax_rank = staticmethod(softmax_rank)
    random_layer = staticmethod(random_layer)
    arb_probabilities = staticmethod(arb_probabilities)
    memorization = staticmethod(memorization)
    refutation = staticmethod(refutation)
    prime = PRIME


@pytest.fixture(scope="session")
def make() -> type[Make]:
    return Make


@pytest.fixture(autouse=True)
def _precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 400
    yield
    ctx.prec = before


def _valid() -> dict[str, list[Certificate]]:
    rng = random.Random(20250)
    left, right = random_rows(rng, 4, 2, 5, 3), random_rows(rng, 2, 5, 5, 3)
    zero = [[Fraction(0)] * 3] * 2
    zero_certificate = matrix_rank(zero)
    zero_certificate["upper"] = {"method": "factorisation", "left": [], "right": []}
    ranks = [
        matrix_rank([[Fraction(1), Fraction(2)], [Fraction(3, 7), Fraction(4)]]),
        matrix_rank(product(left, right), left, right),
        zero_certificate,
    ]
    softmax = [
        softmax_rank([[0, 0], [0, 1], [0, 2]], 2, "size", 2),
        softmax_rank([[0, 1, 5], [2, 3, 7], [-1, 4, 4]], 2, "row-classes"),
        softmax_rank([[0, 2, -1], [1, 3, 4], [5, 7, 4]], 2, "column-classes", 3),
        softmax_rank([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]], 2, "specialisation", 5),
        softmax_rank([[0, 1, 2], [1, 2, 3], [0, 0, 0]], 2, "exact", 1, "ln2"),
        softmax_rank([[1], [2], [4]], 1, "size"),
    ]
    layer = {
        "tokens": ["a", "b", "f", "g"],
        "unit": "1",
        "W_E": [["0"], ["-6"], ["19/6"], ["-5/6"]],
        "W_U": [["1", "-1", "0", "0"]],
        "heads": [{"W_Q": [["1/6"]], "W_K": [["1"]], "W_V": [["-7/6"]], "W_O": [["1"]]}],
    }
    exclusive = [[0, 2, 0], [0, 3, 1], [1, 2, 1], [1, 3, 0]]
    halves = {
        "tokens": ["k", "q"],
        "unit": "ln2",
        "W_E": [["1"], ["0x1p1"]],
        "W_U": [["3", "-3"]],
        "heads": [{"W_Q": [["1"]], "W_K": [["1"]], "W_V": [["1"]], "W_O": [["1"]]}],
    }
    memory = [
        memorization(layer, exclusive),
        memorization(layer, exclusive, "1/4"),
        memorization(halves, [[0, 1, 0]], "99/100"),
    ]
    sharp = [["1", "0", "-1"], ["-1", "0", "1"], ["0", "0", "0"]]
    points = [["1", "0"], ["-1", "0"]]
    refutations = [
        refutation("wong/argmax-rank-one", ["rank(M) == 1"], "rank(argmax(M)) <= 2", M=sharp),
        refutation(
            "wong/proposition-3.6-proof",
            ["columns(P) >= 2", "rows(P) >= columns(P)", "distinct_rows(P)", "unit_rows(P)"],
            "rank(gram(P)) == columns(P)",
            P=points,
        ),
        refutation(
            "example/own",
            ["heads(L) == 1", "slices_rank_sum(D) > d_model(L) + d_vo(L)", "size(D) == n"],
            "memorizes(L, D) == 0",
            L={"layer": layer},
            D={"facts": [[layer["tokens"][t] for t in fact] for fact in exclusive]},
            n="4",
        ),
    ]
    return {
        "matrix-rank": ranks,
        "softmax-rank": softmax,
        "memorization": memory,
        "refutation": refutations,
    }


@pytest.fixture(scope="session")
def valid() -> dict[str, list[Certificate]]:
    return _valid()


_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")
_NO_NUMBERS = (
    "007",
    "-0",
    "+1",
    "1/1",
    "2/4",
    "1/-2",
    "1/0",
    " 1",
    "1.0",
    "1e3",
    "0x",
    "0x1P2",
    "１",
    "nan",
    "1" * 4001,
)


Change: TypeAlias = Callable[[Any], Any]
_WRONG: list[Any] = [None, True, 1.5, float("nan"), [], {}, "", "x" * 500_000, -1, 2**60, (1,)]


def _damages(value: Any, names: tuple[str | int, ...] = ()) -> Iterator[tuple[str, Change]]:
    """Ways to damage a value, each as (a name, a function from the value to a damaged one)."""
    place = ".".join(map(str, names)) or "top"

    def becomes(wrong: Any) -> tuple[str, Change]:
        return f"{place} := {str(wrong)[:9]}", lambda _: wrong

    def without(key: str) -> Change:
        return lambda v: {k: x for k, x in v.items() if k != key}

    def inside(key: Any, change: Change) -> Change:
        def changed(v: Any) -> Any:
            v = copy.copy(v)
            v[key] = change(v[key])
            return v

        return changed

    for wrong in _WRONG:
        # no heads and no hypotheses are well formed: other tests are about those
        if wrong != value and not (wrong == [] and names[-1:] in (("heads",), ("hypotheses",))):
            yield becomes(wrong)
    if isinstance(value, str) and _NUMBER.fullmatch(value) and not {"tokens", "unit"} & {*names}:
        yield from map(becomes, _NO_NUMBERS)
    parts: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        parts = list(value.items())
        yield f"{place} gains a field", lambda v: {**v, "extra": "1"}
        for key in value:
            yield f"{place} loses {key}", without(key)
    if isinstance(value, list):
        parts = [(i, x) for i, x in enumerate(value) if i in (0, len(value) - 1)]
        if value and isinstance(value[0], list):
            yield f"{place} becomes ragged", lambda v: [v[0][:-1], *v[1:]]
    for key, part in parts:
        for name, change in _damages(part, (*names, key)):
            yield name, inside(key, change)


@pytest.fixture(scope="session")
def damages() -> Callable[[Certificate], list[tuple[str, Any]]]:
    """All damaged versions of a certificate, none of which is a certificate."""
    return lambda value: [(name, change(value)) for name, change in _damages(value)]
