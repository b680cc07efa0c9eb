"""One formula for what a censored life is worth; EY, IPCW and DR are its special cases.

With Q(u|x) = E[min(T*, τ) | T* > u, x] from the survival curves and G from the censoring curves, for T and δ
restricted to τ,

    Y = (δ·T + (1 − δ)·Q(T|x)) / G(T⁻|x) − Σ_{u<T} Q(u|x)·[1/G(u|x) − 1/G(u⁻|x)]

the sum over the jumps of G strictly before T (for G without jumps, an integral). G ≡ 1 gives EY, Q ≡ 0 gives IPCW. With
both, E[Y|x] = E[min(T*, τ)|x] if either is right.

Where a curve says that nobody is left at u, Q(u|x) is the restricted mean, as in the paper, but never less than u: who
is seen alive at u lives at least so long. Curves of hazard models get there by underflow, below 1e-308. A curve that is
0 from the beginning is a way to say Q ≡ 0, and stays it.
"""

from __future__ import annotations

import numpy as np

from ..curves import SurvivalCurves, row_blocks
from ..outcome import Outcome

FEWEST_CELLS = 512  # of an integral over curves with few knots
NOTHING = 1e-7  # of the horizon: a restricted mean below it is of a curve that is 0 from the beginning


def worth(
    y: Outcome, tau: float, survival: SurvivalCurves | None, censoring: SurvivalCurves | None, floor: float = 0.0
) -> np.ndarray:
    """Y of each row. No survival curves mean Q ≡ 0, no censoring curves G ≡ 1; G is clipped at `floor` once for all."""
    y = y.restrict(tau)
    seen = np.where(y.event, y.time, 0.0)
    if survival is not None:
        seen = np.where(y.event, y.time, _at_least(y.time, survival.mean_life_after(y.time, tau), tau))
    if censoring is None:
        return seen
    reached = np.maximum(censoring.at_own(y.time, left=True), floor)
    with np.errstate(divide="ignore", invalid="ignore"):
        weighted = np.where(seen == 0, 0.0, seen / reached)
    return weighted if survival is None else weighted - _augmentation(y.time, tau, survival, censoring, floor)


def _at_least(u: np.ndarray, Q: np.ndarray, tau: float) -> np.ndarray:
    """Q(u|x), or u where the restricted mean that stands in for it is shorter."""
    return np.where((u > Q) & (NOTHING * tau < Q), np.minimum(u, tau), Q)


def _augmentation(
    time: np.ndarray, tau: float, survival: SurvivalCurves, censoring: SurvivalCurves, floor: float
) -> np.ndarray:
    """Σ_{u<T} Q(u|x)·[1/G(u|x) − 1/G(u⁻|x)], a block of rows at a time."""
    if censoring.interpolation == "step":
        return _sum_over_jumps(time, tau, survival, censoring, floor, censoring.times[censoring.times < tau])
    return _integral(time, tau, survival, censoring, floor)


def _sum_over_jumps(
    time: np.ndarray, tau: float, survival: SurvivalCurves, censoring: SurvivalCurves, floor: float, jumps: np.ndarray
) -> np.ndarray:
    total = np.zeros(len(time))
    if not len(jumps):
        return total
    for rows in row_blocks(len(time), 6 * len(jumps)):
        Q = _at_least(jumps, survival[rows].mean_life_after_each(jumps, tau), tau)
        inverse = _inverse(censoring[rows].at(jumps), floor)
        with np.errstate(invalid="ignore", over="ignore"):  # G = 0 may come up after T, where nothing is added
            terms = Q * np.diff(inverse, axis=1, prepend=1.0)
        total[rows] = np.where(jumps < time[rows, None], terms, 0.0).sum(axis=1)
    return total


def _integral(
    time: np.ndarray, tau: float, survival: SurvivalCurves, censoring: SurvivalCurves, floor: float
) -> np.ndarray:
    """∫₀ᵀ Q d(1/G) for a G that jumps at 0 only: trapezoids between the knots of both curves, cut finer if few.

    Within a cell Q is continuous; where S jumps, its limits from the left and from the right differ.
    """
    grid = _fine(np.unique(np.concatenate([[0.0], survival.times, censoring.times])), tau)
    total = np.empty(len(time))
    for rows in row_blocks(len(time), 9 * len(grid)):
        S, T = survival[rows], time[rows]
        inverse = _inverse(censoring[rows].at(grid), floor)
        after, before = (_at_least(grid, S.mean_life_after_each(grid, tau, left), tau) for left in (False, True))
        with np.errstate(invalid="ignore", over="ignore"):
            cells = 0.5 * (after[:, :-1] + before[:, 1:]) * np.diff(inverse, axis=1)
        total[rows] = np.where(grid[1:] < T[:, None], cells, 0.0).sum(axis=1)
        total[rows] += np.where(T > 0, after[:, 0] * (inverse[:, 0] - 1.0), 0.0)  # who is lost at once, a jump at 0
    # the last, partial cell: from the last grid time before T to T
    start = grid[np.maximum(np.searchsorted(grid, time, side="left") - 1, 0)]
    rise = _inverse(censoring.at_own(time), floor) - _inverse(censoring.at_own(start), floor)
    after = _at_least(start, survival.mean_life_after(start, tau), tau)
    before = _at_least(time, survival.mean_life_after(time, tau, left=True), tau)
    return total + 0.5 * (after + before) * rise


def _fine(knots: np.ndarray, tau: float) -> np.ndarray:
    """Knots below τ and, between them, about as many more as there are too few; and some that are dense near 0."""
    knots = np.append(knots[knots < tau], tau)
    each = -(-FEWEST_CELLS // (len(knots) - 1))
    finer = knots[:-1, None] + np.diff(knots)[:, None] * (np.arange(each) / each)
    early = tau * np.linspace(0, 1, FEWEST_CELLS // 4, endpoint=False) ** 2
    return np.unique(np.concatenate([finer.ravel(), early]))


def _inverse(chance: np.ndarray, floor: float) -> np.ndarray:
    with np.errstate(divide="ignore", over="ignore"):
        return 1.0 / np.maximum(chance, floor)
