"""Bounds in float64 never promise more than exact arithmetic keeps; the callback counts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import random_transformers as models

from lemmax.checker.coded.arrays import tables
from lemmax.checker.limits import Undecided
from lemmax.checker.models.network import Arrays, Network
from lemmax.numerics.certifying import bounds
from lemmax.numerics.certifying.certify import certify
from lemmax.numerics.certifying.transformer import Transformer
from lemmax.numerics.certifying.watching import CertifiedShare, Watched
from lemmax.theory.errors import LemmaxError


def read(certificate: dict[str, Any]) -> Transformer:
    """The model of a certificate, in float64."""
    model = certificate["model"]
    arrays = {
        name: np.array([float(x) for x in values]).reshape(shape)
        for name, (shape, values) in models.unpacked(certificate).items()
    }
    tied = model["unembedding"] == "tied"
    return Transformer(arrays, tuple(model["steps"]), model["mask"], tied)


def test_logits_lie_within_their_bounds() -> None:
    """The checker's balls of 200 bits, as good as exact, against bounds in float64."""
    tight = total = 0
    for seed in range(60):
        certificate = models.random_certificate(seed, "F64", facts=4)
        model, prompts = read(certificate), [p for p, _ in certificate["facts"]]
        net = Network(certificate["model"], Arrays(tables(certificate["arrays"])), 200)
        for i, ball in net.logits(prompts):
            assert not isinstance(ball, Undecided)
            z = bounds.logit_bounds(model, np.array([prompts[i]]))
            exact = [c / 2**200 for c in ball.center]
            # a difference of floats is itself rounded
            slack = 4 * bounds.UNIT * np.abs(exact)
            assert (np.abs(z.center[0] - exact) <= z.radius[0] + slack).all(), seed
            total += 1
            tight += bool((z.radius[0] < 1e-9 * (1 + np.abs(exact))).all())
    assert tight > 0.8 * total


def test_what_is_bounded_is_certified_and_ties_are_not() -> None:
    certificate = models.random_certificate(11, "F64", facts=40)
    model = read(certificate)
    facts = [(p, a) for p, a in certificate["facts"]]
    near, low = bounds.margin_bounds(model, [p for p, _ in facts], [a for _, a in facts])
    outcomes = certify(model, facts).outcomes
    assert (low > 0).any()
    for outcome, floats, least in zip(outcomes, near, low, strict=True):
        assert outcome.low is not None
        assert outcome.high is not None
        assert least <= outcome.high
        assert floats == pytest.approx(float(outcome.low), abs=1e-9)
        assert outcome.known or not least > 0
    tie = Transformer({"W_E": np.ones((2, 1)), "W_U": np.array([[0.1, 0.1]])}, ())
    assert bounds.margin_bounds(tie, [[0]], [0])[1][0] < 0


def test_a_variance_that_may_be_zero_gives_no_bound() -> None:
    flat = Transformer(
        {"W_E": np.array([[0.1, 0.1], [0.2, 0.2]]), "W_U": np.eye(2)},
        ({"type": "norm", "norm": "layer", "eps": "0"},),
    )
    assert bounds.margin_bounds(flat, [[0]], [0])[1][0] == -np.inf


def test_the_callback_looks_now_and_then(tmp_path: Path) -> None:
    """Token 1 is said after 0 with a growing margin that begins below zero."""
    watch = CertifiedShare([(0, 0, 1), (0, 1, 1)], every=2, exact=6)
    for step in range(13):
        W_U = np.array([[0.0, step - 4.0]])
        watch(step, {"W_E": np.array([[1.0], [0.5 + 1e-30]]), "W_U": W_U})
    assert [seen.step for seen in watch.history] == [0, 2, 4, 6, 8, 10, 12]
    assert watch.history[0] == Watched(0, 0.0, 0.0, watch.history[0].certified)
    assert [seen.certified for seen in watch.history] == [0, None, None, 1, None, None, 1]
    assert [seen.bounded for seen in watch.history] == [0, 0, 0, 1, 1, 1, 1]
    watch.figure(tmp_path / "shares.svg")
    assert "certified" in (tmp_path / "shares.svg").read_text(encoding="utf-8")
    with pytest.raises(LemmaxError, match="at least 1"):
        CertifiedShare([(0, 0, 1)], every=0)
    with pytest.raises(LemmaxError, match="Nothing was seen"):
        CertifiedShare([(0, 0, 1)]).figure(tmp_path / "none.svg")
