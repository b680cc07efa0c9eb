"""The fit of the paper's ranker: labels, one model of them, and its calibration on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._typing import BoolArray, FloatArray, IntArray
from ...folds import draw_folds, draw_validation_split
from ...models import SurvivalModel
from ...outcome import Outcome
from .._calibration import CalibrationMap
from .._fit import FEWEST_TO_CALIBRATE, HeldOutRows, RankerFit, finish_fit
from .._labelling import Labelling
from .._network import YearsNetwork, train_network
from .._shared import SharedWork
from ..labels import PseudoLabels
from ..loss import HybridLoss, HybridObjective
from ..trees import BoosterSettings, YearsTrees, bin_columns, train_booster

LABEL_FOLDS = 5


@dataclass(frozen=True)
class HybridShape:
    """The hybrid loss: weight of the squared error, margin of the hinge, and size of the query groups."""

    alpha: float
    margin: float
    group_size: int

    @property
    def values(self) -> tuple[float, float, int]:
        """The three, in the order in which losses take them."""
        return self.alpha, self.margin, self.group_size


@dataclass(eq=False)
class SecondStage:
    """The second stage with its settings, and the notes taken while it is fitted."""

    loss: HybridShape
    booster: BoosterSettings
    network: bool
    validation_fraction: float
    seed: int
    threads: int
    shared: SharedWork = field(default_factory=SharedWork)
    notes: list[str] = field(default_factory=list)

    def fit_outcomes(self, X: FloatArray, y: Outcome, labelling: Labelling, cross_fit_base: bool) -> RankerFit:
        """Fit both stages to observed times and events."""
        base = labelling.make_base().fit(X, y)
        if cross_fit_base:
            splits = draw_folds(y.event, min(LABEL_FOLDS, len(y)), random_state=self.seed)
            labels = labelling.cross_fit_labels(X, y, splits)
        else:
            labels = labelling.label_rows(base, X, y)
        gains = np.clip(labels.values, 0.0, labelling.tau)
        member, held_out = self._fit_member(X, labels.values, gains, y.event)
        outcomes = np.empty(0)
        if len(held_out) >= FEWEST_TO_CALIBRATE:
            # the model of censoring is kept beside its fit: an id is unique while its object lives
            key = ("censoring", self.seed, id(labelling.censoring))
            _, censoring = self.shared.get(lambda: (labelling.censoring, labelling.fit_censoring(X, y)), *key)
            outcomes = labelling.estimate_outcomes(base, censoring, X[held_out], y[held_out]).values
        return self.finish(base, member, labels, X, held_out, outcomes, labelling.tau)

    def fit_relevance(self, X: FloatArray, relevance: FloatArray) -> RankerFit:
        """Fit the second stage alone: relevance is the label."""
        gains = relevance - min(relevance.min(), 0.0)
        member, held_out = self._fit_member(X, relevance, gains, np.ones(len(X), dtype=bool))
        return self.finish(None, member, relevance, X, held_out, relevance[held_out], np.inf)

    def finish(
        self,
        base: SurvivalModel | None,
        member: YearsTrees | YearsNetwork,
        labels: PseudoLabels | FloatArray,
        X: FloatArray,
        rows: IntArray,
        outcomes: FloatArray,
        tau: float,
    ) -> RankerFit:
        """Calibrate on the rows of X that were held out, by their outcomes (none: too few rows)."""
        scores = member.predict(X[rows]) if len(rows) else np.empty(0)
        years = calibrate_halves(scores, outcomes, tau) if isinstance(labels, PseudoLabels) else scores
        held_out = HeldOutRows(rows, scores, outcomes, years)
        return finish_fit(tau, base, {"years": [member]}, {"years": 1.0}, 0.0, labels, held_out, self.notes)

    def _fit_member(
        self, X: FloatArray, labels: FloatArray, gains: FloatArray, event: BoolArray
    ) -> tuple[YearsTrees | YearsNetwork, IntArray]:
        """Fit the model of the labels, stopped early on a validation share; return it with the rows held out."""
        booster, seed, shape = self.booster, self.seed, self.loss.values
        train, held_out = draw_validation_split(event, self.validation_fraction, seed)
        if booster.early_stopping_rounds and not len(held_out):
            self.notes.append("no rows were held out: trained for all rounds, and not calibrated")
        if self.network:
            return train_network(X[train], labels[train], gains[train], *shape, seed), held_out
        centre = float(labels[train].mean())
        key = (seed, booster.trees, self.validation_fraction)
        table = self.shared.get(lambda: bin_columns(X[train], booster, seed), "table", *key)
        objective = HybridObjective(labels[train], *shape, seed, gains[train], self.threads)
        stopping, stopping_table = None, None
        if len(held_out):
            loss = HybridLoss(labels[held_out], *shape, seed, gains[held_out])
            stopping_table = self.shared.get(lambda: table.create_valid(X[held_out]), "held out", *key)

            def stopping(scores: FloatArray) -> float:
                return loss(centre + scores)

        trained = train_booster(
            table, objective, centre, booster, seed, self.threads, held_out=stopping, held_out_table=stopping_table
        )
        rounds = trained.best_iteration or trained.current_iteration()
        return YearsTrees(trained, centre, rounds), held_out


def calibrate_halves(scores: FloatArray, outcomes: FloatArray, tau: float) -> FloatArray:
    """Return the years of held-out rows by a map fitted to the other half of them."""
    if len(outcomes) < FEWEST_TO_CALIBRATE:
        return scores
    years, odd = np.empty(len(scores)), np.arange(len(scores)) % 2 == 1
    for half in (odd, ~odd):
        years[half] = CalibrationMap.fit(scores[~half], outcomes[~half], tau)(scores[half])
    return years
