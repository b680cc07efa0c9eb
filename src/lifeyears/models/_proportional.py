"""What proportional-hazards models share: S(t|x) = exp(−H₀(t)·e^η)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from .._kernels import each_row_times
from ..curves import row_blocks
from ._base import SurvivalModel, thinned
from ._exponential import exp_minus_outer
from ._partial_likelihood import RiskSets

LARGEST_EXPONENT = 500.0  # e^η beyond this is the same curve, and would overflow
TABLE_SIZE = 512
LARGEST_STEP = 0.05  # between nodes of η; cubic interpolation is then good to about 1e-7 years


@dataclass(frozen=True, eq=False)
class Baseline:
    """A cumulative baseline hazard H₀, a right-continuous step at each event time."""

    times: np.ndarray
    hazard: np.ndarray

    def __post_init__(self) -> None:
        if np.shape(self.times) != np.shape(self.hazard):  # compiled loops do not check
            raise ValueError(f"{len(self.times)} times of a baseline hazard and {len(self.hazard)} values")

    @classmethod
    def breslow(cls, sets: RiskSets, eta: np.ndarray) -> Baseline:
        """Breslow's: Σ d/Σ w·e^η over those at risk, for η of the sorted rows, shifted so that nothing overflows."""
        with np.errstate(under="ignore", over="ignore"):
            hazard = sets.breslow_hazard(sets.weight * np.exp(eta - eta.max())) * np.exp(-eta.max())
        return cls(sets.times, hazard)

    def survival(self, eta: np.ndarray, times: np.ndarray) -> np.ndarray:
        """S(t|η) = exp(−H₀(t)·e^η), (n, m)."""
        hazard = np.append(0.0, self.hazard)[np.searchsorted(self.times, times, side="right")]
        survival = np.empty((len(eta), len(times)))
        exp_minus_outer(risk_of(eta), hazard, survival)
        return survival

    def expected_life(self, eta: np.ndarray, tau: float) -> np.ndarray:
        """∫₀^τ S(t|η) dt, over at most 4,096 steps of H₀."""
        times, reached = thinned(self.times, 4096)
        hazard = self.hazard[np.searchsorted(self.times, reached)]
        return Baseline(times, hazard)._integral(eta, tau)[0]

    def life_table(self, eta: np.ndarray, tau: float) -> LifeTable:
        """Expected life as a function of η over the range seen in training, for fast look-up."""
        low, high = np.quantile(eta, [0.001, 0.999])
        low, high = max(low - 1.0, low - LARGEST_STEP * TABLE_SIZE), min(high + 1.0, low + LARGEST_STEP * TABLE_SIZE)
        nodes = np.linspace(low, high, TABLE_SIZE)
        return LifeTable(nodes, *self._integral(nodes, tau))

    def _integral(self, eta: np.ndarray, tau: float) -> tuple[np.ndarray, np.ndarray]:
        """∫₀^τ S and its derivative by η, −∫₀^τ S·H₀·e^η."""
        t = np.minimum(np.append(self.times, tau), tau)
        widths = np.diff(t)
        risk = risk_of(eta)
        life, slope = np.empty(len(eta)), np.empty(len(eta))
        for block in row_blocks(len(eta), len(widths)):
            survival = np.empty((len(risk[block]), len(widths)))
            exp_minus_outer(risk[block], self.hazard, survival)
            life[block] = t[0] + each_row_times(survival, widths)
            slope[block] = -risk[block] * each_row_times(survival, self.hazard * widths)
        return life, slope


@dataclass(frozen=True, eq=False)
class LifeTable:
    """Expected life E[min(T*, τ)|η] at nodes of η, with its slope.

    With one hazard step a day the integral over thousands of steps for each subject is slow; as expected life
    depends on x through η alone, cubic interpolation between exact values and slopes gives it to about 1e-7.
    """

    eta: np.ndarray
    life: np.ndarray
    slope: np.ndarray

    def __post_init__(self) -> None:
        if not np.shape(self.eta) == np.shape(self.life) == np.shape(self.slope) or len(self.eta) < 2:
            raise ValueError("the nodes of a table of expected life and its values do not fit together")

    def __call__(self, eta: np.ndarray, baseline: Baseline, tau: float) -> np.ndarray:
        """Look η up; beyond the nodes, integrate."""
        life = np.empty(len(eta))
        if _look_up(np.ascontiguousarray(eta), self.eta, self.life, self.slope, tau, life):
            beyond = np.isnan(life)
            life[beyond] = np.clip(baseline.expected_life(eta[beyond], tau), 0.0, tau)
        return life


@numba.njit(cache=True, nogil=True)
def _look_up(
    x: np.ndarray, nodes: np.ndarray, value: np.ndarray, slope: np.ndarray, highest: float, out: np.ndarray
) -> int:
    """Cubic Hermite interpolation between nodes that lie evenly (but for rounding), cut at 0 and at the highest.

    NaN beyond the nodes; returned is for how many.
    """
    width = nodes[1:] - nodes[:-1]
    rise = (value[1:] - value[:-1]) / width
    bend = (slope[:-1] + slope[1:] - 2 * rise) / width
    square, cube = (rise - slope[:-1]) / width - bend, bend / width
    last, each, beyond = len(width) - 1, len(width) / (nodes[-1] - nodes[0]), 0
    for i in range(len(x)):
        if not nodes[0] <= x[i] <= nodes[-1]:
            out[i] = np.nan
            beyond += 1
            continue
        j = min(int((x[i] - nodes[0]) * each), last)
        if x[i] < nodes[j]:
            j -= 1
        elif j < last and x[i] >= nodes[j + 1]:
            j += 1
        step = x[i] - nodes[j]
        found = value[j] + slope[j] * step + square[j] * step * step + cube[j] * step * step * step
        out[i] = min(max(found, 0.0), highest)
    return beyond


class ProportionalHazards(SurvivalModel):
    """A model with S(t|x) = exp(−H₀(t)·e^η(x)); it defines `_eta` and keeps its baseline with `_keep_baseline`."""

    def _eta(self, X: np.ndarray) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} does not define its linear predictor")

    def _keep_baseline(self, baseline: Baseline, eta: np.ndarray) -> None:
        """Keep H₀, and a table of expected life over the η of the training rows."""
        self.baseline_times_, self.baseline_hazard_ = baseline.times, baseline.hazard
        self._table = baseline.life_table(eta, self.tau_)

    def _baseline(self) -> Baseline:
        return Baseline(self.baseline_times_, self.baseline_hazard_)

    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        return thinned(self.baseline_times_)

    def _survival(self, X: np.ndarray, times: np.ndarray) -> np.ndarray:
        return self._baseline().survival(self._eta(X), times)

    def survival_at(self, X: Any, times: Any, left: bool = False) -> np.ndarray:
        """S(tᵢ|xᵢ), or S(tᵢ⁻|xᵢ): each row at times of its own, (n,) or (n, q), not on a grid."""
        risk = risk_of(self._eta(self._checked_new(X)))
        before = np.searchsorted(self.baseline_times_, times, side="left" if left else "right")
        return np.exp(-np.append(0.0, self.baseline_hazard_)[before] * risk.reshape(-1, *[1] * (np.ndim(times) - 1)))

    def _expected(self, X: np.ndarray) -> np.ndarray:
        return self._table(self._eta(X), self._baseline(), self.tau_)


def risk_of(eta: np.ndarray) -> np.ndarray:
    return np.exp(np.clip(eta, -LARGEST_EXPONENT, LARGEST_EXPONENT))
