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

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..curves import SurvivalCurves, row_blocks
from ..outcome import Outcome

if TYPE_CHECKING:
    from .._typing import FloatArray

FEWEST_CELLS = 512  # of an integral over curves with few knots
NOTHING = 1e-7  # of the horizon: a restricted mean below it is of a curve that is 0 from the beginning


class ObservationProbabilities(Protocol):
    """What weighting needs of a censoring distribution: curves, or their values at the rows' own times."""

    def __len__(self) -> int: ...

    def at_own(self, t: FloatArray, left: bool = False) -> FloatArray:
        """Return G of each row at its own time."""

    def at(self, t: float, left: bool = False) -> FloatArray:
        """Return G of each row at one time."""


def estimate_relevance(
    y: Outcome,
    tau: float,
    survival: SurvivalCurves | None,
    censoring: ObservationProbabilities | None,
    floor: float = 0.0,
) -> FloatArray:
    """Estimate Y of each row by the equation above.

    Parameters
    ----------
    y : Outcome
    tau : float
        The horizon.
    survival : SurvivalCurves or None
        S(t|x), one row each; None means Q ≡ 0 (IPCW).
    censoring : SurvivalCurves or None
        G(t|x), one row each; None means G ≡ 1 (EY). For both, whole curves are needed.
    floor : float
        G is clipped at this value, wherever it is used.

    Returns
    -------
    array, shape (n,)
    """
    y = y.restrict(tau)
    life: FloatArray = np.where(y.event, y.time, 0.0)
    if survival is not None:
        life = np.where(y.event, y.time, _at_least(y.time, survival.mean_life_after(y.time, tau), tau))
    if censoring is None:
        return life
    chance = np.maximum(censoring.at_own(y.time, left=True), floor)
    with np.errstate(divide="ignore", invalid="ignore"):
        weighted: FloatArray = np.where(life == 0, 0.0, life / chance)
    if survival is None:
        return weighted
    if not isinstance(censoring, SurvivalCurves):
        raise TypeError("the doubly robust estimate needs whole censoring curves")
    return weighted - _augmentation(y.time, tau, survival, censoring, floor)


def _at_least(u: FloatArray, Q: FloatArray, tau: float) -> FloatArray:
    """Q(u|x), or u where the restricted mean that stands in for it is shorter."""
    return np.where((u > Q) & (NOTHING * tau < Q), np.minimum(u, tau), Q)


def _augmentation(
    time: FloatArray, tau: float, survival: SurvivalCurves, censoring: SurvivalCurves, floor: float
) -> FloatArray:
    """Σ_{u<T} Q(u|x)·[1/G(u|x) − 1/G(u⁻|x)], a block of rows at a time."""
    if censoring.interpolation == "step":
        return _sum_over_jumps(time, tau, survival, censoring, floor, censoring.times[censoring.times < tau])
    return _integral(time, tau, survival, censoring, floor)


def _sum_over_jumps(
    time: FloatArray, tau: float, survival: SurvivalCurves, censoring: SurvivalCurves, floor: float, jumps: FloatArray
) -> FloatArray:
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
    time: FloatArray, tau: float, survival: SurvivalCurves, censoring: SurvivalCurves, floor: float
) -> FloatArray:
    """∫₀ᵀ Q d(1/G) for a G that jumps at 0 only: trapezoids between the knots of both curves, cut finer if few.

    Within a cell Q is continuous; where S jumps, its limits from the left and from the right differ.
    """
    grid = _refine(np.unique(np.concatenate([[0.0], survival.times, censoring.times])), tau)
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
    augmentation: FloatArray = total + 0.5 * (after + before) * rise
    return augmentation


def _refine(knots: FloatArray, tau: float) -> FloatArray:
    """Knots below τ and, between them, about as many more as there are too few; and some that are dense near 0."""
    knots = np.append(knots[knots < tau], tau)
    each = -(-FEWEST_CELLS // (len(knots) - 1))
    finer = knots[:-1, None] + np.diff(knots)[:, None] * (np.arange(each) / each)
    early = tau * np.linspace(0, 1, FEWEST_CELLS // 4, endpoint=False) ** 2
    return np.unique(np.concatenate([finer.ravel(), early]))


def _inverse(chance: FloatArray, floor: float) -> FloatArray:
    with np.errstate(divide="ignore", over="ignore"):
        inverse: FloatArray = 1.0 / np.maximum(chance, floor)
    return inverse
