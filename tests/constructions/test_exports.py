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
    certificate_npz,
    certificate_safetensors,
    certificate_sympy,
    float_arrays,
)
from lemmax.strategies import rational_matrices
from lemmax.theory import (
    Database,
    Decomposition,
    Matrix,
    certified_rank,
    softmax_rank,
    tensor_rank,
)
from lemmax.theory.certificates.arrays import exact_arrays
from lemmax.theory.certificates.writing import Certificate, matrix, number
from lemmax.theory.latex import Typeset
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.tensors.decompositions import rational_terms
from lemmax.theory.wong.effective_ranks import effective_rank

DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage{amsmath,graphicx}
\begin{document}
%s
\end{document}
"""
OVERFULL = re.compile(r"Overfull .hbox \((\d+\.\d+)pt too wide\)")


def compiled(body: str, folder: Path, document: str = DOCUMENT) -> str:
    """The log of pdflatex; the test fails if it stops or if something sticks out of the column."""
    program = shutil.which("pdflatex")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("there is no pdflatex: make system installs it")
        pytest.skip("there is no pdflatex: make system installs it")
    (folder / "paper.tex").write_text(document.replace("%s", body), encoding="utf-8")
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


def labels(text: str) -> list[str]:
    return re.findall(r"\\label\{([^}]*)\}", text)


def test_latex_of_every_shipped_certificate_compiles(tmp_path: Path) -> None:
    texts, claims = [], load_claims()
    assert shipped.load("wong/example-2.2-rank").claim == "wong/example-2.2"
    for name in shipped.names():
        certificate = shipped.load(name)
        text = certificate.to_latex(f"lemmax:{name}")
        assert labels(text) == [f"lemmax:{name}"]
        if certificate.claim is not None:
            assert certificate.claim in claims
            assert f"claim {certificate.claim};" in text.splitlines()[0]
        texts.append(text)
    compiled("\n\n".join(texts), tmp_path)


ODD = Database.from_triples(
    [
        ("a_1", "50%", 'x&y "|<'),
        ("a_1", "g#", "{z}"),
        ("b~", "50%", "x^\\"),
        ("Łódź", "β", "çéůő 中"),
    ]
)
LARGE = Database.from_triples(
    [(f"k{i}", f"q{j}", f"v{i * j}") for i in range(40) for j in range(3)]
)
ROTATION = np.array([[[1, 0], [0, -1]], [[0, 1], [1, 0]]])


def printable() -> dict[str, Typeset]:
    """An object of every kind that can be printed, small, large, and with long numbers."""
    import lemmax.constructions as constructions
    import lemmax.theory as theory

    e = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    moments = [[x**i for i in range(4)] for x in range(1, 8)]
    heads = constructions.saturation_heads(e, moments, H=3)
    memory = constructions.associative_memory({"ab": "b", "ba": "a", "aa": "b"}, H=1, d_h=1)
    layer = compile_database(ODD)
    xor = Database.from_triples(
        [("a", "f", "0"), ("a", "g", "1"), ("b", "f", "1"), ("b", "g", "0")]
    )
    blowup = gram_blowup(14, 3)
    return {
        "matrix": Matrix([[1, "-1/2"], [3, 4]]),
        "wide matrix": Matrix([[i * j for j in range(60)] for i in range(3)]),
        "tall matrix": Matrix([[10**40 * i, Fraction(1, 3**90)] for i in range(200)]),
        "blow-up": blowup,
        "rank": certified_rank(blowup.matrix),
        "rank certificate": certified_rank(blowup.matrix).certificate(),
        "softmax rank": softmax_rank(gram_blowup(4, 1).matrix),
        "database": ODD,
        "large database": LARGE,
        "layer": layer.layer,
        "compiled": layer,
        "large layer": compile_database(LARGE, tau="99/100"),
        "large layer's certificate": compile_database(LARGE, tau="99/100").certificate(),
        "memorization": theory.memorizes(layer.layer, ODD, tau="1/100"),
        "example 3.3": constructions.example_3_3(),
        "tensor rank": tensor_rank(xor),
        "decomposition": tensor_rank(constructions.figure_1()).decomposition,
        "conjugate terms": tensor_rank(ROTATION, "C").decomposition,
        "many terms": rational_terms(
            (40, 3, 40), [(range(i, 40 + i), (1, 0, i), range(40)) for i in range(1, 50)]
        ),
        "no terms": Decomposition((1, 1, 1)),
        "decomposition's certificate": tensor_rank(xor).certificate(),
        "effective rank": effective_rank(xor),
        "saturation": heads,
        "context layer": heads.layer,
        "feature rank": heads.layer.feature_rank(),
        "memory": memory,
        "transformer": memory.model,
        "attention rank": theory.aot_rank(memory.model, list(memory.pairs)),
        "bigrams": theory.bigram_rank([(0, 0), (1, 1)], d=2, d_h=2, H=1),
        "Kruskal rank": theory.kruskal_rank(moments),
    }


def test_latex_of_objects_compiles_and_fits(tmp_path: Path) -> None:
    objects = printable()
    texts = {name: thing.to_latex() for name, thing in objects.items()}
    for name, text in texts.items():
        (label,) = labels(text)
        claim = objects[name].claim
        assert label.startswith(f"lemmax:{claim or ''}")
        assert claim is None or f"claim {claim};" in text
    for thing in ("matrix", "layer", "decomposition", "rank certificate"):
        mine = objects[thing].to_latex(label="mine", claim="wong/proposition-3.6")
        assert labels(mine) == ["mine"]
        assert "claim wong/proposition-3.6;" in mine
        texts[f"{thing} of a claim"] = mine.replace("{mine}", f"{{{thing}}}")
    log = compiled("\n\n".join(texts.values()), tmp_path)
    assert "undefined" not in log


def test_without_graphicx_it_still_compiles(tmp_path: Path) -> None:
    compiled(gram_blowup(3, 2).to_latex(), tmp_path, DOCUMENT.replace(",graphicx", ""))


def test_what_has_a_certificate_can_be_printed() -> None:
    """Every public class of results and constructions, and the certificates themselves."""
    import lemmax.constructions as constructions
    import lemmax.theory as theory

    assert issubclass(Certificate, Typeset)
    for package in (theory, constructions):
        for name in package.__all__:
            thing = getattr(package, name)
            if isinstance(thing, type) and hasattr(thing, "certificate"):
                assert issubclass(thing, Typeset), name


def test_long_numbers_are_rounded_in_latex_only() -> None:
    value = Fraction(-(10**60), 3)
    certificate = certified_rank(Matrix([[value]])).certificate()
    text = certificate.to_latex()
    assert r"-3.33{\cdot}10^{59}" in text
    assert exact_arrays(certificate)["matrix"] == [[value]]
    namespace: dict[str, Any] = {}
    exec(certificate_sympy(certificate), namespace)
    assert namespace["matrix"][0, 0] == sympy.Rational(value.numerator, value.denominator)


@pytest.mark.parametrize("exponent", [-400, -60, 60, 400])
@pytest.mark.parametrize("leading", [Fraction(9996, 1000), Fraction(1), Fraction(12345, 1000)])
def test_rounded_numbers_are_near(exponent: int, leading: Fraction) -> None:
    value = leading * Fraction(10) ** exponent + Fraction(1, 3**900)
    text = certified_rank(Matrix([[value]])).certificate().to_latex()
    match = re.search(r"(\d+\.\d\d)\{\\cdot\}10\^\{(-?\d+)\}", text)
    assert match is not None
    shown = Fraction(match[1]) * Fraction(10) ** int(match[2])
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
    from lemmax.theory.numbers.matrices import rational

    huge = (1 << bits) + 1
    entries = [number(rational(value)), number(huge), "-0x3p-7"]
    assert exact_arrays({"kind": "x", "row": entries})["row"] == [
        value,
        Fraction(huge),
        Fraction(-3, 128),
    ]


def test_names_and_ragged_lists_are_not_arrays() -> None:
    arrays = exact_arrays(
        {
            "kind": "x",
            "layer": {"tokens": ["1", "2"], "W_E": [["1"], ["2"]]},
            "ragged": [["1"], ["1", "2"]],
            "flag": True,
            "word": "seven",
        }
    )
    assert set(arrays) == {"layer.W_E", "ragged.0", "ragged.1"}


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
