"""Multiplication tables of algebras: the bound of Alder and Strassen, and terms as few."""

from __future__ import annotations

import copy
import itertools
import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import groups
from flint import fmpq_mat, fmpz_mat, fmpz_poly

from lemmax.checker import NotACertificate, check
from lemmax.theory import tensor_rank
from lemmax.theory.tensors.above.algebras import algebra_terms
from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.algebras.groups import ABELIAN, OTHERS, truncated
from lemmax.theory.tensors.algebras.structure import alder_strassen, structure
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.below.algebras import algebra_bound
from lemmax.theory.tensors.below.flattenings import flattening_bound
from lemmax.theory.tensors.examples import cyclic, matrix_product
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.ranks import TensorRank

FIELDS: tuple[Field, ...] = ("Q", "R", "C")


def accepted(T: Array, field: Field, steps: Any, value: int) -> bool:
    """Whether the checker accepts the steps as a proof of the bound."""
    terms = slice_sum(T, 2)
    certificate = dict(TensorRank(T, field, flattening_bound(T, 0), terms).certificate())
    while certificate["upper"] < value:
        certificate["upper"] += 1
        certificate["terms"].append([["0"] * n for n in T.shape])
    return check({**certificate, "proof": list(steps), "lower": value}).holds


def ranks(T: Array) -> list[int | None]:
    """The rank over each field, with certificates that the checker accepts."""
    results = [tensor_rank(T, field) for field in FIELDS]
    assert all(check(result.certificate()).holds for result in results)
    return [result.rank for result in results]


# characters by their order: over Q one part for each orbit, over R two thirds of the complex ones
@pytest.mark.parametrize("name", ABELIAN)
def test_ranks_of_abelian_groups(name: str) -> None:
    orders = [int(part[1:]) for part in name.split(" × ")]
    n = int(np.prod(orders))
    real, rational = 0, 0
    for x in itertools.product(*map(range, orders)):
        order = int(np.lcm.reduce([m // np.gcd(a, m) for a, m in zip(x, orders, strict=True)]))
        real += order <= 2
        rational += 1 / sum(np.gcd(a, order) == 1 for a in range(1, order + 1))
    wanted = [2 * n - round(rational), 2 * n - (n + real) // 2, n]
    fields = FIELDS if n < 10 else FIELDS[:1]  # the others take a second each; the table has them
    T = ABELIAN[name]
    for field, rank in zip(FIELDS, wanted, strict=True):
        of_algebra = structure(T)
        assert of_algebra is not None
        bound, terms = algebra_bound(of_algebra, field), algebra_terms(of_algebra, field)
        assert bound is not None
        assert terms is not None
        assert bound.value == len(terms) == rank
        if field in fields:
            assert check(TensorRank(T, field, bound, terms).certificate()).holds


@pytest.mark.parametrize(
    ("T", "wanted"),
    [
        (OTHERS["S3"], [9, 9, 9]),
        (OTHERS["D4"], [11, 11, 11]),
        (matrix_product(2), [7, 7, 7]),
        (truncated(3), [5, 5, 5]),
        (truncated(6), [11, 11, 11]),
    ],
)
def test_ranks_of_algebras_that_are_known(T: Array, wanted: list[int]) -> None:
    assert ranks(T) == wanted


@pytest.mark.parametrize(("name", "rank"), [("D5", 16), ("D7", 23)])
def test_ranks_of_dihedral_groups_over_the_real_numbers(name: str, rank: int) -> None:
    for field in FIELDS[1:]:
        assert tensor_rank(OTHERS[name], field).rank == rank
    over_q = structure(OTHERS[name])
    assert over_q is not None
    bound = algebra_bound(over_q, "Q")
    assert bound is not None
    assert bound.value == 2 * len(OTHERS[name]) - 3  # two signs, and matrices over Q(cos 2π/n)


def test_parts_that_are_open_keep_an_interval() -> None:
    """3 × 3 matrices lose the dimension of a simple module, and their bound is cited."""
    for field in FIELDS:
        assert alder_strassen(matrix_product(3), field) == 17
    large = structure(matrix_product(3))
    assert large is not None
    bound = algebra_bound(large, "R")
    assert bound is not None
    assert bound.value == 2 * 9 - 3


def random_algebra(rng: random.Random) -> tuple[Array, fmpz_poly]:
    """Polynomials modulo a random f, in random bases of all three modes."""
    n = rng.randint(3, 5)
    f = fmpz_poly([rng.randint(-3, 3) for _ in range(n)] + [1])
    if rng.random() < 0.3:  # with a radical
        f = fmpz_poly([rng.randint(-2, 2), 1]) ** 2 * fmpz_poly([1, 1] if n == 3 else [1, 0, 1])
        n = int(f.degree())
    T = np.zeros((n, n, n), dtype=int)
    for i, j in itertools.product(range(n), repeat=2):
        power = fmpz_poly([0] * (i + j) + [1]) % f
        T[i, j] = [int(power[k]) for k in range(n)]
    for mode in range(3):
        M = np.zeros((n, n), dtype=int)
        while round(np.linalg.det(M)) == 0:
            M = np.array([[rng.randint(-1, 1) for _ in range(n)] for _ in range(n)])
        T = np.moveaxis(np.tensordot(M, T, (1, mode)), 0, mode)
    return T, f


def test_bound_of_random_algebras_is_what_their_parts_say() -> None:
    """Of Q[x]/(f) the maximal ideals belong to the factors of f that are irreducible there."""
    rng = random.Random(4)
    with_radical = irreducible = proved = 0
    for _ in range(12):
        T, f = random_algebra(rng)
        n = len(T)
        factors = [g for g, _ in f.factor()[1]]
        roots = [np.roots([int(c) for c in reversed(g.coeffs())]) for g in factors]
        real = [int((abs(z.imag) < 1e-9).sum()) for z in roots]
        degrees = [int(g.degree()) for g in factors]
        parts = {
            "Q": len(factors),
            "R": sum((d + r) // 2 for d, r in zip(degrees, real, strict=True)),
            "C": sum(degrees),
        }
        of_algebra = structure(T)
        assert of_algebra is not None
        with_radical += of_algebra.radical is not None
        irreducible += len(factors) == 1
        for field in FIELDS:
            bound = algebra_bound(of_algebra, field)
            if bound is None:  # no short proof that a factor is irreducible
                assert field == "Q"
                continue
            proved += 1
            assert bound.value == 2 * n - parts[field]
            assert accepted(T, field, bound.steps, bound.value)
            assert not accepted(T, field, bound.steps, bound.value + 1)
            terms = algebra_terms(of_algebra, field)
            assert terms is None or (terms.adds_up_to(T) and len(terms) >= bound.value)
    assert proved >= 30, proved
    assert with_radical >= 1
    assert irreducible >= 2


def entries(value: Any, path: tuple[Any, ...] = ()) -> Any:
    """The places of all numbers in a step."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        if isinstance(part, (dict, list)):
            yield from entries(part, (*path, key))
        elif key not in ("lemma", "point", "prime"):
            yield *path, key


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "T", [OTHERS["S3"], truncated(3), matrix_product(2)], ids=["S3", "x^3", "M2"]
)
def test_changed_certificates_of_algebras_are_rejected(T: Array, field: Field) -> None:
    """Unit, polynomials and degrees are determined; of bases another choice may be as good."""
    of_algebra = structure(T)
    assert of_algebra is not None
    bound = algebra_bound(of_algebra, field)
    assert bound is not None
    places = [(n, *path) for n, step in enumerate(bound.steps) for path in entries(step)]
    determined = [p for p in places if {"unit", "polynomial", "degree"} & set(p)]
    assert len(determined) >= 4
    for place in determined:
        steps = copy.deepcopy(list(bound.steps))
        inner: Any = steps
        for key in place[:-1]:
            inner = inner[key]
        old = inner[place[-1]]
        inner[place[-1]] = old + 1 if isinstance(old, int) else str(Fraction(old) + 1)
        try:
            assert not accepted(T, field, steps, bound.value), place
        except NotACertificate:
            assert {"polynomial", "degree"} & set(place)


def test_a_reducible_polynomial_is_not_taken_for_irreducible() -> None:
    """x⁴ + 4 = (x² + 2x + 2)(x² - 2x + 2) has no value that is a small number times a prime."""
    rng = random.Random(0)
    T = np.zeros((4, 4, 4), dtype=int)
    for i, j in itertools.product(range(4), repeat=2):
        T[i, j, (i + j) % 4] = -4 if i + j >= 4 else 1
    of_algebra = structure(T)
    assert of_algebra is not None
    bound = algebra_bound(of_algebra, "Q")
    assert bound is not None
    assert bound.value == 6
    (step,) = bound.steps
    whole = ["4", "0", "0", "0", "1"]
    for _ in range(40):
        point = rng.choice([-1, 1]) * rng.randint(1, 300)
        value = point**4 + 4
        prime = max(p for p in range(2, 400) if value % p == 0 or p == 399)
        one = {"polynomial": whole, "degree": 1, "point": str(point), "prime": str(prime)}
        changed = {**step, "element": ["0", "1", "0", "0"], "factors": [one]}
        try:
            assert not accepted(T, "Q", [changed], 7)
        except NotACertificate:
            assert prime == 399  # no prime, which is refused


def test_no_forged_proof_exceeds_a_planted_rank() -> None:
    """n planted terms, in random bases: claims of fewer, larger, or smaller parts are rejected."""
    rng, rejected = random.Random(3), 0
    while rejected < 60:
        n = rng.randint(3, 5)
        factors = [np.array([[rng.randint(-1, 1) for _ in range(n)] for _ in range(n)])] * 2
        factors.append(np.eye(n, dtype=int))
        T = np.einsum("ri,rj,rk->ijk", *factors)
        of_algebra = structure(T) if round(np.linalg.det(factors[0])) else None
        if of_algebra is None:
            continue
        bound = algebra_bound(of_algebra, "Q")
        assert bound is not None
        assert bound.value == n
        *before, step = bound.steps
        step = copy.deepcopy(step)
        one, other = rng.sample(step["factors"], 2)
        kept = [f for f in step["factors"] if f not in (one, other)]
        change = rng.randrange(4)
        if change == 0:  # a part less
            step["factors"] = [one, *kept]
        elif change == 1:  # two parts as one of degree two
            step["factors"] = [{**one, "degree": 2}, *kept]
        elif change == 2:  # a product that is said to be irreducible
            a, b = (Fraction(f["polynomial"][0]) for f in (one, other))
            point, prime = rng.randint(-99, 99), rng.choice([2, 3, 5, 7, 101])
            product = [str(x) for x in (a * b, a + b, 1)]
            both = {"polynomial": product, "degree": 1, "point": str(point), "prime": str(prime)}
            step["factors"] = [both, *kept]
        else:  # an element of smaller degree
            step["element"] = [str(rng.randint(0, 1)) for _ in range(n)]
            step["factors"] = [one, *kept]
        assert not accepted(T, "Q", [*before, step], n + 1)
        rejected += 1


def test_tables_that_are_no_algebras_are_left_alone() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert structure(rng.integers(-1, 2, (4, 4, 4))) is None
    loop = np.eye(5, dtype=int)[  # a loop with unit that is not associative
        [[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]]
    ]
    assert structure(loop) is None
    unit = {"lemma": "algebra", "unit": ["1", "0", "0", "0", "0"], "prime": "101"}
    one = {"polynomial": ["-1", "1"], "degree": 1, "point": "0", "prime": "0"}
    steps = [{**unit, "element": ["1", "0", "0", "0", "0"], "factors": [one]}]
    assert not accepted(loop, "Q", steps, 1)


def test_partition_of_two_families_of_vectors() -> None:
    """If r₁(Q) + r₂(Q) ≥ |Q| for all Q there is a partition into two independent sets; else not."""
    rng, outcomes = random.Random(2), [0, 0]
    for _ in range(60):
        size = rng.randint(2, 6)
        dims = rng.randint(1, 3), rng.randint(1, 3)
        families = [[[rng.randint(0, 1) for _ in range(d)] for _ in range(size)] for d in dims]

        def rank(family: int, chosen: Any, families: Any = families) -> int:
            rows = [families[family][i] for i in chosen]
            return int(fmpq_mat(fmpz_mat(rows)).rank()) if rows else 0

        subsets = [Q for k in range(size + 1) for Q in itertools.combinations(range(size), k)]
        condition = all(rank(0, Q) + rank(1, Q) >= len(Q) for Q in subsets)
        partition = any(
            rank(0, Q) == len(Q)
            and rank(1, rest := [i for i in range(size) if i not in Q]) == len(rest)
            for Q in subsets
        )
        assert condition == partition
        outcomes[condition] += 1
    assert min(outcomes) >= 10


def test_recorded_ranks_are_what_the_parts_give_today() -> None:
    """Of the recorded table, those that take no time; all of its certificates were accepted."""
    path = Path(__file__).parents[2] / "benchmarks" / "results" / "groups.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    assert all(row["holds"] for row in rows)
    seen = 0
    for row in rows:
        T = {**ABELIAN, **OTHERS}.get(row["table"])
        if T is not None and len(T) <= 8:
            of_algebra = structure(T)
            assert of_algebra is not None
            bound = algebra_bound(of_algebra, row["field"])
            terms = algebra_terms(of_algebra, row["field"])
            if min(T.shape) > 2 and bound is not None and terms is not None:
                assert (bound.value, len(terms)) == (row["lower"], row["upper"])
                seen += 1
    assert seen >= 30


def recorded_rows(kind: str) -> list[dict[str, Any]]:
    path = Path(__file__).parents[2] / "benchmarks" / "results" / "groups.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return [row for row in rows if row["kind"] == kind]


@pytest.mark.parametrize("n", range(17, 32))
def test_recorded_ranks_of_larger_cyclic_groups_are_established_again(n: int) -> None:
    """Z_n has a part over Q for each divisor, over R for each pair of conjugate characters."""
    rows = [row for row in recorded_rows("cyclic") if row["table"] == f"Z{n}"]
    assert [row["field"] for row in rows] == [*FIELDS]
    divisors = sum(n % d == 0 for d in range(1, n + 1))
    results = [tensor_rank(cyclic(n), field) for field in FIELDS]
    assert check(results[n % 3].certificate()).holds  # one field each, for R takes seconds
    found = [result.rank for result in results]
    assert found == [2 * n - divisors, 2 * n - (n // 2 + 1), n]
    assert [(row["lower"], row["upper"]) for row in rows] == [(r, r) for r in found]


def test_all_cyclic_groups_up_to_31_are_recorded() -> None:
    named = {row["table"] for row in (*recorded_rows("cyclic"), *recorded_rows("abelian"))}
    assert named >= {f"Z{n}" for n in range(2, 32)}


def obstacles(name: str, field: Field) -> str:
    parts = structure(OTHERS[name])
    assert parts is not None
    T = OTHERS[name]
    flat = flattening_bound(T, 0)
    terms = algebra_terms(parts, field)
    assert terms is not None
    return groups.obstacle(TensorRank(T, field, flat, terms))


def test_what_keeps_a_rank_open_is_true_of_the_field() -> None:
    """Q16 has quaternions over Q(√2): over R these are two copies, eight terms each."""
    multiplied_out = "2 × 2 matrices over a field"
    assert "quaternions over a field" in obstacles("Q16", "Q")
    assert obstacles("Q16", "R") == ""  # what is left is not open: the bounds of the parts agree
    assert "quaternions with other squares" in obstacles("Dic3", "Q")
    assert multiplied_out in obstacles("SD16", "R")  # over Q(√-2), which is not real
    assert multiplied_out in obstacles("D8", "Q")
