"""Facts are read as they are meant, and what can be meant in two ways is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lemmax.theory import Database
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Contradiction
from lemmax.theory.facts.layouts import USUAL, Layout

FACTS = (("a", "f", "x"), ("a", "g", "y"), ("b", "f", "y"))
NAN = float("nan")


def write(folder: Path, text: str, name: str = "facts.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_triples_without_a_header_are_triples(tmp_path: Path) -> None:
    db, how = Database.read_aloud(write(tmp_path, "a,f,x\na,g,y\nb,f,y\n"))
    assert db.triples == FACTS
    assert how.endswith("facts.csv: read as 3 facts, one per row, without a header.")


@pytest.mark.parametrize("names", USUAL, ids=",".join)
def test_usual_headers_may_stand_in_any_order(tmp_path: Path, names: tuple[str, ...]) -> None:
    s, p, o = names
    path = write(tmp_path, f"{s},{p},{o}\na,f,x\na,g,y\nb,f,y\n")
    assert Database.read(path).triples == FACTS
    turned = write(tmp_path, f"{o.upper()},{s},{p}\nx,a,f\ny,a,g\ny,b,f\n")
    assert Database.read(turned).triples == FACTS


def test_a_file_of_two_readings_says_how_to_choose(tmp_path: Path) -> None:
    path = write(tmp_path, "person,born,lives\nA,X,Y\nB,Z,Y\n")
    with pytest.raises(LemmaxError) as error:
        Database.read(path)
    for word in ("two ways", "--format triples", "--format headed-triples", "--format table"):
        assert word in str(error.value)
    assert len(Database.read(path, "triples")) == 3
    assert Database.read(path, "headed-triples").triples == (("A", "X", "Y"), ("B", "Z", "Y"))
    assert Database.read(path, "table")["B", "born"] == "Z"
    assert len(Database.read(path, "table")) == 4


@pytest.mark.parametrize(
    "text",
    [
        "name,born,lives\nA,X,Y\nB,Z,Y\n",
        ",born,lives\nA,X,Y\nB,Z,Y\n",
        "person,born,lives\nA,X,Y\nB,Z,\nB,,Y\n",
        "person,born,lives,age\nA,X,Y,1\nB,Z,Y,\n",
        "person,born\nA,X\nB,Z\n",
    ],
)
def test_tables_are_tables(tmp_path: Path, text: str) -> None:
    db, how = Database.read_aloud(write(tmp_path, text))
    assert (db["A", "born"], db["B", "born"]) == ("X", "Z")
    assert "a table with subjects in the" in how


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,f,x\na,g,y\nb,f\n", "line 3: 2 cells, 3 columns"),
        ("a,f,x\na,g,y,z\n", "line 2: 4 cells, 3 columns"),
        ("a,f,x\na,f,y\n", "has two objects, 'x' and 'y' (lines 1 and 2)"),
        ("a,f,x\nb,f,\n", "line 2: a fact with an empty cell"),
        ("a,x\nb,x\n", "does not look like a header"),
        ("subject,predicate,object,source\na,f,x,1\n", "leave out the others"),
    ],
)
def test_what_is_not_meant_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(LemmaxError) as error:
        Database.read(write(tmp_path, text))
    assert sentence in str(error.value)


def test_json_lines(tmp_path: Path) -> None:
    lists = '["a", "f", "x"]\n\n["a", "g", "y"]\n["b", "f", "y"]\n'
    assert Database.read(write(tmp_path, lists, "facts.jsonl")).triples == FACTS
    fields = '{"s": "a", "p": "f", "o": "x"}\n{"o": "y", "s": "a", "p": "g"}\n'
    assert Database.read(write(tmp_path, fields, "facts.ndjson")).triples == FACTS[:2]
    table = '{"who": "a", "f": 1.50, "g": null, "h": NaN}\n{"who": "b", "f": true}\n'
    path = write(tmp_path, table, "facts.jsonl")
    with pytest.raises(LemmaxError, match=r"line 1: .*say --format table"):
        Database.read(path)
    assert Database.read(path, "table").triples == (("a", "f", "1.50"), ("b", "f", "true"))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("[", "line 1: not JSON"),
        ('["a", "f"]', "line 1: not a list of subject, predicate and object"),
        ('["a", "f", null]', "line 1: a fact with an empty cell"),
        ('["a", "f", ["x"]]', "line 1: a list or an object is not a token"),
        ('["a", "f", "x"]\n["a", "f", "y"]', "lines 1 and 2"),
        ("", "holds no facts"),
    ],
)
def test_json_lines_that_are_no_facts(tmp_path: Path, line: str, sentence: str) -> None:
    with pytest.raises(LemmaxError) as error:
        Database.read(write(tmp_path, line, "facts.jsonl"))
    assert sentence in str(error.value)


class Polars:
    """What lemmax asks of a polars frame."""

    def __init__(self, columns: list[Any], *rows: tuple[Any, ...]) -> None:
        self.columns, self._rows = columns, rows

    def iter_rows(self) -> Any:
        return iter(self._rows)


class Index(list[Any]):
    names = ("who",)


class Pandas:
    """What lemmax asks of a pandas frame with a named index."""

    columns, index = ("f", "g"), Index("ab")

    def reset_index(self) -> Any:
        return Polars(["who", "f", "g"], ("a", "x", "y"), ("b", "y", NAN))

    def itertuples(self, index: bool) -> Any:
        raise AssertionError("the index was forgotten")


def test_frames() -> None:
    assert Database.of(Polars(["o", "s", "p"], ("x", "a", "f"), ("y", "a", "g"))) == Database(
        FACTS[:2]
    )
    assert Database.of(Polars([0, 1, 2], *FACTS)).triples == FACTS
    assert Database.of(Pandas()).triples == FACTS
    with pytest.raises(Contradiction, match="rows 1 and 2"):
        Database.from_frame(Polars(["s", "p", "o"], ("a", "f", "x"), ("a", "f", "y")))
    with pytest.raises(LemmaxError, match="row 1: a fact with an empty cell"):
        Database.from_frame(Polars(["s", "p", "o"], ("a", "f", NAN)))
    with pytest.raises(LemmaxError, match="does not look like a header"):
        Database.from_frame(Polars(["a", "f", "x"], ("a", "g", "y")))
    with pytest.raises(LemmaxError, match="is not a frame"):
        Database.from_frame(3)


def test_real_frames() -> None:
    pandas = pytest.importorskip("pandas", reason="frames of pandas are an option")
    table = pandas.DataFrame({"who": ["a", "b"], "f": ["x", "y"], "g": ["y", None]})
    for frame in (table, table.set_index("who"), table.convert_dtypes()):
        assert set(Database.of(frame)) == set(FACTS)
    long = pandas.DataFrame(FACTS, columns=["subject", "predicate", "object"])
    assert Database.of(long).triples == Database.of(long[long["object"] != "z"]).triples == FACTS


def test_iterables_and_strangers(tmp_path: Path) -> None:
    assert Database.of(iter(FACTS)) == Database.of(Database(FACTS))
    assert Database.of({"a": {"f": "x", "g": NAN}}).triples == (FACTS[0],)
    assert Database.of(write(tmp_path, "s,p,o\na,f,x\n")) == Database(FACTS[:1])
    refused: list[tuple[Any, str]] = [
        ([("a", "f", NAN)], "NaN is an empty cell"),
        ([("a", "f", ["x"])], "must be hashable"),
        ([3], "is not a fact"),
        (3, "holds no facts"),
        ({"a": "x"}, "subject: {predicate: object}"),
    ]
    for data, sentence in refused:
        with pytest.raises(LemmaxError) as error:
            Database.of(data)
        assert sentence in str(error.value)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    unknown: Any = "wide"
    with pytest.raises(LemmaxError, match="triples, headed-triples, table"):
        Database.read(write(tmp_path, "a,f,x\n"), unknown)
    layout: Layout = "table"
    with pytest.raises(LemmaxError, match="holds triples"):
        Database.read(write(tmp_path, '<u:a> <u:f> "x" .\n', "a.nt"), layout)
