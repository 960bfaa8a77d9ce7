"""Matrices and results behave as their kind does elsewhere: indices, arrays, sympy, notebooks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given

from lemmax import checker
from lemmax.constructions import compile_database
from lemmax.strategies import rational_matrices
from lemmax.theory import Database, Matrix, certified_rank, kruskal_rank, softmax_rank, tensor_rank
from lemmax.theory.errors import LemmaxError, NotExact, ShapeError


@given(rational_matrices())
def test_a_matrix_is_a_sequence_of_rows(M: Matrix) -> None:
    rows, columns = M.shape
    assert len(M) == rows
    assert M.tolist() == [list(row) for row in M] == [list(M[i]) for i in range(rows)]
    assert M[-1] == M[rows - 1] == tuple(M.tolist()[-1])
    assert [Fraction(int(M[i, 0].p), int(M[i, 0].q)) for i in range(rows)] == list(M[:, 0])
    assert M[:, :] == M == Matrix(M.tolist()) == M[0:rows]
    with pytest.raises(IndexError):
        M[rows]
    with pytest.raises(IndexError):
        M[0, -columns - 1]


@given(rational_matrices())
def test_conversions_are_exact(M: Matrix) -> None:
    assert Matrix(np.asarray(M)) == M
    assert Matrix(sympy.Matrix(M).tolist()) == M == Matrix(M.to_sympy().tolist())
    assert np.array_equal(np.asarray(M, dtype=float), M.to_numpy())


def test_arrays_have_the_kind_of_their_entries() -> None:
    assert np.asarray(Matrix([[1, 2]])).dtype == np.int64
    assert np.asarray(Matrix([["1/2"]])).tolist() == [[Fraction(1, 2)]]
    assert np.asarray(Matrix([[2**63]])).tolist() == [[2**63]]
    assert np.linalg.matrix_rank(Matrix([[1, 2], [2, 4]])) == 1
    mixed: Any = (0, [0])
    with pytest.raises(ShapeError):
        Matrix([[1, 2]])[mixed]


LARGE = Database.from_triples((f"k{i}", f"q{j}", f"v{i * j}") for i in range(30) for j in range(3))


def results() -> list[Any]:
    compiled = compile_database(LARGE, tau=0.99)
    numbers = [[i * j for j in range(30)] for i in range(30)]
    found = [certified_rank(numbers), softmax_rank(numbers), kruskal_rank(numbers)]
    return [
        Matrix(numbers),
        LARGE,
        compiled,
        compiled.layer,
        compiled.memorization,
        *found,
        tensor_rank(LARGE),
    ]


def test_notebooks_show_everything_and_terminals_stay_short() -> None:
    for result in results():
        assert len(repr(result)) <= 400, type(result)
        assert repr(result).startswith(type(result).__name__)
        assert result._repr_latex_().startswith(r"$\displaystyle")
        html = result._repr_html_()
        assert html.startswith("<")
        assert len(html) < 10_000
    assert "&lt;" in Database.from_triples([("<", "f", "x")])._repr_html_()
    told = checker.Verdict("memorization", False, ("1 < 2",), "x/y")._repr_html_()
    assert told == "<p>memorization x/y: does not hold</p><ol><li>1 &lt; 2</li></ol>"
    assert repr(Matrix([["1/2"]])) == "Matrix([['1/2']])"


def test_thresholds_are_the_decimals_that_they_print() -> None:
    db = Database.from_triples([("a", "f", "x"), ("b", "f", "y")])
    decimals: list[Any] = [0.99, np.float64(0.99), "0.99", Fraction(99, 100)]
    for tau in decimals:
        assert str(compile_database(db, tau).tau) == "99/100"
    for tau in (float("nan"), float("inf"), 1.5):
        with pytest.raises(LemmaxError):
            compile_database(db, tau)


def test_tables_of_facts_compile_as_they_are() -> None:
    pandas = pytest.importorskip("pandas", reason="frames of pandas are an option")
    frame = pandas.DataFrame({"name": ["a", "b"], "f": ["x", None], "g": ["y", "z"]})
    assert len(compile_database(frame).database) == 3
    anything: Any = 3
    with pytest.raises(LemmaxError, match="holds no facts"):
        compile_database(anything)


def test_tensors_of_torch_get_sentences() -> None:
    torch = pytest.importorskip("torch")
    assert kruskal_rank(torch.tensor([[1, 0], [0, 1], [1, 1]])).rank == 2
    with pytest.raises(NotExact, match="is a float"):
        kruskal_rank(torch.eye(2))
    with pytest.raises(ShapeError, match="two dimensions"):
        kruskal_rank(torch.zeros((2, 2, 2), dtype=torch.int64))
