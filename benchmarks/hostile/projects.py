"""Hostile papers, claims, ledgers, pages and certificates."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

from benchmarks.hostile.attempts import DONE, hostile

PAPER = "paper main.tex"
THEOREM = "\\begin{theorem}\\label{thm:one} One is one. \\end{theorem}\n"


def write(folder: Path, **files: str) -> Path:
    """Text files by name, a dot standing for the last underscore."""
    for name, text in files.items():
        stem, _, ending = name.rpartition("_")
        (folder / f"{stem}.{ending}").write_text(text, encoding="utf-8")
    return folder


def document(body: str, preamble: str = "") -> str:
    """A LaTeX document with one theorem."""
    head = f"\\documentclass{{article}}\n\\newtheorem{{theorem}}{{Theorem}}\n{preamble}\n"
    return f"{head}\\begin{{document}}\n{body}\n{THEOREM}\\end{{document}}\n"


# -- LaTeX -------------------------------------------------------------------------------------


@hostile("LaTeX", "\\input of a file above the folder", PAPER)
def tex_above(folder: Path) -> None:
    write(folder, main_tex=document("\\input{../outside/secret}"))


@hostile("LaTeX", "\\input of an absolute path", PAPER)
def tex_absolute(folder: Path) -> None:
    write(folder, main_tex=document(f"\\input{{{folder.parent}/outside/secret.tex}}"))


@hostile("LaTeX", "\\input of a link that leads out of the folder", PAPER)
def tex_link(folder: Path) -> None:
    (folder / "in.tex").symlink_to(folder.parent / "outside" / "secret.tex")
    write(folder, main_tex=document("\\input{in}"))


@hostile("LaTeX", "\\input through a folder that is a link", PAPER)
def tex_linked_folder(folder: Path) -> None:
    (folder / "in").symlink_to(folder.parent / "outside")
    write(folder, main_tex=document("\\input{in/secret}"))


@hostile("LaTeX", "\\import, \\subimport of a folder above", PAPER)
def tex_import(folder: Path) -> None:
    write(folder, main_tex=document("\\import{../outside/}{secret}"))


@hostile("LaTeX", "a package and a class from above the folder", PAPER, ends="read")
def tex_package(folder: Path) -> None:
    write(folder, main_tex=document("", "\\usepackage{../outside/secret}"))


@hostile("LaTeX", "\\input of a command's output", PAPER, ends="read")
def tex_command(folder: Path) -> None:
    write(folder, main_tex=document(f'\\input|"touch {DONE}; cat ../outside/secret.tex"'))


@hostile("LaTeX", "\\write18, \\openin, \\openout", PAPER, ends="read")
def tex_write18(folder: Path) -> None:
    body = f"\\immediate\\write18{{touch {DONE}}}\\newwrite\\f\\immediate\\openout\\f={DONE}"
    body += "\\newread\\g\\openin\\g=../outside/secret.txt \\read\\g to\\h \\h"
    write(folder, main_tex=document(body, "\\directlua{os.execute('touch executed')}"))


@hostile("LaTeX", "listings, pictures and a bibliography from above the folder", PAPER, ends="read")
def tex_listings(folder: Path) -> None:
    body = "\\lstinputlisting{../outside/secret.txt}\\verbatiminput{../outside/secret.txt}"
    body += "\\includegraphics{../outside/secret}\\bibliography{../outside/secret}"
    write(folder, main_tex=document(body))


@hostile("LaTeX", "a value from a certificate above the folder", f"{PAPER} --sty")
def tex_value(folder: Path) -> None:
    write(folder, main_tex=document("\\lemmaxvalue{../../outside/secret:M}"))


@hostile("LaTeX", "a file that reads itself", PAPER)
def tex_itself(folder: Path) -> None:
    write(folder, main_tex=document("\\input{a}"), a_tex="\\input{b}", b_tex="\\input{a}")


@hostile("LaTeX", "forty files, each of which reads the next one twice", PAPER)
def tex_doubling(folder: Path) -> None:
    for n in range(40):
        (folder / f"f{n}.tex").write_text(f"x\\input{{f{n + 1}}}\\input{{f{n + 1}}}\n")
    write(folder, f40_tex="x", main_tex=document("\\input{f0}"))


@hostile("LaTeX", "macros that double, sixty deep", PAPER, ends="either")
def tex_macros(folder: Path) -> None:
    letters = [f"\\m{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60)]
    pairs = itertools.pairwise(letters)
    defined = "".join(f"\\newcommand{{{a}}}{{{b}{b}}}\n" for a, b in pairs)
    text = document("", defined + f"\\newcommand{{{letters[-1]}}}{{x}}")
    write(folder, main_tex=text.replace("One is one", f"${letters[0]}$"))


@hostile("LaTeX", "a macro that calls itself", PAPER, ends="either")
def tex_loop(folder: Path) -> None:
    text = document("", "\\newcommand{\\me}{x\\me\\me}\\def\\you#1{\\you{#1#1}}")
    write(folder, main_tex=text.replace("One is one", "$\\me$ $\\you{y}$"))


@hostile("LaTeX", "braces, 20,000 deep, in a statement", PAPER, ends="either")
def tex_braces(folder: Path) -> None:
    text = document("")
    write(folder, main_tex=text.replace("One is one", "{" * 20_000 + "}" * 20_000))


@hostile("LaTeX", "environments, 5,000 deep", PAPER, ends="either")
def tex_environments(folder: Path) -> None:
    nested = "\\begin{theorem}" * 5_000 + "\\end{theorem}" * 5_000
    write(folder, main_tex=document(nested))


@hostile("LaTeX", "10,000 times \\input without a name", PAPER, ends="either")
def tex_inputs(folder: Path) -> None:
    write(folder, main_tex=document("\\input\n" * 10_000))


@hostile("LaTeX", "braces that are never closed, 5,000 times", PAPER)
def tex_unclosed(folder: Path) -> None:
    write(folder, main_tex=document("\\newcommand{\\a}{" * 5_000))


@hostile("LaTeX", "zero bytes", PAPER)
def tex_zeros(folder: Path) -> None:
    write(folder, main_tex=document("a\0b"))


@hostile("LaTeX", "a main file that is a pipe", PAPER)
def tex_pipe(folder: Path) -> None:
    os.mkfifo(folder / "main.tex")


@hostile(
    "LaTeX",
    "an .aux file that reads one above the folder, and one that is a link",
    PAPER,
    ends="read",
)
def tex_aux(folder: Path) -> None:
    (folder / "b.aux").symlink_to(folder.parent / "outside" / "secret.aux")
    write(
        folder, main_tex=document(""), main_aux="\\@input{../outside/secret.aux}\n\\@input{b.aux}\n"
    )


@hostile("LaTeX", "a label that is a path", PAPER, ends="either")
def tex_label(folder: Path) -> None:
    write(folder, main_tex=document("").replace("thm:one", "../../outside/evil"))


# -- TOML, ledgers, settings --------------------------------------------------------------------

SETTINGS = "[tool.pytest.ini_options]\nlemmax_claims = ['claims.toml']\n"
CLAIM = {
    "id": "x/one",
    "kind": "A",
    "number": "Theorem 1",
    "title": "one",
    "statement": "one is one",
    "place": "Section 1",
    "source": "text",
}
ENTRY: dict[str, Any] = {
    "id": "x/one",
    "digest": "0",
    "verdict": "open",
    "grade": None,
    "evidence": [],
}
LEDGER: dict[str, Any] = {"format": "lemmax-ledger", "version": 2, "left_out": []}
TOLD = ("claims", "report -o pages", "claims x/one", "errata x")


def claims(paper: dict[str, str] | None = None, **fields: str) -> str:
    """A claims file with one claim."""
    told = {"key": "x", "title": "A paper", "authors": "A. Author"} | (paper or {})
    lines = ["[paper]", *(f"{k} = {json.dumps(v)}" for k, v in told.items()), "[[claim]]"]
    return "\n".join([*lines, *(f"{k} = {json.dumps(v)}" for k, v in (CLAIM | fields).items())])


def ledger(*entries: object, **fields: object) -> str:
    """A ledger with these entries."""
    return json.dumps(LEDGER | {"claims": list(entries or [ENTRY])} | fields)


def project(folder: Path, claims_toml: str = claims(), ledger_json: str = ledger()) -> Path:
    """A project of its own; one of its files is hostile."""
    return write(folder, pyproject_toml=SETTINGS, claims_toml=claims_toml, ledger_json=ledger_json)


@hostile("TOML", "arrays in arrays, 100,000 deep", *TOLD)
def toml_deep(folder: Path) -> None:
    project(folder, claims_toml="a = " + "[" * 100_000)


@hostile("TOML", "settings, 100,000 arrays deep", *TOLD, PAPER)
def settings_deep(folder: Path) -> None:
    write(project(folder), pyproject_toml="a = " + "[" * 100_000, main_tex=document(""))


@hostile("TOML", "an integer of 100,000 digits", *TOLD)
def toml_digits(folder: Path) -> None:
    project(folder, claims_toml="a = " + "9" * 100_000)


@hostile("TOML", "keys with dots, 100,000 deep", *TOLD)
def toml_keys(folder: Path) -> None:
    project(folder, claims_toml=".".join("a" * 100_000) + " = 1\n")


@hostile("TOML", "claims that are a pipe", *TOLD)
def toml_pipe(folder: Path) -> None:
    (project(folder) / "claims.toml").unlink()
    os.mkfifo(folder / "claims.toml")


@hostile("TOML", "a list of claims that is none", *TOLD)
def toml_claims(folder: Path) -> None:
    project(folder, claims_toml='claim = [1, "x"]\n[paper]\nkey = "x"\n')


@hostile("TOML", "a formula whose value has 10^369693099 digits", *TOLD[:2], ends="read")
def toml_formula(folder: Path) -> None:
    formula = "given x: real; conclude x < 9**9**9**9**9"
    project(folder, claims(formula=formula, symbols="x", number="[red]"))


@hostile("TOML", "a formula that calls Python", *TOLD[:2])
def toml_call(folder: Path) -> None:
    formula = f"given x: real; conclude x < __import__('os').system('touch {DONE}')"
    project(folder, claims(formula=formula, symbols="x"))


@hostile("TOML", "a key of a paper that climbs out of the folder", *TOLD[:2])
def toml_climbing_key(folder: Path) -> None:
    project(folder, claims({"key": "../../../evil"}, id="../../../evil/one"))


@hostile("TOML", "the id of a claim that climbs out of the folder", *TOLD[:2])
def toml_climbing_id(folder: Path) -> None:
    evil = "x/../../../../evil"
    project(folder, claims(id=evil), ledger(ENTRY | {"id": evil}))


@hostile("ledger", "lists, 200,000 deep", *TOLD)
def ledger_deep(folder: Path) -> None:
    project(folder, ledger_json="[" * 200_000)


@hostile("ledger", "a pipe", *TOLD)
def ledger_pipe(folder: Path) -> None:
    (project(folder) / "ledger.json").unlink()
    os.mkfifo(folder / "ledger.json")


@hostile("ledger", "entries that are no entries", *TOLD)
def ledger_entries(folder: Path) -> None:
    project(folder, ledger_json=ledger({"id": "x/one", "evidence": 3, "verdict": ["holds"]}))


@hostile("ledger", "evidence that is no evidence", *TOLD)
def ledger_evidence(folder: Path) -> None:
    project(folder, ledger_json=ledger(ENTRY | {"evidence": [{"grade": [1], "evil": 1}]}))


@hostile("ledger", "a version of the future", *TOLD)
def ledger_version(folder: Path) -> None:
    project(folder, ledger_json=ledger(version=99))


@hostile(
    "ledger",
    "letters that steer a terminal, in verdict, title and statement",
    *TOLD[:3],
    ends="either",
)
def ledger_escapes(folder: Path) -> None:
    evil = "\x1b[2J[/red][link=x]"
    text = claims(title=f"one {evil}", statement=f"one {evil}", place=evil)
    project(folder, text, ledger(ENTRY | {"verdict": "open", "grade": evil}))


# -- pages ---------------------------------------------------------------------------------------

REPORT = "report -o pages"
PROOF = "---\nclaim: x/one\ndirection: for\n---\n# A proof\n\n1. A step. {by hand}\n\n"


def page(folder: Path, text: str) -> None:
    """The text in every place that becomes a page: statement, title, and a proof page."""
    project(folder, claims({"title": f"T {text}"}, statement=f"one {text}", title=f"t {text}"))
    write(folder, pyproject_toml=SETTINGS + "lemmax_proofs = ['proofs']\n")
    (folder / "proofs").mkdir()
    (folder / "proofs" / "one.md").write_text(PROOF + text, encoding="utf-8")


@hostile("Markdown", "an include of a file above the folder", REPORT, ends="either")
def page_include(folder: Path) -> None:
    outside = folder.parent / "outside" / "secret.txt"
    page(folder, f"\n\n```{{include}} {outside}\n```\n\n```{{literalinclude}} {outside}\n```\n")


@hostile(
    "Markdown", "an include by reStructuredText, and a table from a file", REPORT, ends="either"
)
def page_rst(folder: Path) -> None:
    outside = folder.parent / "outside" / "secret.csv"
    inner = f".. include:: {outside}\n\n.. csv-table::\n   :file: {outside}\n"
    page(folder, f"\n\n```{{eval-rst}}\n{inner}\n.. raw:: html\n   :file: {outside}\n```\n")


@hostile("Markdown", "pictures and downloads from above the folder", REPORT, ends="either")
def page_files(folder: Path) -> None:
    outside = folder.parent / "outside" / "secret.txt"
    text = f"\n\n![a](/../../../../../../../../..{outside})\n\n{{download}}`{outside}`\n"
    page(folder, text + f"\n```{{figure}} {outside}\n```\n\n[b]({outside})\n")


@hostile("notebooks", "a cell of code in a page", REPORT, ends="either")
def page_cell(folder: Path) -> None:
    run = f"import os\nos.system('touch {folder}/{DONE}')"
    kernel = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n"
    page(folder, f"\n\n{kernel}\n```{{code-cell}} ipython3\n{run}\n```\n")


@hostile("notebooks", "a notebook among the proofs", REPORT, ends="either")
def page_notebook(folder: Path) -> None:
    page(folder, "")
    cell: dict[str, Any] = {
        "cell_type": "code",
        "source": [f"!touch {folder}/{DONE}"],
        "outputs": [],
    }
    cell |= {"execution_count": None, "metadata": {}}
    told = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "proofs" / "two.ipynb").write_text(json.dumps(told), encoding="utf-8")


# -- certificates --------------------------------------------------------------------------------

CHECKED = ("check c.json", "prove c.json", "export c.json", "recall c.json a f")
FLOATS = {
    "format": "lemmax-certificate",
    "version": 1,
    "kind": "float-memorization",
    "arithmetic": {"weights": "bfloat16", "accumulate": "float32", "logits": "bfloat16"},
    "code": {"family": "parabola", "coordinates": 2, "intercepts": 1, "factor": 0},
    "facts": 1,
}


def certificate(folder: Path, told: object) -> None:
    text = json.dumps(told, separators=(",", ":")) if not isinstance(told, str) else told
    (folder / "c.json").write_text(text, encoding="utf-8")


@hostile("certificate", "arrays in a file above the folder", *CHECKED)
def cert_above(folder: Path) -> None:
    arrays = {"file": "../outside/secret.safetensors", "sha256": "0" * 64, "bytes": 32}
    certificate(folder, FLOATS | {"arrays": arrays})


@hostile("certificate", "arrays at an absolute path", *CHECKED)
def cert_absolute(folder: Path) -> None:
    path = str(folder.parent / "outside" / "secret.safetensors")
    certificate(folder, FLOATS | {"arrays": {"file": path, "sha256": "0" * 64, "bytes": 32}})


@hostile("certificate", "arrays in a pipe", *CHECKED, ends="either")
def cert_pipe(folder: Path) -> None:
    os.mkfifo(folder / "a.safetensors")
    arrays = {"file": "a.safetensors", "sha256": "0" * 64, "bytes": 32}
    certificate(folder, FLOATS | {"arrays": arrays})


@hostile("certificate", "lists, 200,000 deep", *CHECKED)
def cert_deep(folder: Path) -> None:
    certificate(folder, "[" * 200_000)


@hostile("certificate", "a field that occurs twice", *CHECKED)
def cert_twice(folder: Path) -> None:
    certificate(folder, '{"format":"lemmax-certificate","format":"lemmax-certificate"}')


@hostile("certificate", "a version of the future", *CHECKED)
def cert_version(folder: Path) -> None:
    certificate(folder, FLOATS | {"version": 99, "arrays": {"base64": ""}})


@hostile("certificate", "a link to a device without end", *CHECKED)
def cert_device(folder: Path) -> None:
    (folder / "c.json").symlink_to("/dev/zero")


def ranked(**more: Any) -> dict[str, Any]:
    """A certificate that holds: the rank of (1)."""
    minor = {"prime": "7", "rows": [0], "columns": [0]}
    told = {"format": "lemmax-certificate", "version": 1, "kind": "matrix-rank"}
    told |= {"matrix": [["1"]], "rank": 1, "lower": minor, "upper": {"method": "size"}}
    return told | more


NOTE = '*) Redirect "executed" Print nat. (* \\input{../outside/secret} \\write18{touch executed}'


@hostile("certificate", "code of Coq and LaTeX in its note", *CHECKED[:3], ends="either")
def cert_note(folder: Path) -> None:
    certificate(folder, ranked(note=NOTE))


@hostile(
    "certificate", "code of Coq in the name of its file", "prove a*)_Quit.(*.json", ends="either"
)
def cert_name(folder: Path) -> None:
    (folder / "a*)_Quit.(*.json").write_text(json.dumps(ranked()), encoding="utf-8")


@hostile(
    "results",
    "lines of a sweep, 200,000 lists deep",
    "reproduce wong-fig3 --folder . --scale small",
)
def results_deep(folder: Path) -> None:
    (folder / "wong-guess.jsonl").write_text('{"lemmax-results":1}\n' + "[" * 200_000 + "\n")


@hostile("results", "a results file that is a pipe", "reproduce wong-fig3 --folder . --scale small")
def results_pipe(folder: Path) -> None:
    os.mkfifo(folder / "wong-guess.jsonl")
