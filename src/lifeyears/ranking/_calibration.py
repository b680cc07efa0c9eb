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
    low_slope: float
    high_slope: float
    lowest: float
    highest: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Years that belong to scores."""
        years = np.interp(scores, self.scores, self.years)
        above, below = scores > self.scores[-1], scores < self.scores[0]
        years[above] = _bend(scores[above] - self.scores[-1], self.years[-1], self.high_slope, self.highest)
        years[below] = -_bend(self.scores[0] - scores[below], -self.years[0], self.low_slope, -self.lowest)
        return years

    @property
    def is_identity(self) -> bool:
        """Whether scores are years already."""
        return len(self.scores) == 1

    @classmethod
    def identity(cls) -> CalibrationMap:
        """For scores that were not calibrated: nothing was held out to do it with."""
        return cls(np.zeros(1), np.zeros(1), 1.0, 1.0, -np.inf, np.inf)

    @classmethod
    def fit(cls, scores: np.ndarray, outcomes: np.ndarray, tau: float) -> CalibrationMap:
        """Isotonic through the mean outcomes of groups of like score, with a least slope, within (0, τ)."""
        from sklearn.isotonic import isotonic_regression

        spread = scores.std()
        slope = max(np.cov(scores, outcomes)[0, 1] / spread**2, 0.0) if spread > 0 else 0.0
        if not spread > 0 or not slope > 0:
            return cls.identity()
        groups = min(GROUPS, max(1, len(scores) // 50))
        order = np.argsort(scores, kind="stable")
        parts = np.array_split(order, groups)
        x = np.array([scores[rows].mean() for rows in parts])
        y = np.array([outcomes[rows].mean() for rows in parts])
        x, first = np.unique(x, return_index=True)
        y = isotonic_regression(y[first], sample_weight=np.array([len(parts[i]) for i in first]))
        least = LEAST_SLOPE * slope * np.diff(x)
        y = y[0] + np.append(0.0, np.cumsum(np.maximum(np.diff(y), least)))
        y += outcomes.mean() - np.average(y, weights=[len(parts[i]) for i in first])
        edge = 1e-3 * tau
        low, high = min(0.0, y[0] - edge), max(tau, y[-1] + edge)
        return cls(x, y, slope, slope, low, high)


def _bend(distance: np.ndarray, start: float, slope: float, limit: float) -> np.ndarray:
    """Rise from `start` with `slope`, less and less steeply, towards `limit`, never reaching it."""
    if not np.isfinite(limit):
        return start + slope * distance
    room = limit - start
    return start + room * (distance * slope) / (room + distance * slope)
