"""Facts from files: tables (CSV, TSV), JSON lines and RDF (N-Triples, Turtle), with their lines.

A reader turns a file into rows or facts; what rows mean is said in
:mod:`lemmax.theory.facts.layouts`, and a :class:`~lemmax.theory.facts.database.Database` refuses
contradictions.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.layouts import (
    LAYOUTS,
    USUAL,
    Fact,
    Layout,
    Reading,
    Rows,
    interpret,
)
from lemmax.theory.files import refuse_beyond_memory

_TIMES = 7
"""Memory that facts take when they are read, as a multiple of their file (measured: 6)."""


def read_facts(path: Path, layout: Layout | None = None) -> Reading:
    """The facts of a file and the lines they stand on; its ending says how it is read.

    ``layout`` says how the rows of a table are meant where they can be read in two ways.
    """
    if layout is not None and layout not in LAYOUTS:
        raise LemmaxError(f"The format is {', '.join(LAYOUTS)}, not {layout!r}.")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        endings = ", ".join(_READERS)
        raise LemmaxError(f"{path}: facts are read from files with the endings {endings}.")
    try:
        refuse_beyond_memory(f"The facts in {path}", _TIMES * path.stat().st_size)
        return reader(path, layout)
    except UnicodeDecodeError:
        raise LemmaxError(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise LemmaxError(f"{path} cannot be read: {error.strerror}.") from None


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig")


def _comma(path: Path, layout: Layout | None) -> Reading:
    return _delimited(path, layout, ",")


def _tab(path: Path, layout: Layout | None) -> Reading:
    return _delimited(path, layout, "\t")


def _delimited(path: Path, layout: Layout | None, delimiter: str) -> Reading:
    text = _text(path)
    if "\0" in text:
        raise LemmaxError(f"{path} is not a text table: it contains a NUL character.")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise LemmaxError(f"{path}, line {reader.line_num}: {error}.") from None
    return interpret(Rows(str(path), "line", tuple(rows)), layout)


# -- JSON lines --------------------------------------------------------------------------------


def _json_lines(path: Path, layout: Layout | None) -> Reading:
    """One JSON value per line: ``["a", "f", "x"]``, or an object with a usual header's names.

    With the layout ``table`` a line is an object whose first field is the subject. Numbers are
    taken as they are written.
    """
    facts: list[tuple[int | None, Fact]] = []
    for number, line in enumerate(_text(path).splitlines(), 1):
        if line.strip():
            facts += [(number, fact) for fact in _json_facts(path, number, line, layout)]
    count = "1 fact" if len(facts) == 1 else f"{len(facts)} facts"
    rows = "a table, one object per line" if layout == "table" else "one per line"
    return Reading(tuple(facts), f"{path}: read as {count}, {rows} of JSON.")


def _json_facts(path: Path, number: int, line: str, layout: Layout | None) -> Iterator[Fact]:
    where = f"{path}, line {number}"
    try:
        value = json.loads(line, parse_int=str, parse_float=str, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise LemmaxError(f"{where}: not JSON.") from None
    if isinstance(value, dict) and layout == "table":
        (_, subject), *cells = value.items() or [("", None)]
        key = _json_token(where, subject)
        if key is None:
            raise LemmaxError(f"{where}: a row without a subject.")
        tokens = ((name.strip(), _json_token(where, cell)) for name, cell in cells)
        yield from ((key, name, token) for name, token in tokens if token is not None)
        return
    if isinstance(value, dict):
        names = {name.lower(): cell for name, cell in value.items()}
        usual = next((usual for usual in USUAL if names.keys() == set(usual)), None)
        if usual is None:
            raise LemmaxError(
                f"{where}: the fields are not subject, predicate and object; if the first of them "
                "is the subject and each other one a predicate, say --format table."
            )
        value = [names[name] for name in usual]
    if not isinstance(value, list) or len(value) != 3:
        raise LemmaxError(f"{where}: not a list of subject, predicate and object.")
    s, p, o = (_json_token(where, cell) for cell in value)
    if s is None or p is None or o is None:
        raise LemmaxError(f"{where}: a fact with an empty cell.")
    yield s, p, o


def _json_token(where: str, cell: object) -> str | None:
    """A cell as text; None where it is empty."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if cell is None:
        return None
    if not isinstance(cell, str):
        raise LemmaxError(f"{where}: a list or an object is not a token.")
    return cell.strip() or None


# -- RDF ---------------------------------------------------------------------------------------


_STRING = "http://www.w3.org/2001/XMLSchema#string"


def _rdf_token(term: object) -> str:
    """IRIs and plain texts as they read; other literals in the notation that keeps them apart."""
    from rdflib import Literal

    # A text with the type string is a plain text (RDF 1.1, section 3.3).
    if isinstance(term, Literal) and (term.language or str(term.datatype or _STRING) != _STRING):
        return term.n3()
    return str(term)


def _missing_rdflib(path: Path) -> LemmaxError:
    return LemmaxError(f"{path}: reading RDF needs the extra lemmax[rdf].")


_IRI = r"<([A-Za-z][A-Za-z0-9+.-]*:[^\\\s\"<>{}|^`]*)>"
_PLAIN = re.compile(rf'[ \t]*{_IRI}[ \t]+{_IRI}[ \t]+(?:{_IRI}|"([^"\\\r\n]*)")[ \t]*\.\s*')


def _n_triples(path: Path, layout: Layout | None) -> Reading:
    return _rdf(path, list(_statements(path)), "N-Triples", layout)


def _statements(path: Path) -> Iterator[tuple[int | None, Fact]]:
    """One statement per line, read as it comes, so that a dump needs no memory of its own.

    IRIs and plain texts without escapes, which is what dumps are made of, are read by one regular
    expression; rdflib reads every other line. Cost: about 2 s per million plain lines.
    """
    try:
        from rdflib.exceptions import ParserError
        from rdflib.plugins.parsers.ntriples import W3CNTriplesParser
    except ImportError:
        raise _missing_rdflib(path) from None
    facts: list[Fact] = []
    same = dict[str, str]().setdefault  # one object per token, however often it occurs

    class Sink:
        def triple(self, s: object, p: object, o: object) -> None:
            facts.append((_rdf_token(s), _rdf_token(p), _rdf_token(o)))

    parser = W3CNTriplesParser(sink=Sink())  # type: ignore[arg-type]
    with open(path, encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            plain = _PLAIN.fullmatch(line) if line.isascii() else None
            if plain is not None:
                s, p, iri, text = plain.groups()
                o = text if iri is None else iri
                yield number, (same(s, s), same(p, p), same(o, o))
                continue
            if not line.strip():
                continue
            try:
                parser.parsestring(line)
            except ParserError:
                raise LemmaxError(f"{path}, line {number}: not an N-Triples statement.") from None
            for fact in facts:
                yield number, fact
            facts.clear()


def _turtle(path: Path, layout: Layout | None) -> Reading:
    """All statements of a graph, sorted.

    Cost: with pyoxigraph about 5 s per million, with rdflib 40. rdflib reads where pyoxigraph is
    not installed, and says what is wrong with a file.
    """
    text = _text(path)
    try:
        triples = _by_oxigraph(text)
    except (ImportError, SyntaxError, ValueError):
        triples = _by_rdflib(path, text)
    facts: list[tuple[int | None, Fact]] = [(None, fact) for fact in sorted(triples)]
    return _rdf(path, facts, "Turtle", layout)


def _by_oxigraph(text: str) -> set[tuple[str, str, str]]:
    from pyoxigraph import Literal, RdfFormat, parse
    from rdflib import Literal as Written
    from rdflib import URIRef

    def token(term: Any) -> str:
        if not isinstance(term, Literal) or (not term.language and term.datatype.value == _STRING):
            return str(term.value)
        datatype = None if term.language else URIRef(term.datatype.value)
        return _rdf_token(Written(term.value, lang=term.language, datatype=datatype))

    quads = parse(text, format=RdfFormat.TURTLE)
    return {(token(q.subject), token(q.predicate), token(q.object)) for q in quads}


def _by_rdflib(path: Path, text: str) -> set[tuple[str, str, str]]:
    try:
        from rdflib import Graph
    except ImportError:
        raise _missing_rdflib(path) from None
    graph = Graph()
    try:
        graph.parse(data=text, format="turtle")
    except Exception as error:  # rdflib raises many kinds; all mean that the text is not Turtle
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LemmaxError(f"{path} is not Turtle: {reason}.") from None
    return {(_rdf_token(s), _rdf_token(p), _rdf_token(o)) for s, p, o in graph}


def _rdf(
    path: Path, facts: list[tuple[int | None, Fact]], name: str, layout: Layout | None
) -> Reading:
    if layout not in (None, "triples"):
        raise LemmaxError(f"{path}: {name} holds triples, no {layout}.")
    count = "1 fact" if len(facts) == 1 else f"{len(facts)} facts"
    return Reading(tuple(facts), f"{path}: read as {count}, {name}.")


_READERS: dict[str, Callable[[Path, Layout | None], Reading]] = {
    ".csv": _comma,
    ".tsv": _tab,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".nt": _n_triples,
    ".ttl": _turtle,
}
