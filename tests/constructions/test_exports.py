"""What leaves lemmax for a paper: LaTeX that compiles, arrays and expressions that are the same."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions import compile_database, gram_blowup, shipped
from lemmax.constructions.exports import (
    REFERENCES,
    bibtex,
    certificate_latex,
    certificate_npz,
    certificate_safetensors,
    certificate_sympy,
    display,
    exact_arrays,
    float_arrays,
)
from lemmax.strategies import rational_matrices
from lemmax.theory import Database, Matrix, certified_rank, softmax_rank
from lemmax.theory.certificates import matrix, number
from lemmax.theory.claims import load_claims

DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage{amsmath,graphicx}
\begin{document}
%s
\end{document}
"""
OVERFULL = re.compile(r"Overfull .hbox \((\d+\.\d+)pt too wide\)")


def compiled(body: str, folder: Path) -> str:
    """The log of pdflatex; the test fails if it stops or if something sticks out of the column."""
    program = shutil.which("pdflatex")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("there is no pdflatex: make system installs it")
        pytest.skip("there is no pdflatex: make system installs it")
    (folder / "paper.tex").write_text(DOCUMENT % body, encoding="utf-8")
    done = subprocess.run(
        [program, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="latin-1",
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert (folder / "paper.pdf").is_file()
    assert OVERFULL.findall(done.stdout) == []
    assert "Float too large" not in done.stdout
    assert "Overfull \\vbox" not in done.stdout
    return done.stdout


def test_latex_of_every_shipped_certificate_compiles(tmp_path: Path) -> None:
    certificates = {name: shipped.load(name) for name in shipped.names()}
    texts = {name: certificate_latex(c, name) for name, c in certificates.items()}
    for name, text in texts.items():
        assert rf"\label{{lemmax:{name}}}" in text
        assert name in text.splitlines()[0]
    compiled("\n\n".join(texts.values()), tmp_path)


def test_latex_of_objects_compiles_and_fits(tmp_path: Path) -> None:
    db = Database.from_triples([("a_1", "50%", "x&y"), ("a_1", "g#", "{z}"), ("b~", "50%", "x^\\")])
    wide = gram_blowup(14, 3)
    objects: dict[str, Any] = {
        "matrix": Matrix([[1, "-1/2"], [3, 4]]),
        "wide": wide,
        "rank": certified_rank(wide.matrix),
        "softmax": softmax_rank(gram_blowup(4, 1).matrix),
        "layer": compile_database(db),
    }
    body = "\n\n".join(display(o.to_latex(), f"lemmax:{n}") for n, o in objects.items())
    compiled(f"{body}\n\n{db.to_latex()}", tmp_path)


def test_long_numbers_are_rounded_in_latex_only() -> None:
    value = Fraction(-(10**60), 3)
    certificate = certified_rank(Matrix([[value]])).certificate()
    text = certificate_latex(certificate)
    assert r"-3.33{\cdot}10^{59}" in text
    assert exact_arrays(certificate)["matrix"] == [[value]]
    namespace: dict[str, Any] = {}
    exec(certificate_sympy(certificate), namespace)
    assert namespace["matrix"][0, 0] == sympy.Rational(value.numerator, value.denominator)


@pytest.mark.parametrize("exponent", [-400, -60, 60, 400])
@pytest.mark.parametrize("leading", [Fraction(9996, 1000), Fraction(1), Fraction(12345, 1000)])
def test_rounded_numbers_are_near(exponent: int, leading: Fraction) -> None:
    value = leading * Fraction(10) ** exponent + Fraction(1, 3**900)
    text = certificate_latex(certified_rank(Matrix([[value]])).certificate())
    found = re.search(r"(\d+\.\d\d)\{\\cdot\}10\^\{(-?\d+)\}", text)
    assert found is not None
    shown = Fraction(found[1]) * Fraction(10) ** int(found[2])
    assert abs(shown - value) <= abs(value) / 100


@given(rational_matrices())
def test_arrays_are_the_same_numbers(M: Matrix) -> None:
    certificate = certified_rank(M).certificate()
    arrays = exact_arrays(certificate)
    assert arrays["matrix"] == [list(row) for row in M.rows()]
    np.testing.assert_array_equal(float_arrays(certificate)["matrix"], M.to_numpy())
    namespace: dict[str, Any] = {}
    exec(certificate_sympy(certificate), namespace)
    assert namespace["matrix"].shape == M.shape
    assert [Fraction(int(x.p), int(x.q)) for x in namespace["matrix"]] == [
        x for row in M.rows() for x in row
    ]


@given(st.fractions(), st.integers(13000, 20000))
def test_every_form_of_number_is_read(value: Fraction, bits: int) -> None:
    from lemmax.theory.exact import rational

    huge = (1 << bits) + 1
    entries = [number(rational(value)), number(huge), "-0x3p-7"]
    assert exact_arrays({"kind": "x", "row": entries})["row"] == [
        value,
        Fraction(huge),
        Fraction(-3, 128),
    ]


def test_names_and_ragged_lists_are_not_arrays() -> None:
    found = exact_arrays(
        {
            "kind": "x",
            "layer": {"tokens": ["1", "2"], "W_E": [["1"], ["2"]]},
            "ragged": [["1"], ["1", "2"]],
            "flag": True,
            "word": "seven",
        }
    )
    assert set(found) == {"layer.W_E", "ragged.0", "ragged.1"}


def test_layers_leave_as_they_are() -> None:
    from safetensors.numpy import load

    db = Database.from_triples([("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y")])
    result = compile_database(db)
    certificate = result.certificate()
    expected = result.to_numpy()
    archive = np.load(io.BytesIO(certificate_npz(certificate)))
    tensors = load(certificate_safetensors(certificate))
    for name, array in expected.items():
        np.testing.assert_array_equal(archive[name], array)
        np.testing.assert_array_equal(tensors[name], array)
    assert archive["facts"].shape == (3, 3)


def test_what_is_printed_can_be_rechecked() -> None:
    """The sympy text of a counterexample, put back into the certificate, still refutes."""
    certificate = shipped.load("wong/argmax-rank-one")
    namespace: dict[str, Any] = {}
    exec(certificate_sympy(certificate), namespace)
    rows = Matrix([[str(x) for x in row] for row in namespace["M"].tolist()])
    again = {**certificate, "instance": {"M": matrix(rows)}}
    assert checker.check(json.loads(json.dumps(again))).holds


def test_bibtex_agrees_with_the_claims_files() -> None:
    text = REFERENCES.read_text(encoding="utf-8")
    for paper in load_claims().papers.values():
        entry = bibtex(paper["bibtex_key"])
        assert entry in text
        assert str(paper["year"]) in entry
        surname = paper["authors"].split(",")[0].split(" and ")[0].split()[-1]
        assert surname in entry
        if paper["key"] != "lemmax":
            assert paper["title"] in entry
    assert bibtex() == text.strip()
