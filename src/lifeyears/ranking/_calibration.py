"""Calibration: a strictly increasing map from scores to years, which keeps the order and makes no ties at the top."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray

GROUPS = 20
LEAST_SLOPE = 0.05  # as a share of the slope of the linear fit: the map rises even where the data are flat


@dataclass(frozen=True, eq=False)
class CalibrationMap:
    """A strictly increasing map: linear between knots, and approaching 0 and τ beyond them."""

    scores: FloatArray
    years: FloatArray
    slope: float
    lowest: float
    highest: float
    fitted: bool = True

    def __call__(self, scores: FloatArray) -> FloatArray:
        """Return the years of scores."""
        years = np.asarray(np.interp(scores, self.scores, self.years))
        above, below = scores > self.scores[-1], scores < self.scores[0]
        years[above] = _approach(scores[above] - self.scores[-1], self.years[-1], self.slope, self.highest)
        years[below] = -_approach(self.scores[0] - scores[below], -self.years[0], self.slope, -self.lowest)
        return years

    @classmethod
    def identity(cls, tau: float = np.inf) -> CalibrationMap:
        """Return the map for scores without held-out rows to calibrate with: scores, kept within (0, τ)."""
        if not np.isfinite(tau):
            return cls(np.zeros(1), np.zeros(1), 1.0, -np.inf, np.inf, fitted=False)
        ends = np.array([0.02, 0.98]) * tau
        return cls(ends, ends, 1.0, 0.0, tau, fitted=False)

    @classmethod
    def fit(cls, scores: FloatArray, outcomes: FloatArray, tau: float) -> CalibrationMap:
        """Fit an isotonic regression to mean outcomes of groups of similar score, within (0, τ), with a least slope.

        Equal scores stay in one group. With rows for fewer than five groups it is a linear fit.
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
        return cls(x, _keep_within(y, tau), slope, 0.0, tau)


def _keep_within(years: FloatArray, tau: float) -> FloatArray:
    """Return knots strictly within (0, τ), in the same order: those beyond or near the ends move into the last 2%."""
    edge = 0.02 * tau
    inside = np.clip(years, edge, tau - edge)
    beyond = years - inside
    return np.asarray(inside + np.sign(beyond) * _approach(np.abs(beyond), 0.0, 1.0, 0.5 * edge))


def _approach(distance: FloatArray, start: float, slope: float, limit: float) -> FloatArray:
    """Rise from `start` with `slope`, less and less steeply, towards `limit`, without reaching it."""
    if not np.isfinite(limit):
        return start + slope * distance
    room = limit - start
    return start + room * (distance * slope) / (room + distance * slope)
