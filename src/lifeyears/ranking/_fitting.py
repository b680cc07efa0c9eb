"""The fit of a ranker: once, as in the paper, or as members over folds; to outcomes or to relevance."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from .._typing import BoolArray, FloatArray, IntArray
from ..curves import SurvivalCurves
from ..errors import Message, RequestError, Setting
from ..folds import Splits, draw_folds, draw_validation_split
from ..metrics import compare, policy_value
from ..models import Cox, SurvivalModel, wrap
from ..outcome import Outcome
from ..relevance import NUISANCE_RIDGE
from ._calibration import CalibrationMap
from ._ensemble import FoldFit, MemberWeights, cross_calibrate, fit_fold, fit_weights
from ._network import YearsNetwork, train_network
from ._report import RankerReport
from ._rows import scatter_values
from ._settings import Settings
from .cloning import clone_model, set_seeds
from .labels import PseudoLabels, compute_pseudo_labels, make_label_estimator
from .loss import HybridLoss, HybridObjective
from .splines import SplineHazards
from .trees import HazardTrees, YearsTrees, bin_columns, train_booster

Member: TypeAlias = YearsTrees | HazardTrees | SplineHazards | YearsNetwork
Shared: TypeAlias = dict[tuple[Hashable, ...], Any]
_T = TypeVar("_T")

WAITLIST = 256
LABEL_FOLDS = 5
FEWEST_TO_CALIBRATE = 50
WORTH_A_PROCESS = 5000  # rows: below, starting workers takes longer than the trees


@dataclass(frozen=True, eq=False)
class RankerFit:
    """A fitted ranker, without its preprocessor: a weighted sum of members, and a calibration map."""

    base: SurvivalModel | None
    members: dict[str, list[Member]]
    weights: dict[str, float]
    intercept: float
    calibration: CalibrationMap
    labels: FloatArray
    held_out: FloatArray | None
    held_out_outcomes: FloatArray | None
    report: RankerReport


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows that members were not fitted to: scores, outcomes, and years by a map that was not fitted to them either.

    Without outcomes nothing is calibrated.
    """

    rows: IntArray
    scores: FloatArray
    outcomes: FloatArray
    years: FloatArray

    @classmethod
    def empty(cls) -> HeldOutRows:
        """Return no rows."""
        return cls(np.empty(0, int), np.empty(0), np.empty(0), np.empty(0))


@dataclass(eq=False)
class RankerFitter:
    """The settings of a fit, and the notes taken on the way."""

    base: object | None
    censoring: object | None
    tau: float
    settings: Settings
    network: bool
    literal: bool  # whether to use the paper's fallback for labels
    seed: int
    threads: int
    verbose: bool
    notes: list[str] = field(default_factory=list)
    shared: Shared = field(default_factory=dict)  # results that other fits on the same rows need too

    def fit_outcomes(self, X: FloatArray, y: Outcome) -> RankerFit:
        """Fit both stages."""
        base = self.make_base().fit(X, y)
        if not self.settings.folds:
            labels = self._fit_labels(X, y, base)
            member, held_out = self._fit_one_member(X, labels.values, np.clip(labels.values, 0.0, self.tau), y.event)
            outcomes = np.empty(0)
            if len(held_out) >= FEWEST_TO_CALIBRATE:
                key = (
                    "censoring",
                    self.seed,
                    id(self.censoring),
                )  # kept beside it: an id is unique while its object lives
                _, censoring = self._share(lambda: (self.censoring, self.fit_censoring(X, y)), *key)
                outcomes = self.estimate_outcomes(base, censoring, X[held_out], y[held_out]).values
            return self.finish_one_member(base, member, labels, X, held_out, outcomes)
        if y.n_events < 2 * self.settings.folds:
            self.notes.append(f"{len(y)} rows with {y.n_events} events are too few to learn more than the base model")
            return self._finish(base, {}, {"base": 1.0}, 0.0, self._fit_labels(X, y, base), HeldOutRows.empty())
        splits = draw_folds(y.event, self.settings.folds, random_state=self.seed)
        base_years, outcomes, labels = self._cross_fit_base(X, y, base, splits)
        fits = self._fit_members(X, y, labels.values, np.clip(labels.values, 0.0, self.tau), splits)
        with_base = "base" in self.settings.members
        fitted = fit_weights(fits, splits, base_years if with_base else None, outcomes)
        if with_base and is_clearly_worse(fitted.held_out, base_years, outcomes):
            fitted = fit_weights([{} for _ in splits], splits, base_years, outcomes)
            self.notes.append("on held-out rows the top of the members' list was clearly worse than the base model's")
        return self._finish_members(base, fitted, fits, labels, outcomes, splits)

    def fit_relevance(self, X: FloatArray, relevance: FloatArray) -> RankerFit:
        """Fit the second stage alone: relevance is the label."""
        if "years" not in self.settings.members:
            raise RequestError(
                'relevance is learned by the member "years", which is not among the members',
                hint=Message('Add "years" to ', Setting("members"), "."),
            )
        gains = relevance - min(relevance.min(), 0.0)
        n_folds = min(self.settings.folds, len(X) // 4)
        if n_folds > 1:
            splits = draw_folds(np.arange(len(X)), n_folds, random_state=self.seed)  # no strata
            fits = self._fit_members(X, None, relevance, gains, splits)
            fitted = fit_weights(fits, splits, None, relevance)
            return self._finish_members(None, fitted, fits, relevance, relevance, splits)
        member, held_out = self._fit_one_member(X, relevance, gains, np.ones(len(X), dtype=bool))
        return self.finish_one_member(None, member, relevance, X, held_out, relevance[held_out])

    # one member on all rows

    def _fit_one_member(
        self, X: FloatArray, labels: FloatArray, gains: FloatArray, event: BoolArray
    ) -> tuple[YearsTrees | YearsNetwork, IntArray]:
        """Fit the paper's second stage, stopped early on a validation share; return it with the rows held out."""
        settings, seed = self.settings, self.seed
        shape = (settings.alpha, settings.margin, settings.group_size)
        train, held_out = draw_validation_split(event, settings.validation_fraction, seed)
        if settings.early_stopping_rounds and not len(held_out):
            self.notes.append("no rows were held out: trained for all rounds, and not calibrated")
        if self.network:
            return train_network(X[train], labels[train], gains[train], *shape, seed), held_out
        centre = float(labels[train].mean())
        table = self._share(lambda: bin_columns(X[train], settings, seed), "table", seed, settings)
        objective = HybridObjective(labels[train], *shape, seed, gains[train], self.threads)
        stopping, stopping_table = None, None
        if len(held_out):
            loss = HybridLoss(labels[held_out], *shape, seed, gains[held_out])
            stopping_table = self._share(lambda: table.create_valid(X[held_out]), "held out", seed, settings)

            def stopping(scores: FloatArray) -> float:
                return loss(centre + scores)

        booster = train_booster(
            table, objective, centre, settings, seed, self.threads, self._callbacks(), stopping, stopping_table
        )
        rounds = booster.best_iteration or booster.current_iteration()
        return YearsTrees(booster, centre, rounds), held_out

    def finish_one_member(
        self,
        base: SurvivalModel | None,
        member: YearsTrees | YearsNetwork,
        labels: PseudoLabels | FloatArray,
        X: FloatArray,
        rows: IntArray,
        outcomes: FloatArray,
    ) -> RankerFit:
        """Finish the fit of one member: calibrate on the rows of X held out, by their outcomes (none: too few rows)."""
        scores = member.predict(X[rows]) if len(rows) else np.empty(0)
        years = self._calibrate_halves(scores, outcomes) if isinstance(labels, PseudoLabels) else scores
        held_out = HeldOutRows(rows, scores, outcomes, years)
        return self._finish(base, {"years": [member]}, {"years": 1.0}, 0.0, labels, held_out)

    def _calibrate_halves(self, scores: FloatArray, outcomes: FloatArray) -> FloatArray:
        """Return the years of held-out rows by a map fitted to the other half of them."""
        if len(outcomes) < FEWEST_TO_CALIBRATE:
            return scores
        years, odd = np.empty(len(scores)), np.arange(len(scores)) % 2 == 1
        for half in (odd, ~odd):
            years[half] = CalibrationMap.fit(scores[~half], outcomes[~half], self.tau)(scores[half])
        return years

    # members over folds

    def _cross_fit_base(
        self, X: FloatArray, y: Outcome, base: SurvivalModel, splits: Splits
    ) -> tuple[FloatArray, FloatArray, PseudoLabels]:
        """Return the base model's years, doubly robust outcomes, and pseudo-labels, all of rows left out."""
        years, outcomes = np.empty(len(y)), np.empty(len(y))
        parts = []
        for train, test in self._track(splits, "base model"):
            model, censoring = self.make_base().fit(X[train], y[train]), self.fit_censoring(X[train], y[train])
            years[test] = model.predict(X[test])
            estimated = self.estimate_outcomes(model, censoring, X[test], y[test])
            outcomes[test] = estimated.values
            doubly_robust = self.settings.label == "dr"
            parts.append(estimated if doubly_robust else self.compute_labels(model, None, X[test], y[test]))
        if self.settings.cross_fit_base:
            return years, outcomes, join_folds(parts, splits)
        return years, outcomes, self._fit_labels(X, y, base)

    def _fit_members(
        self, X: FloatArray, y: Outcome | None, labels: FloatArray, gains: FloatArray, splits: Splits
    ) -> list[dict[str, FoldFit]]:
        settings = self.settings
        if set(settings.members) == {"base"}:
            return [{} for _ in splits]
        if self.network:
            shape = (settings.alpha, settings.margin, settings.group_size)
            fits = []
            for k, (train, test) in enumerate(self._track(splits, "network")):
                network = train_network(X[train], labels[train], gains[train], *shape, self.seed + k)
                fits.append({"years": FoldFit(network.predict(X[test])[None], [network])})
            return fits
        jobs = (
            delayed(fit_fold)(X, y, labels, gains, train, test, settings, self.tau, self.seed + k)
            for k, (train, test) in enumerate(splits)
        )
        # processes, not threads: LightGBM keeps its number of threads in one place for all
        workers = min(self.threads, len(splits)) if len(X) >= WORTH_A_PROCESS else 1
        running = Parallel(n_jobs=workers, return_as="generator")(jobs)
        fits = list(self._track(running, "trees", len(splits)))
        n_unconverged = sum(not all(member.converged for member in fold.values()) for fold in fits)
        if n_unconverged:
            note = f"spline hazards: Newton's method did not converge in {n_unconverged} of {len(fits)} folds"
            self.notes.append(note)
        return fits

    def _finish_members(
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
        scores = fitted.held_out
        calibrated = isinstance(labels, PseudoLabels) and len(outcomes) >= FEWEST_TO_CALIBRATE
        years = cross_calibrate(fitted, splits, outcomes, self.tau) if calibrated else scores
        held_out = HeldOutRows(np.arange(len(outcomes)), scores, outcomes, years)
        return self._finish(base, members, weights, fitted.intercept, labels, held_out)

    def _finish(
        self,
        base: SurvivalModel | None,
        members: dict[str, list[Member]],
        weights: dict[str, float],
        intercept: float,
        labels: PseudoLabels | FloatArray,
        held_out: HeldOutRows,
    ) -> RankerFit:
        """Calibrate on held-out rows, and report."""
        rows, outcomes = held_out.rows, held_out.outcomes
        enough = len(outcomes) >= FEWEST_TO_CALIBRATE
        on_outcomes = isinstance(labels, PseudoLabels)
        values = labels.values if isinstance(labels, PseudoLabels) else labels
        if not on_outcomes:  # relevance has no horizon
            calibration = CalibrationMap.identity()
        elif enough:
            calibration = CalibrationMap.fit(held_out.scores, outcomes, self.tau)
        else:
            calibration = CalibrationMap.identity(self.tau)
            self.notes.append(f"not calibrated: {len(outcomes)} rows were held out, {FEWEST_TO_CALIBRATE} are needed")
        report = RankerReport(
            labels=labels if isinstance(labels, PseudoLabels) else None,
            weights=weights,
            rounds={
                name: fits[0].rounds for name, fits in members.items() if isinstance(fits[0], (YearsTrees, HazardTrees))
            },
            terms={
                name: round(float(np.median([fit.n_terms for fit in fits if isinstance(fit, SplineHazards)])))
                for name, fits in members.items()
                if isinstance(fits[0], SplineHazards)
            },
            kept_base=set(weights) == {"base"},
            calibrated=calibration.fitted,
            notes=tuple(self.notes),
        )
        return RankerFit(
            base=base,
            members=members,
            weights=weights,
            intercept=intercept,
            calibration=calibration,
            labels=values,
            held_out=scatter_values(held_out.years, rows, len(values)) if enough else None,
            held_out_outcomes=scatter_values(outcomes, rows, len(values)) if enough else None,
            report=report,
        )

    def _share(self, make: Callable[[], _T], *key: Hashable) -> _T:
        """Return the result of `make`, or the one it had for another ranker on the same rows."""
        if key not in self.shared:
            self.shared[key] = make()
        shared: _T = self.shared[key]
        return shared

    # labels and models

    def _fit_labels(self, X: FloatArray, y: Outcome, base: SurvivalModel) -> PseudoLabels:
        """Compute labels by the base model fitted to all rows, or (for one fit) cross-fitted."""
        weighted = self.settings.label == "dr"
        if not self.settings.cross_fit_base or self.settings.folds:
            return self.compute_labels(base, self.fit_censoring(X, y) if weighted else None, X, y)
        splits = draw_folds(y.event, min(LABEL_FOLDS, len(y)), random_state=self.seed)
        parts = []
        for train, test in self._track(splits, "labels"):
            censoring = self.fit_censoring(X[train], y[train]) if weighted else None
            model = self.make_base().fit(X[train], y[train])
            parts.append(self.compute_labels(model, censoring, X[test], y[test]))
        return join_folds(parts, splits)

    def compute_labels(
        self, base: SurvivalModel, censoring: SurvivalModel | SurvivalCurves | None, X: FloatArray, y: Outcome
    ) -> PseudoLabels:
        """Compute labels of the requested kind, by fitted models."""
        estimator = make_label_estimator(self.settings.label, base, censoring, self.tau)
        fallback = base if self.literal and self.settings.label == "ey" else None
        return compute_pseudo_labels(estimator.estimate, X, y, self.tau, fallback)

    def estimate_outcomes(
        self, base: SurvivalModel, censoring: SurvivalModel | SurvivalCurves, X: FloatArray, y: Outcome
    ) -> PseudoLabels:
        """Estimate doubly robust outcomes, by which members are chosen, weighted and calibrated."""
        estimator = make_label_estimator("dr", base, censoring, self.tau)
        return compute_pseudo_labels(estimator.estimate, X, y, self.tau)

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

    # progress

    def _track(self, work: Iterable[_T], step: str, total: int | None = None) -> Iterable[_T]:
        if not self.verbose:
            return work
        from rich.progress import track

        return track(work, description=f"BootstrappedRanker: {step}", total=total)

    def _callbacks(self) -> list[Callable[..., None]]:
        if not self.verbose:
            return []
        import lightgbm

        return [lightgbm.log_evaluation(max(1, self.settings.n_estimators // 10))]


def join_folds(parts: Sequence[PseudoLabels], splits: Splits) -> PseudoLabels:
    """Join the labels of the folds, in the order of the rows."""
    values = np.empty(sum(len(test) for _, test in splits))
    for (_, test), part in zip(splits, parts, strict=True):
        values[test] = part.values
    return PseudoLabels.joined(parts, values)


def is_clearly_worse(scores: FloatArray, base_years: FloatArray, outcomes: FloatArray) -> bool:
    """Return whether, on held-out rows, the top of the ranker's list is clearly worse than the base model's."""
    waitlist = min(WAITLIST, len(outcomes))
    ranker_value, base_value = (policy_value(outcomes, each, waitlist=waitlist) for each in (scores, base_years))
    if ranker_value >= base_value:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about small samples: here the difference only has to be clear
        both = {"base": base_years, "ranker": scores}
        comparison = compare(outcomes, both, waitlist=waitlist, n_resamples=200, random_state=0)
    low, high = comparison.differences[["low", "high"]].iloc[0]
    return bool(low > 0 or high < 0)
