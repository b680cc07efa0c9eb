"""The fit of the stacked ranker: members over folds, their weights, and the calibration of their sum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import numpy as np
from joblib import Parallel, delayed

from ..._threads import one_thread
from ..._typing import FloatArray, IntArray
from ...errors import Message, RequestError, Setting
from ...folds import Splits, draw_folds
from ...models import SurvivalModel
from ...outcome import Outcome
from .._fit import FEWEST_TO_CALIBRATE, HeldOutRows, RankerFit, finish_fit
from .._labelling import Labelling, join_folds
from .._shared import SharedWork
from ..labels import PseudoLabels
from ._members import FoldFit, Member, ModelMember, TrainingRows
from ._weights import MemberWeights, cross_calibrate, fit_weights, is_clearly_worse

Members: TypeAlias = Mapping[str, Member | ModelMember]
_T = TypeVar("_T")

WORTH_A_PROCESS = 5000  # rows: below, starting workers takes longer than the trees


@one_thread()  # the same to the bit in any process
def fit_fold(
    X: FloatArray,
    y: Outcome | None,
    labels: FloatArray,
    gains: FloatArray,
    train: IntArray,
    test: IntArray,
    members: Members,
    tau: float,
    seed: int,
) -> dict[str, FoldFit]:
    """Fit all members of one fold but the base."""
    matrix, new = np.ascontiguousarray(X[train]), np.ascontiguousarray(X[test])
    outcomes = None if y is None else y[train]
    rows = TrainingRows(matrix, outcomes, labels[train], gains[train], tau, seed, len(X), SharedWork())
    return {name: member.fit_stages(rows, new) for name, member in members.items()}


@dataclass(eq=False)
class Stacking:
    """The settings of a fit, and the notes taken on the way."""

    members: Members
    with_base: bool
    folds: int
    tau: float
    seed: int
    threads: int
    verbose: bool
    notes: list[str] = field(default_factory=list)

    def fit_outcomes(self, X: FloatArray, y: Outcome, labelling: Labelling) -> RankerFit:
        """Fit the base model and the members to observed times and events."""
        base = labelling.make_base().fit(X, y)
        if y.n_events < 2 * self.folds:
            self.notes.append(f"{len(y)} rows with {y.n_events} events are too few to learn more than the base model")
            labels, none = labelling.label_rows(base, X, y), HeldOutRows.empty()
            return finish_fit(self.tau, base, {}, {"base": 1.0}, 0.0, labels, none, self.notes)
        splits = draw_folds(y.event, self.folds, random_state=self.seed)
        base_years, outcomes, labels = self._cross_fit_base(X, y, splits, labelling)
        gains = np.clip(labels.values, 0.0, self.tau)
        fits = self._fit_members(self.members, X, y, labels.values, gains, splits)
        fitted = self._fit_weights(fits, splits, base_years if self.with_base else None, outcomes)
        if self.with_base and is_clearly_worse(fitted.held_out, base_years, outcomes):
            fitted = self._fit_weights([{} for _ in splits], splits, base_years, outcomes)
            self.notes.append("on held-out rows the top of the members' list was clearly worse than the base model's")
        return self._finish(base, fitted, fits, labels, outcomes, splits)

    def fit_relevance(self, X: FloatArray, relevance: FloatArray) -> RankerFit:
        """Fit those members that learn from labels: relevance is the label."""
        members = {name: member for name, member in self.members.items() if member.needs_labels}
        if not members:
            raise RequestError(
                "relevance is learned by members that learn from labels, and there is none among the members",
                hint=Message("Add ", Setting("members", "BoostedYears()"), "."),
            )
        gains = relevance - min(relevance.min(), 0.0)
        n_folds = min(self.folds, len(X) // 4)
        if n_folds > 1:
            splits = draw_folds(np.arange(len(X)), n_folds, random_state=self.seed)  # no strata
            fits = self._fit_members(members, X, None, relevance, gains, splits)
            fitted = self._fit_weights(fits, splits, None, relevance)
            return self._finish(None, fitted, fits, relevance, relevance, splits)
        rows = TrainingRows(X, None, relevance, gains, self.tau, self.seed, len(X))
        whole = {name: [member.fit_stages(rows, X[:1]).stages[-1]] for name, member in members.items()}
        weights, none = dict.fromkeys(whole, 1.0 / len(whole)), HeldOutRows.empty()
        return finish_fit(self.tau, None, whole, weights, 0.0, relevance, none, self.notes)

    def _cross_fit_base(
        self, X: FloatArray, y: Outcome, splits: Splits, labelling: Labelling
    ) -> tuple[FloatArray, FloatArray, PseudoLabels]:
        """Return the base model's years, doubly robust outcomes, and pseudo-labels, all of rows left out."""
        years, outcomes = np.empty(len(y)), np.empty(len(y))
        parts = []
        for train, test in self._track(splits, "base model"):
            model, censoring = (
                labelling.make_base().fit(X[train], y[train]),
                labelling.fit_censoring(X[train], y[train]),
            )
            years[test] = model.predict(X[test])
            estimated = labelling.estimate_outcomes(model, censoring, X[test], y[test])
            outcomes[test] = estimated.values
            own = estimated if labelling.weighted else labelling.compute_labels(model, None, X[test], y[test])
            parts.append(own)
        return years, outcomes, join_folds(parts, splits)

    def _fit_members(
        self,
        members: Members,
        X: FloatArray,
        y: Outcome | None,
        labels: FloatArray,
        gains: FloatArray,
        splits: Splits,
    ) -> list[dict[str, FoldFit]]:
        if not members:
            return [{} for _ in splits]
        jobs = (
            delayed(fit_fold)(X, y, labels, gains, train, test, members, self.tau, self.seed + k)
            for k, (train, test) in enumerate(splits)
        )
        # processes, not threads: LightGBM keeps its number of threads in one place for all
        workers = min(self.threads, len(splits)) if len(X) >= WORTH_A_PROCESS else 1
        running = Parallel(n_jobs=workers, return_as="generator")(jobs)
        fits = list(self._track(running, "members", len(splits)))
        n_unconverged = sum(not all(member.converged for member in fold.values()) for fold in fits)
        if n_unconverged:
            note = f"spline hazards: Newton's method did not converge in {n_unconverged} of {len(fits)} folds"
            self.notes.append(note)
        return fits

    def _fit_weights(
        self, fits: list[dict[str, FoldFit]], splits: Splits, base: FloatArray | None, outcomes: FloatArray
    ) -> MemberWeights:
        targets = {name: member.target_weight for name, member in self.members.items()}
        return fit_weights(fits, splits, base, outcomes, targets)

    def _finish(
        self,
        base: SurvivalModel | None,
        fitted: MemberWeights,
        fits: list[dict[str, FoldFit]],
        labels: PseudoLabels | FloatArray,
        outcomes: FloatArray,
        splits: Splits,
    ) -> RankerFit:
        """Keep the members with a positive weight, each at its best stage."""
        weights = {name: weight for name, weight in fitted.weights.items() if weight > 0}
        members = {
            name: [fold[name].stages[stage] for fold in fits] for name, stage in fitted.stage.items() if name in weights
        }
        calibrated = isinstance(labels, PseudoLabels) and len(outcomes) >= FEWEST_TO_CALIBRATE
        years = cross_calibrate(fitted, splits, outcomes, self.tau) if calibrated else fitted.held_out
        held_out = HeldOutRows(np.arange(len(outcomes)), fitted.held_out, outcomes, years)
        return finish_fit(self.tau, base, members, weights, fitted.intercept, labels, held_out, self.notes)

    def _track(self, work: Iterable[_T], step: str, total: int | None = None) -> Iterable[_T]:
        if not self.verbose:
            return work
        from rich.progress import track

        return track(work, description=f"StackedRanker: {step}", total=total)
