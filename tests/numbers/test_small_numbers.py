"""Numbers, matrices and subsets that are small enough to be known in another way."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from itertools import combinations, islice, product
from math import comb
from random import Random
from typing import Any

import numpy as np
import pytest
import sympy
from flint import arb, ctx, fmpq, fmpq_mat, fmpq_poly, fmpz, fmpz_mat, fmpz_mpoly_ctx

from lemmax.theory import shown
from lemmax.theory.errors import LemmaxError, NotExact, ShapeError, Undecided
from lemmax.theory.numbers import balls, gale_duality, linear, loops, matrices, residues
from lemmax.theory.numbers.families import elimination, parameters
from lemmax.theory.numbers.families.ranks import family_rank, generic_rank
from lemmax.theory.numbers.families.softmax import monomial_rows, softmax_family_rank
from lemmax.theory.numbers.kruskal_rank import kruskal_rank, near_dependence
from lemmax.theory.numbers.kruskal_search import DependentSubsets, _short_dependency, by_search
from lemmax.theory.numbers.matrices import Matrix, rational
from lemmax.theory.numbers.primes import MERSENNE_31, primes
from lemmax.theory.numbers.rank import _rank_by_primes
from lemmax.theory.numbers.row_maps import (
    sign_of_exponential_sum,
    softmax,
    softmax_threshold,
)
from lemmax.theory.numbers.softmax_rank import _rank_at_large_integer, softmax_rank

# -- exact numbers and matrices -----------------------------------------------------------------


def test_what_is_rational() -> None:
    third = fmpq(1, 3)
    assert rational(third) is third
    for value in (fmpz(2), 2, np.int8(2), Fraction(2), "2", sympy.Integer(2), np.float32(2)):
        assert rational(value, floats=True) == 2
    assert rational(sympy.Rational(-3, 7)) == fmpq(-3, 7)
    assert rational(Fraction(-3, 7)) == fmpq(-3, 7)
    assert rational(np.float64(0.1), floats=True) == fmpq(*(0.1).as_integer_ratio())
    assert matrices.decimal(np.float64(0.1)) == fmpq(1, 10)
    assert matrices.fraction(fmpz(3)) == Fraction(3)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("x" * 40, repr("x" * 40) + " is not a rational number."),
        ("x" * 41, repr("x" * 40) + "… is not a rational number."),
        ("1/0", "'1/0' is not a rational number."),
        ("1e99999", "'1e99999' is not a rational number."),
        (float("nan"), "nan is not a finite number."),
        (np.float64("inf"), "inf is not a finite number."),
        (
            np.float64(0.5),
            "0.5 is a float; pass floats=True to read it as an exact dyadic rational.",
        ),
        (None, "None of type NoneType is not an exact rational number."),
        ({1}, "{1} of type set is not an exact rational number."),
        (sympy.pi, "pi of type Pi is not an exact rational number."),
    ],
)
def test_what_is_not_rational(value: Any, sentence: str) -> None:
    with pytest.raises(NotExact) as refused:
        rational(value)
    assert str(refused.value) == sentence


def test_a_masked_entry_has_no_value() -> None:
    whole = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    said = r"^A masked entry has no value\.$"
    for data in (whole, whole.astype(float), whole.astype(object), list(whole)):
        with pytest.raises(NotExact, match=said):
            Matrix(data, floats=True)
    entries: list[Any] = [np.ma.masked, np.ma.array(3, mask=True)]
    for value in entries:
        with pytest.raises(NotExact, match=said):
            rational(value, floats=True)
        with pytest.raises(NotExact, match=said):
            matrices.decimal(value)
    nothing = np.ma.array([[1, 2], [3, 4]])
    assert isinstance(matrices.flint_matrix(nothing), fmpz_mat)
    assert Matrix(nothing) == Matrix(list(nothing)) == Matrix([[1, 2], [3, 4]])
    assert rational(np.ma.array(3, mask=False)) == 3


def test_an_object_with_only_a_dtype_is_no_number() -> None:
    class Odd:
        dtype = "int"

    class Boxed:
        def item(self) -> int:
            return 3

    for value in (Odd(), Boxed()):
        with pytest.raises(NotExact):
            rational(value)


def test_integer_arrays_stay_integers() -> None:
    for kind in ("int64", "uint8"):
        assert isinstance(matrices.flint_matrix(np.array([[1, 2]], dtype=kind)), fmpz_mat)
    assert isinstance(matrices.flint_matrix([[1, 2]]), fmpz_mat)
    assert isinstance(matrices.flint_matrix([[1, "2"]]), fmpq_mat)
    assert isinstance(matrices.flint_matrix([[1, True]]), fmpq_mat)
    whole = matrices.flint_matrix(np.array([[1.0]]), floats=True)
    assert isinstance(whole, fmpq_mat)
    with pytest.raises(NotExact):
        matrices.integer_matrix([[0.5]])
    assert matrices.integer_matrix([[0.5, 1]], floats=True) == fmpz_mat([[1, 2]])
    with pytest.raises(ShapeError):
        matrices.flint_matrix(fmpz_mat(0, 2))
    with pytest.raises(ShapeError):
        matrices.flint_matrix(fmpq_mat(2, 0))


def test_indices_of_a_matrix() -> None:
    M = Matrix([[1, 2, 3], [4, 5, 6]])
    assert [M[0, -3], M[-2, 0], M[1, 2]] == [fmpq(1), fmpq(1), fmpq(6)]
    for row, column in ((2, 0), (-3, 0), (0, 3), (0, -4)):
        with pytest.raises(IndexError, match=r"^There is no row or column -?[0-9]: the length is"):
            M[row, column]
    assert M[[0, 1], [2, 0]] == Matrix([[3, 1], [6, 4]])
    assert M[[-1], [-1]] == Matrix([[6]])
    assert [*M[:, 1]] == [2, 5]
    assert [*M[1, 1:]] == [5, 6]
    assert M[1:, :2] == Matrix([[4, 5]])
    with pytest.raises(ShapeError):
        M[0, [1, 2]]  # type: ignore[index]
    assert len(M) == 2
    assert [*M] == [(1, 2, 3), (4, 5, 6)]


def test_a_matrix_is_a_value() -> None:
    M = Matrix([[1, "1/2"]])
    assert pickle.loads(pickle.dumps(M)) == M
    assert copy.deepcopy(M) == M
    assert M.__reduce__() == (Matrix, ([[Fraction(1), Fraction(1, 2)]],))
    with pytest.raises(AttributeError, match=r"^A Matrix is immutable\.$"):
        M.other = 1
    assert M != [[1, "1/2"]]
    assert Matrix.zeros(1, 2) == Matrix([[0, 0]])
    assert Matrix.identity(2) == Matrix([[1, 0], [0, 1]])
    assert M.tolist() == [[Fraction(1), Fraction(1, 2)]]
    assert "<td>1/2</td>" in M._repr_html_().replace(' style="text-align: right"', "")
    row = [[0] * shown.LONGEST]
    assert repr(Matrix(row)) == f"Matrix(1 × {shown.LONGEST})"
    assert repr(Matrix([[1, 2]])) == "Matrix([['1', '2']])"


def test_the_longest_matrix_that_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "LONGEST", len("Matrix([['1', '2']])"))
    assert repr(Matrix([[1, 2]])) == "Matrix([['1', '2']])"
    assert repr(Matrix([[10, 2]])) == "Matrix(1 × 2)"


def test_a_matrix_as_an_array() -> None:
    ends = [[-(2**63), 2**63 - 1]]
    short = np.asarray(Matrix(ends))
    assert (short.dtype, short.tolist()) == (np.dtype("int64"), ends)
    for long in ([[-(2**63) - 1]], [[2**63]], [["1/2"]]):
        exact = np.asarray(Matrix(long))
        assert exact.dtype == object
        assert exact.tolist() == [[Fraction(long[0][0])]]
    small = np.asarray(Matrix([[1]]))
    assert small.dtype == np.dtype("int64")
    assert np.asarray(Matrix([["1/3"]]), dtype=float).tolist() == [[1 / 3]]
    assert np.asarray(Matrix([[3]]), dtype="float32").dtype == np.dtype("float32")
    assert np.asarray(Matrix([[3]]), dtype="int8").dtype == np.dtype("int8")
    assert np.array(Matrix([[3]]), copy=True).tolist() == [[3]]
    odd = 2**53 + 1  # no float64
    assert np.asarray(Matrix([[odd]]), dtype="int64").tolist() == [[odd]]
    assert Matrix([[3]]).__array__(dtype="float32").dtype == np.dtype("float32")
    assert Matrix([[3]]).__array__(dtype="int8").dtype == np.dtype("int8")
    with pytest.raises(ValueError, match=r"^A Matrix has no array that could be shared\.$"):
        Matrix([[3]]).__array__(copy=False)


# -- balls --------------------------------------------------------------------------------------


def test_numbers_beside_a_ball() -> None:
    for value in (Fraction(5, 2), Fraction(-5, 2), Fraction(3), Fraction(-7, 8)):
        ball = arb(fmpq(value.numerator, value.denominator))
        assert balls.floor_below(ball) == value.__floor__()
        assert balls.ceiling_above(ball) == value.__ceil__()
        assert balls.floor_below(ball, 2) == (4 * value).__floor__()
        assert balls.midpoint(ball) == fmpq(value.numerator, value.denominator)
    root = arb(2).sqrt()
    low, high = balls.rational_below(root), balls.rational_above(root)
    assert low**2 < 2 < high**2
    assert high - low == fmpq(1, 2**40)
    with pytest.raises(Undecided, match=r"^The ball has no finite lower end\.$"):
        balls.rational_below(arb("inf"))
    with pytest.raises(Undecided):
        balls.rational_above(arb("nan"))


def test_signs_take_the_bits_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(balls.precisions(1, 27, 3)) == [1, 3, 9, 27]
    assert balls.sign(lambda: arb(-1), "x") == -1
    tiny = fmpq(1, 2**300)
    assert balls.sign(lambda: arb(1) + arb(tiny) - 1, "x") == 1
    monkeypatch.setattr(balls, "precisions", lambda: iter((64, 128)))
    with pytest.raises(Undecided) as refused:
        balls.sign(lambda: arb(0), "The number")
    assert str(refused.value) == "The number is too close to zero for a million bits."
    assert ctx.prec == 53


# -- softmax ------------------------------------------------------------------------------------


def test_softmax_in_both_units() -> None:
    two = softmax([[0, 1, 2]], unit="ln2")
    assert [(7 * two[0, j]).contains(2**j) for j in range(3)] == [True] * 3
    one = softmax([[0, 1]])
    assert one[0, 1].overlaps(1 / (1 + arb(-1).exp()))
    assert not one[0, 1].overlaps(arb(2) / 3)
    assert softmax_threshold([[0, 1]], "2/3", "ln2") == Matrix([[0, 1]])
    assert softmax_threshold([[0, 1]], "2/3") == Matrix([[0, 1]])
    assert softmax_threshold([[0, 1]], "7/10", "ln2") == Matrix([[0, 0]])
    assert softmax_threshold([[0, 1]], "7/10") == Matrix([[0, 1]])
    assert softmax_threshold([[0, 0]], 1) == Matrix([[0, 0]])
    assert softmax_threshold([[5]], 1) == Matrix([[1]])
    for tau in (0, -1, "3/2"):
        with pytest.raises(LemmaxError, match=r"^The threshold must lie in \(0, 1\], not"):
            softmax_threshold([[0]], tau)


def test_sums_of_powers_of_two() -> None:
    half = Fraction(1, 2)
    root = fmpq(14142, 10000)
    assert sign_of_exponential_sum([(1, half)], -root, "ln2") == 1
    assert sign_of_exponential_sum([(1, half)], -root - fmpq(1, 10000), "ln2") == -1
    assert sign_of_exponential_sum([(1, half)], -fmpq(16487, 10000)) == 1
    assert sign_of_exponential_sum([(1, half)], -fmpq(16488, 10000)) == -1
    assert sign_of_exponential_sum([(2, half), (-1, half + 1)], fmpq(0), "ln2") == 0
    assert sign_of_exponential_sum([(2, half), (-1, half + 1)], fmpq(1), "ln2") == 1
    assert sign_of_exponential_sum([(1, Fraction(-2)), (3, Fraction(-2))], fmpq(-1), "ln2") == 0
    assert sign_of_exponential_sum([(1, half), (1, half), (-2, half)], fmpq(0)) == 0


def test_the_rank_of_softmax_tells_its_formula() -> None:
    given = softmax_rank([[0, 1]], "ln2")
    assert given.formula() == (
        r"\operatorname{rank}\operatorname{softmax}"
        r"\left(\ln 2 \cdot \begin{pmatrix} 0 & 1 \end{pmatrix}\right) = 1"
    )
    assert softmax_rank([[0, 1]]).formula() == given.formula().replace(r"\ln 2 \cdot ", "")
    with pytest.raises(NotExact, match=r"^In units of ln 2 the logits must be integers\.$"):
        softmax_rank([["1/2"]], "ln2")
    c = sympy.symbols("c")
    with pytest.raises(LemmaxError, match=r"^A family writes its unit itself"):
        softmax_rank(sympy.Matrix([[c]]), "ln2")
    wide = [[0, -3, 5], [7, 4, 12], [0, 1, 1]]
    assert (
        softmax_rank(wide, "ln2").rank
        == sympy.Matrix([[sympy.Rational(2) ** e for e in row] for row in wide]).rank()
    )


def test_an_unlucky_lower_bound_is_raised() -> None:
    """The rank over Q(z) of (z^(ij)), from any lower bound: 3, for the nodes are different."""
    powers = [[i * j for j in range(3)] for i in range(3)]
    for lower in (0, 1, 2, 3):
        assert _rank_at_large_integer(powers, lower) == 3
    equal = [[0, 1], [1, 2]]
    assert _rank_at_large_integer(equal, 0) == _rank_at_large_integer(equal, 1) == 1


# -- linear algebra -----------------------------------------------------------------------------


def test_primitive_vectors() -> None:
    third = [fmpq(1, 3), fmpq(-1, 2), fmpq(0)]
    assert linear.integers(third) == [2, -3, 0]
    assert linear.integers([fmpq(4), fmpq(6)]) == [2, 3]
    assert all(type(x) is fmpz for x in linear.integers(third))
    assert linear.integers([fmpq(0), fmpq(0)]) == [0, 0]
    assert linear.integers([fmpq(-5)]) == [-1]


def test_real_roots_by_their_factors() -> None:
    x = fmpq_poly([0, 1])
    for roots in product((-2, -1, 0, 1, 3), repeat=3):
        polynomial = fmpq_poly([1])
        for root in roots:
            polynomial *= x - root
        assert linear.real_roots(polynomial) == len(set(roots))
        assert linear.real_roots(-polynomial * (x**2 + 1)) == len(set(roots))


def test_null_spaces_and_independent_rows() -> None:
    rng = Random(1)
    for _ in range(40):
        rows = [[fmpq(rng.randrange(-1, 2)) for _ in range(4)] for _ in range(3)]
        M = fmpq_mat(rows)
        exact = sympy.Matrix([[int(x.p) for x in row] for row in rows])
        assert linear.rank(M) == exact.rank()
        null = linear.null_space(M)
        assert len(null) == 4 - exact.rank()
        for vector in null:
            assert not any(sum(a * b for a, b in zip(row, vector, strict=True)) for row in rows)
        assert len(linear.left_null_space(M)) == 3 - exact.rank()
        chosen = linear.independent(rows)
        best = next(
            s
            for s in combinations(range(3), exact.rank())
            if exact.extract([*s], [0, 1, 2, 3]).rank() == len(s)
        )
        assert tuple(chosen) == best
    assert linear.independent([]) == []


def test_polynomials_of_matrices() -> None:
    M = fmpq_mat([[1, 2], [0, 3]])
    assert linear.evaluate(fmpq_poly([5, -1, 2]), M) == fmpq_mat([[6, 14], [0, 20]])
    assert linear.evaluate(fmpq_poly([7]), M) == fmpq_mat([[7, 0], [0, 7]])


def test_inverses_of_residues() -> None:
    f = fmpq_poly([-2, 0, 1])
    value = fmpq_poly([3, 1])
    assert linear.inverse_modulo(value, f) * value % f == fmpq_poly([1])
    with pytest.raises(ZeroDivisionError, match="the residue is not invertible"):
        linear.inverse_modulo(fmpq_poly([0, 1]), fmpq_poly([0, 0, 1]))
    x = fmpq_poly([0, 1])
    one = fmpq_poly([1])
    rows = [{0: x, 1: one * 2}, {0: one, 1: x}, {1: one}]  # the first is x times the second
    assert linear.left_null_space_modulo(rows, f) == [{0: one, 1: -x}]


def test_powers_and_inverses_of_arrays() -> None:
    p = MERSENNE_31
    values = np.array([1, 2, p - 1, 12345, 678], dtype=np.int64)
    for count in range(1, 6):
        found = residues.inverses(values[:count], p)
        assert found.dtype == np.dtype("int64")
        assert (found * values[:count] % p == 1).all()
    exponents = np.array([0, 1, 2, p - 2, 31], dtype=np.int64)
    told = residues.power(values, exponents, p)
    assert told.tolist() == [pow(int(a), int(e), p) for a, e in zip(values, exponents, strict=True)]
    assert residues.power(values, 5, p).tolist() == [pow(int(a), 5, p) for a in values]


def test_loops_are_given_to_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """With caches where they can be written, without where not, and not at all without numba."""
    asked: list[tuple[Any, Any]] = []

    class Numba:
        refuses = False

        def njit(self, **options: Any) -> Any:
            def take(function: Any) -> Any:
                asked.append((options, function))
                if self.refuses and options.get("cache"):
                    raise RuntimeError("no place")
                return "compiled"

            return take

    def loop() -> None: ...

    numba = Numba()
    done: Any = "compiled"
    monkeypatch.setattr(loops, "numba", numba)
    monkeypatch.setattr(loops, "COMPILED", True)
    plain, kept = {"error_model": "numpy"}, {"cache": True, "error_model": "numpy"}
    assert loops.helper(loop) == loops.compiled(loop) == done
    assert asked == [(plain, loop), (kept, loop)]
    asked.clear()
    numba.refuses = True
    assert loops.compiled(loop) == done
    assert asked == [(kept, loop), (plain, loop)]
    monkeypatch.setattr(loops, "COMPILED", False)
    assert loops.helper(loop) is loops.compiled(loop) is loop


# -- dependent subsets --------------------------------------------------------------------------


def dependent(rows: list[list[int]], subset: tuple[int, ...]) -> bool:
    return bool(fmpz_mat([rows[t] for t in subset]).rank() < len(subset))


def small_rows(seed: int, count: int, width: int) -> list[list[int]]:
    rng = Random(seed)
    values = (-2, -1, 0, 0, 1, 1, 2, 3)
    return [[rng.choice(values) for _ in range(width)] for _ in range(count)]


@pytest.mark.parametrize("count", [3, 4, 5, 6])
@pytest.mark.parametrize("width", [2, 3, 4, 6])
def test_every_dependent_subset_comes_out(count: int, width: int) -> None:
    for seed in range(6):
        rows = small_rows(seed, count, width)
        search = DependentSubsets(fmpz_mat(rows))
        for k in range(1, min(count, width) + 1):  # more vectors are always dependent
            bad = {s for s in combinations(range(count), k) if dependent(rows, s)}
            found = search.of_size(k) if k != 2 or all(map(any, rows)) else None
            if k != 2 or all(map(any, rows)):
                assert (found in bad) if bad else found is None
            if k >= 3:
                told = set(search._candidates(search._projected(k), (), 0, k))
                assert bad <= told
                assert all(len(s) == k and s == tuple(sorted({*s})) for s in told)


def test_four_vectors_in_a_plane_have_four_dependent_triples() -> None:
    plane = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 2, 0], [1, 3, 0]]
    search = DependentSubsets(fmpz_mat(plane))
    told = list(search._candidates(search._projected(3), (), 0, 3))
    assert set(told) == {*combinations(range(5), 3)}


def test_what_vanishes_modulo_the_prime_is_asked_over_the_rationals() -> None:
    p = MERSENNE_31
    free = [[p if i == j == 0 else int(i == j) for j in range(5)] for i in range(5)]
    for rows in (free, [*free[1:], free[0]], [*free[1:3], free[0], *free[3:]]):
        search = DependentSubsets(fmpz_mat(rows))
        assert [search.of_size(k) for k in (3, 4, 5)] == [None] * 3
        more = [*rows, [0, 1, 1, 1, 0]]
        bad = [s for s in combinations(range(6), 4) if dependent(more, s)]
        assert [DependentSubsets(fmpz_mat(more)).of_size(4)] == bad
        told = set(
            (again := DependentSubsets(fmpz_mat(more)))._candidates(again._projected(4), (), 0, 4)
        )
        zero = rows.index(free[0])
        assert {s for s in combinations(range(6), 4) if zero in s} <= told
        assert all(len(s) == 4 and s == tuple(sorted({*s})) for s in told)
    skew = [[1, 0, 0, 0, 0, 0], [1, p, 0, 0, 0, 0]]
    skew += [[int(i == j) for j in range(6)] for i in range(2, 6)]
    deep = DependentSubsets(fmpz_mat(skew))
    told = set(deep._candidates(deep._projected(5), (), 0, 5))
    assert {s for s in combinations(range(6), 5) if s[:2] == (0, 1)} <= told
    assert all(len(s) == 5 and s == tuple(sorted({*s})) for s in told)
    assert deep.of_size(5) is None
    late = [skew[2], *skew[:2], *skew[3:]]
    deep = DependentSubsets(fmpz_mat(late))
    told = set(deep._candidates(deep._projected(5), (), 0, 5))
    assert all(len(s) == 5 and s == tuple(sorted({*s})) for s in told)
    assert deep.of_size(5) is None
    parallel = [[1, 0, 0, 0], [1, p, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert DependentSubsets(fmpz_mat(parallel)).of_size(3) is None
    assert DependentSubsets(fmpz_mat(parallel)).of_size(4) is None


def test_pairs_on_one_ray() -> None:
    rows = [[0, 2, 4], [0, -3, 5], [0, -1, -2], [1, 0, 0]]
    assert DependentSubsets(fmpz_mat(rows)).of_size(2) == (0, 2)
    big = 2**70
    near = [[big, 0], [big - 1, 0], [1, big], [1, big + 1]]
    assert DependentSubsets(fmpz_mat(near)).of_size(2) == (0, 1)
    assert DependentSubsets(fmpz_mat(near[1:])).of_size(2) is None
    assert DependentSubsets(fmpz_mat([[1, 0], [0, 0]])).of_size(1) == (1,)
    assert DependentSubsets(fmpz_mat([[1, 0], [0, 1]])).of_size(1) is None


def test_the_cost_of_a_size() -> None:
    search = DependentSubsets(fmpz_mat(small_rows(0, 9, 7)))
    assert [search.cost(k) for k in (1, 2)] == [81 * 3, 81 * 4]
    assert search.cost(3) == 5 * 9 + 12 * comb(9, 2)
    assert search.cost(4) == 9 * 6 * 9 + 12 * comb(9, 3)
    assert search.cost(5) == comb(9, 2) * 7 * 9 + 12 * comb(9, 4)
    assert search.cost(6) == comb(9, 3) * 7 * 9 + 12 * comb(9, 5)
    assert search._projected(3).shape == (9, 4)
    assert search._projected(5).shape == (9, 6)
    assert search._projected(6) is search.residues


def test_a_budget_ends_a_search_and_bounds_stay_true() -> None:
    rows = fmpz_mat([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [2, 3, 5]])
    search = DependentSubsets(rows)
    costs = [search.cost(k) for k in (1, 2, 3)]
    assert by_search(rows, 3, sum(costs)) == (2, 2, (0, 1, 3))
    assert by_search(rows, 3, costs[0] - 1)[0] == 0
    assert by_search(rows, 3, costs[0])[0] == 1
    assert by_search(rows, 3, sum(costs[:2]) - 1)[0] == 1
    assert by_search(rows, 3, sum(costs[:2])) == (2, 2, (0, 1, 3))
    assert _short_dependency(rows, 3) == (0, 1, 3)
    assert by_search(fmpz_mat([[1, 0], [0, 1]]), 2, 10**6) == (2, 2, ())


def test_kruskal_ranks_by_every_way() -> None:
    """By the definition, for vectors with one to three dependencies and more."""
    for seed in range(30):
        rows = small_rows(seed, 5, 2 + seed % 3)
        T = len(rows)
        sizes = [
            k
            for k in range(1, T + 1)
            if not any(dependent(rows, s) for s in combinations(range(T), k))
        ]
        exact = max(sizes, default=0)
        found = kruskal_rank(rows)
        assert found.rank == exact
        if found.dependent:
            assert len(found.dependent) == exact + 1
            assert dependent(rows, found.dependent)
        r = fmpz_mat(rows).rank()
        if 1 <= T - r <= 3:
            lower, upper, subset = gale_duality.by_gale_duality(fmpz_mat(rows), r)
            assert (lower, upper) == (exact, exact)
            assert not subset or dependent(rows, subset)


def test_the_largest_plane_is_by_numbers_not_by_order() -> None:
    dual = [[1, 1, 1, 0, 9, 9], [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 5]]
    count, others = gale_duality.largest_hyperplane(dual, 101)
    assert (count, others) == (5, (5,))
    spread = [[5, 1, 1, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    assert gale_duality.largest_hyperplane(spread, 101) == (5, ())
    lone = [[9, 1, 2], [0, 0, 0], [0, 0, 0]]
    assert gale_duality._largest_plane({(1, 9, 0): [3], (1, 0, 0): [0, 1]}, 101) == [3, 0, 1]
    assert gale_duality._largest_plane({(9, 1, 0): [3]}, 101) == [3]
    assert gale_duality.largest_hyperplane(lone, 101) == (3, ())
    with pytest.raises(ValueError, match="shorter"):
        gale_duality.largest_hyperplane([[1, 2], [1]], 101)
    assert gale_duality.dependencies_modulo(fmpz_mat([[1], [2], [3]]), 7) == [[5, 1, 0], [4, 0, 1]]


def test_a_dependency_modulo_the_prime_alone_shows_no_dependent_subset() -> None:
    """By the dependency (1, 1, 0) the first two rows are dependent modulo the prime."""
    for second, subset in (([0, 1], None), ([2, 0], (0, 1))):
        rows = fmpz_mat([[1, 0], second, [0, 0]])
        assert gale_duality._subset_over_rationals(rows, [[1, 1, 0]], 7, 1) == subset


def test_independent_vectors_have_no_dependent_subset() -> None:
    assert kruskal_rank([[1, 0], [0, 1]]).dependent == ()


def test_words_about_kruskal_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    found = kruskal_rank([[1, 0], [0, 1], [2, 0]])
    assert found.formula() == r"\operatorname{krank} = 1"
    assert repr(found).startswith("KruskalRank(")
    monkeypatch.setattr(shown, "LONGEST", 10)
    assert repr(found) == "KruskalRank(rank 1)"
    open_rank = type(found)(found.vectors, 1, 2, "search", ())
    assert open_rank.formula() == r"1 \le \operatorname{krank} \le 2"
    with pytest.raises(LemmaxError, match="Kruskal rank"):
        open_rank.certificate()


def test_near_dependence_counts_its_subsets() -> None:
    rows = Matrix([[3, 0], [0, 5], [7, 7]])
    whole = near_dependence(rows, 2, 3)
    assert (whole.complete, whole.subset) == (True, (0, 2))
    assert whole.distance == pytest.approx(np.sqrt(1 - np.sqrt(0.5)))
    assert not near_dependence(rows, 2, 2).complete
    assert near_dependence(Matrix([[0, 0], [1, 0]]), 1, 9).distance == 0
    assert near_dependence(rows, 3, 9).distance == 0
    small = Matrix([["1/1000", 0], [0, "1/1000"]])
    assert near_dependence(small, 2, 9).distance == pytest.approx(1)
    many = Matrix([[1, k] for k in range(60)])
    exact = near_dependence(many, 2, 10**6)
    assert (exact.subset, exact.complete) == ((58, 59), True)
    for size, most in ((0, 9), (4, 9), (2, 0)):
        with pytest.raises(LemmaxError, match=r"^A subset has from 1 to 3 of the vectors"):
            near_dependence(rows, size, most)


# -- families -----------------------------------------------------------------------------------


def test_elimination_names_the_minor_that_it_shows() -> None:
    ring = fmpz_mpoly_ctx.get(["t"])
    (t,) = ring.gens()
    one, zero = t**0, t * 0
    matrix = [[zero, zero, zero], [zero, t, one], [zero, t**2, t]]
    found = elimination.eliminate(matrix)
    assert (found.rank, found.rows, found.columns) == (1, (1,), (1,))
    assert found.minor == t
    block = [[zero, t, zero], [zero, zero, zero], [zero, one, t + 1]]
    second = elimination.eliminate(block)
    assert (second.rank, second.rows, second.columns) == (2, (0, 2), (1, 2))
    assert second.minor in (t * (t + 1), -t * (t + 1))
    nothing = elimination.eliminate([[zero]])
    assert (nothing.rank, nothing.rows, nothing.columns, nothing.minor) == (0, (), (), one)


def test_elimination_gives_up_on_all_terms_together(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = fmpz_mpoly_ctx.get(["t"])
    (t,) = ring.gens()
    matrix = [[t**0, t, t], [t, t**0, t], [t, t, t**0]]  # four entries of two terms are left
    monkeypatch.setattr(elimination, "LARGEST", 8)
    assert elimination.eliminate(matrix).rank == 3
    monkeypatch.setattr(elimination, "LARGEST", 7)
    with pytest.raises(LemmaxError, match=r"^The minors of this family have more than 7 terms\.$"):
        elimination.eliminate(matrix)


def test_factors_with_long_coefficients() -> None:
    """python-flint sorts integer factors by coefficients as words of the machine."""
    t, z = fmpz_mpoly_ctx.get(["t", "z"]).gens()
    for size in (2**31, 2**40, 2**64, 10**200):
        first, second = t - 1, 2 * t - size * z - 1
        product = first * (t + size) * second**2 * 6
        assert elimination.prime_factors(product) == [second, t + size, first]
        unit, factors = elimination.factored(-product)
        assert unit == -6
        assert sorted((k, str(f)) for f, k in factors) == sorted(
            [(1, str(first)), (1, str(t + size)), (2, str(second))]
        )
    assert elimination.factored(t * 0 - 7) == (-7, [])
    assert elimination.prime_factors(t * 0 + 7) == []


def test_families_with_long_entries() -> None:
    c, size = sympy.symbols("c"), 10**40
    family = sympy.Matrix([[(c - 1) * (c + size), 0], [0, 2]])
    found = family_rank(family)
    assert [each.to_sympy() for each in found.exceptions] == [-size, 1]
    assert generic_rank(family).minor == sympy.Mul(2, c - 1, c + size)
    softened = softmax_family_rank(sympy.Matrix([[c, sympy.log(size)], [c, sympy.log(size + 1)]]))
    assert (softened.rank, softened.exceptions) == (2, ())


def test_values_at_which_a_polynomial_vanishes() -> None:
    t, z = fmpz_mpoly_ctx.get(["t", "z"]).gens()
    (nothing,) = parameters.zeros(t, 0, 3)
    assert (nothing.place, nothing.logarithm, nothing.denominator) == (0, 0, 3)
    assert nothing.root == 0
    assert nothing.to_sympy() == 0
    assert list(parameters.zeros(t, 1, 1)) == []
    assert list(parameters.zeros(z, 0, 1)) == []
    assert list(parameters.zeros(t + 1, 1, 1)) == []
    assert [v.place for v in parameters.zeros(t**2 - 2, 2, 1)] == [1]
    cubic = t**3 - 3 * t + 1
    roots = [*parameters.zeros(cubic, 0, 1)]
    middles = [float(v.root.mid()) for v in roots]
    assert middles == sorted(middles)
    assert middles == pytest.approx([-1.8793852, 0.3472964, 1.5320889])
    assert [v.place for v in roots] == [0, 1, 2]
    (mixed,) = parameters.zeros(2 * t - z, 0, 2)
    assert float(mixed.root.mid()) == pytest.approx(np.exp(0.5) / 2)
    assert mixed.to_sympy() == sympy.exp(sympy.Rational(1, 2)) / 2
    two = [*parameters.zeros(t**2 - z, 0, 1)]
    assert [float(v.root.mid()) for v in two] == pytest.approx([-np.exp(0.5), np.exp(0.5)])
    assert [*parameters.zeros(t**2 + z, 0, 1)] == []
    five = [*parameters.zeros(t**2 - z * t - 1, 0, 1)]
    e = np.exp(1)
    assert [float(v.root.mid()) for v in five] == pytest.approx(
        [(e - np.sqrt(e * e + 4)) / 2, (e + np.sqrt(e * e + 4)) / 2]
    )


def test_a_value_without_a_name_is_a_set() -> None:
    t, z = fmpz_mpoly_ctx.get(["t", "z"]).gens()
    (value,) = parameters.zeros(t**2 - z * t - 1, 2, 3)
    told = value.to_sympy()
    c = told.sym
    assert isinstance(told, sympy.ConditionSet)
    power, z3 = sympy.exp(c / 2), sympy.exp(sympy.Rational(1, 3))
    assert sympy.expand(told.condition.lhs - (power**2 - z3 * power - 1)) == 0
    assert told.condition.rhs == 0
    exact = 2 * np.log((np.exp(1 / 3) + np.sqrt(np.exp(2 / 3) + 4)) / 2)
    assert float(told.base_set.start) <= exact <= float(told.base_set.end)
    assert float(told.base_set.end - told.base_set.start) < 1e-11


def test_families_as_functions_of_their_parameter() -> None:
    c = sympy.symbols("c")
    family = family_rank(sympy.Matrix([[c, 1], [1, c]]))
    assert family.to_sympy() == sympy.Piecewise(
        (1, sympy.Eq(c, -1)), (1, sympy.Eq(c, 1)), (2, True)
    )
    matrix = r"\left[\begin{matrix}c & 1\\1 & c\end{matrix}\right]"
    assert family.formula() == (
        rf"\operatorname{{rank}} {matrix} = \begin{{cases}} 1 & c = -1 \\ 1 & c = 1 \\ "
        r"2 & \text{for all other } c \in \mathbb{R} \end{cases}"
    )
    always = family_rank(sympy.Matrix([[c**2 + 1]]))
    assert always.formula().endswith(r"= 1 \quad \text{for all } c \in \mathbb{R}")
    e = softmax_family_rank(sympy.Matrix([[0, c, 2 * c], [0, 1, c], [0, 0, 1]]))
    for exception in e.exceptions:
        if not exception.named:
            told = e.to_sympy()
            assert any(isinstance(where, sympy.Contains) for _, where in told.args[:-1])
            first = next(w for _, w in told.args if isinstance(w, sympy.Contains))
            assert first.args[0] == c
            assert isinstance(first.args[1], sympy.Set)


def test_generic_ranks_tell_their_minor() -> None:
    a, b = sympy.symbols("a b")
    found = generic_rank(sympy.Matrix([[a, b]]))
    matrix = r"\left[\begin{matrix}a & b\end{matrix}\right]"
    assert found.formula() == rf"\operatorname{{rank}} {matrix} = 1, \quad a \ne 0"
    constant = generic_rank(sympy.Matrix([[1, 0], [a, 1]]))
    square = r"\left[\begin{matrix}1 & 0\\a & 1\end{matrix}\right]"
    assert constant.formula() == rf"\operatorname{{rank}} {square} = 2"
    assert constant.to_sympy() == 2
    assert found.certificate()["matrix"] == [["2", "5"]]
    assert generic_rank(sympy.Matrix([[a**2 * b]])).minor == a**2 * b
    soft = softmax_family_rank(sympy.Matrix([[a, 0]]))
    matrix = r"\left[\begin{matrix}a & 0\end{matrix}\right]"
    assert soft.formula() == (
        rf"\operatorname{{rank}}\operatorname{{softmax}} {matrix} = 1 "
        r"\quad \text{for all } a \in \mathbb{R}"
    )


def test_exponentials_as_monomials() -> None:
    c = sympy.symbols("c")
    third, half = sympy.Rational(1, 3), sympy.Rational(1, 2)
    family = sympy.Matrix([[c / 2, third + half + sympy.log(3) - sympy.log(2)], [-c, -1]])
    rows, q, p = monomial_rows(family, c)
    t, z = rows[0][0].context().gens()
    assert (q, p) == (2, 6)
    assert rows[0] == [2 * t, 3 * z**5]
    assert rows[1] == [z**6, t**2]
    assert rows[0][0].context().names() == ("t", "z")


def test_roots_that_cannot_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    t, _ = fmpz_mpoly_ctx.get(["t", "z"]).gens()
    monkeypatch.setattr(parameters, "_isolated", lambda polynomial, denominator: None)
    with pytest.raises(Undecided, match=r"^Two roots cannot be told apart\.$"):
        list(parameters.zeros(t**2 - 2, 0, 1))


def test_primes_that_divide_a_minor_do_not_decide_alone() -> None:
    p, q = islice(primes(), 2)
    assert _rank_by_primes(fmpz_mat([[p, 0], [0, 0]]), 0) == 1
    assert _rank_by_primes(fmpz_mat([[1, 0, 0], [0, p * q, 0], [0, 0, 0]]), 0) == 2
    assert _rank_by_primes(fmpz_mat([[p, 0], [0, q]]), 0) == 2
    assert _rank_by_primes(fmpz_mat([[0, 0], [0, 0]]), 0) == 0
