"""From scores to years: a strictly increasing map, so that the order stays and the top does not tie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GROUPS = 20
LEAST_SLOPE = 0.05  # of the straight line's slope: where the data say "flat", the map still rises


@dataclass(frozen=True, eq=False)
class CalibrationMap:
    """Straight between knots, and bending towards 0 and τ beyond them; strictly increasing throughout."""

    scores: np.ndarray
    years: np.ndarray
    slope: float
    lowest: float
    highest: float
    fitted: bool = True

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Years that belong to scores."""
        years = np.interp(scores, self.scores, self.years)
        above, below = scores > self.scores[-1], scores < self.scores[0]
        years[above] = _bend(scores[above] - self.scores[-1], self.years[-1], self.slope, self.highest)
        years[below] = -_bend(self.scores[0] - scores[below], -self.years[0], self.slope, -self.lowest)
        return years

    @classmethod
    def identity(cls, tau: float = np.inf) -> CalibrationMap:
        """For scores that nothing was held out to calibrate with: as they are, but bent to stay within (0, τ)."""
        if not np.isfinite(tau):
            return cls(np.zeros(1), np.zeros(1), 1.0, -np.inf, np.inf, fitted=False)
        ends = np.array([0.02, 0.98]) * tau
        return cls(ends, ends, 1.0, 0.0, tau, fitted=False)

    @classmethod
    def fit(cls, scores: np.ndarray, outcomes: np.ndarray, tau: float) -> CalibrationMap:
        """Isotonic through the mean outcomes of groups of like score, with a least slope, within (0, τ).

        Equal scores stay in one group. With fewer than five groups' worth of rows it is a straight line.
        """
        from sklearn.isotonic import isotonic_regression

        values, place, count = np.unique(scores, return_inverse=True, return_counts=True)
        spread = scores.std()
        slope = float(np.cov(scores, outcomes)[0, 1] / spread**2) if spread > 0 else 0.0
        if not slope > 0 or spread <= 1e-9 * np.abs(scores).max():
            return cls.identity(tau)
        groups = min(GROUPS, len(scores) // 50)
        total = np.bincount(place, outcomes)
        # values are put into groups by the middle of their rows
        group = np.minimum((np.cumsum(count) - count / 2) / len(scores) * groups, groups - 1e-9).astype(int)
        if len(np.unique(group)) < 5:
            x = np.array([scores.mean() - spread, scores.mean() + spread])
            y = outcomes.mean() + slope * (x - scores.mean())
        else:
            first = np.flatnonzero(np.diff(group, prepend=-1))
            weight = np.add.reduceat(count, first)
            x = np.add.reduceat(values * count, first) / weight
            y = isotonic_regression(np.add.reduceat(total, first) / weight, sample_weight=weight)
            y = y[0] + np.append(0.0, np.cumsum(np.maximum(np.diff(y), LEAST_SLOPE * slope * np.diff(x))))
            y += outcomes.mean() - np.average(y, weights=weight)
        return cls(x, _squeezed(y, tau), slope, 0.0, tau)


def _squeezed(years: np.ndarray, tau: float) -> np.ndarray:
    """Knots strictly within (0, τ), in their order: those near the ends or beyond are bent into the outermost 2%."""
    edge = 0.02 * tau
    inside = np.clip(years, edge, tau - edge)
    beyond = years - inside
    return inside + np.sign(beyond) * _bend(np.abs(beyond), 0.0, 1.0, 0.5 * edge)


def _bend(distance: np.ndarray, start: float, slope: float, limit: float) -> np.ndarray:
    """Rise from `start` with `slope`, less and less steeply, towards `limit`, never reaching it."""
    if not np.isfinite(limit):
        return start + slope * distance
    room = limit - start
    return start + room * (distance * slope) / (room + distance * slope)
