"""What the language of statements says beyond single comparisons of ranks."""

from __future__ import annotations

import ast
import random
from fractions import Fraction
from typing import Any

import pytest

from lemmax import checker
from lemmax.checker import NotACertificate, check
from lemmax.checker.language import syntax
from lemmax.theory import certified_rank, softmax_rank


def own(conclusion: str, **instance: Any) -> checker.Verdict:
    statement = {"hypotheses": [], "conclusion": conclusion}
    fields = {"claim": "own/language", "statement": statement, "instance": instance}
    return check({"format": "lemmax-certificate", "version": 1, "kind": "refutation", **fields})


A, B = [["1", "2"], ["3", "5"]], [["0", "1/2"], ["-1", "4"]]


@pytest.mark.parametrize(
    ("condition", "true"),
    [
        ("det(A) == -1", True),
        ("det(A + B) == det(transpose(A + B))", True),
        ("entry(A - 2 * B, 1, 0) == 5", True),
        ("entry(A * 3 / 2, 0, 1) == 3", True),
        ("equal(2 * A, A + A) and rank(A) == 2", True),
        ("1 <= rank(A) < 3 <= 3", True),
        ("1 <= rank(A) < 2 <= 3", False),
        ("rank(A) == 2 and rank(B) == 1", False),
        ("rank(A) == 1 or rank(B) == 2", True),
        ("not equal(A, B)", True),
        ("not (rank(A) == 2 and rank(B) == 2)", False),
        ("implies(rank(A) == 1, rank(B) == 5)", True),
        ("iff(rank(A) == 2, rank(B) == 1)", False),
        ("min(rank(A), 3, 7 / 2) == 2 and max(1) == 1", True),
        ("max(det(A), det(B)) == 1/2", True),
        ("rank(softmax(A)) == 2", True),
        ("rank(softmax(A - A)) == 1", True),
    ],
)
def test_conditions_are_evaluated(condition: str, true: bool) -> None:
    condition += " and rows(A) == rows(B)"
    assert own(condition, A=A, B=B).holds is not true
    assert own(f"not ({condition})", A=A, B=B).holds is true


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("unknown_word(A) == 1", "unknown_word"),
        ("rank(softmax(A), 1) == 1", "rank(softmax)"),
        ("min() == rank(A)", "min"),
        ("A + 1 == 2", "number"),
        ("A * A == rank(A)", "number"),
        ("rank(A + transpose(A)) == 1 and 1", "no comparison"),
        ("rank(A) or rank(A) == 1", "no comparison"),
        ("not rank(A)", "no comparison"),
        ("implies(rank(A), rank(A) == 1)", "implies(truth, truth)"),
        ("det(A) == 1", "determinant"),
        ("entry_sum(softmax(A)) == 2", "entry_sum(matrix)"),
        ("rank(A / 0) == 1", "zero"),
        ("rank(A + product(A, transpose(A))) == 1", "shapes"),
    ],
)
def test_what_is_wrong_is_named(condition: str, named: str) -> None:
    with pytest.raises(NotACertificate) as caught:
        own(condition, A=[["1", "2"]])
    assert named in str(caught.value) or "different shapes" in str(caught.value)


def test_softmax_ranks_agree_with_the_library() -> None:
    rng = random.Random(6)
    low = 0
    for _ in range(150):
        m, n = rng.randint(1, 4), rng.randint(1, 4)
        rows = [[rng.randint(0, 1) for _ in range(n)] for _ in range(m)]
        rank = softmax_rank(rows).rank
        assert rank is not None
        low += rank < min(m, n)
        logits = [[f"{x}" for x in row] for row in rows]
        assert own(f"rank(softmax(M)) != {rank}", M=logits).holds
        assert not own(f"rank(softmax(M)) == {rank}", M=logits).holds
    assert low >= 20


def test_determinants_agree_with_leibniz() -> None:
    rng = random.Random(7)
    for _ in range(100):
        n = rng.randint(1, 4)
        M = [[Fraction(rng.randint(-4, 4), rng.randint(1, 3)) for _ in range(n)] for _ in range(n)]

        def expanded(rows: list[list[Fraction]]) -> Fraction:
            if not rows:
                return Fraction(1)
            parts = (
                (-1) ** j * rows[0][j] * expanded([[*r[:j], *r[j + 1 :]] for r in rows[1:]])
                for j in range(len(rows))
            )
            return sum(parts, Fraction(0))

        text = [[str(x) for x in row] for row in M]
        assert own(f"det(M) != {expanded(M)}", M=text).holds
        assert (certified_rank(M).rank < n) == (expanded(M) == 0)


def test_statements_are_read_in_one_syntax() -> None:
    read = syntax.statement(
        """given M: matrix, x: rational; let n = rank(M);
        assume n == 1 and x > 0; conclude rows(M) < x"""
    )
    assert dict(read.given) == {"M": "matrix", "x": "rational"}
    assert [ast.unparse(tree) for tree in read.assumptions] == ["n == 1", "x > 0"]
    assert [name for name, _ in read.clauses] == ["n", "", ""]
    assert ast.unparse(read.conclusion) == "rows(M) < x"
    assert "  " not in read.text
    assert "\n" not in read.text
    assert syntax.statement("given D: database; conclude size(D) == 1").clauses == ()


def test_a_failing_part_is_shown() -> None:
    verdict = own("1 < rank(A) < 2 and rows(A) == 2", A=A)
    assert verdict.steps[-1].endswith("rank(A) = 2 >= 2")
    verdict = own("rank(A) == 2 and 1 == 2", A=A)
    assert verdict.steps[-1].endswith("1 != 2")
