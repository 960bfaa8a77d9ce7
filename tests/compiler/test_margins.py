"""Layers whose unembedding has the widest margin: equal sizes, all facts, wider than before."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import cvxpy  # noqa: F401  # the readout needs it
import numpy as np
import pytest
from flint import arb, fmpq
from numpy.typing import NDArray

from lemmax import checker
from lemmax.constructions import CompiledDatabase, compile_database, layer_features
from lemmax.constructions.countries import countries
from lemmax.theory import Database
from lemmax.theory.errors import LemmaxError


def table(facts: int, predicates: int, values: int) -> Database:
    random = Random(0)
    return Database.from_triples(
        (f"s{i // predicates}", f"p{i % predicates}", f"o{random.randrange(values)}")
        for i in range(facts)
    )


def margin(compiled: CompiledDatabase, W: NDArray[np.float64] | None = None) -> float:
    """The least gap of the logits over the norm of W, the layer's own W_U by default, in floats."""
    layer, facts = compiled.layer, list(compiled.database)
    features: Any = layer_features(layer, [(k, q) for k, q, _ in facts])
    Z = np.array([[float(x.mid()) for x in row] for row in features.tolist()])
    W = layer.W_U.to_numpy() if W is None else W
    logits, own = Z @ W, [layer.index[v] for *_, v in facts]
    mine = logits[np.arange(len(own)), own].copy()
    logits[np.arange(len(own)), own] = -np.inf
    return float((mine - logits.max(axis=1)).min() / np.linalg.norm(W))


@pytest.mark.parametrize("tau", [None, 0.99])
def test_the_widest_margin_at_equal_dimensions(tau: float | None) -> None:
    db = table(18, 3, 6)
    plain, wide = compile_database(db, tau), compile_database(db, tau, margin="widest")
    assert wide.dims == plain.dims
    assert margin(wide) > 1.5 * margin(plain)
    assert checker.check(wide.certificate()).holds
    rng = np.random.default_rng(0)
    for _ in range(20):  # no other unembedding nearby is wider, but for the rounding
        W = wide.layer.W_U.to_numpy()
        other = W + rng.normal(size=W.shape) * 1e-2 * np.abs(W).max()
        assert margin(wide, other) < 1.001 * margin(wide)


def test_narrow_margins_are_bounded_closely() -> None:
    """Interior points alone end with weights of half the margin that their multipliers allow."""
    told = compile_database(table(260, 3, 120), margin="widest").margin
    assert told is not None
    assert told.upper_squared < told.lower_squared * fmpq(1002, 1000)


@pytest.mark.slow
def test_the_widest_margin_of_a_real_table() -> None:
    """749 facts whose logits are a millionth apart: decided, wider than before, and bounded."""
    db = countries()
    plain, wide = compile_database(db), compile_database(db, margin="widest")
    assert wide.dims == plain.dims
    assert wide.margin is not None
    assert plain.margin is None
    assert wide.margin.lower_squared < wide.margin.upper_squared
    assert wide.margin.upper_squared < wide.margin.lower_squared * fmpq(1002, 1000)
    assert margin(wide) == pytest.approx(float(wide.margin), rel=1e-6)
    assert margin(wide) > 5 * margin(plain)
    for W in (plain.layer.W_U, wide.layer.W_U):  # no W_U is beyond the upper end
        assert margin(wide, W.to_numpy()) ** 2 <= float(arb(wide.margin.upper_squared))
    assert "no readout has more than" in str(wide.margin)


def test_margins_that_do_not_exist_get_one_sentence() -> None:
    db = table(6, 2, 3)
    with pytest.raises(LemmaxError, match="'widest' or none at all, not 'wide'"):
        compile_database(db, margin="wide")  # type: ignore[call-overload]
    with pytest.raises(LemmaxError, match="give a dtype or a margin"):
        compile_database(db, margin="widest", dtype="bfloat16")  # type: ignore[call-overload]


def test_the_command_line_makes_margins_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from lemmax.cli import main

    facts, layer = tmp_path / "facts.csv", tmp_path / "layer.json"
    facts.write_text("subject,f,g\na,x,y\nb,y,x\n")
    compile_ = ["compile", str(facts), "-o", str(layer), "--margin"]
    with pytest.raises(SystemExit) as done:
        main([*compile_, "widest"])
    assert done.value.code == 0
    assert "Margin of W_U: " in capsys.readouterr().out
    assert checker.check_file(layer).holds
    with pytest.raises(SystemExit) as done:
        main([*compile_, "widest", "--json"])
    assert "Frobenius norm" in json.loads(capsys.readouterr().out)["margin"]
    for wrong in (["wide"], ["widest", "--dtype", "bfloat16"], ["widest", "--smallest", "1"]):
        with pytest.raises(SystemExit) as done:
            main([*compile_, *wrong])
        assert done.value.code == 2
        assert "margin" in capsys.readouterr().err
