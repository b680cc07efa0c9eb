"""One thread per job: the same result on any machine, and no oversubscription when jobs run side by side."""

from __future__ import annotations

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
