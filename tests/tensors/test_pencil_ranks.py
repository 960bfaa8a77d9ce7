"""Pencils: the rank formula against pencils built from known Kronecker blocks, over Q, R, C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
import pytest
from flint import fmpq, fmpq_mat, fmpq_poly, fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax import checker
from lemmax.checker import check
from lemmax.constructions.refuting import sorted_tensor, witness
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory import Database, tensor_rank
from lemmax.theory.numbers.linear import real_roots
from lemmax.theory.tensors.arrays import Array, flattening_rank
from lemmax.theory.tensors.pencils.decompositions import pencil_decomposition
from lemmax.theory.tensors.pencils.normal_forms import normal_rank, pencil, points, square

Certify = Callable[..., checker.Verdict]
Field = Literal["Q", "R", "C"]
FIELDS: tuple[Field, ...] = ("Q", "R", "C")
# irreducible over Q, with the number of their real roots
FACTORS: dict[str, tuple[list[int], int]] = {
    "x": ([0, 1], 1),
    "x-1": ([-1, 1], 1),
    "x+2": ([2, 1], 1),
    "x^2+1": ([1, 0, 1], 0),
    "x^2-2": ([-2, 0, 1], 2),
    "x^3-x-1": ([-1, -1, 0, 1], 1),
    "x^3-3x+1": ([1, -3, 0, 1], 3),
}


@dataclass(frozen=True)
class Blocks:
    """Kronecker's invariants: minimal indices and elementary divisors (factor, exponent)."""

    right: tuple[int, ...]
    left: tuple[int, ...]
    divisors: tuple[tuple[str, int], ...]

    def matrices(self) -> tuple[Array, Array]:
        """The block diagonal pencil sA + tB."""
        parts = [right_block(n) for n in self.right]
        parts += [(a.T, b.T) for a, b in map(right_block, self.left)]
        parts += [divisor_block(name, e) for name, e in self.divisors]
        return diagonal([a for a, _ in parts]), diagonal([b for _, b in parts])

    def rank(self, field: Field) -> int:
        """The formula, from the invariants: Σ(ε+1) + Σ(η+1) + N + δ."""
        sizes = sum(n + 1 for n in self.right + self.left)
        sizes += sum(e * (len(FACTORS[name][0]) - 1) for name, e in self.divisors)
        excess = 0
        for name, (coefficients, real) in FACTORS.items():
            degree = len(coefficients) - 1
            splits = degree == 1 or field == "C" or (field == "R" and real == degree)
            exponents = [e for divisor, e in self.divisors if divisor == name]
            excess = max(excess, sum(1 for e in exponents if e > 1 or not splits))
        return sizes + excess


def right_block(n: int) -> tuple[Array, Array]:
    """L_n: n × (n+1), with s on the diagonal and t beside it."""
    return np.eye(n, n + 1, dtype=int), np.eye(n, n + 1, 1, dtype=int)


def divisor_block(name: str, exponent: int) -> tuple[Array, Array]:
    """sI + tC with C the companion matrix of the factor to the exponent."""
    power = fmpq_poly(FACTORS[name][0]) ** exponent
    n = int(power.degree())
    companion = np.eye(n, n, -1, dtype=int)
    companion[:, -1] = [-int(power[i].p) for i in range(n)]
    return np.eye(n, dtype=int), companion


def diagonal(parts: list[Array]) -> Array:
    total = np.zeros((sum(p.shape[0] for p in parts), sum(p.shape[1] for p in parts)), dtype=int)
    i = j = 0
    for part in parts:
        total[i : i + part.shape[0], j : j + part.shape[1]] = part
        i, j = i + part.shape[0], j + part.shape[1]
    return total


@st.composite
def kronecker(draw: st.DrawFn) -> tuple[Blocks, Array]:
    """Blocks of small total size, hidden by unimodular matrices on all three modes."""
    blocks = Blocks(
        tuple(draw(st.lists(st.integers(1, 2), max_size=2))),
        tuple(draw(st.lists(st.integers(1, 2), max_size=2))),
        tuple(
            draw(
                st.lists(st.tuples(st.sampled_from(sorted(FACTORS)), st.integers(1, 2)), max_size=3)
            )
        ),
    )
    if not (blocks.right or blocks.left or blocks.divisors):
        blocks = Blocks((1,), (), ())
    T = np.stack(blocks.matrices())
    rng = draw(st.randoms(use_true_random=False))
    for mode in range(3):
        T = np.moveaxis(np.tensordot(unimodular(rng, T.shape[mode]), T, (1, mode)), 0, mode)
    return blocks, T


def unimodular(rng: Any, n: int) -> Array:
    matrix = np.eye(n, dtype=int)
    for _ in range(n):
        i, j = rng.randrange(n), rng.randrange(n)
        if i != j:
            matrix[i] += rng.choice([-1, 1]) * matrix[j]
    return matrix


def rank_of_blocks(blocks: Blocks, T: Array, field: Field) -> bool:
    """Whether the rank, with a certificate that the checker accepts, is that of the blocks."""
    result = tensor_rank(T, field)
    return result.rank == blocks.rank(field) and check(result.certificate()).holds


def falls(T: Array, fields: list[Field]) -> bool:
    """Whether the ranks are exact, certified, and fall from field to field."""
    results = [tensor_rank(T, field) for field in fields]
    ranks = [result.rank for result in results if result.rank is not None]
    exact = len(ranks) == len(fields) and all(check(r.certificate()).holds for r in results)
    return exact and ranks == sorted(ranks, reverse=True)


@pytest.mark.claim(
    "lemmax/pencil-rank",
    grade="property",
    scope="Kronecker blocks of total size at most 26, hidden by unimodular matrices; Q, R and C",
    statement="966b939c6a5be103",
)
@settings(max_examples=60)
@given(kronecker())
def test_pencil_rank_of_hidden_kronecker_blocks(
    sample: Sample, drawn: tuple[Blocks, Array]
) -> None:
    blocks, T = drawn
    for field in FIELDS:
        control = (blocks, np.zeros_like(T), field)  # hides no block, and has rank 0
        sample(rank_of_blocks, blocks, T, field, control=control)


@pytest.mark.claim(
    "lemmax/pencil-rank",
    grade="property",
    scope="random integer pencils up to 2 x 4 x 4",
    statement="966b939c6a5be103",
)
@given(
    st.integers(1, 4),
    st.integers(1, 4),
    st.lists(st.integers(-2, 2), min_size=32, max_size=32),
    st.permutations(range(3)),
)
def test_pencil_rank_is_exact_in_every_mode(
    sample: Sample, m: int, n: int, entries: list[int], order: list[int]
) -> None:
    T = np.array(entries[: 2 * m * n]).reshape(2, m, n).transpose(order)
    turn = np.array([[[1, 0], [0, 1]], [[0, -1], [1, 0]]])  # rank 3 over Q and R, 2 over C
    sample(falls, T, list(FIELDS), control=(turn, ["C", "R", "Q"]))


# --- the steps of the proof -------------------------------------------------------------------

integer_pencils = st.builds(
    lambda m, n, a, b: (np.array(a[: m * n]).reshape(m, n), np.array(b[: m * n]).reshape(m, n)),
    st.integers(1, 4),
    st.integers(1, 4),
    st.lists(st.integers(-2, 2), min_size=16, max_size=16),
    st.lists(st.integers(-2, 2), min_size=16, max_size=16),
)


def flint(M: Array) -> fmpq_mat:
    return fmpq_mat(fmpz_mat(M.tolist()))


def concise_pencil(A: Array, B: Array) -> bool:
    T = np.stack([A, B])
    return (flattening_rank(T, 1), flattening_rank(T, 2)) == A.shape


@given(integer_pencils)
def test_pencil_rank_square_regular_enlargement(pair: tuple[Array, Array]) -> None:
    """The enlarged pencil is square of size m + n - ρ, regular, and has ours as its corner."""
    A, B = pair
    if not concise_pencil(A, B):
        return
    m, n = A.shape
    first, second = square(flint(A), flint(B))
    size = m + n - normal_rank(flint(A), flint(B))
    assert (first.nrows(), first.ncols()) == (size, size)
    assert any((first + second * fmpq(x)).det() for x in islice(points(), size + 1))
    for small, large in ((A, first), (B, second)):
        assert [row[:n] for row in large.tolist()[:m]] == flint(small).tolist()


@given(integer_pencils, st.sampled_from(FIELDS))
def test_pencil_rank_pole_placement_takes_delta_steps(
    pair: tuple[Array, Array], field: Field
) -> None:
    """δ_F terms make the enlarged pencil diagonalisable; its eigenvectors are the other terms."""
    A, B = pair
    if not concise_pencil(A, B):
        return
    form = pencil(A, B)
    terms = pencil_decomposition(form, field)
    assert terms.adds_up_to(np.stack([A, B], axis=2))
    assert len(terms) <= form.rank(field)
    for family in terms.families:
        assert field == "C" or (field == "R" and real_roots(family.modulus) == len(family))


@given(
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 6),
    st.lists(st.integers(-2, 2), min_size=60, max_size=60),
    st.integers(-2, 2),
)
def test_pencil_rank_jets_bound_explicit_sums(
    m: int, n: int, r: int, entries: list[int], x: int
) -> None:
    """r ≥ r_A + r_B - dim(im M + B ker M) for a sum of r terms, M = A + xB; r need not be least."""
    numbers = iter(entries)

    def vectors(size: int) -> Array:
        return np.array([[next(numbers) for _ in range(size)] for _ in range(r)])

    u, v, w = vectors(m), vectors(n), vectors(2)
    A, B = np.einsum("ri,rj,rk->kij", u, v, w)
    M = A + x * B
    T = np.stack([A, B])
    long = np.block([[M, np.zeros_like(M)], [B, M]])
    spread = flint(long).rank() - flint(M).rank()  # = dim(im M + B ker M)
    assert r >= flattening_rank(T, 1) + flattening_rank(T, 2) - spread


# --- databases --------------------------------------------------------------------------------


def database(table: str) -> Database:
    """Rows of single-letter values; a dot is an undefined cell."""
    return Database.from_triples(
        [
            (f"k{k}", f"q{q}", v)
            for k, row in enumerate(table.split())
            for q, v in enumerate(row)
            if v != "."
        ]
    )


TABLES: dict[str, tuple[str, int, int, tuple[int, int, int]]] = {
    # name: table, bound of Proposition 2.1, largest flattening rank, ranks over Q, R, C
    "diagonal": ("0.... .0... ..0.. ...0. ....0", 5, 5, (5, 5, 5)),
    "W, a Jordan block of border rank 2": ("01 .0", 3, 2, (3, 3, 3)),
    "2-cycle": ("01 10", 4, 2, (2, 2, 2)),
    "3-cycle": ("01 12 20", 6, 3, (4, 4, 3)),
    "4-cycle": ("01 12 23 30", 8, 4, (5, 5, 4)),
    "two 3-cycles": ("01 12 20 34 45 53", 12, 6, (8, 8, 6)),
    "P3, eigenvalues 0 and ±√2": ("01. 101 .10", 6, 3, (4, 3, 3)),
    "x^3-x-1, no roots of unity": ("01. .01 110", 6, 3, (4, 4, 3)),
    "path": ("01 12 23", 6, 4, (4, 4, 4)),
    "a map that is not diagonalisable": ("00 10 21", 5, 3, (4, 4, 4)),
    "projections": ("00 01 10 11", 4, 3, (3, 3, 3)),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_have_their_ranks_over_every_field(name: str) -> None:
    table, bound, flat, ranks = TABLES[name]
    db = database(table)
    D = db.tensor()
    sums = [len({(f[i], f[2]) for f in db.triples}) for i in (0, 1)]
    assert min(sums) == bound
    assert max(flattening_rank(D, mode) for mode in range(3)) == flat
    for field, rank in zip(FIELDS, ranks, strict=True):
        result = tensor_rank(db, field)
        assert (result.lower, result.upper) == (rank, rank)
        assert check(result.certificate()).holds


@pytest.mark.claim("lemmax/field-dependence", grade="certified", statement="951b8137311775f9")
def test_field_dependence_of_the_3_cycle_and_of_the_path(certify: Certify) -> None:
    cycle, path = database(TABLES["3-cycle"][0]), database("01. 101 .10")
    cases: list[tuple[Database, Field, int]] = [
        (cycle, "R", 4),
        (cycle, "C", 3),
        (path, "Q", 4),
        (path, "R", 3),
    ]
    evidence = []
    for db, field, rank in cases:
        result = tensor_rank(sorted_tensor(db), field)
        assert result.rank == rank == tensor_rank(db, field).rank
        evidence.append(result.certificate())
    both = witness("lemmax/field-dependence", evidence, D=cycle, E=path)
    certify(both, ship_as="lemmax/field-dependence")


@pytest.mark.parametrize("n", [2, 5, 9])
def test_identity_and_shift_have_real_rank_n_plus_one(n: int) -> None:
    """|Q| = 2, q₁ the identity, q₂ a cyclic shift: rank n + 1 over R from n = 3 on, n over C."""
    D = np.stack([np.eye(n, dtype=int), np.roll(np.eye(n, dtype=int), 1, axis=1)], axis=1)
    assert tensor_rank(D, "R").rank == (n + 1 if n > 2 else 2)
    assert tensor_rank(D, "C").rank == n


def test_a_family_is_refused_where_its_roots_leave_the_field() -> None:
    certificate = tensor_rank(database("01 12 20"), "C").certificate()
    assert certificate["families"]
    for field in ("R", "Q"):
        forged = certificate | {"field": field}
        assert not check(forged).holds
    real = tensor_rank(database("01. 101 .10"), "R").certificate()
    assert real["families"]
    assert check(real | {"field": "C"}).holds  # real terms are complex terms
    assert not check(real | {"field": "Q"}).holds
