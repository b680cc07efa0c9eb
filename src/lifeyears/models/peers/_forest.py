"""Random survival forests by scikit-survival."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...checks import check_whole
from ...curves import SurvivalCurves, row_blocks, thin_steps
from ...outcome import Outcome
from .._base import SurvivalModel, check_has_events
from ._library import draw_seed, import_library

if TYPE_CHECKING:
    from ..._typing import FloatArray


class RandomSurvivalForest(SurvivalModel):
    """Random survival forest: curves averaged over trees that split by the log-rank test, by scikit-survival.

    Every leaf keeps a curve, so that the memory needed grows with the number of leaves times the number of distinct
    times. Where there are more than `time_points` of these, neighbouring times are merged before the forest is grown.
    Curves are right-continuous steps. One thread per fit. Needs scikit-survival.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of trees.
    min_samples_leaf : int, default 15
        Smallest number of rows in a leaf.
    max_features : {"sqrt", "log2"}, int, float or None, default "sqrt"
        Number or share of the columns tried at each split.
    max_depth : int, optional
    time_points : int, default 64
        Largest number of distinct times.
    tau : float, optional
        Horizon of `predict`; None means the largest training time.
    random_state : int, RandomState or None
        Same seed, same forest.

    Attributes
    ----------
    model_ : sksurv.ensemble.RandomSurvivalForest
    tau_ : float
        The horizon in use.

    References
    ----------
    Ishwaran, Kogalur, Blackstone and Lauer (2008), Random survival forests. Annals of Applied Statistics 2, 841–860.
    """

    requires = ("sksurv",)

    def __init__(
        self,
        n_estimators: int = 100,
        min_samples_leaf: int = 15,
        max_features: str | int | float | None = "sqrt",
        max_depth: int | None = None,
        time_points: int = 64,
        tau: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_depth = max_depth
        self.time_points = time_points
        self.tau = tau
        self.random_state = random_state

    def _fit(self, X: FloatArray, y: Outcome, sample_weight: FloatArray | None) -> None:
        ensemble = import_library("sksurv.ensemble", "RandomSurvivalForest", '"lifeyears[peers]"')
        check_whole("time_points", self.time_points, low=2)
        check_has_events(y, "RandomSurvivalForest")
        model = ensemble.RandomSurvivalForest(
            n_estimators=self.n_estimators,
            min_samples_leaf=self.min_samples_leaf,
            min_samples_split=2 * self.min_samples_leaf,
            max_features=self.max_features,
            max_depth=self.max_depth,
            random_state=draw_seed(self.random_state),
            n_jobs=1,
        )
        merged = merge_times(y, self.time_points)
        self.model_ = model.fit(X, merged.to_structured(), sample_weight=sample_weight)

    def _grid(self) -> tuple[FloatArray, FloatArray]:
        times = np.asarray(self.model_.unique_times_, dtype=float)
        return times, times

    def _survival(self, X: FloatArray, times: FloatArray) -> FloatArray:
        grid = self._grid()[0]
        survival = np.empty((len(X), len(times)))
        for rows in row_blocks(len(X), len(grid)):
            curves = self.model_.predict_survival_function(X[rows], return_array=True)
            survival[rows] = SurvivalCurves(grid, curves).at(times)
        return survival


def merge_times(y: Outcome, most: int) -> Outcome:
    """Merge neighbouring times until there are at most `most` distinct ones; each run becomes the mean of its times.

    Examples
    --------
    >>> merge_times(Outcome([1.0, 2.0, 3.0, 4.0, 9.0], [True, True, False, True, True]), most=3).time
    array([1.5, 1.5, 3.5, 3.5, 9. ])
    """
    distinct = np.unique(y.time)
    merged, last = thin_steps(distinct, most)
    return Outcome(merged[np.searchsorted(last, y.time)], y.event)
