"""How a ranker labels its rows: the base model, the model of censoring, and what is estimated by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from .._typing import FloatArray
from ..curves import SurvivalCurves
from ..folds import Splits
from ..models import Cox, SurvivalModel, wrap
from ..outcome import Outcome
from ..relevance import NUISANCE_RIDGE
from .cloning import clone_model, set_seeds
from .labels import PseudoLabels, compute_pseudo_labels, make_label_estimator


@dataclass(frozen=True, eq=False)
class Labelling:
    """Labels and outcomes of rows, by a base model and a model of censoring.

    Attributes
    ----------
    base, censoring : survival models or None
        Unfitted; None means Cox.
    tau : float
        The horizon.
    label : {"ey", "dr"}
        Expected years by the base model, or doubly robust labels.
    literal : bool
        Whether to use the paper's fallback for expected years where the curve is 0 at the censoring time.
    seed : int
    """

    base: object | None
    censoring: object | None
    tau: float
    label: str
    literal: bool
    seed: int

    @property
    def weighted(self) -> bool:
        """Whether labels need a model of censoring."""
        return self.label == "dr"

    def make_base(self) -> SurvivalModel:
        """Return an unfitted base model."""
        model: SurvivalModel = clone_model(wrap(Cox() if self.base is None else self.base), self.tau, self.seed)
        return model

    def fit_censoring(self, X: FloatArray, y: Outcome) -> SurvivalModel | SurvivalCurves:
        """Fit a model of the censoring times; where nobody is censored, return curves of 1."""
        if y.n_events == len(y):
            return SurvivalCurves.trusted(np.zeros(1), np.ones((1, 1)))
        unfitted = clone(wrap(Cox(alpha=NUISANCE_RIDGE) if self.censoring is None else self.censoring), safe=False)
        model: SurvivalModel = set_seeds(unfitted, self.seed)
        return model.fit(X, y.censoring())

    def compute_labels(
        self, base: SurvivalModel, censoring: SurvivalModel | SurvivalCurves | None, X: FloatArray, y: Outcome
    ) -> PseudoLabels:
        """Compute labels of the requested kind, by fitted models."""
        estimator = make_label_estimator(self.label, base, censoring, self.tau)
        fallback = base if self.literal and self.label == "ey" else None
        return compute_pseudo_labels(estimator.estimate, X, y, self.tau, fallback)

    def estimate_outcomes(
        self, base: SurvivalModel, censoring: SurvivalModel | SurvivalCurves, X: FloatArray, y: Outcome
    ) -> PseudoLabels:
        """Estimate doubly robust outcomes, by which members are chosen, weighted and calibrated."""
        estimator = make_label_estimator("dr", base, censoring, self.tau)
        return compute_pseudo_labels(estimator.estimate, X, y, self.tau)

    def label_rows(self, base: SurvivalModel, X: FloatArray, y: Outcome) -> PseudoLabels:
        """Compute the labels of the rows that the base model was fitted to."""
        return self.compute_labels(base, self.fit_censoring(X, y) if self.weighted else None, X, y)

    def cross_fit_labels(self, X: FloatArray, y: Outcome, splits: Splits) -> PseudoLabels:
        """Compute the labels of each fold by models that were fitted to the others."""
        parts = []
        for train, test in splits:
            censoring = self.fit_censoring(X[train], y[train]) if self.weighted else None
            model = self.make_base().fit(X[train], y[train])
            parts.append(self.compute_labels(model, censoring, X[test], y[test]))
        return join_folds(parts, splits)


def join_folds(parts: Sequence[PseudoLabels], splits: Splits) -> PseudoLabels:
    """Join the labels of the folds, in the order of the rows."""
    values = np.empty(sum(len(test) for _, test in splits))
    for (_, test), part in zip(splits, parts, strict=True):
        values[test] = part.values
    return PseudoLabels.joined(parts, values)
