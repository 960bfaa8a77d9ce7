"""Certificates as mathematics for a paper, to the letter; and the numbers inside them."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from lemmax.theory.certificates import archive
from lemmax.theory.certificates.arrays import exact_arrays, short_name, shown, tokens_of_facts
from lemmax.theory.certificates.formulas import certificate_formula
from lemmax.theory.certificates.writing import (
    Certificate,
    about_claim,
    certificate,
    matrix,
    number,
    refutation,
    sha256,
    to_json,
)
from lemmax.theory.numbers.matrices import Matrix

M = Matrix([[1, 0, -1], [-1, 0, 1], [0, 0, 0]])
SHOWN = r"M &= \begin{pmatrix} 1 & 0 & -1 \\ -1 & 0 & 1 \\ 0 & 0 & 0 \end{pmatrix}"
OLD = refutation("x/rank", {"M": M}, ["rank(M) == 1"], "rank(argmax(M)) <= 2")
FALSE = r"\text{false: } & \texttt{rank(argmax(M)) \textless{}= 2}"
FOR = r"\text{for } & \texttt{rank(argmax(M)) = 3 \textgreater{} 2}"


def display(*lines: str) -> str:
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def column(*entries: object) -> str:
    return r"\begin{pmatrix} " + r" \\ ".join(map(str, entries)) + r" \end{pmatrix}"


@pytest.mark.parametrize(
    ("given", "formula"),
    [
        (
            {"kind": "softmax-rank", "logits": [["1", "2"]], "rank": 1},
            r"\operatorname{rank}\operatorname{softmax}"
            r"\left(\begin{pmatrix} 1 & 2 \end{pmatrix}\right) = 1",
        ),
        (
            {"kind": "softmax-rank", "logits": [["1", "2"]], "rank": 1, "unit": "ln2"},
            r"\operatorname{rank}\operatorname{softmax}"
            r"\left(\ln 2 \cdot \begin{pmatrix} 1 & 2 \end{pmatrix}\right) = 1",
        ),
        (
            {"kind": "matrix-rank", "matrix": [["1", "-1/2"], ["0x10p-3", "0"]], "rank": 2},
            r"\operatorname{rank}\begin{pmatrix} 1 & -\tfrac{1}{2} \\ 2 & 0 \end{pmatrix} = 2",
        ),
        (
            {"kind": "kruskal-rank", "vectors": [["1", "2"]], "rank": 1},
            r"\operatorname{krank}\begin{pmatrix} 1 & 2 \end{pmatrix} = 1",
        ),
    ],
)
def test_ranks_of_matrices(given: dict[str, Any], formula: str) -> None:
    assert certificate_formula(given) == formula
    assert certificate(given["kind"], given).formula() == formula


TENSOR: dict[str, Any] = {"kind": "tensor-rank", "field": "R", "lower": 2, "upper": 3}
TENSOR |= {"tensor": {"shape": [2, 3, 4]}}
SIZE = r", \quad D \text{ of size } 2 \times 3 \times 4"
HEAD = r"& 2 \le \operatorname{rank}_{\mathrm{R}}(D) \le 3" + SIZE


def term(last: int) -> tuple[list[list[str]], str]:
    half = r"\tfrac{1}{2}"
    told = (column(1, 0), column(half, 1, 2), column(last))
    return [["1", "0"], ["1/2", "1", "2"], [str(last)]], r" \otimes ".join(told)


@pytest.mark.parametrize("count", [1, 3, 4, 6, 7, 8])
def test_terms_of_a_tensor_in_lines_of_three(count: int) -> None:
    terms, told = zip(*map(term, range(count)), strict=True)
    told = told[:6] if count <= 6 else (*told[:6], rf"\text{{{count - 6} more terms}}")
    lines = [" + ".join(told[i : i + 3]) for i in (0, 3, 6) if told[i : i + 3]]
    expected = display(HEAD, f"D &= {lines[0]}", *(f"&+ {line}" for line in lines[1:]))
    assert certificate_formula(TENSOR | {"terms": list(terms)}) == expected


def test_tensors_without_terms() -> None:
    (terms, _) = term(1)
    without: list[dict[str, Any]] = [{}, {"terms": []}, {"terms": [terms], "families": [1]}]
    for more in without:
        assert certificate_formula(TENSOR | more) == display(HEAD)
    assert certificate_formula(TENSOR | {"terms": [terms], "real": {"a": 1}}) == display(HEAD)
    exact = TENSOR | {"lower": 3, "field": "Q"}
    assert certificate_formula(exact) == display(
        r"& \operatorname{rank}_{\mathrm{Q}}(D) = 3" + SIZE
    )
    long = [[[str(k) for k in range(n)], ["1"], ["1"]] for n in (8, 9)]
    told = (column(*range(8)), column(0, 1, 2, 3, 4, 5, r"\vdots", 8))
    one = rf" \otimes {column(1)} \otimes {column(1)}"
    assert certificate_formula(TENSOR | {"terms": long}) == display(
        HEAD, f"D &= {told[0]}{one} + {told[1]}{one}"
    )


def test_a_refutation_of_the_first_version() -> None:
    although = r"\text{although } & \texttt{rank(M) = 1 == 1}"
    assert certificate_formula(OLD) == display(SHOWN, although, FALSE, FOR)
    assert OLD.formula() == display(SHOWN, although, FALSE, FOR)
    wrong = {"hypotheses": ["rank(M) == 2"], "conclusion": "rank(argmax(M)) <= 2"}
    unmet = r"\text{although } & \texttt{rank(M) == 2}"
    assert certificate_formula({**OLD, "statement": wrong}) == display(SHOWN, unmet, FALSE)
    bare = {"conclusion": "rank(argmax(M)) <= 2"}
    assert certificate_formula({**OLD, "statement": bare}) == display(SHOWN, FALSE)
    none = {**OLD, "statement": {"hypotheses": [], "conclusion": "rank(argmax(M)) <= 2"}}
    assert certificate_formula(none) == display(SHOWN, FALSE, FOR)
    empty = {**OLD, "statement": {}}
    assert certificate_formula(empty) == display(SHOWN, r"\text{false: } & \texttt{}")


def test_a_formal_statement_in_lines() -> None:
    text = "given M: matrix; assume rank(M) == 1 and rank(M) <= 2; conclude rank(argmax(M)) <= 2"
    met = (
        r"\text{although } & \texttt{rank(M) == 1}",
        r"\text{and } & \texttt{rank(M) \textless{}= 2}",
    )
    broken = about_claim("refutation", "x/rank", text, {"M": M})
    assert certificate_formula(broken) == display(SHOWN, *met, FALSE, FOR)
    seen = about_claim(
        "witness",
        "x/rank",
        "given M: matrix, x: real; let N = M @ M; assume rank(M) == 1; conclude x > 0 and x < 1",
        {"M": M, "x": Fraction(1, 2)},
    )
    assert certificate_formula(seen) == display(
        SHOWN,
        r"x &= \tfrac{1}{2}",
        r"\text{let } & \texttt{N = M @ M}",
        r"\text{since } & \texttt{rank(M) == 1}",
        r"\text{true: } & \texttt{x \textgreater{} 0}",
        r"\text{and } & \texttt{x \textless{} 1}",
    )
    ranks = " + ".join(["rank(M)"] * 12)
    long = {"kind": "witness", "statement": f"given M: matrix; conclude {ranks} - n-m >= 0"}
    six = " + ".join(["rank(M)"] * 6)
    assert certificate_formula(long) == display(
        rf"\text{{true: }} & \texttt{{{six} +}}",
        rf"\text{{}} & \texttt{{{six} -}}",
        r"\text{} & \texttt{n-m \textgreater{}= 0}",
    )


def test_objects_of_every_shape() -> None:
    one = column(1, 2)
    table = [[str(10 * i + j) for j in range(10)] for i in range(8)]
    first = r"0 & 1 & 2 & 3 & 4 & 5 & 6 & \cdots & 9"
    told = certificate_formula({"kind": "other", "A": table})
    assert first in told
    assert told.count(r"\\") == 6
    assert r"\vdots" in told
    assert "70" in told
    assert "60" not in told
    assert "77" not in told
    given: dict[str, Any] = {
        "kind": "other",
        "instance": {
            "who": {"facts": [["a", "b", "c"], ["d", "e", "1"]]},
            "D": {"facts": [[0, 1, 2]]},
            "v": ["1", "2/3"],
            "x_1": "5",
            "x_12": "6",
            "long_name": "7",
            "T": [[["1"], ["2"]]] * 6,
            "U": [[["1"], ["2"]]] * 5,
            "row": [str(k) for k in range(10)],
            "nine": [str(k) for k in range(9)],
        },
    }
    facts = "\\begin{array}{lll}\n" + r"\text{a} & \text{b} & \text{c} \\" + "\n"
    facts += r"\text{d} & \text{e} & \text{1}" + "\n\\end{array}"
    assert certificate_formula(given) == display(
        rf"\texttt{{who}} &= {facts}",
        r"\texttt{D.facts} &= \begin{pmatrix} 0 & 1 & 2 \end{pmatrix}",
        r"v &= \left(1, \tfrac{2}{3}\right)",
        "x_1 &= 5",
        r"\texttt{x\_12} &= 6",
        r"\texttt{long\_name} &= 7",
        rf"T &= {one},\ {one},\ {one},\ \dots,\ {one}",
        rf"U &= {one},\ {one},\ {one},\ {one},\ {one}",
        r"& \text{and 2 more in the certificate}",
    )
    rows = {name: given["instance"][name] for name in ("row", "nine")}
    assert certificate_formula({"kind": "other", **rows}) == display(
        r"\texttt{row} &= \left(0, 1, 2, 3, 4, 5, 6, \dots, 9\right)",
        r"\texttt{nine} &= \left(0, 1, 2, 3, 4, 5, 6, 7, 8\right)",
    )


def test_heads_of_a_layer_stand_together() -> None:
    head = {f"W_{name}": [[str(n)]] for n, name in enumerate("QKVO", 1)}
    layer = {"heads": [head, {"W_Q": [["5"]]}], "E": [["6", "7"]]}
    told = {"lower": {"x": "1"}, "upper": [["1"]], "proof": "3", "evidence": "2", "facts": [["0"]]}
    words = {"note": "4", "version": 1, "format": "5", "claim": "6", "unit": "7", "tokens": ["8"]}
    small = [rf"W_{name}^{{1}} = {column(n)}" for n, name in enumerate("QKVO", 1)]
    expected = display(
        r"E &= \begin{pmatrix} 6 & 7 \end{pmatrix}",
        "& " + r",\ ".join(small),
        rf"& W_Q^{{2}} = {column(5)}",
    )
    given = {"kind": "other", **told, **words}
    assert certificate_formula(given | {"layer": layer}) == expected
    assert certificate_formula(given | {"instance": {"layer": layer}}) == expected


def test_what_fits_on_a_page() -> None:
    few = {f"a{k}": str(k) for k in range(18)}
    lines = [rf"\texttt{{a{k}}} &= {k}" for k in range(19)]
    assert certificate_formula({"kind": "other"} | few) == display(*lines[:18])
    rest = r"& \text{and 1 more in the certificate}"
    many = {"kind": "other"} | few | {"a18": "18"}
    assert certificate_formula(many) == display(*lines[:18], rest)
    tall = {"kind": "other"} | {f"A_{k}": [["1"], ["2"], ["3"]] for k in range(7)}
    whole = [rf"A_{k} &= {column(1, 2, 3)}" for k in range(7)]
    assert certificate_formula(tall) == display(*whole[:6], rest)


# -- arrays -------------------------------------------------------------------------------------


def test_numbers_of_every_form() -> None:
    given = {
        "a": 3,
        "b": "-3/4",
        "c": "0x10p-3",
        "d": "-0xff",
        "e": "0x1p2",
        "f": ["1", 2],
        "g": True,
        "h": "1.5",
        "i": [],
        "j": [["1"], ["2", "3"]],
        "k": ["1", "word"],
        "l": {"m": [{"n": "1"}, "2"]},
        "note": "1",
    }
    assert exact_arrays(given) == {
        "a": 3,
        "b": Fraction(-3, 4),
        "c": 2,
        "d": -255,
        "e": 4,
        "f": [1, 2],
        "j.0": [1],
        "j.1": [2, 3],
        "k.0": 1,
        "l.m.0.n": 1,
        "l.m.1": 2,
    }


def test_facts_with_tokens_are_no_numbers() -> None:
    assert tokens_of_facts([[1, 2], [3, "4"]])
    for other in ([[1, 2]], [], "12", None, ["1", "2"], [1]):
        assert not tokens_of_facts(other)
    assert exact_arrays({"x": {"facts": [["1", "2", "3"]]}, "facts": [[1, 2]]}) == {
        "facts": [[1, 2]]
    }
    assert exact_arrays({"other": [["1", "2", "3"]]}) == {"other": [[1, 2, 3]]}


def test_short_names_and_what_is_shown() -> None:
    names = ("instance.layer.E", "instance.M", "layer.heads.0.W_Q", "layer", "x.layer.y")
    assert [*map(short_name, names)] == ["E", "M", "heads.0.W_Q", "layer", "x.layer.y"]
    given = {"M": [["1"]], "lower": "1", "upper": "2", "proof": "3", "evidence": "4"}
    assert shown(given | {"facts": [[1]]}) == {"M": [[1]]}


# -- writing ------------------------------------------------------------------------------------


def test_numbers_are_written_in_decimals_while_they_are_short() -> None:
    edge = 10**3900
    limit = sys.get_int_max_str_digits()
    assert number(edge - 1) == "9" * 3900
    assert number(1 - edge) == "-" + "9" * 3900
    assert number(edge) == hex(edge)
    assert number(-edge) == hex(-edge)
    assert number(fmpz(-7)) == "-7"
    assert number(fmpq(1, edge - 1)) == "1/" + "9" * 3900
    assert number(fmpq(3, 2**13000)) == "0x3p-13000"
    assert number(fmpq(-3, 2**13000)) == "-0x3p-13000"
    with pytest.raises(ValueError, match=r"^A fraction this long has no certificate form"):
        number(fmpq(1, edge))
    assert sys.get_int_max_str_digits() == limit


def test_values_of_an_instance_are_written_exactly() -> None:
    values = {"q": Fraction(3, 4), "f": fmpq(1, 2), "z": fmpz(5), "n": 7, "M": M, "w": "word"}
    told = about_claim("witness", "x/c", "s", values | {"l": [1, 2]})
    plain = {"q": "3/4", "f": "1/2", "z": "5", "n": "7", "w": "word", "l": [1, 2]}
    rows = [["1", "0", "-1"], ["-1", "0", "1"], ["0", "0", "0"]]
    assert told == {
        "format": "lemmax-certificate",
        "version": 2,
        "kind": "witness",
        "claim": "x/c",
        "statement": "s",
        "instance": plain | {"M": rows},
    }
    inner = certificate("matrix-rank", {"rank": 1})
    more = about_claim("refutation", "x/c", "s", {}, [inner])
    assert more["evidence"] == [{"kind": "matrix-rank", "rank": 1}]
    assert (more["kind"], more["instance"]) == ("refutation", {})
    assert refutation("x/c", {"n": 1}, ("h",), "c") == {
        "format": "lemmax-certificate",
        "version": 1,
        "kind": "refutation",
        "claim": "x/c",
        "statement": {"hypotheses": ["h"], "conclusion": "c"},
        "instance": {"n": "1"},
    }
    assert matrix(fmpz_mat([[1, 2]])) == matrix(Matrix([[1, 2]])) == [["1", "2"]]
    assert matrix(fmpq_mat([[fmpq(1, 2)]])) == [["1/2"]]


def test_a_certificate_tells_its_claim_and_its_digest(tmp_path: Path) -> None:
    given = Certificate({"kind": "x", "b": "é", "a": [1, 2]}, "x/other")
    assert given.claim == "x/other"
    assert OLD.claim == "x/rank"
    assert Certificate({"claim": "x/c"}, "x/other").claim == "x/c"
    assert Certificate({}).claim is None
    assert to_json(given) == '{"a":[1,2],"b":"é","kind":"x"}\n'
    digest = "62e16933f88afcd1499fae3ba4e1e8d568a767fc87a824734fa210c5b7c3d26c"  # by sha256sum
    assert given.comments() == (
        f"kind x, sha256 {digest}",
        "re-check it with: python3 -I checker.pyz CERTIFICATE.json",
    )
    assert sha256(given) == digest


def test_a_certificate_in_sympy() -> None:
    import sympy

    given = Certificate({"kind": "x", "instance": {"M": [["1", "1/2"]], "v": ["2"], "n": "3"}})
    told = given.to_sympy()
    assert told["M"] == sympy.Matrix([[1, sympy.Rational(1, 2)]])
    assert list(told["v"]) == [2]
    assert not isinstance(told["v"], sympy.MatrixBase)
    assert told["n"] == 3
    assert list(told) == ["M", "v", "n"]


def test_a_process_of_its_own_tells_what_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def run(command: list[str], **named: Any) -> Any:
        asked.append((command, named))
        return SimpleNamespace(stdout='["/b.py", "/a.py"]')

    monkeypatch.setattr(archive, "subprocess", SimpleNamespace(run=run))
    assert archive.sources_for("matrix-rank") == [Path("/a.py"), Path("/b.py")]
    archive.sources_for("witness")
    (first, named), (second, _) = asked
    assert first[:4] == [sys.executable, "-I", "-S", "-c"]
    assert (first[-2:], second[-2:]) == (["matrix-rank", "1"], ["witness", "2"])
    assert Path(first[-3], "lemmax", "checker", "__init__.py").is_file()
    assert named == {"capture_output": True, "text": True, "check": True}


def test_the_archive_begins_as_a_program(tmp_path: Path) -> None:
    made = archive.write_checker(tmp_path / "checker.pyz")
    assert made.read_bytes().startswith(b"#!/usr/bin/env python3\nPK")
