"""The default world under the US policy beside the published figures of 2022."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from ._config import Config
from ._result import Simulation
from ._simulate import Progress, as_config, simulate, untold

WITHIN = 15.0  # per cent
LISTED_IN_4 = ("status when listed", "status 4")


@dataclass(frozen=True)
class Figure:
    """A published figure, and which number of a simulation stands beside it.

    Attributes
    ----------
    words : str
        What it is called.
    measure : str
        Of the whole list, of `level`, or, where `by_status`, the status that transplants per 100 patient-years are of.
    published, source : float, str
    level : (grouping, level) or None
    by_status : bool
    share : bool
        Published in per cent, while the simulation has a share.
    promised : bool
        Whether the simulation must come near it; the others are only shown.
    """

    words: str
    measure: str
    published: float
    source: str
    level: tuple[str, str] | None = None
    by_status: bool = False
    share: bool = False
    promised: bool = True

    def beside(self, result: Simulation) -> dict[str, Any]:
        """The figure and the simulated one: a row of the table."""
        found = self._simulated(result)
        difference = 100 * (found["value"] / self.published - 1)
        return {
            "figure": self.words,
            "simulated": found["value"],
            "low": found["low"],
            "high": found["high"],
            "published": self.published,
            "difference": difference,
            "within": abs(difference) <= WITHIN,
            "promised": self.promised,
            "source": self.source,
        }

    def _simulated(self, result: Simulation) -> pd.Series:
        if self.by_status:
            rate = result.transplants_by_status.loc["us_status", self.measure]
            return pd.Series({"value": rate, "low": float("nan"), "high": float("nan")})
        if self.level is not None:
            found = result.by_group.loc[("us_status", *self.level, self.measure)]
        else:
            found = result.table.loc[("us_status", self.measure)]
        return found * (100 if self.share else 1)


FIGURES = (
    Figure("listed a year", "listed_per_year", 4446.0, "new adult listings, 2022"),
    Figure("transplanted a year", "transplants_per_year", 3668.0, "adult transplants, 2022"),
    Figure("waiting", "waiting", 3000.0, "patient-years behind 122.5 transplants per 100, 2022"),
    Figure("deaths per 100 patient-years", "waitlist_deaths_per_100_patient_years", 8.7, "2022"),
    Figure("alive after 1 year, %", "survival_1_year", 90.3, "recipients of 2011–13", share=True),
    Figure("alive after 5 years, %", "survival_5_years", 79.6, "recipients of 2011–13", share=True),
    Figure("taken at the first offer, %", "first_offer_accepted", 32.0, "2007–2017", share=True, promised=False),
    *(
        Figure(f"transplants per 100 patient-years in {status}", status, rate, "2023", by_status=True, promised=False)
        for status, rate in (("status 1", 2226.0), ("status 2", 1088.0))
    ),
    Figure(
        "listed in status 4: days to transplant, median",
        "waiting_days_median",
        67.0,
        "2018–2022",
        level=LISTED_IN_4,
        promised=False,
    ),
    Figure(
        "listed in status 4: transplanted, %",
        "transplanted_of_listed",
        62.0,
        "2018–2022, some of them still waiting",
        level=LISTED_IN_4,
        share=True,
        promised=False,
    ),
)


@dataclass(frozen=True, eq=False, repr=False)
class SteadyState:
    """How near the simulated list comes to the published figures.

    Attributes
    ----------
    table : DataFrame
        One row a figure: `simulated` with its 95% Monte Carlo interval, `published`, `difference` in %, `within` (15%),
        and where the figure is from; the last rows are shown, and not promised.
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
            return f"All promised figures are within {WITHIN:g}% of the published ones."
        return f"Not within {WITHIN:g}% of the published figures: {', '.join(off)}."

    def _repr_html_(self) -> str:
        return f"{self.table.to_html(index=False, float_format='{:.1f}'.format)}<p>{self.verdict}</p>"


def steady_state(
    config: Any = None,
    years: float | None = None,
    replicates: int | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    progress: Progress = untold,
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
    chosen: Config = as_config(config)
    if replicates is None and config is None:
        replicates = 8
    result = simulate(["us_status"], years, replicates, random_state, n_jobs, chosen, progress, dask)
    return SteadyState(pd.DataFrame([figure.beside(result) for figure in FIGURES]), result)
