"""Bounds from matrices of rank one in the span of the slices, and substitution along kills."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lemmax.checker import NotACertificate, check
from lemmax.theory import tensor_rank
from lemmax.theory.numbers import modular
from lemmax.theory.numbers.primes import MERSENNE_31
from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.above.spans import span_of_rank_ones
from lemmax.theory.tensors.arrays import Array, flattening_rank
from lemmax.theory.tensors.below import killing
from lemmax.theory.tensors.below.chains import WRITTEN_PRIME
from lemmax.theory.tensors.below.contractions import contraction_bound
from lemmax.theory.tensors.below.flattenings import flattening_bound
from lemmax.theory.tensors.below.squares import square_bound
from lemmax.theory.tensors.examples import of_table
from lemmax.theory.tensors.ranks import TensorRank
from lemmax.theory.tensors.reductions import concise
from lemmax.theory.tensors.small_vectors import small_vectors


def random_table(rng: random.Random, keys: int, queries: int, values: int) -> Array:
    rows = ["".join(rng.choice("abcdefgh"[:values]) for _ in range(queries)) for _ in range(keys)]
    return concise(of_table(rows)).array


def holds(array: Array, steps: Any, value: int) -> bool:
    """Whether the checker accepts the steps as a proof of the bound."""
    terms = slice_sum(array, 2)
    certificate = dict(TensorRank(array, "Q", flattening_bound(array, 0), terms).certificate())
    while certificate["upper"] < value:
        certificate["upper"] += 1
        certificate["terms"].append([["0"] * n for n in array.shape])
    return check({**certificate, "proof": list(steps), "lower": value}).holds


@pytest.mark.parametrize(
    ("rows", "rank"),
    [
        # five independent keys of a saturated space of dimension six, and one more of them
        (["aaa", "aab", "aba", "baa", "bcb", "ccb"], 6),
        (["abc", "bca", "cab", "aac", "bbc", "acc", "abb"], 7),
    ],
)
def test_slices_spanned_by_matrices_of_rank_one(rows: list[str], rank: int) -> None:
    result = tensor_rank(of_table(rows), "Q")
    assert result.rank == rank
    assert check(result.certificate()).holds


def test_every_decomposition_from_a_span_adds_up() -> None:
    rng = random.Random(5)
    shorter = 0
    for _ in range(40):
        T = random_table(rng, rng.randint(3, 12), rng.randint(3, 4), rng.randint(3, 4))
        for mode in range(3):
            size = T.shape[mode]
            terms = span_of_rank_ones(T, mode, size + 2)
            if terms is not None:
                assert terms.adds_up_to(T)
                assert size <= len(terms) <= size + 2
                shorter += len(terms) == size
    assert shorter >= 5


def test_a_span_never_beats_a_proved_bound() -> None:
    """The cycle of length three has rank 4 over Q, though its three slices split over C."""
    cycle = of_table(["ab", "bc", "ca"])
    assert all(span_of_rank_ones(cycle, mode, 3) is None for mode in range(3))


def test_small_vectors_are_all_of_them_up_to_sign() -> None:
    for size in range(1, 5):
        signs = (3**size - 1) // 2
        vectors = small_vectors(size, 4 * signs)
        assert len(set(vectors)) == len(vectors) == (4 * signs if size > 1 else 1)
        assert all(max(map(abs, v)) == 1 for v in vectors[:signs])
        assert all(max(map(abs, v)) > 1 == math.gcd(*v) for v in vectors[signs:])
        assert not {tuple(-x for x in v) for v in vectors} & set(vectors)


def test_contraction_bound_is_what_the_checker_recomputes() -> None:
    rng = random.Random(6)
    proved = rejected = 0
    for _ in range(60):
        T = random_table(rng, rng.randint(4, 9), rng.randint(3, 4), rng.randint(3, 4))
        bound = contraction_bound(T)
        if bound is None:
            continue
        proved += 1
        assert bound.value == max(T.shape) + 1
        assert holds(T, bound.steps, bound.value)
        for field, value in (
            ("functional", ["0"] * len(bound.steps[0]["functional"])),
            ("basis", [["0"] * len(bound.steps[0]["basis"][0])]),
            ("basis", bound.steps[0]["basis"] * 2),
            ("basis", [[str(int(x) + n) for n, x in enumerate(bound.steps[0]["basis"][0])]]),
        ):
            assert not holds(T, [{**bound.steps[0], field: value}], bound.value), field
            rejected += 1
        assert not holds(T, bound.steps, bound.value + 1)
    assert proved >= 10
    assert rejected >= 40


def test_square_bound_is_what_the_checker_recomputes() -> None:
    rng = random.Random(7)
    proved = rejected = 0
    for _ in range(60):
        T = random_table(rng, rng.randint(4, 7), rng.randint(3, 4), rng.randint(4, 7))
        bound = square_bound(T)
        if bound is None:
            continue
        proved += 1
        (step,) = bound.steps
        assert bound.value == max(T.shape) + 1
        assert holds(T, [step], bound.value)
        form, minors, weights = step["form"], step["minors"], step["weights"]
        u, v, w, x = minors[0]
        for field, value in (
            ("form", ["0"] * len(form)),
            ("form", [str(2 * int(y)) for y in form]),
            ("weights", [weights[0] + "1", *weights[1:]]),
            ("weights", ["0"] * len(weights)),
            ("minors", [[v, u, w, x], *minors[1:]]),
            ("minors", [[u, u, w, x], *minors[1:]]),
        ):
            assert not holds(T, [{**step, field: value}], bound.value), field
            rejected += 1
        assert not holds(T, [step], bound.value + 1)
    assert proved >= 10
    assert rejected >= 60


@pytest.mark.parametrize("factor", [MERSENNE_31, 2**31 + 7, 2**40])
def test_large_entries_end_the_search_for_squares(factor: int) -> None:
    """Slices that are dependent mod the steering prime, and minors beyond 63 bits."""
    W = np.zeros((4, 4, 4), dtype=np.int64)
    W[0, 0, 1] = W[0, 1, 0] = W[1, 0, 0] = 1
    W[2, 2, 3] = W[2, 3, 2] = W[3, 2, 2] = factor
    W[3, 3, 3] = -factor
    bound = square_bound(W)
    assert bound is None or (bound.value == 5 and holds(W, bound.steps, 5))
    T = np.zeros((2, 2, 2), dtype=np.int64)
    T[0, 0, 0], T[1, 1, 1] = 1, factor
    assert square_bound(T) is None
    assert tensor_rank(T, "Q").rank == 2


def test_numbers_that_take_too_long_are_refused() -> None:
    T = np.eye(40, dtype=int).reshape(40, 5, 8)
    step = {
        "lemma": "square",
        "mode": 0,
        "form": ["1"] * 40,
        "minors": [[0, 1, 0, 1]],
        "weights": ["1"],
        "prime": WRITTEN_PRIME,
    }
    assert not holds(T, [step], 41)
    with pytest.raises(NotACertificate, match="units"):
        holds(T, [{**step, "form": ["0x1p1000000"] * 40}], 41)
    for weight in ("0x1p-1000000", "0x1p1000000"):  # long, but multiplied with short numbers only
        assert not holds(T, [{**step, "weights": [weight]}], 41)


def test_maps_that_would_fill_the_memory_are_refused() -> None:
    T = np.ones((1, 48, 48), dtype=int)
    maps: list[list[list[str]]] = [[["0x1p1000000"]], [], []]
    steps = [
        {"lemma": "restriction", "maps": maps},
        {"lemma": "flattening", "mode": 0, "prime": WRITTEN_PRIME},
    ]
    with pytest.raises(NotACertificate, match="memory"):
        holds(T, steps, 1)


def test_zero_is_no_form_whose_square_counts() -> None:
    """A diagonal of rank 2: the empty sum of minors is the square of zero, and proves nothing."""
    T = np.zeros((2, 2, 2), dtype=int)
    T[0, 0, 0] = T[1, 1, 1] = 1
    step = {
        "lemma": "square",
        "mode": 0,
        "form": ["0", "0"],
        "minors": [[0, 1, 0, 1]],
        "weights": ["0"],
        "prime": WRITTEN_PRIME,
    }
    assert square_bound(T) is None
    assert not holds(T, [step], 3)


@given(
    shape=st.tuples(*[st.integers(2, 4)] * 3),
    r=st.integers(1, 5),
    entries=st.lists(st.integers(-2, 2), min_size=60, max_size=60),
)
def test_no_bound_exceeds_a_planted_decomposition(
    shape: tuple[int, int, int], r: int, entries: list[int]
) -> None:
    numbers = iter(entries)
    factors = [np.array([[next(numbers) for _ in range(n)] for _ in range(r)]) for n in shape]
    T = np.einsum("ri,rj,rk->ijk", *factors)
    if T.any():
        core = concise(T).array
        bound = contraction_bound(core)
        assert bound is None or bound.value <= r
        square = square_bound(core)
        assert square is None or square.value <= r
        chain = killing.killing_bound(core, r + 1, max(core.shape), lambda *_: None)
        assert chain is None or chain.value <= r


def test_images_that_vanish_mod_the_steering_prime_prove_nothing() -> None:
    """Two terms, so rank 2: both contractions by all ones are multiples of the prime."""
    T = np.zeros((2, 2, 2), dtype=np.int64)
    T[0, 0], T[1, 1] = (1, MERSENNE_31 - 1), (2, MERSENNE_31 - 2)
    bound = contraction_bound(T)
    assert bound is None or bound.value <= 2


def test_values_that_are_no_longer_told_apart_raise_the_bound() -> None:
    """Dropping slices proves 7; killing differences of values first proves the rank, 8."""
    T = of_table(["ab...", "ac...", "..bdb", "..cac", "..bab", "..cdb"])
    assert max(flattening_rank(T, mode) for mode in range(3)) == 6
    chain = killing.killing_bound(T, 8, 7, lambda *_: None)
    assert chain is not None
    assert chain.value == 8
    assert holds(T, chain.steps, 8)
    assert not holds(T, chain.steps, 9)
    broken = copy.deepcopy(list(chain.steps))
    rows = next(rows for rows in broken[0]["maps"] if rows)
    rows[:] = [["0"] * len(row) for row in rows]
    assert not holds(T, broken, 8)


@pytest.mark.parametrize(
    ("rows", "pairs", "bound"),
    [
        (["dba", "adb", "aab", "bab"], None, 5),
        (["aadd", "adbd", "dabb", "bdcb"], 5, 6),
        (["bbd", "dbb", "eea", "acc", "eec", "cec"], 7, 8),
    ],
)
def test_killing_sums_of_three_slices_proves_more(
    rows: list[str], pairs: int | None, bound: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    T = of_table(rows)
    chain = killing.killing_bound(T, 99, max(T.shape), lambda *_: None)
    assert chain is not None
    assert chain.value == bound
    assert holds(T, chain.steps, bound)
    assert not holds(T, chain.steps, bound + 1)
    few = {n: [v for v in killing._vectors(n) if sum(map(abs, v)) <= 2] for n in range(2, 7)}
    monkeypatch.setattr(killing, "_vectors", few.__getitem__)
    fewer = killing.killing_bound(T, 99, max(T.shape), lambda *_: None)
    assert (fewer and fewer.value) == pairs


def test_compiled_and_plain_elimination_agree() -> None:
    rng = np.random.default_rng(0)
    stack = rng.integers(0, 3, (40, 6, 5))
    plain = getattr(modular.reduce, "py_func", modular.reduce)
    by_hand = [len(plain(modular.residues(matrix))) for matrix in stack]
    assert modular.ranks(stack).tolist() == by_hand
    for matrix in stack:
        null_space = modular.null_space(matrix)
        assert len(null_space) == 5 - modular.rank(matrix)
        assert not (modular.multiply(modular.residues(matrix), null_space.T) % MERSENNE_31).any()
