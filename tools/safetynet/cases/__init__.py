"""The cases: small fixed runs, written with the base's names, that both trees execute."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..record import Record

Case = Callable[[Record, Path], None]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """Register a case under its function's name; it is given a record to fill and an empty folder."""
    CASES[function.__name__] = function
    return function


def load_cases() -> dict[str, Case]:
    """All cases, in the order in which they run."""
    from . import defaults, data, allocation, learning, running, serving  # noqa: F401, I001 (they register themselves in order)

    return CASES
