"""tensor-rank certificates: true ones pass, false and damaged ones do not."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from lemmax import checker
from lemmax.checker import NotACertificate, check
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.below.quadrics import quadrics
from lemmax.theory.tensors.examples import cyclic, of_table
from lemmax.theory.tensors.ranks import tensor_rank

Certificate = dict[str, Any]
Accepted = Callable[[Certificate], bool | None]
SCHEMA = (
    Path(checker.__file__).parents[1]
    / "theory"
    / "certificates"
    / "schemas"
    / "tensor-rank.schema.json"
)


def random_tensor(rng: random.Random, most: int = 4) -> Array:
    shape = tuple(rng.randint(1, most) for _ in range(3))
    entries = [rng.choice([-2, -1, 0, 0, 0, 1, 1]) for _ in range(int(np.prod(shape)))]
    return np.array(entries).reshape(shape)


def total(certificate: Certificate) -> Any:
    """The sum of the rational terms, by numpy over fractions: the second opinion."""
    shape = certificate["tensor"]["shape"]
    entries = np.full(shape, Fraction(0), dtype=object)
    for term in certificate["terms"]:
        u, v, w = (np.array([Fraction(x) for x in part], dtype=object) for part in term)
        entries = entries + u[:, None, None] * v[None, :, None] * w[None, None, :]
    return entries


def dense(certificate: Certificate) -> Any:
    entries = np.full(certificate["tensor"]["shape"], Fraction(0), dtype=object)
    for i, j, k, x in certificate["tensor"]["entries"]:
        entries[i, j, k] = Fraction(x)
    return entries


def test_true_certificates_hold_and_fit_the_schema() -> None:
    schema = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    rng = random.Random(1)
    for _ in range(60):
        array = random_tensor(rng)
        certificate = tensor_rank(array, rng.choice(["Q", "R", "C"])).certificate()
        schema.validate(certificate)
        verdict = check(certificate)
        assert verdict.holds, (array.tolist(), verdict)
        if not certificate["families"]:
            assert (total(certificate) == dense(certificate)).all()


def varied(rng: random.Random) -> Array:
    """Tensors whose honest proofs use every lemma."""
    kind = rng.randrange(5)
    if kind == 0:
        return random_tensor(rng)
    if kind == 1:  # pencils: jets and eigenvalues
        m, n = rng.randint(2, 4), rng.randint(2, 4)
        entries = [rng.choice([-1, 0, 0, 1]) for _ in range(2 * m * n)]
        T = np.array(entries).reshape(2, m, n)
        if m == n:
            T[0] = np.eye(m, dtype=int)
        return T.transpose(rng.sample(range(3), 3))
    if kind == 2:  # saturated tables: transversals
        return of_table(
            rng.choice(
                [["010", "110", "020", "012"], ["00", "01", "10"], ["001", "101", "011", "002"]]
            )
        )
    if kind == 3:  # generic slices: Koszul flattenings
        return np.array([rng.randint(-9, 9) for _ in range(48)]).reshape(3, 4, 4)
    return rng.choice(  # quadrics, cycles and paths
        [
            cyclic(3),
            cyclic(4),
            cyclic(5),
            of_table(["01", "12", "20"]),
            of_table(["01.", "101", ".10"]),
        ]
    )


def changed(rng: random.Random, value: Any) -> Any:
    """A value with one thing in it changed, of the same kind."""
    if isinstance(value, dict):
        key = rng.choice([k for k in value if k != "lemma"] or ["lemma"])
        return value | {key: changed(rng, value[key])}
    if isinstance(value, list) and value:
        place = rng.randrange(len(value))
        action = rng.random()
        if action < 0.6:
            return [*value[:place], changed(rng, value[place]), *value[place + 1 :]]
        if action < 0.75:
            return [*value, copy.deepcopy(value[place])]
        if action < 0.9:
            return [*value[:place], *value[place + 1 :]]
        return rng.sample(value, len(value))
    if isinstance(value, int):
        return max(0, value + rng.choice([-1, 1, 1]))
    if isinstance(value, str):
        if value == "sturm":
            return rng.choice(["2", "3", "5"])
        if value == str(2**61 - 1):
            return rng.choice(["2", "3", "5"])
        return str(Fraction(value) + rng.choice([Fraction(-1), Fraction(1), Fraction(1, 2)]))
    return value


def test_a_lower_bound_above_a_decomposition_is_never_accepted(accepted: Accepted) -> None:
    """The terms in the certificate show R ≤ u; every proof of u + 1 must therefore fail."""
    rng = random.Random(2)
    rejected: dict[str, int] = {}
    for _ in range(600):
        array = varied(rng)
        honest = tensor_rank(array, rng.choice(["Q", "R"])).certificate()
        if honest["families"]:
            continue
        assert (total(honest) == dense(honest)).all()
        forged = copy.deepcopy(honest)
        forged["terms"].append([["0"] * n for n in array.shape])
        forged["lower"] = forged["upper"] = honest["upper"] + 1
        if rng.random() < 0.4:
            forged["proof"] = [*random_chain(rng, array.shape), random_leaf(rng)]
        else:
            for _ in range(rng.randint(0, 2)):
                forged["proof"] = changed(rng, forged["proof"])
        verdict = accepted(forged)
        if verdict is None:  # the change went too far: nothing to learn
            continue
        assert not verdict, forged
        lemma = forged["proof"][-1]["lemma"]
        rejected[lemma] = rejected.get(lemma, 0) + 1
    assert sum(rejected.values()) >= 250
    assert {"flattening", "transversal", "koszul", "jet", "eigenvalue"} <= set(rejected), rejected


def test_proofs_over_one_field_do_not_pass_for_another(accepted: Accepted) -> None:
    """The path P3 has rank 3 over R: proofs of 4 over Q, and all changes of them, must fail."""
    path = of_table(["01.", "101", ".10"])
    over_q, over_r = (tensor_rank(path, field).certificate() for field in ("Q", "R"))
    assert (over_q["lower"], over_r["upper"]) == (4, 3)
    cycle_r, cycle_c = (
        tensor_rank(of_table(["01", "12", "20"]), field).certificate() for field in ("R", "C")
    )
    assert (cycle_r["lower"], cycle_c["upper"]) == (4, 3)
    rng = random.Random(5)
    rejected = 0
    for proof, small in ((over_q, over_r), (cycle_r, cycle_c)):
        for _ in range(80):
            forged = copy.deepcopy(small)
            forged["terms"].append([["0"] * n for n in forged["tensor"]["shape"]])
            forged["lower"] = forged["upper"] = 4
            forged["proof"] = copy.deepcopy(proof["proof"])
            for _ in range(rng.randint(0, 2)):
                forged["proof"] = changed(rng, forged["proof"])
            verdict = accepted(forged)
            assert not verdict
            rejected += verdict is False
    assert rejected >= 60


@pytest.mark.parametrize("lemma", ["quadrics", "quadric-pencil"])
def test_second_order_proofs_are_not_bent(lemma: str, accepted: Accepted) -> None:
    """Tables of Z2 × Z2 (rank 4) with the proofs of other tables, bent to say 5."""
    rng = random.Random(6)
    klein = np.array([[[int(i ^ j == k) for k in range(4)] for j in range(4)] for i in range(4)])
    honest = tensor_rank(klein, "Q").certificate()
    assert honest["upper"] == 4
    for source in (cyclic(4), generic()):
        for mode in range(3):
            bound, _ = quadrics(source, mode, "Q")
            if bound is None or bound.steps[-1]["lemma"] != lemma:
                continue
            check_honest(source, bound.value, bound.steps)
            for _ in range(60):
                forged = copy.deepcopy(honest)
                forged["terms"].append([["0"] * 4] * 3)
                forged["lower"] = forged["upper"] = 5
                forged["proof"] = copy.deepcopy(list(bound.steps))
                for _ in range(rng.randint(0, 2)):
                    forged["proof"] = changed(rng, forged["proof"])
                assert not accepted(forged)


def generic() -> Array:
    return np.random.default_rng(1).integers(-5, 6, (4, 4, 4))


def check_honest(array: Array, value: int, steps: tuple[dict[str, Any], ...]) -> None:
    """The bound belongs to its own tensor."""
    certificate = tensor_rank(array, "Q").certificate()
    certificate |= {"proof": list(steps), "lower": value}
    assert check(certificate).holds


def random_chain(rng: random.Random, shape: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    sizes = list(shape)
    for _ in range(rng.randint(0, 3)):
        maps: list[list[Any]] = [[], [], []]
        for mode in rng.sample(range(3), 2):
            kind = rng.random()
            if kind < 0.4 and sizes[mode] > 1:
                maps[mode] = sorted(rng.sample(range(sizes[mode]), sizes[mode] - 1))
                sizes[mode] -= 1
            elif kind < 0.7:
                rows = rng.randint(1, 3)
                maps[mode] = [
                    [str(rng.randint(-2, 2)) for _ in range(sizes[mode])] for _ in range(rows)
                ]
                sizes[mode] = rows
        if rng.random() < 0.3:
            yield {"lemma": "restriction", "maps": maps}
        else:
            prime = str(rng.choice([2, 3, 5, 2**61 - 1]))
            yield {"lemma": "substitution", "mode": rng.randrange(3), "prime": prime, "maps": maps}


def random_leaf(rng: random.Random) -> dict[str, Any]:
    prime = str(rng.choice([2, 3, 5, 7, 2**61 - 1]))
    mode = rng.randrange(3)
    return rng.choice(
        [
            {"lemma": "flattening", "mode": mode, "prime": prime},
            {"lemma": "koszul", "mode": mode, "prime": prime},
            {
                "lemma": "transversal",
                "mode": mode,
                "columns": (mode + rng.choice([1, 2])) % 3,
                "hitting": rng.randint(0, 4),
            },
        ]
    )


def test_terms_that_do_not_add_up_are_rejected() -> None:
    rng = random.Random(3)
    rejected = 0
    while rejected < 150:
        certificate = copy.deepcopy(tensor_rank(random_tensor(rng), "Q").certificate())
        terms = certificate["terms"]
        if not terms:
            continue
        change = rng.choice(["entry", "drop", "tensor"])
        if change == "drop":
            terms.pop(rng.randrange(len(terms)))
            certificate["upper"] = len(terms)
            certificate["lower"] = min(certificate["lower"], len(terms))
        elif change == "entry":
            vector = rng.choice(rng.choice(terms))
            vector[rng.randrange(len(vector))] = str(
                Fraction(rng.randint(-3, 3), rng.randint(1, 4))
            )
        else:
            entry = rng.choice(certificate["tensor"]["entries"])
            entry[3] = str(int(entry[3]) + rng.choice([5, 7]))
        if (total(certificate) == dense(certificate)).all():
            continue
        verdict = check(certificate)
        assert not verdict.holds
        assert "differs" in verdict.steps[-1] or "terms" in verdict.steps[-1]
        rejected += 1


@pytest.mark.parametrize("p", [2, 3, 101])
def test_a_rank_that_is_subtracted_is_not_taken_mod_p(p: int) -> None:
    """diag(1, p) restricted to its last row has rank 1 over Q and 0 mod p: a gain of 1, not 2."""
    array = np.zeros((2, 2, 1), dtype=int)
    array[0, 0, 0], array[1, 1, 0] = 1, p
    certificate = tensor_rank(array, "Q").certificate()
    assert certificate["upper"] == 2
    certificate["terms"].append([["0"] * n for n in array.shape])
    certificate["lower"] = certificate["upper"] = 3
    keep_row = {"lemma": "substitution", "mode": 0, "maps": [[], [1], []]}
    leaf = {"lemma": "flattening", "mode": 0, "prime": "7"}
    for prime in ("2", "3", "7", "101"):
        certificate["proof"] = [keep_row | {"prime": prime}, leaf]
        assert not check(certificate).holds


def instead(wrong: Any, _: Any) -> Any:
    return wrong


def without(key: str, value: dict[str, Any]) -> dict[str, Any]:
    return {k: x for k, x in value.items() if k != key}


def damages(value: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Changes after which a value is no part of a certificate any more."""
    wrongs: list[Any] = [None, True, 1.5, float("nan"), {}, "x", -1, 2**60, (1,), [[[[["1"]]]]]]
    for wrong in wrongs:
        if wrong != value:
            yield f":= {wrong}", partial(instead, wrong)
    if isinstance(value, dict):
        yield "gains a field", lambda v: {**v, "extra": "1"}
        for key in value:
            yield f"loses {key}", partial(without, key)
    parts = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        parts = [(i, x) for i, x in enumerate(value) if i in (0, len(value) - 1)]
    for key, part in parts:
        for name, change in damages(part):

            def inside(v: Any, key: Any = key, change: Callable[[Any], Any] = change) -> Any:
                v = copy.copy(v)
                v[key] = change(v[key])
                return v

            yield f"{key}.{name}", inside


def test_damaged_certificates_are_refused_or_rejected() -> None:
    certificate = tensor_rank(np.arange(-3, 9).reshape(2, 3, 2), "R").certificate()
    assert check(certificate).holds
    refused = 0
    for name, change in damages(certificate):
        try:
            verdict = check(change(certificate))
        except NotACertificate:
            refused += 1
            continue
        # some damage is a certificate still, and true: another mode or prime of the same proof
        assert not verdict.holds or "proof" in name or "lower" in name, name
    assert refused > 250
