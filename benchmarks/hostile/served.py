"""A server that runs commands of lemmax on hostile files, each in a process of its own.

Run as ``python served.py``. A request is one line of JSON: a folder and the words of a command,
which runs there in a forked process. The system stops it at 10 seconds of processor time and at a
gigabyte beyond what the interpreter and its libraries take; a hook of the interpreter notes every
file that is opened elsewhere than in that folder or among the libraries, every program that is
started, every connection, and what a pickle asks for. The answer is one line of JSON.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

SECONDS, BYTES, WALL = 10, 2**30, 100
TRACEBACK = 70  # the status of a process that raised something
ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = (
    *(str(ROOT / room) for room in ("theory", "constructions", "numerics")),
    *{os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, *sys.path) if p and p != "."},
    *("/usr", "/lib", "/proc/meminfo", "/proc/self", "/proc/cpuinfo", "/proc/sys", "/proc/stat"),
    *("/sys", "/dev/null", "/dev/urandom", "/etc/mime.types", "/etc/localtime"),
)
STARTED = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.spawn", "os.fork")
PICKLED = ("nt", "os", "pathlib", "posix", "subprocess", "shutil", "sys")  # numba has its own
USED = "numpy sympy rdflib.plugins.parsers.ntriples rdflib.plugins.parsers.notation3 pyoxigraph"
USED += " safetensors torch sphinx.application myst_parser.sphinx_ext.main furo numba tomlkit"


def imported() -> None:
    """What commands import when they run, before any process is made."""
    names = [f"lemmax.cli.{path.stem}" for path in (ROOT / "numerics/lemmax/cli").glob("*.py")]
    names += ["lemmax.numerics.certifying.certify", "lemmax.constructions.compiler"]
    names += ["lemmax.paper.papers", "lemmax.sphinx.reports", "lemmax.numerics.survey.running"]
    for name in (*names, *USED.split()):
        with contextlib.suppress(ImportError):
            importlib.import_module(name.removesuffix(".__init__"))


def watch(folder: Path, seen: list[str]) -> None:
    """Note what the process does beyond its folder."""
    inside = (os.path.realpath(folder), *LIBRARIES)

    def hook(event: str, given: tuple[object, ...]) -> None:
        if event == "open" and isinstance(given[0], (str, bytes)):
            path = os.path.realpath(os.fsdecode(given[0]))
            if not any(path == base or path.startswith(f"{base}/") for base in inside):
                seen.append(f"opened {path}")
        elif event in STARTED or event.startswith(("socket.connect", "socket.getaddr")):
            seen.append(f"{event} {given!r:.200}")
        elif event == "pickle.find_class" and str(given[0]).partition(".")[0] in PICKLED:
            seen.append(f"pickle asked for {given[0]}.{given[1]}")

    sys.addaudithook(hook)


def limited() -> None:
    """At most so much time and memory; the libraries have their addresses already."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(WALL)  # one that waits, for a pipe that nobody writes to


def child(folder: Path, words: list[str], out: int) -> None:
    """Run the command as the program does; one line of JSON says how it ended."""
    from lemmax.cli import main

    seen: list[str] = []
    os.chdir(folder)
    os.environ["HOME"] = str(folder)
    tempfile.tempdir = str(folder)
    output, errors, status = io.StringIO(), io.StringIO(), 0
    limited()
    watch(folder, seen)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            main(words)
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except BaseException:
            status = TRACEBACK
            traceback.print_exc()
    told = {
        "status": status,
        "output": output.getvalue()[-20_000:],
        "errors": errors.getvalue()[-20_000:],
        "seen": seen[:10],
    }
    with open(out, "w", encoding="utf-8") as stream:
        json.dump(told, stream)


def serve() -> None:
    """Answer until there are no more requests."""
    imported()
    import typer.main

    import lemmax.cli

    built: Any = typer.main.get_command(lemmax.cli.app)
    lemmax.cli.app = built  # once for all processes
    gc.collect()
    gc.freeze()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        folder, words = json.loads(line)
        inside, out = os.pipe()
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            os.close(inside)
            os.setsid()
            child(Path(folder), words, out)
            os._exit(0)
        os.close(out)
        with open(inside, encoding="utf-8") as stream:
            text = stream.read()
        _, status, used = os.wait4(pid, 0)
        told = json.loads(text) if text else {"output": "", "errors": "", "seen": []}
        told.setdefault("status", os.waitstatus_to_exitcode(status) or TRACEBACK)
        told["seconds"] = round(used.ru_utime + used.ru_stime, 2)
        told["waited"] = round(time.monotonic() - began, 2)
        told["megabytes"] = used.ru_maxrss // 1024
        print(json.dumps(told), file=answers, flush=True)


if __name__ == "__main__":
    serve()
