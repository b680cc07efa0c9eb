"""Survival curves that go with a ranker's years."""

from __future__ import annotations

import numpy as np

from ..curves import SurvivalCurves, row_blocks

STEPS = 40


def bent_to(curves: SurvivalCurves, years: np.ndarray, tau: float) -> SurvivalCurves:
    """S(t|x)^c(x), with c(x) such that its mean life within the horizon is what the ranker says.

    The base model gives the shape, the ranker the level: hazards of the base are multiplied by c(x).
    """
    before, weights = curves._quadrature(tau)
    survival = np.empty_like(curves.survival)
    for rows in row_blocks(len(curves), 3 * len(curves.times)):
        log_survival = np.log(np.maximum(curves.survival[rows], 1e-300))
        log_power = _solve(log_survival, years[rows] - before, weights)
        survival[rows] = np.exp(log_survival * np.exp(log_power)[:, None])
        survival[rows][curves.survival[rows] <= 0] = 0.0
    return SurvivalCurves.trusted(curves.times, survival, curves.interpolation)


def _solve(log_survival: np.ndarray, area: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Log c with Σ weights·S^c = area, by bisection: the area falls as c grows."""
    low, high = np.full(len(area), -12.0), np.full(len(area), 6.0)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        larger = np.exp(log_survival * np.exp(middle)[:, None]) @ weights > area
        low, high = np.where(larger, middle, low), np.where(larger, high, middle)
    return 0.5 * (low + high)
