"""Settings of LightGBM: the shape of a tree, and the course of boosting."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...checks import check_number, check_whole

SMALLEST_SHARE = 1e-9


@dataclass(frozen=True)
class TreeSettings:
    """The shape of boosted trees, by LightGBM's names; the defaults are those of the paper's Table A1.

    Parameters
    ----------
    num_leaves : int, default 31
        Largest number of leaves of a tree.
    max_depth : int, default -1
        Largest depth of a tree; -1 means no limit.
    max_bin : int, default 255
        Largest number of bins into which the values of a column are put.
    min_child_samples : int or None, default 40
        Smallest number of rows of a leaf; None means 100, or a fortieth of the rows where that is less, at least 5.
    subsample : float, default 0.8
        Share of the rows that each tree is grown on.
    colsample_bytree : float, default 0.8
        Share of the columns that each tree may split.

    Examples
    --------
    >>> TreeSettings(num_leaves=15).num_leaves
    15
    >>> TreeSettings(min_child_samples=None).resolve(n_rows=1000).min_child_samples
    25
    """

    num_leaves: int = 31
    max_depth: int = -1
    max_bin: int = 255
    min_child_samples: int | None = 40
    subsample: float = 0.8
    colsample_bytree: float = 0.8

    def check(self) -> None:
        """Refuse values that a setting cannot have."""
        check_whole("num_leaves", self.num_leaves, 2)
        check_whole("max_depth", self.max_depth, -1)
        check_whole("max_bin", self.max_bin, 2)
        if self.min_child_samples is not None:
            check_whole("min_child_samples", self.min_child_samples, 1)
        check_number("subsample", self.subsample, SMALLEST_SHARE, 1)
        check_number("colsample_bytree", self.colsample_bytree, SMALLEST_SHARE, 1)

    def resolve(self, n_rows: int) -> TreeSettings:
        """Return the settings for a cohort of so many rows: with 100 rows per leaf, small data have no split."""
        if self.min_child_samples is not None:
            return self
        return replace(self, min_child_samples=max(5, min(100, n_rows // 40)))


SHALLOW_TREES = TreeSettings(
    num_leaves=4, max_depth=2, max_bin=63, min_child_samples=None, subsample=0.6, colsample_bytree=0.4
)
"""Trees of the stacked ranker's members (docs/method.md)."""


@dataclass(frozen=True)
class BoosterSettings:
    """All settings of a booster.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of rounds.
    learning_rate : float, default 0.05
    trees : TreeSettings
    early_stopping_rounds : int, default 0
        Stop when the loss of held-out rows has not decreased for this many rounds; 0 means never.
    """

    n_estimators: int = 100
    learning_rate: float = 0.05
    trees: TreeSettings = TreeSettings()
    early_stopping_rounds: int = 0

    def __post_init__(self) -> None:
        check_whole("n_estimators", self.n_estimators, 1)
        check_number("learning_rate", self.learning_rate, SMALLEST_SHARE)
        check_whole("early_stopping_rounds", self.early_stopping_rounds, 0)
        self.trees.check()
