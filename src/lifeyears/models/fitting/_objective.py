"""Cox's partial likelihood as an objective of gradient boosting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...outcome import Outcome
from ._baseline import Baseline
from ._partial_likelihood import RiskSets

if TYPE_CHECKING:
    from ..._typing import FloatArray


class PartialLikelihoodObjective:
    """Gradient and Hessian of Cox's negative log partial likelihood (Breslow's ties) in the scores, for boosting.

    Parameters
    ----------
    y : Outcome
    sample_weight : array, shape (n,), optional
        How many rows a row stands for: gradients and Hessians are the sums over these.

    Examples
    --------
    >>> import numpy as np
    >>> objective = PartialLikelihoodObjective(Outcome([1.0, 2.0], [True, True]))
    >>> objective(np.zeros(2))            # the first dies with probability 1/2 at time 1, the second surely at time 2
    (array([-0.5,  0.5]), array([0.25, 0.25]))
    """

    def __init__(self, y: Outcome, sample_weight: FloatArray | None = None) -> None:
        self.sets = RiskSets.of(y, sample_weight, "breslow")

    def __call__(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        sets = self.sets
        eta = scores[sets.order]
        each = np.exp(eta - eta.max())  # the risk of one of the rows that a row stands for
        risk = sets.weight * each
        denominator = sets.denominators(risk)
        pull = sets.term_weight / denominator
        first = np.append(0.0, np.cumsum(pull))[sets.group]
        second = np.append(0.0, np.cumsum(pull / denominator))[sets.group]
        gradient, hessian = np.empty(len(eta)), np.empty(len(eta))
        gradient[sets.order] = risk * first - sets.weight * sets.event
        hessian[sets.order] = np.maximum(risk * first - risk * each * second, 1e-9)
        return gradient, hessian

    def estimate_baseline(self, scores: FloatArray) -> Baseline:
        """Return Breslow's cumulative hazard for these scores."""
        return Baseline.breslow(self.sets, scores[self.sets.order])
