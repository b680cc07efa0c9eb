"""Progress of long work: one protocol for everything that takes a `progress` argument."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A function that long work calls as it goes on.

    It is called with a message alone when a new step begins, and with counts as parts of the step are finished.
    """

    def __call__(self, message: str, done: int | None = None, total: int | None = None) -> None:
        """Report progress.

        Parameters
        ----------
        message : str
            The step under way, such as "fitting Cox".
        done, total : int, optional
            How many parts of the step are finished, out of how many.
        """


def no_progress(message: str, done: int | None = None, total: int | None = None) -> None:
    """Report nothing: the default."""
