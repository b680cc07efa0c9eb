"""Baseline hazards, and curves and expected life from them: S(t|η) = exp(−H₀(t)·e^η)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numba
import numpy as np

from ..._kernels import each_row_times
from ...curves import row_blocks, thin_steps
from ...errors import DataError
from ._exponential import exp_minus_outer
from ._partial_likelihood import RiskSets

if TYPE_CHECKING:
    from ..._typing import FloatArray

LARGEST_EXPONENT = 500.0  # e^η beyond this is the same curve, and would overflow
TABLE_SIZE = 512
LARGEST_STEP = 0.05  # between nodes of η; cubic interpolation is then good to about 1e-7 years


@dataclass(frozen=True, eq=False)
class Baseline:
    """A cumulative baseline hazard H₀, a right-continuous step at each event time.

    Parameters
    ----------
    times : array, shape (m,)
        Event times, increasing.
    hazard : array, shape (m,)
        H₀ at these times.

    Examples
    --------
    >>> import numpy as np
    >>> baseline = Baseline(np.array([1.0, 2.0]), np.log([2.0, 4.0]))
    >>> baseline.survival(np.zeros(1), np.array([0.5, 1.0, 2.0]))
    array([[1.  , 0.5 , 0.25]])
    >>> baseline.expected_life(np.zeros(1), tau=3.0)               # 1 + 0.5 + 0.25
    array([1.75])
    """

    times: FloatArray
    hazard: FloatArray

    def __post_init__(self) -> None:
        if np.shape(self.times) != np.shape(self.hazard):  # compiled loops do not check
            raise DataError(f"{len(self.times)} times of a baseline hazard and {len(self.hazard)} values")

    @classmethod
    def breslow(cls, sets: RiskSets, eta: FloatArray) -> Baseline:
        """Compute Breslow's estimate, Σ d/Σ w·e^η over those at risk, for η of the sorted rows."""
        with np.errstate(under="ignore", over="ignore"):  # shifted by the largest η, so that nothing overflows
            hazard = sets.breslow_hazard(sets.weight * np.exp(eta - eta.max())) * np.exp(-eta.max())
        return cls(sets.times, hazard)

    def survival(self, eta: FloatArray, times: FloatArray) -> FloatArray:
        """S(t|η) = exp(−H₀(t)·e^η), (n, m)."""
        hazard = np.append(0.0, self.hazard)[np.searchsorted(self.times, times, side="right")]
        survival = np.empty((len(eta), len(times)))
        exp_minus_outer(relative_risk(eta), hazard, survival)
        return survival

    def expected_life(self, eta: FloatArray, tau: float) -> FloatArray:
        """∫₀^τ S(t|η) dt, over at most 4,096 steps of H₀."""
        times, reached = thin_steps(self.times, 4096)
        hazard = self.hazard[np.searchsorted(self.times, reached)]
        return Baseline(times, hazard)._integral(eta, tau)[0]

    def life_table(self, eta: FloatArray, tau: float) -> LifeTable:
        """Tabulate expected life against η over the range of the training rows, for fast look-up."""
        low, high = np.quantile(eta, [0.001, 0.999])
        low, high = max(low - 1.0, low - LARGEST_STEP * TABLE_SIZE), min(high + 1.0, low + LARGEST_STEP * TABLE_SIZE)
        nodes = np.linspace(low, high, TABLE_SIZE)
        return LifeTable(nodes, *self._integral(nodes, tau))

    def _integral(self, eta: FloatArray, tau: float) -> tuple[FloatArray, FloatArray]:
        """∫₀^τ S and its derivative by η, −∫₀^τ S·H₀·e^η."""
        t = np.minimum(np.append(self.times, tau), tau)
        widths = np.diff(t)
        risk = relative_risk(eta)
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

    eta: FloatArray
    life: FloatArray
    slope: FloatArray

    def __post_init__(self) -> None:
        if not np.shape(self.eta) == np.shape(self.life) == np.shape(self.slope) or len(self.eta) < 2:
            raise DataError("the nodes of a table of expected life and its values do not fit together")

    def __call__(self, eta: FloatArray, baseline: Baseline, tau: float) -> FloatArray:
        """Look η up; beyond the nodes, integrate."""
        life = np.empty(len(eta))
        if _look_up(np.ascontiguousarray(eta), self.eta, self.life, self.slope, tau, life):
            beyond = np.isnan(life)
            life[beyond] = np.clip(baseline.expected_life(eta[beyond], tau), 0.0, tau)
        return life


@numba.njit(cache=True, nogil=True)
def _look_up(
    x: FloatArray, nodes: FloatArray, value: FloatArray, slope: FloatArray, highest: float, out: FloatArray
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
        cubic = value[j] + slope[j] * step + square[j] * step * step + cube[j] * step * step * step
        out[i] = min(max(cubic, 0.0), highest)
    return beyond


def relative_risk(eta: FloatArray) -> FloatArray:
    """Return e^η, with η cut where it would overflow."""
    risk: FloatArray = np.exp(np.clip(eta, -LARGEST_EXPONENT, LARGEST_EXPONENT))
    return risk
