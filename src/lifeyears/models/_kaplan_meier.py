"""The Kaplan–Meier estimator: one curve for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..curves import product_limit, thin_steps
from ..outcome import Outcome
from ._base import SurvivalModel

if TYPE_CHECKING:
    from .._typing import FloatArray, TableLike


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

    def _fit(self, X: FloatArray, y: Outcome, sample_weight: FloatArray | None) -> None:
        curve = product_limit(y, sample_weight).curves()
        self.times_, self.survival_ = curve.times, curve.survival[0]
        self._expected_life = float(curve.restricted_mean(self.tau_)[0])

    def _grid(self) -> tuple[FloatArray, FloatArray]:
        return thin_steps(self.times_)

    def _survival(self, X: FloatArray, times: FloatArray) -> FloatArray:
        before = np.searchsorted(self.times_, times, side="right")
        return np.broadcast_to(np.append(1.0, self.survival_)[before], (len(X), len(times)))

    def survival_at(self, X: TableLike, times: ArrayLike, left: bool = False) -> FloatArray:
        """Return S(tᵢ), or S(tᵢ⁻): each row at times of its own, (n,) or (n, q), not on a grid."""
        self._check_new(X)
        before = np.searchsorted(self.times_, times, side="left" if left else "right")
        survival: FloatArray = np.append(1.0, self.survival_)[before]
        return survival

    def _expected(self, X: FloatArray) -> FloatArray:
        return np.full(len(X), self._expected_life)
