"""What the two rankers share beyond their members: curves, and the plot of calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from ..curves import SurvivalCurves
from ..errors import UnsupportedModelError
from ._curves import rescale_curves
from ._estimator import RankingEstimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._typing import TableLike


class Ranker(RankingEstimator):
    """A ranker over a base model, calibrated on held-out rows."""

    def predict_curves(self, X: TableLike, times: ArrayLike | None = None) -> SurvivalCurves:
        """Predict survival curves: the base model's, with hazards scaled so that their restricted mean is `predict`.

        Parameters
        ----------
        X : DataFrame or array, shape (n, p)
            As for `predict`.
        times : array, shape (m,), optional
            The grid, increasing, in the unit of the training times; by default that of the base model.

        Returns
        -------
        SurvivalCurves
            ``.survival`` is (n, m).

        Raises
        ------
        UnsupportedModelError
            If the ranker was fitted to relevance, so that there is no base model.
        """
        matrix = self._matrix(X)
        if self.base_ is None:
            raise UnsupportedModelError(
                "the ranker was fitted to relevance: there is no base model to take curves from"
            )
        years = self.calibration_map_(self._sum_parts(matrix))
        return rescale_curves(self.base_.predict_curves, matrix, years, self.tau_, times)

    def plot_calibration(self, ax: Axes | None = None, groups: int = 10) -> Axes:
        """Draw doubly robust years of held-out rows against predicted ones, in groups, with 95% intervals.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default new axes.
        groups : int, default 10
            Number of groups of similar prediction.

        Returns
        -------
        matplotlib axes
        """
        from ._plots import plot_calibration

        check_is_fitted(self)
        return plot_calibration(self.held_out_, self.held_out_outcomes_, ax, groups)
