"""Facts from files: tables (CSV, TSV) and RDF (N-Triples, Turtle), each with the line it stands on.

Every reader yields (line, fact); the line is None where the format has none. What the facts make
is a :class:`~lemmax.theory.facts.database.Database`, which refuses contradictions.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lemmax.theory.errors import LemmaxError

if TYPE_CHECKING:
    from lemmax.theory.facts.database import Fact


HEADER = ("subject", "predicate", "object")


def read_facts(path: Path) -> Iterator[tuple[int | None, Fact]]:
    """The facts of a file and the lines they stand on; its ending says how it is read."""
    suffix = path.suffix.lower()
    try:
        if suffix in (".csv", ".tsv"):
            text = path.read_text(encoding="utf-8-sig")
            yield from _delimited(path, text, "\t" if suffix == ".tsv" else ",")
        elif suffix == ".nt":
            yield from _n_triples(path)
        elif suffix == ".ttl":
            yield from _turtle(path)
        else:
            raise LemmaxError(f"{path}: facts are read from .csv, .tsv, .nt and .ttl files.")
    except UnicodeDecodeError:
        raise LemmaxError(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise LemmaxError(f"{path} cannot be read: {error.strerror}.") from None


def _delimited(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, Fact]]:
    if "\0" in text:
        raise LemmaxError(f"{path} is not a text table: it contains a NUL character.")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next((row for row in reader if any(cell.strip() for cell in row)), None)
        if header is None:
            raise LemmaxError(f"{path} is empty.")
        names = [cell.strip() for cell in header]
        as_triples = tuple(name.lower() for name in names) == HEADER
        if not as_triples:
            _check_columns(path, names)
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if len(cells) > len(names):
                raise LemmaxError(
                    f"{path}, line {reader.line_num}: {len(cells)} cells, {len(names)} columns."
                )
            if as_triples:
                if len(cells) < 3 or not all(cells):
                    raise LemmaxError(f"{path}, line {reader.line_num}: a fact with an empty cell.")
                yield reader.line_num, (cells[0], cells[1], cells[2])
                continue
            if not cells[0]:
                raise LemmaxError(f"{path}, line {reader.line_num}: a row without a subject.")
            for name, cell in zip(names[1:], cells[1:], strict=False):
                if cell:
                    yield reader.line_num, (cells[0], name, cell)
    except csv.Error as error:
        raise LemmaxError(f"{path}, line {reader.line_num}: {error}.") from None


def _check_columns(path: Path, names: list[str]) -> None:
    if len(names) < 2:
        raise LemmaxError(f"{path} has one column: a table needs a subject and a predicate.")
    if not all(names[1:]):
        raise LemmaxError(f"{path}: column {names.index('', 1) + 1} has no name.")
    if len(set(names[1:])) != len(names) - 1:
        raise LemmaxError(f"{path}: two columns have the same name.")


def _rdf_token(term: object) -> str:
    """IRIs and plain texts as they read; other literals in the notation that keeps them apart."""
    from rdflib import Literal

    if isinstance(term, Literal) and (term.language or term.datatype):
        return term.n3()
    return str(term)


def _missing_rdflib(path: Path) -> LemmaxError:
    return LemmaxError(f"{path}: reading RDF needs the extra lemmax[rdf].")


_IRI = r"<([A-Za-z][A-Za-z0-9+.-]*:[^\\\s\"<>{}|^`]*)>"
_PLAIN = re.compile(rf'[ \t]*{_IRI}[ \t]+{_IRI}[ \t]+(?:{_IRI}|"([^"\\\r\n]*)")[ \t]*\.\s*')


def _n_triples(path: Path) -> Iterator[tuple[int, Fact]]:
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


def _turtle(path: Path) -> Iterator[tuple[None, Fact]]:
    try:
        from rdflib import Graph
    except ImportError:
        raise _missing_rdflib(path) from None
    graph = Graph()
    try:
        graph.parse(data=path.read_text(encoding="utf-8-sig"), format="turtle")
    except UnicodeDecodeError:
        raise
    except Exception as error:  # rdflib raises many kinds; all mean that the text is not Turtle
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise LemmaxError(f"{path} is not Turtle: {reason}.") from None
    for s, p, o in sorted(graph, key=lambda fact: tuple(map(str, fact))):
        yield None, (_rdf_token(s), _rdf_token(p), _rdf_token(o))
