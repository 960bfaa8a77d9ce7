"""The smallest layer: constructions that share, the search, and what no layer can do without."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations, pairwise, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions import compile_database, compile_smallest, figure_1
from lemmax.constructions.compiler.planning import Dimensions, applicable, cheapest, dimensions
from lemmax.constructions.compiler.smallest.choosing import choices, constructed
from lemmax.constructions.compiler.smallest.cyclic import labels
from lemmax.constructions.compiler.smallest.descent import Problem, descend, drawn, gradient
from lemmax.constructions.compiler.smallest.few_keys import few_keys
from lemmax.constructions.compiler.smallest.needed import needed, separable
from lemmax.constructions.compiler.smallest.paired import pair
from lemmax.constructions.compiler.smallest.searching import search
from lemmax.constructions.countries import countries
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.wong.memorization import memorizes

ROOT = Path(__file__).parents[2]


def group(n: int, shared: bool = False) -> Database:
    """The table of Z_n, with keys and queries as different tokens or as the same."""
    key, query = ("t", "t") if shared else ("k", "q")
    return Database.from_triples(
        (f"{key}{i}", f"{query}{j}", f"v{(i + j) % n}") for i in range(n) for j in range(n)
    )


def tables(disjoint: bool = True) -> st.SearchStrategy[Database]:
    key, query = ("k", "q") if disjoint else ("t", "t")
    cell = st.tuples(st.integers(0, 4), st.integers(0, 3))
    return st.dictionaries(cell, st.integers(0, 5), min_size=1, max_size=14).map(
        lambda facts: Database.from_triples(
            (f"{key}{i}", f"{query}{j}", f"v{v}") for (i, j), v in facts.items()
        )
    )


@settings(max_examples=60, deadline=None)
@given(tables() | tables(disjoint=False))
def test_every_construction_memorizes_and_the_smallest_is_never_worse(db: Database) -> None:
    for choice in choices(db):
        layer = choice.build()
        assert memorizes(layer, db).holds, choice.method
        assert layer.parameters == choice.dims.parameters
    own, before = constructed(db).dims, dimensions(db, cheapest(db))
    assert needed(db).parameters <= own.parameters <= before.parameters


@settings(max_examples=40, deadline=None)
@given(tables())
def test_few_keys_needs_one_coordinate_per_key(db: Database) -> None:
    layer, d = few_keys(db), max(2, len(db.keys))
    assert (layer.d_model, layer.d_qk, layer.d_vo, len(layer.heads)) == (d, max(1, d - 1), 1, 1)
    assert memorizes(layer, db).holds


@pytest.mark.parametrize("n", [2, 3, 7, 13, 30])
def test_cyclic_tables_take_sixteen_parameters(n: int) -> None:
    random = np.random.default_rng(n)
    a, b, c = (random.permutation(n) for _ in range(3))
    db = Database.from_triples(
        (f"k{a[i]}", f"q{b[j]}", f"v{c[(i + j) % n]}") for i in range(n) for j in range(n)
    )
    [choice] = [choice for choice in choices(db) if choice.method == "cyclic"]
    layer = choice.build()
    assert layer.parameters == 16
    assert checker.check(memorizes(layer, db).certificate()).holds


def test_a_table_of_another_group_is_not_cyclic() -> None:
    klein = Database.from_triples((f"k{i}", f"q{j}", i ^ j) for i in range(4) for j in range(4))
    assert labels(klein) is None
    spoilt = [fact for fact in group(5) if fact[:2] != ("k1", "q1")]
    assert labels(Database.from_triples([*spoilt, ("k1", "q1", "v0")])) is None


def test_figure_1_and_countries_take_eight_parameters_and_none_takes_fewer() -> None:
    for db in (figure_1(), countries()):
        compiled = compile_smallest(db, waves=0)
        assert compiled.dims.parameters == needed(db).parameters == 8
        assert checker.check(json.loads(json.dumps(compiled.certificate()))).holds
    assert compiled.recall("Singapore", "continent").answer == "AS"
    assert compiled.recall("Singapore", "currency").answer == "SGD"


def test_a_threshold_is_reached_by_scaling() -> None:
    compiled = compile_smallest(figure_1(), "999/1000", waves=0)
    assert all(compiled.recall(k, q).probability >= 0.999 for k, q, _ in figure_1())


def contiguous(classes: list[list[int]]) -> bool:
    """Whether some order of five keys makes all classes intervals, by trying all of them."""
    return any(
        all(
            max(places) - min(places) < len(places)
            for some in classes
            for value in set(some)
            for places in [[order.index(k) for k in range(5) if some[k] == value]]
        )
        for order in permutations(range(5))
    )


@settings(max_examples=80, deadline=None)
@given(*[st.lists(st.integers(0, 3), min_size=5, max_size=5)] * 2)
def test_two_predicates_share_a_number_iff_an_order_has_intervals_for_both(
    first: list[int], second: list[int]
) -> None:
    facts = [(f"k{k}", q, f"{q}{c[k]}") for k in range(5) for q, c in (("f", first), ("g", second))]
    found = pair(Database.from_triples(facts))
    assert (found is not None) == contiguous([first, second])
    if found is not None:
        places = [int(str(k)[1:]) for k in found.order]
        for some in (first, second):
            run = [some[k] for k in places]
            assert sum(a != b for a, b in pairwise(run)) == len(set(run)) - 1


def test_the_gradient_is_that_of_the_loss() -> None:
    problem = Problem.of(group(4, shared=True))
    weights = drawn(problem, Dimensions(3, 2, 2, 2), 2, seed=1)
    told = gradient(problem, weights)[2]
    for name, x in weights.items():
        place = (1, *(0 for _ in x.shape[1:]))
        losses = []
        for step in (1e-5, -2e-5):
            x[place] += step
            losses.append(gradient(problem, weights)[0][1])
        x[place] += 1e-5
        assert told[name][place] == pytest.approx((losses[0] - losses[1]) / 2e-5, rel=1e-4)


def random_table() -> Database:
    random = np.random.default_rng(3)
    return Database.from_triples(
        (f"k{i}", f"q{j}", f"v{random.integers(4)}") for i in range(6) for j in range(4)
    )


def test_what_is_found_is_exact_smaller_and_accepted_by_the_checker() -> None:
    db = random_table()
    compiled = compile_smallest(db, waves=1, seconds=None)
    assert compiled.method == "found"
    assert compiled.dims.parameters < constructed(db).dims.parameters
    assert checker.check(json.loads(json.dumps(compiled.certificate()))).holds
    assert all(compiled.recall(k, q).answer == v for k, q, v in db)


QUICK: dict[str, Any] = {"least": 8, "waves": 2, "restarts": 8, "steps": 100}


def test_tokens_may_coincide_and_all_waves_are_searched() -> None:
    db = group(3, shared=True)
    layer = search(db, 40, **{**QUICK, "waves": 1})
    assert layer is not None
    assert layer.parameters < 40
    assert "by-predicates" not in applicable(db)
    assert memorizes(layer, db).holds


def test_killed_and_continued_is_undisturbed(tmp_path: Path) -> None:
    db, state = random_table(), tmp_path / "state.json"
    undisturbed = search(db, 40, **QUICK)
    assert undisturbed is not None
    program = (
        "import json, os, signal, sys\n"
        "sys.path[:0] = sys.argv[4:]\n"
        "from lemmax.constructions.compiler.smallest.searching import search\n"
        "from lemmax.theory.facts.database import Database\n"
        "facts, options = json.loads(sys.argv[2]), json.loads(sys.argv[3])\n"
        "search(Database.from_triples(map(tuple, facts)), 40, state=sys.argv[1], **options,\n"
        "       progress=lambda told: os.kill(os.getpid(), signal.SIGKILL))\n"
    )
    roots = [str(ROOT / room) for room in ("theory", "constructions")]
    told = [str(state), json.dumps(db.triples), json.dumps(QUICK), *roots]
    for tried in (1, 2):
        done = subprocess.run([sys.executable, "-c", program, *told], check=False)
        assert done.returncode == -9
        assert len(json.loads(state.read_text(encoding="utf-8"))["tried"]) == tried
    assert search(db, 40, **QUICK, state=state) == undisturbed
    with pytest.raises(LemmaxError, match="another search"):
        search(db, 40, **{**QUICK, "seed": 1}, state=state)
    told = json.loads(state.read_text(encoding="utf-8"))
    told["found"]["weights"]["W_U"][0] = told["found"]["weights"]["W_U"][1]
    state.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(LemmaxError, match="was edited"):
        search(db, 40, **QUICK, state=state)
    del told["found"]["weights"]["W_Q"]
    state.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(LemmaxError, match="not the state of a search"):
        search(db, 40, **QUICK, state=state)
    state.write_text("{}", encoding="utf-8")
    with pytest.raises(LemmaxError, match="not the state of a search"):
        search(db, 40, **QUICK, state=state)


def test_processes_do_not_change_what_is_found() -> None:
    assert search(random_table(), 40, **QUICK, processes=2) == search(random_table(), 40, **QUICK)


def test_time_ends_a_search() -> None:
    assert search(group(6), 16, seconds=0.05, waves=None) is None


def test_bad_input_is_one_sentence() -> None:
    for wrong in (-3.0, 0.0, float("nan")):
        with pytest.raises(LemmaxError, match="not a time to search"):
            compile_database(figure_1(), smallest=wrong)
    with pytest.raises(LemmaxError, match="at least one process"):
        compile_smallest(figure_1(), processes=0)
    with pytest.raises(LemmaxError, match="no dtype"):
        compile_database(figure_1(), smallest=True, dtype="bfloat16")  # type: ignore[call-overload]


def one_head_tables(d: int) -> Iterator[Database]:
    """What random layers of one head with d_qk = d_vo = 1 know, which a lower bound must allow."""
    random = np.random.default_rng(d)
    for _ in range(60):
        keys, queries, values = (int(random.integers(4, 14)), int(random.integers(2, 7)), 3)
        k, q = 2 * random.standard_normal((keys, d)), 2 * random.standard_normal((queries, d))
        ask, offer, value, out = random.standard_normal((4, d))
        alpha = 1 / (1 + np.exp(-3 * (q @ ask)[:, None] * ((k @ offer) - (q @ offer)[:, None])))
        mixed = (1 - alpha) * (q @ value)[:, None] + alpha * (k @ value)
        h = q[:, None] + 3 * mixed[..., None] * out
        told = (h @ random.standard_normal((d, values))).argmax(-1)
        yield Database.from_triples(
            (f"k{i}", f"q{j}", int(told[j, i])) for i, j in product(range(keys), range(queries))
        )


@pytest.mark.parametrize("d", [2, 3])
def test_no_lower_bound_excludes_what_a_small_layer_knows(d: int) -> None:
    assert all(needed(db).parameters <= 4 * d for db in one_head_tables(d))
    assert any(len(db.values) == 3 for db in one_head_tables(d))


def test_lower_bounds_exclude_what_is_proved() -> None:
    subsets = [(f"k{k}", f"q{q}", int(k in q)) for q in combinations(range(4), 2) for k in range(4)]
    assert needed(Database.from_triples(subsets)).parameters == 8
    third = [("k0", "other", 2), ("k1", "other", 1)]
    assert needed(Database.from_triples([*subsets, *third])).parameters == 12
    cube = [(f"k{k}", f"q{q}", k >> q & 1) for k in range(32) for q in range(5)]
    assert any("cells" in reason for reason in needed(Database.from_triples(cube)).reasons)
    equality = [("a", "a", 0), ("b", "b", 0), ("a", "b", 1), ("b", "a", 1)]
    assert needed(Database.from_triples(equality)).parameters == 8
    assert separable(np.array([[0, 1], [1, 0]])) is True
    assert [needed(group(n, shared=True)).parameters for n in (3, 4, 5)] == [12, 16, 12]


def test_a_descent_stops_at_its_deadline() -> None:
    told = descend(Problem.of(group(5)), Dimensions(2, 1, 1, 1), restarts=2, steps=9, deadline=0.0)
    assert told is None
