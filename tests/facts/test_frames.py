"""Frames of pandas and polars are read as a file with their columns would be."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from lemmax.constructions import compile_database
from lemmax.theory import Database, tensor_rank
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Contradiction

TRIPLES = {"s": ["a", "a", "b"], "p": ["f", "g", "f"], "o": ["x", "y", "y"]}
FACTS = (("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y"))


@pytest.mark.parametrize("frame", [pd.DataFrame(TRIPLES), pl.DataFrame(TRIPLES)], ids=["pd", "pl"])
def test_triples_of_a_frame_compile(frame: object) -> None:
    assert Database.of(frame).triples == FACTS
    assert compile_database(frame).recall("a", "g").answer == "y"


def test_empty_cells_of_a_wide_frame_are_no_facts() -> None:
    wide = {"name": ["a", "b"], "f": ["x", "y"], "g": ["y", None]}
    assert Database.of(pl.DataFrame(wide)).triples == FACTS
    assert Database.of(pd.DataFrame(wide)).triples == FACTS
    assert Database.of(pd.DataFrame(wide).set_index("name")).triples == FACTS
    numbers = pl.DataFrame({"name": ["a", "b"], "f": [1.5, float("nan")]})
    assert Database.of(numbers).triples == (("a", "f", 1.5),)
    dates = pd.DataFrame({"name": ["a", "b"], "born": pd.to_datetime(["2020-02-02", None])})
    assert len(Database.of(dates)) == 1


def test_frames_that_are_no_function_are_refused_with_their_rows() -> None:
    twice = TRIPLES | {"p": ["f", "f", "f"]}
    with pytest.raises(Contradiction, match="rows 1 and 2"):
        Database.of(pl.DataFrame(twice))
    with pytest.raises(LemmaxError, match="row 2: a fact with an empty cell"):
        Database.of(pl.DataFrame(TRIPLES | {"o": ["x", None, "y"]}))


@pytest.mark.parametrize("frame", [pd.DataFrame(TRIPLES), pl.DataFrame(TRIPLES)], ids=["pd", "pl"])
def test_the_rank_of_a_frame_is_that_of_its_facts(frame: object) -> None:
    rank = tensor_rank(frame)
    assert rank.in_words() == tensor_rank(Database(FACTS)).in_words()
