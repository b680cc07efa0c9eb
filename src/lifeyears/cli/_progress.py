"""Progress of long work: a bar with the time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def unit_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function to be told (done, total)."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(what)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(what, total=None)

        def told(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield told


class _Lines:
    """One line a unit, with the time left."""

    def __init__(self, what: str) -> None:
        self.what, self.start = what, time.monotonic()
        self.first: int | None = None

    def __call__(self, done: int, total: int) -> None:
        if self.first is None:
            self.first = done
        fresh = done - self.first
        left = ""
        if fresh and done < total:
            seconds = (time.monotonic() - self.start) / fresh * (total - done)
            left = f", about {seconds / 60:.0f} min left" if seconds > 90 else f", about {seconds:.0f} s left"
        print(f"{self.what}: {done} of {total} units done{left}", file=sys.stderr, flush=True)
