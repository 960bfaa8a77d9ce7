"""Real decompositions that exist near a numerical fit: proofs that hold, and false ones."""

from __future__ import annotations

import copy
import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from lemmax import checker
from lemmax.checker import LIMITS, NotACertificate, check
from lemmax.theory.tensors.above.slices import slice_sum
from lemmax.theory.tensors.arrays import mapped
from lemmax.theory.tensors.examples import of_table
from lemmax.theory.tensors.files import NotADecomposition
from lemmax.theory.tensors.ranks import TensorRank, tensor_rank
from lemmax.theory.tensors.search.least_squares import Problem, descend
from lemmax.theory.tensors.search.real_fits import EQUATIONS, real_fit
from lemmax.theory.tensors.search.real_terms import RealDecomposition

Certificate = dict[str, Any]
Accepted = Callable[[Certificate], bool | None]
SCHEMA = (
    Path(checker.__file__).parents[1]
    / "theory"
    / "certificates"
    / "schemas"
    / "tensor-rank.schema.json"
)


PATH = of_table(["01.", "101", ".10"])
TABLE = of_table(["1233", "0033", "0131", "1311", "2200", "3332", "3113"])


@cache
def path() -> TensorRank:
    """P₃ over R: the pencil knows three conjugate terms, and here they are in a ball."""
    real = real_fit(PATH, 3)
    assert real is not None
    return replace(tensor_rank(PATH, "R"), real=real)


@cache
def table() -> TensorRank:
    """A total table of seven keys, four queries and four values, open before."""
    real = real_fit(TABLE, 8)
    assert real is not None
    return tensor_rank(TABLE, "R").with_real(real)


def test_the_path_has_three_real_terms_and_no_three_rational_ones() -> None:
    result = path()
    assert result.rank == 3
    assert tensor_rank(PATH, "Q").rank == 4
    verdict = check(result.certificate())
    assert verdict.holds, verdict
    assert any("3 real terms exist" in step for step in verdict.steps)
    assert "3 real terms" in result.in_words()[-1]


def test_the_ball_holds_the_irrational_numbers() -> None:
    """The third vectors of the terms are on the lines (1, 0) and (1, ±√2)."""
    real = path().real
    assert real is not None
    slopes = [Fraction(int(w[1].p), int(w[1].q)) / Fraction(str(w[0])) for _, _, w in real.centre]
    assert sorted(round(float(x) ** 2, 9) for x in slopes) == [0, 2, 2]
    assert all(x == 0 or abs(x * x - 2) < Fraction(1, 10**20) for x in slopes)
    assert all(x * x != 2 for x in slopes)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_order_of_the_modes_does_not_matter(order: tuple[int, int, int]) -> None:
    turned = PATH.transpose(order)
    real = real_fit(turned, 3)
    assert real is not None
    assert real.proves(turned)
    back = [order.index(m) for m in range(3)]
    assert real.permuted(back).proves(PATH)
    assert not real.permuted(back).proves(PATH + 1)


def test_a_table_is_closed_over_the_reals() -> None:
    before = tensor_rank(TABLE, "R")
    assert before.lower == 8 < before.upper
    result = table()
    assert result.rank == 8
    assert len(result.decomposition) == before.upper  # explicit terms stay
    certificate = result.certificate()
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(certificate)
    assert len(json.dumps(certificate)) < 10_000
    assert check(certificate).holds
    assert check(certificate | {"field": "C"}).holds


def test_the_centre_nearly_adds_up() -> None:
    """A second opinion by fractions: the terms of the centre against the mapped tensor."""
    real = table().real
    assert real is not None
    tensor = TABLE
    for mode, rows in enumerate(real.maps):
        tensor = mapped(tensor, mode, rows)
    total = np.full(tensor.shape, Fraction(0), dtype=object)
    for term in real.centre:
        u, v, w = (np.array([Fraction(str(x)) for x in part], dtype=object) for part in term)
        total = total + u[:, None, None] * v[None, :, None] * w[None, None, :]
    error = np.abs(total - tensor).max()
    assert 0 < error < Fraction(1, 10**20)


def changed(*path_: Any, to: Any) -> Callable[[Certificate], None]:
    """Set one field, or change it by a function of what it was."""

    def change(certificate: Certificate) -> None:
        *way, last = path_
        value: Any = certificate
        for step in way:
            value = value[step]
        value[last] = to(value[last]) if callable(to) else to

    return change


def both(*changes: Callable[[Certificate], None]) -> Callable[[Certificate], None]:
    def change(certificate: Certificate) -> None:
        for one in changes:
            one(certificate)

    return change


def plus(difference: Fraction) -> Callable[[str], str]:
    return lambda x: str(Fraction(x) + difference)


def a_free_entry(certificate: Certificate) -> tuple[int, int, int]:
    """Term, mode and index of a free entry of the centre."""
    ball = certificate["ball"]
    row, r = divmod(ball["free"][0], len(ball["centre"]))
    for mode, vector in enumerate(ball["centre"][r]):
        if row < len(vector):
            return r, mode, row
        row -= len(vector)
    raise AssertionError


def move_a_free_entry(certificate: Certificate) -> None:
    r, mode, index = a_free_entry(certificate)
    vector = certificate["ball"]["centre"][r][mode]
    vector[index] = plus(Fraction(1, 2**70))(vector[index])


def move_a_given_entry(certificate: Certificate) -> None:
    ball = certificate["ball"]
    terms = len(ball["centre"])
    place = next(n for n in range(terms) if n not in ball["free"])
    vector = ball["centre"][place][0]
    vector[0] = plus(Fraction(1, 1000))(vector[0])


def drop_a_slice(certificate: Certificate) -> None:
    """Forget the last key everywhere: in the map, in the centre and among the free entries."""
    ball = certificate["ball"]
    terms = len(ball["centre"])
    keys = len(ball["centre"][0][0])
    ball["maps"][0] = list(range(keys - 1))
    for term in ball["centre"]:
        term[0].pop()
    gone = range((keys - 1) * terms, keys * terms)
    ball["free"] = [n if n < gone.start else n - terms for n in ball["free"] if n not in gone]


def drop_a_term(certificate: Certificate) -> None:
    """A certificate of seven terms in which everything is renumbered as it should be."""
    ball = certificate["ball"]
    terms = len(ball["centre"])
    ball["centre"].pop()
    ball["free"] = [
        n // terms * (terms - 1) + n % terms for n in ball["free"] if n % terms != terms - 1
    ]
    certificate["upper"] = certificate["lower"] = terms - 1


BALL = {
    "over Q": (changed("field", to="Q"), False),
    "a large radius": (changed("ball", "radius", to="1"), False),
    "a radius of 1/1000": (changed("ball", "radius", to="1/1000"), False),
    "a small radius": (changed("ball", "radius", to="0x1p-200"), False),
    "no radius": (changed("ball", "radius", to="0"), False),
    "a negative radius": (changed("ball", "radius", to="-1"), None),
    "a radius that is a float": (changed("ball", "radius", to=1e-20), None),
    "a centre moved beyond the radius": (move_a_free_entry, False),
    "a given entry moved": (move_a_given_entry, False),
    "a term doubled": (
        changed("ball", "centre", 0, 0, to=lambda v: [plus(Fraction(x))(x) for x in v]),
        False,
    ),
    "modes of a term swapped": (
        changed("ball", "centre", 7, to=lambda t: [t[0], t[2], t[1]]),
        False,
    ),
    "a short vector": (changed("ball", "centre", 0, 0, to=lambda v: v[:-1]), None),
    "a term of two vectors": (changed("ball", "centre", 0, to=lambda t: t[:2]), None),
    "no centre": (changed("ball", "centre", to=[]), None),
    "a free entry forgotten": (changed("ball", "free", to=lambda f: f[:-1]), False),
    "a free entry too many": (
        changed("ball", "free", to=lambda f: [*f, min(set(range(120)) - set(f))]),
        False,
    ),
    "a free entry twice": (changed("ball", "free", to=lambda f: [*f[:-1], f[0]]), None),
    "a free entry outside": (changed("ball", "free", to=lambda f: [*f[:-1], 120]), None),
    "other free entries": (changed("ball", "free", to=lambda f: list(range(len(f)))), False),
    "nothing free": (changed("ball", "free", to=[]), None),
    "a slice dropped": (drop_a_slice, False),
    "a map with a row twice": (
        changed("ball", "maps", 2, 1, to=lambda row: ["1"] * len(row)),
        False,
    ),
    "a map with a zero row": (
        changed("ball", "maps", 2, 1, to=lambda row: ["0"] * len(row)),
        False,
    ),
    "another map": (changed("ball", "maps", 2, 1, 1, to=plus(Fraction(1))), False),
    "a map of fractions": (changed("ball", "maps", 2, 1, 1, to="1/2"), None),
    "two maps": (changed("ball", "maps", to=lambda maps: maps[:2]), None),
    "no map": (changed("ball", "maps", 2, to=[]), False),
    "fewer terms": (drop_a_term, False),
    "a smaller upper bound": (both(changed("upper", to=7), changed("lower", to=7)), False),
    "a larger lower bound": (both(changed("upper", to=9), changed("lower", to=9)), False),
    "one more exact term": (
        both(changed("terms", to=[[["1"] * 7, ["1"] * 4, ["1"] * 4]]), changed("upper", to=9)),
        False,
    ),
    "an entry of the tensor changed": (changed("tensor", "entries", 0, 3, to="2"), False),
    "an entry of the tensor removed": (changed("tensor", "entries", to=lambda e: e[1:]), False),
    "no ball": (lambda certificate: certificate.pop("ball"), False),
    "an unknown field": (lambda certificate: certificate["ball"].update(inverse=[]), None),
}


@pytest.mark.parametrize("name", BALL)
def test_corrupted_balls_are_rejected(name: str, accepted: Accepted) -> None:
    certificate = copy.deepcopy(table().certificate())
    change, expected = BALL[name]
    change(certificate)
    assert accepted(certificate) is expected


@pytest.mark.parametrize("field", ["maps", "centre", "free", "radius"])
def test_a_ball_without_a_field_is_no_certificate(field: str, accepted: Accepted) -> None:
    certificate = copy.deepcopy(path().certificate())
    del certificate["ball"][field]
    assert accepted(certificate) is None


def test_too_many_equations_are_refused() -> None:
    assert LIMITS["equations"] == EQUATIONS
    certificate = copy.deepcopy(path().certificate())
    certificate["ball"]["centre"] *= 20
    certificate["ball"]["free"] = list(range(EQUATIONS + 1))
    certificate["upper"] = 60
    with pytest.raises(NotACertificate, match="free entries"):
        check(certificate)


def test_there_are_as_many_equations_as_free_entries() -> None:
    certificate = copy.deepcopy(path().certificate())
    ball = certificate["ball"]
    entries = sum(map(len, ball["centre"][0])) * len(ball["centre"])
    one_more = [*ball["free"], min(set(range(entries)) - set(ball["free"]))]
    for free, sentence in ((one_more, "there are more than"), (list(range(entries)), "there are ")):
        verdict = check(certificate | {"ball": ball | {"free": free}})
        assert not verdict.holds
        assert sentence in verdict.steps[-1]
        assert f"equations for {len(free)} free entries" in verdict.steps[-1]


def test_a_border_has_no_ball(accepted: Accepted) -> None:
    """W has rank 3; two terms come close to it, and no ball around them passes."""
    w = of_table(["01", ".0"])
    assert real_fit(w, 2) is None
    problem = Problem(w.astype(float), 2)
    point = np.random.default_rng(0).normal(size=problem.size)
    point, residual = descend(problem, point, np.ones(problem.size, dtype=bool), 300)
    assert residual < 1e-2
    A, B, C = problem.factors(point)
    certificate = tensor_rank(w, "R").certificate()
    certificate |= {"terms": [], "upper": 2, "lower": 2}
    centre = [[[str(Fraction(x)) for x in X[:, r].tolist()] for X in (A, B, C)] for r in range(2)]
    free = [0, 1, 2, 4, 5, 6, 8, 9]
    for exponent in range(0, 64, 4):
        radius = str(Fraction(1, 2**exponent))
        ball = {"maps": [[], [], []], "centre": centre, "free": free, "radius": radius}
        assert accepted(certificate | {"ball": ball}) is False


def test_a_sum_has_exact_terms_and_a_ball() -> None:
    """The path, beside a diagonal of two more entries."""
    total = np.zeros((5, 5, 4), dtype=int)
    total[:3, :3, :2] = PATH
    total[3, 3, 2] = total[4, 4, 3] = 1
    real: RealDecomposition | None = path().real
    assert real is not None
    for mode, size in enumerate(total.shape):
        real = real.placed(mode, range(PATH.shape[mode]), size)
    rest = total.copy()
    rest[:3, :3, :2] = 0
    real = real + slice_sum(rest, 2)
    assert len(real) == 5
    assert real.proves(total)
    assert check(replace(tensor_rank(total, "R"), real=real).certificate()).holds
    assert not real.proves(2 * total)
    assert not replace(real, radius=real.radius / 2**20).proves(total)


def test_a_repeated_key_is_carried_along() -> None:
    array = np.concatenate([PATH, PATH[:1] + PATH[1:2]])
    real = real_fit(array, 3)
    assert real is not None
    assert check(replace(tensor_rank(array, "R"), real=real).certificate()).holds


def test_real_terms_say_nothing_over_the_rationals() -> None:
    real = table().real
    assert real is not None
    with pytest.raises(NotADecomposition, match="over Q"):
        tensor_rank(TABLE, "Q").with_real(real)
    with pytest.raises(NotADecomposition, match="not proved"):
        tensor_rank(2 * TABLE, "R").with_real(real)
    longer = real_fit(PATH, 4)
    assert longer is not None
    assert path().with_real(longer).upper == 3


def test_the_search_is_deterministic_and_ends_at_a_deadline() -> None:
    assert real_fit(PATH, 3) == path().real
    assert real_fit(TABLE, 8, deadline=-math.inf) is None
    assert real_fit(TABLE, 6) is None
