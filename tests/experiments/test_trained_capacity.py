"""Bits per parameter that training finds: the recorded rows, counted as they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lemmax.constructions import compile_database
from lemmax.numerics.experiments import experiment
from lemmax.numerics.experiments.studies import Row, recorded_rows
from lemmax.numerics.experiments.wong import capacity
from lemmax.numerics.training.configurations import Wong
from lemmax.numerics.twins.certify import certify_layer
from lemmax.theory import Database


def test_layers_have_the_sizes_of_those_that_are_certified() -> None:
    for job in capacity.jobs("small"):
        config = job.config
        assert isinstance(config, Wong)
        db = Database.from_triples([(str(k), str(q), str(v)) for k, q, v in config.facts])
        compiled = compile_database(db, dtype="bfloat16")
        assert compiled.dims == capacity.certified(capacity.keys_of(job)).dims
        assert (config.d_model, config.heads) == (compiled.dims.d_model, compiled.dims.heads)


def test_facts_are_counted_as_exact_arithmetic_counts_them() -> None:
    """Facts that random weights happen to know, and as many that they do not."""
    config = capacity.jobs("small")[0].config
    assert isinstance(config, Wong)
    random = np.random.default_rng(0)
    weights = {name: random.normal(size=shape) for name, shape in config.shapes().items()}
    rounded = {name: capacity.bfloat16(array) for name, array in weights.items()}
    assert all((array.view(np.uint32) & 0xFFFF == 0).all() for array in rounded.values())
    known = [
        (k, q, v)
        for k, q, _ in config.facts[:12]
        for v in range(config.tokens)
        if capacity.recalled([(k, q, v)], rounded)
    ]
    assert len(known) == 12
    facts = [*known[:6], *((k, q, (v + 1) % config.tokens) for k, q, v in known[6:])]
    assert capacity.recalled(facts, rounded) == len(certify_layer(rounded, facts).known) == 6


def test_the_recorded_study_is_judged() -> None:
    chosen = experiment("wong-capacity")
    rows = recorded_rows(chosen)
    bits = capacity.trained(rows)
    assert {keys: len(some) for keys, some in bits.items()} == dict.fromkeys(capacity.KEYS, 4)
    for keys, some in bits.items():
        assert max(some) <= capacity.certified(keys).per_parameter
    (judgement,) = chosen.judge(rows)
    assert "less than the certified 1.85" in judgement.sentence
    full = {name: [replaced(row) for row in some] for name, some in rows.items()}
    assert "not surely less" in chosen.judge(full)[0].sentence


def replaced(row: Row) -> Row:
    """The same row, had every fact been recalled."""
    facts = row.job.config.samples
    return replace(row, inspected={"trained": facts, "bfloat16": facts})
