"""Certificates that carry a claim's formal statement: refutations and witnesses of version 2."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from lemmax import checker
from lemmax.checker import NotACertificate, check, formal_statements
from lemmax.checker.language.reals import Interval
from lemmax.theory.ledger.claims import load_claims

ARGMAX = "given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2"
SHARP = [["1", "0", "-1"], ["-1", "0", "1"], ["0", "0", "0"]]


def about(kind: str, statement: str, claim: str = "euler/claim", **instance: Any) -> dict[str, Any]:
    fields = {"claim": claim, "statement": statement, "instance": instance}
    return {"format": "lemmax-certificate", "version": 2, "kind": kind, **fields}


def refutes(statement: str, **instance: Any) -> bool:
    return check(about("refutation", statement, **instance)).holds


def witnesses(statement: str, **instance: Any) -> bool:
    return check(about("witness", statement, **instance)).holds


def test_an_instance_refutes_or_witnesses_or_neither() -> None:
    assert refutes(ARGMAX, M=SHARP)
    assert not witnesses(ARGMAX, M=SHARP)
    assert not refutes(ARGMAX, M=[["1"]])
    assert witnesses(ARGMAX, M=[["1"]])
    both = [["1", "2"], ["3", "4"]]  # the assumption is false
    assert not refutes(ARGMAX, M=both)
    assert not witnesses(ARGMAX, M=both)


def test_definitions_are_used_in_their_order() -> None:
    text = """given M: matrix, x: rational; let n = rank(M); assume n > 0; let s = x / n;
        conclude s * n == x and s < x"""
    assert witnesses(text, M=[["1", "0"], ["0", "1"]], x="1")
    assert refutes(text, M=[["1", "0"], ["0", "1"]], x="-1")
    assert not witnesses(text, M=[["0"]], x="1")  # the assumption fails before the division


TENSOR = [[["1", "0"], ["0", "1"]], [["0", "1"], ["-1", "0"]]]  # rank 2 over C, 3 over R


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("tensor_rank(T) >= 2", True),
        ("tensor_rank(T) == 1", False),
        ("tensor_rank(T) <= 4", True),
        ("tensor_rank(T) == 3", None),
        ("tensor_rank(T) == 3 or slices(T) == 2", True),
        ("tensor_rank(T) == 3 and slices(T) == 1", False),
        ("tensor_rank(T) == 3 and slices(T) == 2", None),
        ("not tensor_rank(T) == 3", None),
        ("implies(tensor_rank(T) == 3, slices(T) == 2)", True),
        ("implies(tensor_rank(T) == 3, slices(T) == 1)", None),
        ("implies(tensor_rank(T) == 1, slices(T) == 1)", True),
        ("iff(tensor_rank(T) == 3, slices(T) == 2)", None),
        ("indicator(tensor_rank(T) == 3) <= 1", None),
        ("min(tensor_rank(T), 2) == 2", True),
        ("max(tensor_rank(T), 7) == 7", True),
        ("2 * tensor_rank(T) - 1 >= 3", True),
        ("-tensor_rank(T) > -2", False),
        ("tensor_rank(T) / 2 < 1", False),
        ("1 < tensor_rank(T) < 3 < 2", False),
        ("1 < tensor_rank(T) < 3", None),
    ],
)
def test_truth_has_three_values(condition: str, value: bool | None) -> None:
    text = f"given T: tensor; conclude {condition}"
    assert witnesses(text, T=TENSOR) is (value is True)
    assert refutes(text, T=TENSOR) is (value is False)
    opposite = f"given T: tensor; conclude not ({condition})"
    assert witnesses(opposite, T=TENSOR) is (value is False)
    assert refutes(opposite, T=TENSOR) is (value is True)
    assumed = f"given T: tensor; assume {condition}; conclude slices(T) == 2"
    assert witnesses(assumed, T=TENSOR) is (value is True)
    if value is None:
        assert "undecided" in check(about("witness", assumed, T=TENSOR)).steps[-1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rank(M) == 1",
        "given M: matrix",
        "given M: matrix; assume rank(M) == 1",
        "given M: thing; conclude rank(M) == 1",
        "given M; conclude rank(M) == 1",
        "given M: truth; conclude M",
        "given M: matrix; conclude 1 == 1",
        "given M: matrix; assume rank(M) == 1; conclude 1 == 1",
        "given M: matrix; let n = 2; conclude n == 2",
        "given M: matrix; let n = 2; conclude rank(M) == 1",
        "given M: matrix, N: matrix; conclude rank(M) == 1",
        "given M: matrix, M: matrix; conclude rank(M) == 1",
        "given M: matrix; let M = 1; conclude rank(M) == 1",
        "given M: matrix; conclude rank(M) == n; let n = 1",
        "given M: matrix; conclude rank(M) == n",
        "given M: matrix; assume n == 1; let n = rank(M); conclude n == 1",
        "given M: matrix; suppose rank(M) == 1; conclude rank(M) == 1",
        "given M: matrix; let rank(M) == 1; conclude rank(M) == 1",
        "given M: matrix; conclude rank(M) == 1; conclude rank(M) == 1",
        "given M: matrix; conclude rank(M)",
        "given M: matrix; conclude rank(M) == 'x'",
        "given M: matrix; conclude rank([M, M]) == 1",
        "given M: matrix; conclude rank([[1], [1, 2]]) == rank(M)",
        "given M: matrix; conclude rank([]) == rank(M)",
        "given M: matrix; conclude unknown(M) == 1",
        "given M: matrix; conclude rank(M) / (rank(M) - 1) == 1",
        "given M: matrix; conclude rank(M) == 1" + " or rank(M) == 1" * 200,
        "given and: matrix; conclude rank(and) == 1",
        7,
        None,
        {},
    ],
)
def test_what_is_no_statement_is_refused(text: Any) -> None:
    for kind in ("refutation", "witness"):
        with pytest.raises(NotACertificate):
            check(about(kind, text, M=[["1"]]))


def test_division_by_what_may_be_zero_is_refused() -> None:
    with pytest.raises(NotACertificate, match="zero"):
        refutes("given T: tensor; conclude 1 / (tensor_rank(T) - 3) == 1", T=TENSOR)


LAYER = {
    "tokens": ["a", "f", "x"],
    "unit": "ln2",
    "W_E": [["1"], ["2"], ["0"]],
    "W_U": [["1", "0", "3"]],
    "heads": [{"W_Q": [["1"]], "W_K": [["1"]], "W_V": [["1"]], "W_O": [["1"]]}],
}
INSTANCES: dict[str, tuple[Any, str]] = {
    "integer": ("3", "x == 3"),
    "rational": ("3/4", "4 * x == 3"),
    "matrix": ([["1", "2"]], "equal(x, [[1, 2]])"),
    "tensor": ([[["1"]]], "slices(x) == 1"),
    "integers": ([4, 2], "sum(x) == 6 and equal(x, [4, 2])"),
    "database": ({"facts": [["a", "f", "x"]]}, 'equal(x, facts("a f x"))'),
    "layer": ({"layer": LAYER}, "heads(x) == 1"),
    "contexts": (
        {
            "multi-head": {
                "contexts": [[["1", "0"], ["0", "1"]]],
                "context_of": [0, 0],
                "queries": [["1", "0"], ["0", "1"]],
                "scale": "1",
                "heads": [{"W_K": [["1"], ["0"]], "W_Q": [["1"], ["0"]]}],
            }
        },
        "feature_rank(x) == 2",
    ),
    "transformer": ({"transformer": {"layer": LAYER, "pos": [["0"], ["1"]]}}, "positions(x) == 2"),
    "sequences": ({"sequences": [[0, 1], [1, 1]]}, "count(x) == 2 and length(x) == 2"),
    "associations": ({"associations": [[[0, 1], 2]]}, "count(x) == 1"),
    "distribution": (
        {"distribution": {"prior": ["1"], "table": [["1/2", "1/2"]]}},
        "outcomes(x) == 2 and not deterministic(x) and kl_infimum(x, 1) >= 0",
    ),
    "field": ("R", "tensor_rank(fold([[1, 2]], 1), x) == 1"),
}


@pytest.mark.parametrize("sort", INSTANCES)
def test_every_sort_has_its_instances_and_no_others(sort: str) -> None:
    value, condition = INSTANCES[sort]
    text = f"given x: {sort}; conclude {condition}"
    assert witnesses(text, x=value), check(about("witness", text, x=value))
    for other, (wrong, _) in INSTANCES.items():
        if sort != other and (sort, other) not in (("rational", "integer"),):
            with pytest.raises(NotACertificate):
                witnesses(text, x=wrong)
    for wrong in (None, True, 1, "", {}, {"x": value}, {"number": {}}, "1.5", [[]], "S"):
        with pytest.raises(NotACertificate):
            witnesses(text, x=wrong)


@pytest.mark.parametrize(
    ("sort", "value"),
    [
        ("integer", "1/2"),
        ("sequences", {"sequences": [[0], [0, 1]]}),
        ("sequences", {"sequences": [[0], [0]]}),
        ("associations", {"associations": [[[0], 1], [[0], 2]]}),
        ("distribution", {"distribution": {"prior": ["1"], "table": [["1/2", "1/3"]]}}),
        ("distribution", {"distribution": {"prior": ["1", "0"], "table": [["1"]]}}),
        ("distribution", {"distribution": {"prior": ["1"], "table": [["2", "-1"]]}}),
        ("layer", {"layer": {**LAYER, "heads": []}}),
        ("field", "F"),
    ],
)
def test_sorts_enforce_their_definitions(sort: str, value: Any) -> None:
    with pytest.raises(NotACertificate):
        witnesses(f"given x: {sort}; conclude {INSTANCES[sort][1]}", x=value)


# --- the bond with a claim ------------------------------------------------------------------------


def claims_file(folder: Path, formal: str = ARGMAX, name: str = "claims.toml") -> Path:
    path = folder / name
    path.write_text(
        f"""[paper]
key = "euler"
[[claim]]
id = "euler/claim"
formal = '''
{formal}
'''
[[claim]]
id = "euler/without"
""",
        encoding="utf-8",
    )
    return path


def test_the_statement_is_that_of_the_claim(tmp_path: Path) -> None:
    formal = formal_statements([claims_file(tmp_path, ARGMAX.replace("; ", ";\n   "))])
    assert formal == {"euler/claim": ARGMAX}
    good = about("refutation", ARGMAX.replace(" <= ", "\n <=  "), M=SHARP)
    assert check(good, formal).holds
    assert check(good, formal).statement == "the claim's"
    assert check(good).statement == "as given by the certificate"
    other = about("refutation", ARGMAX.replace("<= 2", "<= 1"), M=SHARP)
    assert check(other).holds
    assert not check(other, formal).holds
    for claim in ("euler/without", "euler/nobody"):
        assert not check(good | {"claim": claim}, formal).holds


KEY = "Euler & co, 名"
IDS = tuple(f"{KEY}/{n}" for n in ("thm:main", "Théorème 1 (bis)", "a'b+c", "part/two", "定理—1?"))


def test_an_id_has_every_character_that_claims_allow(tmp_path: Path, capsys: Any) -> None:
    fields = {"kind": "A", "number": "1", "title": "t", "statement": "s", "place": "p"}
    path = tmp_path / "claims.toml"
    listed = [
        "[[claim]]\n"
        + "".join(f"{name} = {json.dumps(value)}\n" for name, value in (fields | extra).items())
        for extra in ({"id": i, "source": "text", "formal": ARGMAX} for i in IDS)
    ]
    path.write_text(f'[paper]\nkey = "{KEY}"\n' + "".join(listed), encoding="utf-8")
    assert tuple(claim.id for claim in load_claims([path])) == IDS
    for claim in IDS:
        file = tmp_path / "certificate.json"
        file.write_text(json.dumps(about("refutation", ARGMAX, claim, M=SHARP)), encoding="utf-8")
        assert checker.main(["--claims", str(path), "--expect", claim, str(file)]) == 0
        assert f"claim {claim}: given" in capsys.readouterr().out


def test_the_first_version_is_compared_too() -> None:
    first = {
        **about("refutation", "", M=SHARP),
        "version": 1,
        "statement": {"hypotheses": ["rank(M)==1"], "conclusion": "rank(argmax(M)) <= 2"},
    }
    assert check(first, {"euler/claim": ARGMAX}).holds
    assert not check(first, {"euler/claim": ARGMAX.replace("<= 2", "<= 1")}).holds
    with_let = ARGMAX.replace("conclude", "let n = rank(M); conclude n == 1 and")
    assert not check(first, {"euler/claim": with_let}).holds


def test_versions_and_statements_belong_together() -> None:
    good = about("refutation", ARGMAX, M=SHARP)
    for version in (1, 3, "2", None, True):
        with pytest.raises(NotACertificate):
            check(good | {"version": version})
    with pytest.raises(NotACertificate):
        check(about("witness", ARGMAX, M=SHARP) | {"version": 1})
    listed = {"hypotheses": [], "conclusion": "rank(M) == 1"}
    for kind in ("refutation", "witness"):
        with pytest.raises(NotACertificate):
            check(about(kind, listed, M=SHARP))  # type: ignore[arg-type]


def test_the_command_compares_with_claims(tmp_path: Path, capsys: Any) -> None:
    claims = claims_file(tmp_path)
    path = tmp_path / "c.json"
    path.write_text(json.dumps(about("refutation", ARGMAX, M=SHARP)), encoding="utf-8")
    assert checker.main([str(path)]) == 0
    assert capsys.readouterr().out.rstrip().endswith("statement as given by the certificate")
    for named in (claims, tmp_path):
        assert checker.main(["--claims", str(named), "--expect", "euler/claim", str(path)]) == 0
        assert "as given" not in capsys.readouterr().out
    assert checker.main(["--expect", "euler/other", str(path)]) == 1
    claims_file(tmp_path, ARGMAX.replace("<= 2", "<= 3"))
    assert checker.main(["--claims", str(claims), str(path)]) == 1
    assert "not that of the claim" in capsys.readouterr().out
    for wrong in ("[[claim]]\nid = 3", "x = 1", "[[claim", "[[claim]]\nid = 'a/b'\nformal = 3"):
        claims.write_text(wrong, encoding="utf-8")
        with pytest.raises(SystemExit) as stopped:
            checker.main(["--claims", str(claims), str(path)])
        assert stopped.value.code == 2
    claims_file(tmp_path)
    claims_file(tmp_path, name="again.toml")
    with pytest.raises(SystemExit):
        checker.main(["--claims", str(tmp_path), str(path)])


# --- evidence -------------------------------------------------------------------------------------

UNITS = [[["1", "0"], ["0", "0"]], [["0", "0"], ["0", "1"]]]


def rank_evidence(upper: int = 2, **changed: Any) -> dict[str, Any]:
    terms = [[["1", "0"], ["1", "0"], ["1", "0"]], [["0", "1"], ["0", "1"], ["0", "1"]]]
    found = {
        "kind": "tensor-rank",
        "tensor": {"shape": [2, 2, 2], "entries": [[0, 0, 0, "1"], [1, 1, 1, "1"]]},
        "field": "Q",
        "lower": 2,
        "upper": upper,
        "proof": [{"lemma": "flattening", "mode": 0, "prime": "7"}],
        "terms": terms,
        "families": [],
    }
    return {**found, **changed}


def test_evidence_must_hold_and_be_about_an_argument() -> None:
    text = "given T: tensor; conclude tensor_rank(T) == 2"
    good = about("witness", text, T=UNITS)
    assert check(good | {"evidence": [rank_evidence()]}).holds
    for wrong in ([rank_evidence(3)], [rank_evidence(), rank_evidence(3)]):
        verdict = check(good | {"evidence": wrong})
        assert not verdict.holds
        assert "evidence" in verdict.steps[-1]
    elsewhere = about("witness", text, T=[[["1", "0"], ["0", "1"]]])
    verdict = check(elsewhere | {"evidence": [rank_evidence()]})
    assert not verdict.holds
    assert "no argument" in verdict.steps[-1]
    bad: Any
    for bad in ([], {}, [7], [{"kind": "matrix-rank"}], [rank_evidence(shape=1)]):
        with pytest.raises(NotACertificate):
            check(good | {"evidence": bad})


def test_bounds_that_cross_are_no_bounds() -> None:
    """A lower bound above an upper one would make every comparison of the word true."""
    assert Interval(Fraction(2), Fraction(2)) == Interval(Fraction(2), Fraction(2))
    with pytest.raises(NotACertificate, match="contradict"):
        Interval(Fraction(3), Fraction(2))


def test_claims_files_have_a_size_and_keys_have_few_parts(tmp_path: Path) -> None:
    """Reading a key takes the square of its parts, whether it is one key or many."""
    path = tmp_path / "claims.toml"
    claim = f'[[claim]]\nid = "a/b"\nformal = "{ARGMAX}"\n'
    squares = "".join(f"# {'.' * n}\n" for n in (4_472, 34, 7, 3, 1, 1))  # 20 million in all
    for rest, fine in {
        squares: True,
        squares + "# .\n": False,
        "# " + " . " * 4_473: False,  # blanks may stand between the parts of a key
        "#" * (4_000_000 - len(claim)): True,
        "#" * (4_000_001 - len(claim)): False,
    }.items():
        path.write_text(claim + rest, encoding="utf-8")
        if fine:
            assert formal_statements([path]) == {"a/b": ARGMAX}
        else:
            with pytest.raises(NotACertificate, match=r"too many parts|larger than 4000000 bytes"):
                formal_statements([path])
