"""Calibration: predicted against observed survival."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ..checks import check_whole
from ..curves import SurvivalCurves, product_limit
from ..outcome import Outcome, as_outcome
from ._brier import survival_at

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from .._typing import FloatArray, IntArray
    from ..outcome import OutcomeLike


@dataclass(frozen=True, eq=False)
class Calibration:
    """Predicted and observed survival at one time, by groups of similar prediction.

    Attributes
    ----------
    time : float
    predicted, observed, low, high : arrays, one value per group
        Mean prediction; Kaplan–Meier within the group with its 95% interval (NaN where the group's follow-up ends
        before the time).
    count : array of int
        Subjects in each group.
    """

    time: float
    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    count: IntArray

    @property
    def error(self) -> float:
        """Mean distance between predicted and observed, weighted by the size of the groups."""
        known = ~np.isnan(self.observed)
        if not known.any():
            return float("nan")
        return float(np.average(np.abs(self.predicted - self.observed)[known], weights=self.count[known]))

    def to_frame(self) -> pd.DataFrame:
        """Return a table, one row per group."""
        import pandas as pd

        names = ("predicted", "observed", "low", "high", "count")
        return pd.DataFrame({name: getattr(self, name) for name in names})

    def _repr_html_(self) -> str:
        from .._views import html_table

        return html_table(self.to_frame())

    def plot(self, ax: Axes | None = None, label: str | None = None) -> Axes:
        """Draw observed against predicted with intervals, and the diagonal; return the axes."""
        from .._views import Chart, Series, draw

        x, y, low, high = (getattr(self, name).tolist() for name in ("predicted", "observed", "low", "high"))
        series = Series(label or "", x, y, low, high, kind="line", colour=0 if ax is None else len(ax.containers))
        x_label, y_label = f"predicted survival to {self.time:g}", "observed (Kaplan–Meier)"
        ax = draw(Chart("", x_label, y_label, (series,), diagonal=True), ax)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        return ax


def calibration(y: OutcomeLike, survival: SurvivalCurves | ArrayLike, time: float, n_bins: int = 10) -> Calibration:
    """Compare predicted survival at a time with what was observed, in groups of similar prediction.

    Parameters
    ----------
    y : Outcome or what `lifeyears.as_outcome` reads
    survival : SurvivalCurves or array of S(time|x), shape (n,)
    time : float
    n_bins : int, default 10
        Groups of about equal size; fewer where predictions are tied.

    Returns
    -------
    Calibration
        With `.plot()` and `.to_frame()`.

    Examples
    --------
    >>> c = calibration(([1, 1, 1, 1], [1.0, 3.0, 1.0, 3.0]), [0.4, 0.4, 0.6, 0.6], time=2.0, n_bins=2)
    >>> c.predicted, c.observed
    (array([0.4, 0.6]), array([0.5, 0.5]))
    """
    y = as_outcome(y)
    check_whole("n_bins", n_bins, low=1)
    predicted = survival_at(survival, np.array([float(time)]), len(y))[:, 0]
    edges = np.unique(np.quantile(predicted, np.linspace(0, 1, n_bins + 1)))
    group = np.clip(np.searchsorted(edges, predicted, side="right") - 1, 0, max(len(edges) - 2, 0))
    rows = [np.flatnonzero(group == g) for g in np.unique(group)]
    observed = np.array([_observed(y[members], float(time)) for members in rows])
    return Calibration(
        time=float(time),
        predicted=np.array([predicted[members].mean() for members in rows]),
        observed=observed[:, 0],
        low=observed[:, 1],
        high=observed[:, 2],
        count=np.array([len(members) for members in rows]),
    )


def _observed(y: Outcome, time: float) -> tuple[float, float, float]:
    """Kaplan–Meier at a time with its 95% interval on the log(−log) scale."""
    if time > y.time.max() and not y.event[y.time == y.time.max()].all():
        return np.nan, np.nan, np.nan
    curve = product_limit(y)
    steps = np.searchsorted(curve.times, time, side="right")
    if not steps:  # nobody died: the rule of three bounds what n such subjects leave open
        return 1.0, float(max(0.0, 1 - 3 / np.count_nonzero(y.time >= time))) if (y.time >= time).any() else 0.0, 1.0
    survival = curve.survival[steps - 1]
    if survival == 0:  # all are dead: the same rule, the other way round
        return 0.0, 0.0, float(min(1.0, 3 / np.count_nonzero(y.event & (y.time <= time))))
    spread = stats.norm.ppf(0.975) * np.sqrt(curve.greenwood()[steps - 1]) / abs(np.log(survival))
    return float(survival), float(survival ** np.exp(spread)), float(survival ** np.exp(-spread))
