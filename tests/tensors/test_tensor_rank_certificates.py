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
from lemmax.theory.tensors.ranks import tensor_rank

Certificate = dict[str, Any]
SCHEMA = Path(checker.__file__).parent / "theory" / "schemas" / "tensor-rank.schema.json"


def random_tensor(rng: random.Random, most: int = 4) -> Array:
    shape = tuple(rng.randint(1, most) for _ in range(3))
    entries = [rng.choice([-2, -1, 0, 0, 0, 1, 1]) for _ in range(int(np.prod(shape)))]
    return np.array(entries).reshape(shape)


def total(certificate: Certificate) -> Any:
    """The sum of the rational terms, by numpy over fractions: the second opinion."""
    shape = certificate["tensor"]["shape"]
    found = np.full(shape, Fraction(0), dtype=object)
    for term in certificate["terms"]:
        u, v, w = (np.array([Fraction(x) for x in part], dtype=object) for part in term)
        found = found + u[:, None, None] * v[None, :, None] * w[None, None, :]
    return found


def dense(certificate: Certificate) -> Any:
    found = np.full(certificate["tensor"]["shape"], Fraction(0), dtype=object)
    for i, j, k, x in certificate["tensor"]["entries"]:
        found[i, j, k] = Fraction(x)
    return found


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


def test_a_lower_bound_above_a_decomposition_is_never_accepted() -> None:
    """The terms in the certificate show R ≤ u; every proof of u + 1 must therefore fail."""
    rng = random.Random(2)
    rejected = 0
    while rejected < 300:
        array = random_tensor(rng)
        honest = tensor_rank(array, rng.choice(["Q", "R", "C"])).certificate()
        if honest["families"]:
            continue
        assert (total(honest) == dense(honest)).all()
        forged = copy.deepcopy(honest)
        forged["terms"].append([["0"] * n for n in array.shape])
        forged["lower"] = forged["upper"] = honest["upper"] + 1
        forged["proof"] = [*random_chain(rng, array.shape), random_leaf(rng)]
        if rng.random() < 0.3:
            forged["proof"] = honest["proof"]
        if rng.random() < 0.2:
            forged["proof"].insert(0, {"lemma": "restriction", "maps": [[], [], []]})
        try:
            verdict = check(forged)
        except NotACertificate:  # a map of the chain may not fit what is left of the tensor
            continue
        assert not verdict.holds, forged
        rejected += 1


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
    return {"lemma": "flattening", "mode": rng.randrange(3), "prime": prime}


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
