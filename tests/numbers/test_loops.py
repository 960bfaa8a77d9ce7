"""Compiled loops: numba is optional, and without it a loop stays the function that it was."""

from __future__ import annotations

import importlib
import sys

import pytest

NAME = "lemmax.theory.numbers.loops"


def double(n: int) -> int:
    return 2 * n


def test_without_numba_a_loop_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    loops = importlib.import_module(NAME)
    assert not loops.COMPILED
    assert loops.compiled(double) is loops.helper(double) is double


def test_where_no_cache_can_be_written_a_loop_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loops = importlib.import_module(NAME)

    class Numba:
        @staticmethod
        def njit(cache: bool = False, **_: str) -> object:
            if cache:
                raise RuntimeError("no locator available")
            return lambda function: ("compiled", function)

    monkeypatch.setattr(loops, "numba", Numba)
    monkeypatch.setattr(loops, "COMPILED", True)
    assert loops.compiled(double) == ("compiled", double)
