"""What donor types and life-years gained share: fresh copies of a ranker, horizons, tables of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from ..data._frames import as_pandas
from ..models import wrap
from ..models._base import is_number
from ..outcome import Outcome, as_outcome


def fresh(ranker: Any, tau: float, seed: int) -> Any:
    """An unfitted copy with the given horizon, and a seed and one thread if it says nothing of them.

    One thread, for there are many small fits. Another library's model is wrapped.
    """
    ranker = clone(_accepted(ranker), safe=False)
    settings = ranker.get_params() if hasattr(ranker, "get_params") else {}
    chosen: dict[str, Any] = {"tau": tau} if "tau" in settings else {}
    for name, value in (("random_state", seed), ("n_jobs", 1)):
        if settings.get(name, value) is None:
            chosen[name] = value
    return ranker.set_params(**chosen) if chosen else ranker


def horizon(tau: Any, ranker: Any, y: Outcome | None) -> float:
    """The horizon asked for; else the ranker's; else the largest training time (no y: the ranker is fitted)."""
    if tau is None:
        tau = getattr(ranker, "tau", None) if y is not None else getattr(ranker, "tau_", None)
    if tau is None and y is not None:
        tau = float(y.time.max())
    if not is_number(tau) or not 0 < tau < np.inf:
        raise ValueError(f"tau must be a positive, finite time; got {tau!r}")
    return float(tau)


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
