"""Blocks that share nothing but indices of one mode: tables of a database, columns of types."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lemmax.checker import check
from lemmax.strategies import databases
from lemmax.theory import Database, tensor_rank
from lemmax.theory.tensors import pipeline
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.bounds import Bounds
from lemmax.theory.tensors.reductions import blocks, components, restricted

TABLES = (
    ((0, 2), (0, 4), (2, 4)),
    ((5, 2, 4), (6, 5, 6), (7, 5, 5), (2, 6, 2)),
)


def two_tables() -> Database:
    """A table with two columns and one with three, which share some values."""
    return Database.from_triples(
        (f"{t} {k}", f"{t} {q}", v)
        for t, table in enumerate(TABLES)
        for k, row in enumerate(table)
        for q, v in enumerate(row)
    )


@settings(max_examples=60)
@given(databases(max_keys=5, max_queries=4, max_values=5), st.sampled_from((0, 1, 2)))
def test_blocks_hold_every_entry_once_and_are_connected(db: Database, mode: int) -> None:
    D = db.tensor()
    found = blocks(D, mode)
    count = np.zeros(D.shape, dtype=int)
    for sides in found:
        count[np.ix_(*sides)] += 1
        part = restricted(D, sides)
        assert len(blocks(part, mode)) == 1
        for m in range(3):  # no index without an entry
            assert (part != 0).any(axis=tuple(n for n in range(3) if n != m)).all()
    assert (count[D != 0] == 1).all()
    for m in {0, 1, 2} - {mode}:
        own = [i for sides in found for i in sides[m]]
        assert len(own) == len(set(own))


def test_direct_summands_are_blocks_in_every_mode() -> None:
    unit = np.zeros((3, 3, 3), dtype=int)
    unit[range(3), range(3), range(3)] = 1
    for mode in range(3):
        assert blocks(unit, mode) == sorted(components(unit))


def test_a_database_that_only_blocks_close(monkeypatch: pytest.MonkeyPatch) -> None:
    result = tensor_rank(two_tables())
    assert (result.lower, result.upper) == (9, 9)
    assert "blocks that share values" in result.reasons
    assert check(result.certificate()).holds

    def none(array: Array, bounds: Bounds, *_: object) -> Bounds:
        return bounds

    monkeypatch.setattr(pipeline, "_by_blocks", none)
    assert tensor_rank(two_tables()).rank is None


@pytest.mark.parametrize("mode", range(3))
def test_blocks_may_share_indices_of_any_mode(mode: int) -> None:
    D = np.moveaxis(two_tables().tensor(), 2, mode)
    found = [tensor_rank(restricted(D, sides)) for sides in blocks(D, mode)]
    assert [part.rank for part in found] == [3, 6]
    assert tensor_rank(D).upper == 9


def test_blocks_of_a_product_of_matrices_have_common_terms() -> None:
    """A block for each index that the matrices share: 4 + 4 terms, where Strassen has 7."""
    n = range(2)
    product = np.zeros((4, 4, 4), dtype=int)
    for i, j, k in np.ndindex(2, 2, 2):
        product[2 * i + j, 2 * j + k, 2 * i + k] = 1
    for mode in range(3):
        parts = [restricted(product, sides) for sides in blocks(product, mode)]
        assert [tensor_rank(part).rank for part in parts] == [4 for _ in n]
    assert tensor_rank(product).rank == 7
