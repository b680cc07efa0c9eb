"""Words for messages and tables: counts, lists of names, row numbers, and suggestions for a mistyped name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike


def count_noun(count: float, one: str, more: str = "") -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> count_noun(1, "year"), count_noun(2.5, "year"), count_noun(2, "policy", "policies")
    ('1 year', '2.5 years', '2 policies')
    >>> count_noun(1_234_567, "row")
    '1,234,567 rows'
    """
    number = f"{int(count):,}" if count == int(count) else f"{count:,g}"
    return f"{number} {one if count == 1 else more or one + 's'}"


def list_values(values: Iterable[object], most: int = 12) -> str:
    """List the first values with commas between them, and say how many more there are.

    Examples
    --------
    >>> list_values(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    values = list(values)
    shown = ", ".join(value if isinstance(value, str) else repr(value) for value in values[:most])
    return shown + (f" and {len(values) - most:,} more" if len(values) > most else "")


def list_rows(bad: ArrayLike, most: int = 5) -> str:
    """Name the first rows of a mask.

    Examples
    --------
    >>> list_rows([False, True, True]), list_rows([True, True, True], most=2)
    ('rows 1, 2', 'rows 0, 1 and 1 more')
    """
    rows = np.flatnonzero(bad)
    shown = ", ".join(str(row) for row in rows[:most])
    more = f" and {len(rows) - most} more" if len(rows) > most else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{more}"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a question to end a message with, if a known name is close to the one given; else an empty text.

    Examples
    --------
    >>> did_you_mean("evnt", ["time", "event"]), did_you_mean("x", ["time"])
    (" (did you mean 'event'?)", '')
    """
    plain = {known.casefold().strip(): known for known in names}
    close = difflib.get_close_matches(name.casefold().strip(), list(plain), n=1, cutoff=0.7)
    return f" (did you mean {plain[close[0]]!r}?)" if close else ""
