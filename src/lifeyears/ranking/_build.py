"""Rankers as comparisons and `lifeyears fit` build them: by their key in the catalogue."""

from __future__ import annotations

import inspect
from typing import Any

from .. import catalogue
from ..units import year_in


def build_ranker(
    method: str,
    base: object | None = None,
    *,
    tau: float,
    unit: str,
    random_state: int | None = 0,
    n_jobs: int | None = 1,
) -> Any:
    """Build an unfitted ranker by its key, with a margin of one year in the unit of the data.

    Of `margin`, `random_state` and `n_jobs`, those are passed that the constructor takes. Where the length of the unit
    is not known, a twentieth of the horizon stands for a year.

    Parameters
    ----------
    method : str
        A key of `lifeyears.catalogue.rankers`, such as "bootstrapped" or "stacked".
    base : survival model, optional
        The model to rank by; None means the ranker's default.
    tau : float
        The horizon, in the unit of the data.
    unit : str
        The unit of time of the data, such as "days".
    random_state : int, optional, default 0
        Seed of all random choices.
    n_jobs : int, optional, default 1
        Number of parallel jobs.

    Returns
    -------
    ranker
        With `fit(X, y)` and `predict(X)`.

    Examples
    --------
    >>> build_ranker("bootstrapped", tau=3650.0, unit="days").margin
    365.25
    """
    factory = catalogue.rankers[method].load()
    settings = {"margin": year_in(unit, tau / 20), "random_state": random_state, "n_jobs": n_jobs}
    accepted = inspect.signature(factory).parameters
    every = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in accepted.values())
    return factory(base, tau=tau, **{name: value for name, value in settings.items() if every or name in accepted})
