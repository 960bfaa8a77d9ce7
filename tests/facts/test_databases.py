"""Reading facts: every format, every contradiction with its lines, every untidy file."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from lemmax.strategies import databases
from lemmax.theory import Database
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Contradiction
from lemmax.theory.facts.layouts import Reading
from lemmax.theory.facts.readers import read_facts


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@given(databases(disjoint=False))
def test_the_tensor_is_the_function(db: Database) -> None:
    D = db.tensor()
    assert D.sum() == len(db)
    for k, q, v in db:
        assert D[db.keys.index(k), db.queries.index(q), db.values.index(v)] == 1
        assert db[k, q] == v
        assert (k, q) in db
    assert D.sum(axis=2).max() == 1
    for key in db.keys:
        assert np.linalg.matrix_rank(db.slice_k(key)) == len(db.V_k(key))
        assert np.array_equal(db.slice_k(key), D[db.keys.index(key)])
    for query in db.queries:
        assert np.array_equal(db.slice_q(query), D[:, db.queries.index(query)])
        assert len(db.V_q(query)) == (db.slice_q(query).sum(axis=0) > 0).sum()
    for value in db.values:
        assert np.array_equal(db.slice_v(value), D[:, :, db.values.index(value)])
    by_key = sum(len(db.V_k(k)) for k in db.keys)
    assert db.slice_rank_bound == min(by_key, sum(len(db.V_q(q)) for q in db.queries))


@given(databases())
def test_csv_round_trip(db: Database) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "facts.csv"
        db.to_csv(path)
        assert Database.read(path) == db


def test_untidy_csv_files_are_read(tmp_path: Path) -> None:
    head = "\ufeffSubject,Predicate,Object\r\n"
    text = head + '"Åsa, B.",likes,"say ""hi"""\r\n\r\n  Ōta , likes ,東京\r\n'
    db = Database.read(write(tmp_path, "a.csv", text))
    assert db.triples == (("Åsa, B.", "likes", 'say "hi"'), ("Ōta", "likes", "東京"))


def test_wide_tables_skip_blank_cells(tmp_path: Path) -> None:
    db = Database.read(
        write(tmp_path, "a.tsv", "name\tborn in\tlives in\nA\tX\t\nB\t\tY\nC\tZ\t\n")
    )
    assert db.triples == (("A", "born in", "X"), ("B", "lives in", "Y"), ("C", "born in", "Z"))


def test_repeated_facts_count_once(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "subject,predicate,object\na,f,x\na,f,x\nb,f,x\n")
    assert len(Database.read(path)) == 2


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.csv", "subject,predicate,object\na,f,x\nb,f,x\n\na,f,y\n", "lines 2 and 5"),
        ("a.tsv", "k\tf\na\tx\nb\tx\na\ty\n", "lines 2 and 4"),
        ("a.nt", '<u:a> <u:f> "x" .\n# c\n<u:a> <u:f> "y" .\n', "lines 1 and 3"),
        ("a.nt", '<u:a> <u:f> "1" .\n<u:a> <u:f> "1"@en .\n', "lines 1 and 2"),
        ("a.ttl", '@prefix u: <u:> . u:a u:f "x", "y" .', "two objects"),
    ],
)
def test_contradictions_name_both_lines(tmp_path: Path, name: str, text: str, lines: str) -> None:
    with pytest.raises(Contradiction) as error:
        Database.read(write(tmp_path, name, text))
    assert lines in str(error.value)
    assert name in str(error.value)


def test_a_multi_line_cell_keeps_the_line_count(tmp_path: Path) -> None:
    text = 'subject,predicate,object\n"a\nb",f,x\nc,f,x\nc,f,y\n'
    with pytest.raises(Contradiction, match="lines 4 and 5"):
        Database.read(write(tmp_path, "a.csv", text))


def test_rdf_is_read(tmp_path: Path) -> None:
    n_triples = '<u:a> <u:f> "x" .\n\n<u:b> <u:f> <u:c> .\n'
    turtle = '@prefix u: <u:> .\nu:a u:f "x" . u:b u:f u:c .\n'
    expected = {("u:a", "u:f", "x"), ("u:b", "u:f", "u:c")}
    assert set(Database.read(write(tmp_path, "a.nt", n_triples))) == expected
    assert set(Database.read(write(tmp_path, "a.ttl", turtle))) == expected


TURTLE = """@prefix u: <http://u.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@base <http://base.org/> .
u:b u:f u:c ; u:g "x\\ty", 'z' .
u:b u:g "z" . # a second time
u:a a <here> ; u:n 01 ; u:m 1.50 ; u:t true ; u:w "mot"@fr ; u:d "2020-02-02"^^xsd:date ;
  u:s "plain"^^xsd:string ; u:l ( u:c u:d ) .
"""


def test_two_readers_of_turtle_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "a.ttl", TURTLE)
    fast = read_facts(path)
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    slow = read_facts(path)

    def named(reading: Reading) -> set[tuple[object, ...]]:  # blank nodes have no name of their own
        facts = {fact for _, fact in reading.facts}
        rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        blank = {s for s, p, _ in facts if p in (f"{rdf}first", f"{rdf}rest")}
        return {tuple("_" if token in blank else token for token in fact) for fact in facts}

    assert len(fast.facts) == len(slow.facts) == 15
    assert named(fast) == named(slow)
    assert fast.how == slow.how


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "\n \n", "is empty"),
        ("a.csv", "subject,predicate,object\n", "holds no facts"),
        ("a.csv", "name,f\nA,\n", "holds no facts"),
        ("a.csv", "subject,predicate,object\na,f,\n", "line 2: a fact with an empty cell"),
        ("a.csv", "subject,predicate,object\na,f\n", "line 2: 2 cells, 3 columns"),
        ("a.csv", "name,f,g\na,x,y\nb,x\n", "line 3: 2 cells, 3 columns"),
        ("a.csv", "subject,predicate,object\na,f,x,y\n", "line 2: 4 cells"),
        ("a.csv", "name\nA\n", "one column"),
        ("a.csv", "name,f,f\nA,x,y\n", "same name"),
        ("a.csv", "name,,g\nA,x,y\n", "column 2 has no name"),
        ("a.csv", "name,f\n,x\n", "line 2: a row without a subject"),
        ("a.csv", 'name,f\n"A,x\n', "line"),
        ("a.csv", b"name,f\n\xff\xfe,x\n", "not UTF-8"),
        ("a.csv", "a\0b,c\n", "NUL"),
        ("a.nt", "not a triple\n", "line 1: not an N-Triples statement"),
        ("a.ttl", "@prefix u <u:> . u:a", "is not Turtle"),
        ("a.txt", "x", "are read from"),
    ],
)
def test_unusable_files_are_refused(
    tmp_path: Path, name: str, text: str | bytes, sentence: str
) -> None:
    with pytest.raises(LemmaxError) as error:
        Database.read(write(tmp_path, name, text))
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LemmaxError, match=r"none\.csv cannot be read"):
        Database.read(tmp_path / "none.csv")


def test_bad_triples_are_refused() -> None:
    with pytest.raises(LemmaxError, match="at least one fact"):
        Database.from_triples([])
    with pytest.raises(LemmaxError, match="not a fact"):
        Database.from_triples([("a", "b")])  # type: ignore[list-item]
    with pytest.raises(LemmaxError, match="not a fact"):
        Database.from_triples(["abc"])  # type: ignore[list-item]
    with pytest.raises(Contradiction, match="not a function"):
        Database.from_triples([("a", "f", 1), ("a", "f", 2)])
    with pytest.raises(LemmaxError, match="no fact about"):
        Database.from_triples([("a", "f", 1)])["a", "g"]


def test_any_hashable_is_a_token() -> None:
    db = Database.from_triples([((1, 2), 3.5, None), (frozenset(), "f", 0)])
    assert db.tokens == ((1, 2), frozenset(), 3.5, "f", None, 0)


def test_a_huge_tensor_is_not_written_out() -> None:
    db = Database.from_triples([(i, i, i) for i in range(1000)])
    with pytest.raises(LemmaxError, match="too large"):
        db.tensor()


def test_plain_lines_of_n_triples_read_as_rdflib_reads_them(tmp_path: Path) -> None:
    """The regular expression and rdflib agree wherever the former speaks."""
    from lemmax.theory.facts import readers

    pieces = [
        "<u:a>", "<http://x.org/a#b?c=d%20e>", "<u:>", "<a>", "<:a>", "<u:a b>", "<u:\\u0041>",
        "<u:é>", '"x"', '"x y . <u:a>"', '""', '"a\\"b"', '"é"', '"x"@en', '"1"^^<u:int>',
        "_:b", "<u:{a}>", "<u:a\\\\b>",
    ]  # fmt: skip
    lines = [f"{s} {p} {o} ." for s in pieces for p in pieces for o in pieces]
    lines += ["  <u:a>\t<u:f>  <u:b>.  ", "<u:a><u:f> <u:b> .", '<u:a> <u:f> "x" . # c', "."]
    compared = 0
    for line in lines:
        if readers._PLAIN.fullmatch(line) is None or not line.isascii():
            continue
        compared += 1
        path = write(tmp_path, "a.nt", line + "\n")
        (ours,) = list(readers._statements(path))
        commented = write(tmp_path, "b.nt", line + " # rdflib reads what has a comment\n")
        assert readers._PLAIN.fullmatch(commented.read_text(encoding="utf-8")) is None
        (theirs,) = list(readers._statements(commented))
        assert ours == theirs
    assert compared > 20
