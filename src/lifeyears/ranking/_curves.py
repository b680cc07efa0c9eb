"""Survival curves that go with a ranker's years."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..curves import MOST_GRID_POINTS, SurvivalCurves, row_blocks

STEPS = 40


def bent_to(
    base: Callable[[np.ndarray, Any], SurvivalCurves], X: np.ndarray, years: np.ndarray, tau: float, times: Any
) -> SurvivalCurves:
    """S(t|x)^c(x), with c(x) such that its mean life within the horizon is what the ranker says.

    The base model gives the shape, the ranker the level: hazards of the base are multiplied by c(x). c(x) is found on
    the base model's own grid, whatever times are asked for.
    """
    parts = []
    for rows in row_blocks(len(X), 4 * MOST_GRID_POINTS):
        own = base(X[rows], None)
        before, weights = own._quadrature(tau)
        log_power = _solve(np.log(np.maximum(own.survival, 1e-300)), years[rows] - before, weights)
        parts.append(_raised(own if times is None else base(X[rows], times), np.exp(log_power)))
    survival = np.concatenate([part.survival for part in parts])
    return SurvivalCurves.trusted(parts[0].times, survival, parts[0].interpolation)


def _raised(curves: SurvivalCurves, power: np.ndarray) -> SurvivalCurves:
    with np.errstate(divide="ignore"):  # 0 stays 0
        survival = np.exp(np.log(curves.survival) * power[:, None])
    return SurvivalCurves.trusted(curves.times, survival, curves.interpolation)


def _solve(log_survival: np.ndarray, area: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Log c with Σ weights·S^c = area, by bisection: the area falls as c grows."""
    low, high = np.full(len(area), -12.0), np.full(len(area), 6.0)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        larger = np.exp(log_survival * np.exp(middle)[:, None]) @ weights > area
        low, high = np.where(larger, middle, low), np.where(larger, high, middle)
    return 0.5 * (low + high)
