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
from lemmax.theory.files import refuse_beyond_memory, regular_size, regular_text

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
    refuse_beyond_memory(f"The facts in {path}", _TIMES * regular_size(path))
    try:
        return reader(path, layout)
    except UnicodeDecodeError:
        raise LemmaxError(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise LemmaxError(f"{path} cannot be read: {error.strerror}.") from None


def _comma(path: Path, layout: Layout | None) -> Reading:
    return _delimited(path, layout, ",")


def _tab(path: Path, layout: Layout | None) -> Reading:
    return _delimited(path, layout, "\t")


def _delimited(path: Path, layout: Layout | None, delimiter: str) -> Reading:
    text = regular_text(path)
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
    for number, line in enumerate(regular_text(path).splitlines(), 1):
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
    return _whole(where, cell.strip()) or None


def _whole(where: str | Path, text: str) -> str:
    """The text, if it can be written again: JSON and RDF can spell half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise LemmaxError(f"{where}: a text with half a character in it.") from None
    return text


# -- RDF ---------------------------------------------------------------------------------------


_XSD = "http://www.w3.org/2001/XMLSchema#"
_STRING = f"{_XSD}string"
_SHORT = 100  # digits of a number or a date whose value is looked at
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r"})


def _rdf_token(term: object) -> str:
    """IRIs and plain texts as they read; other literals in the notation that keeps them apart."""
    from rdflib import Literal

    if isinstance(term, Literal):
        return _literal(str(term), term.language, term.datatype and str(term.datatype))
    return str(term)


def _literal(text: str, language: str | None, datatype: str | None) -> str:
    """A text with the type string is a plain text (RDF 1.1, section 3.3).

    Short numbers and dates have one spelling. Anything else is taken as it is written and never
    evaluated: rdflib would parse XML, and write 1e999999999 out in full.
    """
    if language:
        return f'"{text.translate(_ESCAPES)}"@{language}'
    if (datatype or _STRING) == _STRING:
        return text
    if len(text) <= _SHORT and str(datatype).startswith(_XSD) and "e" not in text.lower():
        from rdflib import Literal, URIRef

        return Literal(text, datatype=URIRef(str(datatype))).n3()
    return f'"{text.translate(_ESCAPES)}"^^<{datatype}>'


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
        from rdflib.plugins.parsers import ntriples
    except ImportError:
        raise _missing_rdflib(path) from None
    facts: list[Fact] = []
    same = dict[str, str]().setdefault  # one object per token, however often it occurs

    class Sink:
        def triple(self, s: object, p: object, o: object) -> None:
            facts.append((_rdf_token(s), _rdf_token(p), _rdf_token(o)))

    class Parser(ntriples.W3CNTriplesParser):
        def literal(self) -> Any:
            """The next literal as a token; it has no value that could cost anything."""
            if not self.peek('"'):
                return False
            text, language, datatype = self.eat(ntriples.r_literal).groups()
            told = None if not datatype else ntriples.uriquote(ntriples.unquote(datatype))
            return _Token(_literal(ntriples.unquote(text), language, told))

    parser = Parser(sink=Sink())  # type: ignore[arg-type]
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
                parser.line = line.rstrip("\r\n")
                parser.parseline()
            except (ParserError, ValueError, OverflowError):  # or a character beyond Unicode
                raise LemmaxError(f"{path}, line {number}: not an N-Triples statement.") from None
            for fact in facts:
                for token in fact:
                    _whole(f"{path}, line {number}", str(token))
                yield number, fact
            facts.clear()


class _Token(str):
    """A literal that is written already; empty ones are literals too."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True


def _turtle(path: Path, layout: Layout | None) -> Reading:
    """All statements of a graph, sorted.

    Cost: with pyoxigraph about 5 s per million, with rdflib 40. rdflib reads where pyoxigraph is
    not installed, and says what is wrong with a file.
    """
    text = regular_text(path)
    try:
        triples = _by_oxigraph(text)
    except (ImportError, SyntaxError, ValueError):
        triples = _by_rdflib(path, text)
    facts: list[tuple[int | None, Fact]] = [(None, fact) for fact in sorted(triples)]
    return _rdf(path, facts, "Turtle", layout)


def _by_oxigraph(text: str) -> set[tuple[str, str, str]]:
    from pyoxigraph import Literal, RdfFormat, parse

    def token(term: Any) -> str:
        if not isinstance(term, Literal):
            return str(term.value)
        return _literal(term.value, term.language, term.datatype.value)

    quads = parse(text, format=RdfFormat.TURTLE)
    return {(token(q.subject), token(q.predicate), token(q.object)) for q in quads}


def _by_rdflib(path: Path, text: str) -> set[tuple[str, str, str]]:
    try:
        import rdflib
    except ImportError:
        raise _missing_rdflib(path) from None
    graph, normal = rdflib.Graph(), rdflib.NORMALIZE_LITERALS
    try:
        rdflib.NORMALIZE_LITERALS = False
        graph.parse(data=text, format="turtle")
    except Exception as error:  # rdflib raises many kinds; all mean that the text is not Turtle
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LemmaxError(f"{path} is not Turtle: {reason[:200]}.") from None
    finally:
        rdflib.NORMALIZE_LITERALS = normal
    tokens = {(_rdf_token(s), _rdf_token(p), _rdf_token(o)) for s, p, o in graph}
    _whole(path, "".join(token for fact in tokens for token in fact))
    return tokens


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
