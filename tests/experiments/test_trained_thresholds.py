"""Ranks at thresholds: the exact decisions, the judge on planted layers, and what was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from lemmax import checker
from lemmax.checker.attention import layer as layer_for_checker
from lemmax.checker.language.sorts import Facts
from lemmax.checker.words import layers as layer_words
from lemmax.numerics.experiments.studies import Row, recorded
from lemmax.numerics.experiments.wong import thresholded, thresholds
from lemmax.numerics.experiments.wong.thresholds import Ranks
from lemmax.numerics.experiments.wong.trained_ranks import rank_below
from lemmax.numerics.training.configurations import Triple, Wong
from lemmax.numerics.training.jobs import Job
from lemmax.numerics.twins.exact_layers import exact_layer
from lemmax.theory.errors import NotExact
from lemmax.theory.facts.database import Database
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.tensors.ranks import tensor_rank
from lemmax.theory.wong.layer import AttentionLayer, Head
from lemmax.theory.wong.layer_ranks import LayerShape
from lemmax.theory.wong.layer_tensors import layer_tensor


@pytest.mark.claim("wong/rank-conditions-expected", grade="empirical", statement="5ef1bb7d82a13c74")
def test_layers_with_enough_rank_memorize(recorded_rows_of: Any, measure: Any) -> None:
    measure(*recorded_rows_of("wong-thresholds"))


@pytest.mark.claim("wong/tau-monotone-trained", grade="empirical", statement="813fa9ce1ff9bd04")
def test_thresholded_ranks_of_trained_layers(recorded_rows_of: Any, measure: Any) -> None:
    """Strictly most layers come no closer; weakly it is near to one half by the slow recipe."""
    measure(*recorded_rows_of("wong-thresholds"), undecided=True)


FACTS: tuple[Triple, ...] = ((0, 3, 5), (0, 4, 6), (1, 3, 7), (1, 4, 5), (2, 3, 6))


def random_layer(seed: int, attends: bool = True) -> AttentionLayer:
    """Eight tokens, two heads; its logits are spread so that thresholds are passed and missed."""
    draw = Random(seed)

    def matrix(rows: int, columns: int, size: int = 2) -> Matrix:
        return Matrix(
            [[Fraction(draw.randint(-8, 8) * size, 8) for _ in range(columns)] for _ in range(rows)]
        )

    size = 2 if attends else 0
    heads = [Head(matrix(2, 1, size), matrix(1, 2), matrix(2, 1), matrix(1, 2)) for _ in range(2)]
    return AttentionLayer(tuple(range(8)), matrix(8, 2), matrix(2, 8), heads)


# -- exact decisions -----------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(6))
def test_marks_are_the_thresholded_softmax_where_logits_are_rational(seed: int) -> None:
    """Without attention scores L is rational, and the theory's own softmax_{≥τ} decides."""
    layer = random_layer(seed, attends=False)
    tensor = layer_tensor(layer, Database.from_triples(sorted(FACTS)))
    found = thresholded.marks(layer, FACTS)
    for level, tau in enumerate(thresholded.TAUS):
        marked = thresholded.marked_tensor(found, FACTS, level)
        order = [list(tensor.values).index(v) for v in thresholded.axes_of(FACTS)[2]]
        assert (marked == np.array(tensor.threshold(tau))[:, :, order]).all()


def agrees_with_the_checker(
    layer: AttentionLayer, facts: Sequence[Triple], found: Sequence[int]
) -> set[tuple[int, int]]:
    """On the domain the checker says the same of every value; thresholds and ones that were met."""
    keys, queries, values = thresholded.axes_of(facts)
    again, seen = layer_for_checker(layer.certificate_fields(), "layer"), set()
    for level, tau in enumerate(thresholded.TAUS):
        marked = thresholded.marked_tensor(found, facts, level)
        for k, q, _ in facts:
            asked = Facts((str(k), str(q), str(v)) for v in values)
            said = layer_words.answers(again, asked, tau, [str(v) for v in values])
            row = marked[keys.index(k), queries.index(q)]
            assert said == [bool(x) for x in row]
            seen.add((level, int(row.sum())))
    return seen


def test_marks_are_the_answers_of_the_checker() -> None:
    seen = set()
    for seed in range(8):
        layer = random_layer(seed)
        seen |= agrees_with_the_checker(layer, FACTS, thresholded.marks(layer, FACTS))
    assert seen == {(level, n) for level in range(4) for n in (0, 1)}


def test_float_weights_are_inspected_as_the_rationals_they_are() -> None:
    """Weights as training begins with, made larger: thresholds are passed and missed."""
    seen = set()
    for study in thresholds.STUDIES[::2]:
        job = study.jobs("small")[3]
        weights = {n: np.float32(2) * w for n, w in job.initial(study.recipe).items()}
        assert isinstance(job.config, Wong)
        said = thresholds.inspect(job, weights)
        layer = exact_layer(weights, layout="wong")
        seen |= agrees_with_the_checker(layer, job.config.facts, said["marks"])
        assert len(said["ranks"]) == 4
        assert all(low <= high for low, high in (*said["ranks"], said["layer"], said["database"]))
    assert seen == {(level, n) for level in range(4) for n in (0, 1)}


def test_off_the_domain_only_the_embedding_is_left() -> None:
    """The heads turn the answer around on the domain; (2, 4) is no fact and keeps W_EU."""
    head = Head([[0]], [[0]], [[-4]], [[1]])
    W_U = [[0, 0, 0, 0, 0, 9, 0, -9]]
    layer = AttentionLayer(tuple(range(8)), [[1]] * 8, W_U, [head])
    found = thresholded.marks(layer, FACTS)
    assert [thresholded.read(mark) for mark in found] == [(2, 4)] * 5 + [(0, 4)]


def test_a_tie_is_not_decided_by_luck() -> None:
    layer = AttentionLayer(tuple(range(8)), [[1]] * 8, [[0] * 8])
    with pytest.raises(NotExact, match="4096 bits"):
        thresholded.marks(layer, FACTS)


@pytest.mark.parametrize("heads", [1, 2])
def test_no_layer_has_a_rank_above_the_ceiling(heads: int) -> None:
    """Rational layers, whose tensors have the rank of an integer one; some reach the ceiling."""
    above = thresholded.layer_rank_above(LayerShape(2, 1, 1, heads), FACTS)
    lowest = []
    for seed in range(12):
        full = random_layer(seed, attends=False)
        layer = AttentionLayer(full.tokens, full.W_E, full.W_U, full.heads[:heads])
        cube = layer_tensor(layer, Database.from_triples(FACTS)).rationals()
        whole = [[[int(x * 2**20) for x in fibre] for fibre in line] for line in cube]
        assert all((x * 2**20).q == 1 for line in cube for fibre in line for x in fibre)
        lowest.append(thresholded.rank_bounds(np.array(whole))[0])
        attending = AttentionLayer(
            full.tokens, full.W_E, full.W_U, random_layer(seed).heads[:heads]
        )
        lowest.append(rank_below(attending, FACTS))
    assert max(lowest) <= above
    assert max(lowest) >= above - 1


def test_ceilings_that_are_reached() -> None:
    """Two values in a plane: every slice of a query has rank two, and no more than its rows."""
    full = [(k, 5 + q, 8 + (k + q) % 3) for k in range(5) for q in range(3)]
    assert thresholded.layer_rank_above(LayerShape(1, 1, 1, 1), full) == 3
    assert thresholded.layer_rank_above(LayerShape(2, 1, 1, 1), full) == 4
    assert thresholded.layer_rank_above(LayerShape(3, 3, 1, 1), full) == 9
    single = [(k, 5 + k, 10) for k in range(5)]
    assert thresholded.layer_rank_above(LayerShape(6, 6, 1, 4), single) == 5


# -- the judge on planted layers -------------------------------------------------------------------
SETTINGS = [study.name for study in thresholds.STUDIES]


def word(answer: str) -> str:
    """What a verdict is called where every setting says so, or two of them differ."""
    return {"yes": "reproduced", "no": "not-reproduced", "both": "recipe-dependent"}[answer]


def planted(
    at: tuple[Any, ...], layer: Any, database: Any = 3, memorized: int = 4, same: bool = False
) -> Ranks:
    """A layer with these ranks, or intervals of them; it memorizes at so many thresholds."""

    def interval(rank: Any) -> tuple[int, int]:
        return rank if isinstance(rank, tuple) else (rank, rank)

    known = tuple(level < memorized for level in range(4))
    ranks = tuple(map(interval, at))
    return Ranks(ranks, (same,) * 3, (False,) * 4, known, interval(database), interval(layer))


def monotone(*kinds: tuple[Ranks, int], but: dict[str, Ranks] | None = None) -> str | None:
    layers = {s: [x for kind, n in kinds for x in [kind] * n] for s in SETTINGS}
    for setting, kind in (but or {}).items():
        layers[setting] = [kind] * 60
    return thresholds.judge_monotone(layers).verdict


CLOSER = planted((9, 8, 6, 5), 4)
LOWER = planted((9, 8, 6, 0), 4)  # falls below rank L, and is closer at the end
RISES = planted((6, 8, 7, 5), 4)
LEAVES = planted((5, 4, 3, 2), 5)
STAYS = planted((5, 5, 5, 5), 3)
WIDE = planted((5, 4, 3, 2), (1, 9))


@pytest.mark.parametrize(
    ("layer", "closer", "not_farther"),
    [
        (CLOSER, True, True),
        (LOWER, True, True),
        (RISES, False, False),
        (LEAVES, False, False),
        (STAYS, False, True),
        (WIDE, None, None),
        (planted((9, (7, 8), (6, 7), 5), (1, 4)), True, True),  # whatever the ranks are
        (planted((9, (6, 8), (6, 7), 5), 4), None, None),  # it may rise
        (planted(((5, 6),) * 4, 3, same=True), False, True),  # one rank, whatever it is
        (planted(((5, 6),) * 4, 3), None, None),
        (planted((5, 5, 5, 4), (5, 9)), False, False),  # rank L is above, so it leaves
    ],
)
def test_what_the_intervals_decide(
    layer: Ranks, closer: bool | None, not_farther: bool | None
) -> None:
    found = tuple(layer.possible(thresholds.READINGS[r]) for r in ("closer", "not farther"))
    assert found == (closer, not_farther)


def test_ranks_that_fall_towards_that_of_the_layer_in_most_layers() -> None:
    assert monotone((CLOSER, 50), (LOWER, 50), (RISES, 20)) == word("yes")
    assert monotone((CLOSER, 30), (RISES, 90)) == word("no")
    assert monotone((CLOSER, 60), (LEAVES, 60)) is None  # too close to one half


def test_readings_that_disagree_decide_nothing() -> None:
    assert monotone((STAYS, 100)) is None
    assert monotone((STAYS, 10), (CLOSER, 90)) == word("yes")
    assert monotone((STAYS, 10), (LEAVES, 90)) == word("no")


def test_layers_that_are_not_known_count_for_neither_side() -> None:
    assert monotone((CLOSER, 90), (WIDE, 10)) == word("yes")
    assert monotone((CLOSER, 45), (WIDE, 55)) is None
    assert monotone((LEAVES, 45), (WIDE, 55)) is None
    assert monotone((LEAVES, 90), (WIDE, 10)) == word("no")


def test_settings_that_differ_are_told_apart() -> None:
    assert monotone((CLOSER, 60), but={SETTINGS[1]: RISES}) == word("both")
    assert monotone((CLOSER, 60), but={SETTINGS[1]: WIDE}) is None
    # Strictly all say no, weakly one says yes: the readings have different words.
    assert monotone((LEAVES, 60), but={SETTINGS[1]: STAYS}) is None


ENOUGH = planted((3, 3, 3, 3), 3)
ENOUGH_MISSED = planted((3, 3, 3, 3), 3, memorized=1)
TOO_FEW = planted((3, 2, 2, 2), 3, memorized=1)
OPEN = planted(((2, 3),) * 4, 3)
OPEN_MISSED = planted(((2, 3),) * 4, 3, memorized=1)


def conditions(*kinds: tuple[Ranks, int]) -> str | None:
    layers = {s: [x for kind, n in kinds for x in [kind] * n] for s in SETTINGS}
    return thresholds.judge_expected(layers).verdict


def test_layers_with_enough_rank_that_memorize() -> None:
    assert conditions((ENOUGH, 50), (ENOUGH_MISSED, 10)) == word("yes")
    assert conditions((ENOUGH, 50), (TOO_FEW, 500)) == word("yes")  # not asked
    assert conditions((ENOUGH, 10), (ENOUGH_MISSED, 50)) == word("no")
    assert conditions((ENOUGH, 50), (ENOUGH_MISSED, 45)) is None
    assert conditions((TOO_FEW, 500)) is None  # no layer has enough
    at_first = planted((3, 3, 3, 3), 3, memorized=2)  # at .75 and not at .95
    assert conditions((at_first, 60)) == word("no")


def test_layers_whose_rank_may_be_enough_count_for_neither_side() -> None:
    assert OPEN.enough(1) is None
    assert replace(OPEN, exact=(True,) * 4).enough(1) is True  # it is D, whatever its rank
    assert conditions((ENOUGH, 50), (OPEN_MISSED, 50)) is None
    assert conditions((ENOUGH, 90), (OPEN_MISSED, 10)) == word("yes")
    assert conditions((ENOUGH_MISSED, 50), (OPEN, 50)) is None
    assert conditions((ENOUGH_MISSED, 90), (OPEN, 10)) == word("no")


def test_a_row_says_what_its_marks_say() -> None:
    """At .5 all of D is marked, and at .95 and .99 the fact of key 1 no more."""
    facts = ((0, 2, 3), (1, 2, 4))
    said = {"marks": [4, 6], "ranks": [[2, 2], [2, 2], [1, 1], [1, 1]], "database": [2, 2]}
    row = Row(Job(Wong(1, 1, 1, 1, facts)), 1, 0.0, 1.0, {}, None, {**said, "layer": [1, 2]})
    ranks = Ranks.of(row)
    assert ranks.same == (True, False, True)
    assert ranks.exact == ranks.memorized == (True, True, False, False)
    assert [ranks.enough(level) for level in range(4)] == [True, True, False, False]
    other = replace(row, inspected={**said, "marks": [4, 4], "layer": [1, 2]})
    assert not any(Ranks.of(other).memorized)  # key 1 has the value of key 0


# -- what was recorded -----------------------------------------------------------------------------
def recorded_layers() -> list[tuple[Wong, Row]]:
    """The layers of all settings, with what was recorded of them."""
    rows = (row for study in thresholds.STUDIES for row in recorded(study)[1])
    return [(row.job.config, row) for row in rows if isinstance(row.job.config, Wong)]


def test_every_setting_is_recorded_whole() -> None:
    for study in thresholds.STUDIES:
        assert [row.job for row in recorded(study)[1]] == study.jobs("paper")


def test_recorded_ranks_are_those_of_the_marks() -> None:
    """Every fifth layer: the tensors are made of the marks again, and bounded again."""
    for config, row in recorded_layers()[::5]:
        facts, said = config.facts, row.inspected
        tensors = [thresholded.marked_tensor(said["marks"], facts, level) for level in range(4)]
        wanted = [*said["ranks"], said["database"]]
        for tensor, bounds in zip(
            [*tensors, thresholded.database_tensor(facts)], wanted, strict=True
        ):
            if tensor.shape[1] < 3:  # the others take longer
                assert list(thresholded.rank_bounds(tensor)) == bounds


def test_recorded_ranks_are_proved() -> None:
    """Some of them, by certificates that the independent checker accepts."""
    for config, row in recorded_layers()[7::80]:
        tensor = thresholded.marked_tensor(row.inspected["marks"], config.facts, 1)
        found = tensor_rank(tensor)
        assert [found.lower, found.upper] == row.inspected["ranks"][1]
        assert checker.check(found.certificate()).holds


def test_recorded_marks_are_those_of_the_floats_but_for_the_other_tokens() -> None:
    """A probability among the values is at least that among all tokens, which training measured."""
    for config, row in recorded_layers():
        facts = config.facts
        D = thresholded.database_tensor(facts)
        for level, reached in enumerate(row.reached.values()):
            marked = thresholded.marked_tensor(row.inspected["marks"], facts, level)
            assert (marked * D).sum() >= round(reached * len(facts))
        low, high = row.inspected["layer"]
        assert low <= high


def test_the_ranks_of_layers_on_tables_are_known() -> None:
    """There are many keys, so the flattening by keys lacks at most min(|Q|, n - ρ) - 1."""
    for c, row in recorded_layers()[: 2 * thresholds.LAYERS]:
        shape = LayerShape(c.d_model, c.d_vo, c.d_qk, c.heads)
        _, queries, values = thresholded.axes_of(c.facts)
        left = min(len(queries), shape.n(len(values)) - shape.rho(len(values)))
        low, high = row.inspected["layer"]
        assert high - low <= max(0, left - 1)
