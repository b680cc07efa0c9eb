"""One thread per job: the same result on any machine, and no oversubscription when jobs run side by side."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the linear algebra libraries on one thread within the block.

    Two threads gain little on the small products here, and on a machine with another busy process they can take
    five to thirty times as long.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield


def available_threads(requested: int | None) -> int:
    """Return how many threads to use: those requested (None: one per core), but one inside a worker process."""
    import numba

    if multiprocessing.parent_process() is not None:
        return 1
    return int(numba.config.NUMBA_NUM_THREADS) if requested is None else max(1, requested)
