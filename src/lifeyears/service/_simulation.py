"""The child process of one simulation: settings from stdin, progress and result as lines of JSON on stdout."""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Simulate, on one core, a little less urgently than the service."""
    if hasattr(os, "nice"):
        os.nice(5)
    from .._threads import one_thread
    from ..errors import LifeyearsError, json_terms
    from ..simulation import simulate
    from ._simulations import make_config

    settings = json.loads(sys.stdin.readline())
    try:
        with one_thread():
            simulation = simulate(config=make_config(settings), n_jobs=1, progress=_progress)
        _send(result=simulation.summary())
    except LifeyearsError as error:
        _send(error=error.render(json_terms))
    except ArithmeticError as error:
        _send(error=str(error))


def _progress(message: str, done: int | None = None, total: int | None = None) -> None:
    _send(message=message, done=done)


def _send(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    main()
