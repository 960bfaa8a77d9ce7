"""A server that checks certificates in processes that the system limits.

Run by :mod:`benchmarks.attacks.limited` as ``python -I -S served.py CHECKER SCRATCH``, with the
folder of the checker; it needs nothing but that folder and the standard library. A request is one
line, a JSON list of lengths, then so many bytes: files. All files of a request are checked by one
forked process, by the checker's own command; the system stops it at 60 seconds of processor time
and at a gigabyte of addresses. So a request that is answered as a whole has kept the limits with
every one of its files. The answer is one line of JSON: status, time and the standard error of each
file that was reached, then the status, the time and the largest resident memory of the process.
"""

import gc
import importlib
import json
import os
import resource
import sys
import time
import traceback
import types

LIMITS = {resource.RLIMIT_CPU: 60, resource.RLIMIT_AS: 1_000_000_000}
TRACEBACK = 70  # the status of a process that raised something


def imported(folder: str) -> types.ModuleType:
    """The checker's command, and all of its modules."""
    package = types.ModuleType("served_checker")
    package.__path__ = [folder]
    sys.modules[package.__name__] = package
    for place, _, files in os.walk(folder):
        parts = os.path.relpath(place, folder).split(os.sep)
        prefix = ".".join(["served_checker", *(part for part in parts if part != ".")])
        for file in files:
            if file.endswith(".py") and file not in ("__main__.py", "__init__.py"):
                importlib.import_module(f"{prefix}.{file[:-3]}")
    return importlib.import_module("served_checker.command")


def child(command: types.ModuleType, files: list[bytes], scratch: str, out: int) -> None:
    """Check the files as the program does, one after the other; a line of JSON for each."""
    for kind, most in LIMITS.items():
        resource.setrlimit(kind, (most, most))
    path, errors = os.path.join(scratch, "asked.json"), os.path.join(scratch, "errors")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(errors, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND), 2)
    for file in files:
        with open(path, "wb") as stream:
            stream.write(file)
        os.truncate(errors, 0)
        start, status = time.process_time(), TRACEBACK
        try:
            status = command.main([path])
        except BaseException:
            traceback.print_exc()
        sys.stderr.flush()
        with open(errors, encoding="utf-8", errors="replace") as stream:
            text = stream.read()[-2000:]
        told = {"status": status, "seconds": time.process_time() - start, "error": text}
        os.write(out, json.dumps(told).encode() + b"\n")


def serve(folder: str, scratch: str) -> None:
    command, asked = imported(folder), sys.stdin.buffer
    gc.collect()
    gc.freeze()
    while line := asked.readline():
        files = [asked.read(length) for length in json.loads(line)]
        inside, out = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(inside)
            child(command, files, scratch, out)
            os._exit(0)
        os.close(out)
        with open(inside, "rb") as stream:
            answers = [json.loads(answer) for answer in stream if answer.endswith(b"\n")]
        _, status, used = os.wait4(pid, 0)
        whole = {
            "answers": answers,
            "status": os.waitstatus_to_exitcode(status),
            "seconds": used.ru_utime + used.ru_stime,
            "megabytes": used.ru_maxrss // 1024,
        }
        print(json.dumps(whole), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
