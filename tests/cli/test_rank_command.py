"""Decompositions in words and in SMS files, and ``lemmax rank``."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from lemmax import cli
from lemmax.checker import check_file
from lemmax.checker.bounds import RULES
from lemmax.cli import rank_view
from lemmax.constructions import compile_database, figure_1
from lemmax.strategies import databases
from lemmax.theory import Database, tensor_rank
from lemmax.theory.errors import LemmaxError
from lemmax.theory.tensors.algebras.structure import alder_strassen
from lemmax.theory.tensors.decompositions import Decomposition
from lemmax.theory.tensors.descriptions import sharing
from lemmax.theory.tensors.examples import of_table
from lemmax.theory.tensors.files import decomposition_texts, read_decomposition, write_decomposition

FACTS = """name,born_in,lives_in
Astrid,Singapore,Malaysia
Bernard,Singapore,Singapore
Colin,Malaysia,Malaysia
"""
CYCLE = """key,f,g
a,x,y
b,y,z
c,z,x
"""


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        cli.main(["rank", *words])
    code = caught.value.code
    seen = capsys.readouterr()
    return int(code or 0), seen.out, seen.err


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    path = tmp_path / "facts.csv"
    path.write_text(FACTS, encoding="utf-8")
    return path


def test_the_rank_is_printed_with_its_reasons(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, str(facts))
    assert code == 0
    assert "The rank over R is 3." in out
    assert "6 facts: 3 keys, 2 queries, 2 values." in out
    assert "born_in" in out


def test_the_rank_explains_itself(facts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it counts, why it is not less, and a picture with the terms of every cell."""
    _, out, _ = run(capsys, str(facts))
    told = " ".join(out.split())
    assert "is a sum of 3 terms" in told
    assert "Why not fewer than 3: written out as one long row each, the keys are 3 rows" in told
    assert "Which terms each cell is made of: born_in lives_in" in told
    cells = {line.split()[0]: line.split()[1:] for line in out.splitlines()[-3:]}
    assert set(cells) == {"Astrid", "Bernard", "Colin"}
    assert all(set(letters) <= set("abc") for row in cells.values() for letters in row)


def test_the_rank_says_what_follows_for_layers(
    facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By claims that hold, and for a layer that is built and decided here."""
    _, out, _ = run(capsys, str(facts))
    told = " ".join(out.split())
    assert "d_model + heads · d_vo · 2 is at least 3" in told
    verdicts = {claim["id"]: claim["verdict"] for claim in _ledger()}
    cited = re.findall(r"\((\w+/[\w.-]+)\)", told)
    assert len(cited) == 3
    assert all(verdicts[claim] == "holds" for claim in cited)
    compiled = compile_database(Database.read(facts))
    dims = compiled.dims
    sizes = f"d_model = {dims.d_model}, d_vo = {dims.d_vo}, d_qk = {dims.d_qk}"
    assert f"one head with {sizes} has the right answer" in told
    assert cited[-1] == compiled.claim
    _, over_q, _ = run(capsys, str(facts), "--field", "Q")
    assert "at least 3, since" not in over_q  # real weights could do with less
    both = tmp_path / "both.csv"
    both.write_text("s,p,o\na,a,x\na,b,y\nb,a,y\nb,b,x\n", encoding="utf-8")
    _, overlap, _ = run(capsys, str(both))
    assert "2 heads with" in overlap
    assert "(lemmax/compiler-two-heads)" in overlap


def _ledger() -> Any:
    path = resources.files("lemmax.theory.ledger") / "ledger.json"
    return json.loads(path.read_text(encoding="utf-8"))["claims"]


def test_reasons_are_sentences() -> None:
    """Substitution speaks of some of the keys, of the queries or of the values."""
    told = " ".join(rank_view.explained(tensor_rank(figure_1())))
    assert "some of the" in told
    assert "some the" not in told


def test_the_corner_of_a_large_table_is_drawn() -> None:
    """40 keys and 12 queries: 16 and 10 are drawn, and the others are counted."""
    facts = [(f"k{k}", f"q{q}", (k * q) % 3) for k in range(40) for q in range(12)]
    result = tensor_rank(Database.from_triples(facts))
    lines = rank_view.picture(result)
    assert len(lines) == 2 + 16 + 1
    assert lines[-1] == "(24 keys and 2 queries more)"
    assert all(len(line.split()) == 11 for line in lines[2:-1])
    letters = {x for line in lines[2:-1] for cell in line.split()[1:] for x in cell}
    assert len(letters - {"."}) <= result.upper


def told(table: list[str]) -> str:
    result = tensor_rank(of_table(table))
    return "\n".join(sharing(result.decomposition, result.array, ("abcdef", "fghi", "xyzw")))


def test_facts_that_share_a_term_are_named() -> None:
    assert told(["01", "12", "20"]).startswith("Which facts share a term: ")
    assert told(["0.", ".1"]) == "Which facts share a term: none, each of the 2 has one of its own."
    words = told(["00", "00", ".1"])
    assert "4 of the 5 facts; 1 fact has a term of its own" in words
    assert "at 4 of them: a f, a g, b f, b g." in words
    assert "meet" not in words
    assert "and 2 more." in told(["00", "00", "00"])


def test_where_terms_meet_is_told_with_the_cells_that_cancel() -> None:
    """Each of two terms covers all four cells: at one of them, without a fact, they cancel."""
    one, two = fmpq(1), fmpq(2)
    terms = (((one, one), (one, one), (one,)), ((one, two), (one, two), (fmpq(-1, 4),)))
    shown = Decomposition((2, 2, 1), terms)
    array = np.array([[[3], [2]], [[2], [0]]])
    text = "\n".join(sharing(shown, array, ("ab", "fg", "x")))
    assert "Where terms meet, at 4 cells," in text
    assert "at 1 cell without a fact they cancel." in text


def test_every_rule_of_the_checker_has_a_reason_in_words() -> None:
    assert set(rank_view._WHY) == set(RULES)


def test_json_has_the_interval_and_the_field(
    facts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, str(facts), "--field", "C", "--json")
    seen = json.loads(out)
    assert code == 0
    assert (seen["lower"], seen["upper"], seen["rank"], seen["field"]) == (3, 3, 3, "C")
    assert len(seen["terms"]) == 3


def test_the_certificate_and_the_files_can_be_written_and_read_back(
    facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [str(tmp_path / f"{name}.sms") for name in "LRP"]
    target = tmp_path / "rank.json"
    code, _, _ = run(capsys, str(facts), "--write", *names, "--certificate", str(target))
    assert code == 0
    assert check_file(target).holds
    code, out, _ = run(capsys, "--decomposition", *names, str(facts))
    assert code == 0
    assert "The given decomposition adds up: 3 terms." in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("0 0 0", ""), "does not end"),
        (lambda text: "no matrix", "does not start"),
        (lambda text: text.replace("R", "R\n9 9 1", 1), "outside"),
        (lambda text: text.replace("R", "R\n1 1 x", 1), "not a rational"),
        (lambda text: text.replace(" 1\n", " 5\n", 1), "add up to"),
    ],
)
def test_a_bad_decomposition_is_one_sentence(
    facts: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: Any,
    message: str,
) -> None:
    db = Database.read(facts)
    paths = [tmp_path / f"{name}.sms" for name in "LRP"]
    write_decomposition(tensor_rank(db).decomposition, paths)
    paths[0].write_text(change(paths[0].read_text(encoding="utf-8")), encoding="utf-8")
    code, _, err = run(capsys, "--decomposition", *map(str, paths), str(facts))
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_a_decomposition_of_another_shape_is_one_sentence(
    facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / f"{name}.sms" for name in "LRP"]
    write_decomposition(tensor_rank(np.ones((1, 2, 3), dtype=int)).decomposition, paths)
    code, _, err = run(capsys, "--decomposition", *map(str, paths), str(facts))
    assert code == 2
    assert "shape" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--field", "F2"], "Q, R or C"), (["--certificate", "no/such/folder/x.json"], "no folder")],
)
def test_bad_options_are_one_sentence(
    facts: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    code, _, err = run(capsys, str(facts), *words)
    assert code == 2
    assert message in err


def test_missing_facts_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, str(tmp_path / "nothing.csv"))
    assert code == 2
    assert "nothing.csv" in err


def test_irrational_terms_are_shown_and_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cycle.csv"
    path.write_text(CYCLE, encoding="utf-8")
    code, out, _ = run(capsys, str(path), "--field", "C")
    assert code == 0
    assert "roots of θ^2 + θ + 1" in out
    names = [str(tmp_path / f"{name}.sms") for name in "LRP"]
    code, _, err = run(capsys, str(path), "--field", "C", "--write", *names)
    assert code == 2
    assert "irrational" in err


@given(databases(max_keys=4, max_queries=3, max_values=3), st.sampled_from(["Q", "R"]))
def test_sms_files_keep_decompositions(db: Database, field: Any) -> None:
    found = tensor_rank(db, field).decomposition
    if found.families:
        with pytest.raises(LemmaxError, match="irrational"):
            decomposition_texts(found)
        return
    left, right, third = decomposition_texts(found)
    assert left.splitlines()[0] == f"{len(found)} {len(db.keys)} R"
    assert right.splitlines()[0] == f"{len(found)} {len(db.queries)} R"
    assert third.splitlines()[0] == f"{len(db.values)} {len(found)} R"


def test_sms_files_are_read_back_exactly(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("L.sms", "R.sms", "P.sms")]
    found = tensor_rank([[[1, 2], [3, 4]], [[5, 6], [7, 9]]], "Q").decomposition
    write_decomposition(found, paths)
    assert read_decomposition(paths) == found


def test_strassens_algorithm_is_accepted_and_improves_the_bound(tmp_path: Path) -> None:
    """The seven products of Strassen, as three SMS matrices, for 2 × 2 matrix multiplication."""
    T = np.zeros((4, 4, 4), dtype=int)
    for i, j, k in np.ndindex(2, 2, 2):
        T[2 * i + j, 2 * j + k, 2 * i + k] = 1
    left = ["1001", "0011", "1000", "0001", "1100", "-1010", "010-1"]
    right = ["1001", "1000", "010-1", "-1010", "0001", "1100", "0011"]
    product = ["1..1-.1", "..1.1..", ".1.1...", "1-1..1."]

    def entries(text: str) -> list[int]:
        found: list[int] = []
        sign = 1
        for letter in text:
            if letter == "-":
                sign = -1
                continue
            found.append(sign * int(letter))
            sign = 1
        return found

    signs = {"1": "1", "-": "-1"}
    texts = []
    for rows in ([entries(x) for x in left], [entries(x) for x in right]):
        lines = [f"{len(rows)} 4 R"]
        lines += [f"{i} {j} {x}" for i, r in enumerate(rows, 1) for j, x in enumerate(r, 1) if x]
        texts.append("\n".join([*lines, "0 0 0"]))
    lines = ["4 7 R"]
    for i, row in enumerate(product, 1):
        lines += [f"{i} {j} {signs[x]}" for j, x in enumerate(row, 1) if x in signs]
    texts.append("\n".join([*lines, "0 0 0"]))
    paths = [tmp_path / f"{name}.sms" for name in "LRP"]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    result = tensor_rank(T, "Q").with_decomposition(read_decomposition(paths))
    assert result.upper == 7
    assert result.rank == 7  # 2·4 - 1: the matrices have one maximal ideal
    assert not result.cited


def test_alder_strassen_counts_maximal_ideals() -> None:
    def group(rows: list[list[int]]) -> Any:
        return np.eye(len(rows), dtype=int)[np.array(rows)]

    cyclic = group([[(i + j) % 6 for j in range(6)] for i in range(6)])
    assert [alder_strassen(cyclic, f) for f in ("Q", "R", "C")] == [8, 8, 6]
    elements: list[tuple[int, ...]] = [
        (0, 1, 2),
        (1, 2, 0),
        (2, 0, 1),
        (1, 0, 2),
        (0, 2, 1),
        (2, 1, 0),
    ]
    symmetric = group(
        [[elements.index(tuple(p[i] for i in q)) for q in elements] for p in elements]
    )
    assert alder_strassen(symmetric, "R") == 9  # R × R × M_2(R)
    assert alder_strassen(np.ones((2, 2, 2), dtype=int), "R") is None
    nilpotent = np.zeros((2, 2, 2), dtype=int)  # the dual numbers
    nilpotent[0, 0, 0] = nilpotent[0, 1, 1] = nilpotent[1, 0, 1] = 1
    assert alder_strassen(nilpotent, "Q") == 3


def test_a_search_that_time_ended_says_so(
    facts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "loop.csv"  # a Latin square that no group has
    square = ("01234", "10342", "24013", "32401", "43120")
    rows = [",".join(["k" + str(k), *(f"v{x}" for x in row)]) for k, row in enumerate(square)]
    path.write_text("\n".join(["key,a,b,c,d,e", *rows]), encoding="utf-8")
    code, out, _ = run(capsys, str(path), "--seconds", "1e-9")
    assert code == 0
    assert "is at least" in out
    assert "The time ended the search" in out
    assert json.loads(run(capsys, str(path), "--seconds", "1e-9", "--json")[1])["stopped"] is True
    code, out, _ = run(capsys, str(facts), "--seconds", "60")
    assert code == 0
    assert "The time ended" not in out


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e300"])
def test_a_time_that_cannot_be_used_is_one_sentence(
    facts: Path, capsys: pytest.CaptureFixture[str], seconds: str
) -> None:
    code, _, err = run(capsys, str(facts), "--seconds", seconds)
    assert code == 2
    assert "not a time to search" in err
    assert len(err.strip().splitlines()) == 1
