"""What the recorded runs of Wong's experiments say about the claims, and what noise would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from lemmax.numerics.experiments import experiment
from lemmax.numerics.experiments.studies import Judgement, Row, Study, recorded, recorded_rows
from lemmax.numerics.experiments.wong import fig2, fig3, trained_pairs

Judged: TypeAlias = Callable[[str], dict[str, Judgement]]
Measure: TypeAlias = Callable[..., None]
RowsOf: TypeAlias = Callable[[str], tuple[Any, Any]]


@pytest.mark.claim("wong/figure-2a", grade="empirical", statement="9a8b2fb052e48b43")
def test_figure_2a_triples_per_rank_bound(measure: Measure) -> None:
    """No training: the data are the databases of the two generators."""
    measure(fig2.judge_slopes, fig2.generators())


@pytest.mark.claim("wong/figure-2b-spread", statement="4bcf7f9e5b5746e0")
def test_figure_2b_spread_of_parameters(measure: Measure) -> None:
    measure(fig2.judge_slopes, fig2.generators())


@pytest.mark.claim("wong/figure-3a", grade="empirical", statement="e0f7e362e00745e3")
def test_figure_3a_small_layers_memorize(recorded_rows_of: RowsOf, measure: Measure) -> None:
    measure(*recorded_rows_of("wong-fig3"))


@pytest.mark.claim("wong/figure-3-tau", grade="empirical", statement="3212ca4b79cbc65d")
def test_figure_3_factors_in_tau(recorded_rows_of: RowsOf, measure: Measure) -> None:
    measure(*recorded_rows_of("wong-fig3"))


@pytest.mark.claim("wong/figure-3-bound", grade="empirical", statement="80c797bd4dfa16fb")
def test_figure_3_accuracy_grows_with_the_bound(recorded_rows_of: RowsOf, measure: Measure) -> None:
    measure(*recorded_rows_of("wong-fig3"))


@pytest.mark.claim("wong/figure-4", grade="empirical", statement="9c2e616ffa4eed98")
def test_figure_4_value_dimension(recorded_rows_of: RowsOf, measure: Measure) -> None:
    measure(*recorded_rows_of("wong-fig4"))


@pytest.mark.claim("wong/figure-3a-most", statement="94f0c686bc041e98")
@pytest.mark.claim("wong/figure-3-half", statement="836e75b971dbd2ed")
@pytest.mark.claim("wong/figure-3d", statement="29c88be4b3ad43b4")
@pytest.mark.claim("wong/figure-3-stronger", statement="7eeff4c293f2fc1f")
@pytest.mark.claim("wong/value-counts-overestimate", statement="52a5b8a018c5fe8e")
def test_figure_3_thresholds_and_shares(recorded_rows_of: RowsOf, measure: Measure) -> None:
    measure(*recorded_rows_of("wong-fig3"))


@pytest.mark.claim("wong/figure-4-vo", statement="a8a9627455d38bcb")
@pytest.mark.claim("wong/figure-4-qk", statement="84f895ea707693bb")
@pytest.mark.claim("wong/figure-4-small-vo", statement="34c45bc9a0a64df4")
@pytest.mark.claim("wong/figure-4-large-vo", statement="add8027bc90e523f")
@pytest.mark.claim("wong/figure-4-detrimental", statement="0c64b666942fd1f6")
@pytest.mark.claim("wong/figure-4-qk-alone", statement="f766badb478dae95")
def test_figure_4_query_key_dimension(recorded_rows_of: RowsOf, measure: Measure) -> None:
    measure(*recorded_rows_of("wong-fig4"))


@pytest.mark.parametrize("study", [trained_pairs.GUESS, trained_pairs.SLOW], ids=["fast", "slow"])
def test_all_pairs_of_the_paper_are_recorded(study: Study) -> None:
    """The sentences and verdicts above rest on 3,947 pairs of 548 databases and 364 layers."""
    rows = recorded(study)[1]
    assert [row.job for row in rows] == trained_pairs.pairs("paper")
    assert len(rows) == 3947
    assert {row.steps for row in rows} == {2000}


def test_the_order_in_tau() -> None:
    """A stricter threshold memorizes no more, fact by fact and so in every row."""
    for study in (trained_pairs.GUESS, trained_pairs.SLOW):
        for row in recorded(study)[1]:
            shares = [row.reached[tau] for tau in ("0.5", "0.75", "0.95", "0.99")]
            assert shares == sorted(shares, reverse=True)
            assert row.accuracy >= shares[0]  # over one half is the argmax


def _changed(rows: Sequence[Row], accuracies: NDArray[np.float64]) -> list[Row]:
    taus = ("0.5", "0.75", "0.95", "0.99")
    return [
        replace(row, accuracy=float(x), reached=dict.fromkeys(taus, float(x)))
        for row, x in zip(rows, accuracies, strict=True)
    ]


def _verdicts(name: str, change: Callable[[Sequence[Row]], Sequence[Row]]) -> dict[str, object]:
    found = experiment(name)
    rows = {study: change(some[:400]) for study, some in recorded_rows(found).items()}
    return {j.claim: j.verdict for j in found.judge(rows)}


def test_accuracies_that_fall_with_the_bound_are_not_a_reproduction() -> None:
    def fall(rows: Sequence[Row]) -> list[Row]:
        table = trained_pairs.Table(rows)
        return _changed(rows, 0.9 - table.layer / 100)

    verdicts = _verdicts("wong-fig3", fall)
    assert verdicts["wong/figure-3-bound"] == "not-reproduced"
    assert verdicts["wong/figure-3a"] is None  # none of some pairs: the share may be small
    assert verdicts["wong/figure-3a-most"] == "not-reproduced"


def test_growth_by_argmax_that_thresholds_do_not_share_is_not_stronger() -> None:
    """Accuracy grows with the bound by argmax and by nothing else: no threshold grows more."""

    def alone(rows: Sequence[Row]) -> list[Row]:
        table = trained_pairs.Table(rows)
        changed = _changed(rows, np.full(len(rows), 0.5))
        return [
            replace(row, accuracy=float(x))
            for row, x in zip(changed, 0.5 + table.layer / 100, strict=True)
        ]

    assert _verdicts("wong-fig3", alone)["wong/figure-3-stronger"] == "not-reproduced"


def test_layers_that_memorize_up_to_half_of_their_bound() -> None:
    def half(rows: Sequence[Row]) -> list[Row]:
        table = trained_pairs.Table(rows)
        return _changed(rows, (table.database < table.layer / 2).astype(np.float64))

    assert _verdicts("wong-fig3", half)["wong/value-counts-overestimate"] == "not-reproduced"


def test_a_value_dimension_that_harms_and_query_dimensions_that_harm_where_it_is_large() -> None:
    def harm(rows: Sequence[Row]) -> list[Row]:
        table = trained_pairs.Table(rows)
        return _changed(rows, 0.9 - table.d_vo * table.d_qk / 100)

    verdicts = _verdicts("wong-fig4", harm)
    assert verdicts["wong/figure-4-vo"] == "not-reproduced"
    assert verdicts["wong/figure-4-detrimental"] == "reproduced"


def test_databases_on_a_line_spread_less_than_parameters() -> None:
    line = np.arange(1.0, 101.0)
    cloud = np.tile([1.0, 100.0], 50)
    for sizes, word in ((2 * line, "reproduced"), (cloud, "not-reproduced")):
        judged = {j.claim: j.verdict for j in fig2.judge_slopes({"planted": (sizes, line)})}
        assert judged["wong/figure-2b-spread"] == word


def test_large_databases_are_asked_of_each_recipe() -> None:
    """Few pairs of the slow recipe carry its answer: without them the other is not enough."""
    tables = {s.name: recorded(s)[1] for s in (trained_pairs.GUESS, trained_pairs.SLOW)}
    slow = trained_pairs.SLOW.name

    def verdict(rows: dict[str, Sequence[Row]]) -> object:
        some, _ = fig3.judge_large({n: trained_pairs.Table(r) for n, r in rows.items()})
        assert set(some.asked) == set(tables)
        return some.verdict

    assert verdict({**tables}) == "reproduced"
    missed = [replace(row, accuracy=min(row.accuracy, 0.99)) for row in tables[slow]]
    assert verdict({**tables, slow: missed}) is None


def test_noise_decides_nothing_about_figure_4() -> None:
    random = np.random.default_rng(1)
    verdicts = _verdicts("wong-fig4", lambda rows: _changed(rows, random.random(len(rows))))
    assert set(verdicts.values()) == {None}


def test_query_dimensions_that_matter_more_are_not_a_reproduction() -> None:
    def favour(rows: Sequence[Row]) -> list[Row]:
        table = trained_pairs.Table(rows)
        return _changed(rows, (6 + table.d_qk - table.d_vo) / 12)

    assert _verdicts("wong-fig4", favour)["wong/figure-4"] == "not-reproduced"


def test_planted_factors_are_found() -> None:
    """Databases memorized exactly up to given multiples of the layer's bound."""
    rows = recorded(trained_pairs.GUESS)[1][:400]
    table = trained_pairs.Table(rows)
    ratio = table.database / table.layer
    planted = [
        replace(row, reached={**row.reached, "0.75": float(r < 3.5), "0.95": float(r < 1.5)})
        for row, r in zip(rows, ratio, strict=True)
    ]
    found = fig3.factors(trained_pairs.Table(planted))
    assert found["0.75"].within(3, 4)
    assert found["0.95"].within(1, 2)
    judgements = fig3.judge({trained_pairs.GUESS.name: planted, trained_pairs.SLOW.name: planted})
    assert {j.claim: j.verdict for j in judgements}["wong/figure-3-tau"] == "reproduced"
