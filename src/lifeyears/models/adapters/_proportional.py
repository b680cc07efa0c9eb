"""Models that predict log hazards only: Breslow's estimate supplies the baseline."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...curves import SurvivalCurves
from ...errors import RequestError
from ...outcome import Outcome
from .._base import check_has_events
from ..fitting import Baseline, RiskSets
from ._base import Adapter

if TYPE_CHECKING:
    from ..._typing import FloatArray, TableLike


class ProportionalAdapter(Adapter):
    """S(t|x) = exp(−H₀(t)·e^η(x)): the library gives η, and H₀ is Breslow's estimate over the training rows."""

    needs_baseline = True

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.baseline: Baseline | None = None

    @abstractmethod
    def train(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        """Fit the model of the library."""

    @abstractmethod
    def log_hazards(self, X: TableLike) -> FloatArray:
        """Return η(x) of the fitted model: higher is shorter life."""

    def fit(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None) -> None:
        check_has_events(y, type(self.model).__name__)
        self.train(X, y, sample_weight)
        self.estimate_baseline(X, y, sample_weight)

    def estimate_baseline(self, X: TableLike, y: Outcome, sample_weight: FloatArray | None = None) -> None:
        sets = RiskSets.of(y, sample_weight, "breslow")
        self.baseline = Baseline.breslow(sets, self.log_hazards(X)[sets.order])

    def curves(self, X: TableLike, times: FloatArray | None) -> SurvivalCurves:
        baseline = self._known_baseline()
        times = baseline.times if times is None else times
        return SurvivalCurves.trusted(times, baseline.survival(self.log_hazards(X), times))

    def grid(self) -> FloatArray:
        return self._known_baseline().times

    def is_fitted(self) -> bool:
        return self.baseline is not None

    def _known_baseline(self) -> Baseline:
        if self.baseline is None:
            raise RequestError(f"{type(self.model).__name__} has no baseline hazard")
        return self.baseline


def refuse_weights(library: str, sample_weight: FloatArray | None) -> None:
    """Refuse weights where a library multiplies gradients by them but leaves them out of the risk sets."""
    if sample_weight is not None:
        raise RequestError(
            f"the Cox objective of {library} takes no sample weights: it leaves them out of the risk sets, so that a "
            "weight of 2 would not be the same as the row twice",
            hint="Repeat the rows, or use LightGBM, which takes weights here.",
        )


def signed_ranks(y: Outcome) -> FloatArray:
    """Return labels for libraries that take a time above 0 for an event and below 0 for a censoring.

    The partial likelihood depends on the order of the times alone. Ranks keep it where a library stores labels in
    single precision, and where a time is 0, which has no sign.

    Examples
    --------
    >>> signed_ranks(Outcome([0.0, 7.5, 7.5], [False, True, False]))
    array([-1.,  2., -2.])
    """
    ranks = np.unique(y.time, return_inverse=True)[1] + 1.0
    labels: FloatArray = np.where(y.event, ranks, -ranks)
    return labels
