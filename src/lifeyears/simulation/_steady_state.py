"""The default world under the US policy, compared with the published figures of 2022."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from .._typing import Json
from ..progress import Progress, no_progress
from ._result import Simulation
from ._simulate import ConfigLike, as_config, simulate
from .worlds.heart import PUBLISHED, TOLERANCE, PublishedFigure


@dataclass(frozen=True, eq=False, repr=False)
class SteadyState:
    """How near the simulated list comes to the published figures.

    Attributes
    ----------
    table : DataFrame
        One row per figure: `simulated` with its 95% Monte Carlo interval, `published`, `difference` in %, `within`
        (15%), and where the figure is from; the last rows are shown, and not promised.
    simulation : Simulation
    """

    table: pd.DataFrame
    simulation: Simulation

    @property
    def holds(self) -> bool:
        """Whether every promised figure is within 15%."""
        return bool(self.table.loc[self.table["promised"], "within"].all())

    def __str__(self) -> str:
        return f"{self.table.round(1).to_string(index=False)}\n{self.verdict}"

    __repr__ = __str__

    @property
    def verdict(self) -> str:
        """The table in a sentence."""
        off = self.table.loc[self.table["promised"] & ~self.table["within"], "figure"]
        if off.empty:
            return f"All promised figures are within {TOLERANCE:g}% of the published ones."
        return f"Not within {TOLERANCE:g}% of the published figures: {', '.join(off)}."

    def _repr_html_(self) -> str:
        return f"{self.table.to_html(index=False, float_format='{:.1f}'.format)}<p>{self.verdict}</p>"


def steady_state(
    config: ConfigLike | None = None,
    years: float | None = None,
    replicates: int | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: Progress = no_progress,
    dask: str | None = None,
) -> SteadyState:
    """Run the world under the US policy and put it beside the published figures of the US heart list.

    Parameters
    ----------
    config, years, replicates, random_state, n_jobs, progress, dask
        As in `simulate`; without a configuration, 10 years and 8 replicates.

    Returns
    -------
    SteadyState
        Prints as text; `.table`, `.holds`, `.simulation`.

    Examples
    --------
    >>> check = steady_state({"world": {"scale": 0.02}}, years=1, replicates=2, n_jobs=1)
    >>> len(check.table), check.table["figure"].iloc[1]
    (11, 'transplanted a year')
    """
    settings = as_config(config)
    if replicates is None and config is None:
        replicates = 8
    result = simulate(["us_status"], years, replicates, random_state, n_jobs, settings, progress, dask)
    return SteadyState(pd.DataFrame([_compare(figure, result) for figure in PUBLISHED]), result)


def _compare(figure: PublishedFigure, result: Simulation) -> Json:
    """Return a row of the table: the simulated and the published figure."""
    simulated = _simulated(figure, result)
    difference = 100 * (simulated["value"] / figure.published - 1)
    return {
        "figure": figure.label,
        "simulated": simulated["value"],
        "low": simulated["low"],
        "high": simulated["high"],
        "published": figure.published,
        "difference": difference,
        "within": abs(difference) <= TOLERANCE,
        "promised": figure.promised,
        "source": figure.source,
    }


def _simulated(figure: PublishedFigure, result: Simulation) -> pd.Series:
    """Return the simulated value with its interval, in the unit of the published figure."""
    if figure.by_status:
        rate = result.transplants_by_status.loc["us_status", figure.measure]
        return pd.Series({"value": rate, "low": float("nan"), "high": float("nan")})
    if figure.level is not None:
        row = result.by_group.loc[("us_status", *figure.level, figure.measure)]
    else:
        row = result.table.loc[("us_status", figure.measure)]
    return row * (100 if figure.share else 1)
