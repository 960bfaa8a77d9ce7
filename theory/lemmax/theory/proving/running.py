"""Compiling proofs: the sources of ``theory/formal`` once, then a file of theorems; with a cache.

The cache is keyed by the SHA-256 of everything that enters: the text of the file, the formal
sources that it stands on, and the version of Coq.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import write_text
from lemmax.theory.ledger.coq import (
    CLOSED,
    LOGICAL_NAME,
    QUIET,
    compilation_order,
    find_coqc,
    formal_folder,
    strip_comments,
)
from lemmax.theory.ledger.coq_cache import link_compiled
from lemmax.theory.proving.theorem import HEAD, file_text

INSTALL = (
    "coqc is not on the path: install Coq 8.16 and MathComp 1.15, on Debian the packages coq and "
    "libcoq-mathcomp-algebra."
)


@dataclass(frozen=True)
class Run:
    """What became of a file: whether it compiled and every theorem is closed, and how long."""

    proved: bool
    seconds: float
    message: str
    digest: str


def coqc_or_refuse() -> str:
    """The path of coqc; LemmaxError that says how to install it."""
    coqc = find_coqc()
    if coqc is None:
        raise LemmaxError(INSTALL)
    return coqc


def cache_folder() -> Path:
    """Where compiled sources and results are kept: XDG_CACHE_HOME/lemmax/prove."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "lemmax" / "prove"


@cache
def _version(coqc: str) -> str:
    run = subprocess.run([coqc, "--print-version"], capture_output=True, text=True, check=False)
    return run.stdout.strip()


def required_sources(folder: Path | None = None) -> dict[str, str]:
    """The formal sources that the head of every file requires, and those that they require."""
    folder = folder or formal_folder()
    sources = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.v")}
    wanted = [w for line in HEAD.splitlines() if "lemmax" in line for w in line.rstrip(".").split()]
    found: set[str] = set()
    todo = [w for w in wanted if w in sources]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            words = strip_comments(sources[name]).replace(".", " ").split()
            todo += [w for w in words if w in sources]
    return {name: sources[name] for name in compilation_order(sources) if name in found}


def digest_of(text: str, sources: Mapping[str, str], coqc: str = "") -> str:
    """The SHA-256 of a file of theorems with the sources it stands on and the version of Coq."""
    parts = [_version(coqc) if coqc else "", *(f"{n}\n{s}" for n, s in sources.items()), text]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def compiled_sources(coqc: str, sources: Mapping[str, str], timeout: float) -> Path:
    """A folder with the compiled formal sources, made if it is not there.

    It appears whole, whoever else is making it, and shares what the evidence compiles.
    """
    folder = cache_folder() / f"formal-{digest_of('', sources, coqc)[:16]}"
    if folder.is_dir():
        return folder
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_folder()) as work:
        made = Path(work) / "made"
        made.mkdir()
        link_compiled(made, sources, coqc, timeout=timeout)
        try:
            made.rename(folder)
        except OSError:  # another process was faster
            if not folder.is_dir():
                raise
    return folder


def _coqc(coqc: str, folder: Path, file: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    command = [coqc, *QUIET, "-Q", str(folder), LOGICAL_NAME, str(file)]
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        message = f"coqc did not finish within {timeout:g} s"
        return subprocess.CompletedProcess(command, 1, "", message)


def prove(text: str, theorems: int, timeout: float = 600, fresh: bool = False) -> Run:
    """Compile a file of so many theorems and demand that each is closed under the global context.

    What was proved before, with the same text, sources and Coq, is not proved again unless
    ``fresh``.
    """
    coqc = coqc_or_refuse()
    sources = required_sources()
    digest = digest_of(text, sources, coqc)
    record = cache_folder() / f"{digest}.json"
    if record.is_file() and not fresh:
        with contextlib.suppress(ValueError, TypeError):  # damaged: prove it again
            return Run(**json.loads(record.read_text(encoding="utf-8")))
    folder = compiled_sources(coqc, sources, timeout)
    # A folder of its own: another process may be proving the same file.
    with tempfile.TemporaryDirectory(dir=cache_folder()) as work:
        file = Path(work) / f"certificates_{digest[:16]}.v"
        file.write_text(text, encoding="utf-8")
        start = time.monotonic()
        run = _coqc(coqc, folder, file, timeout)
        seconds = time.monotonic() - start
    closed = run.stdout.count(CLOSED)
    proved = run.returncode == 0 and closed == theorems
    message = run.stderr.strip() or ("" if proved else f"{closed} of {theorems} theorems closed")
    result = Run(proved, round(seconds, 2), message, digest)
    if proved:
        write_text(record, json.dumps(asdict(result)))
    return result


def _products(file: Path) -> Iterable[Path]:
    stem = file.stem
    yield from (file.with_suffix(s) for s in (".v", ".vo", ".vok", ".vos", ".glob"))
    yield file.with_name(f".{stem}.aux")


def prove_modules(modules: Mapping[str, str], timeout: float = 3600) -> int:
    """Prove the modules that were not proved before, in one file; how many these were.

    What was proved is remembered by the digest of each module with the sources and the version of
    Coq. LemmaxError that names the first module that Coq does not accept.
    """
    coqc = coqc_or_refuse()
    sources = required_sources()
    places = {
        name: cache_folder() / f"{digest_of(text, sources, coqc)}.module"
        for name, text in modules.items()
    }
    new = [name for name in modules if not places[name].is_file()]
    if not new:
        return 0
    run = prove(file_text([modules[name] for name in new]), len(new), timeout)
    if not run.proved:
        for name in new:
            alone = prove(file_text([modules[name]]), 1, timeout)
            if not alone.proved:
                raise LemmaxError(f"Coq does not accept the proof of {name}: {alone.message}")
    for name in new:
        places[name].write_text("", encoding="utf-8")
    return len(new)


def check_modules(modules: Mapping[str, str], timeout: float = 7200) -> str:
    """Compile the modules, and have coqchk, Coq's second checker, check them with the sources.

    MathComp and Coq's own library are loaded and not checked. A sentence that says what was checked
    and how long it took; LemmaxError if coqchk does not accept.
    """
    coqc = coqc_or_refuse()
    coqchk = shutil.which("coqchk")
    if coqchk is None:
        raise LemmaxError("coqchk is not on the path: it is a part of Coq, on Debian of coq.")
    folder = compiled_sources(coqc, required_sources(), timeout)
    file = folder / "certificates_all.v"
    file.write_text(file_text(list(modules.values())), encoding="utf-8")
    try:
        if _coqc(coqc, folder, file, timeout).returncode:
            raise LemmaxError("The file of all theorems does not compile.")
        # reflection needs the virtual machine here too
        own = [
            w for n in (*required_sources(), file.stem) for w in ("-norec", f"{LOGICAL_NAME}.{n}")
        ]
        options = ["-silent", "-bytecode-compiler", "yes", "-Q", str(folder), LOGICAL_NAME]
        command = [coqchk, *options, *own]
        start = time.monotonic()
        run = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise LemmaxError(f"coqchk did not finish within {timeout:g} s.") from None
    finally:
        for leftover in _products(file):
            leftover.unlink(missing_ok=True)
    if run.returncode:
        raise LemmaxError(f"coqchk does not accept the theorems: {run.stderr.strip()[-300:]}")
    seconds = time.monotonic() - start
    return f"coqchk accepts {len(own) // 2} files, the last with all theorems, in {seconds:.0f} s."
