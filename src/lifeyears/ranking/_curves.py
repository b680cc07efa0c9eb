"""Survival curves whose restricted means are the years that a ranker predicts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .._typing import FloatArray
from ..curves import MOST_GRID_POINTS, SurvivalCurves, row_blocks

STEPS = 40


def rescale_curves(
    predict_curves: Callable[[FloatArray, ArrayLike | None], SurvivalCurves],
    X: FloatArray,
    years: FloatArray,
    tau: float,
    times: ArrayLike | None,
) -> SurvivalCurves:
    """Return S(t|x)^c(x), with c(x) such that the restricted mean of each curve is the given number of years.

    The base model gives the shape, the ranker the level: hazards of the base are multiplied by c(x). c(x) is computed
    on the base model's own grid, whatever times are asked for.
    """
    parts = []
    for rows in row_blocks(len(X), 4 * MOST_GRID_POINTS):
        own = predict_curves(X[rows], None)
        before, weights = own._quadrature(tau)
        log_factor = _solve(np.log(np.maximum(own.survival, 1e-300)), years[rows] - before, weights)
        curves = own if times is None else predict_curves(X[rows], times)
        parts.append(_multiply_hazards(curves, np.exp(log_factor)))
    survival = np.concatenate([part.survival for part in parts])
    return SurvivalCurves.trusted(parts[0].times, survival, parts[0].interpolation)


def _multiply_hazards(curves: SurvivalCurves, factor: FloatArray) -> SurvivalCurves:
    with np.errstate(divide="ignore"):  # 0 stays 0
        survival = np.exp(np.log(curves.survival) * factor[:, None])
    return SurvivalCurves.trusted(curves.times, survival, curves.interpolation)


def _solve(log_survival: FloatArray, area: FloatArray, weights: FloatArray) -> FloatArray:
    """Return log c with Σ weights·S^c = area, by bisection: the area decreases in c."""
    low, high = np.full(len(area), -12.0), np.full(len(area), 6.0)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        larger = np.exp(log_survival * np.exp(middle)[:, None]) @ weights > area
        low, high = np.where(larger, middle, low), np.where(larger, high, middle)
    return np.asarray(0.5 * (low + high))
