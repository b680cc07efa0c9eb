"""Life cut into phases, each with hazards of its own: what kills early is not what kills late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numba
import numpy as np

from ..models._cox import ridge_path
from ..models._proportional import Baseline, LifeTable, risk_of
from ..outcome import Outcome
from ._explain import add_by_feature

FEWEST_EVENTS = 100  # in each phase
RIDGES = (1000.0, 300.0, 100.0)  # of linear hazards, from the simplest on


@dataclass(frozen=True, eq=False)
class Stretch:
    """`length` years of life, within which S(t|x) = exp(−H₀(t)·e^f(x))."""

    baseline: Baseline
    table: LifeTable
    length: float

    def life(self, log_hazard: np.ndarray) -> np.ndarray:
        """Expected years within the stretch, of those who begin it."""
        return self.table(log_hazard, self.baseline, self.length)

    def survival(self, log_hazard: np.ndarray) -> np.ndarray:
        """The chance to live to its end; all of the baseline's times lie before."""
        whole = self.baseline.hazard[-1] if len(self.baseline.hazard) else 0.0
        return np.exp(-whole * risk_of(log_hazard))


@dataclass(frozen=True, eq=False)
class LinearStretch(Stretch):
    """f(x) = (x − mean)·coef."""

    mean: np.ndarray
    coef: np.ndarray

    @classmethod
    def without_deaths(cls, columns: int, length: float) -> LinearStretch:
        """Everybody lives through it."""
        never = Baseline(np.empty(0), np.empty(0))
        return cls(never, never.life_table(np.zeros(1), length), length, np.zeros(columns), np.zeros(columns))

    def log_hazard(self, X: np.ndarray) -> np.ndarray:
        """f(x), added up column by column: the same to the bit whoever else is asked about, and however X lies."""
        found = np.zeros((1, len(X)))
        add_by_feature(X.T, np.zeros(X.shape[1], dtype=np.int64), self.mean, self.coef, found)
        return found[0]


@dataclass(frozen=True, eq=False)
class LinearHazards:
    """Cox's model phase by phase under a strong ridge: little is believed of rare columns, and the top is steady."""

    phases: tuple[LinearStretch, ...]
    ridge: float

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Years of each row."""
        X = np.asfortranarray(X)  # once for all phases
        return years_of(self.phases, [phase.log_hazard(X) for phase in self.phases])

    def explained(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Years; and what each column adds to them (n, p), and last what all rows share."""
        X = np.asfortranarray(X)
        sums = [phase.log_hazard(X) for phase in self.phases]
        years, typical, costs = costs_of(self.phases, sums, [np.zeros(len(X))] * len(sums))
        total = np.zeros((X.shape[1] + 1, len(X)))
        for phase, cost in zip(self.phases, costs, strict=True):
            _add_products(X.T, phase.mean, phase.coef, cost, total)
        total[-1] = typical
        return years, total.T


def linear_hazards(X: np.ndarray, y: Outcome, edges: np.ndarray) -> list[LinearHazards]:
    """One for each ridge. Numbers count in standard deviations, indicators from 0 to 1: rare ones are shrunk more."""
    spread, reach = X.std(axis=0), np.ptp(X, axis=0)
    two = ((X.min(axis=0) == X) | (X.max(axis=0) == X)).all(axis=0)
    scale = np.where(two, reach, spread)
    scale[~(scale > 0)] = 1.0
    Z = X / scale
    made: list[list[LinearStretch]] = [[] for _ in RIDGES]
    for start, stop in pairwise(edges):
        alive, within = phase_of(y, start, stop)
        if not within.n_events:
            for phases in made:
                phases.append(LinearStretch.without_deaths(X.shape[1], float(stop - start)))
            continue
        path = ridge_path(Z if alive.all() else Z[alive], within, RIDGES, float(stop - start))
        for phases, cox in zip(made, path, strict=True):
            phases.append(LinearStretch(cox._baseline(), cox._table, cox.tau_, cox.mean_ * scale, cox.coef_ / scale))
    return [LinearHazards(tuple(phases), ridge) for phases, ridge in zip(made, RIDGES, strict=True)]


def phase_edges(y: Outcome, tau: float, phases: int) -> np.ndarray:
    """Where life is cut: early phases are short. Two phases: after the first third of the deaths."""
    deaths = y.time[y.event & (y.time <= tau)]
    phases = max(1, min(phases, len(deaths) // (3 * FEWEST_EVENTS)))
    edges = [0.0]
    for cut in np.quantile(deaths, np.arange(1, phases) / (phases + 1)) if phases > 1 else ():
        before, after = np.count_nonzero((deaths > edges[-1]) & (deaths <= cut)), np.count_nonzero(deaths > cut)
        if cut > edges[-1] and min(before, after) >= FEWEST_EVENTS:
            edges.append(float(cut))
    return np.array([*edges, tau])


def phase_of(y: Outcome, start: float, stop: float) -> tuple[np.ndarray, Outcome]:
    """Who begins a phase, and what is seen of them within it, counted from its start."""
    alive = y.time > start
    seen = y[alive]
    return alive, Outcome(np.minimum(seen.time, stop) - start, seen.event & (seen.time <= stop))


def years_of(phases: Sequence[Any], log_hazards: Sequence[np.ndarray]) -> np.ndarray:
    """∫₀^τ S: the life within each phase, of those who reach it."""
    years, alive = np.zeros(len(log_hazards[0])), np.ones(len(log_hazards[0]))
    for phase, log_hazard in zip(phases, log_hazards, strict=True):
        years += alive * phase.life(log_hazard)
        alive = alive * phase.survival(log_hazard)
    return years


def costs_of(
    phases: Sequence[Any], log_hazards: Sequence[np.ndarray], shared: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Years; years at the log hazards that all rows share; and what a unit of each phase's log hazard costs in between.

    One phase after the other becomes the row's.
    """
    scores, costs = list(shared), []
    typical = before = years_of(phases, scores)
    for phase, log_hazard in enumerate(log_hazards):
        moved = log_hazard - scores[phase]
        scores[phase] = log_hazard
        after = years_of(phases, scores)
        with np.errstate(invalid="ignore", divide="ignore"):
            costs.append(np.where(np.abs(moved) > 1e-12, (after - before) / moved, 0.0))
        before = after
    return before, typical, costs


@numba.njit(cache=True, nogil=True)
def _add_products(columns: np.ndarray, mean: np.ndarray, coef: np.ndarray, cost: np.ndarray, out: np.ndarray) -> None:
    """Add (column − mean)·coef·cost to each column's row of `out`."""
    for column in range(len(coef)):
        if coef[column] != 0.0:
            for row in range(len(cost)):
                out[column, row] += (columns[column, row] - mean[column]) * coef[column] * cost[row]
