"""Helpers of the donor-type and life-years-gained rankers: copies of a ranker, horizons, tables of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from .._frames import as_pandas
from ..errors import DataError
from ..models import wrap
from ..outcome import Outcome, as_outcome, resolve_horizon
from ..ranking.cloning import clone_model, get_parameters
from ..text import list_values

if TYPE_CHECKING:
    from .._typing import TableLike
    from ..outcome import OutcomeLike


def clone_ranker(ranker: object, tau: float, seed: int) -> Any:
    """Return an unfitted copy with the given horizon, and a seed and one job where these are not set.

    One job, because there are many small fits. A model of another library is wrapped.
    """
    copy = clone_model(_wrap_foreign(ranker), tau, seed)
    unset = get_parameters(copy).get("n_jobs", 1) is None
    return copy.set_params(n_jobs=1) if unset else copy


def choose_horizon(tau: float | None, ranker: object, y: Outcome | None) -> float:
    """Return tau; else the ranker's horizon; else the largest training time (no y: the ranker is fitted)."""
    own = getattr(ranker, "tau" if y is not None else "tau_", None)
    return resolve_horizon(own if tau is None else tau, y)


def check_pairs(X: TableLike, y: OutcomeLike, estimator: str) -> tuple[pd.DataFrame, Outcome]:
    """Return a table with named columns, and its outcomes."""
    if y is None:
        raise DataError(f"{estimator} requires y to be passed, but the target y is None")
    table = as_pandas(X)
    if table is None:
        raise DataError(
            "X must be a DataFrame: columns of the donor and of the candidate are recognised by their names"
        )
    outcome = as_outcome(y)
    if len(table) != len(outcome):
        raise DataError(f"X has {len(table)} rows and y has {len(outcome)}: there must be one outcome for each row")
    return table, outcome


def check_columns(names: Sequence[str], table: pd.DataFrame, setting: str) -> list[str]:
    """Return names of columns, all of which the table has."""
    absent = [name for name in names if name not in table]
    if absent:
        raise DataError(f"{setting} names columns that are not in the table: {list_values(map(str, absent))}")
    return list(names)


def _wrap_foreign(ranker: object) -> object:
    """Wrap a model of another library, where there is an adapter; others only need `fit` and `predict`."""
    try:
        return wrap(ranker)
    except TypeError:
        if hasattr(ranker, "fit") and hasattr(ranker, "predict"):
            return ranker
        raise
