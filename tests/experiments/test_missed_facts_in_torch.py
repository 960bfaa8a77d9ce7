"""What is asked about trained layers: features of the models, and misses of either kind."""

from __future__ import annotations

from typing import Any

import cvxpy  # noqa: F401  # readouts need it
import numpy as np
import torch
from flint import arb_mat

from lemmax.numerics.experiments import readouts
from lemmax.numerics.training.configurations import Mahdavi, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.training.models import model_of


def random_weights(config: Wong | Mahdavi) -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {name: random.normal(size=shape) for name, shape in config.shapes().items()}


def floats(balls: arb_mat) -> Any:
    return np.array([[float(x) for x in row] for row in balls.tolist()])


def test_features_are_those_of_the_models() -> None:
    """The logits made from them are the logits of the torch modules, and so is what is known."""
    wong = Wong(3, 2, 1, 2, ((0, 2, 4), (1, 3, 5), (0, 3, 5), (1, 2, 0)))
    weights = random_weights(wong)
    made = readouts.features(wong, weights)
    tokens = torch.tensor([fact[:2] for fact in wong.facts])
    logits = model_of(wong, weights)(tokens)[:, -1].detach().numpy()
    assert np.allclose(floats(made.last) @ weights["W_U"], logits)
    query, first, second = np.split(floats(made.attention), 3, axis=1)
    last = query + sum(
        rows @ weights["W_V"][h] @ weights["W_O"][h] for h, rows in enumerate((first, second))
    )
    assert np.allclose(last, floats(made.last))
    assert made.known == tuple(logits.argmax(axis=1) == made.labels)
    mahdavi = Mahdavi(4, 3, 2, 7, classes=3)
    weights = random_weights(mahdavi)
    made = readouts.features(mahdavi, weights)
    queries, contexts, labels = mahdavi.data()
    model = model_of(mahdavi, weights)
    logits = model(torch.from_numpy(queries), torch.from_numpy(contexts)).detach().numpy()
    rows = np.split(floats(made.attention), 2, axis=1)
    values = [row @ weights["W_V"][h] for h, row in enumerate(rows)]
    assert np.allclose(np.hstack(values), floats(made.last))
    output = sum(value @ weights["W_O"][h] for h, value in enumerate(values))
    assert np.allclose(output @ weights["W_D"] + weights["b_D"], logits)
    assert made.known == tuple(logits.argmax(axis=1) == labels)


def ends(told: dict[str, Any], place: str) -> list[str]:
    return [readouts.outcome(bounds) for bounds in told[place]]


def test_misses_of_either_kind_are_told_apart() -> None:
    """A layer of uniform attention cannot read an exclusive or; a bad W_U can be replaced."""
    xor = Wong(4, 1, 1, 1, ((0, 2, 4), (0, 3, 5), (1, 2, 5), (1, 3, 4)))
    zero = {name: np.zeros(shape) for name, shape in xor.shapes().items()}
    zero["W_E"][:4] = np.eye(4)
    zero["W_V"][:] = 1
    zero["W_U"][:, 5] = [0.5, -0.5, -1, 1]  # knows (0, 3, 5) by the query alone
    zero["W_U"][:, 4] = -zero["W_U"][:, 5]
    told = readouts.inspect(Job(xor), zero)
    assert told["missed"] == 2
    assert ends(told, "attention") == ["readable", "readable"]  # three of the four facts
    assert readouts.outcome(told["all"]) == "conflict"  # but not all of them together
    one = Wong(4, 1, 1, 1, ((0, 2, 4), (1, 2, 5)))
    zero = {name: np.zeros(shape) for name, shape in one.shapes().items()}
    zero["W_E"][:2, :2], zero["W_E"][2, 2] = np.eye(2), 1
    zero["W_U"][2, 4] = 1  # always 4
    told = readouts.inspect(Job(one), zero)
    assert (told["missed"], ends(told, "last")) == (1, ["conflict"])  # only the query is there
    assert ends(told, "attention") == ["readable"]
    assert readouts.outcome(told["all"]) == "readable"
    zero["W_Q"][:], zero["W_K"][:] = np.array([[0], [0], [4], [0]]), np.array([[0, 0, 8, 0]])
    told = readouts.inspect(Job(one), zero)
    assert ends(told, "attention") == ["conflict"]  # e^-32 of the subject is no float32's business
