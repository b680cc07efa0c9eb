"""The hybrid loss of section 5: α·MSE + (1 − α)·rank over query groups that are redrawn at every round."""

from __future__ import annotations

import numpy as np

from ...metrics import discounts
from ._kernel import Groups, arranged, falling, hybrid_sums, pair_loss, pair_sums


class HybridObjective:
    """Gradient and Hessian of L = α·L_MSE + (1 − α)·L_rank, summed over the groups.

    L_MSE is a mean over the group and L_rank a sum over its pairs, as the paper writes them:
    ``g_i = 2α(f_i − y_i)/|B| + (1 − α)·[Σ_{j: y_j > y_i} − Σ_{j: y_i > y_j}] hinge·|ΔNDCG_ij|``.

    What the paper leaves open is done so: every call draws new groups; they are of nearly equal size, at most
    `group_size`, so that no small last group weighs more than the others; equal scores are ranked in the random order
    of the group.

    Parameters
    ----------
    labels : array, shape (n,)
        Pseudo-labels y*.
    alpha, margin : float
    group_size : int
    random_state : int or Generator
    gains : array, optional
        What stands in ``|ΔNDCG|`` in place of the labels, in their order (labels clipped to [0, τ]).
    threads : int
    precision : type
        Of the sums over pairs; float32 is five times faster, and enough.
    """

    def __init__(
        self,
        labels: np.ndarray,
        alpha: float,
        margin: float,
        group_size: int,
        random_state: int | np.random.Generator = 0,
        gains: np.ndarray | None = None,
        threads: int = 1,
        precision: type = np.float32,
    ) -> None:
        self.labels = np.asarray(labels, dtype=np.float64)
        self.gains: np.ndarray = (self.labels if gains is None else np.asarray(gains)).astype(precision)
        self.alpha, self.margin, self.threads = alpha, margin, threads
        self.rng = np.random.default_rng(random_state)
        self.starts = group_starts(len(labels), group_size)
        sizes = np.diff(self.starts)
        self.groups = Groups.of(self.starts, discounts(int(sizes.max())).astype(precision))
        self.falling_gains = falling(self.gains)  # for every round
        self.bend = np.repeat(2 * alpha / sizes, sizes)  # of the squared error, group by group

    def __call__(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian at these scores, over freshly drawn groups."""
        return self.grouped(scores, self.rng.permutation(len(scores)))

    def grouped(self, scores: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same over given groups: the rows in `order`, cut at `starts`."""
        if np.shape(scores) != self.labels.shape:  # compiled loops do not check their bounds
            raise ValueError(f"there are {len(self.labels)} labels, and scores of shape {np.shape(scores)}")
        rows, push = order, np.zeros(len(order))
        curve = push
        if self.alpha < 1:
            near = (scores - scores.mean()).astype(self.gains.dtype)  # differences count: keep the digits for them
            by_gain = arranged(near, self.gains, order, self.groups, self.falling_gains)
            rows = by_gain.rows
            push, curve = pair_sums(by_gain, self.starts, self.margin, self.threads)
        return hybrid_sums(scores, self.labels, rows, self.bend, push, curve, self.alpha)


class HybridLoss:
    """The loss itself over groups drawn once: what is watched on held-out rows. Parameters as for `HybridObjective`."""

    def __init__(
        self,
        labels: np.ndarray,
        alpha: float,
        margin: float,
        group_size: int,
        random_state: int = 0,
        gains: np.ndarray | None = None,
    ) -> None:
        self.order = np.random.default_rng(random_state).permutation(len(labels))
        self.labels = np.asarray(labels, dtype=float)
        self.gains = self.labels if gains is None else np.asarray(gains, dtype=float)
        self.alpha, self.margin = alpha, margin
        self.starts = group_starts(len(labels), group_size)
        self.groups = Groups.of(self.starts, discounts(int(np.diff(self.starts).max())))
        self.falling_gains = falling(self.gains)

    def __call__(self, scores: np.ndarray) -> float:
        """Mean over the groups of α·MSE + (1 − α)·rank."""
        scores = np.asarray(scores, dtype=float)
        squares = np.add.reduceat(((scores - self.labels) ** 2)[self.order], self.starts[:-1]) / np.diff(self.starts)
        rank = 0.0
        if self.alpha < 1:
            by_gain = arranged(scores, self.gains, self.order, self.groups, self.falling_gains)
            rank = pair_loss(by_gain, self.starts, self.margin)
        return float((self.alpha * squares.sum() + (1 - self.alpha) * rank) / (len(self.starts) - 1))


def group_starts(n: int, group_size: int) -> np.ndarray:
    """Where groups of nearly equal size, at most `group_size`, begin and end."""
    return np.linspace(0, n, -(-n // group_size) + 1).round().astype(np.int64)
