"""Many pieces of work at once: in this process, in several, or on a Dask cluster.

A piece of work is plain data that can travel, so its result does not depend on where it was done.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol, TypeVar

from lemmax.theory.errors import LemmaxError

CLUSTER_TIMEOUT = 10  # seconds until a scheduler counts as unreachable


class ClusterError(LemmaxError):
    """A scheduler that cannot be reached, or that lost its workers."""


class WorkerLost(LemmaxError):
    """A process that ended in the middle of its work, for want of memory perhaps."""


class Work(Protocol):
    """What can be done elsewhere: data with a method that makes records of it."""

    def prepare(self) -> None:
        """Import what ``run`` needs; called once in every new process."""

    def run(self) -> list[dict[str, Any]]:
        """Do it."""
        ...


W = TypeVar("W", bound=Work)


def checked_workers(workers: int) -> int:
    """A number of processes, or 0 for this one.

    >>> checked_workers(2)
    2
    """
    if workers < 0:
        raise LemmaxError(f"The number of workers cannot be negative, as {workers} is.")
    return workers


def finished(
    tasks: Sequence[W], workers: int, cluster: str | None
) -> Generator[tuple[W, list[dict[str, Any]]], None, None]:
    """The tasks with their records, in the order in which they finish; closing it ends them.

    Parameters
    ----------
    tasks
        Pieces of work.
    workers
        Processes to work in; 0 works in this one.
    cluster
        The address of a Dask scheduler whose workers, which need lemmax, do the work instead.
    """
    if cluster is not None:
        yield from _on_cluster(tasks, cluster)
    elif workers == 0 or not tasks:
        for task in tasks:
            yield task, task.run()
    else:
        yield from _in_processes(tasks, workers)


def _perform(task: Work) -> list[dict[str, Any]]:
    return task.run()


def _in_processes(tasks: Sequence[W], workers: int) -> Iterator[tuple[W, list[dict[str, Any]]]]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(workers, len(tasks)), context, initializer=_begin, initargs=(tasks[0],)
    ) as pool:
        futures = {pool.submit(_perform, task): task for task in tasks}
        whole = False
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
            whole = True
        except BrokenProcessPool:
            raise WorkerLost(
                "A worker process ended unexpectedly; what is recorded is kept, and the same "
                "command continues from there."
            ) from None
        finally:
            processes = [] if whole else list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:  # nobody will take their results: do not wait for them
                process.terminate()


def _begin(task: Work) -> None:
    """Prepare a worker for such tasks, and end with the parent whatever ends that."""
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a worker without a traceback
    threading.Thread(target=follow, daemon=True).start()
    task.prepare()


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the Dask scheduler at an address."""
    try:
        import distributed
    except ModuleNotFoundError:
        raise ClusterError("A cluster needs the package distributed (the extra cluster).") from None
    dask: Any = distributed
    try:
        dask.comm.resolve_address(address)  # a client of a malformed address is slow to give up
        client = dask.Client(address, timeout=CLUSTER_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = type(error).__name__
        raise ClusterError(f"No Dask scheduler answers at {address!r} ({reason}).") from None
    with client:
        yield client


def _on_cluster(tasks: Sequence[W], address: str) -> Iterator[tuple[W, list[dict[str, Any]]]]:
    with connected(address) as client:
        import distributed

        dask: Any = distributed
        futures = {client.submit(_perform, task, pure=False): task for task in tasks}
        by_key = {future.key: task for future, task in futures.items()}
        for future in dask.as_completed(list(futures), loop=client.loop):
            try:
                records = future.result()
            except LemmaxError:
                raise
            except Exception as error:
                raise ClusterError(f"Work failed on the cluster: {error}.") from error
            yield by_key[future.key], records
            future.release()
