"""Coq runs once per source and version: what it said is kept by digest in the user's cache folder.

The key of a file is a digest of Coq's version, of the file's text (without its header) and of the
keys of everything that it requires, so that an edited file, and all that leans on it, is compiled
anew. Several processes may ask at once: one compiles, the others wait for it and read.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from lemmax.theory.ledger.coq import (
    CLOSED,
    LOGICAL_NAME,
    QUIET,
    FormalFile,
    KernelError,
    Theorem,
    claims_of,
    find_coqc,
    forbidden_words,
    formal_folder,
    formal_sources,
    requirements,
    theorem_statements,
)

FORMAT = "4"  # of what is kept; another number makes everything new
AT_ONCE = 2  # a file takes up to a gigabyte of memory
# The first comment, if it is a plain one: what it says of claims is nothing to Coq.
_HEADER = re.compile(r"\A\s*\(\*(?:(?!\(\*|\*\))[^\"])*\*\)")
_PRINT = re.compile(r"^Print Assumptions [\w']+\.$", re.MULTILINE)


def cache_folder() -> Path:
    """Where compiled sources are kept: ``lemmax/coq`` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lemmax" / "coq"


@cache
def _version(coqc: str) -> str:
    done = subprocess.run([coqc, "--version"], capture_output=True, text=True, check=False)
    return done.stdout


def check_formal(
    folder: Path | None = None,
    wanted: Iterable[str] | None = None,
    coqc: str | None = None,
    kept: Path | None = None,
    timeout: float = 300,
) -> dict[str, FormalFile]:
    """What became of the wanted sources of a folder (default: all), and of what they require.

    ``folder`` defaults to the formal sources of lemmax, ``coqc`` to the one on the path, ``kept``
    to :func:`cache_folder`. Cost: one run of coqc for each file that is not kept, two at a time,
    the longest chains first; none for what is kept. ``timeout`` is in seconds per file.
    """
    coqc = coqc or find_coqc()
    if coqc is None:
        raise KernelError("coqc is not on the path: install Coq and MathComp's algebra library.")
    sources = formal_sources(folder or formal_folder())
    graph = requirements(sources)
    needed = _closure(graph, sources if wanted is None else wanted)
    keys = _keys(sources, graph, _version(coqc))
    store = kept or cache_folder()
    store.mkdir(parents=True, exist_ok=True)
    order = [name for name in graph if name in needed]
    heavy: dict[str, int] = {}  # the length of a source and of the longest chain that waits for it
    for name in reversed(order):
        after = (heavy[other] for other in heavy if name in graph[other])
        heavy[name] = len(sources[name]) + max(after, default=0)
    sorter = TopologicalSorter({name: graph[name] for name in order})
    sorter.prepare()
    reports: dict[str, FormalFile] = {}
    ready: list[str] = []
    running: dict[Future[FormalFile], str] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while sorter.is_active():
            ready = sorted([*ready, *sorter.get_ready()], key=heavy.__getitem__)
            while ready and len(running) < AT_ONCE:
                name = ready.pop()
                below = {n: keys[n] for n in _closure(graph, graph[name])}
                text, key = sources[name], keys[name]
                running[pool.submit(_kept, name, text, key, below, store, coqc, timeout)] = name
            for job in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(job)
                reports[name] = job.result()
                sorter.done(name)
    return {name: reports[name] for name in order}


def link_compiled(
    into: Path, wanted: Iterable[str], coqc: str, kept: Path | None = None, timeout: float = 300
) -> None:
    """Put the wanted formal sources of lemmax, compiled, into a folder, with all they require.

    They are links to what :func:`check_formal` keeps, so that nothing is compiled a second time.
    KernelError that names the first source that does not compile.
    """
    store, sources = kept or cache_folder(), formal_sources(formal_folder())
    keys = _keys(sources, requirements(sources), _version(coqc))
    reports = check_formal(wanted=wanted, coqc=coqc, kept=store, timeout=timeout)
    for name, report in reports.items():
        if not report.compiled:
            raise KernelError(f"The formal source {name}.v does not compile: {report.message}")
        os.link(store / keys[name] / f"{name}.vo", into / f"{name}.vo")


def _closure(graph: Mapping[str, list[str]], names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in graph:
            raise KernelError(f"there is no formal source {name}.v.")
        if name not in found:
            found.add(name)
            waiting += graph[name]
    return found


def _keys(
    sources: Mapping[str, str], graph: Mapping[str, list[str]], version: str
) -> dict[str, str]:
    keys: dict[str, str] = {}
    for name, required in graph.items():
        parts = (
            FORMAT,
            version,
            name,
            _HEADER.sub("", sources[name]),
            *(keys[n] for n in required),
        )
        keys[name] = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    return keys


def _kept(
    name: str,
    text: str,
    key: str,
    below: Mapping[str, str],
    store: Path,
    coqc: str,
    timeout: float,
) -> FormalFile:
    with (store / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place = store / key
        if not (place / "report.json").is_file():
            with tempfile.TemporaryDirectory(dir=store) as work:
                report = _compile(name, text, below, store, Path(work), coqc, timeout)
                if not report.compiled:  # perhaps the time was short: never kept
                    return report
                place.mkdir(exist_ok=True)
                shutil.move(Path(work) / f"{name}.vo", place / f"{name}.vo")
                (place / "report.tmp").write_text(json.dumps(asdict(report)), encoding="utf-8")
                (place / "report.tmp").replace(place / "report.json")
        fields = json.loads((place / "report.json").read_text(encoding="utf-8"))
    theorems = tuple(Theorem(**theorem) for theorem in fields.pop("theorems"))
    # What can be read off the text is read off it, whatever was kept.
    fields |= {"claims": claims_of(text), "forbidden": forbidden_words(text)}
    return FormalFile(**fields, theorems=theorems)


def _compile(
    name: str,
    text: str,
    below: Mapping[str, str],
    store: Path,
    work: Path,
    coqc: str,
    timeout: float,
) -> FormalFile:
    for required, key in below.items():
        file = store / key / f"{required}.vo"
        if not file.is_file():
            return _report(name, text, work, False, f"{required}.v does not compile")
        os.link(file, work / file.name)
    command = [coqc, *QUIET, "-Q", ".", LOGICAL_NAME, f"{name}.v"]
    # One walk through all that the theorems rest on; one per theorem where that is an axiom.
    for probes in (_together(name, text), _one_by_one(name, text)):
        source = f"{_PRINT.sub('', text)}\nSet Printing Width 200.\n{probes}"
        (work / f"{name}.v").write_text(source, encoding="utf-8")
        try:
            run = subprocess.run(
                command, cwd=work, capture_output=True, text=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return _report(name, text, work, False, f"coqc did not finish within {timeout:g} s")
        if run.returncode != 0 or all(t.closed for t in _theorems(name, text, work)):
            break
    return _report(name, text, work, run.returncode == 0, run.stderr.strip())


def _together(name: str, text: str) -> str:
    """Ask for the types, and once for what all theorems of a source rest on.

    A trivial lemma has all of them in its proof; it is printed, so that no notation of the source
    can put anything else there unseen.
    """
    theorems = theorem_statements(text)
    lets = "".join(f"Let every_{n} := @{t}.\n" for n, t in enumerate(theorems))
    types = "".join(f'Redirect "{name}.{t}.type" Check @{t}.\n' for t in theorems)
    return (
        f"{types}Section every.\n{lets}Lemma every_{name} : True.\nProof using All.\nexact I.\n"
        f'Qed.\nEnd every.\nRedirect "{name}.every" Print Assumptions every_{name}.\n'
        f'Set Printing All.\nRedirect "{name}.lemma" Print every_{name}.\n'
    )


def _one_by_one(name: str, text: str) -> str:
    """The same questions, each theorem by itself."""
    return "".join(
        f'Redirect "{name}.{t}" Print Assumptions {t}.\nRedirect "{name}.{t}.type" Check @{t}.\n'
        for t in theorem_statements(text)
    )


def _theorems(name: str, text: str, work: Path) -> tuple[Theorem, ...]:
    """The theorems of a source and what Coq has said of them in a folder."""
    lemma = _printed(work / f"{name}.lemma.out")
    lets = re.findall(r"let every_\d+ : .*? := ([\w'.]+) in", lemma)
    together = lets == list(theorem_statements(text)) and _printed(work / f"{name}.every.out")
    return tuple(
        Theorem(
            t,
            statement,
            _printed(work / f"{name}.{t}.type.out"),
            CLOSED if together == CLOSED else _printed(work / f"{name}.{t}.out"),
        )
        for t, statement in theorem_statements(text).items()
    )


def _report(name: str, text: str, work: Path, compiled: bool, message: str) -> FormalFile:
    return FormalFile(
        name=name,
        claims=claims_of(text),
        theorems=_theorems(name, text, work),
        forbidden=forbidden_words(text),
        compiled=compiled,
        message=message,
    )


def _printed(path: Path) -> str:
    return " ".join(path.read_text(encoding="utf-8").split()) if path.is_file() else "not compiled"
