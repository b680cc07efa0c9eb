"""What proportional-hazards models share: S(t|x) = exp(−H₀(t)·e^η(x))."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..curves import thin_steps
from ._base import SurvivalModel
from .fitting import Baseline, relative_risk

if TYPE_CHECKING:
    from .._typing import FloatArray, TableLike


class ProportionalHazards(SurvivalModel):
    """A model with S(t|x) = exp(−H₀(t)·e^η(x)); it defines `_eta` and keeps its baseline with `_keep_baseline`."""

    def _eta(self, X: FloatArray) -> FloatArray:
        raise TypeError(f"{type(self).__name__} does not define its linear predictor")

    def _keep_baseline(self, baseline: Baseline, eta: FloatArray) -> None:
        """Keep H₀, and a table of expected life over the η of the training rows."""
        self.baseline_times_, self.baseline_hazard_ = baseline.times, baseline.hazard
        self._table = baseline.life_table(eta, self.tau_)

    def _baseline(self) -> Baseline:
        return Baseline(self.baseline_times_, self.baseline_hazard_)

    def _grid(self) -> tuple[FloatArray, FloatArray]:
        return thin_steps(self.baseline_times_)

    def _survival(self, X: FloatArray, times: FloatArray) -> FloatArray:
        return self._baseline().survival(self._eta(X), times)

    def survival_at(self, X: TableLike, times: ArrayLike, left: bool = False) -> FloatArray:
        """Return S(tᵢ|xᵢ), or S(tᵢ⁻|xᵢ): each row at times of its own, (n,) or (n, q), not on a grid."""
        risk = relative_risk(self._eta(self._check_new(X)))
        before = np.searchsorted(self.baseline_times_, times, side="left" if left else "right")
        hazard: FloatArray = np.append(0.0, self.baseline_hazard_)[before]
        survival: FloatArray = np.exp(-hazard * risk.reshape(-1, *[1] * (np.ndim(times) - 1)))
        return survival

    def _expected(self, X: FloatArray) -> FloatArray:
        return self._table(self._eta(X), self._baseline(), self.tau_)
