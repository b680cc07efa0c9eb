"""The hybrid loss of section 5: α·MSE + (1 − α)·rank over query groups that are redrawn at every round."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..._typing import FloatArray, IntArray
from ...errors import RequestError
from ...metrics import discounts
from ._kernel import (
    QueryGroups,
    combine_derivatives,
    compute_derivatives,
    compute_loss,
    sort_descending,
    sort_groups,
)


class HybridObjective:
    """Gradient and Hessian of L = α·L_MSE + (1 − α)·L_rank, summed over the groups.

    L_MSE is a mean over the group and L_rank a sum over its pairs, as the paper writes them:
    ``g_i = 2α(f_i − y_i)/|B| + (1 − α)·[Σ_{j: y_j > y_i} − Σ_{j: y_i > y_j}] hinge·|ΔNDCG_ij|``.

    Three choices that the paper leaves open: every call draws new groups; groups are of nearly equal size, at most
    `group_size`, so that no small last group has more weight than the others; equal scores are ranked in the random
    order of the group.

    Parameters
    ----------
    labels : array, shape (n,)
        Pseudo-labels y*.
    alpha : float
        Weight of the squared error, between 0 and 1.
    margin : float
        Margin of the hinge, in the unit of the labels.
    group_size : int
        Largest size of a query group.
    random_state : int or Generator, default 0
        Seed of the groups.
    gains : array, shape (n,), optional
        Gains in ``|ΔNDCG|``, in the same order as the labels (labels clipped to [0, τ], say). By default the labels.
    threads : int, default 1
        Number of threads; the result does not depend on it.
    precision : type, default float32
        Floating-point type of the sums over pairs. float32 is five times faster, and precise enough.
    """

    def __init__(
        self,
        labels: ArrayLike,
        alpha: float,
        margin: float,
        group_size: int,
        random_state: int | np.random.Generator = 0,
        gains: ArrayLike | None = None,
        threads: int = 1,
        precision: type[np.floating] = np.float32,
    ) -> None:
        self.labels = np.asarray(labels, dtype=np.float64)
        self.gains = (self.labels if gains is None else np.asarray(gains)).astype(precision)
        self.alpha, self.margin, self.threads = alpha, margin, threads
        self.rng = np.random.default_rng(random_state)
        self.starts = cut_groups(len(self.labels), group_size)
        sizes = np.diff(self.starts)
        self.groups = QueryGroups.from_starts(self.starts, discounts(int(sizes.max())).astype(precision))
        self.by_gain = sort_descending(self.gains)  # for every round
        self.bend = np.repeat(2 * alpha / sizes, sizes)  # of the squared error, group by group

    def __call__(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and Hessian at these scores, over freshly drawn groups."""
        return self.differentiate(scores, self.rng.permutation(len(scores)))

    def differentiate(self, scores: FloatArray, order: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient and Hessian over given groups: the rows in `order`, cut at `starts`."""
        if np.shape(scores) != self.labels.shape:  # compiled loops do not check their bounds
            raise RequestError(f"there are {len(self.labels)} labels, and scores of shape {np.shape(scores)}")
        rows, push = order, np.zeros(len(order))
        curve = push
        if self.alpha < 1:
            near = (scores - scores.mean()).astype(self.gains.dtype)  # differences count: keep the digits for them
            in_groups = sort_groups(near, self.gains, order, self.groups, self.by_gain)
            rows = in_groups.rows
            push, curve = compute_derivatives(in_groups, self.starts, self.margin, self.threads)
        gradient, hessian = combine_derivatives(scores, self.labels, rows, self.bend, push, curve, self.alpha)
        return gradient, hessian


class HybridLoss:
    """The loss itself, over groups drawn once: for early stopping. Parameters as for `HybridObjective`."""

    def __init__(
        self,
        labels: ArrayLike,
        alpha: float,
        margin: float,
        group_size: int,
        random_state: int = 0,
        gains: ArrayLike | None = None,
    ) -> None:
        self.labels = np.asarray(labels, dtype=float)
        self.order = np.random.default_rng(random_state).permutation(len(self.labels))
        self.gains = self.labels if gains is None else np.asarray(gains, dtype=float)
        self.alpha, self.margin = alpha, margin
        self.starts = cut_groups(len(self.labels), group_size)
        self.groups = QueryGroups.from_starts(self.starts, discounts(int(np.diff(self.starts).max())))
        self.by_gain = sort_descending(self.gains)

    def __call__(self, scores: ArrayLike) -> float:
        """Return the mean over the groups of α·MSE + (1 − α)·rank."""
        scores = np.asarray(scores, dtype=float)
        squares = np.add.reduceat(((scores - self.labels) ** 2)[self.order], self.starts[:-1]) / np.diff(self.starts)
        rank = 0.0
        if self.alpha < 1:
            in_groups = sort_groups(scores, self.gains, self.order, self.groups, self.by_gain)
            rank = compute_loss(in_groups, self.starts, self.margin)
        return float((self.alpha * squares.sum() + (1 - self.alpha) * rank) / (len(self.starts) - 1))


def cut_groups(n: int, group_size: int) -> IntArray:
    """Return where groups of nearly equal size, at most `group_size`, begin, and where the last ends."""
    return np.linspace(0, n, -(-n // group_size) + 1).round().astype(np.int64)
