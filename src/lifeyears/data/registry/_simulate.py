"""A simulated heart-transplant registry with known truth."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from ..._typing import FloatArray
from ...checks import check_random_state, check_whole
from ...curves import SurvivalCurves, check_grid
from ...errors import RequestError
from ...outcome import Outcome
from ..dataset import DataReport, Dataset, Truth
from ._features import LAST_YEAR
from ._match import match_pairs
from ._outcome import LEVELS, WORLDS, Levels, RegistryWorld, compute_dropout_rates, compute_lifetimes, find_world
from ._population import DAYS, draw_days, draw_donors, draw_recipients

NOT_PREDICTORS = ["race_ethnicity", "insurance", "region", "centre"]


def simulate_registry(
    n: int = 60_055, world: str = "registry", random_state: int | None = 0, levels: Levels = LEVELS
) -> Dataset:
    """Simulate adult heart transplants in the United States, 1987–2023, with known truth.

    The cohort (size, follow-up, censoring) is calibrated to the paper's, survival by era to published figures, and the
    strength of the signal to the paper's Cox row; nothing else is. Race, insurance, region and centre are in
    `subgroups`, not among the predictors.

    Parameters
    ----------
    n : int, default 60,055
        Transplants.
    world : str, default "registry"
        How life depends on the features; the table is the same in all. "registry": an early and a late phase, linear
        effects and (of equal variance) thresholds and interactions. "proportional": Cox's model is right.
        "interactions": mostly thresholds and interactions. "crossing": hazards cross. "informative_censoring": as
        "registry", but 35% of the patients are lost to follow-up in the last quarter of their life, unless something
        comes before: censoring then depends on T*, there is no G(t|x), and `truth.censoring` raises.
    random_state : int or None
        Same seed, same registry.
    levels : Levels
        Where the hazards lie; leave it alone unless you calibrate to another cohort.

    Returns
    -------
    Dataset
        With `truth`: `truth.lifetime`, `truth.expected(tau)`, `truth.curves(times)`, `truth.censoring(times)`.

    Notes
    -----
    Times are whole days, as years of 365.25 days. Transplants happen at the beginning of a day, the study ends with a
    day; a death counts at the end of its day (rounded up), a loss to follow-up at the end of the last whole day seen
    (rounded down), and nobody is lost on the first day. So no time is 0, none goes beyond the end of the study, and
    no censored time is beyond the true lifetime. Death and loss on the same day is a death if the day was completed:
    at a tie events come before censorings.

    ``truth.censoring(times)`` is the law of the recorded censoring times given the features *and* the exact day of
    the transplant, `entry`: the end of the study is known to the day. X holds the whole year of the transplant only.

    Examples
    --------
    >>> d = simulate_registry(n=500)
    >>> d.X.shape, len(d.categorical), d.truth.expected(20.0).shape
    ((500, 92), 46, (500,))
    """
    rule, n = find_world(world), check_whole("n", n, low=1)
    rng = check_random_state(random_state)
    cut = draw_days(n, levels.tilt, rng)
    year = LAST_YEAR - cut / DAYS
    recipients = draw_recipients(year, rng)
    table = match_pairs(recipients, draw_donors(year, rng, recipients), year)
    law = compute_lifetimes(table, world, levels)
    life = law.draw(rng)
    rates = compute_dropout_rates(table, levels)
    return Dataset(
        X=table.drop(columns=NOT_PREDICTORS),
        y=observe(life, _days_of_loss(life, rates, rule, rng), cut),
        name=world if world == "registry" else f"registry ({world})",
        unit="years",
        source="simulated by lifeyears.data.simulate_registry; no patient is real",
        subgroups=table[NOT_PREDICTORS],
        entry=year,
        report=DataReport(rows_read=n, rows_kept=n),
        time_origin="transplant",
        truth=Truth(life, law, _no_censoring_law if rule.informative else partial(_censoring_curves, cut, rates)),
    )


def observe(life: FloatArray, lost: FloatArray, cut: FloatArray) -> Outcome:
    """Censor lives (in years) at the whole days of loss to follow-up and of the end of the study."""
    death, end = np.maximum(np.ceil(life * DAYS), 1), np.minimum(cut, lost)
    return Outcome(np.minimum(death, end) / DAYS, death <= end)


def _days_of_loss(life: FloatArray, rates: FloatArray, rule: RegistryWorld, rng: np.random.Generator) -> FloatArray:
    """The last whole day before each would be lost to follow-up."""
    lost: FloatArray = 1 + np.floor(rng.standard_exponential(len(life)) / rates * DAYS)
    if rule.informative:
        warned = np.floor(life * rng.uniform(0.75, 1.0, len(life)) * DAYS)
        known = (rng.random(len(life)) < rule.informative) & (warned >= 1)
        lost = np.where(known, warned, lost)
    return lost


def _censoring_curves(cut: FloatArray, rates: FloatArray, times: ArrayLike) -> SurvivalCurves:
    """G(t|x): not yet lost, and the study not yet over, at one time or many; both happen at the end of whole days."""
    grid = check_grid(times)
    days = np.floor(grid * DAYS + 1e-6)
    return SurvivalCurves(grid, np.exp(-np.multiply.outer(rates / DAYS, days)) * (days < cut[:, None]))


def _no_censoring_law(times: ArrayLike) -> SurvivalCurves:
    share = WORLDS["informative_censoring"].informative
    raise RequestError(
        f"in the world informative_censoring {share:.0%} of the patients are lost in the last quarter of their life: "
        "censoring depends on T*, not on x alone, so there is no G(t|x) to give; the other worlds have one"
    )
