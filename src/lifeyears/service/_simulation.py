"""The child process of one simulation: settings from stdin, progress and result as lines of JSON on stdout."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    """Simulate, on one core, a little less urgently than the service."""
    if hasattr(os, "nice"):
        os.nice(5)
    from .._threads import one_thread
    from ..simulation import simulate
    from ._simulations import as_simulated

    settings = json.loads(sys.stdin.readline())
    try:
        with one_thread():
            found = simulate(config=as_simulated(settings), n_jobs=1, progress=_progress)
        _tell(result=found.summary())
    except (ValueError, ArithmeticError) as error:
        _tell(error=str(error))


def _progress(message: str, done: int | None = None, total: int | None = None) -> None:
    _tell(message=message, done=done)


def _tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
