"""What donor types and life-years gained share: fresh copies of a ranker, horizons, tables of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from .._frames import as_pandas
from ..models import wrap
from ..outcome import Outcome, as_outcome, resolve_horizon
from ..ranking import _rows as rows


def fresh(ranker: Any, tau: float, seed: int) -> Any:
    """An unfitted copy with the given horizon, and a seed and one thread if it says nothing of them.

    One thread, for there are many small fits. Another library's model is wrapped.
    """
    ranker = rows.fresh(_accepted(ranker), tau, seed)
    unset = rows.params_of(ranker).get("n_jobs", 1) is None
    return ranker.set_params(n_jobs=1) if unset else ranker


def horizon(tau: Any, ranker: Any, y: Outcome | None) -> float:
    """The horizon asked for; else the ranker's; else the largest training time (no y: the ranker is fitted)."""
    own = getattr(ranker, "tau" if y is not None else "tau_", None)
    return resolve_horizon(own if tau is None else tau, y)


def checked_pairs(X: Any, y: Any, who: str) -> tuple[pd.DataFrame, Outcome]:
    """A table with named columns, and its outcomes."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None")
    table = as_pandas(X)
    if table is None:
        raise ValueError("X must be a DataFrame: columns are told by name to be the donor's or the candidate's")
    y = as_outcome(y)
    if len(table) != len(y):
        raise ValueError(f"X has {len(table)} rows and y has {len(y)}: there must be one outcome for each row")
    return table, y


def present(names: Sequence[Any], table: pd.DataFrame, which: str) -> list:
    """Names of columns, all of which the table has."""
    absent = [name for name in names if name not in table]
    if absent:
        raise ValueError(f"{which} names columns that are not in the table: {', '.join(map(str, absent))}")
    return list(names)


def _accepted(ranker: Any) -> Any:
    """Anything that is fitted and predicts; models of other libraries that have an adapter are wrapped."""
    try:
        return wrap(ranker)
    except TypeError:
        if hasattr(ranker, "fit") and hasattr(ranker, "predict"):
            return ranker
        raise
