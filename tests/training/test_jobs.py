"""Jobs have keys and streams of their own, and survive a trip through JSON."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lemmax.numerics.training.configurations import Dana, Mahdavi, RandomDatabase, Wong
from lemmax.numerics.training.jobs import Job, batches, batches_per_epoch, job_from_json
from lemmax.numerics.training.recipes import recipe
from lemmax.numerics.training.streams import canonical
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database

configs = st.one_of(
    st.builds(
        Wong,
        d_model=st.integers(1, 6),
        d_vo=st.integers(1, 6),
        d_qk=st.integers(1, 6),
        heads=st.integers(0, 4),
        database=st.one_of(
            st.builds(RandomDatabase, st.integers(0, 10**6), st.integers(1, 200)),
            st.just(((0, 1, 2), (3, 1, 0))),
        ),
    ),
    st.builds(
        Dana,
        N=st.integers(1, 9),
        d=st.integers(1, 9),
        d_h=st.integers(1, 9),
        H=st.integers(0, 9),
        maps=st.sampled_from(["per-head", "shared"]),
        width=st.integers(0, 9),
        data_seed=st.integers(0, 9),
        pairs=st.sampled_from([None, (((0, 0, 0), 0),)]),
    ),
    st.builds(
        Mahdavi,
        d=st.sampled_from([2, 4, 6]),
        n=st.integers(1, 5),
        H=st.integers(1, 5),
        T=st.integers(1, 9),
        classes=st.integers(0, 5),
        shared_context=st.booleans(),
        embedding=st.booleans(),
    ),
)
jobs = st.builds(Job, configs, st.integers(0, 10**9))


@given(jobs)
def test_a_job_survives_json(job: Job) -> None:
    assert job_from_json(json.loads(canonical(job.to_json()))) == job


@given(jobs, jobs)
def test_equal_keys_mean_equal_jobs(a: Job, b: Job) -> None:
    chosen = recipe("dana-code")
    assert (a.key(chosen) == b.key(chosen)) == (a == b)
    assert a.key(chosen) != a.key(chosen.changed(eps=1e-7))


@given(st.integers(0, 10**6), st.integers(1, 200))
def test_random_databases_are_databases_of_at_most_that_many_facts(seed: int, most: int) -> None:
    facts = RandomDatabase(seed, most).facts()
    assert 1 <= len(facts) <= most
    assert len(Database.from_triples(facts)) == len(facts)  # no contradiction, no repetition
    tokens = {token for fact in facts for token in fact}
    assert tokens == set(range(len(tokens)))


def test_streams_depend_on_the_job_and_on_nothing_else() -> None:
    job = Job(Dana(5, 2, 2, 1), seed=3)
    first = job.stream("init").random(4)
    assert np.array_equal(first, Job(Dana(5, 2, 2, 1), seed=3).stream("init").random(4))
    others = [job.stream("pool"), job.stream("init", 1), Job(Dana(5, 2, 2, 1), 4).stream("init")]
    assert all(not np.array_equal(first, other.random(4)) for other in others)


def test_batches_of_an_epoch_are_the_pool_or_the_data_in_another_order() -> None:
    bigrams, chosen = Job(Dana(5, 2, 2, 1)), recipe("dana-code").changed(pool=256, batch=32)
    first, second = batches(bigrams, chosen, 0), batches(bigrams, chosen, 1)
    assert first is not None
    assert second is not None
    assert first.shape == (batches_per_epoch(bigrams, chosen), 32)
    assert np.array_equal(np.sort(first, None), np.sort(second, None))
    assert not np.array_equal(first, second)
    examples = Job(Mahdavi(4, 2, 1, 50))
    part = batches(examples, recipe("mahdavi-small").changed(batch=16), 0)
    assert part is not None
    assert part.shape == (3, 16)
    assert len(np.unique(part)) == 48


def test_initial_weights_of_the_public_code_have_its_bounds() -> None:
    job = Job(Dana(N=400, d=9, d_h=4, H=300), 1)
    weights = job.initial(recipe("dana-code"))
    bounds = {"e": 1 / 3, "pos": 1 / 2, "W_in": 1 / 3, "W_out": 1 / 2, "W_O": 1 / 2, "W_U": 1 / 3}
    bounds |= dict.fromkeys(("W_Q", "W_K", "W_V"), (6 / 16) ** 0.5)
    for name, bound in bounds.items():
        top = float(np.abs(weights[name]).max())
        least = 0.5 if weights[name].size < 100 else 0.97
        assert least * bound < top <= float(np.float32(bound)), name


@pytest.mark.parametrize(
    "build",
    [
        lambda: Wong(0, 1, 1, 1, RandomDatabase(0)),
        lambda: Wong(1, 1, 1, -1, RandomDatabase(0)),
        lambda: Wong(1, 1, 1, 1, ()),
        lambda: Wong(1, 1, 1, 1, ((0, -1, 2),)),
        lambda: Dana(5, 2, 2, 1, "both"),  # type: ignore[arg-type]
        lambda: Dana(5, 2, 2, -1),
        lambda: Dana(5, 2, 2, 1, pairs=(((0, 5), 1),)),
        lambda: Dana(5, 2, 2, 1, pairs=(((0, 1), 1), ((0,), 1))),
        lambda: Mahdavi(5, 2, 1, 3),
        lambda: Mahdavi(4, 2, 1, 3, classes=-1),
        lambda: job_from_json({"family": "nobody", "seed": 0}),
        lambda: Job(Dana(3, 1, 1, 1)).initial(recipe("dana-code").changed(init="ones")),
    ],
)
def test_bad_input_is_refused_with_a_sentence(build: Callable[[], object]) -> None:
    with pytest.raises(LemmaxError, match=r"\.$"):
        build()


def test_work_is_rows_times_vocabulary_times_steps() -> None:
    job = Job(Wong(2, 1, 1, 1, ((0, 1, 2), (3, 1, 0))))
    assert job.work(recipe("wong-guess")) == 2 * 2 * 4 * 2000
