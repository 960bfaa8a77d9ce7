"""Readouts: either side exact, against an SMT solver; layers of the three papers; bad input."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import cvxpy
import numpy as np
import pytest
import z3
from flint import arb, arb_mat, fmpq

from lemmax import checker
from lemmax.constructions import compile_database, example_3_3, layer_features, readout
from lemmax.constructions.readouts import finding
from lemmax.constructions.readouts.margin import Margin
from lemmax.theory import AttentionLayer, Database, Matrix
from lemmax.theory.dana.transformer import AoT, AoTHead
from lemmax.theory.errors import LemmaxError, Undecided
from lemmax.theory.mahdavi.layer import ContextHead, multi_head


def satisfiable(features: list[list[int]], labels: list[int], V: int) -> bool:
    """Whether a readout exists, decided by z3 over the rationals."""
    W = [[z3.Real(f"w{v}_{j}") for j in range(len(features[0]))] for v in range(V)]
    solver = z3.Solver()
    for z, y in zip(features, labels, strict=True):
        scores: list[Any] = [z3.Sum([w * x for w, x in zip(row, z, strict=True)]) for row in W]
        solver.add([scores[y] > scores[v] for v in range(V) if v != y])
    return bool(solver.check() == z3.sat)


@pytest.mark.parametrize("kind", ["small", "floats", "degenerate"])
def test_readouts_agree_with_an_smt_solver(kind: str) -> None:
    """Both sides occur, each with a certificate that the checker accepts."""
    sides = set()
    for seed in range(12):
        rng = random.Random(f"{kind} {seed}")
        T, D, V = rng.randint(3, 9), rng.randint(1, 4), rng.randint(2, 4)
        size = 1 if kind == "degenerate" else 5
        labels = [t % V for t in range(T)]
        exact: list[list[Any]] = [[rng.randint(-size, size) for _ in range(D)] for _ in range(T)]
        if kind == "floats":
            exact = [[x / 7 for x in row] for row in exact]
        told = readout(np.array(exact) if kind == "floats" else exact, labels)
        rational = [[Fraction(x) for x in row] for row in exact]
        assert told.holds == satisfiable(rational, labels, min(V, T)), (exact, labels)  # type: ignore[arg-type]
        assert checker.check(told.certificate()).holds
        sides.add(told.holds)
        if told.conflict is not None:
            assert told.conflict.irreducible
            assert told.read == ("floats" if kind == "floats" else "exact")
    assert sides == {True, False}


def test_a_wrong_guess_is_put_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the solver says, exact arithmetic ends at the same weights."""
    rng = random.Random(5)
    features = [[rng.randint(-5, 5) for _ in range(4)] for _ in range(7)]
    labels = [0, 1, 2, 0, 1, 2, 1]
    right = readout(features, labels)

    def lying(demands: Any, start: Any) -> Any:
        guess = np.zeros((demands.T, demands.V))
        guess[0, (demands.labels[0] + 1) % demands.V] = 1
        return guess, np.zeros((demands.V, demands.Z.ncols())), None

    monkeypatch.setattr(finding, "guess", lying)
    again = readout(features, labels)
    assert (again.holds, again.weights, again.margin) == (right.holds, right.weights, right.margin)


def test_many_active_demands_are_bounded_from_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Working sets and rounding, which large instances take, at a small size."""
    rng = np.random.default_rng(3)
    features, labels = rng.standard_normal((24, 14)), (np.arange(24) % 4).tolist()
    exact = readout(features, labels)
    monkeypatch.setattr(finding, "SMALL", 10)
    monkeypatch.setattr("lemmax.constructions.readouts.deciding.EXACT", 3)
    rounded = readout(features, labels)
    assert exact.margin is not None
    assert rounded.margin is not None
    assert exact.margin.widest
    assert not rounded.margin.widest
    assert rounded.margin.lower_squared < exact.margin.lower_squared < rounded.margin.upper_squared
    assert rounded.margin.upper_squared < rounded.margin.lower_squared * fmpq(1001, 1000)
    assert checker.check(rounded.certificate()).holds


def test_the_exclusive_or_is_named_in_words() -> None:
    table = [("a", "f", 0), ("a", "g", 1), ("b", "f", 1), ("b", "g", 0)]
    one_hot = [[k == "a", k == "b", q == "f", q == "g"] for k, q, _ in table]
    told = readout(
        np.array(one_hot, dtype=int),
        [v for *_, v in table],
        names=[f"{k}.{q}" for k, q, _ in table],
    )
    assert str(told.conflict) == (
        "No linear readout of these features holds these 4 facts together, and without any one of "
        "them a readout exists: a.f is 0; a.g is 1; b.f is 1; b.g is 0."
    )
    assert "e_{0} - e_{1}" in told.formula()


def test_features_of_layers_of_three_papers() -> None:
    """W_U times the features gives the logits of each layer; exact where attention is rational."""
    db = Database.from_triples([("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y"), ("b", "g", "x")])
    layer = compile_database(db).layer
    sequences = [(k, q) for k, q, _ in db]
    features = layer_features(layer, sequences)
    labels = [v for *_, v in db]
    told = readout(features, labels)
    assert told.holds
    balls = features if isinstance(features, arb_mat) else arb_mat(features.flint)
    logits = balls * arb_mat(layer.W_U.flint)
    for i, s in enumerate(sequences):
        wanted = layer.logits(s).tolist()[-1]
        assert all(x.overlaps(y) for x, y in zip(logits.tolist()[i], wanted, strict=True))
    assert told.weights is not None
    place = {v: i for i, v in enumerate(told.classes)}
    zero = Matrix.zeros(1, layer.d_model)
    columns = [told.weights[place[t]] if t in place else zero[0] for t in layer.tokens]
    read = AttentionLayer(layer.tokens, layer.W_E, Matrix(columns).T, layer.heads, layer.unit)
    row = read.last_logits(sequences[0]).argmax()
    assert row == (layer.index[labels[0]],)

    one = Matrix([[1, 2]])
    head = AoTHead(one, one, one, Matrix([[1], [0]]))
    for unit in ("1", "ln2"):
        model = AoT("abc", [[1, 0], [0, 1], [1, 1]], [[0, 0], [1, 0]], [[1, 0]] * 3, (head,), unit)  # type: ignore[arg-type]
        z = layer_features(model, ["ab", "ba", "cc"])
        assert isinstance(z, Matrix) == (unit == "ln2")
        z = arb_mat(z.flint) if isinstance(z, Matrix) else z
        table = (z * arb_mat(model.W_U.T.flint)).tolist()
        for row_, wanted in zip(table, model.logits(["ab", "ba", "cc"]), strict=True):
            assert all(x.overlaps(y) for x, y in zip(row_, wanted, strict=True))

    contexts = multi_head(
        [[1, 0], [0, 1]], [[1, 0], [0, 1], [2, 0]], [ContextHead([[1], [0]], [[1], [0]])], "ln2"
    )
    told = readout(layer_features(contexts), "abc")
    assert told.read == "exact"
    assert checker.check(told.certificate()).holds


def test_balls_hold_and_never_conflict() -> None:
    layer = example_3_3().layer
    with pytest.raises(LemmaxError, match="at least one sequence"):
        layer_features(layer, [])
    wide = arb_mat([[arb(1, 0.01), arb(0, 0.01)], [arb(0, 0.01), arb(1, 0.01)]])
    told = readout(wide, "ab")
    assert told.holds
    assert told.margin is not None
    assert told.margin.lower_squared < 1 < told.margin.upper_squared
    with pytest.raises(LemmaxError, match="put the weights into the layer"):
        told.certificate()
    with pytest.raises(Undecided, match="needs exact features"):
        readout(arb_mat([[arb(1)], [arb(1)]]), "ab")
    with pytest.raises(Undecided, match="narrower balls"):
        readout(arb_mat([[arb(1, 2)], [arb(-1, 2)]]), "ab")


@pytest.mark.parametrize(
    ("features", "labels", "sentence"),
    [
        ([[1, 2], [3]], "ab", "must all have the same length"),
        ([], "", "There are no facts"),
        (np.array([[1.0], [float("nan")]]), "ab", "nan is not a finite number"),
        ([[1], [2]], "a", "2 rows of features for 1 labels"),
        ([[1], [2]], "aa", "nothing to tell"),
        ([[0.5], [1]], "ab", "is a float"),
        (arb_mat([[arb("nan")], [arb(1)]]), "ab", "without a finite radius"),
        (np.zeros((2, 2, 2)), "ab", "two dimensions"),
        (None, "ab", "not NoneType"),
        (7, "ab", "not int"),
        ([[1], [2]], None, "Labels are a list, one per fact, not NoneType"),
        ([[1], [2]], [["a"], ["b"]], r"must be hashable, as \['a'\] is not"),
        ([[1], [2]], [(1, [2]), "b"], r"must be hashable, as \(1, \[2\]\) is not"),
    ],
)
def test_bad_features_get_one_sentence(features: Any, labels: Any, sentence: str) -> None:
    with pytest.raises(LemmaxError, match=sentence):
        readout(features, labels)


def test_weights_to_start_at_have_the_shape_of_weights() -> None:
    with pytest.raises(LemmaxError, match="start at are 2 × 1, not 1 × 2"):
        readout([[1], [2]], "ab", start=[[1, 2]])


@pytest.mark.parametrize(("T", "D", "V"), [(60, 8, 2), (120, 12, 4), (60, 8, 10), (150, 24, 6)])
def test_conflicts_that_nobody_planted_are_small(T: int, D: int, V: int) -> None:
    """A conflict of two labels has at most D + 1 facts, and without any one there is a readout."""
    rng = np.random.default_rng(1)
    features, labels = rng.standard_normal((T, D)), rng.integers(0, V, T).tolist()
    told = readout(features, labels)
    assert told.conflict is not None
    facts = told.conflict.facts
    assert told.conflict.irreducible
    assert len(facts) <= D + 1
    assert checker.check(told.certificate()).holds
    for out in facts[::4]:
        rest = [t for t in facts if t != out]
        rivals = sorted(set(labels))
        part = readout(features[rest], [labels[t] for t in rest], rivals=rivals, widest=False)
        assert part.holds
        assert checker.check(part.certificate()).holds


def test_conflicts_of_three_labels_are_shrunk_too() -> None:
    """No two labels conflict, all three do; and no fact of the conflict can be left out."""
    seen = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        features, labels = rng.integers(-9, 10, (20, 8)), (np.arange(20) % 3).tolist()
        told = readout(features, labels)
        if told.conflict is None:
            continue
        assert told.conflict.irreducible
        named = sorted(told.conflict.facts)
        for out in named:
            rest = [t for t in named if t != out]
            rows = [[int(x) for x in features[t]] for t in rest]
            assert satisfiable(rows, [labels[t] for t in rest], 3)
        seen += len({labels[t] for t in named}) == 3
    assert seen > 1


def test_conflicts_that_are_not_shrunk_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lemmax.constructions.readouts.conflicts.WORK", 0)
    monkeypatch.setattr("lemmax.constructions.readouts.readout._SHRINK", 0)
    rng = np.random.default_rng(1)
    told = readout(rng.standard_normal((40, 4)), rng.integers(0, 3, 40).tolist())
    assert told.conflict is not None
    assert not told.conflict.irreducible
    assert "whether fewer of them conflict was not decided" in str(told)


def test_margins_are_rounded_towards_what_is_proved() -> None:
    """The lower end down, the upper end up, and no size is lost: neither 0 nor infinity."""
    rng = random.Random(0)
    sizes = [fmpq(10) ** rng.randint(-900, 900) * rng.randint(1, 10**6) for _ in range(200)]
    for square in [*sizes, fmpq(2), fmpq(4), fmpq(1, 3)]:
        told = Margin(square, square * fmpq(11, 10))
        exact = Fraction(int(square.p), int(square.q))
        down, *_, up = (word for word in str(told).split() if word[0].isdigit())
        assert 0 < Fraction(down) ** 2 <= exact
        assert Fraction(up) ** 2 >= exact * Fraction(11, 10)
        assert Fraction(up) ** 2 < exact * Fraction(11001, 10000)
        low = float(told)
        assert Fraction(low) ** 2 <= exact
        assert low < float("inf")
        above = math.nextafter(low, math.inf)
        assert above == math.inf or Fraction(above) ** 2 > exact


def test_a_solver_that_fails_gets_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(self: Any, **options: Any) -> None:
        raise cvxpy.SolverError("Solver failed.")

    def says_infeasible(self: Any, **options: Any) -> None:
        self._status = "infeasible_inaccurate"

    monkeypatch.setattr(cvxpy.Problem, "solve", gives_up)
    with pytest.raises(Undecided, match="gave up on the readout"):
        readout([[1, 0], [0, 1]], "ab")
    monkeypatch.setattr(cvxpy.Problem, "solve", says_infeasible)
    with pytest.raises(Undecided, match="status 'infeasible_inaccurate' and no weights"):
        readout([[1, 0], [0, 1]], "ab")
