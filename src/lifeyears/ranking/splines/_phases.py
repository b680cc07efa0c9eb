"""Life cut into phases, each with hazards of its own: what kills early is not what kills late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...models.fitting import Baseline, LifeTable, relative_risk
from ...outcome import Outcome

FEWEST_EVENTS = 100  # in each phase


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
        return np.exp(-whole * relative_risk(log_hazard))


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
    """Who begins a phase, and what is seen of them within it, counted from its start.

    Who lives on is there until just after its end: a tie with the last deaths would hold all of them together.
    """
    alive = y.time > start if start > 0 else np.ones(len(y), dtype=bool)  # who dies at 0 was there
    seen = y[alive]
    beyond = np.nextafter(stop - start, np.inf)
    return alive, Outcome(np.where(seen.time > stop, beyond, seen.time - start), seen.event & (seen.time <= stop))


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
