"""Intermediate results that several fits on the same rows need, computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_T = TypeVar("_T")


class SharedWork:
    """Results by key, computed when first asked for.

    Examples
    --------
    >>> shared = SharedWork()
    >>> shared.get(lambda: "computed", "table", 0), shared.get(lambda: "not computed again", "table", 0)
    ('computed', 'computed')
    """

    def __init__(self) -> None:
        self._results: dict[tuple[Hashable, ...], Any] = {}

    def get(self, make: Callable[[], _T], *key: Hashable) -> _T:
        """Return the result of `make`, or the one that it had under this key before."""
        if key not in self._results:
            self._results[key] = make()
        result: _T = self._results[key]
        return result
