"""The command line. Status 0: every certificate holds; 1: one does not; 2: anything else."""

import argparse
import contextlib
import errno
import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .checking import check_file
from .limits import LIMITS, NotACertificate


def main(argv: Sequence[str] | None = None) -> int:
    """Check the certificates that are named; returns the exit status.

    Status 0 means that every argument was checked and holds. So what only informs stands alone,
    and an option that is also the name of a file is refused: a shell may have put it there.
    """
    parser = argparse.ArgumentParser(
        prog="checker", description="Check lemmax certificates.", allow_abbrev=False, add_help=False
    )
    parser.add_argument("certificates", nargs="*", metavar="CERTIFICATE")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    parser.add_argument("--expect", metavar="CLAIM", help="demand certificates about it")
    parser.add_argument(
        "--claims",
        metavar="FILE",
        action="append",
        help="a TOML file of claims, or a folder: certificates must carry their claim's statement",
    )
    alone: dict[str, tuple[Callable[[], str], str]] = {
        "--limits": (lambda: json.dumps(LIMITS, indent=2), "print the largest sizes"),
        "--vocabulary": (vocabulary, "print the words of the language of statements"),
        "--help": (parser.format_help, "print this text"),
    }
    for name, (_, told) in alone.items():
        parser.add_argument(name, action="store_true", help=f"{told}, and check nothing")
    arguments = list(sys.argv[1:] if argv is None else argv)
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for option in options:
        if option.startswith("-") and os.path.lexists(option):
            parser.error(f"{option} is also a file here; write ./{option} or -- {option}")
    if len(options) < len(arguments) and os.path.lexists("--"):
        parser.error("-- is also a file here; write ./--")
    if arguments in ([name] for name in ("-h", *alone)):
        print(alone["--help" if arguments == ["-h"] else arguments[0]][0]())
        return 0
    chosen = parser.parse_args(arguments)
    for name in alone:
        if getattr(chosen, name.strip("-")):
            parser.error(f"{name} stands alone")
    if not chosen.certificates:
        parser.error("name at least one certificate")
    try:
        formal = None if chosen.claims is None else statements(chosen.claims)
    except NotACertificate as error:
        parser.error(str(error))
    return checked(chosen.certificates, chosen.json, chosen.expect, formal)


def statements(paths: Sequence[str]) -> dict[str, str]:
    """The formal statements of claims files."""
    from .language.claims import formal_statements

    return formal_statements(paths)


def vocabulary() -> str:
    """The words of the language, one per line."""
    from .words import VOCABULARY

    words = [word for words in VOCABULARY.values() for word in words]
    return "\n".join(f"{word.call:42}  {word.meaning}" for word in words)


def checked(
    paths: Sequence[str], as_json: bool, expect: str | None, formal: Mapping[str, str] | None
) -> int:
    """Check every file and print what was found."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # never fail over a letter the terminal lacks
            stream.reconfigure(errors="backslashreplace")
    status, report = 0, []
    for path in paths:
        entry = examined(path, expect, formal)
        report.append(entry)
        status = max(status, {"holds": 0, "does-not-hold": 1}.get(entry["status"], 2))
        if not as_json:
            shown(entry)
    if as_json:
        print(json.dumps(report, indent=2))
    return status


def examined(path: str, expect: str | None, formal: Mapping[str, str] | None) -> dict[str, Any]:
    try:
        verdict = check_file(path, formal)
    except NotACertificate as error:
        return {"file": path, "status": "not-a-certificate", "error": str(error)}
    holds, steps = verdict.holds, list(verdict.steps)
    if expect is not None and verdict.claim != expect:
        holds, about = False, f"the claim {verdict.claim}" if verdict.claim else "no claim"
        steps.append(f"it is about {about}, and {expect!a} is expected")
    status = "holds" if holds else "does-not-hold"
    entry: dict[str, Any] = {"file": path, "status": status, "kind": verdict.kind, "steps": steps}
    if verdict.statement:
        entry["statement"] = verdict.statement
    return entry


def shown(entry: dict[str, Any]) -> None:
    if "error" in entry:
        print(f"{entry['file']}: not a certificate: {entry['error']}", file=sys.stderr)
        return
    *steps, last = entry["steps"]
    lines = [f"{entry['file']}: {entry['kind']}: {entry['status'].replace('-', ' ')}", *steps]
    lines.append(last if entry["status"] == "holds" else f"FAILED {last}")
    if entry.get("statement") == "as given by the certificate" and entry["status"] == "holds":
        lines.append("statement as given by the certificate")
    print("\n  ".join(lines))


def run() -> int:
    """The status of the program; what cannot be printed was not said, and that is not status 1."""
    try:
        if sys.stdout is None:  # it was closed before
            raise OSError(errno.EBADF, "there is no standard output")
        status = main()
        sys.stdout.flush()
        return status
    except OSError as error:
        _silence(1)
        with contextlib.suppress(OSError):
            print(f"checker: the verdicts cannot be printed: {error.strerror}", file=sys.stderr)
        return 2
    finally:
        try:
            if sys.stderr is not None:
                sys.stderr.flush()
        except OSError:
            _silence(2)


def _silence(descriptor: int) -> None:
    """What is left to write goes nowhere, or the interpreter fails once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
