"""One formula for what a censored life is worth; EY, IPCW and DR are its special cases.

With Q(u|x) = E[min(T*, τ) | T* > u, x] from the survival curves and G from the censoring curves, for T and δ
restricted to τ,

    Y = (δ·T + (1 − δ)·Q(T|x)) / G(T⁻|x) − Σ_{u<T} Q(u|x)·[1/G(u|x) − 1/G(u⁻|x)]

the sum over the jumps of G strictly before T (for G without jumps, an integral). G ≡ 1 gives EY, Q ≡ 0 gives IPCW. With
both, E[Y|x] = E[min(T*, τ)|x] if either is right.
"""

from __future__ import annotations

import numpy as np

from ..curves import SurvivalCurves, row_blocks
from ..outcome import Outcome


def worth(
    y: Outcome, tau: float, survival: SurvivalCurves | None, censoring: SurvivalCurves | None, floor: float = 0.0
) -> np.ndarray:
    """Y of each row. No survival curves mean Q ≡ 0, no censoring curves G ≡ 1; G is clipped at `floor` once for all."""
    y = y.restrict(tau)
    seen = np.where(y.event, y.time, 0.0)
    if survival is not None:
        seen = np.where(y.event, y.time, survival.mean_life_after(y.time, tau))
    if censoring is None:
        return seen
    reached = np.maximum(censoring.at_own(y.time, left=True), floor)
    with np.errstate(divide="ignore", invalid="ignore"):
        weighted = np.where(seen == 0, 0.0, seen / reached)
    return weighted if survival is None else weighted - _augmentation(y.time, tau, survival, censoring, floor)


def _augmentation(
    time: np.ndarray, tau: float, survival: SurvivalCurves, censoring: SurvivalCurves, floor: float
) -> np.ndarray:
    """Σ_{u<T} Q(u|x)·[1/G(u|x) − 1/G(u⁻|x)], a block of rows at a time."""
    grid = censoring.times[censoring.times < min(tau, time.max())]
    if not len(grid):
        return (
            np.zeros(len(time))
            if censoring.interpolation == "step"
            else _last_cell(time, tau, survival, censoring, floor)
        )
    total = np.empty(len(time))
    for rows in row_blocks(len(time), 6 * len(grid)):
        S, G = survival[rows], np.maximum(censoring[rows].at(grid), floor)
        Q = S.mean_life_after_each(grid, tau)
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = 1.0 / G
        steps = np.diff(inverse, axis=1, prepend=1.0)
        if censoring.interpolation == "linear":  # trapezoids of Q against 1/G; Q(0) is the restricted mean
            Q = 0.5 * (Q + np.concatenate([S.restricted_mean(tau)[:, None], Q[:, :-1]], axis=1))
        before = grid < time[rows, None]
        total[rows] = np.where(before, Q * steps, 0.0).sum(axis=1)
    if censoring.interpolation == "linear":
        total += _last_cell(time, tau, survival, censoring, floor)
    return total


def _last_cell(
    time: np.ndarray, tau: float, survival: SurvivalCurves, censoring: SurvivalCurves, floor: float
) -> np.ndarray:
    """For G without jumps: the trapezoid from the last grid time before T to T."""
    knots = np.concatenate([[0.0], censoring.times])
    start = knots[np.searchsorted(censoring.times, time, side="left")]
    with np.errstate(divide="ignore"):
        rise = 1 / np.maximum(censoring.at_own(time), floor) - 1 / np.maximum(censoring.at_own(start), floor)
    return 0.5 * (survival.mean_life_after(start, tau) + survival.mean_life_after(time, tau)) * rise
