"""Progress of long work on standard error: a bar with rate and time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..progress import Progress, no_progress
from ._session import current_session

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Task
    from rich.text import Text


@contextmanager
def show_progress(title: str = "") -> Iterator[Progress]:
    """Show the progress of the work in a ``with`` block; nothing with ``--quiet``.

    Parameters
    ----------
    title : str, optional
        What is being worked on, before the name of each step.

    Yields
    ------
    Progress
    """
    if current_session().quiet:
        yield no_progress
        return
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        with _show_bar(title, console) as progress:
            yield progress
    else:
        yield _Lines(title)


@contextmanager
def _show_bar(title: str, console: Console) -> Iterator[Progress]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    class Rate(ProgressColumn):
        """Parts finished per unit of time."""

        def render(self, task: Task) -> Text:
            from rich.text import Text

            return Text(_rate(task.speed))

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title or "beginning", total=None)
        step = ""

        def progress(message: str, done: int | None = None, total: int | None = None) -> None:
            nonlocal step
            if message != step:
                step = message
                bar.reset(task, total=None, description=_join(title, message))
            if done is not None:
                bar.update(task, completed=done, total=total)

        yield progress


class _Lines:
    """One line for each step, and for each part of it that is finished, with the time left."""

    def __init__(self, title: str) -> None:
        self.title, self.step, self.start, self.first = title, "", time.monotonic(), 0

    def __call__(self, message: str, done: int | None = None, total: int | None = None) -> None:
        text = _join(self.title, message)
        if done is not None and total is not None:
            if message != self.step:
                self.step, self.start, self.first = message, time.monotonic(), done
            text += f": {done:,} of {total:,} done{self._time_left(done, total)}"
        print(text, file=sys.stderr, flush=True)

    def _time_left(self, done: int, total: int) -> str:
        finished = done - self.first
        if not finished or done >= total:
            return ""
        seconds = (time.monotonic() - self.start) / finished * (total - done)
        return f", about {seconds / 60:.0f} min left" if seconds > 90 else f", about {seconds:.0f} s left"


def _join(title: str, message: str) -> str:
    return ": ".join(part for part in (title, message) if part)


def _rate(per_second: float | None) -> str:
    """Write a rate in the unit in which it is not a fraction.

    Examples
    --------
    >>> _rate(2.5), _rate(0.1), _rate(0.001), _rate(None)
    ('2.5/s', '6.0/min', '3.6/h', '')
    """
    if not per_second:
        return ""
    for unit, seconds in (("s", 1), ("min", 60)):
        if per_second * seconds >= 1:
            return f"{per_second * seconds:.1f}/{unit}"
    return f"{per_second * 3600:.1f}/h"
