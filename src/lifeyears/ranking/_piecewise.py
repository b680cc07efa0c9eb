"""Hazards that are piecewise in time: intervals of follow-up, each with proportional hazards of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import BoolArray, FloatArray
from ..models.fitting import Baseline, LifeTable, relative_risk
from ..outcome import Outcome

FEWEST_EVENTS = 100  # in each interval


@dataclass(frozen=True, eq=False)
class HazardInterval:
    """An interval of `length` units of time within which S(t|x) = exp(−H₀(t)·e^f(x)), counted from its start."""

    baseline: Baseline
    life_table: LifeTable
    length: float

    def expected_life(self, log_hazard: FloatArray) -> FloatArray:
        """Return the expected time within the interval of those who are alive at its start."""
        return self.life_table(log_hazard, self.baseline, self.length)

    def survival(self, log_hazard: FloatArray) -> FloatArray:
        """Return the probability of surviving the interval; all times of the baseline lie within it."""
        whole = self.baseline.hazard[-1] if len(self.baseline.hazard) else 0.0
        return np.asarray(np.exp(-whole * relative_risk(log_hazard)))


def choose_cut_points(y: Outcome, tau: float, n_intervals: int) -> FloatArray:
    """Choose where follow-up is cut, 0 and τ included: early intervals are short.

    Two intervals are cut after the first third of the events. There are fewer intervals than asked for where events
    are too few.
    """
    deaths = y.time[y.event & (y.time <= tau)]
    n_intervals = max(1, min(n_intervals, len(deaths) // (3 * FEWEST_EVENTS)))
    edges = [0.0]
    for cut in np.quantile(deaths, np.arange(1, n_intervals) / (n_intervals + 1)) if n_intervals > 1 else ():
        before, after = np.count_nonzero((deaths > edges[-1]) & (deaths <= cut)), np.count_nonzero(deaths > cut)
        if cut > edges[-1] and min(before, after) >= FEWEST_EVENTS:
            edges.append(float(cut))
    return np.array([*edges, tau])


def restrict_to_interval(y: Outcome, start: float, stop: float) -> tuple[BoolArray, Outcome]:
    """Return who is alive at the start of an interval, and their outcomes within it, counted from its start.

    Those who survive the interval are censored just after its end: a tie with the last events would keep all of them
    in one risk set.
    """
    alive = y.time > start if start > 0 else np.ones(len(y), dtype=bool)  # an event at time 0 is in the first interval
    at_risk = y[alive]
    beyond = np.nextafter(stop - start, np.inf)
    time = np.where(at_risk.time > stop, beyond, at_risk.time - start)
    return alive, Outcome(time, at_risk.event & (at_risk.time <= stop))


def sum_expected_life(intervals: Sequence[HazardInterval], log_hazards: Sequence[FloatArray]) -> FloatArray:
    """Return ∫₀^τ S: the expected time within each interval, weighted by the probability of reaching it."""
    years, alive = np.zeros(len(log_hazards[0])), np.ones(len(log_hazards[0]))
    for interval, log_hazard in zip(intervals, log_hazards, strict=True):
        years += alive * interval.expected_life(log_hazard)
        alive = alive * interval.survival(log_hazard)
    return years


def linearise_expected_life(
    intervals: Sequence[HazardInterval], log_hazards: Sequence[FloatArray], shared: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """Return years, years at the log hazards that all rows share, and the slope between them in each interval.

    The slope of an interval is the change in years for each unit of its log hazard, when the intervals take the row's
    own log hazards one after the other.
    """
    scores, slopes = list(shared), []
    typical = before = sum_expected_life(intervals, scores)
    for number, log_hazard in enumerate(log_hazards):
        change = log_hazard - scores[number]
        scores[number] = log_hazard
        after = sum_expected_life(intervals, scores)
        with np.errstate(invalid="ignore", divide="ignore"):
            slopes.append(np.where(np.abs(change) > 1e-12, (after - before) / change, 0.0))
        before = after
    return before, typical, slopes
