"""The commands about claims and certificates: claims, verify, check, checker, export."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from lemmax.cli.terminal import AsJson, console, working
from lemmax.theory.errors import LemmaxError

if TYPE_CHECKING:
    from lemmax.theory.certificates.writing import Certificate
    from lemmax.theory.ledger.projects import Project

LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        help="Another ledger, with the claims of its project; default: that of this folder, or "
        "lemmax's own.",
    ),
]


def project_of(ledger: Path | None) -> Project:
    """The project that a command is about: that of the ledger, of this folder, or lemmax itself."""
    from dataclasses import replace

    from lemmax.theory.ledger.projects import Project, discover

    if ledger is None:
        return discover(Path.cwd()) or Project(Path.cwd())
    if not ledger.is_file():
        raise LemmaxError(f"There is no ledger at {ledger}.")
    return replace(discover(ledger.parent) or Project(Path.cwd()), ledger=ledger)


def check(
    certificates: Annotated[
        list[str], typer.Argument(help="Certificate files.", metavar="CERT...")
    ],
    as_json: AsJson = False,
) -> None:
    """Re-check certificates with the independent checker.

    Status 0: all hold. Status 1: one does not, and the failing step is named. Status 2: a file is
    not a certificate.

    Examples: `lemmax check layer.json`, `lemmax check --json certificates/*.json`
    """
    from lemmax import checker

    raise typer.Exit(checker.main([*(["--json"] if as_json else []), "--", *certificates]))


def claims(
    identifier: Annotated[str | None, typer.Argument(metavar="ID", help="One claim.")] = None,
    paper: Annotated[str | None, typer.Option(help="Only the claims of one paper.")] = None,
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Show the ledger: every claim with its verdict, or one claim with its evidence.

    Examples: `lemmax claims`, `lemmax claims wong/proposition-3.6`, `lemmax claims --paper dana`
    """
    from lemmax.cli import ledger_view
    from lemmax.theory.ledger.entries import listed, one

    places = project_of(ledger)
    if identifier is not None:
        entry = one(identifier, places.ledger, places.claims)
        if as_json:
            typer.echo(json.dumps(entry, ensure_ascii=False, indent=2))
        else:
            ledger_view.show_one(entry, console())
        return
    entries = listed(paper, places.ledger, places.claims)
    if as_json:
        typer.echo(json.dumps(entries, ensure_ascii=False, indent=2))
        return
    ledger_view.show_all(entries, console())


def verify(ledger: LedgerFile = None, as_json: AsJson = False) -> None:
    """Re-check every shipped certificate with the independent checker, and print its SHA-256.

    Status 1 if one does not hold.

    Examples: `lemmax verify`, `lemmax verify --json`
    """
    from lemmax.constructions.shipped import verify_all

    with working("checking the shipped certificates"):
        results = verify_all(certificates_folder(project_of(ledger)))
    if as_json:
        typer.echo(json.dumps(results, indent=2))
    else:
        table = Table("certificate", "kind", "verdict", "sha256", box=None, pad_edge=False)
        for row in results:
            colour = "green" if row["holds"] else "red"
            verdict = "holds" if row["holds"] else row["reason"]
            table.add_row(row["name"], row["kind"], f"[{colour}]{verdict}[/]", row["sha256"][:16])
        console().print(table)
        console().print(f"{sum(r['holds'] for r in results)} of {len(results)} certificates hold.")
    if not all(row["holds"] for row in results):
        raise typer.Exit(1)


class ExportFormat(StrEnum):
    """What ``lemmax export`` writes."""

    latex = "latex"
    json = "json"
    npz = "npz"
    safetensors = "safetensors"
    sympy = "sympy"
    bibtex = "bibtex"


def export(
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="A claim, a shipped certificate, or a .json file.")
    ],
    format_: Annotated[
        ExportFormat, typer.Option("--format", "-f", help="What to write.")
    ] = ExportFormat.latex,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A file; text goes to stdout without it.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The label of the LaTeX; lemmax:ID if not given.")
    ] = None,
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Write the construction behind a claim for a paper or another program.

    Examples: `lemmax export wong/argmax-rank-one`,
    `lemmax export layer.json --format npz -o layer.npz`
    """
    from lemmax.constructions import exports
    from lemmax.theory.certificates.writing import to_json

    name, certificate = find_certificate(identifier, ledger)
    data: str | bytes
    match ExportFormat.json if as_json else format_:
        case ExportFormat.latex:
            data = certificate.to_latex(label or f"lemmax:{name}")
        case ExportFormat.json:
            data = to_json(certificate).rstrip("\n")
        case ExportFormat.sympy:
            data = exports.certificate_sympy(certificate)
        case ExportFormat.npz:
            data = exports.certificate_npz(certificate)
        case ExportFormat.safetensors:
            data = exports.certificate_safetensors(certificate)
        case ExportFormat.bibtex:
            data = exports.bibtex(*bibtex_keys(name, ledger))
    if output is not None:
        exports.write_bytes(output, data if isinstance(data, bytes) else f"{data}\n".encode())
    elif isinstance(data, bytes):
        raise LemmaxError(f"The format {format_.value} is not text: name a file with -o.")
    else:
        typer.echo(data)


def certificates_folder(places: Project) -> Path:
    """Where a project keeps its certificates; lemmax's own where it has no claims of its own."""
    from lemmax.constructions.shipped import FOLDER

    if not places.own:
        return FOLDER
    if places.certificates is None:
        raise LemmaxError(f"The project in {places.root} has no setting lemmax_certificates.")
    return places.certificates


def bibtex_keys(name: str, ledger: Path | None = None) -> list[str]:
    """The BibTeX keys of a claim's paper and of lemmax."""
    from lemmax.theory.ledger.claims import load_claims

    paper = load_claims(project_of(ledger).claims).papers.get(name.partition("/")[0], {})
    return list(dict.fromkeys([*filter(None, (paper.get("bibtex_key"),)), "lemmax"]))


def find_certificate(identifier: str, ledger: Path | None = None) -> tuple[str, Certificate]:
    """The certificate of a claim, of a shipped name or of a file, and the name it goes by.

    >>> name, certificate = find_certificate("wong/argmax-rank-one")
    >>> name, certificate["kind"]
    ('wong/argmax-rank-one', 'refutation')
    """
    from lemmax.constructions import shipped
    from lemmax.theory.ledger.claims import load_claims
    from lemmax.theory.ledger.entries import certificates_of

    if identifier.endswith(".json"):
        return _from_file(Path(identifier))
    places = project_of(ledger)
    folder = certificates_folder(places)
    if identifier in shipped.names(folder):
        return identifier, shipped.load(identifier, folder)
    if identifier not in load_claims(places.claims):
        raise LemmaxError(f"There is no claim, certificate or file {identifier!r}.")
    known = certificates_of(identifier, places.ledger, places.claims)
    names = [name for name in known if name in shipped.names(folder)]
    if not names:
        raise LemmaxError(f"No shipped certificate is evidence for {identifier}.")
    if len(names) > 1:
        raise LemmaxError(f"{identifier} has several certificates: {', '.join(names)}.")
    return identifier, shipped.load(names[0], folder)


def _from_file(path: Path) -> tuple[str, Certificate]:
    """A certificate file of the user's own, if the checker accepts it."""
    from lemmax import checker
    from lemmax.theory.certificates.writing import Certificate

    try:
        verdict = checker.check_file(path)
    except checker.NotACertificate as error:
        raise LemmaxError(f"{path} is not a certificate: {error}") from None
    if not verdict.holds:
        raise LemmaxError(f"{path} does not hold: {verdict.steps[-1]}")
    certificate = Certificate(json.loads(path.read_text(encoding="utf-8")))
    return str(certificate.get("claim", path.stem)), certificate


def checker(
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write it.")] = Path(
        "checker.pyz"
    ),
    as_json: AsJson = False,
) -> None:
    """Write the independent checker as one file, to stand beside a paper.

    It needs Python and nothing else: `python3 -I checker.pyz CERTIFICATE.json`.

    Example: `lemmax checker -o checker.pyz`
    """
    import hashlib

    from lemmax.theory.certificates.archive import write_checker

    data = write_checker(output).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if as_json:
        typer.echo(json.dumps({"output": str(output), "bytes": len(data), "sha256": digest}))
        return
    console().print(f"Written to {output}: {len(data)} bytes, sha256 {digest}.", markup=False)
    console().print(f"A referee runs: python3 -I {output} CERTIFICATE.json", markup=False)
