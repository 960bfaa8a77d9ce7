"""Hostile tables of facts: CSV, JSON lines, RDF, decompositions, many databases."""

from __future__ import annotations

import json
import os
from pathlib import Path

from benchmarks.hostile.attempts import DONE, hostile
from benchmarks.hostile.weights import layer_arrays, npz

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LAUGHS = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "ha">' for n in range(12)
)


def readers(name: str) -> tuple[str, ...]:
    """The commands that read a table of facts."""
    return (
        f"compile {name} -o layer.json",
        f"rank {name} --seconds 1",
        f"capacity {name}",
        f"certify model.npz {name}",
    )


def model(folder: Path) -> None:
    """A small honest model beside the hostile table."""
    npz(folder / "model.npz", layer_arrays())


def write(folder: Path, name: str, data: str | bytes) -> Path:
    """A file, and the model beside it."""
    model(folder)
    path = folder / name
    path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return path


def pipe(folder: Path, name: str) -> None:
    """A pipe that nobody writes to."""
    model(folder)
    os.mkfifo(folder / name)


def endless(folder: Path, name: str) -> None:
    """A link to a device that never ends."""
    model(folder)
    (folder / name).symlink_to("/dev/zero")


# -- CSV, TSV ----------------------------------------------------------------------------------


@hostile("CSV", "a pipe that nobody writes to", *readers("facts.csv"))
def csv_pipe(folder: Path) -> None:
    pipe(folder, "facts.csv")


@hostile("CSV", "a link to a device without end", *readers("facts.csv"))
def csv_device(folder: Path) -> None:
    endless(folder, "facts.csv")


@hostile("CSV", "a folder with the name of a table", *readers("facts.csv"))
def csv_folder(folder: Path) -> None:
    model(folder)
    (folder / "facts.csv").mkdir()


@hostile("CSV", "a cell of 300 kB", *readers("facts.csv"))
def csv_long_cell(folder: Path) -> None:
    write(folder, "facts.csv", f"subject,predicate,object\na,f,{'x' * 300_000}\n")


@hostile("CSV", "a quote that is never closed", *readers("facts.csv"))
def csv_open_quote(folder: Path) -> None:
    write(folder, "facts.csv", 'subject,predicate,object\na,f,"' + "x\n" * 50_000)


@hostile("CSV", "NUL characters", *readers("facts.csv"))
def csv_zeros(folder: Path) -> None:
    write(folder, "facts.csv", b"subject,predicate,object\na,f,\0\n")


@hostile("CSV", "bytes that are no UTF-8", *readers("facts.csv"))
def csv_bytes(folder: Path) -> None:
    write(folder, "facts.csv", b"subject,predicate,object\na,f,\xff\xfe\n")


@hostile("CSV", "a million columns in one row of three", *readers("facts.csv"))
def csv_columns(folder: Path) -> None:
    write(folder, "facts.csv", "subject,predicate,object\na,f," + "," * 1_000_000 + "\n")


@hostile("TSV", "rows of different lengths, prompts among them", *readers("facts.tsv"))
def tsv_ragged(folder: Path) -> None:
    write(folder, "facts.tsv", "prompt\tanswer\na b\tc\td\te\nx\n")


@hostile("CSV", "cells that a spreadsheet would run", *readers("facts.csv")[:3], ends="read")
def csv_formulas(folder: Path) -> None:
    cells = f"=cmd|'/C touch {DONE}'!A0,+HYPERLINK(\"x\"),@SUM(1)\n"
    write(folder, "facts.csv", "subject,predicate,object\n" + cells.replace('"', "'"))


@hostile("CSV", "cells that steer a terminal", *readers("facts.csv")[:3], ends="read")
def csv_escapes(folder: Path) -> None:
    evil = "\x1b[2J\x1b]0;title\x07"
    write(folder, "facts.csv", f"subject,predicate,object\na{evil},f{evil},x{evil}\n")


@hostile(
    "CSV", "cells that look like markup of the console", *readers("facts.csv")[:3], ends="read"
)
def csv_markup(folder: Path) -> None:
    write(folder, "facts.csv", "subject,predicate,object\n[/a],[red],[link=x]x\n[/a],[/],[y]\n")


# -- JSON lines --------------------------------------------------------------------------------


@hostile("JSON lines", "lists in lists, 200,000 deep", *readers("facts.jsonl"))
def jsonl_deep(folder: Path) -> None:
    write(folder, "facts.jsonl", "[" * 200_000 + "]" * 200_000 + "\n")


@hostile("JSON lines", "half a character", *readers("facts.jsonl"))
def jsonl_surrogate(folder: Path) -> None:
    write(folder, "facts.jsonl", '["a", "f", "\\ud800"]\n["b", "f", "x"]\n')


@hostile("JSON lines", "a number with a million digits", *readers("facts.jsonl")[:3], ends="read")
def jsonl_digits(folder: Path) -> None:
    write(folder, "facts.jsonl", f'["a", "f", {"9" * 1_000_000}]\n["b", "f", 1e999999999]\n')


@hostile("JSON lines", "NaN and Infinity as tokens", *readers("facts.jsonl"))
def jsonl_nan(folder: Path) -> None:
    write(folder, "facts.jsonl", '["a", "f", NaN]\n["a", Infinity, "x"]\n')


@hostile("JSON lines", "a prompt that is a list of lists", "certify model.npz facts.jsonl")
def jsonl_prompt(folder: Path) -> None:
    write(folder, "facts.jsonl", '{"prompt": [[["a"]], {"b": 1}], "answer": {"c": []}}\n')


# -- RDF ---------------------------------------------------------------------------------------


def triple(value: str) -> str:
    """One statement of N-Triples, which is Turtle as well."""
    return f"<http://x/a> <http://x/f> {value} .\n"


@hostile("N-Triples", "a decimal of 10^999999999", *readers("facts.nt")[:3], ends="read")
def nt_decimal(folder: Path) -> None:
    write(folder, "facts.nt", triple(f'"1e999999999"^^<{XSD}decimal>'))


@hostile("Turtle", "a decimal of 10^999999999", *readers("facts.ttl")[:3], ends="read")
def ttl_decimal(folder: Path) -> None:
    write(folder, "facts.ttl", triple(f'"1E+999999999"^^<{XSD}decimal>'))


@hostile("N-Triples", "an integer of a million digits", *readers("facts.nt")[:3], ends="read")
def nt_digits(folder: Path) -> None:
    write(folder, "facts.nt", triple(f'"{"7" * 1_000_000}"^^<{XSD}integer>'))


@hostile("Turtle", "an integer of a million digits", *readers("facts.ttl")[:3], ends="read")
def ttl_digits(folder: Path) -> None:
    write(folder, "facts.ttl", triple("7" * 1_000_000))


def laughing(value: str) -> str:
    escaped = f"<!DOCTYPE x [{LAUGHS}]><x>{value}</x>".replace('"', '\\"')
    return triple(f'"{escaped}"^^<{RDF}XMLLiteral>')


@hostile(
    "N-Triples",
    "a literal of XML whose entities expand to 10^12 bytes",
    *readers("facts.nt")[:3],
    ends="read",
)
def nt_laughs(folder: Path) -> None:
    write(folder, "facts.nt", laughing("&l11;"))


@hostile(
    "Turtle",
    "a literal of XML whose entities expand to 10^12 bytes",
    *readers("facts.ttl")[:3],
    ends="read",
)
def ttl_laughs(folder: Path) -> None:
    write(folder, "facts.ttl", laughing("&l11;"))


@hostile(
    "Turtle",
    "a literal of XML with an entity that is a file",
    *readers("facts.ttl")[:3],
    ends="read",
)
def ttl_external(folder: Path) -> None:
    secret = folder.parent / "outside" / "secret.txt"
    xml = f"<!DOCTYPE x [<!ENTITY e SYSTEM 'file://{secret}'>]><x>&e;</x>"
    write(folder, "facts.ttl", triple(f'"{xml}"^^<{RDF}XMLLiteral>'))


@hostile("N-Triples", "a literal of XML, 30,000 tags deep", *readers("facts.nt")[:3], ends="read")
def nt_deep_xml(folder: Path) -> None:
    write(folder, "facts.nt", triple(f'"{"<a>" * 30_000}{"</a>" * 30_000}"^^<{RDF}XMLLiteral>'))


@hostile("Turtle", "a literal of HTML, 3,000 tags deep", *readers("facts.ttl")[:3], ends="read")
def ttl_deep_html(folder: Path) -> None:
    write(folder, "facts.ttl", triple(f'"{"<b>" * 3_000}"^^<{RDF}HTML>'))


@hostile(
    "Turtle",
    "a base, a prefix and an import that are files",
    *readers("facts.ttl")[:3],
    ends="read",
)
def ttl_files(folder: Path) -> None:
    secret = (folder.parent / "outside" / "secret.txt").as_uri()
    write(
        folder,
        "facts.ttl",
        f"@base <{secret}> .\n@prefix o: <http://www.w3.org/2002/07/owl#> .\n"
        f"<> o:imports <{secret}> .\n<#a> <http://127.0.0.1:9/f> <{secret}#x> .\n",
    )


@hostile(
    "Turtle",
    "blank nodes in blank nodes, 1,500 deep",
    *(command for command in readers("facts.ttl") if not command.startswith("rank")),
    ends="either",
)
def ttl_deep(folder: Path) -> None:
    nested = "[ <http://x/f> " * 1_500 + "1" + " ]" * 1_500
    write(folder, "facts.ttl", f"<http://x/a> <http://x/f> {nested} .\n")


@hostile("Turtle", "lists in lists, 20,000 deep, and no end", *readers("facts.ttl"))
def ttl_deep_list(folder: Path) -> None:
    write(folder, "facts.ttl", "<http://x/a> <http://x/f> " + "( " * 20_000)


@hostile("Turtle", "half a character", *readers("facts.ttl"))
def ttl_surrogate(folder: Path) -> None:
    write(folder, "facts.ttl", triple('"\\uD800"'))


@hostile("N-Triples", "half a character", *readers("facts.nt"))
def nt_surrogate(folder: Path) -> None:
    write(folder, "facts.nt", triple('"\\uD800"'))


@hostile("N-Triples", "a character beyond Unicode", *readers("facts.nt"))
def nt_beyond(folder: Path) -> None:
    write(folder, "facts.nt", triple('"\\UFFFFFFFF"'))


@hostile("N-Triples", "a pipe that nobody writes to", *readers("facts.nt"))
def nt_pipe(folder: Path) -> None:
    pipe(folder, "facts.nt")


@hostile("N-Triples", "one line of 4 MB that never ends its literal", *readers("facts.nt"))
def nt_long_line(folder: Path) -> None:
    write(folder, "facts.nt", '<http://x/a> <http://x/f> "' + "\\" * 4_000_000)


# -- decompositions and many databases -----------------------------------------------------------

SMALL = "subject,predicate,object\na,f,x\nb,f,x\n"
GIVEN = "rank facts.csv --decomposition L R P"


def decomposition(folder: Path, left: str) -> None:
    write(folder, "facts.csv", SMALL)
    for name, text in (("L", left), ("R", "1 1 R\n1 1 1\n0 0 0\n"), ("P", "1 1 R\n1 1 1\n0 0 0\n")):
        (folder / name).write_text(text, encoding="utf-8")


@hostile("SMS", "an entry 1e999999999", GIVEN)
def sms_exponent(folder: Path) -> None:
    decomposition(folder, "1 2 R\n1 1 1e999999999\n0 0 0\n")


@hostile("SMS", "sizes and places of 10,000 digits", GIVEN)
def sms_digits(folder: Path) -> None:
    decomposition(folder, f"1 2 R\n{'9' * 10_000} 1 1\n0 0 0\n")


@hostile("SMS", "a matrix of 300,000 rows in twenty bytes", GIVEN, ends="refused")
def sms_rows(folder: Path) -> None:
    decomposition(folder, "300000 1 R\n0 0 0\n")


@hostile("SMS", "a pipe that nobody writes to", GIVEN)
def sms_pipe(folder: Path) -> None:
    decomposition(folder, "")
    (folder / "L").unlink()
    os.mkfifo(folder / "L")


@hostile("survey", "a pipe that nobody writes to", "survey many.jsonl --seconds 1")
def survey_pipe(folder: Path) -> None:
    pipe(folder, "many.jsonl")


@hostile("survey", "lists in lists, 200,000 deep", "survey many.jsonl --seconds 1")
def survey_deep(folder: Path) -> None:
    write(folder, "many.jsonl", '{"triples": ' + "[" * 200_000 + "\n")


@hostile("survey", "half a character", "survey many.jsonl --seconds 1")
def survey_surrogate(folder: Path) -> None:
    write(folder, "many.jsonl", '{"triples": [["a", "f", "\\ud800"]]}\n')


@hostile("survey", "recorded results with rows that are no rows", "survey many.jsonl")
def survey_rows(folder: Path) -> None:
    rows = ({"lemmax-survey": 1, "field": [], "seconds": {}}, ["[red]", {}, [], 1], {"a": 1})
    write(folder, "many.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


@hostile("texts", "a text that is a pipe", "assumptions --text essay.txt")
def text_pipe(folder: Path) -> None:
    pipe(folder, "essay.txt")


@hostile("texts", "a text that is a device without end", "assumptions --text essay.txt")
def text_device(folder: Path) -> None:
    endless(folder, "essay.txt")


@hostile(
    "texts", "a state of a hunt, 200,000 lists deep", "hunt wong/argmax-rank-one --state s.json"
)
def hunt_deep(folder: Path) -> None:
    write(folder, "s.json", "[" * 200_000)


@hostile("texts", "a state of a hunt that is a pipe", "hunt wong/argmax-rank-one --state s.json")
def hunt_pipe(folder: Path) -> None:
    pipe(folder, "s.json")


@hostile(
    "texts",
    "a number 1e-999999999 for a threshold",
    "compile facts.csv -o x.json --tau 1e-999999999",
)
def tau_exponent(folder: Path) -> None:
    write(folder, "facts.csv", SMALL)
