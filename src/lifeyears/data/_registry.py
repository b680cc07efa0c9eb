"""A simulated heart-transplant registry with known truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..curves import SurvivalCurves
from ..outcome import Outcome
from ._dataset import DataReport, Dataset, Truth
from ._registry_features import LAST_YEAR, SUBGROUPS
from ._registry_outcome import LEVELS, WORLDS, Levels, Lifetimes, dropout_rates, lifetimes
from ._registry_population import draw_donors, draw_recipients, draw_years, match

NOT_PREDICTORS = (*(spec.name for spec in SUBGROUPS), "centre")
FOLLOW_UP_STEP = 1 / 365.25  # times are recorded in days


def simulate_registry(
    n: int = 60_055, world: str = "registry", random_state: int | None = 0, levels: Levels = LEVELS
) -> Dataset:
    """Simulate adult heart transplants in the United States, 1987–2023, with known truth.

    The cohort (size, follow-up, censoring) is calibrated to the paper's, and the strength of the signal to its Cox
    row; nothing else is. Race, insurance, region and centre are in `subgroups`, not among the predictors.

    Parameters
    ----------
    n : int, default 60,055
        Transplants.
    world : str, default "registry"
        How life depends on the features; the table is the same in all. "registry": an early and a late phase, linear
        effects and (of equal variance) thresholds and interactions. "proportional": Cox's model is right.
        "interactions": mostly thresholds and interactions. "crossing": hazards cross. "informative_censoring": as
        "registry", but a third of the patients are lost to follow-up shortly before they die.
    random_state : int or None
        Same seed, same registry.

    Returns
    -------
    Dataset
        With `truth`: `truth.lifetime`, `truth.expected(tau)`, `truth.curves(times)`, `truth.censoring(times)`.

    Examples
    --------
    >>> d = simulate_registry(n=500)
    >>> d.X.shape, len(d.categorical), d.truth.expected(20.0).shape
    ((500, 92), 46, (500,))
    """
    if world not in WORLDS:
        raise ValueError(f"there is no world {world!r}; there are {', '.join(WORLDS)}")
    if n < 1:
        raise ValueError(f"n must be at least 1; got {n}")
    rng = np.random.default_rng(random_state)
    year = draw_years(n, levels.tilt, rng)
    recipients = draw_recipients(year, rng)
    table = match(recipients, draw_donors(year, rng, recipients), year, rng)
    law = lifetimes(table, world, levels)
    life = law.draw(rng)
    rates = dropout_rates(table, levels)
    lost = rng.standard_exponential(n) / rates
    if WORLDS[world].informative:
        warned = rng.random(n) < WORLDS[world].informative
        lost = np.where(warned, life * rng.uniform(0.75, 1.0, n), lost)
    end = np.minimum(LAST_YEAR - year, lost)
    # days, rounded up, but never beyond the end of the study
    time = np.minimum(np.ceil(np.minimum(life, end) / FOLLOW_UP_STEP) * FOLLOW_UP_STEP, LAST_YEAR - year)
    return Dataset(
        X=table.drop(columns=list(NOT_PREDICTORS)),
        y=Outcome(time, life <= end),
        name=world if world == "registry" else f"registry ({world})",
        unit="years",
        source="simulated by lifeyears.data.simulate_registry; no patient is real",
        subgroups=table[list(NOT_PREDICTORS)],
        entry=year,
        report=DataReport(rows_read=n, rows_kept=n),
        truth=Truth(life, law, partial(_censoring_curves, LAST_YEAR - year, rates)),
    )


@dataclass(frozen=True, eq=False)
class Population:
    """Where candidates and donors come from, and what becomes of a pair: for simulating allocation.

    Examples
    --------
    >>> people = Population()
    >>> candidates, donors = people.candidates(3, random_state=0), people.donors(3, random_state=1)
    >>> people.lifetimes(people.pairs(candidates, donors)).expected(20.0).shape
    (3,)
    """

    year: float = 2023.0
    world: str = "registry"

    def candidates(self, n: int, random_state: Any = None) -> pd.DataFrame:
        """Waitlist candidates of the year."""
        return draw_recipients(np.full(n, self.year), np.random.default_rng(random_state))

    def donors(self, n: int, random_state: Any = None) -> pd.DataFrame:
        """Donors of the year, drawn without regard to a recipient."""
        return draw_donors(np.full(n, self.year), np.random.default_rng(random_state))

    def pairs(self, candidates: pd.DataFrame, donors: pd.DataFrame, random_state: Any = 0) -> pd.DataFrame:
        """Candidates with donors, row by row: all features of the registry, subgroup columns included."""
        if len(candidates) != len(donors):
            raise ValueError(f"there are {len(candidates)} candidates and {len(donors)} donors; give one donor each")
        year = np.full(len(candidates), self.year)
        return match(candidates, donors, year, np.random.default_rng(random_state))

    def lifetimes(self, pairs: pd.DataFrame) -> Lifetimes:
        """The law of life of each pair after transplant."""
        return lifetimes(pairs, self.world)


def _censoring_curves(cut: np.ndarray, rates: np.ndarray, times: np.ndarray) -> SurvivalCurves:
    """G(t|x): not yet lost, and the study not yet over."""
    times = np.asarray(times, dtype=float)
    return SurvivalCurves(times, np.exp(-np.multiply.outer(rates, times)) * (times < cut[:, None]))
