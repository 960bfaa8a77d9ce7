"""The families of codes: every pair of codes told apart, in every order of summation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.by_codes import split_square
from lemmax.constructions.compiler.coded.codes import Code, cheapest_code, families
from lemmax.pytest_plugin.properties import Sample
from lemmax.theory.errors import LemmaxError
from lemmax.theory.formats import FORMATS

Floats = NDArray[np.float32]


def stored(x: Floats, name: str) -> Floats:
    """float32 numbers rounded to a format, ties to even."""
    if name == "float32":
        return x
    if name == "float16":
        with np.errstate(over="ignore"):
            return x.astype(np.float16).astype(np.float32)
    words = x.view(np.uint32)
    odd = (words >> 16) & 1
    return ((words + 0x7FFF + odd) & 0xFFFF0000).view(np.float32)


def accumulated(terms: list[Floats], name: str) -> Floats:
    total = terms[0]
    for term in terms[1:]:
        total = stored(total + term, name)
    return total


def missed(
    code: Code, arithmetic: Arithmetic, winners: NDArray[np.int64], losers: NDArray[np.int64]
) -> int:
    """Pairs of codes that some order of summation does not tell apart, strictly, as it should.

    A code is a row of its mantissas and its exponent.
    """
    m, p = code.coordinates, arithmetic.weights.significand

    def parts(rows: NDArray[np.int64]) -> tuple[list[Floats], list[Floats]]:
        points, e = rows[:, :m], rows[:, m]
        hi, lo = split_square((points**2).sum(axis=1), p, code.scale)
        intercepts = [-np.ldexp(x.astype(np.float32), 2 * e) for x in (hi, lo)]
        codes = [np.ldexp(points[:, j].astype(np.float32), e) for j in range(m)]
        return codes, intercepts[: code.intercepts]

    x, own = parts(winners)
    c, theirs = parts(losers)
    total = 0
    name = arithmetic.accumulate.name
    for at in range(len(winners)):
        best = np.inf
        mine = [2 * x[j][at : at + 1] * x[j][at : at + 1] for j in range(m)]
        mine += [i[at : at + 1] for i in own]
        for order in permutations(range(len(mine))):
            best = min(
                best, stored(accumulated([mine[i] for i in order], name), arithmetic.logits.name)[0]
            )
        other = (losers != winners[at]).any(axis=1)
        terms = [(2 * c[j] * x[j][at])[other] for j in range(m)] + [i[other] for i in theirs]
        for order in permutations(range(len(terms))):
            logits = stored(accumulated([terms[i] for i in order], name), arithmetic.logits.name)
            total += int((~(logits < best)).sum())
    return total


def rows(code: Code, exponents: range | list[int]) -> NDArray[np.int64]:
    """All codes with these exponents."""
    octave = code._octave()
    return np.concatenate([np.column_stack([octave, np.full(len(octave), e)]) for e in exponents])


def family(name: str, dtype: str, logits: str | None = None, m: int = 1) -> tuple[Code, Arithmetic]:
    arithmetic = Arithmetic.named(dtype, logits=logits)
    return next(c for c in families(m, 10**6, arithmetic) if c.family == name), arithmetic


def test_stored_rounds_as_the_formats_do() -> None:
    words = np.random.default_rng(0).integers(0, 2**32, 3000, dtype=np.uint32)
    floats = words.view(np.float32)
    floats = floats[np.isfinite(floats) & (np.abs(floats) < 6e4)]
    for name in ("bfloat16", "float16"):
        exact = [float(FORMATS[name].round(Fraction(float(x)))) for x in floats]
        assert (stored(floats, name) == exact).all()


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_formats_hold_what_their_bits_spell(name: str) -> None:
    """All 65,536 bit patterns: numpy reads float16, and bfloat16 is the upper half of float32."""
    words = np.arange(2**16, dtype=np.uint32)
    halves = words.astype(np.uint16).view(np.float16).astype(np.float32)
    numbers = halves if name == "float16" else (words << 16).view(np.float32)
    finite = np.unique(numbers[np.isfinite(numbers)].astype(np.float64))
    form = FORMATS[name]
    assert len(finite) == form.finite_values
    positive = finite[finite > 0].tolist()
    exact = [Fraction(x) for x in positive[::7]]
    assert all(form.holds(x) for x in exact)
    assert not any(form.holds(x + form.spacing(x) / 2) for x in exact)
    assert Fraction(positive[-1]) == form.largest
    below = [form.below(Fraction(x)) for x in positive[1:2000]]
    assert below == [Fraction(x) for x in positive[:1999]]


@pytest.mark.claim(
    "lemmax/counting-bound",
    grade="universal",
    scope="all maps from two weights of at most 2 values to tables of at most 2 facts",
    statement="c42ec82abf63897d",
)
def test_counting_bound_for_all_small_maps(exhaust: Callable[..., int]) -> None:
    """Every architecture, as a map from choices of weights to tables."""
    maps = (
        (F, P, V, n, answers)
        for F, P, V, n in product((1, 2), (0, 1, 2), (1, 2, 3), (1, 2))
        if (V**n) ** F**P <= 10_000
        for answers in product(range(V**n), repeat=F**P)
    )

    def bounded(F: int, P: int, V: int, n: int, answers: tuple[int, ...]) -> bool:
        return bool(len(set(answers)) < V**n or V**n <= F**P)

    # more answers than there are weights: the control is no such map
    exhaust(maps, bounded, control=(1, 0, 2, 1, (0, 1)))


def test_the_capacities() -> None:
    counts = {
        (dtype, logits, m): {
            c.family: c.capacity for c in families(m, 2**20, Arithmetic.named(dtype, logits=logits))
        }
        for dtype, logits, m in [
            ("bfloat16", "float32", 1),
            ("bfloat16", None, 1),
            ("bfloat16", None, 2),
            ("bfloat16", "float32", 2),
            ("float16", "float32", 1),
            ("float16", None, 1),
            ("float32", None, 1),
            ("bfloat16", None, 3),
        ]
    }
    assert counts["bfloat16", "float32", 1]["octaves"] == 30_464
    assert counts["bfloat16", None, 1]["one-rounding"] == 2_016
    assert counts["bfloat16", None, 2]["lattice"] == 68_388
    assert counts["bfloat16", None, 3]["lattice"] == 1_758_900
    assert counts["bfloat16", "float32", 2]["integers"] == 513**2
    assert counts["float16", "float32", 1]["octaves"] == 30_720
    assert counts["float16", None, 1]["one-rounding"] == 572
    assert counts["float32", None, 1]["one-rounding"] == 516_096


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("accumulate", ["float32", "dtype"])
def test_one_rounding_tells_all_codes_from_all(dtype: str, accumulate: str) -> None:
    code, arithmetic = family("one-rounding", dtype)
    if accumulate == "dtype":
        arithmetic = Arithmetic(*[arithmetic.weights] * 4)
    everything = rows(code, range(code.exponents[0], code.exponents[1] + 1))
    assert len(everything) == code.capacity
    assert missed(code, arithmetic, everything, everything) == 0


@pytest.mark.claim(
    "lemmax/float-codes",
    grade="property",
    scope="bfloat16 octaves: the middle and both ends of the exponents against all codes",
    statement="3d7db95a8296731b",
)
def test_octaves_in_bfloat16_by_mantissas_and_octaves_apart(sample: Sample) -> None:
    """Scaling by 2 changes no bit, so the middle and the two ends against all 30,464 codes."""
    code, arithmetic = family("octaves", "bfloat16", "float32")
    low, high = code.exponents

    twice = np.array([[128, 1], [256, 0]])  # one number, written in two ways

    def told_apart(some: NDArray[np.int64], all_codes: NDArray[np.int64]) -> bool:
        return missed(code, arithmetic, some, all_codes) == 0

    for e in (low, 0, high):
        every = rows(code, range(low, high + 1))
        assert len(every) == code.capacity
        sample(told_apart, rows(code, [e]), every, control=(twice, twice))


def test_octaves_in_float16() -> None:
    code, arithmetic = family("octaves", "float16", "float32")
    low, high = code.exponents
    some = rows(code, [low, -5, high])[::37]
    assert missed(code, arithmetic, some, rows(code, range(low, high + 1))) == 0


def test_float32_codes_at_the_ends_and_in_the_middle() -> None:
    code, arithmetic = family("one-rounding", "float32")
    low, high = code.exponents
    for e in (low, 0, high):
        near = [f for f in range(e - 2, e + 3) if low <= f <= high]
        assert missed(code, arithmetic, rows(code, [e])[::97], rows(code, near)) == 0


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_lattice_tells_the_points_of_an_octave_from_those_around_it(dtype: str) -> None:
    code, arithmetic = family("lattice", dtype, m=2)
    low, high = code.exponents
    step = 1 if dtype == "bfloat16" else 19
    for e in (low, 0, high):
        near = [f for f in range(e - 2, e + 3) if low <= f <= high] + [low, high]
        assert missed(code, arithmetic, rows(code, [e])[::step], rows(code, near)) == 0


@pytest.mark.parametrize(("p", "least"), [(8, 76), (11, 545)])
def test_shells_keep_their_distance(p: int, least: int) -> None:
    """(√N - r)² > t + 3/200 for all N of the shell, r = 2^(p/2-1), N - t the logit below N."""
    logits = replace(FORMATS["float32"], significand=p)

    def clear(n: int) -> bool:
        t = n - logits.below(Fraction(n)) + Fraction(3, 200)
        rest = n - Fraction(2) ** (p - 2) - t
        return rest > 0 and rest**2 > Fraction(2) ** p * t

    assert all(clear(n) for n in range(least, 2**p + 1))
    assert not clear(least - 1)
    low = next(
        c
        for c in families(2, 9, Arithmetic.named("bfloat16" if p == 8 else "float16"))
        if c.family == "lattice"
    ).mantissas
    assert low == (least, 2**p)


@pytest.mark.parametrize(
    ("change", "named", "least"),
    [
        ({"mantissas": (65, 256)}, ("lattice", "bfloat16", None, 2), 1),
        ({"mantissas": (23, 45)}, ("one-rounding", "float16", None, 1), 1),
        ({"mantissas": (16, 31)}, ("one-rounding", "bfloat16", None, 1), 100),
    ],
)
def test_wider_codes_are_missed(
    change: dict[str, tuple[int, int]], named: tuple[str, str, str | None, int], least: int
) -> None:
    """The evaluation above can fail: just beyond the shells and octaves it does."""
    name, dtype, logits, m = named
    code, arithmetic = family(name, dtype, logits, m)
    wider = replace(code, **change)  # type: ignore[arg-type]
    some = rows(wider, [-1, 0, 1])
    assert missed(wider, arithmetic, rows(wider, [0]), some) >= least


def test_octaves_are_missed_where_logits_are_narrower() -> None:
    code, arithmetic = family("octaves", "bfloat16", "float32")
    narrow = replace(arithmetic, logits=FORMATS["bfloat16"])
    assert missed(code, narrow, rows(code, [0]), rows(code, [0])) > 100
    assert not any(c.family == "octaves" for c in families(1, 10, narrow))


@given(
    st.integers(2, 10**6),
    st.integers(1, 40),
    st.sampled_from(["bfloat16", "float16", "float32"]),
    st.sampled_from([None, "float32"]),
)
def test_integers_are_exact_in_every_order(
    size: int, queries: int, dtype: str, logits: str | None
) -> None:
    arithmetic = Arithmetic.named(dtype, logits=logits)
    code = cheapest_code(size, queries, arithmetic)
    assert code.capacity >= size
    if code.family != "integers":
        return
    points, exponents = code.table(min(size, 300))
    assert len(np.unique(points, axis=0)) == len(points)
    assert not exponents.any()
    hi, lo = split_square((points**2).sum(axis=1), arithmetic.weights.significand, code.scale)
    bits = min(arithmetic.accumulate.significand, arithmetic.logits.significand)
    terms = 2 * np.abs(points) @ np.abs(points).max(axis=0) + hi + np.abs(lo)
    assert terms.max() <= 2**bits
    assert all(arithmetic.weights.holds(int(x)) for x in lo)
    assert all(arithmetic.weights.holds(int(x) // code.scale) for x in hi)
    assert code.intercepts == 2 or not lo.any()


def test_a_table_beyond_every_code_says_how_many_bits_it_lacks() -> None:
    with pytest.raises(LemmaxError, match=r"float16 logits no code holds .* bits too few"):
        cheapest_code(10**60, 3, Arithmetic.named("float16", "float16"))
    with pytest.raises(LemmaxError, match="float8 is not a format"):
        Arithmetic.named("float8")
    with pytest.raises(LemmaxError, match="does not hold the float32 weights"):
        Arithmetic.named("float32", "bfloat16")
