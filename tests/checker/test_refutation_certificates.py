"""refutation: instances that refute pass; instances that do not, and relabelled ones, fail."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, fmpq

from lemmax import checker
from lemmax.checker import NotACertificate, check
from lemmax.checker.language import syntax

Certificate = dict[str, Any]
ARGMAX = ["rank(M) == 1"], "rank(argmax(M)) <= 2"


def own(make: Any, conclusion: str, *hypotheses: str, **instance: Any) -> checker.Verdict:
    return check(make.refutation("example/own", list(hypotheses), conclusion, **instance))


def value(make: Any, expression: str, expected: Any, **instance: Any) -> bool:
    """Whether an expression has a value: only then its inequality is refuted."""
    assert not own(make, f"{expression} == {expected}", **instance).holds
    return own(make, f"{expression} != {expected}", **instance).holds


def test_true_certificates_hold(valid: dict[str, list[Certificate]]) -> None:
    for certificate in valid["refutation"]:
        assert check(certificate).holds, check(certificate)


def test_the_failing_comparison_is_printed(valid: dict[str, list[Certificate]]) -> None:
    steps = check(valid["refutation"][0]).steps
    assert "rank(M) = 1" in steps[1]
    assert "rank(argmax(M)) = 3 > 2" in steps[2]
    assert "rank(gram(P)) = 1 != columns(P) = 2" in check(valid["refutation"][1]).steps[-1]
    assert "as given by the certificate" in check(valid["refutation"][2]).steps[0]


def test_rank_one_matrices_that_refute_nothing_are_rejected(make: Any) -> None:
    """The second opinion: flint's rank of the matrix and of its argmax, taken by hand."""
    rng = random.Random(5)
    false = true = 0
    for _ in range(400):
        m, n = rng.randint(1, 4), rng.randint(1, 4)
        u, w = make.random_rows(rng, m, 1, 1), make.random_rows(rng, 1, n, 1)
        rows = make.product(u, w)
        if rng.random() < 0.2:
            rows[0][0] += 1
        top = [[Fraction(x == max(row)) for x in row] for row in rows]
        refutes = make.flint_rank(rows) == 1 and make.flint_rank(top) > 2
        verdict = check(make.refutation("wong/argmax-rank-one", *ARGMAX, M=make.text(rows)))
        assert verdict.holds == refutes
        sharp = make.refutation(
            "own/argmax-rank-one-sharp", ARGMAX[0], "rank(argmax(M)) <= 3", M=make.text(rows)
        )
        assert not check(sharp).holds
        false, true = false + (not refutes), true + refutes
    assert false >= 100
    assert true >= 10


def test_points_that_span_refute_nothing(make: Any) -> None:
    rng = random.Random(6)
    table = [(3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (1, 0, 1), (0, 1, 1)]
    hypotheses, conclusion = (
        ["columns(P) >= 2", "rows(P) >= columns(P)", "distinct_rows(P)", "unit_rows(P)"],
        "rank(gram(P)) == columns(P)",
    )
    false = true = 0
    for _ in range(300):
        points = []
        for _ in range(rng.randint(1, 3)):
            a, b, c = rng.choice(table)
            signs = rng.choice([-1, 1]), rng.choice([-1, 1])
            points.append([Fraction(signs[0] * a, c), Fraction(signs[1] * b, c)])
        if rng.random() < 0.2:
            points[0][0] /= 2
        refutes = (
            len(points) >= 2
            and len(set(map(tuple, points))) == len(points)
            and all(sum(x * x for x in p) == 1 for p in points)
            and make.flint_rank(points) != 2
        )
        verdict = check(
            make.refutation(
                "wong/proposition-3.6-proof", hypotheses, conclusion, P=make.text(points)
            )
        )
        assert verdict.holds == refutes
        false, true = false + (not refutes), true + refutes
    assert false >= 100
    assert true >= 3


def test_relabelled_refutations_are_rejected(valid: dict[str, list[Certificate]]) -> None:
    certificate = valid["refutation"][0]
    for claim in (
        "lemmax/argmax-rank-one-sharp",
        "wong/proposition-3.6-proof",
        "dana/lemma-2",
        "wong/unknown",
    ):
        assert not check(certificate | {"claim": claim}).holds
    assert check(certificate | {"claim": "elsewhere/argmax-rank-one"}).holds
    changed = copy.deepcopy(certificate)
    changed["statement"]["conclusion"] = "rank(argmax(M)) <= 1"
    verdict = check(changed)
    assert not verdict.holds
    assert "not that of the claim" in verdict.steps[-1]
    changed["statement"] = {"hypotheses": [], "conclusion": "rank(argmax(M)) <= 2"}
    assert not check(changed).holds


def test_ids_of_the_reserved_namespaces_have_their_statement_in_the_table() -> None:
    for claim, statement in checker.STATEMENTS.items():
        assert claim.startswith(checker.RESERVED)
        trees = [
            syntax.parse(text, claim) for text in (*statement.hypotheses, statement.conclusion)
        ]
        assert set().union(*map(syntax.names_in, trees)) == set(statement.instance)


MATRIX = [["1", "2", "3"], ["4", "5", "6"]]
TENSOR = [[["1", "0"], ["0", "1"]], [["0", "0"], ["0", "0"]]]
FACTS = {"facts": [["a", "f", "x"], ["a", "g", "x"], ["b", "f", "y"], ["c", "g", "y"]]}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("rank(M)", 2),
        ("rows(M)", 2),
        ("columns(M)", 3),
        ("entry(M, 1, 2)", 6),
        ("max_entry(M)", 6),
        ("min_entry(M)", 1),
        ("rows(transpose(M))", 3),
        ("rank(product(transpose(M), M))", 2),
        ("entry(gram(M), 0, 1)", 32),
        ("equal(M, M)", 1),
        ("equal(M, transpose(M))", 0),
        ("distinct_rows(M)", 1),
        ("unit_rows(M)", 0),
        ("rank(identity(4)) + 0 * rank(M)", 4),
        ("rank(M) / 4 - 1 + 3 * 2", "11 / 2"),
        ("-rank(M)", -2),
        ("rank(argmax(M))", 1),
        ("entry(argmax(M), 0, 2)", 1),
        ("entry(argmax(M), 0, 0)", 0),
    ],
)
def test_words_for_matrices(make: Any, expression: str, expected: Any) -> None:
    assert value(make, expression, expected, M=MATRIX)
    assert value(make, expression, expected, M={"matrix": MATRIX})


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("size(D)", 4),
        ("keys(D)", 3),
        ("queries(D)", 2),
        ("values(D)", 2),
        ("slices_rank_sum(D)", 3),
        ("flattening_rank(tensor(D), 0)", 3),
        ("flattening_rank(tensor(D), 1)", 2),
        ("flattening_rank(tensor(D), 2)", 2),
    ],
)
def test_words_for_facts(make: Any, expression: str, expected: int) -> None:
    assert value(make, expression, expected, D=FACTS)


def test_words_for_tensors_and_integers(make: Any) -> None:
    for mode, rank in enumerate([1, 2, 2]):
        assert value(make, f"flattening_rank(T, {mode})", rank, T=TENSOR)
    assert value(make, "length(I)", 3, I=[4, 5, 6])
    assert value(make, "x + 1", "3 / 2", x="1/2")


def test_words_for_layers(make: Any, valid: dict[str, list[Certificate]]) -> None:
    layer = valid["memorization"][0]["layer"]
    instance = {"L": {"layer": layer}}
    for name, expected in {"d_model": 1, "heads": 1, "d_qk": 1, "d_vo": 1, "tokens": 4}.items():
        assert value(make, f"{name}(L)", expected, **instance)
    wrong = {"facts": [["a", "f", "a"], ["a", "g", "a"], ["b", "f", "a"], ["b", "g", "a"]]}
    assert value(make, "memorizes(L, D)", 0, D=wrong, **instance)
    assert value(make, "accuracy(L, D)", "1 / 2", D=wrong, **instance)
    assert value(make, "accuracy_at(L, D, 1 / 4)", "1 / 2", D=wrong, **instance)
    assert value(make, "accuracy_at(L, D, 1)", 0, D=wrong, **instance)
    assert value(make, "memorizes_at(L, D, 1 / 1000000)", 1, D=wrong, **instance)


def test_threshold_agrees_with_the_ball_arithmetic(make: Any) -> None:
    rng = random.Random(9)
    for _ in range(60):
        row = make.random_rows(rng, 1, rng.randint(1, 4), 3, 2)[0]
        tau = Fraction(rng.randint(1, 20), 20)
        weights = [arb(fmpq(x.numerator, x.denominator)).exp() for x in row]
        total = sum(weights, arb(0))
        for j, w in enumerate(weights):
            if len(set(row)) == 1:
                expected = tau * len(row) <= 1
            else:
                expected = bool(w / total > arb(fmpq(tau.numerator, tau.denominator)))
            found = value(
                make,
                f"entry(threshold(M, t), 0, {j})",
                int(expected),
                M=make.text([row]),
                t=str(tau),
            )
            assert found, (row, tau, j)


@pytest.mark.parametrize(
    "comparison",
    [
        "",
        " ",
        "rank(M)",
        "M",
        "M == M",
        "not rank(M)",
        "rank(M) == 1.0",
        "rank(M) == True",
        "rank(M) == None",
        "rank(M) == 'x'",
        "rank(M) is 1",
        "rank(M) in M",
        "rank(M) == 2 ** 9",
        "rank(M) == 7 // 2",
        "rank(M) == 7 % 2",
        "rank(M) == 1 / 0",
        "rank(M, M) == 1",
        "rank(*M) == 1",
        "rank(M=M) == 1",
        "rank() == 1",
        "rank(1) == M",
        "unknown(M) == 1",
        "rank == rank(M)",
        "M.__class__ == 1",
        "M[0] == 1",
        "(lambda: 1)() == rank(M)",
        "[x for x in M] == 1",
        "(M := 1) == 1",
        "__import__('os') == rank(M)",
        "open(M) == 1",
        "entry(M, 5, 0) == 1",
        "entry(M, -1, 0) == 1",
        "entry(M, 1/2, 0) == 1",
        "threshold(M, 0) == 1",
        "rank(threshold(M, 2)) == 1",
        "rank(identity(0)) == rank(M)",
        "rank(identity(10000)) == rank(M)",
        "rank(product(M, M)) == 1",
        "rank(M) ==",
        "rank(M) == 1;",
        "rank(M)\x00== 1",
        "rank(M) == " + "(" * 300 + "1" + ")" * 300,
        "rank(M) == 1" + " " * 600,
        "rank(M) == " + "-" * 450 + "1" * 60,
        "rank(M) == N",
        "f'{M}' == 1",
        "rank(M) == 1if 1else 2",
        "await M == 1",
        "yield",
        "rank(M) < 1j",
        "...",
        7,
        None,
        True,
        [],
        {},
    ],
)
def test_what_is_not_in_the_language_is_refused(make: Any, comparison: Any) -> None:
    square = [["1", "2"], ["3", "4"], ["5", "6"]]
    with pytest.raises(NotACertificate):
        own(make, comparison, M=square)
    with pytest.raises(NotACertificate):
        check(make.refutation("example/own", [comparison], "rank(M) == 0", M=square))


@pytest.mark.parametrize(
    "instance",
    [
        {},
        {"N": [["1"]]},
        {"M": [["1"]], "N": [["1"]]},
        {"M": "1"},
        {"M": []},
        {"M": [[]]},
        {"M": [1]},
        {"M": {}},
        {"M": {"matrix": [["1"]], "number": "1"}},
        {"M": {"unknown": [["1"]]}},
        {"M": {"layer": [["1"]]}},
        {"M": {"facts": [["a", "b", "c"]]}},
        {"M": {"facts": [["a", "b", 3]]}},
        {"M": [["1"], ["1", "2"]]},
        {"M": [[["1"]]]},
        {"M": [[["1"]], [["1", "2"]]]},
        {"M": None},
        {"M": True},
        {"M": 1},
        {"M": [[1]]},
        {"": [["1"]]},
        {"M ": [["1"]]},
        {"__class__": [["1"]]},
        {"M": {"integers": [1, "x"]}},
        {"M": {"matrix": {"matrix": [["1"]]}}},
    ],
)
def test_bad_instances_are_refused(make: Any, instance: Any) -> None:
    for claim in ("wong/argmax-rank-one", "example/own"):
        certificate = make.refutation(claim, *ARGMAX)
        certificate["instance"] = instance
        with pytest.raises(NotACertificate):
            check(certificate)


def test_facts_speak_about_the_tokens_of_the_layer(
    make: Any, valid: dict[str, list[Certificate]]
) -> None:
    layer = {"layer": valid["memorization"][0]["layer"]}
    for facts in ([["a", "f", "nobody"]], [["a", "f", "a"], ["a", "f", "b"]], [["a", "f"]], []):
        with pytest.raises(NotACertificate):
            own(make, "memorizes(L, D)", L=layer, D={"facts": facts})


@pytest.mark.parametrize(
    "claim",
    [
        "",
        "wong",
        "wong/",
        "/x",
        "a//b",
        "a/../b",
        "a/.hidden",
        "wong/x\n",
        "wong/x\x9b31m",
        "wong/x\u202e",
        "wong/<b>",
        "wong\\x/y",
        "x/" + "y" * 201,
        "/".join(["x" * 100] * 4),
        1,
        None,
    ],
)
def test_claims_have_ids(valid: dict[str, list[Certificate]], claim: Any) -> None:
    with pytest.raises(NotACertificate):
        check(valid["refutation"][0] | {"claim": claim})


def test_damaged_certificates_are_refused(
    valid: dict[str, list[Certificate]], damages: Any
) -> None:
    total = 0
    for certificate in valid["refutation"]:
        for name, damaged in damages(certificate):
            total += 1
            with pytest.raises(NotACertificate):
                print(name, check(damaged))
    assert total >= 300
