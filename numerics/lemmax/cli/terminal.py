"""What every command prints with: the console, what takes long, and the bar of a long run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Annotated

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.status import Status

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


_STEERING = {n: f"\\x{n:02x}" for n in (*range(32), *range(127, 160)) if n not in (9, 10)}


def visible(text: str) -> str:
    r"""A text in which letters that would steer a terminal are spelled out.

    >>> visible("a\x1b[2J")
    'a\\x1b[2J'
    """
    return text.translate(_STEERING)


class _Plain(Console):
    """A console on which what was read from a file can be seen and do nothing else."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def console() -> Console:
    """Colours and widths of the terminal on stdout; plain text elsewhere."""
    plain = not sys.stdout.isatty()
    return _Plain(highlight=False, soft_wrap=plain, width=160 if plain else None)


def say(sentence: str) -> None:
    """One line on stderr beside the result, in whatever letters the terminal has."""
    typer.echo(visible(sentence), err=True)


def working(what: str) -> Status:
    """Say on a terminal what takes so long; say nothing elsewhere."""
    return Status(what, console=Console(stderr=True))


@contextlib.contextmanager
def stopwatch(
    what: str, seconds: float | None = None, err: Console | None = None
) -> Iterator[None]:
    """On a terminal, how long something has taken, and how much of its time is left."""
    from rich import progress
    from rich.table import Column
    from rich.text import Text

    class Time(progress.ProgressColumn):
        max_refresh = 0.5

        def render(self, task: progress.Task) -> Text:
            elapsed = round(task.elapsed or 0)
            left = "" if seconds is None else f", at most {max(0, round(seconds) - elapsed)} s left"
            return Text(f"{elapsed} s{left}: {what}", "cyan")

    err = Console(stderr=True) if err is None else err
    line = Time(table_column=Column(no_wrap=True, overflow="ellipsis"))  # cut where it says what
    with progress.Progress(
        progress.SpinnerColumn(), line, console=err, transient=True, disable=not err.is_terminal
    ) as bar:
        bar.add_task(what, total=None)
        yield


@contextlib.contextmanager
def continued(how: str) -> Iterator[None]:
    """Say after Ctrl-C how the run goes on; the status is that of an interrupted program."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"\nlemmax: interrupted. {how}")
        raise typer.Exit(130) from None


@contextlib.contextmanager
def progress_bar(unit: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with how much is done of how much; it shows a bar and the time left."""
    from rich import progress

    columns = (
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn(unit),
        progress.TimeElapsedColumn(),
        progress.TextColumn("elapsed,"),
        progress.TimeRemainingColumn(),
        progress.TextColumn("left"),
    )
    bar = progress.Progress(*columns, console=Console(stderr=True))

    def tell(done: int, total: int) -> None:
        if not bar.task_ids:  # what was done before does not count for the speed
            bar.add_task(unit, total=total, completed=done)
            bar.start()
        bar.update(bar.task_ids[0], completed=done)

    try:
        yield tell
    finally:
        if bar.task_ids:
            bar.stop()
