"""Accelerated failure time objectives of boosting libraries, log T = μ(x) + σZ, and the curves they imply."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from ...checks import check_choice
from ...curves import MOST_GRID_POINTS, SurvivalCurves
from ...errors import Message, RequestError, Setting
from ...outcome import Outcome
from .._base import check_has_events
from .._weibull import TIME_ZERO, refuse_time_zero
from ._base import Adapter

if TYPE_CHECKING:
    from ..._typing import FloatArray, TableLike

DISTRIBUTIONS = ("normal", "logistic", "extreme")


class AcceleratedAdapter(Adapter):
    """S(t|x) = P(Z > (log t − μ(x))/σ), with Z normal, logistic or extreme (that is, T is Weibull)."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.longest: float | None = None

    @abstractmethod
    def train(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        """Fit the model of the library; all times are above 0."""

    @abstractmethod
    def locations(self, X: TableLike) -> FloatArray:
        """Return μ(x) of the fitted model: higher is longer life."""

    @abstractmethod
    def distribution(self) -> tuple[str, float]:
        """Return the distribution of Z and σ."""

    def fit(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        check_has_events(y, type(self.model).__name__)
        refuse_time_zero(y, "drop these rows")
        kept = y.time >= TIME_ZERO  # a row censored at time 0 holds no information
        if not kept.all():
            rows = np.flatnonzero(kept)
            X = X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
            y, sample_weight = y[rows], None if sample_weight is None else sample_weight[rows]
        self.train(X, y, sample_weight)
        self.extend_to(float(y.time.max()))

    def extend_to(self, tau: float) -> None:
        self.longest = max(tau, self.longest or 0.0)

    def curves(self, X: TableLike, times: FloatArray | None) -> SurvivalCurves:
        times = self.grid() if times is None else times
        return SurvivalCurves.trusted(times, survival_of(self.locations(X), times, *self.distribution()), "linear")

    def grid(self) -> FloatArray:
        if self.longest is None:
            raise RequestError(
                f"the largest training time of this {type(self.model).__name__} is not known",
                hint=Message("Pass the horizon, ", Setting("tau"), ", to wrap."),
            )
        # the curves bend most near 0: the squares of an even grid are dense there
        return np.asarray(self.longest * np.linspace(0, 1, MOST_GRID_POINTS) ** 2)


def survival_of(location: FloatArray, times: FloatArray, distribution: str, scale: float) -> FloatArray:
    """Return S(t|μ) of an accelerated failure time model, (n, m).

    Examples
    --------
    >>> survival_of(np.zeros(1), np.array([0.0, 1.0]), "extreme", 2.0).round(6)     # exp(-1) at the scale of a Weibull
    array([[1.      , 0.367879]])
    """
    check_choice("distribution", distribution, DISTRIBUTIONS)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        z = np.subtract.outer(-location, -np.log(times)) / scale
        if distribution == "normal":
            return np.asarray(special.ndtr(-z))
        return np.asarray(special.expit(-z) if distribution == "logistic" else np.exp(-np.exp(z)))
