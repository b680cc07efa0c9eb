"""The Kaplan–Meier estimator: one curve for everybody."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..curves import product_limit
from ..outcome import Outcome
from ._base import SurvivalModel, thinned


class KaplanMeier(SurvivalModel):
    """Kaplan–Meier: S(t) = ∏_{tᵢ ≤ t} (1 − dᵢ/nᵢ), the same for every x (paper, appendix D).

    Its curves are right-continuous steps at the event times.

    Parameters
    ----------
    tau : float, optional
        Horizon of `predict`; None means the largest training time.

    Attributes
    ----------
    times_, survival_ : arrays
        The distinct event times and the curve there.
    tau_ : float
        The horizon in use.

    Examples
    --------
    >>> km = KaplanMeier().fit([[0], [0], [0]], ([1, 0, 1], [1.0, 2.0, 3.0]))
    >>> km.predict_curves([[0]], times=[0.5, 1.0, 3.0]).survival
    array([[1.        , 0.66666667, 0.        ]])
    """

    def __init__(self, tau: float | None = None) -> None:
        self.tau = tau

    def _fit(self, X: np.ndarray, y: Outcome, sample_weight: np.ndarray | None) -> None:
        curve = product_limit(y, sample_weight).curves()
        self.times_, self.survival_ = curve.times, curve.survival[0]
        self._expected_life = float(curve.restricted_mean(self.tau_)[0])

    def _grid(self) -> tuple[np.ndarray, np.ndarray]:
        return thinned(self.times_)

    def _survival(self, X: np.ndarray, times: np.ndarray) -> np.ndarray:
        before = np.searchsorted(self.times_, times, side="right")
        return np.broadcast_to(np.append(1.0, self.survival_)[before], (len(X), len(times)))

    def survival_at(self, X: Any, times: Any, left: bool = False) -> np.ndarray:
        """S(tᵢ), or S(tᵢ⁻): each row at times of its own, (n,) or (n, q), not on a grid."""
        self._checked_new(X)
        return np.append(1.0, self.survival_)[np.searchsorted(self.times_, times, side="left" if left else "right")]

    def _expected(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self._expected_life)
