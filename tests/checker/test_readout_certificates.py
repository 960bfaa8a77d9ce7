"""Certificates of readouts: true ones of each type, false ones, and damaged ones."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lemmax import checker
from lemmax.checker import NotACertificate, check

Certificate = dict[str, Any]
FOLDER = Path(checker.__file__).parents[1] / "theory" / "certificates" / "schemas"


def dot(a: Any, b: Any) -> Fraction:
    return sum((Fraction(x) * y for x, y in zip(a, b, strict=True)), Fraction(0))


def held(rng: random.Random, make: Any) -> Certificate:
    """Labels that a readout gives: it holds them, by construction."""
    V, D = rng.randint(2, 4), rng.randint(1, 4)
    W = make.random_rows(rng, V, D, 9, 3)
    features: list[list[Fraction]] = []
    labels: list[int] = []
    while len(features) < 6:
        z = make.random_rows(rng, 1, D, 9, 2)[0]
        scores = sorted(((dot(w, z), v) for v, w in enumerate(W)), reverse=True)
        if scores[0][0] > scores[1][0]:
            features.append(z)
            labels.append(scores[0][1])
    said = {"type": "holds", "weights": make.text(W)}
    fields = {"features": make.text(features), "labels": labels, "classes": V}
    return dict(make.envelope("readout", **fields, assertion=said))


def clash(rng: random.Random, make: Any) -> Certificate:
    """Two labels and weights: the last feature is what makes the demands cancel."""
    T, D = rng.randint(2, 6), rng.randint(1, 4)
    labels = [rng.randint(0, 1) for _ in range(T)]
    weights = [rng.randint(1, 9) for _ in range(T)]
    features = make.random_rows(rng, T - 1, D, 9, 3)
    signs = [(-1) ** y * x for y, x in zip(labels, weights, strict=True)]
    features.append(
        [-dot(signs[:-1], column) / signs[-1] for column in zip(*features, strict=True)]
    )
    demands = [[t, 1 - y, str(weights[t])] for t, y in enumerate(labels)]
    fields = {"features": make.text(features), "labels": labels, "classes": 2}
    return dict(
        make.envelope("readout", **fields, assertion={"type": "conflict", "demands": demands})
    )


def widest(rng: random.Random, make: Any) -> Certificate:
    """Facts ±z and farther ones of the same labels: the nearest point is that of z."""
    D = rng.randint(1, 4)
    z = make.random_rows(rng, 1, D, 9, 3)[0]
    z[0] += 20  # not zero
    factors = [Fraction(1), Fraction(-1), Fraction(rng.randint(2, 9)), -Fraction(rng.randint(2, 9))]
    features = [[f * x for x in z] for f in factors]
    said = {
        "type": "widest",
        "weights": make.text([z, [-x for x in z]]),
        "demands": [[0, 1, "1"], [1, 0, "1"]],
        "ratio": "1",
    }
    fields = {"features": make.text(features), "labels": [0, 1, 0, 1], "classes": 2}
    return dict(make.envelope("readout", **fields, assertion=said))


def true_ones(make: Any) -> Iterator[Certificate]:
    for seed in range(40):
        for kind in (held, clash, widest):
            yield kind(random.Random(seed), make)


def accepted(certificate: Certificate) -> bool:
    try:
        return check(certificate).holds
    except NotACertificate:
        return False


def test_true_readouts_are_accepted(make: Any) -> None:
    schema = Draft202012Validator(json.loads((FOLDER / "readout.schema.json").read_text("utf-8")))
    for certificate in true_ones(make):
        schema.validate(certificate)
        verdict = check(certificate)
        assert verdict.holds, verdict.steps


def test_false_readouts_are_refused(make: Any) -> None:
    """Another label, another weight, a narrower ratio: well formed, and false."""
    false = 0
    for certificate in true_ones(make):
        liar = copy.deepcopy(certificate)
        said = liar["assertion"]
        if said["type"] == "holds":
            liar["labels"][0] = (liar["labels"][0] + 1) % liar["classes"]
        elif said["type"] == "conflict":
            if not any(x != "0" for x in liar["features"][0]):
                continue
            said["demands"][0][2] = str(int(said["demands"][0][2]) + 1)
        else:
            said["ratio"] = "999999/1000000"
        assert not check(liar).holds
        false += 1
        if said["type"] == "widest":
            wrong = copy.deepcopy(certificate)  # a farther demand bounds the margin less well
            wrong["assertion"]["demands"] = [[2, 1, "1"], [3, 0, "1"]]
            assert not check(wrong).holds
            false += 1
    assert false > 100


def test_damaged_readouts_are_refused(make: Any, damages: Any) -> None:
    rng = random.Random(7)
    total = 0
    for kind in (held, clash, widest):
        for name, damaged in damages(kind(rng, make)):
            total += 1
            assert not accepted(damaged), name
    assert total > 100


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (("assertion", "demands", 0, 1), 0, "sets fact 0 against its own label"),
        (("assertion", "demands", 0, 2), "-1", "must be positive"),
        (("classes",), 1, "must be an integer in 0..0|one label has no rival"),
    ],
)
def test_malformed_readouts_get_a_sentence(
    make: Any, place: tuple[Any, ...], value: Any, sentence: str
) -> None:
    certificate = widest(random.Random(1), make)
    inside: Any = certificate
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    with pytest.raises(NotACertificate, match=sentence):
        check(certificate)
