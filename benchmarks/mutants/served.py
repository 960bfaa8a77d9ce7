"""A server of forks: tests are imported once, and every mutant is a child of the process.

A child puts the code of the mutant into the function that is there, so that every name that was
imported from the module sees it, and runs the tests that cover the changed lines: those first that
killed most in this function, then the fastest. It ends at the first that fails. What a test starts
as a program of its own does not see the mutant, so such tests kill none.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import json
import os
import resource
import select
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar

import pytest
from benchmarks.mutants.generated import ROOT, Mutant, functions
from hypothesis import Phase, settings

coverage: Any = importlib.import_module("coverage")  # `make mutants` installs it

WAITED = 120.0  # seconds on the clock for one mutant
ROOM = 1 << 30  # bytes beyond what the server has


Work = Callable[[int], None]
Thing = TypeVar("Thing")


def forked(work: Work) -> tuple[int, int]:
    """A child that does some work and writes what it finds into a pipe: its id, and the pipe."""
    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        return child, reading
    os.close(reading)
    quiet()
    try:
        work(writing)
    finally:
        os._exit(0)


def pooled(tasks: Iterator[tuple[Thing, Work]], jobs: int) -> Iterator[tuple[Thing, str, int]]:
    """Do so many tasks at a time, each in a child: what it wrote, and the signal that ended it."""
    running: dict[int, tuple[int, Thing, bytearray, float]] = {}
    more = True
    while more or running:
        while more and len(running) < jobs:
            if (task := next(tasks, None)) is None:
                more = False
                break
            child, pipe = forked(task[1])
            running[pipe] = (child, task[0], bytearray(), time.monotonic() + WAITED)
        for pipe in select.select(list(running), [], [], 1.0)[0]:
            child, thing, said, _ = running[pipe]
            if part := os.read(pipe, 1 << 16):
                said += part
                continue
            os.close(pipe)
            _, status = os.waitpid(child, 0)
            del running[pipe]
            yield thing, said.decode(), os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        for child, _, _, late in list(running.values()):
            if time.monotonic() > late:
                os.kill(child, signal.SIGKILL)


class Server:
    """A pytest plugin that runs mutants instead of tests."""

    def __init__(
        self,
        targets: list[str],
        known: Path,
        mutants: Callable[[], Iterable[Mutant]],
        write: Callable[[dict[str, Any]], None],
        budget: float,
        jobs: int,
        slowest: float,
    ) -> None:
        self.targets, self.known, self.mutants = targets, known, mutants
        self.write, self.budget, self.jobs = write, budget, jobs
        self.slowest = slowest  # seconds of processor time of a test that is used
        self.failed = False

    def pytest_collection(self) -> None:
        """A failure is enough: hypothesis need not find the smallest."""
        usual = settings.get_profile("lemmax")
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", usual, phases=phases, report_multiple_bugs=False)
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= not report.passed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        for name in sorted(modules(self.targets)):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        gc.collect()
        places = alive(self.targets)  # before they are frozen, for then they are not listed
        gc.freeze()
        self.measure(list(items.values()))
        covered, seconds = read_coverage(self.known)
        kills: dict[str, Counter[str]] = defaultdict(Counter)

        def tasks() -> Iterator[tuple[tuple[Mutant, int], Work]]:
            for mutant in self.mutants():
                tests = set[str]().union(*(covered[mutant.path, n] for n in span(mutant)))
                here = kills[mutant.path + mutant.function]
                chosen = sorted(tests & set(items), key=lambda t: (-here[t], seconds[t]))
                if not chosen:
                    self.write(mutant.told() | {"result": "uncovered"})
                    continue
                few = [(items[t], seconds[t]) for t in within(chosen, seconds, self.budget)]
                work = partial(self.tried, mutant, places[mutant.path, mutant.function], few)
                yield (mutant, len(tests)), work

        for (mutant, covering), said, ended in pooled(tasks(), self.jobs):
            lines = said.splitlines()
            ran = [line for line in lines if line in seconds]
            told = mutant.told() | {"tests": len(ran), "covering": covering}
            if lines and lines[-1] in ("survived", "unrunnable"):
                self.write(told | {"result": lines[-1]})
                continue
            if ended in (signal.SIGTERM, signal.SIGINT):  # someone ended it, not the mutant
                continue
            by = ran[-1] if ran else ""
            kills[mutant.path + mutant.function][by] += 1
            slow = ended in (signal.SIGPROF, signal.SIGKILL)
            self.write(told | {"result": "timeout" if slow else "killed", "by": by})
        return True

    def measure(self, items: list[pytest.Item]) -> None:
        """Which test runs which lines, and how long it takes, each in a child of its own."""
        self.known.parent.mkdir(parents=True, exist_ok=True)
        self.known.touch()
        done = {json.loads(line)["test"] for line in self.known.read_text().splitlines()}
        todo = ((item.nodeid, partial(self.measured, item)) for item in items)
        for name, said, _ in pooled((each for each in todo if each[0] not in done), self.jobs):
            with open(self.known, "a", encoding="utf-8") as stream:
                stream.write((said or json.dumps({"test": name})) + "\n")

    def measured(self, item: pytest.Item, out: int) -> None:
        """Run a test in this process and write down what it ran."""
        folders = [str(ROOT / target) for target in self.targets]
        meter = coverage.Coverage(data_file=None, source=folders, config_file=False)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, self.slowest)
        meter.start()
        began = time.process_time()
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        spent = time.process_time() - began
        meter.stop()
        signal.setitimer(signal.ITIMER_PROF, 0)
        if self.failed:
            return
        data = meter.get_data()
        lines = {
            Path(file).relative_to(ROOT).as_posix(): sorted(data.lines(file) or ())
            for file in data.measured_files()
        }
        told = {"test": item.nodeid, "seconds": round(spent, 4)}
        told |= {"lines": {file: some for file, some in lines.items() if some}}
        whole = json.dumps(told).encode()
        while whole:
            whole = whole[os.write(out, whole) :]

    def tried(
        self,
        mutant: Mutant,
        there: list[FunctionType],
        tests: list[tuple[pytest.Item, float]],
        out: int,
    ) -> None:
        """Put the mutant in its place and run its tests; name each before it runs."""
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, size + ROOM))
        try:
            put(mutant, there)
        except Exception:
            os.write(out, b"unrunnable\n")
            return
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        following = [item for item, _ in tests[1:]]
        for (item, spent), after in zip(tests, [*following, None], strict=True):
            os.write(out, item.nodeid.encode() + b"\n")
            signal.setitimer(signal.ITIMER_PROF, 0.5 + 6 * spent)
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed:
                return
        os.write(out, b"survived\n")


def quiet() -> None:
    """What a child says is not read."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def span(mutant: Mutant) -> range:
    return range(mutant.lines[0], mutant.lines[1] + 1)


def within(tests: list[str], seconds: dict[str, float], budget: float) -> Iterator[str]:
    """The tests that fit the budget of processor time, and at least one."""
    spent = 0.0
    for n, test in enumerate(tests):
        spent += seconds[test]
        if n and spent > budget:
            return
        yield test


def modules(targets: list[str]) -> Iterator[str]:
    """The names of the modules below some folders."""
    for target in targets:
        for file in (ROOT / target).rglob("*.py"):
            if file.name != "__main__.py":
                parts = file.relative_to(ROOT).with_suffix("").parts[1:]
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def alive(targets: list[str]) -> dict[tuple[str, str], list[FunctionType]]:
    """The functions that exist, by file and qualified name: also those behind decorators."""
    found: dict[tuple[str, str], list[FunctionType]] = defaultdict(list)
    roots = tuple(str(ROOT / target) for target in targets)
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename.startswith(roots):
            path = Path(thing.__code__.co_filename).relative_to(ROOT).as_posix()
            found[path, thing.__code__.co_qualname].append(thing)
    return found


def codes(code: CodeType) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from codes(part)


def put(mutant: Mutant, there: list[FunctionType]) -> None:
    """Give the functions that are there the code and the defaults of the mutant."""
    if not there:
        raise LookupError(mutant.function)
    tree = ast.parse(mutant.source())
    node = dict(functions(tree))[mutant.function]
    whole = compile(tree, there[0].__code__.co_filename, "exec", dont_inherit=True)
    new = next(code for code in codes(whole) if code.co_qualname == mutant.function)
    for function in there:
        function.__code__ = new
        space = function.__globals__
        given = [eval(ast.unparse(each), space) for each in node.args.defaults]
        named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        function.__defaults__ = tuple(given) or None
        function.__kwdefaults__ = {
            argument.arg: eval(ast.unparse(default), space)
            for argument, default in named
            if default is not None
        } or None


def read_coverage(known: Path) -> tuple[dict[tuple[str, int], set[str]], dict[str, float]]:
    """The tests by file and line, and the seconds of each test."""
    covered: dict[tuple[str, int], set[str]] = defaultdict(set)
    seconds = {}
    for line in known.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        if "seconds" not in told:  # it failed, was skipped or took too long
            continue
        seconds[told["test"]] = told["seconds"]
        for file, numbers in told["lines"].items():
            for number in numbers:
                covered[file, number].add(told["test"])
    return covered, seconds


def serve(server: Server, tests: Iterable[str], without: Iterable[str]) -> int:
    """Run pytest with the server in the place of its loop over tests."""
    words = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"]
    words += ["-p", "no:benchmark", "--assert=plain", "--tb=native", "--rootdir", str(ROOT)]
    words += [f"--deselect={test}" for test in without]
    return int(pytest.main([*words, *(str(ROOT / test) for test in tests)], plugins=[server]))
